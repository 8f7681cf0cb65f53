//! The keys of networks that differ from replicate to replicate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values that each replicate draws around the values of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Replicates {
    /// The base RTT of each flow is drawn for itself, uniformly within this share of its value.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub rtt: f64,
    /// All rates of links are multiplied by one number, drawn uniformly within this share of 1. Rates of channels stay.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub rate: f64,
}

impl Replicates {
    /// True if replicates have other networks.
    pub fn is_random(&self) -> bool {
        self.rtt > 0.0 || self.rate > 0.0
    }
}
