//! Reads the metrics of an environment from the document of a run.

use serde_json::Value;

use super::document::{number, numbers, of_groups, pooled, rows};
use super::environment::{DELAY_SCORE, Environment, GOODPUT, OF_SUMMARY, OfSummary, WATCH, Watch};
use super::sum::{mean, sum};
use super::under_test::UnderTest;
use crate::metric::ratio;
use crate::sim::summary_metric;

/// The lists of a document that contain rows of groups.
const PARTS: [&str; 3] = ["flows", "transfers", "datagrams"];

impl Environment {
    /// The value of each metric in the document of a run, or a message if a metric does not apply.
    pub fn values(&self, run: &Value) -> Result<Vec<f64>, String> {
        let value = |name: &str| match (name, &self.watch) {
            (WATCH, Some(watch)) => watch.value(run),
            _ => {
                let row = OF_SUMMARY.iter().find(|row| row.name == name).expect("every other metric is in the summary");
                if self.scored.is_empty() { row.value(run) } else { row.in_company(run, &self.scored) }
            }
        };
        let found = self.metrics().iter().map(|metric| value(&metric.name)).collect::<Result<_, _>>();
        found.map_err(|message| format!("{}: {message}", run["scenario"].as_str().unwrap_or_default()))
    }
}

impl Environment {
    /// The values of a run for a race: its metrics, then the 95th percentile of the queueing delay in ms.
    ///
    /// Flows that sent nothing have a queueing delay of 0.
    pub fn measured(&self, run: &Value) -> Result<Vec<f64>, String> {
        let mut found = self.values(run)?;
        found.push(1e3 * number(&run["summary"], "queue_delay_p95_s").unwrap_or(0.0));
        Ok(found)
    }
}

impl OfSummary {
    /// The metric in its displayed unit.
    fn value(&self, run: &Value) -> Result<f64, String> {
        let declared = summary_metric(self.of);
        let idle = if rows(run, "flows").next().is_some() { self.idle } else { None };
        let value = number(&run["summary"], &declared.key).or(idle);
        let absent = declared.absent.unwrap_or_default();
        value.map(|value| declared.factor * value).ok_or_else(|| format!("{} does not apply: {absent}", declared.name))
    }

    /// The metric of the flows of some groups, if other traffic shares the link.
    fn in_company(&self, run: &Value, groups: &[String]) -> Result<f64, String> {
        let flows = UnderTest::new(run, groups);
        Ok(match self.name {
            "efficiency" => {
                let absent = || format!("{} does not apply: the bottleneck has no rate", self.name);
                100.0 * flows.goodput_fraction("offered_bps").ok_or_else(absent)?
            }
            "loss_rate" => 100.0 * flows.loss_rate(),
            "queue_delay" => 1e3 * flows.queue_delay_mean_s(),
            GOODPUT => 1e-6 * flows.delivered_bps(),
            DELAY_SCORE => 100.0 * flows.delay_score(),
            _ => flows.jain_index(),
        })
    }
}

impl Watch {
    fn value(&self, run: &Value) -> Result<f64, String> {
        let groups = [self.group.clone()];
        let every = of_groups(PARTS.iter().flat_map(|part| rows(run, part)), &groups);
        // A connection with responses has a row in both lists.
        let mut kept = every.clone();
        kept.retain(|row| row.get("traffic").is_none());
        let kept = if kept.is_empty() { every } else { kept };
        let value = match self.metric.as_str() {
            "segments-sent" => sum(numbers(&kept, "sent")),
            "packets-lost" => sum(numbers(&kept, "lost")),
            "loss-rate" => pooled(&kept, "lost", "sent"),
            "queue-delay" => queue_delay_s(&kept),
            // If no frame came or was due, none was shown.
            "late-rate" => largest(
                of_groups(rows(run, "transfers"), &groups).iter().map(|row| number(row, "late_rate").unwrap_or(1.0)),
            ),
            "lost-or-late-rate" => largest(kept.iter().map(|row| number(row, "lost_or_late_rate").unwrap_or(0.0))),
            // If no packet arrived, the duration of the run is a lower bound.
            "delay-p99" => largest(kept.iter().map(|row| number(row, "delay_p99_s").unwrap_or(duration_s(run)))),
            "bit-rate" | "stalled-time" | "startup-delay" => self.of_transfers(run, &groups)?,
            _ => self.of_flows(run, &groups)?,
        };
        Ok(self.scale * value)
    }

    /// The metric from the rows of flows, or from the rows of transfers if only they contain completion times.
    fn of_flows(&self, run: &Value, groups: &[String]) -> Result<f64, String> {
        let flows = of_groups(rows(run, "flows"), groups);
        // A web client's responses have completion times, and its connection has none.
        let answers = of_groups(rows(run, "transfers"), groups);
        let answers = answers.iter().any(|row| row.get("traffic").is_none_or(|traffic| traffic != "transfer"));
        if flows.is_empty() || (answers && self.metric.starts_with("completion-")) {
            return self.of_transfers(run, groups);
        }
        let goodput_bps = sum(numbers(&flows, "delivered_bps"));
        let total_bps = number(&run["summary"], "goodput_bps").unwrap_or(0.0);
        Ok(match self.metric.as_str() {
            "share" if total_bps == 0.0 => 0.0,
            "share" => goodput_bps / flows.len() as f64 / (total_bps / rows(run, "flows").count() as f64),
            "group-efficiency" if total_bps == 0.0 => 0.0,
            "group-efficiency" => {
                let absent = "efficiency does not apply: no flow crosses a bottleneck with a rate";
                number(&run["summary"], "efficiency").ok_or(absent)? * goodput_bps / total_bps
            }
            "group-goodput" => goodput_bps,
            "completion-time" => {
                // An unfinished transfer counts with the duration of the run, a lower bound.
                let time_s = |flow: &&Value| number(flow, "completion_time_s").unwrap_or(duration_s(run));
                mean(&flows.iter().map(time_s).collect::<Vec<_>>())
            }
            other => return Err(format!("unknown metric {other:?} in a suite")),
        })
    }

    /// The metric of a group of transfers.
    fn of_transfers(&self, run: &Value, groups: &[String]) -> Result<f64, String> {
        match (self.metric.as_str(), of_groups(rows(run, "transfers"), groups).first()) {
            ("group-goodput", Some(row)) => Ok(number(row, "goodput_bps").unwrap_or(0.0)),
            // If no flow finished, the duration of the run is a lower bound.
            ("completion-time", Some(row)) => Ok(number(row, "fct_mean_s").unwrap_or(duration_s(run))),
            ("completion-p95", Some(row)) => Ok(number(row, "fct_p95_s").unwrap_or(duration_s(run))),
            // If nothing played, the bit rate is zero.
            ("bit-rate", Some(row)) => Ok(number(row, "bit_rate_bps").unwrap_or(0.0)),
            ("stalled-time", Some(row)) => {
                Ok(number(row, "stalled_s").unwrap_or(0.0) / number(row, "flows").unwrap_or(1.0))
            }
            ("startup-delay", Some(row)) => Ok(number(row, "startup_s").unwrap_or(duration_s(run))),
            (metric, _) => {
                Err(format!("watch.metric: {metric} does not apply to '{}', which is not a group of flows", self.group))
            }
        }
    }
}

/// The mean queueing delay of data packets, 0 where none arrived.
fn queue_delay_s(rows: &[&Value]) -> f64 {
    let arrived = |row: &Value| number(row, "arrived").or_else(|| Some(number(row, "sent")? - number(row, "lost")?));
    let known: Vec<(f64, f64)> =
        rows.iter().filter_map(|row| Some((arrived(row)?, number(row, "queue_delay_mean_s")?))).collect();
    let total = sum(known.iter().map(|(count, _)| *count));
    ratio(sum(known.iter().map(|(count, delay_s)| count * delay_s)), total).unwrap_or(0.0)
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn duration_s(run: &Value) -> f64 {
    number(run, "duration_s").unwrap_or(0.0)
}
