//! Packets as bytes: IPv4 (RFC 791), TCP (RFC 9293) with its options, UDP (RFC 768).

use std::sync::Arc;

use super::recording::{Connection, Packet, Segment};
use crate::tcp::{AckSegment, EcnFeedback};
use crate::transport::{EcnMode, Transport};
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
    /// Up to the payload, which is all zeros.
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
        let is_tcp = |transport: &&Arc<Transport>| !transport.handshake && !self.is_quic();
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

    /// The packet on the wire. `id` distinguishes it from others.
    pub(super) fn frame(&self, packet: &Packet, id: u16) -> Frame {
        let way = Way { is_forward: packet.segment.is_forward(), ecn: packet.ecn.bits(), id };
        let (bytes, len) = match (&packet.segment, &self.transport) {
            (Segment::Datagram { len }, _) => self.udp_packet(&way, *len, &[]),
            (Segment::QuicData { number, .. } | Segment::QuicAck { number, .. }, Some(transport)) => {
                self.udp_packet(&way, packet.wire_len - transport.framing, &self.short_header(way.is_forward, *number))
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
                let first = AckSegment { ack: 0, sack: Default::default(), echo: self.opened, ecn: EcnFeedback::None };
                let ack = ack.unwrap_or(first);
                let stamps = (self.clock(false, epoch_ns(*sent_at)), self.clock(true, epoch_ns(ack.echo)));
                if ack.ecn == EcnFeedback::SynAck {
                    let [_, answers, _] = opening_flags(transport.ecn);
                    let options = opening_options(transport, window_scale(transport), stamps);
                    let (seq, window) = (self.initial_seq(false), first_window(transport));
                    return Tcp { flags: SYN | ACK | answers, seq, ack: self.seq(true, 0), options, len: 0, window };
                }
                let ecn_flags = match ack.ecn {
                    EcnFeedback::Classic { ece: true } => ECE,
                    EcnFeedback::AccEcn { ace, .. } => ace_flags(ace),
                    _ if transport.ecn == EcnMode::AccEcn => ace_flags(NO_MARKS),
                    _ => 0,
                };
                let mut options = if transport.timestamps { timestamps(stamps) } else { Vec::new() };
                if let EcnFeedback::AccEcn { option: Some(counters), .. } = ack.ecn {
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
            | Segment::QuicRequest { .. } => unreachable!("invariant: a datagram is no segment"),
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
mod tests {
    use crate::ecn::Ecn;
    use std::sync::Arc;

    use super::*;
    use crate::tcp::{AccEcnOption, DataEcn, SackBlocks};
    use crate::units::Duration;

    fn connection(transport: Transport) -> Connection {
        Connection {
            flow: "test".into(),
            number: 2,
            successor: 0,
            opened: Instant::from_nanos(5_000_000),
            base_rtt: Duration::from_millis(60),
            distance: Duration::ZERO,
            transport: Some(Arc::new(transport)),
        }
    }

    fn packet(segment: Segment) -> Packet {
        Packet { time: Instant::from_nanos(7), connection: 0, ecn: Ecn::Ce, wire_len: 1500, segment }
    }

    fn u16_at(bytes: &[u8], place: usize) -> u16 {
        u16::from_be_bytes([bytes[place], bytes[place + 1]])
    }

    fn u32_at(bytes: &[u8], place: usize) -> u32 {
        u32::from_be_bytes(bytes[place..place + 4].try_into().unwrap())
    }

    /// The sum of RFC 1071 over the covered bytes, including the checksum, is all ones.
    fn is_sound(frame: &Frame) -> bool {
        let (ip, rest) = frame.bytes.split_at(20);
        let segment_len = (frame.len - 20).to_be_bytes();
        let pseudo = [&ip[12..20], &[0, ip[9]], &segment_len[2..]].concat();
        checksum([ip, &[]]) == 0 && checksum([&pseudo, rest]) == 0
    }

    #[test]
    fn windows_are_those_that_are_advertised() {
        let shown = |transport: Transport, window: Option<u64>| {
            let ack = AckSegment { ack: 0, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::None };
            let ack = Some(window.map_or(ack, |window| ack.with_window(window)));
            let connection = connection(transport);
            let frames = connection.handshake();
            // The last byte of the SYN-ACK is its scale.
            let scale = *frames[1].bytes.last().unwrap();
            let packet = packet(Segment::Ack { seq: 0, len: 0, sent_at: Instant::from_nanos(7), ack });
            (u16_at(&frames[1].bytes, 34), scale, u16_at(&connection.frame(&packet, 0).bytes, 34))
        };
        assert_eq!(shown(Transport::default(), None), (65_535, 14, 65_535));
        let small = Transport { max_window: Some(20), mss: 1000, ..Transport::default() };
        assert_eq!(shown(small, None), (20_000, 0, 20_000));
        // 1 MiB is 65536 << 4, which is too much, and 32768 << 5.
        let large = Transport { receive_buffer: Some(1 << 20), ..Transport::default() };
        assert_eq!(shown(large.clone(), Some(1 << 20)), (65_535, 5, 32_768));
        assert_eq!((shown(large.clone(), Some(33)).2, shown(large, Some(0)).2), (2, 0));
    }

    #[test]
    fn the_checksum_is_that_of_the_rfc() {
        // RFC 1071 §3: 0001 f203 f4f5 f6f7 sum up to ddf2.
        assert_eq!(checksum([&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
        // §4.1: an odd byte counts as one in front of a zero.
        assert_eq!(checksum([&[0x00, 0x01], &[0xf2]]), !0xf201);
    }

    #[test]
    fn data_are_as_on_the_wire() {
        let connection = connection(Transport { timestamps: true, ..Transport::default() });
        let sent_at = Instant::from_nanos(3_999_999);
        let data = Segment::Data { seq: 2920, len: 1460, sent_at, flags: DataEcn::new(true, true), ack: 0, echo: None };
        let frame = connection.frame(&packet(data), 0xabcd);
        assert_eq!((frame.bytes.len(), frame.len, frame.time_ns), (52, 1512, 1_000_000_000_000_000_007));
        // Version and length of the header, CE, total length, identification, DF, TTL, TCP.
        assert_eq!(frame.bytes[..10], [0x45, 3, 0x05, 0xe8, 0xab, 0xcd, 0x40, 0, 64, 6]);
        assert_eq!(frame.bytes[12..20], [10, 0, 0, 3, 10, 128, 0, 3]);
        assert_eq!([20, 22].map(|place| u16_at(&frame.bytes, place)), [49_152, 9]);
        assert_eq!(u32_at(&frame.bytes, 24), connection.initial_seq(true).wrapping_add(2921));
        assert_eq!(u32_at(&frame.bytes, 28), connection.initial_seq(false).wrapping_add(1));
        // Eight words of header, CWR and ACK.
        assert_eq!(u16_at(&frame.bytes, 32), 0x8090);
        assert_eq!(frame.bytes[40..44], [1, 1, 8, 10]);
        let ticks = u32_at(&frame.bytes, 44).wrapping_sub(connection.clock(true, epoch_ns(Instant::ZERO)));
        assert_eq!(ticks, 3);
        assert!(is_sound(&frame));
    }

    #[test]
    fn an_ack_has_its_blocks_and_counters() {
        let mut sack = SackBlocks::default();
        sack.push(1460, 2920, 4380);
        let option = Some(AccEcnOption::new(0x01_0203, 0x04_0506, 1));
        let ecn = EcnFeedback::AccEcn { ace: 6, option };
        let ack = AckSegment { ack: 1460, sack, echo: Instant::ZERO, ecn };
        let segment = Segment::Ack { seq: 0, len: 0, sent_at: Instant::ZERO, ack: Some(ack) };
        let connection = connection(Transport { ecn: EcnMode::AccEcn, ..Transport::default() });
        let frame = connection.frame(&packet(segment), 0);
        assert_eq!((frame.bytes.len(), frame.len), (60, 60));
        assert_eq!(frame.bytes[12..20], [10, 128, 0, 3, 10, 0, 0, 3]);
        // Ten words; AE and CWR are a count of 6.
        assert_eq!(u16_at(&frame.bytes, 32), 0xa190);
        assert_eq!(frame.bytes[40..48], [172, 8, 1, 2, 3, 4, 5, 6]);
        assert_eq!(frame.bytes[48..52], [1, 1, 5, 10]);
        let first = connection.initial_seq(true).wrapping_add(1);
        assert_eq!([52, 56].map(|place| u32_at(&frame.bytes, place).wrapping_sub(first)), [2920, 4380]);
        assert!(is_sound(&frame));
    }

    #[test]
    fn datagrams_are_as_long_as_they_are_counted() {
        let connection = Connection { transport: None, ..connection(Transport::default()) };
        let frame = connection.frame(&packet(Segment::Datagram { len: 200 }), 0);
        assert_eq!((frame.bytes.len(), frame.len, u16_at(&frame.bytes, 24)), (28, 200, 180));
        assert!(is_sound(&frame));
        // What is shorter than headers has no payload.
        assert_eq!(connection.frame(&packet(Segment::Datagram { len: 1 }), 0).len, 28);
        assert!(connection.handshake().is_empty());
    }

    #[test]
    fn a_handshake_agrees_on_what_the_run_uses() {
        let handshake = |transport: Transport| connection(transport).handshake();
        let frames = handshake(Transport { timestamps: true, ecn: EcnMode::AccEcn, ..Transport::default() });
        assert!(frames.iter().all(is_sound));
        let opened = epoch_ns(Instant::from_nanos(5_000_000));
        assert_eq!([0, 1, 2].map(|number| frames[number].time_ns), [opened - 60_000_000, opened, opened]);
        // RFC 9768 table 2: AE, CWR and ECE; the answer to a SYN without ECT; ACE of 0b010.
        assert_eq!([0, 1, 2].map(|number| u16_at(&frames[number].bytes, 32) & 0xfff), [0x1c2, 0x092, 0x090]);
        // MSS of 1472, with the room of timestamps; SACK; timestamps; window scale.
        assert_eq!(frames[0].bytes[40..50], [2, 4, 0x05, 0xc0, 1, 1, 4, 2, 1, 1]);
        assert_eq!(frames[0].bytes[60..], [1, 3, 3, 14]);
        let classic = handshake(Transport { ecn: EcnMode::Classic, peer_sack: false, ..Transport::default() });
        assert_eq!([0, 1, 2].map(|number| u16_at(&classic[number].bytes, 32) & 0xfff), [0x0c2, 0x052, 0x010]);
        assert_eq!(classic[1].bytes[40..], [2, 4, 0x05, 0xb4, 1, 1, 1, 1, 1, 3, 3, 14]);
    }

    #[test]
    fn a_handshake_of_the_run_is_the_only_one() {
        let connection = connection(Transport { handshake: true, ..Transport::default() });
        assert!(connection.handshake().is_empty());
        let sent = |flags, seq| {
            let data = Segment::Data { seq, len: 0, sent_at: Instant::ZERO, flags, ack: 0, echo: None };
            connection.frame(&packet(data), 0)
        };
        let ack = AckSegment { ack: 0, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::SynAck };
        let answer = Segment::Ack { seq: 0, len: 0, sent_at: Instant::ZERO, ack: Some(ack) };
        let frames = [
            sent(DataEcn::SYN_FLAG, 0),
            connection.frame(&packet(answer), 0),
            sent(DataEcn::default(), 0),
            sent(DataEcn::FIN_FLAG, 99),
            sent(DataEcn::PROBE_FLAG, 99),
            sent(DataEcn::default().with_psh(true), 99),
        ];
        assert!(frames.iter().all(is_sound));
        let first = connection.initial_seq(true);
        let flags_seq_ack = |frame: &Frame| {
            let [seq, ack] = [24, 28].map(|place| u32_at(&frame.bytes, place));
            (u16_at(&frame.bytes, 32) & 0xfff, seq.wrapping_sub(first), ack.wrapping_sub(connection.initial_seq(false)))
        };
        let answered = (0x012, u32_at(&frames[1].bytes, 24), u32_at(&frames[1].bytes, 28));
        assert_eq!(answered, (0x012, connection.initial_seq(false), first.wrapping_add(1)));
        assert_eq!((flags_seq_ack(&frames[0]).0, flags_seq_ack(&frames[0]).1), (0x002, 0));
        assert_eq!(flags_seq_ack(&frames[2]), (0x010, 1, 1));
        assert_eq!(flags_seq_ack(&frames[3]), (0x011, 100, 1));
        assert_eq!(flags_seq_ack(&frames[4]), (0x010, 99, 1));
        assert_eq!(flags_seq_ack(&frames[5]), (0x018, 100, 1));
        assert_eq!(frames[0].bytes[40..44], [2, 4, 0x05, 0xb4]);
    }

    #[test]
    fn numbers_of_connections_differ_and_wrap() {
        let first = connection(Transport::default());
        let second = Connection { successor: 1, ..first.clone() };
        assert_ne!(first.initial_seq(true), first.initial_seq(false));
        assert_ne!(first.initial_seq(true), second.initial_seq(true));
        let to_end = u64::from(u32::MAX - first.initial_seq(true));
        assert_eq!([to_end - 1, to_end, to_end + 1].map(|byte| first.seq(true, byte)), [u32::MAX, 0, 1]);
        assert_eq!(first.seq(true, 1 << 32), first.seq(true, 0));
    }

    #[test]
    fn a_packet_longer_than_ip_allows_has_no_length() {
        let connection = connection(Transport::default());
        let sent_at = Instant::ZERO;
        let data = Segment::Data { seq: 0, len: 65_535, sent_at, flags: DataEcn::default(), ack: 0, echo: None };
        let frame = connection.frame(&packet(data), 0);
        assert_eq!((u16_at(&frame.bytes, 2), frame.len), (0, 65_575));
    }
}
