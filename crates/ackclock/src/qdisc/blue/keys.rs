//! The keys of BLUE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Blue;
use crate::qdisc::{self, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem};
use crate::rng::Rng;
use crate::units::Duration;

/// BLUE: drops, or marks, with a probability that losses raise and idle times lower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlueKeys {
    /// The limit of the queue.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// Backlog above which the probability rises without a loss. By default only losses raise it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Limit>,
    /// Increase of the probability at a loss.
    #[serde(default = "increment")]
    #[schemars(range(min = 0, max = 1))]
    pub increment: f64,
    /// Decrease of the probability while the link is idle.
    #[serde(default = "decrement")]
    #[schemars(range(min = 0, max = 1))]
    pub decrement: f64,
    /// Time between two changes of the probability.
    #[serde(default = "freeze_time")]
    pub freeze_time: Duration,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
}

fn one_bdp() -> Limit {
    ONE_BDP
}

// Feng et al. 2002, section 3: the first set of parameters.
fn increment() -> f64 {
    0.0025
}

fn decrement() -> f64 {
    0.00025
}

fn freeze_time() -> Duration {
    Duration::from_millis(100)
}

/// The parameters of BLUE, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlueParameters {
    /// Backlog above which the probability rises.
    pub threshold: Option<qdisc::Limit>,
    /// Increase of the probability at a loss, from 0 to 1.
    pub increment: f64,
    /// Decrease of the probability while the link is idle, from 0 to 1.
    pub decrement: f64,
    /// Time between two changes, above zero.
    pub freeze_time: Duration,
    /// Whether ECN-capable items are marked where others are dropped.
    pub ecn: bool,
}

impl QueueKeys for BlueKeys {
    type Parameters = BlueParameters;

    const DRAWS: Option<&'static str> = Some("early drops of {link}: BLUE");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<BlueParameters, Misfit> {
        let BlueKeys { increment, decrement, freeze_time, ecn, .. } = *self;
        let out_of_range = |value: String, expected: &str| Problem::OutOfRange { value, expected: expected.to_owned() };
        for (key, step) in [("increment", increment), ("decrement", decrement)] {
            if !(0.0..=1.0).contains(&step) {
                return Err((key, out_of_range(step.to_string(), "a number from 0 to 1")));
            }
        }
        if freeze_time.is_zero() {
            return Err(("freeze_time", out_of_range(freeze_time.to_string(), "above 0 s")));
        }
        let threshold = self.threshold.map(|threshold| place.limit(threshold));
        Ok(BlueParameters { threshold, increment, decrement, freeze_time, ecn })
    }
}

impl QueueParameters for BlueParameters {
    type Queue<T: Queued> = Blue<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Blue<T> {
        Blue::new(limit, *self, stream("queue"))
    }

    fn in_words(&self) -> String {
        let BlueParameters { increment, decrement, freeze_time, ecn, .. } = self;
        let marks = if *ecn { ", marks" } else { "" };
        format!(", steps of +{increment} and -{decrement} every {freeze_time}{marks}")
    }
}
