//! Where a connection was captured: at its sender, or how far from it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::header::TcpHeader;
use crate::units::{Duration, Instant};

/// Below this part of the round trip a capture is at an end.
const AT_AN_END: f64 = 0.1;

/// Where a capture was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    /// At the sender of the data.
    Sender,
    /// The capture was taken on the path.
    Path,
    /// At the receiver.
    Receiver,
    /// There is no handshake, and there are no timestamps: taken for the sender.
    Unknown,
}

/// Where, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Where.
    pub vantage: Vantage,
    /// The least time from the place to the sender and back.
    pub to_sender_s: f64,
    /// The least time from the place to the receiver and back.
    pub to_receiver_s: Option<f64>,
    #[serde(skip)]
    back: Duration,
}

impl Place {
    /// The delay from the place to the sender and back, for ACKs and the data that they release. None at the sender.
    pub(super) fn back(&self) -> Duration {
        self.back
    }

    fn new(to_sender: Duration, to_receiver: Duration) -> Self {
        let (back, ahead) = (to_sender.as_secs_f64(), to_receiver.as_secs_f64());
        let vantage = match back / (back + ahead).max(1e-9) {
            share if share < AT_AN_END => Vantage::Sender,
            share if share > 1.0 - AT_AN_END => Vantage::Receiver,
            _ => Vantage::Path,
        };
        let used = if vantage == Vantage::Sender { Duration::ZERO } else { to_sender };
        Place { vantage, to_sender_s: back, to_receiver_s: Some(ahead), back: used }
    }
}

/// The place of a capture, from the handshake or else from timestamps.
pub(super) fn place(headers: &[TcpHeader]) -> Place {
    let unknown = Place { vantage: Vantage::Unknown, to_sender_s: 0.0, to_receiver_s: None, back: Duration::ZERO };
    let found = by_handshake(headers).or_else(|| by_timestamps(headers));
    found.map_or(unknown, |(to_sender, to_receiver)| Place::new(to_sender, to_receiver))
}

/// From the times of SYN, SYN-ACK and ACK.
fn by_handshake(headers: &[TcpHeader]) -> Option<(Duration, Duration)> {
    let answer = headers.iter().position(|header| header.syn && header.ack.is_some())?;
    let (before, after) = headers.split_at(answer);
    let syn_ack = &headers[answer];
    let syn = before.iter().rfind(|header| header.syn && header.forward != syn_ack.forward)?;
    let ack = after.iter().find(|header| header.forward != syn_ack.forward && header.ack.is_some())?;
    let (first, second) = (syn_ack.time.since(syn.time), ack.time.since(syn_ack.time));
    Some(if syn.forward { (second, first) } else { (first, second) })
}

/// From the least times between data and the first packet that echoes them, in both directions.
fn by_timestamps(headers: &[TcpHeader]) -> Option<(Duration, Duration)> {
    Some((least_echo(headers, false)?, least_echo(headers, true)?))
}

/// The least time from packets of one direction to those that echo their clock, which must have moved since.
fn least_echo(headers: &[TcpHeader], forward: bool) -> Option<Duration> {
    let mut first_seen: BTreeMap<u32, Instant> = BTreeMap::new();
    let mut least: Option<Duration> = None;
    for header in headers {
        let Some((clock, echo)) = header.timestamps else { continue };
        if header.forward == forward {
            first_seen.entry(clock).or_insert(header.time);
        } else if let Some(time) = first_seen.get(&echo) {
            let took = header.time.since(*time);
            least = Some(least.map_or(took, |least| least.min(took)));
        }
    }
    least
}
