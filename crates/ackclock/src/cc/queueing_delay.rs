//! The queueing delay as RFC 6817 estimates it: the current delay minus the base delay.

use std::collections::VecDeque;

use crate::rule::{ParameterError, require};
use crate::units::{Duration, Instant};

/// Longest target of RFC 6817, in seconds.
const LONGEST_TARGET: f64 = 0.1;
/// The largest lists of a scenario.
const LONGEST_LIST: u32 = 1000;
/// The time for which each smallest delay counts.
const MINUTE: Duration = Duration::from_secs(60);

/// Checks the key `target`, the queueing delay that a flow adds.
pub(super) fn check_target(target: Duration) -> Result<(), ParameterError> {
    let target = target.as_secs_f64();
    require("target", target, target > 0.0 && target <= LONGEST_TARGET, "above 0 and at most 0.1 (seconds)")
}

/// Checks the keys `base_history` and `current_filter`.
pub(super) fn check_lengths(base_history: u32, current_filter: u32) -> Result<(), ParameterError> {
    [("base_history", base_history), ("current_filter", current_filter)].into_iter().try_for_each(|(key, length)| {
        let is_length = (1..=LONGEST_LIST).contains(&length);
        require(key, f64::from(length), is_length, "at least 1 and at most 1000")
    })
}

/// The delays of a flow, in microseconds.
#[derive(Clone, Debug)]
pub(super) struct QueueingDelay {
    base_history: usize,
    current_filter: usize,
    /// The smallest delay of each of the last minutes.
    minutes: VecDeque<f64>,
    /// The start of the last minute.
    minute: Instant,
    /// The last delays, with their times.
    current: VecDeque<(Instant, f64)>,
}

impl QueueingDelay {
    /// A base delay counts for `base_history` minutes. The current delay is the smallest of `current_filter` samples.
    pub(super) fn new(base_history: u32, current_filter: u32) -> Self {
        QueueingDelay {
            base_history: base_history as usize,
            current_filter: current_filter as usize,
            minutes: VecDeque::new(),
            minute: Instant::ZERO,
            current: VecDeque::new(),
        }
    }

    /// Adds a sample. Returns the queueing delay. A current delay counts for an RTT, except the newest one.
    pub(super) fn measure(&mut self, now: Instant, delay: f64, srtt: Duration) -> f64 {
        match self.minutes.back_mut() {
            Some(least) if now.since(self.minute) < MINUTE => *least = least.min(delay),
            _ => {
                self.minute = now;
                self.minutes.push_back(delay);
            }
        }
        self.current.push_back((now, delay));
        if self.minutes.len() > self.base_history {
            self.minutes.pop_front();
        }
        if self.current.len() > self.current_filter {
            self.current.pop_front();
        }
        while self.current.len() > 1 && self.current.front().is_some_and(|(at, _)| now.since(*at) > srtt) {
            self.current.pop_front();
        }
        self.current.iter().map(|(_, delay)| *delay).fold(f64::INFINITY, f64::min) - self.base()
    }

    /// The base delay, infinite before the first sample.
    pub(super) fn base(&self) -> f64 {
        self.minutes.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::tests::ms;

    #[test]
    fn a_base_delay_counts_for_its_minutes_and_a_current_one_for_an_rtt() {
        let mut delays = QueueingDelay::new(10, 4);
        let minutes = |count: u64| Instant::ZERO + Duration::from_secs(60 * count);
        delays.measure(minutes(0), 50.0, ms(100));
        for minute in 1..10 {
            assert_eq!(delays.measure(minutes(minute), 100.0, ms(100)), 50.0);
        }
        assert_eq!(delays.base(), 50.0);
        assert_eq!(delays.measure(minutes(10), 100.0, ms(100)), 0.0);
        // The smallest of the last four samples of an RTT.
        for (millis, delay, queueing) in
            [(1, 150.0, 0.0), (2, 150.0, 0.0), (3, 150.0, 0.0), (4, 150.0, 50.0), (200, 200.0, 100.0)]
        {
            assert_eq!(delays.measure(minutes(10) + ms(millis), delay, ms(100)), queueing, "{millis}");
        }
    }
}
