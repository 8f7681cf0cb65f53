//! The scored metrics of an environment.

use serde::{Deserialize, Serialize};

use crate::metric;
use crate::sim::summary_metric;

/// The name of the metric that an environment watches in addition to the common metrics.
pub const WATCH: &str = "watch";

/// The direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// Values near one are better.
    NearOne,
    /// Values improve up to one. All values above one are equally good.
    ReachOne,
}

impl Better {
    /// The cost of a value. A lower cost is better, for every metric.
    pub fn cost(self, value: f64) -> f64 {
        match self {
            Better::Higher => -value,
            Better::Lower => value,
            Better::NearOne => (value - 1.0).abs(),
            Better::ReachOne => (1.0 - value).max(0.0),
        }
    }

    /// The cost of each value.
    pub fn costs(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| self.cost(*value)).collect()
    }

    /// Whether the best value is one.
    pub fn is_share(self) -> bool {
        matches!(self, Better::NearOne | Better::ReachOne)
    }
}

/// A number per run, and the direction in which it improves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// The name in documents.
    pub name: String,
    /// A short label.
    pub label: String,
    /// The displayed unit.
    pub unit: String,
    /// The direction of improvement.
    pub better: Better,
    /// Displayed digits after the decimal point.
    pub digits: usize,
}

impl Metric {
    /// Whether tables and the verdict show it. Goodput repeats efficiency, and the delay score repeats the queueing delay.
    pub fn is_shown(&self) -> bool {
        ![GOODPUT, DELAY_SCORE].contains(&self.name.as_str())
    }

    /// The label with its unit.
    pub fn heading(&self) -> String {
        format!("{} {}", self.label, self.unit).trim_end().to_owned()
    }

    /// The smallest difference that the verdict mentions, given the value of the reference.
    ///
    /// Shares have absolute thresholds. Delays and times depend on the environment, so their threshold is 5 % of the reference.
    pub fn least_effect(&self, reference: f64) -> f64 {
        match self.name.as_str() {
            "efficiency" | DELAY_SCORE => 0.5,
            "loss_rate" => 0.1,
            QUEUE_DELAY => (0.05 * reference).max(1.0),
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

/// The metric that an environment watches in addition to the common metrics.
#[derive(Clone, Debug, Deserialize)]
pub struct Watch {
    /// The metric, by its name in suite files.
    pub metric: String,
    /// The watched group of flows.
    pub group: String,
    /// A short label.
    pub label: String,
    /// The direction of improvement.
    pub better: Better,
    /// The displayed unit.
    pub unit: String,
    /// The factor from the value to the displayed unit.
    pub scale: f64,
}

/// The properties of an environment that scores need.
#[derive(Clone, Debug, Deserialize)]
pub struct Environment {
    /// The identifier in the suite.
    pub id: String,
    /// The title of the environment.
    pub title: String,
    /// Whether the flows should get equal goodput.
    pub fairness: bool,
    /// The watched metric, if there is one.
    pub watch: Option<Watch>,
    /// The groups under test if other traffic shares the link. Only their flows are scored, against the remaining capacity.
    pub scored: Vec<String>,
}

impl Environment {
    /// The metrics that apply to this environment, in the order of their values.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut found = Vec::from(common());
        found.retain(|metric| self.fairness || metric.name != JAIN_INDEX);
        found.extend([goodput(), delay_score()]);
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
pub(super) const GOODPUT: &str = "goodput";
/// The share of the RTT that is not queueing.
pub(super) const DELAY_SCORE: &str = "delay_score";
/// The mean queueing delay. Its means over environments are geometric.
pub(super) const QUEUE_DELAY: &str = "queue_delay";

/// A metric of a run's summary that every environment scores.
pub(super) struct OfSummary {
    pub name: &'static str,
    /// The key in the summary.
    pub of: &'static str,
    label: &'static str,
    digits: usize,
    /// The value for flows that sent nothing.
    pub idle: Option<f64>,
}

/// The last two are stored and compared with baselines, but tables omit them. Goodput is efficiency times link rate. The delay
/// score follows from the queueing delay.
pub(super) const OF_SUMMARY: [OfSummary; 6] = [
    OfSummary { name: "efficiency", of: "efficiency", label: "efficiency", digits: 2, idle: None },
    OfSummary { name: "loss_rate", of: "loss_rate", label: "segments lost", digits: 2, idle: Some(0.0) },
    OfSummary { name: QUEUE_DELAY, of: "queue_delay_mean", label: "queueing delay", digits: 1, idle: Some(0.0) },
    OfSummary { name: JAIN_INDEX, of: "jain_index", label: "Jain", digits: 3, idle: None },
    OfSummary { name: GOODPUT, of: "goodput", label: "goodput", digits: 3, idle: None },
    OfSummary { name: DELAY_SCORE, of: DELAY_SCORE, label: "delay score", digits: 2, idle: Some(1.0) },
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

/// The common metrics of the scoreboard, in its order.
pub fn common() -> [Metric; 4] {
    [0, 1, 2, 3].map(|at: usize| OF_SUMMARY[at].metric())
}

/// The goodput, which tables omit.
pub fn goodput() -> Metric {
    OF_SUMMARY[4].metric()
}

/// The delay score, which tables omit.
pub fn delay_score() -> Metric {
    OF_SUMMARY[5].metric()
}
