//! The information that queues need about their links and the flows that cross them.

use super::network::Access;
use super::schema::{Document, Flow};
use super::topology::{DirectedLink, Network, Route};
use ackclock::qdisc::Place;

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
    let place = |(link, crossings): (&DirectedLink, &Crossings)| {
        // Slots and datagrams say nothing of the bandwidth-delay product of those who are there all the time.
        let counted = if crossings.persistent.flows > 0.0 { &crossings.persistent } else { &crossings.others };
        let mean_rtt_secs = if counted.flows > 0.0 { counted.rtt_secs / counted.flows } else { 0.0 };
        Place { rate: link.rate, delay: link.delay, packet_bytes: counted.packet_bytes.max(1), mean_rtt_secs }
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
pub fn place_of_access(flow: &Flow, route: &Route, access: &Access, is_way_of_acks: bool) -> Place {
    Place {
        rate: access.rate,
        delay: access.delay,
        packet_bytes: if is_way_of_acks { flow.transport.ack_packet_bytes() } else { flow.packet_bytes() },
        mean_rtt_secs: route.mean_rtt.as_secs_f64(),
    }
}
