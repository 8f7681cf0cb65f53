//! The keys of strict priority.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prio, Priority};
use crate::qdisc::classes::{ClassKeys, Classes, ClassesParameters, keys_of_classes, parameters_of_classes};
use crate::qdisc::{self, AMPLE, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::Limit;
use crate::rng::Rng;

/// Strict priority: a class sends while the classes before it have nothing to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioKeys {
    /// The limit of all classes together. Each class has the limit of its queue as well.
    #[serde(default = "ample")]
    pub limit: Limit,
    /// Classes by falling priority.
    #[schemars(length(min = 1, max = 16))]
    pub class: Vec<ClassKeys>,
}

fn ample() -> Limit {
    AMPLE
}

/// The parameters of strict priority, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct PrioParameters {
    /// The classes, by falling priority.
    pub classes: ClassesParameters,
}

impl QueueKeys for PrioKeys {
    type Parameters = PrioParameters;

    keys_of_classes!();

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<PrioParameters, Misfit> {
        Ok(PrioParameters { classes: ClassesParameters::new(&self.class, place)? })
    }
}

impl QueueParameters for PrioParameters {
    type Queue<T: Queued> = Prio<T>;

    const DROPS: &'static [Reason] = &[Reason::Full];

    parameters_of_classes!();

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Prio<T> {
        Classes::new(limit, self.classes.clone(), Priority, stream)
    }

    fn in_words(&self) -> String {
        self.classes.in_words()
    }
}
