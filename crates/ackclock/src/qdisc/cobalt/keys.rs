//! The keys of COBALT.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cobalt;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem};
use crate::rng::Rng;
use crate::units::Duration;

/// COBALT: CoDel whose count falls step by step, and BLUE against flows that do not respond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CobaltKeys {
    /// The limit of the queue.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Sojourn time that a standing queue may reach without drops.
    #[serde(default = "crate::qdisc::codel::target")]
    pub target: Duration,
    /// Time to the second signal: about the RTT of most flows.
    #[serde(default = "crate::qdisc::codel::interval")]
    pub interval: Duration,
    /// Increase of the probability when the queue is full.
    #[serde(default = "increment")]
    #[schemars(range(min = 0, max = 1))]
    pub increment: f64,
    /// Decrease of the probability when the queue is empty.
    #[serde(default = "decrement")]
    #[schemars(range(min = 0, max = 1))]
    pub decrement: f64,
    /// Sojourn time above which the probability rises as well. By default it is off. In ns-3 it is 400 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blue_threshold: Option<Duration>,
    /// Whether ECN-capable packets are marked instead of dropped. The probability still drops them.
    #[serde(default)]
    pub ecn: bool,
}

fn limit() -> Limit {
    Limit::Packets(1024)
}

// As in Linux's CAKE and ns-3.
pub(in crate::qdisc) fn increment() -> f64 {
    1.0 / 256.0
}

pub(in crate::qdisc) fn decrement() -> f64 {
    1.0 / 4096.0
}

/// The parameters of COBALT, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltParameters {
    /// Sojourn time that a standing queue may reach without drops.
    pub target: Duration,
    /// Time to the second signal, above zero.
    pub interval: Duration,
    /// Increase of the probability when the queue is full, from 0 to 1.
    pub increment: f64,
    /// Decrease of the probability when the queue is empty, above 0 and at most 1.
    pub decrement: f64,
    /// Sojourn time above which the probability rises as well.
    pub blue_threshold: Option<Duration>,
    /// Whether ECN-capable items are marked where others are dropped.
    pub ecn: bool,
}

impl CobaltKeys {
    /// The parameters.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub(in crate::qdisc) fn resolved(&self) -> Result<CobaltParameters, Misfit> {
        let CobaltKeys { target, interval, increment, decrement, blue_threshold, ecn, .. } = *self;
        let out_of_range = |value: String, expected: &str| Problem::OutOfRange { value, expected: expected.to_owned() };
        if interval <= target {
            let expected = format!("above the target of {target}");
            return Err(("interval", out_of_range(interval.to_string(), &expected)));
        }
        if !(0.0..=1.0).contains(&increment) {
            return Err(("increment", out_of_range(increment.to_string(), "a number from 0 to 1")));
        }
        if !(decrement > 0.0 && decrement <= 1.0) {
            return Err(("decrement", out_of_range(decrement.to_string(), "a number above 0 and at most 1")));
        }
        Ok(CobaltParameters { target, interval, increment, decrement, blue_threshold, ecn })
    }
}

impl QueueKeys for CobaltKeys {
    type Parameters = CobaltParameters;

    const DRAWS: Option<&'static str> = Some("drops of {link}: COBALT");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, _place: &Place, _limit: qdisc::Limit) -> Result<CobaltParameters, Misfit> {
        self.resolved()
    }
}

impl QueueParameters for CobaltParameters {
    type Queue<T: Queued> = Cobalt<T>;

    const DROPS: &'static [Reason] = &[Reason::Sojourn, Reason::Early, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Sojourn];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Cobalt<T> {
        Cobalt::new(limit, *self, stream("queue"))
    }

    fn in_words(&self) -> String {
        let marks = if self.ecn { ", marks" } else { "" };
        format!(", target {}, interval {}{marks}", self.target, self.interval)
    }
}
