//! The repair of losses, which outlasts the recovery periods of RFC 9002, and the order in which lost data leave.

use super::*;

/// Everything that may leave before `until`, while nothing arrives: the numbers.
fn send_until(it: &mut Sender, now: Instant, until: Instant) -> Vec<u64> {
    let mut sent = numbers(&send(it, now));
    while let Some(at) = it.next_deadline().filter(|at| *at < until) {
        it.on_deadline(at);
        sent.extend(numbers(&send(it, at)));
    }
    sent
}

/// Packet 0 is acknowledged, and all later packets are lost, including probes, until a probe of the third timeout
/// arrives. PTO = 100 + 4 x 37.5 + 25 ms, so the second one expires 825 ms after the last data. Returns the sender,
/// and the probe with the time of its ACK.
fn collapsed(cc: &str) -> (Sender, Instant, u64) {
    let mut it = sender_of(cc, |_| {});
    it.write_forever();
    send_until(&mut it, ms(0), ms(100));
    ack(&mut it, ms(100), &[(0, 1)]);
    let (mut at, mut last) = (ms(100), send(&mut it, ms(100)));
    while it.counters().timeouts < 3 {
        at = it.next_deadline().expect("a timer runs");
        it.on_deadline(at);
        let sent = send(&mut it, at);
        last = if sent.is_empty() { last } else { sent };
    }
    (it, at + Duration::from_millis(100), last[last.len() - 1].0)
}

/// RFC 9002 §7.3.2: each consecutive period is a reduction, and all of them are one repair.
#[test]
fn losses_of_each_round_are_one_repair() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(3, 10)]);
    assert_eq!(it.info().state, CaState::Recovery, "0, 1 and 2 are lost");
    assert_eq!(numbers(&send(&mut it, ms(100))), [10, 11, 12, 13, 14]);
    // 14 was sent in the period and ends it; 10 and 11 begin the next one.
    ack(&mut it, ms(200), &[(14, 15), (3, 10)]);
    assert_eq!((it.counters().congestion_events, it.info().state), (2, CaState::Recovery));
    assert_eq!(numbers(&send(&mut it, ms(200))), [15]);
    // 15 was sent behind the last loss, and nothing else is missing.
    ack(&mut it, ms(300), &[(12, 16), (3, 10)]);
    assert_eq!((it.counters().congestion_events, it.info().state), (2, CaState::Open));
}

#[test]
fn a_loss_in_a_repair_moves_its_end() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(3, 4)]);
    assert_eq!(numbers(&send(&mut it, ms(100))), [10]);
    // 1 and 2 are lost by time, in the same period; packet 10 has left before.
    it.on_deadline(us(112_500));
    ack(&mut it, ms(200), &[(3, 11)]);
    assert_eq!((it.phase(), it.info().state), (Phase::CongestionAvoidance, CaState::Recovery));
    assert_eq!(numbers(&send(&mut it, ms(200)))[0], 11);
    ack(&mut it, ms(300), &[(3, 12)]);
    assert_eq!(it.info().state, CaState::Open);
}

/// RFC 9002 §7.6.2: for every algorithm "the sender's congestion window MUST be reduced to the minimum congestion
/// window (kMinimumWindow)".
#[test]
fn persistent_congestion_leaves_two_packets_to_each_algorithm() {
    for cc in ["reno", "cubic", "bbr1", "bbr3"] {
        let (mut it, at, probe) = collapsed(cc);
        assert!(it.cwnd() >= 10.0, "{cc}: {}", it.cwnd());
        ack(&mut it, at, &[(probe, probe + 1), (0, 1)]);
        // RFC 9002 §A.7 counts the packets of the ACK after its losses: a window rule grows by the probe.
        let left = if cc.starts_with("bbr") { 2.0 } else { 3.0 };
        assert_eq!((it.cwnd(), it.info().state), (left, CaState::Loss), "{cc}");
    }
}

/// BBR has the window of before once all that was lost is delivered, and not with the next ACK.
#[test]
fn bbr_has_its_window_back_when_persistent_congestion_is_repaired() {
    for cc in ["bbr1", "bbr3"] {
        let (mut it, mut at, probe) = collapsed(cc);
        let before = it.cwnd();
        let (mut end, mut windows) = (probe + 1, vec![]);
        while it.info().state == CaState::Loss || windows.is_empty() {
            ack(&mut it, at, &[(probe, end), (0, 1)]);
            windows.push(it.cwnd());
            let next = at + Duration::from_millis(100);
            end = send_until(&mut it, at, next).last().map_or(end, |last| last + 1);
            at = next;
        }
        assert_eq!(windows[0], 2.0, "{cc}");
        assert!(windows.iter().filter(|window| **window < before).count() >= 2, "{cc}: {windows:?}, {before} before");
        assert!(windows.last().is_some_and(|last| *last >= before), "{cc}: {windows:?}, {before} before");
    }
}

/// RFC 9000 §13.3 leaves the order to the sender: the data for which the receiver's application waits leave first.
#[test]
fn lost_data_leave_in_the_order_of_the_stream() {
    let mut it = bulk(|_| {});
    send(&mut it, ms(0));
    ack(&mut it, ms(100), &[(3, 4)]);
    assert_eq!(send(&mut it, ms(100)), [(10, 0, true)]);
    ack(&mut it, ms(101), &[(1, 9)]);
    assert_eq!(numbers(&send(&mut it, ms(101))), [11, 12, 13]);
    // 9 is lost, and then 10, with the data of 0. One packet leaves at once.
    ack(&mut it, ms(201), &[(13, 14), (1, 9)]);
    assert_eq!(send(&mut it, ms(201)), [(14, 0, true)]);
}
