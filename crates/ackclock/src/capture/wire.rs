//! Packets as bytes: IPv4 (RFC 791), TCP (RFC 9293) with its options, UDP (RFC 768).

use std::sync::Arc;

use super::recording::{Connection, Packet, Segment};
use crate::tcp::{AckSegment, EcnFeedback};
use crate::transport::{EcnMode, Protocol, Transport};
use crate::units::Instant;

/// The start time of runs in captures, in seconds. It exceeds the length of any handshake before the first packet.
const EPOCH_S: u64 = 1_000_000_000;
const NANOS_PER_SEC: u64 = 1_000_000_000;
/// RFC 7323 §5.4: a tick of the clock of timestamps.
const TICK_NS: u64 = 1_000_000;

const IP_LEN: u32 = 20;
const TCP_LEN: u32 = 20;
const UDP_LEN: u32 = 8;
/// The discard service, which ignores its data.
const DISCARD_PORT: u16 = 9;
const FIRST_PORT: u16 = 49_152;
const PORTS: u32 = 16_384;
const TTL: u8 = 64;
const DO_NOT_FRAGMENT: u16 = 0x4000;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// The window field, and its scale, of an end without a bound: nothing fills it.
const WINDOW: u16 = u16::MAX;
const WINDOW_SCALE: u8 = 14;

const FIN: u16 = 0x001;
const SYN: u16 = 0x002;
const PSH: u16 = 0x008;
const ACK: u16 = 0x010;
const ECE: u16 = 0x040;
const CWR: u16 = 0x080;
const AE: u16 = 0x100;
/// The ACE field where no mark was counted (RFC 9768 §3.2.2.1).
const NO_MARKS: u8 = 5;

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Nanoseconds since 1970.
    pub(super) time_ns: u64,
    /// The bytes up to the payload, which contains zeros only.
    pub(super) bytes: Vec<u8>,
    /// Bytes of IP.
    pub(super) len: u32,
    /// Bytes on the wire as the simulation counts them.
    pub(super) wire_len: u32,
}

/// The direction of a packet.
struct Way {
    is_forward: bool,
    ecn: u8,
    id: u16,
}

/// A TCP segment with the numbers on the wire.
#[derive(Default)]
struct Tcp {
    flags: u16,
    seq: u32,
    ack: u32,
    options: Vec<u8>,
    len: u32,
    /// The window field, if there is a bound.
    window: Option<u16>,
}

/// The time of a capture at a time of the run.
fn epoch_ns(at: Instant) -> u64 {
    EPOCH_S * NANOS_PER_SEC + at.as_nanos()
}

/// A fixed number that looks random (64-bit FNV-1a, and a finaliser).
fn scrambled(name: &str, number: u32, purpose: u8) -> u32 {
    let bytes = name.bytes().chain(number.to_le_bytes()).chain([purpose]);
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ mixed >> 33) as u32
}

impl Connection {
    /// The number of the SYN of the sender, or of the receiver.
    pub(super) fn initial_seq(&self, of_sender: bool) -> u32 {
        scrambled(&self.flow, self.successor, u8::from(of_sender))
    }

    /// The sequence number of a byte.
    fn seq(&self, of_sender: bool, byte: u64) -> u32 {
        self.initial_seq(of_sender).wrapping_add(1).wrapping_add(byte as u32)
    }

    /// The clock of timestamps of one end.
    fn clock(&self, of_sender: bool, epoch_ns: u64) -> u32 {
        scrambled(&self.flow, self.successor, 2 + u8::from(of_sender)).wrapping_add((epoch_ns / TICK_NS) as u32)
    }

    /// The address of one end: 10.0.0.0/9 are senders, 10.128.0.0/9 receivers.
    pub(super) fn address(&self, of_sender: bool) -> [u8; 4] {
        let net = if of_sender { 10 << 24 } else { 10 << 24 | 1 << 23 };
        (net + self.number + 1).to_be_bytes()
    }

    /// When the SYN leaves the sender, and when the other packets of the handshake leave, as far as propagation tells.
    fn handshake_times(&self) -> [u64; 3] {
        let opened = epoch_ns(self.opened);
        let (base_rtt, distance) = (self.base_rtt.as_nanos(), self.distance.as_nanos());
        [opened - base_rtt + distance, opened - distance, opened + distance]
    }

    /// When the SYN-ACK leaves the receiver.
    fn answered_ns(&self) -> u64 {
        epoch_ns(self.opened) - self.base_rtt.as_nanos() / 2
    }

    /// The packets of a handshake in front of the first packet, if the run has none.
    pub(super) fn handshake(&self) -> Vec<Frame> {
        let is_tcp = |transport: &&Arc<Transport>| !transport.handshake && transport.protocol == Protocol::Tcp;
        let Some(transport) = self.transport.as_ref().filter(is_tcp) else {
            return Vec::new();
        };
        let (sender, receiver) = (self.initial_seq(true), self.initial_seq(false));
        let [asks, answers, confirms] = opening_flags(transport.ecn);
        let sent_ns = epoch_ns(self.opened) - self.base_rtt.as_nanos();
        let opened_ns = epoch_ns(self.opened);
        let clock = |of_sender, at| self.clock(of_sender, at);
        let stamps = [
            (clock(true, sent_ns), 0),
            (clock(false, self.answered_ns()), clock(true, sent_ns)),
            (clock(true, opened_ns), clock(false, self.answered_ns())),
        ];
        let segments = [
            Tcp {
                flags: SYN | asks,
                seq: sender,
                options: opening_options(transport, WINDOW_SCALE, stamps[0]),
                ..Tcp::default()
            },
            Tcp {
                flags: SYN | ACK | answers,
                seq: receiver,
                ack: sender.wrapping_add(1),
                options: opening_options(transport, window_scale(transport), stamps[1]),
                window: first_window(transport),
                len: 0,
            },
            Tcp {
                flags: ACK | confirms,
                seq: sender.wrapping_add(1),
                ack: receiver.wrapping_add(1),
                options: if transport.timestamps { timestamps(stamps[2]) } else { Vec::new() },
                ..Tcp::default()
            },
        ];
        let frames = segments.into_iter().zip(self.handshake_times()).enumerate().map(|(number, (tcp, time_ns))| {
            let (bytes, len) = self.tcp_packet(&Way { is_forward: number != 1, ecn: 0, id: number as u16 }, &tcp);
            Frame { time_ns, bytes, len, wire_len: len }
        });
        frames.collect()
    }

    /// The packet on the wire. `id` distinguishes it from others, and `lists` are [`Recording::ranges`].
    ///
    /// [`Recording::ranges`]: super::recording::Recording::ranges
    pub(super) fn frame(&self, packet: &Packet, id: u16, lists: &[(u64, u64)]) -> Frame {
        let way = Way { is_forward: packet.segment.is_forward(), ecn: packet.ecn.bits(), id };
        let (bytes, len) = match (&packet.segment, &self.transport) {
            (Segment::Datagram { len }, _) => self.udp_packet(&way, *len, &[]),
            (Segment::QuicData { number, .. } | Segment::QuicAck { number, .. }, Some(transport)) => {
                self.udp_packet(&way, packet.wire_len - transport.framing, &self.short_header(way.is_forward, *number))
            }
            (Segment::RtpData { number, sent_at, is_marker, .. }, Some(transport)) => {
                let header = self.rtp_header(*number, *sent_at, *is_marker);
                self.udp_packet(&way, packet.wire_len - transport.framing, &header)
            }
            (Segment::RtpFeedback { list: (first, end) }, Some(transport)) => {
                let report = self.rtcp_feedback(&lists[*first as usize..*end as usize]);
                self.udp_packet(&way, packet.wire_len - transport.framing, &report)
            }
            (Segment::QuicRequest { .. }, Some(transport)) => {
                self.udp_packet(&way, packet.wire_len - transport.framing, &[])
            }
            (segment, Some(transport)) => self.tcp_packet(&way, &self.tcp(segment, transport)),
            (_, None) => unreachable!("invariant: segments are of connections"),
        };
        Frame { time_ns: epoch_ns(packet.time), bytes, len, wire_len: packet.wire_len }
    }

    fn tcp(&self, segment: &Segment, transport: &Transport) -> Tcp {
        match segment {
            Segment::Data { seq, len, sent_at, flags, ack, echo } => {
                let echo_ns = echo.map_or_else(|| self.answered_ns(), epoch_ns);
                let value = self.clock(true, epoch_ns(*sent_at));
                let [asks, _, confirms] = opening_flags(transport.ecn);
                if flags.syn() {
                    let options = opening_options(transport, WINDOW_SCALE, (value, 0));
                    return Tcp { flags: SYN | asks, seq: self.initial_seq(true), options, ..Tcp::default() };
                }
                let ecn_flags = match transport.ecn {
                    EcnMode::AccEcn if *len == 0 && !flags.fin() && !flags.probe() => confirms,
                    EcnMode::AccEcn => ace_flags(NO_MARKS),
                    _ if flags.cwr() => CWR,
                    _ => 0,
                };
                let stamps = (value, self.clock(false, echo_ns));
                Tcp {
                    flags: ACK | ecn_flags | if flags.fin() { FIN } else { 0 } | if flags.psh() { PSH } else { 0 },
                    seq: self.seq(true, *seq).wrapping_sub(u32::from(flags.probe())),
                    ack: self.seq(false, *ack),
                    options: if transport.timestamps { timestamps(stamps) } else { Vec::new() },
                    len: *len,
                    window: None,
                }
            }
            Segment::Ack { seq, len, sent_at, ack } => {
                let first =
                    AckSegment { ack: 0, sack: Default::default(), echo: self.opened, ecn: EcnFeedback::None.into() };
                let ack = ack.unwrap_or(first);
                let stamps = (self.clock(false, epoch_ns(*sent_at)), self.clock(true, epoch_ns(ack.echo)));
                if ack.ecn == EcnFeedback::SynAck {
                    let [_, answers, _] = opening_flags(transport.ecn);
                    let options = opening_options(transport, window_scale(transport), stamps);
                    let (seq, window) = (self.initial_seq(false), first_window(transport));
                    return Tcp { flags: SYN | ACK | answers, seq, ack: self.seq(true, 0), options, len: 0, window };
                }
                let ecn_flags = match ack.ecn.read() {
                    EcnFeedback::Classic { ece: true } => ECE,
                    EcnFeedback::AccEcn { ace, .. } => ace_flags(ace),
                    _ if transport.ecn == EcnMode::AccEcn => ace_flags(NO_MARKS),
                    _ => 0,
                };
                let mut options = if transport.timestamps { timestamps(stamps) } else { Vec::new() };
                if let Some(counters) = ack.ecn.option() {
                    let (kind, fields) = counters.fields();
                    options.extend([kind, 2 + 3 * fields.len() as u8]);
                    fields.for_each(|counter| options.extend(counter));
                    options.resize(options.len().next_multiple_of(4), 1);
                }
                self.add_sack(&ack, &mut options);
                Tcp {
                    flags: ACK | ecn_flags | if *len > 0 { PSH } else { 0 },
                    seq: self.seq(false, *seq),
                    ack: self.seq(true, ack.ack),
                    options,
                    len: *len,
                    window: ack.advertised(transport).map(|window| scaled(window, window_scale(transport))),
                }
            }
            Segment::Datagram { .. }
            | Segment::QuicData { .. }
            | Segment::QuicAck { .. }
            | Segment::QuicRequest { .. }
            | Segment::RtpData { .. }
            | Segment::RtpFeedback { .. } => unreachable!("invariant: a datagram is no segment"),
        }
    }

    /// RFC 2018 §3, padded in front.
    fn add_sack(&self, ack: &AckSegment, options: &mut Vec<u8>) {
        if ack.sack.is_empty() {
            return;
        }
        options.extend([1, 1, 5, 2 + 8 * ack.sack.len() as u8]);
        for (start, end) in ack.sack.iter(ack.ack) {
            options.extend(self.seq(true, start).to_be_bytes());
            options.extend(self.seq(true, end).to_be_bytes());
        }
    }

    /// Headers, and the length of the packet.
    fn tcp_packet(&self, way: &Way, tcp: &Tcp) -> (Vec<u8>, u32) {
        debug_assert!(tcp.options.len().is_multiple_of(4) && tcp.options.len() <= 40, "invariant: RFC 9293 §3.1");
        let header_len = TCP_LEN + tcp.options.len() as u32;
        let (port, other) = self.ports(way.is_forward);
        let mut header = Vec::with_capacity(header_len as usize);
        header.extend(port.to_be_bytes());
        header.extend(other.to_be_bytes());
        header.extend(tcp.seq.to_be_bytes());
        header.extend(tcp.ack.to_be_bytes());
        header.extend(((header_len as u16 / 4) << 12 | tcp.flags).to_be_bytes());
        header.extend(tcp.window.unwrap_or(WINDOW).to_be_bytes());
        header.extend([0; 4]);
        header.extend(&tcp.options);
        self.ip_packet(way, PROTOCOL_TCP, header, 16, tcp.len)
    }

    /// The short header of QUIC (RFC 9000 §17.3.1), of 13 bytes, with an unencrypted packet number. It contains a
    /// fixed bit, the length of the number, and the connection ID of the receiving end.
    fn short_header(&self, is_forward: bool, number: u64) -> [u8; 13] {
        const FIXED_BIT: u8 = 0x40;
        const FOUR_BYTES: u8 = 0x03;
        let mut header = [0; 13];
        header[0] = FIXED_BIT | FOUR_BYTES;
        for (purpose, place) in [(4, 1), (6, 5)] {
            let id = scrambled(&self.flow, self.successor, purpose + u8::from(is_forward));
            header[place..place + 4].copy_from_slice(&id.to_be_bytes());
        }
        header[9..].copy_from_slice(&(number as u32).to_be_bytes());
        header
    }

    /// The fixed header of RTP (RFC 3550 §5.1), with a video clock of 90 kHz and a dynamic payload type.
    fn rtp_header(&self, number: u64, sent_at: Instant, is_marker: bool) -> [u8; 12] {
        const VERSION: u8 = 0x80;
        const PAYLOAD_TYPE: u8 = 96;
        const CLOCK: u128 = 90_000;
        let stamp = u128::from(sent_at.as_nanos()) * CLOCK / u128::from(NANOS_PER_SEC);
        let mut header = [0; 12];
        header[0] = VERSION;
        header[1] = PAYLOAD_TYPE | u8::from(is_marker) << 7;
        header[2..4].copy_from_slice(&(number as u16).to_be_bytes());
        header[4..8].copy_from_slice(&(stamp as u32).to_be_bytes());
        header[8..].copy_from_slice(&self.ssrc(true).to_be_bytes());
        header
    }

    /// A feedback packet of RFC 8888 §3.1 with these contents.
    fn rtcp_feedback(&self, list: &[(u64, u64)]) -> Vec<u8> {
        /// Version 2, and the type of the feedback message.
        const FIRST: u8 = 0x80 | 11;
        const RTPFB: u8 = 205;
        let (Some((stamp, entries)), mut bytes) = (list.split_first(), vec![FIRST, RTPFB, 0, 0]) else {
            return Vec::new();
        };
        let (first, last) = match (entries.first(), entries.last()) {
            (Some((first, _)), Some((last, _))) => (*first, *last),
            _ => return Vec::new(),
        };
        bytes.extend(self.ssrc(false).to_be_bytes());
        bytes.extend(self.ssrc(true).to_be_bytes());
        bytes.extend((first as u16).to_be_bytes());
        bytes.extend(((last + 1 - first) as u16).to_be_bytes());
        let mut entries = entries.iter().peekable();
        for number in first..=last {
            // A bit for received packets, two bits of ECN, 13 bits of the offset. A packet that has not arrived has zeros.
            let report = entries
                .next_if(|(entry, _)| *entry == number)
                .map_or(0, |(_, value)| 1 << 15 | (value & 0b11) << 13 | value >> 2);
            bytes.extend((report as u16).to_be_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend((stamp.0 as u32).to_be_bytes());
        let words = (bytes.len() / 4 - 1) as u16;
        bytes[2..4].copy_from_slice(&words.to_be_bytes());
        bytes
    }

    /// The synchronisation source of an end.
    fn ssrc(&self, of_sender: bool) -> u32 {
        scrambled(&self.flow, self.successor, 8 + u8::from(of_sender))
    }

    /// A datagram whose payload begins with `first`. Bytes that do not fit the packet are omitted.
    fn udp_packet(&self, way: &Way, wire_len: u32, first: &[u8]) -> (Vec<u8>, u32) {
        let payload = wire_len.saturating_sub(IP_LEN + UDP_LEN);
        let first = &first[..first.len().min(payload as usize)];
        let (port, other) = self.ports(way.is_forward);
        let mut header = Vec::with_capacity(UDP_LEN as usize + first.len());
        header.extend(port.to_be_bytes());
        header.extend(other.to_be_bytes());
        header.extend(((UDP_LEN + payload) as u16).to_be_bytes());
        header.extend([0; 2]);
        header.extend(first);
        self.ip_packet(way, PROTOCOL_UDP, header, 6, payload - first.len() as u32)
    }

    /// The ports of who sends, and of who receives.
    fn ports(&self, is_forward: bool) -> (u16, u16) {
        let ephemeral = FIRST_PORT + (self.successor % PORTS) as u16;
        if is_forward { (ephemeral, DISCARD_PORT) } else { (DISCARD_PORT, ephemeral) }
    }

    /// Prepends the header of IP, and inserts both checksums. Zeros do not change a checksum.
    fn ip_packet(&self, way: &Way, protocol: u8, mut header: Vec<u8>, place: usize, payload: u32) -> (Vec<u8>, u32) {
        let (from, to) = (self.address(way.is_forward), self.address(!way.is_forward));
        let segment_len = header.len() as u32 + payload;
        let len = IP_LEN + segment_len;
        let mut pseudo = Vec::with_capacity(12);
        pseudo.extend(from);
        pseudo.extend(to);
        pseudo.extend(u32::from(protocol).to_be_bytes());
        pseudo[8..].copy_from_slice(&[0, protocol, (segment_len >> 8) as u8, segment_len as u8]);
        let sum = match checksum([&pseudo[..], &header[..]]) {
            // RFC 768: zero means that there is none.
            0 if protocol == PROTOCOL_UDP => u16::MAX,
            sum => sum,
        };
        header[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        let mut bytes = Vec::with_capacity(IP_LEN as usize + header.len());
        bytes.extend([0x45, way.ecn]);
        // A longer packet has no length, like segments before a network card splits them.
        bytes.extend(u16::try_from(len).unwrap_or(0).to_be_bytes());
        bytes.extend(way.id.to_be_bytes());
        bytes.extend(DO_NOT_FRAGMENT.to_be_bytes());
        bytes.extend([TTL, protocol, 0, 0]);
        bytes.extend(from);
        bytes.extend(to);
        let sum = checksum([&bytes[..], &[]]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(header);
        (bytes, len)
    }
}

/// The ECN flags of a SYN, of its answer, and of the final ACK (RFC 3168 §6.1.1, RFC 9768 §3.1.1).
fn opening_flags(ecn: EcnMode) -> [u16; 3] {
    match ecn {
        EcnMode::Off | EcnMode::Counts => [0; 3],
        EcnMode::Classic | EcnMode::Dctcp => [ECE | CWR, ECE, 0],
        EcnMode::AccEcn => [AE | CWR | ECE, CWR, CWR],
    }
}

/// MSS, SACK-permitted, timestamps and the scale of windows.
fn opening_options(transport: &Transport, window_scale: u8, stamps: (u32, u32)) -> Vec<u8> {
    // RFC 6691: "the MSS option (...) SHOULD NOT be decreased to account for (...) options".
    let options_len = if transport.timestamps { crate::transport::TIMESTAMPS_LEN } else { 0 };
    let mss = u16::try_from(transport.mss + options_len).unwrap_or(u16::MAX);
    let mut options = vec![2, 4, (mss >> 8) as u8, mss as u8];
    options.extend(if transport.peer_sack { [1, 1, 4, 2] } else { [1; 4] });
    if transport.timestamps {
        options.extend(timestamps(stamps));
    }
    options.extend([1, 3, 3, window_scale]);
    options
}

/// The scale of the windows of a receiver: the smallest that shows the largest of them (RFC 7323 §2.2).
fn window_scale(transport: &Transport) -> u8 {
    let largest = transport.largest_window();
    let shows = |scale: &u8| largest.is_some_and(|bytes| bytes.div_ceil(1 << scale) <= u64::from(WINDOW));
    (0..WINDOW_SCALE).find(shows).unwrap_or(WINDOW_SCALE)
}

/// A window in the encoding of its field, rounded up, so that all permitted data fit.
fn scaled(window: u64, scale: u8) -> u16 {
    u16::try_from(window.div_ceil(1 << scale)).unwrap_or(WINDOW)
}

/// The window field of the answer to a SYN, which has no scale.
fn first_window(transport: &Transport) -> Option<u16> {
    transport.largest_window().map(|window| scaled(window, 0))
}

/// RFC 7323 §3.2, padded as in its appendix A.
fn timestamps((value, echo): (u32, u32)) -> Vec<u8> {
    let mut option = vec![1, 1, 8, 10];
    option.extend(value.to_be_bytes());
    option.extend(echo.to_be_bytes());
    option
}

/// AE, CWR and ECE as one number.
fn ace_flags(ace: u8) -> u16 {
    u16::from(ace & 7) * ECE
}

/// The checksum of RFC 1071 over two texts. The first one has an even length.
fn checksum(texts: [&[u8]; 2]) -> u16 {
    let words = texts.into_iter().flat_map(|text| text.chunks(2));
    let sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests;
