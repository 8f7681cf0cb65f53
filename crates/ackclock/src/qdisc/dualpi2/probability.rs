//! The base probability p' of both queues, and decisions with a probability.

use super::{DualPi2Parameters, DualPi2Variant};
use crate::qdisc::ticks::Ticks;
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The proportional-integral controller.
#[derive(Clone, Debug)]
pub(super) struct Probability {
    ticks: Ticks,
    /// p'.
    base: f64,
    delay: Duration,
}

impl Probability {
    /// Zero, at an empty queue.
    pub(super) fn new(parameters: &DualPi2Parameters) -> Self {
        Probability { ticks: Ticks::new(parameters.t_update), base: 0.0, delay: Duration::ZERO }
    }

    /// Performs the updates that are due. The heads of the queues have arrived at these times.
    #[inline]
    pub(super) fn catch_up(&mut self, parameters: &DualPi2Parameters, now: Instant, heads: [Option<Instant>; 2]) {
        while let Some(tick) = self.ticks.take(now) {
            let before = (self.base, self.delay);
            let delay = |since: Option<Instant>| since.map_or(Duration::ZERO, |since| tick.since(since));
            self.update(parameters, delay(heads[0]).max(delay(heads[1])));
            if (self.base, self.delay) == before {
                // Further updates change nothing.
                self.ticks.take_all(now);
            }
        }
    }

    /// RFC 9332, figure 8.
    fn update(&mut self, parameters: &DualPi2Parameters, delay: Duration) {
        let error = delay.as_secs_f64() - parameters.target.as_secs_f64();
        let trend = delay.as_secs_f64() - self.delay.as_secs_f64();
        self.base = (self.base + parameters.alpha * error + parameters.beta * trend).clamp(0.0, 1.0);
        self.delay = delay;
    }

    /// p_C, the square of p'.
    pub(super) fn of_classic(&self) -> f64 {
        self.base * self.base
    }

    /// p_CL, which is not limited to 1.
    pub(super) fn coupled(&self, parameters: &DualPi2Parameters) -> f64 {
        parameters.coupling * self.base
    }

    /// Whether the classic queue also drops ECN-capable items.
    pub(super) fn is_overload(&self, parameters: &DualPi2Parameters) -> bool {
        match parameters.variant {
            DualPi2Variant::Linux => self.coupled(parameters) > 1.0,
            DualPi2Variant::Rfc => self.of_classic() >= (1.0 / (parameters.coupling * parameters.coupling)).min(1.0),
        }
    }

    /// Shows its state.
    pub(super) fn show(&self, parameters: &DualPi2Parameters, see: &mut dyn FnMut(&str, f64)) {
        see("target_ms", parameters.target.as_secs_f64() * 1e3);
        see("delay_ms", self.delay.as_secs_f64() * 1e3);
        see("base_probability", self.base);
        see("classic_probability", self.of_classic());
        see("coupled_probability", self.coupled(parameters).min(1.0));
    }

    /// Sets p'.
    #[cfg(test)]
    pub(super) fn set_base(&mut self, base: f64) {
        self.base = base;
    }

    /// p'.
    #[cfg(test)]
    pub(super) fn base(&self) -> f64 {
        self.base
    }
}

/// Decisions of a queue with given probabilities.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lottery {
    count: f64,
}

impl Lottery {
    /// Whether this item is chosen.
    #[inline]
    pub(super) fn draws(&mut self, parameters: &DualPi2Parameters, probability: f64, stream: &mut Rng) -> bool {
        match parameters.variant {
            DualPi2Variant::Linux => stream.next_f64() < probability,
            // RFC 9332, figure 4: recur().
            DualPi2Variant::Rfc => {
                self.count += probability;
                let is_chosen = self.count > 1.0;
                self.count -= f64::from(is_chosen);
                is_chosen
            }
        }
    }
}
