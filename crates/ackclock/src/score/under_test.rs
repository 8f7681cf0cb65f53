//! Metrics of the flows under test, where others take their part of the link (`docs/reference/metrics.md`).

use serde_json::Value;

use super::document::{number, numbers, of_groups, pooled, rows};
use super::sum::sum;
use crate::metric::{jain_index, spread};

/// The flows of some groups in the document of a run.
pub struct UnderTest<'a> {
    run: &'a Value,
    flows: Vec<&'a Value>,
}

impl<'a> UnderTest<'a> {
    /// Takes the flows of these groups.
    pub fn new(run: &'a Value, groups: &[String]) -> Self {
        UnderTest { run, flows: of_groups(rows(run, "flows"), groups) }
    }

    /// Payload received in order by each flow, per second of its own time.
    pub fn goodputs_bps(&self) -> Vec<f64> {
        numbers(&self.flows, "goodput_bps")
    }

    /// Payload received in order by all of them, per second of the run.
    pub fn delivered_bps(&self) -> f64 {
        sum(numbers(&self.flows, "delivered_bps"))
    }

    /// The capacity of the bottleneck minus the throughput of datagrams and transfers, or none if the bottleneck has no rate.
    ///
    /// `taken` is the key of the datagrams' rate: `offered_bps` or `delivered_bps`.
    pub fn available_bps(&self, taken: &str) -> Option<f64> {
        let capacity_bps = number(&self.run["summary"], "capacity_bps")?;
        let datagrams = sum(rows(self.run, "datagrams").filter_map(|row| number(row, taken)));
        let transfers = sum(rows(self.run, "transfers").filter_map(|row| number(row, "throughput_bps")));
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
        let pairs =
            self.flows.iter().filter_map(|flow| Some((number(flow, "arrived")?, number(flow, "queue_delay_mean_s")?)));
        let waited: Vec<(f64, f64)> = pairs.collect();
        let arrived = sum(numbers(&self.flows, "arrived"));
        if arrived == 0.0 { 0.0 } else { sum(waited.iter().map(|(count, delay_s)| count * delay_s)) / arrived }
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
