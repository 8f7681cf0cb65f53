//! Metrics of the flows under test, where others take their part of the link (`docs/reference/metrics.md`).

use serde_json::Value;

use super::document::{in_groups, number, numbers, of_groups, pooled, rows};
use super::sum::sum;
use crate::metric::{jain_index, ratio, spread};

/// The flows of some groups in the document of a run.
pub struct UnderTest<'a> {
    run: &'a Value,
    groups: Vec<String>,
    flows: Vec<&'a Value>,
}

impl<'a> UnderTest<'a> {
    /// Takes the flows of these groups.
    pub fn new(run: &'a Value, groups: &[String]) -> Self {
        UnderTest { run, groups: groups.to_vec(), flows: of_groups(rows(run, "flows"), groups) }
    }

    /// Payload received in order by each flow, per second of its own time.
    pub fn goodputs_bps(&self) -> Vec<f64> {
        numbers(&self.flows, "goodput_bps")
    }

    /// Payload received in order by all of them, per second of the run.
    pub fn delivered_bps(&self) -> f64 {
        sum(numbers(&self.flows, "delivered_bps"))
    }

    /// The capacity of the bottleneck minus the throughput of datagrams and other transfers.
    ///
    /// There is none if the bottleneck has no rate.
    ///
    /// `taken` is the key of the datagrams' rate: `offered_bps` or `delivered_bps`.
    pub fn available_bps(&self, taken: &str) -> Option<f64> {
        let capacity_bps = number(&self.run["summary"], "capacity_bps")?;
        let datagrams = sum(rows(self.run, "datagrams").filter_map(|row| number(row, taken)));
        // A flow under test whose receiver is a client also has a row of transfers.
        let others = rows(self.run, "transfers").filter(|row| !in_groups(row, &self.groups));
        let transfers = sum(others.filter_map(|row| number(row, "throughput_bps")));
        Some(capacity_bps - datagrams - transfers)
    }

    /// Goodput over available capacity, or none if the bottleneck has no rate. It may exceed one if datagrams are lost.
    pub fn goodput_fraction(&self, taken: &str) -> Option<f64> {
        let goodput_bps = self.delivered_bps();
        if goodput_bps == 0.0 { Some(0.0) } else { Some(goodput_bps / self.available_bps(taken)?) }
    }

    /// Lost segments over sent segments of all flows, 0 if no segment was sent.
    pub fn loss_rate(&self) -> f64 {
        pooled(&self.flows, "lost", "sent")
    }

    /// The mean queueing delay of data packets on their paths, 0 if no packet arrived.
    pub fn queue_delay_mean_s(&self) -> f64 {
        self.by_arrived("queue_delay_mean_s").unwrap_or(0.0)
    }

    /// The mean delay score of data packets, 1 if no packet arrived.
    pub fn delay_score(&self) -> f64 {
        self.by_arrived("delay_score").unwrap_or(1.0)
    }

    /// The mean of a metric of flows, weighted by the packets that arrived.
    fn by_arrived(&self, key: &str) -> Option<f64> {
        let pairs: Vec<(f64, f64)> =
            self.flows.iter().filter_map(|flow| Some((number(flow, "arrived")?, number(flow, key)?))).collect();
        let arrived = sum(pairs.iter().map(|(count, _)| *count));
        ratio(sum(pairs.iter().map(|(count, value)| count * value)), arrived)
    }

    /// Jain's index of the goodputs, 1 if all are zero.
    pub fn jain_index(&self) -> f64 {
        jain_index(&self.goodputs_bps())
    }

    /// (max - min) / mean of the goodputs, 0 if all are zero.
    pub fn spread(&self) -> f64 {
        spread(&self.goodputs_bps())
    }
}
