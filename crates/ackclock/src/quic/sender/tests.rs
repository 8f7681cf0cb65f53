//! Hand-computed exchanges of RFC 9002: packets of 1000 bytes, Reno, a maximum ACK delay of 25 ms.

mod repairs;

use super::*;
use crate::cc::{CaState, CcSpec, CongestionControl, Phase};
use crate::quic::packet::{DataPacket, EcnCounts};
use crate::transport::Pacing;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn us(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

/// A sender with an initial window of ten packets whose handshake took 100 ms.
fn sender(change: impl FnOnce(&mut Transport)) -> Sender {
    sender_of("reno", change)
}

fn sender_of(cc: &str, change: impl FnOnce(&mut Transport)) -> Sender {
    let ms = Duration::from_millis;
    let mut transport = Transport {
        protocol: crate::transport::Protocol::Quic,
        mss: 1000,
        delayed_ack: Some(ms(25)),
        handshake_rtt: ms(100),
        initial_rto: ms(999),
        idle_restart: false,
        ..Transport::default()
    };
    change(&mut transport);
    let context = transport.cc_context(crate::cc::CcContext::new(10.0), 0);
    let mut sender = Sender::new(transport, CcSpec::by_name(cc).unwrap().build(context));
    sender.open(Instant::ZERO);
    sender
}

fn bulk(change: impl FnOnce(&mut Transport)) -> Sender {
    let mut sender = sender(change);
    sender.write_forever();
    sender
}

/// Everything that may leave now: numbers and offsets in packets, and whether it was sent before.
fn send(sender: &mut Sender, now: Instant) -> Vec<(u64, u64, bool)> {
    let mut sent = Vec::new();
    loop {
        let again = sender.counters().retransmits;
        let Some(DataPacket { number, offset, .. }) = sender.poll_transmit(now) else { return sent };
        sent.push((number, offset / 1000, sender.counters().retransmits > again));
    }
}

fn numbers(sent: &[(u64, u64, bool)]) -> Vec<u64> {
    sent.iter().map(|(number, ..)| *number).collect()
}

/// An ACK of these ranges, the newest first, without a delay.
fn ack(sender: &mut Sender, now: Instant, ranges: &[(u64, u64)]) {
    ack_with(sender, now, ranges, Duration::ZERO, None);
}

fn ack_with(sender: &mut Sender, now: Instant, ranges: &[(u64, u64)], delay: Duration, ecn: Option<EcnCounts>) {
    let largest = ranges[0].1 - 1;
    sender.on_ack(now, &AckPacket { connection: 0, number: 0, largest, delay, ecn, more_len: 0 }, ranges);
}

/// RFC 9002 §6.1.1 and §6.1.2, §7.3.2.
#[test]
fn losses_are_found_by_packets_and_then_by_time() {
    let mut it = bulk(|_| {});
    assert_eq!(numbers(&send(&mut it, ms(0))), (0..10).collect::<Vec<_>>());
    ack(&mut it, ms(100), &[(3, 4)]);
    // 3 >= 0 + kPacketThreshold; 1 and 2 wait for 9/8 of 100 ms. Half of ten packets remain.
    assert_eq!((it.cwnd(), it.in_flight(), it.phase()), (5.0, 8, Phase::FastRecovery));
    assert_eq!(it.info().timer, Some((Timer::Reordering, us(112_500))));
    // "A single packet can be sent": the lost frame, under a new number.
    assert_eq!(send(&mut it, ms(100)), [(10, 0, true)]);
    it.on_deadline(us(112_500));
    assert_eq!((it.in_flight(), it.counters().congestion_events), (7, 1));
    // No packet threshold for the eight others: they were sent later than the largest acknowledged.
    assert_eq!(send(&mut it, us(112_500)), []);
    ack(&mut it, ms(113), &[(3, 10)]);
    // 4 to 9 are new; what was sent before the period lets nothing grow. 1 and 2 leave, and new data.
    assert_eq!((it.cwnd(), it.in_flight()), (5.0, 1));
    assert_eq!(send(&mut it, ms(113)), [(11, 1, true), (12, 2, true), (13, 10, false), (14, 11, false)]);
    // 10 was sent in the period: it ends, and its packet counts: 5 + 1/5.
    ack(&mut it, ms(200), &[(3, 11)]);
    assert_eq!((it.cwnd(), it.phase()), (5.2, Phase::CongestionAvoidance));
    assert_eq!(it.acknowledged(), 1000);
    ack(&mut it, ms(213), &[(3, 15)]);
    assert_eq!((it.acknowledged(), it.counters().retransmits), (12_000, 3));
}

/// RFC 9002 §7.3.2: "a sender that is already in a recovery period stays in it and does not reenter it".
#[test]
fn a_period_has_one_reduction_and_losses_after_it_begin_another() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(3, 4)]);
    ack(&mut it, ms(101), &[(6, 7), (3, 4)]);
    assert_eq!((it.cwnd(), it.counters().congestion_events), (5.0, 1), "1, 2 and 3 were sent before the period");
    send(&mut it, ms(101));
    ack(&mut it, ms(102), &[(6, 10), (3, 4)]);
    // In flight is packet 10 alone: 1, 2, 4 and 5 are lost, and four leave again as 11 to 14.
    assert_eq!(numbers(&send(&mut it, ms(102))), [11, 12, 13, 14]);
    ack(&mut it, ms(202), &[(14, 15), (6, 10), (3, 4)]);
    // 14 ends the period and shows 10 and 11 to be lost, which were sent in it.
    assert_eq!((it.counters().congestion_events, it.phase()), (2, Phase::FastRecovery));
    assert!((it.cwnd() - 2.5).abs() < 1e-12, "{}", it.cwnd());
}

/// RFC 9002 §6.2.1 and §6.2.4: PTO = 100 + 4 x 50 + 25 ms.
#[test]
fn the_probe_timeout_sends_two_packets_and_backs_off() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    assert_eq!(it.info().timer, Some((Timer::Probe, ms(325))));
    it.on_deadline(ms(325));
    assert_eq!(send(&mut it, ms(325)), [(10, 10, false), (11, 11, false)], "whatever the window says");
    assert_eq!((it.cwnd(), it.in_flight(), it.info().state), (10.0, 12, CaState::Loss));
    assert_eq!((it.next_deadline(), it.counters().timeouts), (Some(ms(325 + 650)), 1));
    it.on_deadline(ms(975));
    send(&mut it, ms(975));
    assert_eq!(it.next_deadline(), Some(ms(975 + 1300)));
    // "The PTO backoff factor is reset when an acknowledgment is received": 7/8 x 100 + 1/8 x 100, 3/4 x 50, 25 ms; of 0 to 12 nothing
    // is lost.
    ack(&mut it, ms(1075), &[(0, 13)]);
    assert_eq!((it.info().backoff, it.pto()), (0, Duration::from_millis(100 + 150 + 25)));
    assert_eq!((it.counters().congestion_events, it.in_flight()), (0, 1));
}

#[test]
fn probes_repeat_what_is_in_flight_where_there_is_nothing_new() {
    let mut it = sender(|_| {});
    it.write(ms(0), 3000);
    send(&mut it, ms(0));
    it.on_deadline(ms(325));
    assert_eq!(send(&mut it, ms(325)), [(3, 0, true), (4, 1, true)]);
    ack(&mut it, ms(425), &[(3, 5)]);
    assert_eq!((it.acknowledged(), it.is_done()), (2000, false));
    // 0 and 1 are lost, but delivered; 2 is lost by time, and sent again.
    assert_eq!(send(&mut it, ms(425)), [(5, 2, true)]);
    ack(&mut it, ms(525), &[(3, 6)]);
    assert!(it.is_done() && it.in_flight() == 0 && it.next_deadline().is_none());
}

/// RFC 9002 §6.2.4: lost data may be "retransmitted in a new packet, and then the original transmission is
/// acknowledged".
#[test]
fn a_probe_without_data_is_a_ping() {
    let mut it = sender(|_| {});
    it.write(ms(0), 4000);
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(3, 4)]);
    assert_eq!(send(&mut it, ms(100)), [(4, 0, true)]);
    ack(&mut it, ms(101), &[(0, 4)]);
    assert_eq!((it.is_done(), it.in_flight()), (true, 1));
    let due = it.next_deadline().unwrap();
    it.on_deadline(due);
    let ping = it.poll_transmit(due).unwrap();
    assert_eq!((ping.number, ping.len, it.poll_transmit(due)), (5, 0, None));
}

/// RFC 9002 §5.3, with RFC 6298's numbers: 100 ms, then 130 ms, which include a receiver delay of 20 ms.
#[test]
fn the_delay_of_the_receiver_is_taken_off_within_bounds() {
    let after = |rtt, delay| {
        let mut it = bulk(|_| {});
        send(&mut it, ms(0));
        ack_with(&mut it, ms(rtt), &[(0, 1)], Duration::from_millis(delay), None);
        (it.rtt().srtt().as_nanos() / 1000, it.rtt().rttvar().as_nanos() / 1000)
    };
    // 7/8 x 100 + 110/8; 3/4 x 50 + 10/4.
    assert_eq!(after(130, 20), (101_250, 40_000));
    // No more than max_ack_delay: 105.
    assert_eq!(after(130, 90), (100_625, 38_750));
    // 110 - 20 would be below the smallest: 110.
    assert_eq!(after(110, 20), (101_250, 40_000));
    // The first sample of all is taken as it is.
    let mut it = bulk(|transport| transport.handshake_rtt = Duration::ZERO);
    send(&mut it, ms(0));
    assert_eq!(it.next_deadline(), Some(ms(999)));
    ack_with(&mut it, ms(80), &[(0, 1)], Duration::from_millis(20), None);
    assert_eq!((it.rtt().srtt(), it.rtt().rttvar()), (Duration::from_millis(80), Duration::from_millis(40)));
    // RFC 9002 §5.1: an ACK whose largest number is not new is no sample.
    ack_with(&mut it, ms(300), &[(0, 1)], Duration::ZERO, None);
    assert_eq!(it.rtt().totals().1, 1);
}

/// RFC 9002 §7.6: after two samples of 100 ms the duration is `3 x (100 + 4 x 28.125 + 25) ms`, or 712.5 ms.
#[test]
fn losses_far_apart_leave_the_minimum_window() {
    let spread = |millis: u64, acked_between: bool| {
        let mut it = sender(|_| {});
        let one = |it: &mut Sender, at: Instant, packets: u64| {
            it.write(at, 1000 * packets);
            send(it, at)
        };
        one(&mut it, ms(0), 1);
        ack(&mut it, ms(100), &[(0, 1)]);
        one(&mut it, ms(100), 1);
        let last = ms(100 + millis);
        if acked_between {
            one(&mut it, ms(500), 1);
            ack(&mut it, ms(600), &[(2, 3), (0, 1)]);
        }
        let sent = one(&mut it, last, 4);
        let newest = sent.last().unwrap().0;
        ack(&mut it, last + Duration::from_millis(100), &[(newest, newest + 1)]);
        (it.cwnd(), it.cc().ssthresh())
    };
    assert_eq!(spread(712, false), (5.0, 5.0));
    assert_eq!(spread(713, false), (2.0, 5.0), "slow start up to what the loss has left");
    // "None of the packets sent between the send times of these two packets are acknowledged".
    let (cwnd, _) = spread(2000, true);
    assert!(cwnd > 2.0, "{cwnd}");
}

/// RFC 9002 §7.6.2: a late acknowledgement of a packet between two losses also disproves persistent congestion. The
/// duration is 712.5 ms, as above.
#[test]
fn a_late_acknowledgement_between_losses_tells_them_apart() {
    let after = |undo, late: Option<u64>| {
        let mut it = sender(|transport| transport.undo = undo);
        for (number, at) in [0, 100, 300, 500].into_iter().enumerate() {
            it.write(ms(at), 1000);
            assert_eq!(numbers(&send(&mut it, ms(at))), [number as u64]);
            if number == 0 {
                ack(&mut it, ms(100), &[(0, 1)]);
            }
        }
        it.write(ms(900), 2000);
        assert_eq!(numbers(&send(&mut it, ms(900))), [4, 5]);
        ack(&mut it, ms(1000), &[(5, 6), (0, 1)]);
        assert_eq!((it.losses(), it.cwnd()), (3, 5.0), "1 and 3 lie 400 ms apart");
        if let Some(late) = late {
            ack(&mut it, ms(1005), &[(5, 6), (late, late + 1), (0, 1)]);
        }
        it.on_deadline(us(1_012_500));
        assert_eq!(it.losses(), 4);
        it.cwnd()
    };
    for undo in [Undo::None, Undo::LateAcks] {
        let after = |late| after(undo, late);
        assert_eq!(after(None), 2.0, "1 and 4 lie 800 ms apart");
        assert_eq!(after(Some(2)), 5.0, "3 and 4 lie 400 ms apart");
        assert_eq!(after(Some(3)), 5.0, "4 is alone");
    }
}

/// RFC 9002 §7.1, §B.7: marks are congestion once per recovery period, and losses in it are not a second event.
#[test]
fn marks_reduce_the_window_once_per_period() {
    let mut it = bulk(|transport| transport.ecn = EcnMode::Counts);
    let counted = |it: &mut Sender, at, ranges: &[(u64, u64)], ect0, ce| {
        ack_with(it, at, ranges, Duration::ZERO, Some(EcnCounts { ect0, ect1: 0, ce }));
    };
    assert!(it.poll_transmit(ms(0)).unwrap().ect);
    send(&mut it, ms(0));
    counted(&mut it, ms(100), &[(0, 2)], 1, 1);
    assert_eq!((it.cwnd(), it.info().state, it.counters().ecn_events), (5.0, CaState::Cwr, 1));
    counted(&mut it, ms(101), &[(0, 4)], 2, 2);
    assert_eq!((it.cwnd(), it.counters().ce_reported), (5.0, 2));
    counted(&mut it, ms(102), &[(7, 8), (0, 4)], 3, 2);
    assert_eq!((it.cwnd(), it.info().state, it.counters().congestion_events), (5.0, CaState::Recovery, 1));
    // An older ACK that comes late is not judged by its counts (RFC 9000 §13.4.2.1).
    counted(&mut it, ms(103), &[(5, 6)], 0, 0);
    assert!(send(&mut it, ms(104)).len() > 1 && it.own.ecn.is_on());
    // One that acknowledges new packets without counting them is.
    counted(&mut it, ms(200), &[(7, 10)], 3, 2);
    assert!(!it.own.ecn.is_on() && !it.poll_transmit(ms(200)).unwrap().ect);
}

/// RFC 9002 §7.8: a window that is not full stays as it is, unless pacing limits the sender.
#[test]
fn a_window_grows_while_it_or_the_pacer_limits() {
    let grown = |bytes: Option<u64>, pacing| {
        let mut it = sender(|transport| transport.pacing = pacing);
        match bytes {
            None => it.write_forever(),
            Some(bytes) => it.write(ms(0), bytes),
        }
        let sent = send(&mut it, ms(0)).len() as u64;
        ack(&mut it, ms(100), &[(0, sent.min(2))]);
        (sent, it.cwnd())
    };
    assert_eq!(grown(None, Pacing::Off), (10, 12.0));
    assert_eq!(grown(Some(9000), Pacing::Off), (9, 10.0));
    // A whole window, and nothing behind it.
    assert_eq!(grown(Some(10_000), Pacing::Off), (10, 12.0));
    // Two packets leave as one burst, and the others are held back.
    let (sent, cwnd) = grown(None, Pacing::Quic);
    assert!(sent < 10 && cwnd == 12.0, "{sent} {cwnd}");
}

/// RFC 9002 §7.7: interval = 100 ms / 10 packets / 1.25 = 8 ms.
#[test]
fn packets_are_paced() {
    let mut it = bulk(|transport| transport.pacing = Pacing::Quic);
    let burst = send(&mut it, ms(0)).len() as u64;
    assert_eq!(burst, 2);
    assert_eq!(it.info().timer, Some((Timer::Pacing, ms(16))));
    it.on_deadline(ms(16));
    assert_eq!(send(&mut it, ms(16)).len(), 2);
}

#[test]
fn late_acknowledgements_of_all_losses_undo_the_event() {
    let after = |undo, late: &[(u64, u64)]| {
        let mut it = bulk(|transport| transport.undo = undo);
        send(&mut it, ms(0));
        ack(&mut it, ms(100), &[(4, 5)]);
        assert_eq!(it.cwnd(), 5.0, "0 and 1 are lost");
        ack(&mut it, ms(105), late);
        (it.counters().undos, it.cwnd() > 5.0, it.phase() == Phase::FastRecovery)
    };
    assert_eq!(after(Undo::LateAcks, &[(4, 5), (0, 2)]), (1, true, false));
    assert_eq!(after(Undo::LateAcks, &[(4, 5), (0, 1)]), (0, false, true));
    assert_eq!(after(Undo::None, &[(4, 5), (0, 2)]), (0, false, true));
}

#[test]
fn what_comes_late_is_not_sent_again() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(4, 5)]);
    ack(&mut it, ms(105), &[(4, 5), (0, 2)]);
    ack(&mut it, ms(106), &[(2, 10), (0, 2)]);
    let sent = send(&mut it, ms(106));
    assert!(sent.iter().all(|(_, _, again)| !again), "{sent:?}");
    assert_eq!(it.acknowledged(), 10_000);
}

#[test]
fn the_window_of_the_receiver_bounds_what_is_sent() {
    let mut it = bulk(|transport| transport.max_window = Some(4));
    assert_eq!(send(&mut it, ms(0)).len(), 4);
    ack(&mut it, ms(100), &[(0, 2)]);
    assert_eq!((it.cwnd(), send(&mut it, ms(100)).len()), (10.0, 2));
}

#[test]
fn what_was_never_sent_is_discarded_when_the_application_stops() {
    let mut it = bulk(|_| {});
    assert_eq!(send(&mut it, ms(0)).len(), 10);
    it.stop_writing();
    ack(&mut it, ms(100), &[(0, 10)]);
    assert_eq!((send(&mut it, ms(100)), it.is_done()), (vec![], true));
}

#[test]
fn a_probe_timeout_is_a_phase_until_an_acknowledgement() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    let (timer, at) = it.info().timer.expect("something is in flight");
    assert_eq!(timer, Timer::Probe);
    it.on_deadline(at);
    assert_eq!(it.phase(), Phase::RtoRecovery);
    ack(&mut it, at + Duration::from_millis(100), &[(0, 10)]);
    assert_eq!(it.phase(), Phase::SlowStart);
}
