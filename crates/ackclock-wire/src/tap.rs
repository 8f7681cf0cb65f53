//! A capture: packets that pass one place, as bytes.

use ackclock::capture::{CapturedBytes, Header, pcapng_of_bytes};
use ackclock::sim::{CapturePoint, LinkId, Plan};
use ackclock::units::Instant;

use crate::side::Side;

/// Where packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// They leave or come to a host.
    Host(Side),
    /// They come out of this link.
    End(LinkId),
    /// They enter this link.
    Start(LinkId),
}

/// The captured packets.
#[derive(Clone, Debug, Default)]
pub struct Tap {
    at: String,
    places: Vec<Place>,
    /// Whether each flow is captured.
    is_chosen: Vec<bool>,
    /// Bytes of each packet that are kept.
    snaplen: usize,
    /// Nanoseconds since 1970 at the start of the run.
    epoch_ns: u64,
    /// When each passed, its bytes on the wire of IP, and where its kept bytes end.
    packets: Vec<(Instant, u32, usize)>,
    bytes: Vec<u8>,
}

impl Tap {
    /// The capture that a plan requests. The run begins `epoch_ns` nanoseconds after 1970.
    pub fn of(plan: &Plan, snaplen: usize, epoch_ns: u64) -> Option<Tap> {
        let capture = plan.capture.as_ref()?;
        let places = match capture.point {
            CapturePoint::Sender => vec![Place::Host(Side::Sender)],
            CapturePoint::Receiver => vec![Place::Host(Side::Receiver)],
            CapturePoint::Link(link) => {
                let back = plan.opposite(link).map(Place::Start);
                [Place::End(link)].into_iter().chain(back).collect()
            }
        };
        Some(Tap {
            at: capture.point.name(plan).to_owned(),
            places,
            is_chosen: plan.flows.iter().map(|flow| capture.takes(&flow.name, &flow.group)).collect(),
            snaplen,
            epoch_ns,
            ..Tap::default()
        })
    }

    /// A packet of a flow passes a place.
    pub fn see(&mut self, at: Instant, place: Place, flow: usize, bytes: &[u8]) {
        if self.is_chosen[flow] && self.places.contains(&place) {
            self.bytes.extend_from_slice(&bytes[..bytes.len().min(self.snaplen)]);
            self.packets.push((at, bytes.len() as u32, self.bytes.len()));
        }
    }

    /// The capture as a file.
    pub fn pcapng(&self, header: &Header<'_>) -> Vec<u8> {
        // In virtual time some packets are seen before their time.
        let mut order: Vec<_> = (0..self.packets.len()).collect();
        order.sort_by_key(|index| self.packets[*index].0);
        let packets = order.into_iter().map(|index| {
            let start = index.checked_sub(1).map_or(0, |before| self.packets[before].2);
            let (at, len, end) = self.packets[index];
            CapturedBytes { time_ns: self.epoch_ns + at.as_nanos(), bytes: &self.bytes[start..end], len }
        });
        pcapng_of_bytes(&self.at, packets, header)
    }
}
