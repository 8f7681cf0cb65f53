//! Samples over time: the first flows and the shared links, at even intervals.

use super::ends::Ends;
use super::index::{FlowId, LinkId};
use super::network::Network;
use super::plan::Plan;
use super::source::Application;
use crate::cc::CongestionControl;
use crate::probe::Samples;
use crate::rng::RngStreams;
use crate::units::{Duration, Instant, Rate};
use crate::variation::Variation;

/// Writes samples down.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    interval: Duration,
    samples: Samples,
    flows: Vec<FlowId>,
    links: Vec<LinkId>,
    /// The capacity of each of these links. Empty without a varying link.
    capacities: Vec<Capacity>,
    /// The time of the last sample.
    last: Instant,
}

/// The available capacity of a link.
#[derive(Debug)]
enum Capacity {
    Even(Option<Rate>),
    Varying(Box<Variation>),
}

impl Capacity {
    /// The mean between two times, or not a number for a pure delay.
    fn mean_bps(&mut self, since: Instant, until: Instant) -> f64 {
        match self {
            Capacity::Even(rate) => rate.map_or(f64::NAN, |rate| rate.as_bps() as f64),
            Capacity::Varying(variation) => variation.mean_bps(since, until),
        }
    }
}

impl Sampler {
    pub(super) fn new(plan: &Plan) -> Self {
        let Some(interval) = plan.sampling.interval else { return Sampler::default() };
        let flows: Vec<_> = plan.flow_ids().take(plan.sampled_flows()).collect();
        let links: Vec<_> = plan.link_ids().filter(|link| !plan.links[*link].private).collect();
        let samples = Samples {
            flow_names: flows.iter().map(|flow| plan.flows[*flow].name.to_string()).collect(),
            link_names: links.iter().map(|link| plan.links[*link].name.clone()).collect(),
            ..Samples::default()
        };
        let end = Instant::ZERO + plan.duration;
        let capacity = |link: &LinkId| {
            let link = &plan.links[*link];
            let variation = link.variation(RngStreams::from_root(plan.seed), end);
            variation.map_or(Capacity::Even(link.rate), |variation| Capacity::Varying(Box::new(variation)))
        };
        let varies = links.iter().any(|link| plan.links[*link].varies.is_some());
        let capacities = if varies { links.iter().map(capacity).collect() } else { Vec::new() };
        Sampler { interval, samples, flows, links, capacities, last: Instant::ZERO }
    }

    /// The links in samples. They must be up to date.
    pub(super) fn links(&self) -> &[LinkId] {
        &self.links
    }

    /// Takes a sample of the events before `now`. Returns the time of the next one.
    pub(super) fn sample(&mut self, now: Instant, ends: &Ends, network: &Network) -> Instant {
        let time_ns = now.as_nanos();
        let columns = &mut self.samples.flows;
        for (position, index) in self.flows.iter().enumerate() {
            let flow = ends.flow(*index);
            if matches!(flow.application, Application::None) {
                // The owner of its ends puts values into the row.
                columns.add_row(time_ns, position as u32);
                continue;
            }
            let sender = &flow.sender;
            columns.time_ns.push(time_ns);
            columns.flow.push(position as u32);
            columns.cwnd_segments.push(sender.cwnd());
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
            let link = &network.links[network.link_rank[*index]];
            let (backlog_packets, backlog_bytes) = link.backlog();
            let counters = link.counters();
            columns.time_ns.push(time_ns);
            columns.link.push(position as u32);
            columns.backlog_packets.push(backlog_packets);
            columns.backlog_bytes.push(backlog_bytes);
            columns.forwarded_bytes.push(counters.forwarded_bytes);
            columns.drops.push(counters.drops);
        }
        let capacities = self.capacities.iter_mut().zip(&self.links);
        columns.capacity_bps.extend(capacities.map(|(capacity, link)| {
            network.rates.mean_bps(*link, self.last, now).unwrap_or_else(|| capacity.mean_bps(self.last, now))
        }));
        self.last = now;
        now + self.interval
    }

    pub(super) fn samples(&self) -> &Samples {
        &self.samples
    }

    pub(super) fn into_samples(mut self) -> Samples {
        self.samples.flows.complete();
        self.samples
    }
}
