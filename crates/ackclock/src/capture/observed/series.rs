//! Series with a bounded number of points.

use serde::Serialize;

use super::counts::Kind;
use crate::units::{Duration, Instant};

/// Beginning, end and number of intervals.
pub(super) type Axis = (Instant, Instant, usize);

/// The range of a value within an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Its middle, in seconds.
    pub time_s: f64,
    /// The least value.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// Retransmissions of a kind within an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repair {
    /// Its middle, in seconds.
    pub time_s: f64,
    /// Why they were sent.
    pub kind: Kind,
    /// Whether their data had already arrived.
    pub spurious: bool,
    /// How many.
    pub segments: u64,
}

fn interval(time: Instant, (start, end, points): Axis) -> usize {
    let whole = end.since(start).as_nanos().max(1);
    let at = time.since(start.min(time)).as_nanos();
    ((u128::from(at) * points as u128 / u128::from(whole)) as usize).min(points - 1)
}

fn middle(interval: usize, (start, end, points): Axis) -> f64 {
    (interval as f64 + 0.5) * end.since(start).as_secs_f64() / points as f64
}

/// The range within each interval with values. A value that `holds` until the next one has a range in every interval.
pub(super) fn bucketed(values: impl Iterator<Item = (Instant, f64)>, axis: Axis, holds: bool) -> Vec<Range> {
    let mut ranges: Vec<Option<(f64, f64)>> = vec![None; axis.2];
    let mut last: Option<(usize, f64)> = None;
    let add = |range: &mut Option<(f64, f64)>, value: f64| {
        let (low, high) = range.unwrap_or((value, value));
        *range = Some((low.min(value), high.max(value)));
    };
    for (time, value) in values.filter(|(time, _)| axis.0 <= *time && *time <= axis.1) {
        let at = interval(time, axis);
        if let Some((before, held)) = last.filter(|(before, _)| holds && *before < at) {
            ranges[before + 1..=at].iter_mut().for_each(|range| add(range, held));
        }
        add(&mut ranges[at], value);
        last = Some((at, value));
    }
    if let Some((before, held)) = last.filter(|_| holds) {
        ranges[before + 1..].iter_mut().for_each(|range| add(range, held));
    }
    let ranges = ranges.into_iter().enumerate();
    ranges.filter_map(|(at, range)| range.map(|(low, high)| Range { time_s: middle(at, axis), low, high })).collect()
}

impl Repair {
    /// The retransmissions of an interval and a kind, merged.
    pub(super) fn merged(repairs: &[(Instant, Kind, bool)], axis: Axis) -> Vec<Repair> {
        let mut merged: Vec<Repair> = Vec::new();
        for (time, kind, spurious) in repairs {
            let time_s = middle(interval(*time, axis), axis);
            let same = merged.iter_mut().rev().take_while(|repair| repair.time_s == time_s);
            match same.into_iter().find(|repair| (repair.kind, repair.spurious) == (*kind, *spurious)) {
                Some(repair) => repair.segments += 1,
                None => merged.push(Repair { time_s, kind: *kind, spurious: *spurious, segments: 1 }),
            }
        }
        merged
    }
}

/// The highest rate over at least this time, in bit/s, of bytes delivered so far.
pub(super) fn peak_rate(delivered: &[(Instant, u64)], least: Duration) -> Option<f64> {
    let (mut start, mut peak) = (0, None);
    for (time, bytes) in delivered {
        // The latest start that is long enough ago.
        while start + 1 < delivered.len() && *time >= delivered[start + 1].0 + least {
            start += 1;
        }
        let took = time.since(delivered[start].0);
        if took >= least {
            let rate = 8.0 * (bytes - delivered[start].1) as f64 / took.as_secs_f64();
            peak = Some(f64::max(peak.unwrap_or(0.0), rate));
        }
    }
    peak
}
