//! RACK and TLP: against the pseudo-code of RFC 8985 segment by segment, over paths that lose and reorder.

use std::collections::BTreeMap;

use super::*;
use crate::tcp::sender::fuzz::Path;
use crate::transport::{RackRtt, Reduction, Undo};

/// Numbers that look random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Nothing happens to an ACK.
fn on_time() -> Option<Duration> {
    Some(Duration::ZERO)
}

fn rack() -> Transport {
    Transport { mss: MSS as u32, rack: true, ..Transport::default() }
}

#[test]
fn losses_are_those_of_the_pseudo_code() {
    let (mut lost, mut timeouts, mut reordered) = (0, 0, 0);
    for seed in 0..60 {
        let mut draw = Draw(seed);
        let (loss, jitter) = (draw.below(12), draw.below(60) + 1);
        let mut path = Path::new(
            Transport { prr: if seed % 2 == 0 { Reduction::Proportional } else { Reduction::AtOnce }, ..rack() },
            20.0,
            400,
        );
        let fate = |_, _| {
            let is_lost = draw.below(100) < loss;
            let delay = if draw.below(10) == 0 { draw.below(jitter) } else { 0 };
            (!is_lost).then(|| Duration::from_millis(delay))
        };
        path.run(fate, on_time, |path| {
            assert_eq!(path.sender.in_flight(), path.model.pipe(), "seed {seed} at {:?}", path.now);
        });
        lost += path.sender.counters().retransmits;
        timeouts += path.sender.counters().timeouts;
        reordered += u32::from(path.model.reordering_seen);
    }
    assert!(lost > 300 && timeouts > 3 && reordered > 20, "{lost} {timeouts} {reordered}");
}

/// Retransmissions of 400 segments. Each is late by up to `late_by` ms, except the first ten. The first four arrive in
/// this order, a millisecond apart.
fn retransmits(first: [u64; 4], late_by: u64, seed: u64) -> u64 {
    let mut draw = Draw(seed);
    let mut path = Path::new(rack(), 10.0, 400);
    let fate = |_, index: u64| {
        let place = first.get(index as usize).copied().or((index < 10).then_some(index));
        let late = place.unwrap_or_else(|| draw.below(late_by + 1));
        Some(Duration::from_millis(late))
    };
    path.run(fate, on_time, |_| {});
    path.sender.counters().retransmits
}

#[test]
fn reordering_within_the_window_retransmits_nothing_once_it_has_been_seen() {
    for seed in 0..30 {
        // The second segment overtakes the first.
        assert_eq!(retransmits([1, 0, 2, 3], 24, seed), 0, "seed {seed}");
    }
    // Where none has been seen, three that overtake one make it lost.
    assert!(retransmits([3, 0, 1, 2], 0, 0) > 0);
}

#[test]
fn reordering_of_a_degree_below_three_retransmits_nothing() {
    for (rack, first) in [(true, [2, 0, 1, 3]), (false, [2, 0, 1, 3]), (true, [1, 0, 3, 2]), (false, [1, 0, 3, 2])] {
        let mut path = Path::new(Transport { rack, ..rack_off() }, 400.0, 400);
        // All leave at once; one arrives each millisecond, and each group of four in this order.
        let fate = |_, index: u64| Some(Duration::from_millis(index / 4 * 4 + first[index as usize % 4]));
        path.run(fate, on_time, |_| {});
        let counters = path.sender.counters();
        assert_eq!((counters.retransmits, counters.timeouts), (0, 0), "{rack} {first:?}");
        assert!(path.model.reordering_seen);
    }
}

#[test]
fn a_copy_that_comes_after_the_sacked_original_shows_reordering() {
    let mut tcp =
        Driven::of(Transport { dsack: true, ..rack() }, CcSpec::by_name("aimd").unwrap().build(CcContext::new(8.0)));
    tcp.sent();
    // The first two are missing, and sent again; the second one is reported after that, and once more with its copy.
    tcp.ack(0, &[(2, 6)]);
    tcp.ack(0, &[(2, 8)]);
    assert_eq!(tcp.sender.counters().retransmits, 2);
    tcp.ack(0, &[(1, 8)]);
    assert_eq!(tcp.sender.info().reorderings, 0);
    tcp.ack(0, &[(1, 2), (1, 8)]);
    let info = tcp.sender.info();
    assert_eq!((info.reorderings, info.reordering), (1, 7));
    // Of what was sent once the network made the copy.
    tcp.ack(0, &[(5, 6), (1, 8)]);
    assert_eq!(tcp.sender.info().reorderings, 1);
}

/// In Linux the ACK that ends a recovery begins the next one.
#[test]
fn a_recovery_that_ends_with_a_segment_missing_begins_again() {
    let mut tcp = Driven::of(rack(), CcSpec::by_name("aimd").unwrap().build(CcContext::new(8.0)));
    tcp.sent();
    assert!(tcp.ack(0, &[(1, 8)]).starts_with(&[0, 8]));
    // Segment 8 is lost in this recovery, as is the copy of segment 0. Its own copy is in flight at the end.
    assert!(tcp.ack(0, &[(1, 8), (9, 11)]).contains(&8));
    assert_eq!((tcp.sender.counters().retransmits, tcp.sender.counters().congestion_events), (3, 1));
    tcp.ack(8, &[(9, 11)]);
    assert_eq!((tcp.sender.phase(), tcp.sender.counters().congestion_events), (Phase::FastRecovery, 2));
    let next = tcp.sender.sent_once() / MSS;
    tcp.ack(next, &[]);
    assert_eq!((tcp.sender.counters().retransmits, tcp.sender.counters().congestion_events), (3, 2));
    assert_ne!(tcp.sender.phase(), Phase::FastRecovery);
}

/// RFC 8985 §7.3 has no probe before a measurement, and RFC 6298 §2.1 a timeout of a second.
#[test]
fn where_no_probe_may_leave_the_timeout_comes_in_its_time() {
    let mut tcp =
        Driven::of(Transport { tlp: true, ..rack() }, CcSpec::by_name("aimd").unwrap().build(CcContext::new(1.0)));
    tcp.sent();
    let first = tcp.sender.next_deadline();
    assert_eq!(first, Some(Instant::ZERO + Duration::from_secs(1)));
    tcp.now += Duration::from_secs(1);
    tcp.sender.on_deadline(tcp.now);
    assert_eq!((tcp.sent(), tcp.sender.info().state), (vec![0], CaState::Loss));
}

fn rack_off() -> Transport {
    Transport { rack: false, ..rack() }
}

#[test]
fn lost_retransmissions_and_lost_tails_need_no_timeout() {
    // The first segment three times, and the last one, are lost.
    let run = |transport: Transport| {
        let mut path = Path::new(transport, 10.0, 400);
        let mut left = BTreeMap::from([(0, 3), (399, 1)]);
        let fate = |_, index: u64| match left.get_mut(&index) {
            Some(count) if *count > 0 => {
                *count -= 1;
                None
            }
            _ => Some(Duration::ZERO),
        };
        path.run(fate, on_time, |_| {});
        (path.sender.counters().timeouts, path.sender.counters().retransmits)
    };
    assert_eq!(run(Transport { tlp: true, dsack: true, ..rack() }), (0, 4));
    assert_eq!(run(Transport { dsack: true, ..rack() }), (1, 4));
    assert!(run(rack_off()).0 >= 3);
}

#[test]
fn an_undo_with_rack_goes_on_as_before() {
    let mut path = Path::new(Transport { dsack: true, undo: Undo::Dsack, tlp: true, ..rack() }, 10.0, 400);
    // One segment is late by 60 ms, twice the window for reordering.
    path.run(|_, index| Some(Duration::from_millis(if index == 5 { 60 } else { 0 })), on_time, |_| {});
    let counters = path.sender.counters();
    assert_eq!((counters.undos, counters.timeouts), (1, 0));
    assert_eq!(counters.retransmits, 1);
}

#[test]
fn the_round_trip_of_rack_is_of_the_newest_segment_or_of_the_last_acknowledged_one() {
    for (rack_rtt, is_lost) in [(RackRtt::Newest, true), (RackRtt::Cumulative, false)] {
        let mut transport = rack();
        transport.rack_rtt = rack_rtt;
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(4.0) };
        let mut tcp = Driven::of(transport, CcSpec::by_name("aimd").unwrap().build(context));
        assert_eq!(tcp.sent(), [0, 1, 2, 3]);
        assert_eq!([tcp.ack(1, &[]), tcp.ack(2, &[])], [[4], [5]]);
        // Segment 3 left at 0 ms. At 3 ms arrive segment 2 of 0 ms and segment 4 of 1 ms: 2 ms and a quarter of the
        // shortest round trip have passed, but not 3 ms and a quarter.
        assert_eq!(tcp.ack(3, &[(4, 5)]).contains(&3), is_lost, "{rack_rtt:?}");
    }
}

#[test]
fn linux_counts_a_retransmission_as_delivered_regardless_of_timestamps() {
    for (rack_timestamps, is_lost) in [(true, false), (false, true)] {
        let transport = Transport { timestamps: true, rack_timestamps, ..rack() };
        let mut tcp = Driven::of(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(6.0)));
        assert_eq!(tcp.sent(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(tcp.ack(0, &[(2, 6)]), [0, 1, 6]);
        // Both left at 1 ms. The copy of segment 1 arrives after a round trip, but its ACK echoes a time before it.
        assert_eq!(tcp.ack(0, &[(1, 6)]).contains(&0), is_lost, "{rack_timestamps}");
    }
}
