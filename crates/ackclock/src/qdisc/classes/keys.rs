//! The keys of classes, and the assignment of packets to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::qdisc::nested::{inside, union};
use crate::qdisc::{Ecn, InnerQueue, Misfit, Place, QueuePlan, QueueSpec, Queued, Reason, Tag};
use crate::quantity::Problem;

/// A class: its selectors, its share and its queue.
///
/// A packet belongs to the first class that selects it. Without such a class it belongs to the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassKeys {
    /// Names of groups of flows whose packets the class selects, ACKs included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Differentiated services codepoints (DSCP) that the class selects, from 0 to 63.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<u8>,
    /// ECN codepoints that the class selects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ecn: Vec<Ecn>,
    /// Whether the class selects the packets that its other selectors do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
    /// Share of a class among the weights of all classes. Strict priority ignores it.
    #[serde(default = "weight", skip_serializing_if = "is_one")]
    #[schemars(range(min = 0))]
    pub weight: f64,
    /// Queue of the class.
    pub queue: InnerQueue,
}

fn weight() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

impl ClassKeys {
    /// Whether it selects every packet.
    fn takes_all(&self) -> bool {
        self.flows.is_empty() && self.dscp.is_empty() && self.ecn.is_empty() && !self.not
    }

    /// The selector at a place.
    fn selector(&self, place: &Place) -> Result<Selector, Misfit> {
        if let Some(dscp) = self.dscp.iter().find(|dscp| **dscp > 63) {
            let expected = "from 0 to 63".to_owned();
            return Err(("dscp", Problem::OutOfRange { value: dscp.to_string(), expected }));
        }
        let flows: Result<Vec<u16>, Problem> = self.flows.iter().map(|name| place.groups.label(name)).collect();
        let flows = flows.map_err(|problem| ("flows", problem))?;
        let has_dscp = |dscp: u8| self.dscp.is_empty() || self.dscp.contains(&dscp);
        let groups = place.groups.all().iter().take(Tag::MOST).zip(1..);
        let of_groups =
            groups.map(|(group, label)| (flows.is_empty() || flows.contains(&label)) && has_dscp(group.dscp));
        // Packets without a group are of no listed one, and have DSCP 0.
        let labels = [flows.is_empty() && has_dscp(0)].into_iter().chain(of_groups).collect();
        let codepoints = self.ecn.iter().map(|ecn| 1 << ecn.bits()).fold(0, |set, one| set | one);
        Ok(Selector { labels, codepoints: if self.ecn.is_empty() { 0b1111 } else { codepoints }, not: self.not })
    }
}

/// The packets that a class selects.
#[derive(Clone, Debug, PartialEq)]
struct Selector {
    /// Whether each label is selected.
    labels: Vec<bool>,
    /// A bit for each ECN codepoint.
    codepoints: u8,
    not: bool,
}

impl Selector {
    #[inline]
    fn selects(&self, item: &impl Queued) -> bool {
        let is_listed = self.codepoints >> item.ecn().bits() & 1 != 0
            && self.labels.get(usize::from(item.tag().label())).copied().unwrap_or(false);
        is_listed != self.not
    }
}

/// A class, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassParameters {
    selector: Selector,
    /// Its share, above zero.
    pub weight: f64,
    /// Its queue.
    pub queue: QueuePlan,
}

/// The classes of a queue, resolved. There is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassesParameters(pub Vec<ClassParameters>);

impl ClassesParameters {
    /// The classes at a place.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub(in crate::qdisc) fn new(classes: &[ClassKeys], place: &Place) -> Result<Self, Misfit> {
        let of = |class: &ClassKeys| -> Result<ClassParameters, Misfit> {
            let selector = class.selector(place)?;
            let queue = class.queue.plan(place)?;
            Ok(ClassParameters { selector, weight: class.weight, queue })
        };
        let numbered = classes.iter().enumerate();
        let all: Result<Vec<_>, Problem> = numbered
            .map(|(number, class)| of(class).map_err(|(key, problem)| inside(number, inside(key, problem))))
            .collect();
        let all = all.map_err(|problem| ("class", problem))?;
        if all.is_empty() {
            let example = "write [[topology.queue.class]] with a queue for each class".to_owned();
            return Err(("class", Problem::MissingKey { example }));
        }
        let first = classes.iter().position(ClassKeys::takes_all).map(|place| place + 1);
        match first {
            Some(class) if class < classes.len() => Err(("class", Problem::Shadowed { class, shadowed: class + 1 })),
            _ => Ok(ClassesParameters(all)),
        }
    }

    /// The number of the class of an item.
    #[inline]
    pub(super) fn class_of(&self, item: &impl Queued) -> usize {
        let selected = self.0.iter().position(|class| class.selector.selects(item));
        selected.unwrap_or(self.0.len() - 1)
    }

    pub(in crate::qdisc) fn any(&self, has: impl Fn(&QueuePlan) -> bool) -> bool {
        self.0.iter().any(|class| has(&class.queue))
    }

    pub(in crate::qdisc) fn reasons(&self, of: impl Fn(&QueuePlan) -> Vec<Reason>) -> Vec<Reason> {
        union(self.0.iter().map(|class| of(&class.queue)))
    }

    /// The queues in words.
    pub(in crate::qdisc) fn in_words(&self) -> String {
        let class = |(number, class): (usize, &ClassParameters)| {
            let weight = if class.weight == 1.0 { String::new() } else { format!(" of weight {}", class.weight) };
            format!(", class {}{weight}: {}", number + 1, class.queue.in_words())
        };
        self.0.iter().enumerate().map(class).collect()
    }
}

/// The keys of a list of queues.
pub(in crate::qdisc) fn specs(classes: &[ClassKeys]) -> impl Iterator<Item = &QueueSpec> {
    classes.iter().map(|class| class.queue.spec())
}

/// The methods of [`QueueKeys`](crate::qdisc::QueueKeys) of a queue with the keys `limit` and `class`.
macro_rules! keys_of_classes {
    () => {
        fn limit(&self) -> crate::quantity::Limit {
            self.limit
        }

        fn draws(&self) -> Vec<&'static str> {
            crate::qdisc::classes::specs(&self.class).flat_map(|queue| queue.purposes()).collect()
        }

        fn reads_profiles(&self) -> bool {
            crate::qdisc::classes::specs(&self.class).any(|queue| queue.reads_profiles())
        }

        fn marks(&self) -> bool {
            crate::qdisc::classes::specs(&self.class).any(|queue| queue.marks())
        }

        fn asks_for_ecn(&self) -> bool {
            crate::qdisc::classes::specs(&self.class).any(|queue| queue.asks_for_ecn())
        }
    };
}

/// The methods of [`QueueParameters`](crate::qdisc::QueueParameters) of a queue with `classes`.
macro_rules! parameters_of_classes {
    () => {
        fn drops(&self) -> Vec<Reason> {
            crate::qdisc::nested::union([vec![Reason::Full], self.classes.reasons(|queue| queue.drops())])
        }

        fn marks(&self) -> Vec<Reason> {
            self.classes.reasons(|queue| queue.marks())
        }

        fn reads_profiles(&self) -> bool {
            self.classes.any(|queue| queue.reads_profiles())
        }

        fn conserves_work(&self) -> bool {
            !self.classes.any(|queue| !queue.conserves_work())
        }

        fn has_clock(&self) -> bool {
            self.classes.any(|queue| queue.has_clock())
        }
    };
}

pub(in crate::qdisc) use {keys_of_classes, parameters_of_classes};
