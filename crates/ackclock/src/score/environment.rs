//! What of an environment is scored: its metrics.

use serde::{Deserialize, Serialize};

use crate::metric;
use crate::sim::summary_metric;

/// The name of the metric that an environment watches beyond the common ones.
pub const WATCH: &str = "watch";

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// The nearer to one the better.
    NearOne,
    /// Better up to one, and no more beyond.
    ReachOne,
}

impl Better {
    /// How bad a value is: less is better, whatever the metric.
    pub fn cost(self, value: f64) -> f64 {
        match self {
            Better::Higher => -value,
            Better::Lower => value,
            Better::NearOne => (value - 1.0).abs(),
            Better::ReachOne => (1.0 - value).max(0.0),
        }
    }

    /// The same of each value.
    pub fn costs(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| self.cost(*value)).collect()
    }

    /// Whether one is what there is to reach.
    pub fn is_share(self) -> bool {
        matches!(self, Better::NearOne | Better::ReachOne)
    }
}

/// A number per run, and which way is better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What it is called, in a few characters.
    pub label: String,
    /// The unit that is shown.
    pub unit: String,
    /// Which way it is better.
    pub better: Better,
    /// Digits after the point.
    pub digits: usize,
}

impl Metric {
    /// The label with its unit.
    pub fn heading(&self) -> String {
        format!("{} {}", self.label, self.unit).trim_end().to_owned()
    }

    /// The least difference that a sentence is worth, where the reference has this value.
    ///
    /// Of shares it is what people would not care about; of delays and times, whose size depends on the environment, a twentieth.
    pub fn least_effect(&self, reference: f64) -> f64 {
        match self.name.as_str() {
            "efficiency" => 0.5,
            "loss_rate" => 0.1,
            "queue_delay" => (0.05 * reference).max(1.0),
            JAIN_INDEX => 0.02,
            WATCH if self.better.is_share() => 0.05,
            _ => 0.05 * reference.abs(),
        }
    }

    /// A value with its digits and unit.
    pub fn text(&self, value: f64) -> String {
        format!("{value:.*} {}", self.digits, self.unit).trim_end().to_owned()
    }
}

/// A metric that an environment is about, beyond those of every environment.
#[derive(Clone, Debug, Deserialize)]
pub struct Watch {
    /// What is watched, by the name that suites write.
    pub metric: String,
    /// Of which group.
    pub group: String,
    /// What it is called.
    pub label: String,
    /// Which way it is better.
    pub better: Better,
    /// The unit that is shown.
    pub unit: String,
    /// From the value to that unit.
    pub scale: f64,
}

/// What of an environment concerns scores.
#[derive(Clone, Debug, Deserialize)]
pub struct Environment {
    /// Its name.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Whether the flows are meant to get the same.
    pub fairness: bool,
    /// What it is about.
    pub watch: Option<Watch>,
    /// Where others take part of the link: the groups whose flows are scored, with what is left to them.
    pub scored: Vec<String>,
}

impl Environment {
    /// The metrics that make sense in it, in the order of their values.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut found = Vec::from(common());
        found.retain(|metric| self.fairness || metric.name != JAIN_INDEX);
        found.push(goodput());
        found.extend(self.watch.as_ref().map(|watch| Metric {
            name: WATCH.to_owned(),
            label: watch.label.clone(),
            unit: watch.unit.clone(),
            better: watch.better,
            digits: 3,
        }));
        found
    }
}

const JAIN_INDEX: &str = "jain_index";

/// A metric of the summary of runs that environments have.
pub(super) struct OfSummary {
    pub name: &'static str,
    /// Its name in the summary.
    pub of: &'static str,
    label: &'static str,
    digits: usize,
    /// What it is for flows that sent nothing.
    pub idle: Option<f64>,
}

/// The last is stored and compared with a baseline, and not shown: efficiency times the rate of the bottleneck.
pub(super) const OF_SUMMARY: [OfSummary; 5] = [
    OfSummary { name: "efficiency", of: "efficiency", label: "efficiency", digits: 2, idle: None },
    OfSummary { name: "loss_rate", of: "loss_rate", label: "segments lost", digits: 2, idle: Some(0.0) },
    OfSummary { name: "queue_delay", of: "queue_delay_mean", label: "queueing delay", digits: 1, idle: Some(0.0) },
    OfSummary { name: JAIN_INDEX, of: "jain_index", label: "Jain", digits: 3, idle: None },
    OfSummary { name: "goodput", of: "goodput", label: "goodput", digits: 3, idle: None },
];

impl OfSummary {
    fn metric(&self) -> Metric {
        let declared = summary_metric(self.of);
        Metric {
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            unit: declared.unit.to_owned(),
            better: if declared.better == metric::Better::Higher { Better::Higher } else { Better::Lower },
            digits: self.digits,
        }
    }
}

/// The metrics of every environment that the scoreboard shows, in its order.
pub fn common() -> [Metric; 4] {
    [0, 1, 2, 3].map(|at: usize| OF_SUMMARY[at].metric())
}

/// The one that is not shown.
pub fn goodput() -> Metric {
    OF_SUMMARY[4].metric()
}
