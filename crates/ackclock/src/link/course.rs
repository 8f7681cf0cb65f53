//! Changes of a link by the clock: its delay, and its outages.

use crate::units::{Duration, Instant};

/// Extra delay of a link over time, above its shortest delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayCourse {
    /// The times of changes, from zero, and the added delays.
    pub points: Vec<(Duration, Duration)>,
    /// Whether the delay changes evenly from point to point, or at once.
    pub is_linear: bool,
    /// The period of repetition. By default the last point stays.
    pub repeat: Option<Duration>,
}

/// Outages: times in which every packet is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outages {
    /// When they begin, rising.
    pub begins: Vec<Duration>,
    /// How long each lasts.
    pub length: Duration,
    /// When everything begins again.
    pub repeat: Option<Duration>,
}

/// A time within the period.
fn phase(at: Instant, repeat: Option<Duration>) -> Duration {
    let nanos = at.as_nanos();
    Duration::from_nanos(repeat.map_or(nanos, |repeat| nanos % repeat.as_nanos()))
}

impl DelayCourse {
    /// The extra delay of a packet that leaves the transmitter at this time, rounded down to a nanosecond.
    pub fn extra(&self, at: Instant) -> Duration {
        let at = phase(at, self.repeat);
        let next = self.points.partition_point(|(begin, _)| *begin <= at);
        let (begin, extra) = self.points[next - 1];
        match self.points.get(next) {
            Some((end, to)) if self.is_linear => {
                let nanos = |length: Duration| i128::from(length.as_nanos());
                let passed = (nanos(*to) - nanos(extra)) * nanos(at - begin);
                Duration::from_nanos((nanos(extra) + passed.div_euclid(nanos(*end - begin))) as u64)
            }
            _ => extra,
        }
    }

    /// The most that is added.
    pub fn most(&self) -> Duration {
        self.points.iter().map(|(_, extra)| *extra).max().unwrap_or_default()
    }

    /// Whether a packet may overtake one that entered before it: the delay falls faster than time passes.
    pub fn reorders(&self) -> bool {
        let falls = |pair: &[(Duration, Duration)]| {
            let [(begin, from), (end, to)] = pair else { return false };
            let room = if self.is_linear { *end - *begin } else { Duration::ZERO };
            *to + room < *from
        };
        let jumps_back = match (self.points.first(), self.points.last()) {
            (Some((_, first)), Some((_, last))) => self.repeat.is_some() && first < last,
            _ => false,
        };
        self.points.windows(2).any(falls) || jumps_back
    }
}

impl Outages {
    /// Whether a packet that leaves the transmitter at this time is lost.
    pub fn loses(&self, at: Instant) -> bool {
        let at = phase(at, self.repeat);
        let next = self.begins.partition_point(|begin| *begin <= at);
        next > 0 && at < self.begins[next - 1] + self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(millis: &[(u64, u64)], is_linear: bool, repeat: Option<u64>) -> DelayCourse {
        let points = millis.iter().map(|(at, extra)| (Duration::from_millis(*at), Duration::from_millis(*extra)));
        DelayCourse { points: points.collect(), is_linear, repeat: repeat.map(Duration::from_millis) }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn steps_hold_and_lines_lead_from_point_to_point() {
        let micros = |course: &DelayCourse, millis: &[u64]| -> Vec<u64> {
            millis.iter().map(|millis| course.extra(at(*millis)).as_nanos() / 1000).collect()
        };
        let points = [(0, 10), (100, 40), (300, 0)];
        let times = [0, 50, 99, 100, 200, 300, 900];
        assert_eq!(micros(&course(&points, false, None), &times), [10_000, 10_000, 10_000, 40_000, 40_000, 0, 0]);
        assert_eq!(micros(&course(&points, true, None), &times), [10_000, 25_000, 39_700, 40_000, 20_000, 0, 0]);
        assert_eq!(micros(&course(&points, true, Some(400)), &[399, 400, 450, 600]), [0, 10_000, 25_000, 20_000]);
    }

    #[test]
    fn a_delay_that_falls_faster_than_time_passes_reorders() {
        assert!(!course(&[(0, 0), (100, 40)], false, None).reorders());
        assert!(course(&[(0, 40), (100, 0)], false, None).reorders());
        assert!(course(&[(0, 0), (100, 40)], false, Some(200)).reorders());
        assert!(!course(&[(0, 100), (100, 0)], true, None).reorders());
        assert!(course(&[(0, 101), (100, 0)], true, None).reorders());
        // One that does not reorder keeps the order of neighbouring nanoseconds, however it is rounded.
        let falling = course(&[(0, 97), (100, 0)], true, None);
        let arrival = |nanos: u64| Instant::from_nanos(nanos) + falling.extra(Instant::from_nanos(nanos));
        assert!((31_000_000..31_002_000).map(arrival).is_sorted());
    }

    #[test]
    fn outages_are_half_open_and_come_again() {
        let begins = vec![Duration::from_millis(10), Duration::from_millis(50)];
        let outages = Outages { begins, length: Duration::from_millis(5), repeat: Some(Duration::from_millis(100)) };
        let lost: Vec<u64> = (0..200).filter(|millis| outages.loses(at(*millis))).collect();
        assert_eq!(lost, [10, 11, 12, 13, 14, 50, 51, 52, 53, 54, 110, 111, 112, 113, 114, 150, 151, 152, 153, 154]);
    }
}
