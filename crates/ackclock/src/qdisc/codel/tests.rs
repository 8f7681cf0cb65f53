use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::Ecn;
use crate::units::Duration;

const MTU: u32 = 1500;

fn parameters(control_law: ControlLaw) -> CoDelParameters {
    CoDelParameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu: MTU,
        ecn: false,
        ce_threshold: None,
        control_law,
    }
}

fn item(number: u64, ecn: Ecn) -> Item {
    Item { number, bytes: MTU, ecn, ..Item::default() }
}

fn us(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// Sends one packet every `spacing` microseconds over a link that takes `gap` for each. Returns the numbers and times
/// of the packets that the queue drops and marks.
type Signals = Vec<(u64, u64)>;

fn overload(parameters: CoDelParameters, ecn: Ecn, spacing: u64, gap: u64, packets: u64) -> (Signals, Signals) {
    let mut queue = CoDel::new(Limit::Packets(100_000), parameters);
    let (mut dropped, mut marked, mut free_at) = (Vec::new(), Vec::new(), 0);
    for number in 0..packets {
        let now = number * spacing;
        while free_at <= now {
            let mut told = Told::default();
            let left = queue.dequeue(us(free_at), &mut told);
            dropped.extend(told.dropped.iter().map(|(item, _)| (item.number, free_at)));
            marked.extend(told.marked.iter().map(|(item, _)| (item.number, free_at)));
            free_at = if left.is_some() { free_at + gap } else { now + 1 };
        }
        queue.enqueue(us(now), item(number, ecn), &mut ());
    }
    (dropped, marked)
}

#[test]
fn drops_come_closer_together_by_the_square_root_of_their_number() {
    // Twice the rate of the link for good: the sojourn time rises from the start and never falls to the target.
    let (dropped, _) = overload(parameters(ControlLaw::Sqrt), Ecn::NotEct, 500, 1000, 10_000);
    let times: Vec<u64> = dropped.iter().map(|(_, at)| *at).collect();
    // The interval over 1, sqrt(2), sqrt(3) ..., each at the next departure; those are a millisecond apart.
    let mut due = times[0] as f64;
    for (count, at) in times.iter().enumerate().take(40).skip(1) {
        due += 100_000.0 / (count as f64).sqrt();
        let late = *at as f64 - due;
        assert!((-1e-3..1000.0).contains(&late), "drop {count} at {at}, due at {due}");
    }
}

#[test]
fn a_queue_below_the_target_or_of_one_packet_drops_nothing() {
    // As fast as the link: at most one packet is queued.
    assert_eq!(overload(parameters(ControlLaw::Sqrt), Ecn::NotEct, 1000, 1000, 5_000).0, []);
    // A packet takes 20 ms, so that one that is queued for another is above the target, but nothing else is queued.
    assert_eq!(overload(parameters(ControlLaw::Sqrt), Ecn::NotEct, 20_000, 20_000, 500).0, []);
}

#[test]
fn ecn_capable_packets_are_marked_where_others_are_dropped() {
    let marking = CoDelParameters { ecn: true, ..parameters(ControlLaw::Sqrt) };
    let (dropped, marked) = overload(marking, Ecn::Ect0, 500, 1000, 10_000);
    let (instead, none) = overload(marking, Ecn::NotEct, 500, 1000, 10_000);
    assert_eq!((dropped.len(), none.len()), (0, 0));
    let first = |signals: &[(u64, u64)]| signals.iter().map(|(_, at)| *at).take(20).collect::<Vec<_>>();
    assert_eq!(first(&marked), first(&instead));
}

#[test]
fn above_the_ce_threshold_every_capable_packet_is_marked_and_reported_once() {
    let threshold = CoDelParameters { ce_threshold: Some(Duration::from_millis(1)), ..parameters(ControlLaw::Sqrt) };
    let mut queue = CoDel::new(Limit::Packets(10), threshold);
    (0..3).for_each(|number| queue.enqueue(us(number), item(number, Ecn::Ect0), &mut ()));
    let mut told = Told::default();
    // A sojourn time of exactly the threshold is not above it.
    for at in [1000, 1002, 1003] {
        queue.dequeue(us(at), &mut told);
    }
    let marks: Vec<_> = told.marked.iter().map(|(item, reason)| (item.number, *reason)).collect();
    assert_eq!(marks, [(1, Reason::CeThreshold), (2, Reason::CeThreshold)]);
    queue.enqueue(us(1003), item(3, Ecn::NotEct), &mut ());
    queue.dequeue(us(9000), &mut told);
    assert_eq!(told.marked.len(), 2, "not ECN-capable");
}

#[test]
fn what_does_not_fit_is_dropped_as_it_comes_and_counts_for_nothing() {
    let mut queue = CoDel::new(Limit::Packets(1), parameters(ControlLaw::Sqrt));
    queue.enqueue(us(0), item(0, Ecn::NotEct), &mut ());
    let told = Told::of_arrival(&mut queue, us(0), item(1, Ecn::NotEct));
    assert_eq!(told.dropped, [(item(1, Ecn::NotEct), Reason::Full)]);
}

#[test]
fn newtons_method_comes_near_the_square_root_after_some_drops() {
    let newton = |count: usize| {
        let (dropped, _) = overload(parameters(ControlLaw::Newton), Ecn::NotEct, 500, 1000, 10_000);
        (dropped[count].1 - dropped[0].1) as f64
    };
    let exact = |count: usize| (1..=count).map(|drops| 100_000.0 / (drops as f64).sqrt()).sum::<f64>();
    // The first step goes from 1 to 1/2, where 1/sqrt(2) is meant: 100 + 50 ms, in units of 1.024 us.
    assert!((150_000.0 - newton(2)).abs() < 1000.0, "{}", newton(2));
    // What is lost in the beginning stays lost, and no more.
    assert!((exact(20) - newton(20) - (exact(60) - newton(60))).abs() < 2000.0, "{} {}", newton(20), newton(60));
}

/// The pseudocode of RFC 8289, sections 5.4 to 5.6, literally. Times are in nanoseconds.
#[derive(Default)]
struct Pseudocode {
    packets: VecDeque<(u64, u64, u32)>,
    bytes: u64,
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Vec<(u64, u64)>,
}

impl Pseudocode {
    const TARGET: u64 = 5_000_000;
    const INTERVAL: u64 = 100_000_000;

    fn enqueue(&mut self, now: u64, number: u64, len: u32) {
        self.packets.push_back((now, number, len));
        self.bytes += u64::from(len);
    }

    fn control_law(t: u64, count: u32) -> u64 {
        t + (Self::INTERVAL as f64 / f64::from(count).sqrt()) as u64
    }

    fn dodequeue(&mut self, now: u64) -> (Option<u64>, bool) {
        let Some((tstamp, number, len)) = self.packets.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        self.bytes -= u64::from(len);
        let mut ok_to_drop = false;
        if now - tstamp < Self::TARGET || self.bytes <= u64::from(MTU) {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + Self::INTERVAL;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(number), ok_to_drop)
    }

    fn dequeue(&mut self, now: u64) -> Option<u64> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(r.0.map(|number| (number, now)));
                self.count += 1;
                r = self.dodequeue(now);
                if r.1 {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.1 {
            self.dropped.extend(r.0.map(|number| (number, now)));
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count as i64 - self.lastcount as i64;
            self.count = 1;
            if delta > 1 && (now as i64) - (self.drop_next as i64) < 16 * Self::INTERVAL as i64 {
                self.count = delta as u32;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.0
    }
}

proptest! {
    #[test]
    fn every_drop_is_that_of_the_pseudocode_at_its_time(
        // Periods with a load of their own: arrivals a millisecond in percent, for so many packets.
        periods in prop::collection::vec((20u64..400, 50u64..1500), 1..12),
        sizes in prop::collection::vec(40u32..1500, 64),
        seed in any::<u64>(),
    ) {
        let mut ours = CoDel::new(Limit::Packets(u32::MAX), parameters(ControlLaw::Sqrt));
        let mut theirs = Pseudocode::default();
        let mut told = Vec::new();
        let (mut now, mut free_at, mut number, mut chance) = (1u64, 0u64, 0u64, seed);
        for (percent, packets) in periods {
            for _ in 0..packets {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                now += (chance >> 33) % (200_000_000 / percent);
                while free_at <= now {
                    let mut reports = Told::default();
                    let left = ours.dequeue(Instant::from_nanos(free_at), &mut reports).map(|(_, item)| item.number);
                    told.extend(reports.dropped.iter().map(|(item, _)| (item.number, free_at)));
                    prop_assert_eq!(left, theirs.dequeue(free_at));
                    free_at = if left.is_some() { free_at + 1_000_000 } else { now + 1 };
                }
                let bytes = sizes[number as usize % sizes.len()];
                ours.enqueue(Instant::from_nanos(now), Item { number, bytes, ..Item::default() }, &mut ());
                theirs.enqueue(now, number, bytes);
                number += 1;
            }
        }
        prop_assert_eq!(told, theirs.dropped);
    }
}

/// RFC 8289, section 5.6: `now >= first_above_time`. Linux compares with "after".
#[test]
fn an_interval_that_has_just_passed_is_enough_except_in_the_arithmetic_of_linux() {
    let drops = |law, above_at, again_at| {
        let mut queue = CoDel::new(Limit::Packets(10), parameters(law));
        (0..4).for_each(|number| queue.enqueue(us(0), item(number, Ecn::NotEct), &mut ()));
        let mut told = Told::default();
        queue.dequeue(us(above_at), &mut told);
        queue.dequeue(us(again_at), &mut told);
        told.dropped.len()
    };
    assert_eq!(drops(ControlLaw::Sqrt, 5_000, 105_000), 1);
    assert_eq!(drops(ControlLaw::Sqrt, 5_000, 104_999), 0);
    // Units of 1.024 us: the 97656 of the interval after 10.24 ms end in unit 107656; the next begins at 110240.768 us.
    assert_eq!(drops(ControlLaw::Newton, 10_240, 110_240), 0);
    assert_eq!(drops(ControlLaw::Newton, 10_240, 110_241), 1);
}
