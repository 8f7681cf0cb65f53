//! Observed connections and packets.

use std::sync::Arc;

use crate::cc::Phase;
use crate::qdisc::Ecn;
use crate::tcp::{AckSegment, DataEcn};
use crate::transport::{Protocol, Transport};
use crate::units::{Duration, Instant};

/// A capture of some flows at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The place, for people.
    pub at: String,
    /// The connections, and the sources of datagrams, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// The packets, in the order of time.
    pub packets: Vec<Packet>,
    /// The states of senders after each change, if requested for captures at senders.
    pub senders: Vec<SenderState>,
    /// Segments that senders took for lost, in the order of time, where the states of senders are asked for.
    pub declared: Vec<Declared>,
    /// Data that did not arrive, where the states of senders are asked for.
    pub lost: Vec<Lost>,
    /// Ranges of packet numbers of acknowledgements of QUIC, and contents of feedback of RTP.
    pub ranges: Vec<(u64, u64)>,
}

/// The state of a sender after an ACK or a timer, before it sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// When.
    pub time: Instant,
    /// Index into [`Recording::connections`].
    pub connection: u32,
    /// The number of [`Recording::packets`] before it.
    pub place: usize,
    /// The window, in segments.
    pub cwnd: f64,
    /// The slow-start threshold in segments, infinite before the first congestion event.
    pub ssthresh: f64,
    /// The sender's estimate of the flight size, in segments.
    pub in_flight: u32,
    /// Smoothed RTT, zero before the first measurement. So are the next two.
    pub srtt: Duration,
    /// How much the RTT varies.
    pub rttvar: Duration,
    /// The smallest RTT seen.
    pub min_rtt: Duration,
    /// Slow start, congestion avoidance, or a kind of recovery.
    pub phase: Phase,
}

/// A segment whose last transmission its sender takes for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// When.
    pub time: Instant,
    /// Index into [`Recording::connections`].
    pub connection: u32,
    /// The number of [`Recording::packets`] before it.
    pub place: usize,
    /// First byte, or the packet number of QUIC.
    pub seq: u64,
}

/// A segment that a queue, a link or a checksum took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When it left the sender.
    pub sent_at: Instant,
    /// Index into [`Recording::connections`].
    pub connection: u32,
    /// First byte.
    pub seq: u64,
}

/// A connection, or a source of datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Its flow.
    pub flow: Arc<str>,
    /// The number of the flow, from which its addresses come.
    pub number: u32,
    /// Which connection of the flow it is, from 0.
    pub successor: u32,
    /// When its first packet left.
    pub opened: Instant,
    /// Propagation to the other end and back.
    pub base_rtt: Duration,
    /// Propagation from the sender to the place of the capture.
    pub distance: Duration,
    /// The transport, or none for datagrams.
    pub transport: Option<Arc<Transport>>,
}

impl Connection {
    /// The protocol of its packets, none for datagrams.
    pub fn protocol(&self) -> Option<Protocol> {
        self.transport.as_ref().map(|transport| transport.protocol)
    }
}

/// A packet that was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// When.
    pub time: Instant,
    /// Index into [`Recording::connections`].
    pub connection: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes on the wire, as the simulation counts them.
    pub wire_len: u32,
    /// The segment.
    pub segment: Segment,
}

/// The contents of a packet. Sequence numbers begin at 0 in each direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// From the sender.
    Data {
        /// First byte.
        seq: u64,
        /// Payload bytes.
        len: u32,
        /// When it left the sender.
        sent_at: Instant,
        /// SYN, FIN, PSH, CWR.
        flags: DataEcn,
        /// The next byte expected from the receiver.
        ack: u64,
        /// The receiver's clock in the last ACK that the sender got, or none before the first one.
        echo: Option<Instant>,
    },
    /// From the receiver.
    Ack {
        /// First byte, or the next one where there is no payload.
        seq: u64,
        /// Payload bytes of the request.
        len: u32,
        /// When it left the receiver.
        sent_at: Instant,
        /// The acknowledgement, or none before the first data.
        ack: Option<AckSegment>,
    },
    /// A packet of QUIC from the sender.
    QuicData {
        /// Its packet number.
        number: u64,
        /// First byte.
        offset: u64,
        /// Payload bytes, 0 for a PING.
        len: u32,
        /// When it left the sender.
        sent_at: Instant,
    },
    /// A packet of QUIC from the receiver.
    QuicAck {
        /// Its packet number.
        number: u64,
        /// The acknowledgement: first and last index into [`Recording::ranges`], the newest range first.
        ranges: (u32, u32),
        /// How long the receiver has had the largest one.
        delay: Duration,
    },
    /// A request of a client of QUIC.
    QuicRequest {
        /// Payload bytes.
        len: u32,
    },
    /// A packet of RTP.
    RtpData {
        /// Its sequence number, which does not wrap.
        number: u64,
        /// First byte.
        offset: u64,
        /// Payload bytes.
        len: u32,
        /// When it left the sender.
        sent_at: Instant,
        /// Whether it is the last one of a frame.
        is_marker: bool,
    },
    /// Feedback of RTP (RFC 8888).
    RtpFeedback {
        /// Its contents: first and last index into [`Recording::ranges`].
        list: (u32, u32),
    },
    /// A datagram of this length on the wire.
    Datagram {
        /// Headers and payload.
        len: u32,
    },
}

impl Segment {
    /// Whether it goes from the sender to the receiver.
    pub fn is_forward(&self) -> bool {
        !matches!(
            self,
            Segment::Ack { .. } | Segment::QuicAck { .. } | Segment::QuicRequest { .. } | Segment::RtpFeedback { .. }
        )
    }
}
