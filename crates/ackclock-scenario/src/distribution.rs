//! Random sizes and times in a scenario: one value, or a table with a kind and its mean.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::quantity::Problem;
use ackclock::quantity::Size;
use ackclock::sim::{Distribution, DistributionKind};
use ackclock::units::Duration;

/// Always the same size, or a random one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sizes {
    /// Always the same.
    Fixed(Size),
    /// Random.
    Random(RandomSizes),
}

/// Random sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RandomSizes {
    /// Without memory.
    Exponential {
        /// Mean.
        mean: Size,
    },
    /// Many small ones and a few large ones: above a smallest size, a power law.
    Pareto {
        /// Mean.
        mean: Size,
        /// The exponent, above 1. Below 2 the variance is infinite.
        #[serde(default = "default_size_shape")]
        shape: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// Mean.
        mean: Size,
        /// Standard deviation of the natural logarithm.
        #[serde(default = "default_sigma")]
        sigma: f64,
    },
}

/// Always the same time, or a random one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Times {
    /// Always the same.
    Fixed(Duration),
    /// Random.
    Random(RandomTimes),
}

/// Random times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RandomTimes {
    /// Without memory.
    Exponential {
        /// Mean.
        mean: Duration,
    },
    /// Many short ones and a few long ones: above a smallest time, a power law.
    Pareto {
        /// Mean.
        mean: Duration,
        /// The exponent, above 1. Below 2 the variance is infinite.
        #[serde(default = "default_time_shape")]
        shape: f64,
    },
}

/// Files of the web (Crovella & Bestavros 1997: 1.0 to 1.3).
fn default_size_shape() -> f64 {
    1.2
}

/// Times of ns-2's Pareto source.
fn default_time_shape() -> f64 {
    1.5
}

fn default_sigma() -> f64 {
    1.0
}

impl Sizes {
    /// As the engine draws them.
    pub fn distribution(&self) -> Distribution {
        let of = |mean: Size, kind| Distribution { mean: mean.0 as f64, kind };
        match *self {
            Sizes::Fixed(size) => of(size, DistributionKind::Fixed),
            Sizes::Random(RandomSizes::Exponential { mean }) => of(mean, DistributionKind::Exponential),
            Sizes::Random(RandomSizes::Pareto { mean, shape }) => of(mean, DistributionKind::Pareto { shape }),
            Sizes::Random(RandomSizes::Lognormal { mean, sigma }) => of(mean, DistributionKind::Lognormal { sigma }),
        }
    }

    /// Whether it can be drawn.
    ///
    /// # Errors
    /// The key that is out of its range.
    pub fn check(&self) -> Result<(), Problem> {
        check(&self.distribution(), "at least 1 B", self)
    }
}

impl Times {
    /// The mean.
    pub fn mean(&self) -> Duration {
        match *self {
            Times::Fixed(mean)
            | Times::Random(RandomTimes::Exponential { mean } | RandomTimes::Pareto { mean, .. }) => mean,
        }
    }

    /// As the engine draws them, in nanoseconds.
    pub fn distribution(&self) -> Distribution {
        let kind = match *self {
            Times::Fixed(_) => DistributionKind::Fixed,
            Times::Random(RandomTimes::Exponential { .. }) => DistributionKind::Exponential,
            Times::Random(RandomTimes::Pareto { shape, .. }) => DistributionKind::Pareto { shape },
        };
        Distribution { mean: self.mean().as_nanos() as f64, kind }
    }

    /// Checks that it can be drawn. A fixed time may be zero.
    ///
    /// # Errors
    /// The key that is out of its range.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            Times::Fixed(_) => Ok(()),
            Times::Random(_) => check(&self.distribution(), "above zero", self),
        }
    }
}

fn check(distribution: &Distribution, mean: &str, written: &dyn fmt::Display) -> Result<(), Problem> {
    let problem = |value: String, expected: &str| Err(Problem::OutOfRange { value, expected: expected.to_owned() });
    match distribution.kind {
        _ if distribution.mean < 1.0 => problem(written.to_string(), mean),
        DistributionKind::Pareto { shape } if !(shape > 1.0 && shape <= 100.0) => {
            problem(format!("a shape of {shape}"), "above 1, so that there is a mean, and at most 100")
        }
        DistributionKind::Lognormal { sigma } if !(0.0..=10.0).contains(&sigma) => {
            problem(format!("a sigma of {sigma}"), "from 0 to 10")
        }
        _ => Ok(()),
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Fixed(size) => size.fmt(f),
            Sizes::Random(RandomSizes::Exponential { mean }) => write!(f, "exponential, mean {mean}"),
            Sizes::Random(RandomSizes::Pareto { mean, shape }) => write!(f, "pareto, mean {mean}, shape {shape}"),
            Sizes::Random(RandomSizes::Lognormal { mean, sigma }) => write!(f, "lognormal, mean {mean}, sigma {sigma}"),
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Times::Fixed(time) => time.fmt(f),
            Times::Random(RandomTimes::Exponential { mean }) => write!(f, "exponential, mean {mean}"),
            Times::Random(RandomTimes::Pareto { mean, shape }) => write!(f, "pareto, mean {mean}, shape {shape}"),
        }
    }
}
