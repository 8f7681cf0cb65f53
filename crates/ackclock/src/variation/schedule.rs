//! Rates by a timetable: steps, squares, ramps, traces.

use super::{Step, Steps};
use crate::units::{Duration, NANOS_PER_SEC};

/// Bytes of an opportunity of a mahimahi trace: a packet of 1500 B with the header of the tunnel device.
const OPPORTUNITY_BITS: u64 = 8 * 1504;

/// Rates one after the other, once or again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    steps: Vec<Step>,
    repeats: bool,
}

impl Schedule {
    /// Bits per second and how long they hold, once: the last one stays.
    pub fn once(steps: Vec<(u64, Duration)>) -> Self {
        Schedule { steps: lasting(steps), repeats: false }
    }

    /// Bits per second and how long they hold, again and again.
    pub fn cycle(steps: Vec<(u64, Duration)>) -> Self {
        Schedule { steps: lasting(steps), repeats: true }
    }

    /// Two rates in turn, each for `interval`.
    pub fn square(first_bps: u64, second_bps: u64, interval: Duration) -> Self {
        Schedule::cycle(vec![(first_bps, interval), (second_bps, interval)])
    }

    /// Equal steps from one rate to the other. Each has the mean rate of its part of the straight line.
    fn line(from_bps: u64, to_bps: u64, steps: u32, length: Duration) -> Vec<Step> {
        let (from, to, steps) = (i128::from(from_bps), i128::from(to_bps), i128::from(steps));
        let nanos = i128::from(length.as_nanos());
        let step = |index: i128| {
            let rate = from + (to - from) * (2 * index + 1) / (2 * steps);
            let length = nanos * (index + 1) / steps - nanos * index / steps;
            (rate as u64, Duration::from_nanos(length as u64))
        };
        (0..steps).map(step).collect()
    }

    /// Rises from `low_bps` to `high_bps` in half a period and falls again, in `steps` steps in each direction.
    pub fn triangle(low_bps: u64, high_bps: u64, steps: u32, period: Duration) -> Self {
        let up = period / 2;
        let mut steps_of_both = Schedule::line(low_bps, high_bps, steps, up);
        steps_of_both.extend(Schedule::line(high_bps, low_bps, steps, period - up));
        Schedule::cycle(steps_of_both)
    }

    /// Rises from `low_bps` to `high_bps` in `steps` steps, and falls at once.
    pub fn sawtooth(low_bps: u64, high_bps: u64, steps: u32, period: Duration) -> Self {
        Schedule::cycle(Schedule::line(low_bps, high_bps, steps, period))
    }

    /// The delivery opportunities of a mahimahi trace, repeated. At each of the `millis`, a packet of 1504 B can
    /// leave. The `millis` do not decrease, and the last one is the period. The bits of a packet are spread over the
    /// `bin` that ends then. As in mahimahi, opportunities at 0 coincide with the last ones of the previous period.
    pub fn opportunities(millis: &[u64], bin: Duration) -> Self {
        let end = millis.last().copied().unwrap_or(0);
        let at_zero = millis.iter().take_while(|millis| **millis == 0).count();
        let millis = [&millis[at_zero..], &vec![end; at_zero]].concat();
        let nanos = |index: usize| millis.get(index).map_or(u64::MAX, |millis| millis * 1_000_000);
        let (period, bin) = (end * 1_000_000, bin.as_nanos());
        let (mut steps, mut next, mut begin) = (Vec::<Step>::new(), 0, 0);
        let mut push = |rate: u64, length: u64| match steps.last_mut() {
            Some((last, lasts)) if *last == rate => *lasts += Duration::from_nanos(length),
            _ => steps.push((rate, Duration::from_nanos(length))),
        };
        while begin < period {
            let busy = nanos(next).saturating_sub(1) / bin * bin;
            if busy > begin {
                push(0, busy - begin);
                begin = busy;
            }
            let (first, end) = (next, (begin + bin).min(period));
            while nanos(next) <= end {
                next += 1;
            }
            let bits = u128::from((next - first) as u64 * OPPORTUNITY_BITS);
            push((bits * u128::from(NANOS_PER_SEC) / u128::from(end - begin)) as u64, end - begin);
            begin = end;
        }
        Schedule::cycle(steps)
    }

    /// The same timetable with other rates.
    pub(super) fn map_rates(mut self, of: impl Fn(u64) -> u64) -> Self {
        self.steps.iter_mut().for_each(|(rate, _)| *rate = of(*rate));
        self
    }

    /// The highest rate, bits per second.
    pub fn peak_bps(&self) -> u64 {
        self.steps.iter().map(|(rate, _)| *rate).max().unwrap_or(0)
    }

    /// Which share of the bits lies above a rate.
    pub fn share_above(&self, bps: u64) -> f64 {
        let bits = |of: fn(u64, u64) -> u64| {
            self.steps.iter().map(|(rate, length)| of(*rate, bps) as f64 * length.as_secs_f64()).sum::<f64>()
        };
        bits(u64::saturating_sub) / bits(|rate, _| rate)
    }

    pub(super) fn begin(&self) -> Course {
        Course { schedule: self.clone(), next: 0 }
    }
}

/// Removes steps without duration.
fn lasting(mut steps: Vec<Step>) -> Vec<Step> {
    steps.retain(|(_, length)| !length.is_zero());
    steps
}

/// A schedule as it is followed.
#[derive(Clone, Debug)]
pub(super) struct Course {
    schedule: Schedule,
    next: usize,
}

impl Steps for Course {
    fn next_step(&mut self) -> Option<Step> {
        if self.next == self.schedule.steps.len() && self.schedule.repeats {
            self.next = 0;
        }
        let step = self.schedule.steps.get(self.next).copied()?;
        self.next += 1;
        Some(step)
    }
}
