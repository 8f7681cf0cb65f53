//! What the queues of a network have to know of their links, and of who crosses them.

use super::network::Access;
use super::schema::{Document, Flow};
use super::topology::{DirectedLink, Network, Route};
use ackclock::qdisc::Place;

/// What the queue of each shared link has to know: who crosses it makes the bandwidth-delay product.
pub fn places(document: &Document, network: &Network) -> Vec<Place> {
    let mut crossings = vec![Crossings::default(); network.links.len()];
    for (number, (flow, route)) in document.flows.iter().zip(&network.routes).enumerate() {
        for link in &*route.forward {
            crossings[*link].add(number, flow, route, flow.packet_bytes());
        }
        for link in &*route.reverse {
            crossings[*link].add(number, flow, route, flow.transport.ack_packet_bytes());
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

/// What some of those who cross a link amount to.
#[derive(Clone, Debug, Default)]
struct Crossing {
    flows: f64,
    rtt_secs: f64,
    packet_bytes: u64,
}

impl Crossings {
    /// Adds a group by what it sends first over the link: data, or else ACKs.
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

/// What the queue of an access link has to know.
pub fn place_of_access(flow: &Flow, route: &Route, access: &Access, is_way_of_acks: bool) -> Place {
    Place {
        rate: access.rate,
        delay: access.delay,
        packet_bytes: if is_way_of_acks { flow.transport.ack_packet_bytes() } else { flow.packet_bytes() },
        mean_rtt_secs: route.mean_rtt.as_secs_f64(),
    }
}
