//! The time-sequence plot of a connection as numbers: data, acknowledgements, selective ones, and the window.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::recording::{Packet, Recording, Segment};
use crate::rtp;
use crate::transport::RangeSet;
use crate::units::Instant;

/// The plot of one connection. Times are in nanoseconds, positions in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sequence {
    /// Its flow.
    pub flow: String,
    /// Which connection of the flow it is, from 0.
    pub successor: u32,
    /// Segments as they leave the sender: time, first byte, end, and a flag. The flag is 1 for retransmissions, 2 for
    /// losses, and 3 for both.
    pub data: Vec<(u64, u64, u64, u8)>,
    /// ACKs as they come to the sender: time and next byte expected, only those that move it.
    pub acks: Vec<(u64, u64)>,
    /// Their SACK blocks, or higher ranges that ACKs of QUIC newly acknowledge: time, first byte, end.
    pub sacks: Vec<(u64, u64, u64)>,
    /// The right edge of the congestion window: time, and the byte up to which cwnd lets the sender send.
    pub window: Vec<(u64, u64)>,
    /// The right edge of a limited receive window: time and byte, as ACKs report it to the sender.
    pub receiver_window: Vec<(u64, u64)>,
}

const RESENT: u8 = 1;
const LOST: u8 = 2;

/// The plots of all connections with packets within a time. The capture is at the senders and contains their states.
pub fn sequences(recording: &Recording, within: &Range<Instant>) -> Vec<Sequence> {
    let mut plots: Vec<Sequence> = recording
        .connections
        .iter()
        .map(|connection| Sequence {
            flow: connection.flow.to_string(),
            successor: connection.successor,
            ..Sequence::default()
        })
        .collect();
    let lost: BTreeSet<(u32, Instant, u64)> =
        recording.lost.iter().map(|lost| (lost.connection, lost.sent_at, lost.seq)).collect();
    let mut progress = vec![Progress::default(); plots.len()];
    let mut states = recording.senders.iter().peekable();
    for place in 0..=recording.packets.len() {
        while let Some(state) = states.next_if(|state| state.place <= place) {
            let index = state.connection as usize;
            let mss = recording.connections[index].transport.as_ref().map_or(0, |transport| transport.mss);
            if within.contains(&state.time) {
                let edge = progress[index].acked + (state.cwnd * f64::from(mss)) as u64;
                plots[index].window.push((state.time.as_nanos(), edge));
            }
        }
        let Some(packet) = recording.packets.get(place) else { break };
        let index = packet.connection as usize;
        let is_lost = |seq, sent_at| lost.contains(&(packet.connection, sent_at, seq));
        add(&mut plots[index], packet, within, &mut progress[index], &recording.ranges, is_lost);
        if let (Segment::Ack { ack: Some(ack), .. }, Some(transport)) =
            (&packet.segment, &recording.connections[index].transport)
            && let Some(window) = ack.advertised(transport).filter(|_| within.contains(&packet.time))
            && ack.ack == progress[index].acked
        {
            plots[index].receiver_window.push((packet.time.as_nanos(), ack.ack + window));
        }
    }
    plots.retain(|plot| !plot.data.is_empty());
    plots
}

/// How far a connection is.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Bytes acknowledged, without a gap.
    acked: u64,
    /// Where the data end that were sent.
    sent_to: u64,
    /// QUIC and RTP: by packet number, first byte and end.
    frames: Vec<(u64, u64)>,
    /// QUIC and RTP: packet numbers, and bytes, that were acknowledged.
    numbers: RangeSet,
    bytes: RangeSet,
}

impl Progress {
    /// An acknowledgement of QUIC: the bytes that are newly acknowledged, in the order of their packet numbers.
    fn acknowledge(&mut self, ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let Progress { frames, numbers, bytes, acked, .. } = self;
        let mut newly = Vec::new();
        for (start, end) in ranges.iter().rev() {
            numbers.insert(*start, *end, |from, to, _| {
                newly.extend(frames.iter().take(to as usize).skip(from as usize).filter(|frame| frame.0 < frame.1));
            });
        }
        newly.iter().for_each(|(start, end)| {
            bytes.insert(*start, *end, |_, _, _| {});
        });
        *acked = bytes.containing(0).map_or(*acked, |(_, end)| end);
        newly
    }
}

/// Adds a packet. Packets before the time count, but are not shown.
fn add(
    plot: &mut Sequence,
    packet: &Packet,
    within: &Range<Instant>,
    progress: &mut Progress,
    ranges: &[(u64, u64)],
    is_lost: impl Fn(u64, Instant) -> bool,
) {
    let (time, is_shown) = (packet.time.as_nanos(), within.contains(&packet.time));
    if let Segment::QuicData { offset, len, .. } | Segment::RtpData { offset, len, .. } = &packet.segment {
        progress.frames.push((*offset, offset + u64::from(*len)));
    }
    match &packet.segment {
        Segment::Data { len: 0, .. } | Segment::QuicData { len: 0, .. } => {}
        Segment::Data { seq, len, sent_at, .. }
        | Segment::QuicData { offset: seq, len, sent_at, .. }
        | Segment::RtpData { offset: seq, len, sent_at, .. } => {
            let end = seq + u64::from(*len);
            let resent = if *seq < progress.sent_to { RESENT } else { 0 };
            progress.sent_to = end.max(progress.sent_to);
            if is_shown {
                plot.data.push((time, *seq, end, resent | if is_lost(*seq, *sent_at) { LOST } else { 0 }));
            }
        }
        Segment::Ack { ack: Some(ack), .. } => {
            let moves = ack.ack > progress.acked;
            progress.acked = ack.ack.max(progress.acked);
            if is_shown && (moves || plot.acks.is_empty()) {
                plot.acks.push((time, progress.acked));
            }
            if is_shown {
                plot.sacks.extend(ack.sack.iter(ack.ack).map(|(start, end)| (time, start, end)));
            }
        }
        Segment::QuicAck { ranges: (first, end), .. } | Segment::RtpFeedback { list: (first, end) } => {
            let before = progress.acked;
            let list = &ranges[*first as usize..*end as usize];
            let newly = match &packet.segment {
                Segment::RtpFeedback { .. } => progress.acknowledge(&rtp::reported(list)),
                _ => progress.acknowledge(list),
            };
            if is_shown && (progress.acked > before || plot.acks.is_empty()) {
                plot.acks.push((time, progress.acked));
            }
            if is_shown {
                let above = newly.into_iter().filter(|(start, _)| *start >= progress.acked);
                plot.sacks.extend(above.map(|(start, end)| (time, start, end)));
            }
        }
        Segment::Ack { ack: None, .. } | Segment::QuicRequest { .. } | Segment::Datagram { .. } => {}
    }
}
