//! Datagrams at a constant rate for a while, and none for a while.

use crate::rng::Rng;
use crate::sim::plan::OnOffPlan;
use crate::units::{Duration, Instant};

/// A source that begins with a burst. Packets are evenly spaced in its active time, across bursts. Thus no fraction
/// of a packet is lost between two bursts.
#[derive(Clone, Debug)]
pub struct OnOff {
    plan: OnOffPlan,
    packet: u32,
    stream: Rng,
    /// Packets so far.
    packets: u64,
    /// When this burst began, how long it is, and how long the source was on before.
    began: Instant,
    length: Duration,
    on_before: Duration,
}

impl OnOff {
    /// The first burst begins at `start`.
    pub fn new(plan: OnOffPlan, packet: u32, mut stream: Rng, start: Instant) -> Self {
        let length = plan.on.draw_time(&mut stream);
        OnOff { plan, packet, stream, packets: 0, began: start, length, on_before: Duration::ZERO }
    }

    /// When the next packet is due, if before `end`.
    pub fn next(&mut self, end: Instant) -> Option<Instant> {
        // The time that the source has to be on for all packets up to this one.
        let due = self.plan.rate.transmission((self.packets + 1) * u64::from(self.packet)).0;
        while due > self.on_before + self.length {
            self.on_before += self.length;
            self.began += self.length + self.plan.off.draw_time(&mut self.stream);
            if self.began >= end {
                return None;
            }
            self.length = self.plan.on.draw_time(&mut self.stream);
        }
        Some(self.began + (due - self.on_before))
    }

    /// Advances to the packet after the next one.
    pub fn step(&mut self) {
        self.packets += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStreams;
    use crate::sim::distribution::{Distribution, DistributionKind};
    use crate::units::Rate;

    fn times(on: Distribution, off: Distribution, end: Instant) -> Vec<Instant> {
        // A packet of 1000 B every 10 ms.
        let rate = Rate::from_bps(800_000).unwrap();
        let stream = RngStreams::new(1, 0).stream("x", "on-off");
        let mut source = OnOff::new(OnOffPlan { rate, on, off }, 1_000, stream, Instant::ZERO);
        let mut times = Vec::new();
        while let Some(next) = source.next(end).filter(|next| *next < end) {
            times.push(next);
            source.step();
        }
        times
    }

    #[test]
    fn fixed_bursts_carry_the_fraction_of_a_packet_over() {
        // 25 ms on, 75 ms off: packets at 10 and 20 ms, and the third 5 ms into the second burst.
        let (on, off) = (Distribution::fixed(25e6), Distribution::fixed(75e6));
        let millis: Vec<u64> =
            times(on, off, Instant::from_nanos(210_000_000)).iter().map(|time| time.as_nanos() / 1_000_000).collect();
        assert_eq!(millis, [10, 20, 105, 115, 125]);
        // A duty cycle of a quarter: 25 packets a second.
        assert_eq!(times(on, off, Instant::from_nanos(400_000_000_001)).len(), 10_000);
    }

    #[test]
    fn the_duty_cycle_is_mean_on_over_mean_on_and_off() {
        let hours = 10.0;
        let end = Instant::from_nanos((hours * 3.6e12) as u64);
        for kind in [DistributionKind::Exponential, DistributionKind::Pareto { shape: 2.5 }] {
            let (on, off) = (Distribution { mean: 500e6, kind }, Distribution { mean: 1500e6, kind });
            let packets = times(on, off, end).len() as f64;
            let expected = 0.25 * 100.0 * hours * 3600.0;
            // 18 000 cycles; a cycle's share has a standard deviation below its mean.
            assert!((packets / expected - 1.0).abs() < 4.0 / 18_000f64.sqrt(), "{kind:?} {packets}");
        }
    }
}
