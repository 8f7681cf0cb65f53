//! The keys of SFB.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sfb;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem};
use crate::rng::Rng;
use crate::units::Duration;

/// Stochastic Fair BLUE: BLUE in the bins of a Bloom filter, and a penalty rate for unresponsive flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SfbKeys {
    /// The limit of the queue.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Packets of a bin from which its probability rises.
    #[serde(default = "bin_size")]
    #[schemars(range(min = 1))]
    pub bin_size: u32,
    /// Packets of a bin from which all arrivals are dropped.
    #[serde(default = "max")]
    #[schemars(range(min = 1))]
    pub max: u32,
    /// Increase of a bin's probability.
    #[serde(default = "increment")]
    #[schemars(range(min = 0, max = 1))]
    pub increment: f64,
    /// Decrease of the probability of an empty bin.
    #[serde(default = "decrement")]
    #[schemars(range(min = 0, max = 1))]
    pub decrement: f64,
    /// Packets per second of all flows that do not respond.
    #[serde(default = "penalty_rate")]
    #[schemars(range(min = 0))]
    pub penalty_rate: f64,
    /// Packets that such flows may send at once.
    #[serde(default = "penalty_burst")]
    pub penalty_burst: u32,
    /// Time between two filters with new hashes. "0 s" means never.
    #[serde(default = "rehash")]
    pub rehash: Duration,
    /// Time for which a new filter learns before.
    #[serde(default = "warmup")]
    pub warmup: Duration,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
}

// As in Linux.
fn limit() -> Limit {
    Limit::Packets(1000)
}

fn bin_size() -> u32 {
    20
}

fn max() -> u32 {
    25
}

fn increment() -> f64 {
    0.001
}

fn decrement() -> f64 {
    0.001 / 6.0
}

fn penalty_rate() -> f64 {
    10.0
}

fn penalty_burst() -> u32 {
    20
}

fn rehash() -> Duration {
    Duration::from_secs(600)
}

fn warmup() -> Duration {
    Duration::from_secs(60)
}

/// The parameters of SFB, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SfbParameters {
    /// Packets of a bin from which its probability rises.
    pub bin_size: u32,
    /// Packets of a bin from which all arrivals are dropped.
    pub max: u32,
    /// Increase of a bin's probability, from 0 to 1.
    pub increment: f64,
    /// Decrease of the probability of an empty bin, from 0 to 1.
    pub decrement: f64,
    /// Packets per second of all flows that do not respond.
    pub penalty_rate: f64,
    /// Packets that such flows may send at once.
    pub penalty_burst: u32,
    /// Time between two filters. None means never.
    pub rehash: Option<Duration>,
    /// Time for which a new filter learns before.
    pub warmup: Duration,
    /// Whether ECN-capable items are marked where others are dropped.
    pub ecn: bool,
}

impl QueueKeys for SfbKeys {
    type Parameters = SfbParameters;

    const DRAWS: Option<&'static str> = Some("hashes and early drops of {link}: SFB");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, _place: &Place, _limit: qdisc::Limit) -> Result<SfbParameters, Misfit> {
        let out_of_range = |value: f64, expected: &str| Problem::OutOfRange {
            value: value.to_string(),
            expected: expected.to_owned(),
        };
        for (key, step) in [("increment", self.increment), ("decrement", self.decrement)] {
            if !(0.0..=1.0).contains(&step) {
                return Err((key, out_of_range(step, "a number from 0 to 1")));
            }
        }
        if !(self.penalty_rate.is_finite() && self.penalty_rate >= 0.0) {
            return Err(("penalty_rate", out_of_range(self.penalty_rate, "a number of at least 0")));
        }
        let SfbKeys { bin_size, max, increment, decrement, penalty_rate, penalty_burst, warmup, ecn, .. } = *self;
        let rehash = Some(self.rehash).filter(|rehash| !rehash.is_zero());
        Ok(SfbParameters { bin_size, max, increment, decrement, penalty_rate, penalty_burst, rehash, warmup, ecn })
    }
}

impl QueueParameters for SfbParameters {
    type Queue<T: Queued> = Sfb<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Bin, Reason::Penalty, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Sfb<T> {
        Sfb::new(limit, *self, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        self.rehash.is_some()
    }

    fn in_words(&self) -> String {
        let SfbParameters { bin_size, increment, decrement, penalty_rate, ecn, .. } = self;
        let marks = if *ecn { ", marks" } else { "" };
        format!(
            ", bins of {bin_size} packets, steps of +{increment} and -{decrement:.6}, penalty {penalty_rate} packets/s{marks}"
        )
    }
}
