//! From the document to the plan of one run: private links, drawn values, limits in packets.

use super::network::{Access, Loss, Queue};
use super::quantity::{Limit, SendJitter};
use super::schema::{CutWindowName, Document, Flow, InitialSsthresh, TrafficKeys, TransportKeys};
use super::topology::{Network, Route};
use super::validate::sampling_interval;
use crate::cc::{CcContext, CutWindow};
use crate::luck::Luck;
use crate::sim::{FlowPlan, LinkPlan, LossPlan, Plan, QueueLimit, QueuePlan, Sampling, Traffic};
use crate::tcp::{Transport, Variations};
use crate::units::{Duration, Instant, Rate};

/// The plan of one replicate.
pub fn compile(document: &Document, network: &Network, luck: Luck) -> Plan {
    let mut plan = Plan {
        seed: luck.root(),
        duration: document.duration,
        warmup: document.warmup,
        links: shared_links(document, network),
        flows: Vec::new(),
        bottleneck: network.bottleneck,
        sampling: Sampling {
            interval: sampling_interval(document),
            max_flows: usize::try_from(document.sampling.flows).unwrap_or(usize::MAX),
            packets: document.sampling.packets,
        },
    };
    for (flow, route) in document.flows.iter().zip(&network.routes) {
        for number in 0..flow.count {
            let name = if flow.count == 1 { flow.name.clone() } else { format!("{}.{number}", flow.name) };
            let single = SingleFlow { flow, route, name };
            single.add_to(&mut plan, network, luck);
        }
    }
    plan
}

fn shared_links(document: &Document, network: &Network) -> Vec<LinkPlan> {
    let links = network.links.iter().enumerate();
    links
        .map(|(index, link)| LinkPlan {
            name: link.name.clone(),
            rate: link.rate,
            delay: link.delay,
            jitter: link.jitter,
            queue: queue_plan(&link.queue, || Crossing::of_link(document, network, index).bdp_packets(link.rate)),
            loss: loss_plan(&link.loss),
            private: false,
        })
        .collect()
}

/// Who crosses a link: what the bandwidth-delay product is made of.
struct Crossing {
    mean_rtt_secs: f64,
    packet_bytes: u64,
}

impl Crossing {
    fn of_link(document: &Document, network: &Network, link: usize) -> Self {
        let (mut flows, mut rtt_secs, mut packet_bytes) = (0.0, 0.0, 0);
        for (flow, route) in document.flows.iter().zip(&network.routes) {
            let bytes = if route.forward.contains(&link) {
                flow.transport.data_packet_bytes()
            } else if route.reverse.contains(&link) {
                flow.transport.ack_packet_bytes()
            } else {
                continue;
            };
            flows += f64::from(flow.count);
            rtt_secs += f64::from(flow.count) * route.mean_rtt.as_secs_f64();
            packet_bytes = packet_bytes.max(bytes);
        }
        let mean_rtt_secs = if flows > 0.0 { rtt_secs / flows } else { 0.0 };
        Crossing { mean_rtt_secs, packet_bytes: packet_bytes.max(1) }
    }

    fn bdp_packets(&self, rate: Option<Rate>) -> f64 {
        let bits = rate.map_or(0.0, |rate| rate.as_bps() as f64) * self.mean_rtt_secs;
        bits / 8.0 / self.packet_bytes as f64
    }
}

fn queue_plan(queue: &Queue, bdp_packets: impl FnOnce() -> f64) -> QueuePlan {
    let Queue::DropTail { limit } = queue;
    let limit = match limit {
        Limit::Packets(packets) => QueueLimit::Packets(*packets),
        Limit::Bytes(bytes) => QueueLimit::Bytes(*bytes),
        // The conversion saturates: four billion packets are as good as no limit.
        Limit::Bdp(factor) => QueueLimit::Packets((factor * bdp_packets()).round().max(1.0) as u32),
    };
    QueuePlan::DropTail { limit }
}

fn loss_plan(loss: &Loss) -> LossPlan {
    match loss {
        Loss::None => LossPlan::None,
        Loss::Bernoulli { probability } => LossPlan::Bernoulli { probability: *probability },
        Loss::Periodic { period, offset } => LossPlan::Periodic { period: *period, offset: *offset },
        Loss::Scripted { packets } => LossPlan::Scripted { packets: packets.clone() },
    }
}

/// One flow of a group.
struct SingleFlow<'a> {
    flow: &'a Flow,
    route: &'a Route,
    name: String,
}

impl SingleFlow<'_> {
    fn add_to(self, plan: &mut Plan, network: &Network, luck: Luck) {
        let start = self.flow.start.draw(&mut luck.stream(&self.name, "start"));
        let base_rtt = match &self.flow.rtt {
            Some(rtt) => rtt.draw(&mut luck.stream(&self.name, "rtt")),
            None => self.route.path_rtt,
        };
        let missing = base_rtt - self.route.path_rtt;
        let jitter = self.send_jitter(network);
        let needs_source = network.access.is_some() || !missing.is_zero() || !jitter.is_zero();

        let mut forward = Vec::new();
        let mut reverse = self.route.reverse.clone();
        let out = missing / 2;
        if needs_source {
            forward.push(plan.links.len());
            plan.links.push(self.private_link("source", network, out, jitter));
            reverse.push(plan.links.len());
            plan.links.push(self.private_link("source.reverse", network, missing - out, Duration::ZERO));
        }
        forward.extend(&self.route.forward);
        if network.access.is_some() {
            forward.push(plan.links.len());
            plan.links.push(self.private_link("destination", network, Duration::ZERO, Duration::ZERO));
            reverse.insert(0, plan.links.len());
            plan.links.push(self.private_link("destination.reverse", network, Duration::ZERO, Duration::ZERO));
        }

        let keys = &self.flow.transport;
        plan.flows.push(FlowPlan {
            name: self.name,
            group: self.flow.name.clone(),
            forward,
            reverse,
            cc: self.flow.cc.clone(),
            cc_context: cc_context(keys),
            transport: transport(self.flow),
            traffic: traffic(&self.flow.traffic),
            start: Instant::ZERO + start,
            stop: self.flow.stop.map(|stop| Instant::ZERO + stop),
            base_rtt,
        });
    }

    /// A link that only this flow crosses: an access link, or a pure delay where there is none.
    fn private_link(&self, part: &str, network: &Network, extra: Duration, jitter: Duration) -> LinkPlan {
        let pure_delay = Access { rate: None, delay: Duration::ZERO, queue: Queue::default(), loss: Loss::None };
        let access = network.access.as_ref().unwrap_or(&pure_delay);
        let keys = &self.flow.transport;
        let is_way_of_acks = part.ends_with("reverse");
        let crossing = Crossing {
            mean_rtt_secs: self.route.mean_rtt.as_secs_f64(),
            packet_bytes: if is_way_of_acks { keys.ack_packet_bytes() } else { keys.data_packet_bytes() },
        };
        LinkPlan {
            name: format!("{}.{part}", self.name),
            rate: access.rate,
            delay: access.delay + extra,
            jitter,
            queue: queue_plan(&access.queue, || crossing.bdp_packets(access.rate)),
            loss: loss_plan(&access.loss),
            private: true,
        }
    }

    fn send_jitter(&self, network: &Network) -> Duration {
        match self.flow.transport.send_jitter {
            SendJitter::Time(length) => length,
            SendJitter::Packets(packets) => {
                let packet = network.links[network.bottleneck]
                    .rate
                    .map_or(Duration::ZERO, |rate| rate.transmission(self.flow.transport.data_packet_bytes()).0);
                packet.mul_f64_floor(packets)
            }
        }
    }
}

fn cc_context(keys: &TransportKeys) -> CcContext {
    let max_window = keys.max_window.segments().map_or(f64::INFINITY, f64::from);
    CcContext {
        initial_window: f64::from(keys.initial_window),
        timeout_ssthresh: keys.timeout_ssthresh,
        initial_ssthresh: match keys.initial_ssthresh {
            InitialSsthresh::Unbounded => f64::INFINITY,
            InitialSsthresh::MaxWindow => max_window,
        },
        first_cut: keys.first_cut,
        cut_window: match keys.cut_window {
            CutWindowName::Exact => CutWindow::Exact,
            CutWindowName::Capped => CutWindow::Capped { max_window },
            CutWindowName::Whole => CutWindow::Whole { max_window },
        },
    }
}

fn transport(flow: &Flow) -> Transport {
    let keys = &flow.transport;
    // Validation bounds each size by the largest packet.
    let bytes = |size: super::quantity::Size| u32::try_from(size.0).unwrap_or(u32::MAX);
    Transport {
        mss: bytes(keys.mss),
        header: bytes(keys.header),
        framing: bytes(keys.framing),
        max_window: keys.max_window.segments(),
        min_rto: keys.min_rto,
        initial_rto: keys.initial_rto,
        clock_tick: keys.clock_tick,
        clock_offset: keys.clock_offset,
        delayed_ack: keys.delayed_ack.longest(),
        limited_transmit: keys.limited_transmit,
        timestamps: keys.timestamps,
        byte_counting: keys.byte_counting,
        idle_restart: keys.idle_restart,
        recovery: flow.recovery,
        peer_sack: keys.peer_sack,
        variations: Variations {
            window_growth: keys.window_growth,
            exit_growth: keys.exit_growth,
            second_loss: keys.second_loss,
            partial_ack: keys.partial_ack,
            sack_sender: keys.sack_sender,
            repeated_timeout: keys.repeated_timeout,
            limited_transmit_sends: keys.limited_transmit_sends,
        },
    }
}

fn traffic(keys: &TrafficKeys) -> Traffic {
    match keys {
        TrafficKeys::Bulk => Traffic::Bulk,
        TrafficKeys::Transfer { size } => Traffic::Transfer { bytes: size.0 },
        TrafficKeys::RateLimited { rate } => Traffic::RateLimited { rate: *rate },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(limit: Limit, bdp_packets: f64) -> QueueLimit {
        let QueuePlan::DropTail { limit } = queue_plan(&Queue::DropTail { limit }, || bdp_packets);
        limit
    }

    #[test]
    fn products_are_whole_packets_and_at_least_one() {
        assert_eq!(limit(Limit::Bdp(1.0), 14.5), QueueLimit::Packets(15));
        assert_eq!(limit(Limit::Bdp(0.5), 28.9), QueueLimit::Packets(14));
        assert_eq!(limit(Limit::Bdp(0.02), 10.0), QueueLimit::Packets(1));
        assert_eq!(limit(Limit::Bdp(1e6), 1e12), QueueLimit::Packets(u32::MAX));
        assert_eq!(limit(Limit::Bytes(64_000), 1.0), QueueLimit::Bytes(64_000));
    }

    #[test]
    fn a_product_takes_rate_rtt_and_packet_size() {
        // 5 Mbit/s x 64 ms = 40,000 B.
        let crossing = Crossing { mean_rtt_secs: 0.064, packet_bytes: 1_000 };
        assert!((crossing.bdp_packets(Rate::from_bps(5_000_000)) - 40.0).abs() < 1e-9);
        assert_eq!(crossing.bdp_packets(None), 0.0);
    }
}
