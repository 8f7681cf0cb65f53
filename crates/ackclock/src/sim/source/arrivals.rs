//! Transfers that arrive at random, independent of earlier ones (an open loop).

use crate::rng::{Rng, RngStreams};
use crate::sim::plan::ArrivalsPlan;
use crate::units::{Duration, Instant};

/// Poisson arrivals, each with a size of its own.
#[derive(Clone, Debug)]
pub struct Arrivals {
    plan: ArrivalTimes,
    size: crate::sim::distribution::Distribution,
    times: Rng,
    sizes: Rng,
    next: Option<Instant>,
}

/// How often something arrives.
#[derive(Clone, Copy, Debug)]
struct ArrivalTimes {
    every: Duration,
    alternating: Option<(Duration, Duration)>,
    start: Instant,
    stop: Option<Instant>,
}

impl ArrivalTimes {
    /// The mean time between arrivals at `at`, and until when it holds.
    fn piece(&self, at: Instant) -> (Duration, Option<Instant>) {
        let Some((other, interval)) = self.alternating else { return (self.every, None) };
        let number = at.since(self.start).as_nanos() / interval.as_nanos();
        let until = self.start + interval * (number + 1);
        (if number.is_multiple_of(2) { self.every } else { other }, Some(until))
    }

    /// The time after `at` at which `means` mean times between arrivals have passed, rounded down.
    fn after(&self, mut at: Instant, mut means: f64) -> Instant {
        loop {
            let (mean, until) = self.piece(at);
            let gap = mean.mul_f64_floor(means);
            match until {
                Some(until) if at + gap >= until => {
                    means -= until.since(at).as_nanos() as f64 / mean.as_nanos() as f64;
                    at = until;
                }
                _ => return at + gap,
            }
            means = means.max(0.0);
        }
    }
}

impl Arrivals {
    /// Before the first arrival. When something arrives and how large it is are drawn apart.
    pub fn new(plan: &ArrivalsPlan, rngs: &RngStreams) -> Self {
        let ArrivalsPlan { name, every, alternating, size, start, stop, .. } = plan;
        let (every, alternating, start, stop) = (*every, *alternating, *start, *stop);
        let mut arrivals = Arrivals {
            plan: ArrivalTimes { every, alternating, start, stop },
            size: *size,
            times: rngs.stream(name, "arrivals"),
            sizes: rngs.stream(name, "sizes"),
            next: None,
        };
        arrivals.step(start);
        arrivals
    }

    /// When the next transfer arrives.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.next
    }

    /// A transfer arrives at `now`: its payload in bytes.
    pub fn arrive(&mut self, now: Instant) -> u64 {
        self.step(now);
        self.size.draw_bytes(&mut self.sizes)
    }

    fn step(&mut self, now: Instant) {
        let next = self.plan.after(now, self.times.next_exponential());
        self.next = Some(next).filter(|next| self.plan.stop.is_none_or(|stop| *next < stop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::distribution::{Distribution, DistributionKind};

    const HOUR: Instant = Instant::from_nanos(3_600_000_000_000);

    fn plan(alternating: Option<(Duration, Duration)>) -> ArrivalsPlan {
        ArrivalsPlan {
            name: "arrivals".to_owned(),
            slots: Vec::new(),
            every: Duration::from_millis(30),
            alternating,
            size: Distribution { mean: 20_000.0, kind: DistributionKind::Exponential },
            start: Instant::ZERO,
            stop: Some(HOUR),
        }
    }

    fn times(plan: &ArrivalsPlan) -> (Vec<Instant>, u64) {
        let mut arrivals = Arrivals::new(plan, &RngStreams::new(1, 0));
        let (mut times, mut bytes) = (Vec::new(), 0);
        while let Some(now) = arrivals.next_deadline() {
            times.push(now);
            bytes += arrivals.arrive(now);
        }
        (times, bytes)
    }

    #[test]
    fn arrivals_are_poisson_and_offer_mean_size_over_mean_time() {
        let (times, bytes) = times(&plan(None));
        // 120 000 are expected; the standard deviation of a Poisson number is its root.
        let count = times.len() as f64;
        assert!((count - 120_000.0).abs() < 4.0 * 120_000f64.sqrt(), "{count}");
        // Gaps without memory: exp(-1) of them are longer than the mean.
        let gap = |pair: &[Instant]| pair[1].since(pair[0]);
        let long = times.windows(2).filter(|pair| gap(pair) > Duration::from_millis(30)).count() as f64;
        let share = libm::exp(-1.0);
        assert!((long / count - share).abs() < 4.0 * (share * (1.0 - share) / count).sqrt());
        // The load of a compound Poisson process has the variance count * E[size^2] = count * 2 mean^2.
        let load = bytes as f64 / 3600.0;
        assert!((load - 20_000.0 / 0.03).abs() < 4.0 * (2.0 * 120_000.0f64).sqrt() * 20_000.0 / 3600.0, "{load}");
    }

    #[test]
    fn means_alternate() {
        let interval = Duration::from_secs(5);
        let (times, _) = times(&plan(Some((Duration::from_millis(10), interval))));
        let is_first = |time: &&Instant| (time.as_nanos() / interval.as_nanos()).is_multiple_of(2);
        let first = times.iter().filter(is_first).count() as f64;
        let second = times.len() as f64 - first;
        // 1800 s / 30 ms, and 1800 s / 10 ms.
        assert!((first - 60_000.0).abs() < 4.0 * 60_000f64.sqrt(), "{first}");
        assert!((second - 180_000.0).abs() < 4.0 * 180_000f64.sqrt(), "{second}");
    }

    #[test]
    fn a_time_behind_a_change_takes_both_means() {
        // 3 s at 1 s each, and 4 of 2 s each.
        let times = ArrivalTimes {
            every: Duration::from_secs(1),
            alternating: Some((Duration::from_secs(2), Duration::from_secs(3))),
            start: Instant::ZERO,
            stop: None,
        };
        assert_eq!(times.after(Instant::ZERO, 2.5), Instant::from_nanos(2_500_000_000));
        assert_eq!(times.after(Instant::ZERO, 4.0), Instant::from_nanos(5_000_000_000));
        assert_eq!(times.after(Instant::ZERO, 5.0), Instant::from_nanos(6_500_000_000));
    }
}
