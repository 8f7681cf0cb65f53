//! Samples over time: the first flows and the shared links, at even intervals.

use super::plan::Plan;
use super::simulation::{Flow, Packets};
use crate::cc::CongestionControl;
use crate::probe::Samples;
use crate::units::{Duration, Instant};

/// Writes samples down.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    interval: Duration,
    samples: Samples,
    /// Indices into the plan.
    flows: Vec<usize>,
    links: Vec<usize>,
}

impl Sampler {
    pub(super) fn new(plan: &Plan) -> Self {
        let Some(interval) = plan.sampling.interval else { return Sampler::default() };
        let flows: Vec<_> = (0..plan.flows.len().min(plan.sampling.max_flows)).collect();
        let links: Vec<_> = (0..plan.links.len()).filter(|link| !plan.links[*link].private).collect();
        let samples = Samples {
            flow_names: flows.iter().map(|flow| plan.flows[*flow].name.clone()).collect(),
            link_names: links.iter().map(|link| plan.links[*link].name.clone()).collect(),
            ..Samples::default()
        };
        Sampler { interval, samples, flows, links }
    }

    /// Takes a sample at `now`; returns the time of the next one.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        flows: &[Flow],
        links: &[Packets],
        flow_rank: &[usize],
        link_rank: &[usize],
    ) -> Instant {
        let time_ns = now.as_nanos();
        let columns = &mut self.samples.flows;
        for (position, index) in self.flows.iter().enumerate() {
            let flow = &flows[flow_rank[*index]];
            let sender = &flow.sender;
            columns.time_ns.push(time_ns);
            columns.flow.push(position as u32);
            columns.cwnd_segments.push(sender.cc().cwnd());
            columns.ssthresh_segments.push(sender.cc().ssthresh());
            columns.in_flight_segments.push(sender.in_flight());
            columns.srtt_ns.push(sender.rtt().srtt().as_nanos());
            columns.phase.push(sender.phase() as u8);
            columns.sent_bytes.push(flow.wire_bytes_sent());
            columns.delivered_bytes.push(flow.receiver.delivered());
            columns.retransmits.push(sender.counters().retransmits);
            sender.cc().probe(&mut |name, value| columns.report(name, value));
        }
        let columns = &mut self.samples.links;
        for (position, index) in self.links.iter().enumerate() {
            let link = &links[link_rank[*index]];
            let (backlog_packets, backlog_bytes) = link.backlog();
            let counters = link.counters();
            columns.time_ns.push(time_ns);
            columns.link.push(position as u32);
            columns.backlog_packets.push(backlog_packets);
            columns.backlog_bytes.push(backlog_bytes);
            columns.forwarded_bytes.push(counters.forwarded_bytes);
            columns.drops.push(counters.drops);
        }
        now + self.interval
    }

    pub(super) fn into_samples(mut self) -> Samples {
        self.samples.flows.complete();
        self.samples
    }
}
