//! The four figures of an evaluation: utilisation, loss, queueing delay, and the share that competing flows keep.

use serde_json::{Value, json};

use super::board::{EnvironmentResult, by_replicate};
use super::environment::{Better, WATCH};
use super::estimate::{CONFIDENCE, Estimate, Judgement, compared, estimate};
use super::evaluation::Evaluation;
use super::sum::mean;
use super::text::significant;

impl Evaluation {
    /// Each figure of the best candidate and the reference, and the best figure of all algorithms.
    pub(super) fn tiles(&self) -> Value {
        let environments: Vec<usize> = (0..self.race.environments.len()).collect();
        let by_mean = |name: &'static str| move |at: usize| self.means(at, name);
        let p95 = |at: usize| self.delays(at, &environments, |result: &EnvironmentResult| result.metrics.len());
        let mut tiles = vec![
            self.tile("utilisation", "%", Better::Higher, by_mean("efficiency")),
            self.tile("loss", "%", Better::Lower, by_mean("loss_rate")),
            self.tile("queueing delay p95", "ms", Better::Lower, p95),
        ];
        tiles.extend(self.kept());
        json!(tiles)
    }

    /// A metric of an entrant per replicate, as means over all environments.
    fn means(&self, at: usize, name: &str) -> Option<Vec<f64>> {
        let row = |(place, result): (usize, &EnvironmentResult)| {
            Some(self.tried[at].values[place].as_ref()?[result.metric(name)?].clone())
        };
        let rows: Vec<Vec<f64>> = self.board.results.iter().enumerate().map(row).collect::<Option<_>>()?;
        let count = rows.len() as f64;
        Some(by_replicate(&rows).into_iter().map(|sum| sum / count).collect())
    }

    fn tile(&self, label: &str, unit: &str, better: Better, values: impl Fn(usize) -> Option<Vec<f64>>) -> Value {
        let (entries, reference) = self.entries();
        let (ours, theirs) = (self.best().and_then(|best| values(best.entrant)), values(entries[reference]));
        let difference = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) => compared(&better.costs(ours), &better.costs(theirs), false),
            _ => None,
        };
        let figures = entries.iter().filter_map(|at| Some((*at, mean(&values(*at)?))));
        let best = figures.min_by(|(_, one), (_, other)| better.cost(*one).total_cmp(&better.cost(*other)));
        let told = |values: Option<Vec<f64>>| values.map(|values| figure(&estimate(&values, CONFIDENCE), 1.0));
        json!({
            "label": label, "unit": unit, "candidate": told(ours), "reference": told(theirs),
            "best": best.map(|(at, mean)| json!({ "label": self.label(at), "mean": mean, "text": significant(mean) })),
            "judgement": difference.map_or(Judgement::Open, |difference| difference.judgement()).word(),
        })
    }

    fn label(&self, entrant: usize) -> &str {
        &self.race.plan.algorithms[self.race.entrants[entrant].algorithm].label
    }

    /// The least fair-share ratio of competing flows, by algorithm of the scoreboard, or none if no environment has them.
    fn kept(&self) -> Option<Value> {
        let met = self.board.results.iter().enumerate().filter_map(|(place, result)| {
            self.race.suite.environments[place].neighbours.as_ref()?;
            Some((result, result.metric(WATCH)?))
        });
        let met: Vec<(&EnvironmentResult, usize)> = met.collect();
        let least = |row: usize| {
            let scores = met.iter().map(|(result, at)| &result.scores[row][*at]);
            scores.min_by(|one, other| one.value.mean.total_cmp(&other.value.mean))
        };
        let (ours, theirs) = (least(0)?, least(self.board.reference)?);
        let rows = (0..self.board.labels.len()).filter_map(|row| Some((row, least(row)?.value.mean)));
        let best = rows.max_by(|(_, one), (_, other)| one.total_cmp(other));
        Some(json!({
            "label": "competitors keep", "unit": "% of a fair share",
            "candidate": figure(&ours.value, 100.0), "reference": figure(&theirs.value, 100.0),
            "best": best.map(|(row, mean)| json!({ "label": self.board.labels[row], "mean": 100.0 * mean, "text": significant(100.0 * mean) })),
            "judgement": if self.board.reference == 0 { "" } else { ours.judgement().word() },
        }))
    }
}

/// A figure in the unit of a tile, with its text.
fn figure(value: &Estimate, factor: f64) -> Value {
    let scaled = |end: Option<f64>| end.map(|end| factor * end);
    let mean = factor * value.mean;
    json!({ "mean": mean, "low": scaled(value.low), "high": scaled(value.high), "text": significant(mean) })
}
