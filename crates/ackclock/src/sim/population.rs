//! A population of sources: under fair queueing, as many of them send as leave other flows a given capacity.

use crate::units::{Instant, NANOS_PER_SEC, Rate};
use crate::variation::Variation;

/// The sources of a population, and their rates.
///
/// A queue may share a capacity C fairly among all senders. Then n flows get `C n / (n + m)` together in competition
/// with m sources. They get B if `m = n (C - B) / B`, which is rounded and at most the number of sources. Each active
/// source sends at least its fair share `C / (n + m)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePopulation {
    /// The capacity C.
    pub capacity: Rate,
    /// The number n of other flows.
    pub beside: u32,
    /// The number of sources.
    pub count: u32,
}

impl SourcePopulation {
    /// How many sources send where `leaves_bps` is left to others.
    pub fn active(&self, leaves_bps: u64) -> u32 {
        let (capacity, beside) = (u128::from(self.capacity.as_bps()), u128::from(self.beside));
        let leaves = u128::from(leaves_bps).min(capacity);
        if leaves == 0 {
            return self.count;
        }
        let active = (2 * beside * (capacity - leaves) + leaves) / (2 * leaves);
        active.min(u128::from(self.count)) as u32
    }

    /// The rate of each of `active` sources, bits per second, rounded up.
    pub fn share_bps(&self, active: u32) -> u64 {
        self.capacity.as_bps().div_ceil(u64::from(self.beside) + u64::from(active))
    }
}

/// One source of a population.
#[derive(Clone, Debug)]
pub struct PopulationSource {
    population: SourcePopulation,
    /// Sources with lower numbers send first.
    number: u32,
    leaves: Variation,
    at: Instant,
    /// The part of the next packet that has been produced, in billionths of a bit.
    produced: u128,
    packet: u128,
}

impl PopulationSource {
    /// Source `number` of a population that leaves others `leaves`, from `start` on. Packets of different sources are
    /// spread over the time between two of one source.
    pub fn new(population: SourcePopulation, number: u32, leaves: Variation, packet: u32, start: Instant) -> Self {
        let packet = u128::from(packet) * 8 * u128::from(NANOS_PER_SEC);
        let produced = packet * u128::from(number) / u128::from(population.count.max(1));
        PopulationSource { population, number, leaves, at: start, produced, packet }
    }

    /// The time of the next packet, if before `end`. Advances to the packet after it.
    pub fn next(&mut self, end: Instant) -> Option<Instant> {
        while self.at < end {
            let piece = self.leaves.seek(self.at);
            let active = self.population.active(piece.rate_bps);
            let until = piece.until.min(end);
            if self.number < active {
                let rate = u128::from(self.population.share_bps(active));
                let missing = self.packet - self.produced;
                let passes = rate * u128::from(until.since(self.at).as_nanos());
                if missing <= passes {
                    let nanos = missing.div_ceil(rate);
                    self.at = Instant::from_nanos(self.at.as_nanos() + nanos as u64);
                    self.produced = nanos * rate - missing;
                    return Some(self.at);
                }
                self.produced += passes;
            }
            self.at = until;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POPULATION: SourcePopulation =
        SourcePopulation { capacity: Rate::from_bps(5_000_000).unwrap(), beside: 4, count: 50 };

    #[test]
    fn as_many_send_as_the_formula_says() {
        // m = 4 (5 - B) / B: none for all, 4 for half, 16 for a fifth, 4 * 4 / 1.
        let active = |leaves: u64| POPULATION.active(leaves);
        assert_eq!((active(5_000_000), active(2_500_000), active(1_000_000)), (0, 4, 16));
        // 4 * 2 / 3 = 2.67 is rounded. An excess over the capacity leaves no source.
        assert_eq!((active(3_000_000), active(7_000_000)), (3, 0));
        // 4 * 4.9 / .1 = 196 are more than there are, and nothing left would be infinitely many.
        assert_eq!((active(100_000), active(0)), (50, 50));
    }

    #[test]
    fn each_has_at_least_its_fair_share_to_send() {
        assert_eq!(POPULATION.share_bps(4), 625_000);
        assert_eq!(POPULATION.share_bps(3), 714_286);
        assert_eq!(POPULATION.share_bps(0), 1_250_000);
    }
}
