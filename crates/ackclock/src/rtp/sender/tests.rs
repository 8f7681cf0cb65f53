//! Frames, windows, reports and silence of the sender.

use super::*;
use crate::cc::{CcContext, CcSpec, CongestionControl, Phase};
use crate::rtp::Receiver;
use crate::transport::{Pacing, Profile, TransportKeys};

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn transport(change: impl FnOnce(&mut Transport)) -> Transport {
    let mut transport = TransportKeys { profile: Profile::Rtp, ..Profile::Rtp.keys() }.transport(Default::default());
    (transport.mss, transport.pacing) = (1000, Pacing::Off);
    change(&mut transport);
    transport
}

/// A sender with a window of four packets, and its receiver.
fn pair(change: impl FnOnce(&mut Transport)) -> (Sender, Receiver) {
    let transport = transport(change);
    let cc = CcSpec::by_name("reno").unwrap().build(CcContext { mss: 1000, ..CcContext::new(4.0) });
    let receiver = Receiver::new(&transport);
    let mut sender = Sender::new(transport, cc);
    sender.open(ms(0));
    (sender, receiver)
}

fn send_all(sender: &mut Sender, now: Instant) -> Vec<DataPacket> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// All of these packets arrive, and their feedback comes back at once.
fn arrive(sender: &mut Sender, receiver: &mut Receiver, now: Instant, packets: &[DataPacket]) {
    for packet in packets {
        if let Some(feedback) = receiver.on_data(now, packet, Ecn::NotEct) {
            sender.on_feedback(now, &feedback, receiver.ranges());
        }
    }
}

#[test]
fn packets_belong_to_one_frame_and_the_last_one_has_the_marker() {
    let (mut sender, _) = pair(|_| {});
    sender.write(ms(0), 1500);
    sender.write(ms(0), 300);
    let packets = send_all(&mut sender, ms(0));
    let shape: Vec<_> = packets.iter().map(|packet| (packet.offset, packet.len, packet.is_marker)).collect();
    assert_eq!(shape, [(0, 1000, false), (1000, 500, true), (1500, 300, true)]);
    assert_eq!((sender.sent_once(), sender.in_flight(), sender.is_done()), (1800, 3, false));
}

#[test]
fn the_window_counts_bytes() {
    let (mut sender, mut receiver) = pair(|_| {});
    // Eight frames of 500 bytes fit four segments of 1000.
    (0..12).for_each(|_| sender.write(ms(0), 500));
    let packets = send_all(&mut sender, ms(0));
    assert_eq!(packets.len(), 8);
    arrive(&mut sender, &mut receiver, ms(50), &packets[..2]);
    assert_eq!((sender.in_flight(), sender.rtt().latest()), (6, Duration::from_millis(50)));
    // Slow start adds what arrived: 5 segments, of which 3 are in flight.
    assert_eq!(send_all(&mut sender, ms(50)).len(), 4);
}

#[test]
fn nothing_is_sent_again() {
    let (mut sender, mut receiver) = pair(|_| {});
    (0..8).for_each(|_| sender.write(ms(0), 500));
    let packets = send_all(&mut sender, ms(0));
    // Packet 0 is lost: packet 3 shows it by its number.
    arrive(&mut sender, &mut receiver, ms(50), &packets[1..4]);
    assert_eq!((sender.losses(), sender.counters().congestion_events, sender.in_flight()), (1, 1, 4));
    assert_eq!((sender.phase(), sender.cc().ssthresh()), (Phase::FastRecovery, 2.5));
    arrive(&mut sender, &mut receiver, ms(50), &packets[4..]);
    sender.write(ms(60), 500);
    let next = send_all(&mut sender, ms(60));
    assert_eq!((next.len(), next[0].number, next[0].offset), (1, 8, 4000));
    arrive(&mut sender, &mut receiver, ms(110), &next);
    assert_eq!((sender.phase(), sender.counters().retransmits), (Phase::CongestionAvoidance, 0));
    sender.close();
    assert_eq!((sender.is_done(), sender.acknowledged(), receiver.delivered()), (true, 4500, 4000));
}

#[test]
fn a_mark_is_one_congestion_event_per_window() {
    let (mut sender, mut receiver) = pair(|transport| transport.ecn = EcnMode::Counts);
    (0..4).for_each(|_| sender.write(ms(0), 1000));
    let packets = send_all(&mut sender, ms(0));
    assert!(packets.iter().all(|packet| packet.ect));
    for packet in &packets {
        let feedback = receiver.on_data(ms(50), packet, Ecn::Ce).unwrap();
        sender.on_feedback(ms(50), &feedback, receiver.ranges());
    }
    let counters = sender.counters();
    assert_eq!((counters.ce_reported, counters.ecn_events, counters.congestion_events), (4, 1, 1));
}

#[test]
fn without_feedback_all_packets_are_lost() {
    let (mut sender, mut receiver) = pair(|_| {});
    sender.write(ms(0), 1000);
    let packets = send_all(&mut sender, ms(0));
    arrive(&mut sender, &mut receiver, ms(50), &packets);
    (0..4).for_each(|_| sender.write(ms(100), 1000));
    send_all(&mut sender, ms(100));
    // Three probe timeouts: 50 ms, 4 times 25 ms, and 40 ms of feedback delay.
    let silence = Duration::from_millis(3 * 190);
    assert_eq!(sender.next_deadline(), Some(ms(100) + silence));
    sender.on_deadline(ms(100) + silence);
    assert_eq!((sender.in_flight(), sender.losses(), sender.counters().timeouts), (0, 4, 1));
    assert_eq!((sender.cwnd(), sender.phase(), sender.next_deadline()), (1.0, Phase::RtoRecovery, None));
    // The time doubles until feedback comes.
    sender.write(ms(1000), 1000);
    let packets = send_all(&mut sender, ms(1000));
    assert_eq!(sender.next_deadline(), Some(ms(1000) + silence * 2));
    arrive(&mut sender, &mut receiver, ms(1050), &packets);
    assert_eq!((sender.info().backoff, sender.next_deadline()), (0, None));
}

#[test]
fn reports_have_times_of_the_receiver() {
    let (mut sender, mut receiver) = pair(|_| {});
    sender.write(ms(0), 1500);
    let packets = send_all(&mut sender, ms(0));
    assert!(receiver.on_data(ms(20), &packets[0], Ecn::NotEct).is_none());
    let feedback = receiver.on_data(ms(30), &packets[1], Ecn::Ce).unwrap();
    sender.on_feedback(ms(50), &feedback, receiver.ranges());
    let reports = &sender.own.reports;
    let seen: Vec<_> = reports.iter().map(|report| (report.number, report.bytes, report.is_marked)).collect();
    assert_eq!(seen, [(0, 1000, false), (1, 500, true)]);
    // 10 ms are 10.24 / 1024 s, and the time of the report has a resolution of 15 microseconds.
    let micros = |report: &PacketReport| report.arrived_at.as_nanos() / 1000;
    assert!((20_210..20_235).contains(&micros(&reports[0])) && (29_984..=30_000).contains(&micros(&reports[1])));
    assert_eq!(sender.rtt().latest(), Duration::from_millis(50));
}
