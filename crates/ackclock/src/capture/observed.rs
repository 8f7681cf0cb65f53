//! Analyses a sender from the packets at one place: data in flight, RTTs, retransmissions, losses.
//!
//! Packets do not contain the window. Data in flight are data that were sent and acknowledged neither cumulatively
//! nor selectively. A segment that the network lost counts until a copy of it is acknowledged. Segments larger than
//! the MSS, as segmentation offload leaves them, count as segments of an MSS.

mod counts;
mod found;
mod header;
mod place;
mod sequence;
mod series;
mod tracker;

use std::fmt;

use serde::Serialize;

pub use counts::{Counts, Kind};
use found::Found;
use header::Numbers;
pub use header::TcpHeader;
use place::place;
pub use place::{Place, Vantage};
pub use sequence::sequence;
pub use series::{Range, Repair};
use series::{bucketed, peak_rate};
use tracker::Tracker;

use crate::units::Duration;

/// The analysis of a captured connection. Times count from its first data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observed {
    /// Where it was captured.
    pub place: Place,
    /// Payload of a full segment.
    pub mss: u32,
    /// Whether data carry timestamps.
    pub timestamps: bool,
    /// Whether it has the SYN.
    pub handshake: bool,
    /// From the first data to the last packet.
    pub duration_s: f64,
    /// From the first data to the last ACK of new data.
    pub acked_until_s: f64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload acknowledged, over the time up to the ACK that acknowledged the last of it.
    pub goodput_bps: Option<f64>,
    /// The fastest delivery of payload over a second or 20 round trips, whichever is longer. The period is at most a
    /// quarter of the duration.
    pub peak_bps: Option<f64>,
    /// Packets and events.
    #[serde(flatten)]
    pub counts: Counts,
    /// The smallest RTT sample. A sample runs from a segment that was sent once to the first ACK of it.
    pub rtt_min_s: Option<f64>,
    /// Their mean.
    pub rtt_mean_s: Option<f64>,
    /// The largest.
    pub rtt_max_s: Option<f64>,
    /// Bytes in flight, over time.
    pub in_flight_mean_bytes: f64,
    /// The most.
    pub in_flight_max_bytes: u64,
    /// The share of time in which less than a further segment fitted into the receive window. None with an unknown
    /// scale.
    pub receiver_limited: Option<f64>,
    /// The part of the time in which nothing was in flight.
    pub idle: f64,
    /// Transmissions that the network lost, as numbers of data segments from 1 in the order in which they were sent.
    pub losses: Vec<u64>,
    /// Bytes in flight over time: intervals with the least and the most.
    pub in_flight: Vec<Range>,
    /// RTT samples over time, in seconds.
    pub rtt: Vec<Range>,
    /// Retransmissions over time.
    pub repairs: Vec<Repair>,
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFlow {
    /// There are no data.
    NoData,
    /// There are no ACKs.
    NoAcks,
    /// Far more segments are repeated than there are packets.
    TooMany,
}

impl fmt::Display for NoFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoFlow::NoData => "carries no data",
            NoFlow::NoAcks => "has no ACKs of its data; capture both directions",
            NoFlow::TooMany => "claims millions of segments more than it has packets; its lengths or its MSS are wrong",
        })
    }
}

/// Analyses a connection. `headers` are in the order of time, and each series has at most `points` intervals.
///
/// # Errors
/// If there are no data, or no ACKs of them, or far more segments than packets.
pub fn observe(headers: &[TcpHeader], points: usize) -> Result<Observed, NoFlow> {
    let is_data = |header: &&TcpHeader| header.forward && header.len > 0;
    let first = headers.iter().find(is_data).ok_or(NoFlow::NoData)?;
    if !headers.iter().any(|header| !header.forward && header.ack.is_some() && !header.syn) {
        return Err(NoFlow::NoAcks);
    }
    let numbers = Numbers::new(headers, first);
    let (mss, scale) = (mss(headers), window_scale(headers));
    let place = place(headers);
    let mut tracker = Tracker::new(mss, scale, numbers, first.time, headers.len());
    // Shifts headers to the sender's view. ACKs still have to reach the sender, and its data the place.
    for header in shifted(headers, place.back()) {
        tracker.take(&header);
        if tracker.is_exhausted() {
            return Err(NoFlow::TooMany);
        }
    }
    let end = headers.last().map_or(first.time, |header| header.time);
    Ok(summed_up(tracker.finish(end), place, headers, points))
}

/// ACKs later by this time, in the order of time.
fn shifted(headers: &[TcpHeader], back: Duration) -> impl Iterator<Item = TcpHeader> {
    let numbered = |forward| headers.iter().enumerate().filter(move |(_, header)| header.forward == forward).peekable();
    let (mut data, mut acks) = (numbered(true), numbered(false));
    std::iter::from_fn(move || {
        let is_data_next = match (data.peek(), acks.peek()) {
            (Some((number, sent)), Some((other, ack))) => (sent.time, number) < (ack.time + back, other),
            (next, _) => next.is_some(),
        };
        if is_data_next {
            return data.next().map(|(_, header)| *header);
        }
        acks.next().map(|(_, header)| TcpHeader { time: header.time + back, ..*header })
    })
}

/// Payload of a full segment: the offer of both ends less options, at most the largest segment. Without a SYN it is
/// the longest segment that fits Ethernet.
fn mss(headers: &[TcpHeader]) -> u32 {
    const ETHERNET: u32 = 1460;
    const TIMESTAMPS: u32 = 12;
    /// No stack sends smaller segments because of an offer.
    const LEAST_OFFERED: u32 = 48;
    let data = || headers.iter().filter(|header| header.forward && header.len > 0);
    let largest = data().map(|header| header.len).max().unwrap_or(1);
    let offered = headers.iter().filter(|header| header.syn).filter_map(|header| header.mss.map(u32::from));
    let offered = offered.filter(|mss| *mss >= LEAST_OFFERED).min();
    let options = if data().any(|header| header.timestamps.is_some()) { TIMESTAMPS } else { 0 };
    let fits = offered.map(|mss| mss.saturating_sub(options)).filter(|mss| *mss > 0);
    let common = || data().map(|header| header.len).filter(|len| *len <= ETHERNET).max();
    largest.min(fits.or_else(common).unwrap_or(largest)).max(1)
}

/// The scale of the receiver's window, if both SYNs are there.
fn window_scale(headers: &[TcpHeader]) -> Option<u8> {
    let scale = |forward| headers.iter().rfind(|header| header.syn && header.forward == forward);
    let (ours, theirs) = (scale(true)?, scale(false)?);
    // RFC 7323 §2.2: it is used if both send the option, and is at most 14.
    Some(if ours.window_scale.is_some() { theirs.window_scale.unwrap_or(0).min(14) } else { 0 })
}

/// The figures from the raw findings.
fn summed_up(found: Found, place: Place, headers: &[TcpHeader], points: usize) -> Observed {
    let whole = found.end.since(found.start);
    let share = |time: Duration| if whole.is_zero() { 0.0 } else { time.as_secs_f64() / whole.as_secs_f64() };
    let (mut idle, mut area) = (Duration::ZERO, 0.0);
    let ends = found.in_flight.iter().skip(1).map(|(time, _)| *time).chain([found.end]);
    for ((time, bytes), end) in found.in_flight.iter().zip(ends) {
        let held = end.since(*time);
        area += *bytes as f64 * held.as_secs_f64();
        idle += if *bytes == 0 { held } else { Duration::ZERO };
    }
    let rtts = || found.rtt.iter().map(|(_, rtt)| rtt.as_secs_f64());
    let rtt_min_s = rtts().reduce(f64::min);
    let span = Duration::from_secs_f64_round(rtt_min_s.unwrap_or(0.0) * 20.0).max(Duration::from_secs(1));
    let span = span.min(whole.mul_f64_floor(0.25)).max(Duration::from_nanos(1));
    let used = found.last_acked.since(found.start);
    let axis = (found.start, found.end, points);
    Observed {
        place,
        mss: found.mss,
        timestamps: headers.iter().any(|header| header.forward && header.len > 0 && header.timestamps.is_some()),
        handshake: headers.iter().any(|header| header.syn),
        duration_s: whole.as_secs_f64(),
        acked_until_s: used.as_secs_f64(),
        acked_bytes: found.acked_bytes,
        goodput_bps: (!used.is_zero()).then(|| 8.0 * found.acked_bytes as f64 / used.as_secs_f64()),
        peak_bps: peak_rate(&found.delivered, span),
        rtt_min_s,
        rtt_mean_s: (!found.rtt.is_empty()).then(|| rtts().sum::<f64>() / found.rtt.len() as f64),
        rtt_max_s: rtts().reduce(f64::max),
        in_flight_mean_bytes: if whole.is_zero() { 0.0 } else { area / whole.as_secs_f64() },
        in_flight_max_bytes: found.in_flight.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
        receiver_limited: found.receiver_limited.map(share),
        idle: share(idle),
        in_flight: bucketed(found.in_flight.iter().map(|(time, bytes)| (*time, *bytes as f64)), axis, true),
        rtt: bucketed(found.rtt.iter().map(|(time, rtt)| (*time, rtt.as_secs_f64())), axis, false),
        repairs: Repair::merged(&found.repairs, axis),
        counts: found.counts,
        losses: found.losses,
    }
}

#[cfg(test)]
mod tests;
