//! Hand-computed exchanges: the sender at one end of 40 ms, with segments of 1000 bytes.

use super::*;
use crate::units::Instant;

const ISN: u32 = u32::MAX - 2500;

fn at(ms: f64) -> Instant {
    Instant::from_nanos(1_000_000_000 + (ms * 1e6) as u64)
}

/// Segment `number` of 1000 bytes, from 0.
fn data(ms: f64, number: u32) -> TcpHeader {
    bytes(ms, 1000 * number, 1000)
}

fn bytes(ms: f64, first: u32, len: u32) -> TcpHeader {
    let seq = ISN.wrapping_add(1 + first);
    TcpHeader { time: at(ms), forward: true, seq, ack: Some(1), len, ..TcpHeader::default() }
}

/// An ACK of so many segments, with blocks of segments.
fn ack(ms: f64, number: u32, blocks: &[(u32, u32)]) -> TcpHeader {
    let byte = |number: u32| ISN.wrapping_add(1 + 1000 * number);
    let mut sack = [(0, 0); 4];
    for (place, (from, to)) in sack.iter_mut().zip(blocks) {
        *place = (byte(*from), byte(*to));
    }
    TcpHeader { time: at(ms), ack: Some(byte(number)), window: 1000, sack, ..TcpHeader::default() }
}

/// SYN, SYN-ACK and ACK. The SYN-ACK follows after `ahead`, and the ACK after `back`.
fn handshake(ahead: f64, back: f64) -> Vec<TcpHeader> {
    let syn = TcpHeader { time: at(0.0), forward: true, seq: ISN, syn: true, mss: Some(1000), ..TcpHeader::default() };
    let syn = TcpHeader { window_scale: Some(7), ..syn };
    let answer = TcpHeader { time: at(ahead), syn: true, ack: Some(ISN.wrapping_add(1)), mss: Some(1460), ..syn };
    vec![syn, TcpHeader { forward: false, ..answer }, bytes(ahead + back, 0, 0)]
}

fn look(packets: impl IntoIterator<Item = TcpHeader>) -> Observed {
    let mut headers = handshake(40.0, 0.01);
    headers.extend(packets);
    observe(&headers, 10).unwrap()
}

/// Six segments. The one with number 1 is lost, and ACKs of the others report it.
fn one_loss() -> Vec<TcpHeader> {
    let mut packets: Vec<TcpHeader> = (0..6).map(|number| data(100.0 + f64::from(number), number)).collect();
    packets.push(ack(140.0, 1, &[]));
    packets.extend((2..6).map(|number| ack(140.0 + f64::from(number), 1, &[(2, number + 1)])));
    packets
}

#[test]
fn a_loss_that_sack_shows_is_one_fast_retransmission_in_one_recovery() {
    let mut packets = one_loss();
    packets.extend([data(144.5, 1), ack(185.0, 6, &[])]);
    let seen = look(packets);
    assert_eq!((seen.place.vantage, seen.mss), (Vantage::Sender, 1000));
    let counts = &seen.counts;
    assert_eq!((counts.segments, counts.retransmissions, counts.fast, counts.recoveries), (7, 1, 1, 1));
    assert_eq!((counts.lost, counts.spurious, counts.timeouts, counts.duplicate_acks), (1, 0, 0, 4));
    assert_eq!(seen.losses, [2]);
    assert_eq!(seen.acked_bytes, 6000);
    // Numbers wrap in the third segment. Samples: of segment 0, and of those that SACK reports; 40 ms each.
    assert_eq!((seen.rtt_min_s, seen.rtt_max_s), (Some(0.04), Some(0.04)));
    assert_eq!(seen.in_flight_max_bytes, 6000);
    assert_eq!(seen.goodput_bps, Some(8.0 * 6000.0 / 0.085));
    let [repair] = seen.repairs[..] else { panic!("{:?}", seen.repairs) };
    assert_eq!((repair.kind, repair.spurious, repair.segments), (Kind::Fast, false, 1));
    // 6 segments after 5 ms; one less at 140 ms and with each SACK; the hole until the end, sent twice and counted once.
    let area = 1.0 + 2.0 + 3.0 + 4.0 + 5.0 + 35.0 * 6.0 + 2.0 * 5.0 + 4.0 + 3.0 + 2.0 + 40.0;
    assert!((seen.in_flight_mean_bytes - 1000.0 * area / 85.0).abs() < 1e-6, "{}", seen.in_flight_mean_bytes);
}

#[test]
fn a_retransmission_after_a_silence_is_a_timeout_and_those_after_it_belong_to_it() {
    let mut packets: Vec<TcpHeader> = (0..3).map(|number| data(100.0, number)).collect();
    packets.extend([ack(140.0, 1, &[]), data(400.0, 1), ack(440.0, 2, &[]), data(440.1, 2), ack(480.0, 3, &[])]);
    let counts = look(packets).counts;
    assert_eq!((counts.timeouts, counts.after_timeout, counts.fast, counts.recoveries), (1, 1, 0, 0));
    assert_eq!((counts.lost, counts.retransmissions), (2, 2));
}

#[test]
fn a_probe_of_the_last_segment_is_neither() {
    let packets = [data(100.0, 0), data(100.0, 1), ack(140.0, 1, &[]), data(200.0, 1), ack(240.0, 2, &[])];
    let counts = look(packets).counts;
    assert_eq!((counts.probes, counts.timeouts, counts.lost), (1, 0, 1));
}

#[test]
fn a_d_sack_makes_a_retransmission_spurious_and_its_original_not_lost() {
    let mut packets = one_loss();
    // The original was late: its ACK comes, and the copy is reported (RFC 2883).
    packets.extend([data(144.5, 1), ack(181.0, 6, &[]), ack(184.5, 6, &[(1, 2)])]);
    let seen = look(packets);
    assert_eq!((seen.counts.spurious, seen.counts.lost, seen.counts.retransmissions), (1, 0, 1));
    assert!(seen.losses.is_empty() && seen.repairs[0].spurious);
}

#[test]
fn an_echo_of_an_older_clock_makes_it_spurious_and_that_of_the_copy_does_not() {
    let stamped = |header: TcpHeader, clock, echo| TcpHeader { timestamps: Some((clock, echo)), ..header };
    for (echo, spurious) in [(100, 1), (171, 0)] {
        // 30 ms after the copy, longer than the least RTT of 20 ms: the clock decides.
        let packets = [
            stamped(data(100.0, 0), 100, 0),
            stamped(ack(140.0, 1, &[]), 9, 100),
            stamped(data(141.0, 1), 100, 9),
            stamped(data(142.0, 2), 100, 9),
            stamped(ack(162.0, 1, &[(2, 3)]), 9, 100),
            stamped(data(171.0, 1), 171, 9),
            stamped(ack(201.0, 3, &[]), 9, echo),
        ];
        let mut headers = handshake(40.0, 0.01);
        // 1000 bytes, and 12 of the option.
        headers[0].mss = Some(1012);
        headers.extend(packets);
        let counts = observe(&headers, 10).unwrap().counts;
        assert_eq!((counts.spurious, counts.lost), (spurious, 1 - spurious), "echo of {echo}");
    }
}

#[test]
fn at_the_receiver_a_gap_is_a_loss_and_a_late_segment_is_not() {
    // Packets take 20 ms to the receiver; ACKs leave it at once, and what they let out comes 40 ms later.
    let mut headers = handshake(0.01, 40.0);
    let numbers = [0, 2, 3, 5, 4];
    headers.extend(numbers.iter().zip(0..).map(|(number, ms)| data(100.0 + f64::from(ms), *number)));
    headers.extend([ack(100.1, 1, &[]), ack(101.1, 1, &[(2, 3)]), ack(104.1, 1, &[(2, 6)])]);
    headers.extend([data(145.0, 1), ack(145.1, 6, &[])]);
    headers.sort_by_key(|header| header.time);
    let seen = observe(&headers, 10).unwrap();
    assert_eq!(seen.place.vantage, Vantage::Receiver);
    assert_eq!((seen.place.to_sender_s * 1e3).round(), 40.0);
    let counts = &seen.counts;
    assert_eq!((counts.retransmissions, counts.lost, counts.reordered, counts.not_captured), (1, 1, 1, 0));
    assert_eq!(seen.losses, [2]);
    // ACKs come to the sender 40 ms later, compared with when its data pass here.
    assert!((seen.rtt_min_s.unwrap() - 0.0401).abs() < 1e-8, "{:?}", seen.rtt_min_s);
}

#[test]
fn segments_of_offload_count_as_segments_of_an_mss() {
    let packets = [bytes(100.0, 0, 3500), ack(140.0, 3, &[]), bytes(141.0, 3500, 1500), ack(181.0, 5, &[])];
    let seen = look(packets);
    assert_eq!((seen.mss, seen.counts.segments), (1000, 6));
    assert_eq!(seen.acked_bytes, 5000);
}

#[test]
fn what_was_acknowledged_and_not_seen_is_counted() {
    let seen = look([data(100.0, 0), data(101.0, 2), ack(141.0, 3, &[]), data(142.0, 3), ack(182.0, 5, &[])]);
    assert_eq!((seen.counts.not_captured, seen.counts.lost, seen.counts.segments), (2, 0, 5));
}

#[test]
fn a_gap_is_one_piece_however_long_it_is() {
    const FAR: u32 = 1_000_000;
    // A gigabyte is not in the capture, but for segment 3, which was lost and comes later, and the last one.
    let packets = [
        data(100.0, 0),
        data(101.0, FAR),
        ack(141.0, 1, &[(FAR, FAR + 1)]),
        ack(142.0, 3, &[(4, 6), (FAR, FAR + 1)]),
        data(143.0, 3),
        ack(183.0, FAR + 1, &[]),
    ];
    let seen = look(packets);
    let counts = &seen.counts;
    assert_eq!((counts.segments, counts.retransmissions), (u64::from(FAR) + 2, 1));
    // All but segments 0, 3 and the last one.
    assert_eq!(counts.not_captured, u64::from(FAR) - 2);
    assert_eq!((seen.losses, counts.fast, seen.acked_bytes), (vec![4], 1, 1000 * u64::from(FAR + 1)));
    // Two segments are acknowledged cumulatively and two selectively, beside segment 0 and the last one.
    let peak = u64::from(FAR + 1) * 1000;
    assert_eq!(seen.in_flight_max_bytes, peak);
}

#[test]
fn acks_before_the_first_data_say_nothing() {
    let seen = look([ack(60.0, 2, &[]), data(100.0, 2), data(101.0, 3), ack(141.0, 4, &[]), ack(142.0, 4, &[])]);
    assert_eq!((seen.acked_until_s, seen.duration_s), (0.041, 0.042));
    assert_eq!((seen.counts.not_captured, seen.counts.segments), (2, 4));
}

#[test]
fn lengths_and_options_that_contradict_each_other_are_refused() {
    let syn = TcpHeader { mss: Some(48), ..handshake(40.0, 0.01)[0] };
    let mut headers = vec![syn, bytes(100.0, 0, u32::MAX / 4), bytes(200.0, 0, u32::MAX / 4), ack(240.0, 1, &[])];
    assert_eq!(observe(&headers, 10), Err(NoFlow::TooMany));
    // An MSS that no stack uses is none.
    headers = handshake(40.0, 0.01);
    headers[0].mss = Some(1);
    headers.extend([bytes(100.0, 0, 3000), ack(140.0, 3, &[])]);
    assert_eq!(observe(&headers, 10).unwrap().mss, 1460);
}

#[test]
fn a_keep_alive_is_no_retransmission() {
    let seen = look([data(100.0, 0), ack(140.0, 1, &[]), bytes(5000.0, 999, 1), ack(5040.0, 1, &[])]);
    assert_eq!((seen.counts.retransmissions, seen.counts.segments), (0, 1));
}

#[test]
fn a_window_of_the_receiver_that_is_full_is_told() {
    // 16 units of 2^7 bytes hold two segments, and no third.
    let small = |header: TcpHeader| TcpHeader { window: 16, ..header };
    let mut headers = handshake(40.0, 0.01);
    headers[1].window = 60_000;
    headers.extend([data(100.0, 0), data(100.0, 1), small(ack(140.0, 1, &[])), data(140.0, 2)]);
    headers.extend([small(ack(180.0, 3, &[]))]);
    let seen = observe(&headers, 10).unwrap();
    // Of 80 ms, the first 40 without a window that is known to be full.
    assert_eq!(seen.receiver_limited, Some(0.5));
}

#[test]
fn without_data_or_acks_nothing_is_said() {
    assert_eq!(observe(&handshake(40.0, 0.01), 10), Err(NoFlow::NoData));
    assert_eq!(observe(&[data(1.0, 0)], 10), Err(NoFlow::NoAcks));
    assert_eq!(observe(&[], 10), Err(NoFlow::NoData));
}

#[test]
fn the_peak_rate_is_that_of_the_fastest_span_that_is_long_enough() {
    let delivered = [(at(0.0), 0), (at(100.0), 1000), (at(150.0), 9000), (at(250.0), 10_000), (at(300.0), 10_100)];
    // From 100 to 250 ms, 9000 bytes; 8000 in 50 ms are too short a time.
    assert_eq!(peak_rate(&delivered, Duration::from_millis(100)), Some(8.0 * 9000.0 / 0.15));
    assert_eq!(peak_rate(&delivered, Duration::from_millis(400)), None);
}
