//! Simulated time: `Instant` (a point) and `Duration` (a length), both whole nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use super::NANOS_PER_SEC;

/// A point of simulated time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of simulated time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);
    /// Later than everything that happens.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Instant(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The last moment before this one, or none at the start.
    pub fn before(self) -> Option<Instant> {
        self.0.checked_sub(1).map(Instant)
    }

    /// Time passed since `earlier`, which must not be later than `self`: time does not run backwards.
    ///
    /// # Panics
    /// If it is, in builds with debug assertions, such as tests. Release builds do not check, and wrap. Callers
    /// therefore compare times of unknown order first.
    #[inline]
    pub fn since(self, earlier: Instant) -> Duration {
        debug_assert!(earlier <= self, "invariant: {earlier:?} is not after {self:?}");
        Duration(self.0.wrapping_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// A length of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Duration(nanos)
    }

    /// A length of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Duration(micros * 1_000)
    }

    /// A length of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Duration(millis * 1_000_000)
    }

    /// A length of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Duration(secs * NANOS_PER_SEC)
    }

    /// The nearest whole number of nanoseconds to `secs` seconds. Negative lengths become zero.
    pub fn from_secs_f64_round(secs: f64) -> Self {
        Duration((secs * NANOS_PER_SEC as f64).round() as u64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// True for a length of zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero where `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// This length times `factor`, rounded down to whole nanoseconds.
    #[inline]
    pub fn mul_f64_floor(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor) as u64)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, length: Duration) -> Instant {
        Instant(self.0 + length.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, length: Duration) {
        self.0 += length.0;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0 * factor)
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}

impl fmt::Display for Duration {
    /// The shortest exact spelling: `30 ms`, `1.5 s`, `200 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => return f.write_str("0 s"),
            n if n >= NANOS_PER_SEC => (NANOS_PER_SEC, "s"),
            n if n >= 1_000_000 => (1_000_000, "ms"),
            n if n >= 1_000 => (1_000, "us"),
            _ => (1, "ns"),
        };
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        if rest == 0 {
            return write!(f, "{whole} {name}");
        }
        let digits = unit.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "invariant: Instant(2) is not after Instant(1)")]
    #[cfg(debug_assertions)]
    fn time_that_runs_backwards_is_noticed_where_assertions_are_on() {
        Instant(1).since(Instant(2));
    }

    #[test]
    fn lengths_print_exactly() {
        for (nanos, text) in [
            (0, "0 s"),
            (1, "1 ns"),
            (30_000_000, "30 ms"),
            (1_500_000_000, "1.5 s"),
            (1_000_000_001, "1.000000001 s"),
            (62_083_200, "62.0832 ms"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
    }
}
