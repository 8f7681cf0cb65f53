//! A capture file: its connections, and the view of one connection's packets.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use ackclock::capture::{NoFlow, Observed, Sequence, TcpHeader, observe, sequence};
use ackclock::units::Instant;
use serde::Serialize;

use crate::clock::{ClockStep, keep_between_steps};
use crate::connections::{Connection, Connections, Endpoint};
use crate::decode::decode;
use crate::error::NoCapture;
use crate::input::Source;
use crate::left_out::LeftOut;
use crate::packets::{End, Packet, for_each_packet};

/// The most packets of a connection that are analysed.
pub const MAX_PACKETS: usize = 1 << 23;
/// Intervals of each series.
const POINTS: usize = 900;

/// A capture: a file, or the packets that a run has captured.
pub struct Capture {
    source: Source,
    packets: u64,
    left_out: BTreeMap<LeftOut, u64>,
    end: End,
    connections: Vec<Connection>,
}

/// The contents of a file.
#[derive(Serialize)]
pub struct Summary<'a> {
    /// Packets of any kind.
    pub packets: u64,
    /// Why packets are left out, and how many.
    pub left_out: Vec<(String, u64)>,
    /// `whole`, `cut` in the middle of a packet, or `damaged`.
    pub end: &'a str,
    /// In the order of the file.
    pub flows: Vec<Described>,
}

/// A connection, for people.
#[derive(Serialize)]
pub struct Described {
    /// The end that sends more.
    pub sender: String,
    /// The other one.
    pub receiver: String,
    /// Whether the addresses belong to IPv6.
    pub ipv6: bool,
    /// Packets of both directions.
    pub packets: u64,
    /// Payload of the sender, retransmissions included.
    pub bytes: u64,
    /// Payload of the other end.
    pub reverse_bytes: u64,
    /// Since the first packet of all connections.
    pub start_s: f64,
    /// From the first packet to the last.
    pub duration_s: f64,
}

/// The view of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// The figures of its sender.
    #[serde(flatten)]
    pub observed: Observed,
    /// Where the clock of the capture was set.
    pub clock_step: Option<ClockStep>,
    /// Packets after the first [`MAX_PACKETS`].
    pub not_looked_at: u64,
}

/// The reason why a connection cannot be analysed.
#[derive(Debug)]
pub enum NoView {
    /// There is no connection with this number.
    NoConnection,
    /// The file has changed since it was read.
    NoCapture(NoCapture),
    /// Its packets show nothing.
    NoFlow(NoFlow),
}

impl fmt::Display for NoView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoView::NoConnection => f.write_str("there is no such connection"),
            NoView::NoCapture(error) => error.fmt(f),
            NoView::NoFlow(error) => error.fmt(f),
        }
    }
}

impl Capture {
    /// Reads a file for its connections.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a capture.
    pub fn from_file(path: &Path) -> Result<Self, NoCapture> {
        Capture::of(Source::of_file(path)?)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Fails if the bytes are not a capture.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, NoCapture> {
        Capture::of(Source::Bytes(bytes))
    }

    fn of(source: Source) -> Result<Self, NoCapture> {
        let (mut packets, mut left_out, mut connections) = (0, BTreeMap::new(), Connections::default());
        let end = each_packet(&source, |packet| {
            packets += 1;
            let taken = packet.ok_or(LeftOut::NoTime).and_then(|packet| decode(&packet));
            if let Err(reason) = taken.and_then(|segment| connections.take(&segment)) {
                *left_out.entry(reason).or_insert(0) += 1;
            }
        })?;
        Ok(Capture { source, packets, left_out, end, connections: connections.all })
    }

    /// Describes the contents.
    pub fn summary(&self) -> Summary<'static> {
        let name = |end: Endpoint| SocketAddr::from(end).to_string();
        let start = self.connections.iter().map(|connection| connection.first_ns).min().unwrap_or(0);
        let describe = |connection: &Connection| {
            let sender = connection.sender();
            Described {
                sender: name(connection.ends[sender]),
                receiver: name(connection.ends[1 - sender]),
                ipv6: connection.ends[0].0.is_ipv6(),
                packets: connection.packets,
                bytes: connection.bytes[sender],
                reverse_bytes: connection.bytes[1 - sender],
                start_s: (connection.first_ns - start) as f64 / 1e9,
                duration_s: (connection.last_ns - connection.first_ns) as f64 / 1e9,
            }
        };
        Summary {
            packets: self.packets,
            left_out: self.left_out.iter().map(|(reason, packets)| (reason.text(), *packets)).collect(),
            end: match self.end {
                End::Whole => "whole",
                End::Cut => "cut",
                End::Damaged => "damaged",
            },
            flows: self.connections.iter().map(describe).collect(),
        }
    }

    /// Analyses the packets of the connection with this number, from 0.
    ///
    /// # Errors
    /// If there is none, or its packets show nothing.
    pub fn observe(&self, number: usize) -> Result<Seen, NoView> {
        let Headers { headers, clock_step, not_looked_at } = self.headers(number)?;
        let observed = observe(&headers, POINTS).map_err(NoView::NoFlow)?;
        Ok(Seen { observed, clock_step, not_looked_at })
    }

    /// The time-sequence plot of the connection with this number, from 0. `within` counts from its first packet.
    ///
    /// # Errors
    /// If there is none, or it has no data.
    pub fn sequence(&self, number: usize, within: &Range<Instant>) -> Result<Sequence, NoView> {
        sequence(&self.headers(number)?.headers, within).map_err(NoView::NoFlow)
    }

    fn headers(&self, number: usize) -> Result<Headers, NoView> {
        let sender = self.connections.get(number).ok_or(NoView::NoConnection)?.sender();
        let (mut headers, mut connections): (Vec<TcpHeader>, _) = (Vec::new(), Connections::default());
        let mut not_looked_at = 0;
        each_packet(&self.source, |packet| {
            let Some(Ok(segment)) = packet.map(|packet| decode(&packet)) else { return };
            match connections.take(&segment) {
                Ok((index, side)) if index == number && headers.len() < MAX_PACKETS => {
                    headers.push(TcpHeader { forward: side == sender, ..segment.header });
                }
                Ok((index, _)) => not_looked_at += u64::from(index == number),
                Err(_) => {}
            }
        })
        .map_err(NoView::NoCapture)?;
        let clock_step = keep_between_steps(&mut headers);
        // Packets of several interfaces need not be in order.
        headers.sort_by_key(|header| header.time);
        Ok(Headers { headers, clock_step, not_looked_at })
    }
}

/// The packets of a connection in the order of time.
struct Headers {
    headers: Vec<TcpHeader>,
    clock_step: Option<ClockStep>,
    not_looked_at: u64,
}

fn each_packet(source: &Source, on_packet: impl FnMut(Option<Packet<'_>>)) -> Result<End, NoCapture> {
    let (input, is_damaged) = source.open()?;
    let end = for_each_packet(input, on_packet)?;
    Ok(if is_damaged.load(Ordering::Relaxed) { End::Damaged } else { end })
}
