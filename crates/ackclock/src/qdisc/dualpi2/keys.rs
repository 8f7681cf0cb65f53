//! The keys of DualPI2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DualPi2;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem};
use crate::rng::Rng;
use crate::units::Duration;

/// DualPI2: a shallow queue for L4S and a queue for classic traffic, with coupled probabilities of marks and drops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Keys {
    /// The limit of both queues together. Default: 10000 packets, with `rfc` 250 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The algorithm.
    #[serde(default)]
    pub variant: DualPi2Variant,
    /// Queueing delay of classic traffic that the controller approaches.
    #[serde(default = "target")]
    pub target: Duration,
    /// Time between two updates of the probability.
    #[serde(default = "t_update")]
    pub t_update: Duration,
    /// Weight of the deviation from the target, per second.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Weight of the change of the delay, per second.
    #[serde(default = "beta")]
    pub beta: f64,
    /// Coupling factor k: the marking probability of L4S over the square root of the classic one.
    #[serde(default = "coupling")]
    pub coupling: f64,
    /// Percentage of the rate that the scheduler leaves to classic packets while both queues are busy. Default: 10, with
    /// `rfc` 6.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic_protection: Option<f64>,
    /// `linux`: queueing delay above which every L4S packet is marked.
    #[serde(default = "step")]
    pub step: Duration,
    /// `rfc`: queueing delay above which L4S packets are marked.
    #[serde(default = "min_th")]
    pub min_th: Duration,
    /// `rfc`: the delay in addition to `min_th` from which all L4S packets are marked.
    #[serde(default = "range")]
    pub range: Duration,
}

/// The algorithm of DualPI2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualPi2Variant {
    /// Linux's `sch_dualpi2`: random decisions and a step.
    #[default]
    Linux,
    /// RFC 9332, appendix A: decisions without random numbers and a ramp.
    Rfc,
}

// RFC 9332, figure 2 and its text. Linux has the same values.
fn target() -> Duration {
    Duration::from_millis(15)
}

fn t_update() -> Duration {
    Duration::from_millis(16)
}

fn alpha() -> f64 {
    0.16
}

fn beta() -> f64 {
    3.2
}

fn coupling() -> f64 {
    2.0
}

fn step() -> Duration {
    Duration::from_millis(1)
}

fn min_th() -> Duration {
    Duration::from_micros(800)
}

fn range() -> Duration {
    Duration::from_micros(400)
}

/// The parameters of DualPI2, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Parameters {
    /// The algorithm.
    pub variant: DualPi2Variant,
    /// Queueing delay of classic traffic that the controller approaches.
    pub target: Duration,
    /// Time between two updates, above zero.
    pub t_update: Duration,
    /// Weight of the deviation from the target, per second.
    pub alpha: f64,
    /// Weight of the change of the delay, per second.
    pub beta: f64,
    /// The coupling factor, above zero.
    pub coupling: f64,
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// Weights of the scheduler.
    pub classic_weight: i64,
    /// The weight of the L4S queue.
    pub l4s_weight: i64,
    /// Queueing delay above which L4S packets are marked.
    pub min_th: Duration,
    /// The delay in addition from which all are marked.
    pub range: Duration,
}

/// The sum of both weights.
const WEIGHTS: f64 = 10_000.0;

impl DualPi2Parameters {
    /// The credit of the classic queue at an empty queue. Below zero, the L4S queue goes first.
    pub(super) fn first_credit(&self) -> i64 {
        i64::from(self.mtu) * (self.classic_weight - self.l4s_weight)
    }

    /// p'_L: the marking probability of an L4S item after this delay, in a queue of `packets`.
    pub(super) fn native(&self, delay: Duration, packets: u32) -> f64 {
        match self.variant {
            DualPi2Variant::Linux => f64::from(delay > self.min_th),
            // RFC 9332, figures 5 and 7.
            DualPi2Variant::Rfc if packets <= 1 => 0.0,
            DualPi2Variant::Rfc if delay >= self.min_th + self.range => 1.0,
            DualPi2Variant::Rfc => delay.saturating_sub(self.min_th).as_secs_f64() / self.range.as_secs_f64(),
        }
    }
}

impl QueueKeys for DualPi2Keys {
    type Parameters = DualPi2Parameters;

    const DRAWS: Option<&'static str> = Some("early drops of {link}: DualPI2");

    fn limit(&self) -> Limit {
        self.limit.unwrap_or(match self.variant {
            DualPi2Variant::Linux => Limit::Packets(10_000),
            DualPi2Variant::Rfc => Limit::Time(Duration::from_millis(250)),
        })
    }

    fn marks(&self) -> bool {
        true
    }

    /// DualPI2 always marks, so it does not show that marks are expected.
    fn asks_for_ecn(&self) -> bool {
        false
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<DualPi2Parameters, Misfit> {
        let is_linux = self.variant == DualPi2Variant::Linux;
        let protection = self.classic_protection.unwrap_or(if is_linux { 10.0 } else { 6.25 });
        if self.t_update < Duration::from_micros(1) {
            return Err(("t_update", out_of_range(self.t_update, "at least 1 us")));
        }
        for (key, weight) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err((key, out_of_range(weight, "a number of at least 0")));
            }
        }
        if !(self.coupling.is_finite() && self.coupling > 0.0) {
            return Err(("coupling", out_of_range(self.coupling, "a number above 0")));
        }
        if !(0.0..=100.0).contains(&protection) {
            return Err(("classic_protection", out_of_range(protection, "a number from 0 to 100")));
        }
        let classic_weight = (protection / 100.0 * WEIGHTS).round();
        Ok(DualPi2Parameters {
            variant: self.variant,
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            coupling: self.coupling,
            mtu: u32::try_from(place.packet_bytes).unwrap_or(u32::MAX),
            classic_weight: classic_weight as i64,
            l4s_weight: (WEIGHTS - classic_weight) as i64,
            min_th: if is_linux { self.step } else { self.min_th },
            range: if is_linux { Duration::ZERO } else { self.range },
        })
    }
}

fn out_of_range(value: impl ToString, expected: &str) -> Problem {
    Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() }
}

impl QueueParameters for DualPi2Parameters {
    type Queue<T: Queued> = DualPi2<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Overload, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early, Reason::Coupled, Reason::Native];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> DualPi2<T> {
        DualPi2::new(limit, *self, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn in_words(&self) -> String {
        let DualPi2Parameters { variant, target, coupling, min_th, range, .. } = self;
        let l4s = match variant {
            DualPi2Variant::Linux => format!("marks L4S above {min_th}"),
            DualPi2Variant::Rfc => format!("RFC 9332, marks L4S from {min_th} to {}", *min_th + *range),
        };
        format!(", target {target}, coupling {coupling}, {l4s}")
    }
}
