//! The information that queues need about their links and the flows that cross them.

use super::network::Access;
use super::schema::{Document, Flow};
use super::topology::{DirectedLink, Network, Route};
use ackclock::qdisc::{Group, Groups, Place};

/// The groups of flows of a document, as queues distinguish them.
pub fn groups(document: &Document) -> Groups {
    let named = |flow: &Flow| [flow.source_host.clone(), flow.destination_host.clone()];
    let mut hosts: Vec<String> = document.flows.iter().flat_map(named).flatten().collect();
    hosts.sort_unstable();
    hosts.dedup();
    let number = |name: &Option<String>| Some(hosts.binary_search(name.as_ref()?).ok()? as u32);
    let group = |flow: &Flow| Group {
        name: flow.name.as_str().into(),
        dscp: flow.dscp.unwrap_or_default(),
        source: number(&flow.source_host),
        destination: number(&flow.destination_host),
    };
    Groups::new(document.flows.iter().map(group).collect())
}

/// The place of the queue of each shared link. The flows that cross it determine the bandwidth-delay product.
pub fn places(document: &Document, network: &Network) -> Vec<Place> {
    let mut crossings = vec![Crossings::default(); network.links.len()];
    for (number, (flow, route)) in document.flows.iter().zip(&network.routes).enumerate() {
        for link in &*route.forward {
            crossings[link.number()].add(number, flow, route, flow.packet_bytes());
        }
        for link in &*route.reverse {
            crossings[link.number()].add(number, flow, route, flow.transport.ack_packet_bytes());
        }
    }
    let groups = groups(document);
    let place = |(link, crossings): (&DirectedLink, &Crossings)| {
        // Slots and datagrams say nothing of the bandwidth-delay product of those who are there all the time.
        let counted = if crossings.persistent.flows > 0.0 { &crossings.persistent } else { &crossings.others };
        let mean_rtt_secs = if counted.flows > 0.0 { counted.rtt_secs / counted.flows } else { 0.0 };
        let packet_bytes = counted.packet_bytes.max(1);
        Place { rate: link.rate, delay: link.delay, packet_bytes, mean_rtt_secs, groups: groups.clone() }
    };
    network.links.iter().zip(&crossings).map(place).collect()
}

/// Who crosses a link.
#[derive(Clone, Debug, Default)]
struct Crossings {
    persistent: Crossing,
    others: Crossing,
    /// The number of the last group that was added, from 1.
    last: usize,
}

/// Sums over a set of flows that cross a link.
#[derive(Clone, Debug, Default)]
struct Crossing {
    flows: f64,
    rtt_secs: f64,
    packet_bytes: u64,
}

impl Crossings {
    /// Adds a group by its first packets on the link: data or ACKs.
    fn add(&mut self, number: usize, flow: &Flow, route: &Route, packet_bytes: u64) {
        if std::mem::replace(&mut self.last, number + 1) == number + 1 {
            return;
        }
        let crossing = if flow.is_persistent() { &mut self.persistent } else { &mut self.others };
        crossing.flows += f64::from(flow.count);
        crossing.rtt_secs += f64::from(flow.count) * route.mean_rtt.as_secs_f64();
        crossing.packet_bytes = crossing.packet_bytes.max(packet_bytes);
    }
}

/// The place of the queue of an access link.
pub fn place_of_access(flow: &Flow, route: &Route, access: &Access, groups: &Groups, is_way_of_acks: bool) -> Place {
    Place {
        rate: access.rate,
        delay: access.delay,
        packet_bytes: if is_way_of_acks { flow.transport.ack_packet_bytes() } else { flow.packet_bytes() },
        mean_rtt_secs: route.mean_rtt.as_secs_f64(),
        groups: groups.clone(),
    }
}
