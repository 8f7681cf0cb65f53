//! Losses that are not the queue's.

use super::fate::Fate;
use super::script::Scripted;
use crate::rng::Rng;

/// Loss model: decides which packets are lost in transit.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet on its own.
    Bernoulli {
        /// In 0 ..= 1.
        probability: f64,
        /// Where its random numbers come from.
        stream: Rng,
    },
    /// Independent bit errors. A packet with one is lost.
    BitErrors(BitErrors),
    /// In bursts.
    GilbertElliott(GilbertElliott),
    /// Every `period`-th packet.
    Periodic {
        /// At least 1.
        period: u64,
        /// Packets counted so far, modulo `period`.
        count: u64,
    },
    /// Given packets.
    Scripted(Scripted),
}

impl Loss {
    /// The outcome of the next packet of this many bytes on the wire.
    #[inline]
    pub fn fate(&mut self, bytes: u32) -> Fate {
        let lost = match self {
            Loss::None => false,
            Loss::Bernoulli { probability, stream } => stream.next_f64() < *probability,
            Loss::BitErrors(errors) => errors.hit(bytes),
            Loss::GilbertElliott(channel) => channel.loses(),
            Loss::Periodic { period, count } => {
                *count += 1;
                let lost = count == period;
                if lost {
                    *count = 0;
                }
                lost
            }
            Loss::Scripted(script) => return script.fate(),
        };
        if lost { Fate::Lost } else { Fate::ARRIVES }
    }

    /// True if packets may overtake one another.
    pub fn reorders(&self) -> bool {
        matches!(self, Loss::Scripted(script) if script.reorders())
    }
}

/// Independent bit errors: of n bits at least one is wrong with probability 1 - (1 - p)^n.
#[derive(Clone, Debug)]
pub struct BitErrors {
    probability: f64,
    stream: Rng,
    /// The last length and its probability of an error, because links mostly carry packets of one size.
    cached: (u32, f64),
}

impl BitErrors {
    /// Each bit is wrong with this probability, 0 to 1.
    pub fn new(probability: f64, stream: Rng) -> Self {
        BitErrors { probability, stream, cached: (0, 0.0) }
    }

    fn hit(&mut self, bytes: u32) -> bool {
        if self.cached.0 != bytes {
            // 1 - (1 - p)^n without the cancellation of a small p.
            let hit = -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-self.probability));
            self.cached = (bytes, hit);
        }
        self.stream.next_f64() < self.cached.1
    }
}

/// A channel that is good or bad for some packets at a time (Gilbert 1960, Elliott 1963).
///
/// The state changes between packets, regardless of the time between them. In the long run the link is bad for p / (p
/// + r) of the packets. A bad state lasts 1 / r packets. It begins in its stationary state.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    good: ChannelState,
    bad: ChannelState,
    is_bad: bool,
    stream: Rng,
}

/// A state of the channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelState {
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that the other state follows a packet: p of the good state, r of the bad one.
    pub leave: f64,
}

impl GilbertElliott {
    /// A channel of these two states. One that never changes is good.
    pub fn new(good: ChannelState, bad: ChannelState, mut stream: Rng) -> Self {
        let is_bad = stream.next_f64() * (good.leave + bad.leave) < good.leave;
        GilbertElliott { good, bad, is_bad, stream }
    }

    fn loses(&mut self) -> bool {
        let state = if self.is_bad { self.bad } else { self.good };
        let lost = self.stream.next_f64() < state.loss;
        self.is_bad ^= self.stream.next_f64() < state.leave;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStreams;

    fn lost(mut loss: Loss, packets: usize) -> Vec<usize> {
        (1..=packets).filter(|_| loss.fate(1500) == Fate::Lost).collect()
    }

    fn stream() -> Rng {
        RngStreams::new(1, 0).stream("link", "loss")
    }

    fn gilbert_elliott(good: (f64, f64), bad: (f64, f64)) -> Loss {
        let state = |(loss, leave)| ChannelState { loss, leave };
        Loss::GilbertElliott(GilbertElliott::new(state(good), state(bad), stream()))
    }

    #[test]
    fn periodic_loss_takes_every_third_packet_from_the_offset_on() {
        assert_eq!(lost(Loss::Periodic { period: 3, count: 0 }, 9), [3, 6, 9]);
        assert_eq!(lost(Loss::Periodic { period: 3, count: 2 }, 9), [1, 4, 7]);
    }

    #[test]
    fn bit_errors_lose_a_packet_with_the_probability_that_one_of_its_bits_is_wrong() {
        // 1 - (1 - 1e-5)^12000 = 0.113 080; 1 - (1 - 1e-5)^320 = 0.003 194 9.
        for (bytes, expected) in [(1500, 0.113_080), (40, 0.003_194_9)] {
            let mut loss = Loss::BitErrors(BitErrors::new(1e-5, stream()));
            let packets = 1_000_000;
            let rate = (0..packets).filter(|_| loss.fate(bytes) == Fate::Lost).count() as f64 / f64::from(packets);
            let error = (expected * (1.0 - expected) / f64::from(packets)).sqrt();
            assert!((rate - expected).abs() < 3.0 * error, "{bytes} B: {rate}, not {expected} +- {error}");
        }
    }

    #[test]
    fn sure_and_impossible_bit_errors_are_sure_and_impossible() {
        assert_eq!(lost(Loss::BitErrors(BitErrors::new(1.0, stream())), 100).len(), 100);
        assert_eq!(lost(Loss::BitErrors(BitErrors::new(0.0, stream())), 100).len(), 0);
    }

    #[test]
    fn gilbert_elliott_loses_as_much_as_its_stationary_distribution_says() {
        // (p, r, loss in the good state, loss in the bad state)
        for (p, r, good, bad) in [(0.01, 0.3, 0.0, 1.0), (0.001, 0.05, 0.002, 0.4), (0.7, 0.6, 0.1, 0.9)] {
            let is_bad = p / (p + r);
            let expected = (1.0 - is_bad) * good + is_bad * bad;
            // States k packets apart are correlated by (1 - p - r)^k, whose sum over k is (1 - p - r) / (p + r).
            let apart = (bad - good) * (bad - good) * is_bad * (1.0 - is_bad) * (1.0 - p - r) / (p + r);
            let packets = 1_000_000;
            let error = ((expected * (1.0 - expected) + 2.0 * apart) / packets as f64).sqrt();
            let rate = lost(gilbert_elliott((good, p), (bad, r)), packets).len() as f64 / packets as f64;
            assert!((rate - expected).abs() < 3.0 * error, "p {p}, r {r}: {rate}, not {expected} +- {error}");
        }
    }

    #[test]
    fn bursts_of_gilbert_elliott_are_one_over_r_long() {
        let (p, r) = (0.01, 0.25);
        let packets = lost(gilbert_elliott((0.0, p), (1.0, r)), 1_000_000);
        let bursts = 1 + packets.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        let mean = packets.len() as f64 / bursts as f64;
        // Geometric: standard deviation sqrt(1 - r) / r.
        let error = (1.0 - r).sqrt() / r / (bursts as f64).sqrt();
        assert!((mean - 1.0 / r).abs() < 3.0 * error, "{mean}, not {} +- {error}", 1.0 / r);
    }

    #[test]
    fn a_channel_that_never_changes_is_good() {
        assert_eq!(lost(gilbert_elliott((0.0, 0.0), (1.0, 0.0)), 1000).len(), 0);
        // One that never gets good again is bad from the start.
        assert_eq!(lost(gilbert_elliott((0.0, 0.01), (1.0, 0.0)), 1000).len(), 1000);
    }
}
