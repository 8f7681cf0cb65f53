//! Meters: token buckets that colour packets by how well they keep within a profile.
//!
//! References: RFC 2697 (single rate), RFC 2698 (two rates). A packet of B bytes meets two buckets, which are
//! initially full. Its present colour determines the buckets that it may use.
//!
//! ```text
//! single rate   Tc fills at CIR up to CBS; what no longer fits fills Te, up to EBS
//!   green       was green, and B <= Tc:             takes B out of Tc
//!   yellow      else was green or yellow, B <= Te:  takes B out of Te
//!   red         else:                               takes nothing
//!
//! two rates     Tp fills at PIR up to PBS, Tc at CIR up to CBS
//!   red         was red, or B > Tp:                 takes nothing
//!   yellow      else was yellow, or B > Tc:         takes B out of Tp
//!   green       else:                               takes B out of both
//! ```
//!
//! A meter that is blind to colours is one that finds every packet green.
//!
//! Tokens are billionths of a bit. A rate in bits per second earns a whole number of them in a nanosecond, without
//! rounding.
//!
//! Deviations: tokens arrive evenly, not a byte at a time. Sizes are those on the wire, where the RFCs count bytes of IP.

use crate::units::{Duration, Instant, NANOS_PER_SEC, Rate};

/// The colour that a meter gives to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Within the committed rate and burst.
    Green,
    /// Beyond the committed rate and burst, and within the excess.
    Yellow,
    /// Beyond the committed and the excess burst.
    Red,
}

/// A profile: rates and bursts. Bursts are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// RFC 2697.
    SingleRate {
        /// CIR.
        committed_rate: Rate,
        /// CBS.
        committed_burst: u64,
        /// EBS.
        excess_burst: u64,
    },
    /// RFC 2698.
    TwoRates {
        /// CIR.
        committed_rate: Rate,
        /// CBS.
        committed_burst: u64,
        /// PIR, at least CIR.
        peak_rate: Rate,
        /// PBS.
        peak_burst: u64,
    },
}

/// A meter.
#[derive(Clone, Debug)]
pub struct Meter {
    committed_rate: Rate,
    committed: Bucket,
    second: Second,
    /// The time up to which tokens have been earned.
    at: Instant,
}

/// The second bucket, after the committed one.
#[derive(Clone, Debug)]
enum Second {
    Excess(Bucket),
    Peak(Rate, Bucket),
}

/// Tokens, in billionths of a bit.
#[derive(Clone, Debug)]
struct Bucket {
    tokens: u128,
    depth: u128,
}

impl Bucket {
    /// A full bucket of this size.
    fn full(bytes: u64) -> Self {
        let depth = tokens_of(bytes);
        Bucket { tokens: depth, depth }
    }

    /// Adds tokens, and returns those that overflow.
    fn fill(&mut self, earned: u128) -> u128 {
        let room = self.depth - self.tokens;
        self.tokens += earned.min(room);
        earned.saturating_sub(room)
    }

    fn holds(&self, tokens: u128) -> bool {
        tokens <= self.tokens
    }
}

fn tokens_of(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC)
}

fn earned(rate: Rate, length: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(length.as_nanos())
}

impl Meter {
    /// A meter with full buckets at the start of a run.
    pub fn new(profile: Profile) -> Self {
        let (committed_rate, committed_burst, second) = match profile {
            Profile::SingleRate { committed_rate, committed_burst, excess_burst } => {
                (committed_rate, committed_burst, Second::Excess(Bucket::full(excess_burst)))
            }
            Profile::TwoRates { committed_rate, committed_burst, peak_rate, peak_burst } => {
                (committed_rate, committed_burst, Second::Peak(peak_rate, Bucket::full(peak_burst)))
            }
        };
        Meter { committed_rate, committed: Bucket::full(committed_burst), second, at: Instant::ZERO }
    }

    /// The new colour of a packet of this size and colour that arrives at `now`, not before the previous one.
    pub fn colour(&mut self, now: Instant, bytes: u32, was: Colour) -> Colour {
        let length = now.since(self.at);
        self.at = now;
        let spilt = self.committed.fill(earned(self.committed_rate, length));
        let tokens = tokens_of(u64::from(bytes));
        match &mut self.second {
            Second::Excess(excess) => {
                excess.fill(spilt);
                for (bucket, colour) in [(&mut self.committed, Colour::Green), (excess, Colour::Yellow)] {
                    if was <= colour && bucket.holds(tokens) {
                        bucket.tokens -= tokens;
                        return colour;
                    }
                }
                Colour::Red
            }
            Second::Peak(rate, peak) => {
                peak.fill(earned(*rate, length));
                if was == Colour::Red || !peak.holds(tokens) {
                    return Colour::Red;
                }
                peak.tokens -= tokens;
                if was == Colour::Yellow || !self.committed.holds(tokens) {
                    return Colour::Yellow;
                }
                self.committed.tokens -= tokens;
                Colour::Green
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Colour::{Green, Red, Yellow};
    use proptest::prelude::*;

    /// 1000 bytes take a millisecond.
    const RATE: Rate = Rate::from_bps(8_000_000).expect("above zero");

    fn single(committed_burst: u64, excess_burst: u64) -> Meter {
        Meter::new(Profile::SingleRate { committed_rate: RATE, committed_burst, excess_burst })
    }

    fn two(committed_burst: u64, peak_burst: u64) -> Meter {
        let peak_rate = Rate::from_bps(2 * RATE.as_bps()).unwrap();
        Meter::new(Profile::TwoRates { committed_rate: RATE, committed_burst, peak_rate, peak_burst })
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// The colours of green packets of 1000 bytes at these times, in microseconds.
    fn colours(mut meter: Meter, micros: &[u64]) -> Vec<Colour> {
        micros.iter().map(|micros| meter.colour(at(*micros), 1000, Green)).collect()
    }

    #[test]
    fn a_single_rate_fills_the_excess_with_what_the_committed_burst_does_not_hold() {
        // Two bursts of two packets; then one packet each millisecond goes to the committed burst alone.
        assert_eq!(colours(single(2000, 2000), &[0; 5]), [Green, Green, Yellow, Yellow, Red]);
        assert_eq!(colours(single(2000, 2000), &[0, 0, 0, 0, 999, 1000, 1000]).split_off(4), [Red, Green, Red]);
        // After four milliseconds both are full again, after three the excess holds one.
        assert_eq!(
            colours(single(2000, 2000), &[0, 0, 0, 0, 4000, 4000, 4000, 4000, 4000]).split_off(4),
            [Green, Green, Yellow, Yellow, Red]
        );
        assert_eq!(
            colours(single(2000, 2000), &[0, 0, 0, 0, 3000, 3000, 3000, 3000]).split_off(4),
            [Green, Green, Yellow, Red]
        );
        // No excess is a policer with one bucket, no committed burst makes nothing green.
        assert_eq!(colours(single(1000, 0), &[0, 0]), [Green, Red]);
        assert_eq!(colours(single(0, 1000), &[0, 0]), [Yellow, Red]);
    }

    #[test]
    fn two_rates_fill_both_and_a_green_packet_takes_of_both() {
        assert_eq!(colours(two(2000, 3000), &[0; 4]), [Green, Green, Yellow, Red]);
        // A millisecond earns one committed packet and two at the peak.
        assert_eq!(colours(two(2000, 3000), &[0, 0, 0, 0, 1000, 1000, 1000]).split_off(4), [Green, Yellow, Red]);
        // The peak is asked first: what is beyond it leaves the committed tokens where they are.
        assert_eq!(colours(two(2000, 1000), &[0, 0, 500, 1000]), [Green, Red, Green, Green]);
    }

    #[test]
    fn a_colour_is_kept_or_gets_worse() {
        let was = |mut meter: Meter, was: &[Colour]| -> Vec<Colour> {
            was.iter().map(|was| meter.colour(at(0), 1000, *was)).collect()
        };
        assert_eq!(was(single(1000, 1000), &[Red, Yellow, Yellow, Green, Green]), [Red, Yellow, Red, Green, Red]);
        assert_eq!(was(two(1000, 3000), &[Red, Yellow, Green, Green, Yellow]), [Red, Yellow, Green, Yellow, Red]);
    }

    #[test]
    fn a_constant_rate_above_the_committed_one_has_what_is_committed_and_the_burst() {
        // 1500 B every 700 us are 17.14 Mbit/s: of 8 Mbit/s and a burst of 20 kB less than a packet stays.
        const PACKETS: u64 = 100_000;
        for (mut meter, peak) in [(single(20_000, 0), None), (two(20_000, 40_000), Some(16_000_000))] {
            let mut bytes = [0u64; 3];
            for number in 0..PACKETS {
                bytes[meter.colour(at(700 * number), 1500, Green) as usize] += 1500;
            }
            let seconds = 700e-6 * (PACKETS - 1) as f64;
            let committed = 1e6 * seconds + 20_000.0;
            assert!((0.0..1500.0).contains(&(committed - bytes[0] as f64)), "{} of {committed}", bytes[0]);
            if let Some(peak) = peak {
                let most = f64::from(peak) / 8.0 * seconds + 40_000.0;
                let within = (bytes[0] + bytes[1]) as f64;
                assert!((0.0..1500.0).contains(&(most - within)), "{within} of {most}");
            }
        }
    }

    #[test]
    fn nothing_is_rounded_in_a_hundred_days() {
        // 3 bit/s earn a byte in 2.666... s, and 3 of them every 8 s: 3,240,000 in 8,640,000 s.
        let committed_rate = Rate::from_bps(3).unwrap();
        let mut meter = Meter::new(Profile::SingleRate { committed_rate, committed_burst: 2, excess_burst: 0 });
        assert_eq!(meter.colour(Instant::ZERO, 2, Green), Green);
        for number in 1..1000 {
            // At the first nanosecond at which it can be green, and not one before.
            let due = (number * 8_000_000_000u64).div_ceil(3);
            assert_eq!(meter.colour(Instant::from_nanos(due - 1), 1, Green), Red);
            assert_eq!(meter.colour(Instant::from_nanos(due), 1, Green), Green);
        }
        // With a deep bucket: all the packets that were earned, and not one more.
        let profile = Profile::SingleRate { committed_rate, committed_burst: 4_000_000, excess_burst: 0 };
        let mut meter = Meter::new(profile);
        assert_eq!(meter.colour(Instant::ZERO, 4_000_000, Green), Green);
        for day in 1..=100u64 {
            meter.colour(Instant::from_nanos(day * 86_400_000_000_000 - 1), 1, Red);
        }
        let end = Instant::from_nanos(8_640_000_000_000_000);
        assert_eq!(meter.colour(end, 3_240_001, Green), Red);
        assert_eq!(meter.colour(end, 3_240_000, Green), Green);
        assert_eq!(meter.colour(end, 1, Green), Red);
    }

    proptest! {
        /// In any time and for any arrivals, the green bytes never exceed the rate plus the burst. They never fall
        /// below the possible amount.
        #[test]
        fn green_is_bounded_in_any_time(packets in prop::collection::vec((0u64..3000, 1u32..3000), 1..200)) {
            let mut meter = single(5000, 3000);
            let (mut now, mut green) = (0, Vec::new());
            for (gap, bytes) in packets {
                now += gap;
                if meter.colour(at(now), bytes, Green) == Green {
                    green.push((now, u64::from(bytes)));
                }
            }
            for first in 0..green.len() {
                let mut sum = 0;
                for (at, bytes) in &green[first..] {
                    sum += bytes;
                    prop_assert!(sum <= at - green[first].0 + 5000);
                }
            }
        }
    }
}
