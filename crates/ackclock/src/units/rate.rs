//! Link and flow rates in whole bits per second.

use std::fmt;

use super::{Duration, NANOS_PER_SEC};

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bits_per_sec`, or `None` for zero.
    pub const fn from_bps(bits_per_sec: u64) -> Option<Self> {
        if bits_per_sec == 0 { None } else { Some(Rate(bits_per_sec)) }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time to send `bytes`, rounded down, and the remainder in units of 1/rate nanoseconds.
    ///
    /// A transmitter adds up the left-overs, so that no capacity is gained or lost in the long run.
    pub fn transmission(self, bytes: u64) -> (Duration, u64) {
        // All but gigabytes fit into a division of 64 bits, which is several times as fast.
        if let Some(scaled) = bytes.checked_mul(8 * NANOS_PER_SEC) {
            return (Duration::from_nanos(scaled / self.0), scaled % self.0);
        }
        let scaled = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC);
        let rate = u128::from(self.0);
        (Duration::from_nanos((scaled / rate) as u64), (scaled % rate) as u64)
    }

    /// Bytes sent in `length`, rounded down.
    pub fn bytes_in_floor(self, length: Duration) -> u64 {
        (u128::from(self.0) * u128::from(length.as_nanos()) / (8 * u128::from(NANOS_PER_SEC))) as u64
    }
}

impl fmt::Display for Rate {
    /// The shortest exact spelling: `5 Mbit/s`, `1.5 Gbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            n if n >= 1_000_000_000 => (1_000_000_000, "Gbit/s"),
            n if n >= 1_000_000 => (1_000_000, "Mbit/s"),
            n if n >= 1_000 => (1_000, "kbit/s"),
            _ => (1, "bit/s"),
        };
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        if rest == 0 {
            return write!(f, "{whole} {name}");
        }
        let digits = u64::ilog10(unit) as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_beyond_64_bits_of_bit_nanoseconds_take_as_long() {
        // 8 * 10^9 units a byte: 2^64 - 1 of them are 2,305,843,009 bytes and something.
        let rate = Rate::from_bps(1_000_000_007).unwrap();
        for bytes in [2_305_843_009, 2_305_843_010] {
            let scaled = u128::from(bytes) * 8_000_000_000;
            let (length, rest) = rate.transmission(bytes);
            assert_eq!(u128::from(length.as_nanos()) * 1_000_000_007 + u128::from(rest), scaled);
            assert!(rest < 1_000_000_007);
        }
    }

    #[test]
    fn three_packets_at_a_third_of_a_nanosecond_lose_nothing() {
        // 1 byte at 24 bit/s takes 1/3 s: 333_333_333 ns and 8/24 ns left over.
        let rate = Rate::from_bps(24).unwrap();
        let (length, rest) = rate.transmission(1);
        assert_eq!((length.as_nanos(), rest), (333_333_333, 8));
        assert_eq!(3 * rest, rate.as_bps());
    }

    #[test]
    fn a_length_that_64_bits_do_not_hold_takes_its_time() {
        // 3 GB at 7 bit/s: 24e18 / 7 ns, and 3/7 ns left over.
        let (length, rest) = Rate::from_bps(7).unwrap().transmission(3_000_000_000);
        assert_eq!((length.as_nanos(), rest), (3_428_571_428_571_428_571, 3));
    }

    #[test]
    fn a_second_of_five_megabit_holds_625_kilobytes() {
        let rate = Rate::from_bps(5_000_000).unwrap();
        assert_eq!(rate.bytes_in_floor(Duration::from_secs(1)), 625_000);
        assert_eq!(rate.to_string(), "5 Mbit/s");
    }
}
