//! Packets byte by byte.

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
        let ack =
            AckSegment { ack: 0, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::None.into() };
        let ack = Some(window.map_or(ack, |window| ack.with_window(window)));
        let connection = connection(transport);
        let frames = connection.handshake();
        // The last byte of the SYN-ACK is its scale.
        let scale = *frames[1].bytes.last().unwrap();
        let packet = packet(Segment::Ack { seq: 0, len: 0, sent_at: Instant::from_nanos(7), ack });
        (u16_at(&frames[1].bytes, 34), scale, u16_at(&connection.frame(&packet, 0, &[]).bytes, 34))
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
    let frame = connection.frame(&packet(data), 0xabcd, &[]);
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
    let ack = AckSegment { ack: 1460, sack, echo: Instant::ZERO, ecn: ecn.into() };
    let segment = Segment::Ack { seq: 0, len: 0, sent_at: Instant::ZERO, ack: Some(ack) };
    let connection = connection(Transport { ecn: EcnMode::AccEcn, ..Transport::default() });
    let frame = connection.frame(&packet(segment), 0, &[]);
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
fn packets_of_rtp_and_their_feedback_are_as_on_the_wire() {
    let connection = connection(Transport { protocol: Protocol::Rtp, ..Transport::default() });
    assert!(connection.handshake().is_empty());
    // A third of a second is 30 000 ticks of the video clock.
    let sent_at = Instant::from_nanos(333_333_334);
    let data = Segment::RtpData { number: 65_538, offset: 0, len: 160, sent_at, is_marker: true };
    let frame = connection.frame(&Packet { wire_len: 200, ..packet(data) }, 0, &[]);
    assert_eq!((frame.len, frame.bytes.len(), frame.bytes[9]), (200, 40, 17));
    // Version 2, marker and payload type 96, the sequence number modulo 65 536.
    assert_eq!(frame.bytes[28..32], [0x80, 0x80 | 96, 0, 2]);
    assert_eq!(u32_at(&frame.bytes, 32), 30_000);
    assert!(is_sound(&frame));
    // RFC 8888 §3.1: packets 9 to 11, of which 10 has not arrived.
    let list = [(655_360, 0), (9, 2 << 2 | 0b11), (11, 5 << 2)];
    let feedback = Segment::RtpFeedback { list: (0, 3) };
    let frame = connection.frame(&Packet { wire_len: 56, ..packet(feedback) }, 0, &list);
    assert_eq!((frame.len, frame.bytes.len()), (56, 56));
    // Six words after the first one. Three reports, and padding.
    assert_eq!(frame.bytes[28..32], [0x80 | 11, 205, 0, 6]);
    assert_eq!(frame.bytes[40..44], [0, 9, 0, 3]);
    assert_eq!([44, 46, 48, 50].map(|place| u16_at(&frame.bytes, place)), [0xe002, 0, 0x8005, 0]);
    assert_eq!(u32_at(&frame.bytes, 52), 655_360);
    assert!(is_sound(&frame));
}

#[test]
fn datagrams_are_as_long_as_they_are_counted() {
    let connection = Connection { transport: None, ..connection(Transport::default()) };
    let frame = connection.frame(&packet(Segment::Datagram { len: 200 }), 0, &[]);
    assert_eq!((frame.bytes.len(), frame.len, u16_at(&frame.bytes, 24)), (28, 200, 180));
    assert!(is_sound(&frame));
    // What is shorter than headers has no payload.
    assert_eq!(connection.frame(&packet(Segment::Datagram { len: 1 }), 0, &[]).len, 28);
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
        connection.frame(&packet(data), 0, &[])
    };
    let ack = AckSegment { ack: 0, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::SynAck.into() };
    let answer = Segment::Ack { seq: 0, len: 0, sent_at: Instant::ZERO, ack: Some(ack) };
    let frames = [
        sent(DataEcn::SYN_FLAG, 0),
        connection.frame(&packet(answer), 0, &[]),
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
    let frame = connection.frame(&packet(data), 0, &[]);
    assert_eq!((u16_at(&frame.bytes, 2), frame.len), (0, 65_575));
}
