//! The keys of weighted round robin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Turns, Wrr};
use crate::qdisc::classes::{ClassKeys, Classes, ClassesParameters, keys_of_classes, parameters_of_classes};
use crate::qdisc::drr::quantum_at;
use crate::qdisc::nested::inside;
use crate::qdisc::{self, AMPLE, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem, Size};
use crate::rng::Rng;

/// Weighted round robin: classes take turns, and each sends bytes in proportion to its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrrKeys {
    /// The limit of all classes together. Each class has the limit of its queue as well.
    #[serde(default = "ample")]
    pub limit: Limit,
    /// Bytes in a turn of a class with weight 1. Default: the largest packet that crosses the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Classes. A packet belongs to the first one that selects it.
    #[schemars(length(min = 1, max = 16))]
    pub class: Vec<ClassKeys>,
}

fn ample() -> Limit {
    AMPLE
}

/// The parameters of weighted round robin, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct WrrParameters {
    /// Bytes in a turn of a class with weight 1.
    pub quantum: u32,
    /// The classes. Their weights are above zero.
    pub classes: ClassesParameters,
}

impl WrrParameters {
    /// Bytes in a turn of each class.
    fn quanta(&self) -> impl Iterator<Item = u64> {
        self.classes.0.iter().map(|class| (class.weight * f64::from(self.quantum)).round() as u64)
    }
}

impl QueueKeys for WrrKeys {
    type Parameters = WrrParameters;

    keys_of_classes!();

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<WrrParameters, Misfit> {
        let quantum = quantum_at(self.quantum, place)?;
        let parameters = WrrParameters { quantum, classes: ClassesParameters::new(&self.class, place)? };
        let weightless = parameters.quanta().position(|quantum| quantum == 0);
        if let Some(number) = weightless {
            let value = self.class[number].weight.to_string();
            let expected = format!("at least {:.1e}, one byte in a turn of {quantum} B", 1.0 / f64::from(quantum));
            return Err(("class", inside(number, inside("weight", Problem::OutOfRange { value, expected }))));
        }
        Ok(parameters)
    }
}

impl QueueParameters for WrrParameters {
    type Queue<T: Queued> = Wrr<T>;

    const DROPS: &'static [Reason] = &[Reason::Full];

    parameters_of_classes!();

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Wrr<T> {
        Classes::new(limit, self.classes.clone(), Turns::new(self.quanta()), stream)
    }

    fn in_words(&self) -> String {
        format!(", turns of {} B{}", self.quantum, self.classes.in_words())
    }
}
