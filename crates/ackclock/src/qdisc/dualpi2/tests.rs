use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::QueueParameters;
use crate::qdisc::{Ecn, Place, QueueKeys};
use crate::rng::{Rng, RngStreams};
use crate::units::{Duration, Rate};

const RATE: u64 = 20_000_000;
const MTU: u32 = 1500;

fn parameters(keys: &str) -> DualPi2Parameters {
    let keys: DualPi2Keys = serde_json::from_str(keys).unwrap();
    let rate = Rate::from_bps(RATE);
    let place = Place {
        rate,
        delay: Duration::ZERO,
        packet_bytes: MTU.into(),
        mean_rtt_secs: 0.0,
        groups: crate::qdisc::Groups::NONE,
    };
    keys.parameters(&place, Limit::Packets(10)).unwrap()
}

fn stream(seed: u64) -> Rng {
    RngStreams::new(seed, 0).stream("link", "queue")
}

fn item(number: u64, ecn: Ecn) -> Item {
    Item { number, bytes: MTU, ecn, ..Item::default() }
}

fn us(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// A queue of the pseudocode, and the count of its recur().
#[derive(Default)]
struct Queue {
    packets: VecDeque<(Instant, u64, u8, u32)>,
    count: f64,
}

impl Queue {
    fn time(&self, now: Instant) -> f64 {
        self.packets.front().map_or(0.0, |(since, ..)| now.since(*since).as_secs_f64())
    }

    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        if self.count > 1.0 {
            self.count -= 1.0;
            return true;
        }
        false
    }
}

/// RFC 9332, figures 5, 7 and 8, literally, with weighted round robin as scheduler.
struct Pseudocode {
    lq: Queue,
    cq: Queue,
    p: f64,
    p_cl: f64,
    p_c: f64,
    prevq: f64,
    credit: f64,
    /// Numbers of packets that are marked and dropped.
    marked: Vec<u64>,
    dropped: Vec<u64>,
}

const K: f64 = 2.0;
const FIRST_CREDIT: f64 = 1500.0 * (0.0625 - 0.9375);

impl Pseudocode {
    fn new() -> Self {
        Pseudocode {
            lq: Queue::default(),
            cq: Queue::default(),
            p: 0.0,
            p_cl: 0.0,
            p_c: 0.0,
            prevq: 0.0,
            credit: FIRST_CREDIT,
            marked: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn dualpi2_enqueue(&mut self, now: Instant, number: u64, ecn: u8, len: u32) {
        let queue = if ecn % 2 == 1 { &mut self.lq } else { &mut self.cq };
        queue.packets.push_back((now, number, ecn, len));
    }

    fn scheduler(&mut self) -> bool {
        let (Some(l), Some(c)) = (self.lq.packets.front(), self.cq.packets.front()) else {
            return !self.lq.packets.is_empty();
        };
        let is_l = self.credit <= 0.0;
        self.credit += if is_l { 0.0625 * f64::from(l.3) } else { -0.9375 * f64::from(c.3) };
        is_l
    }

    fn laqm(qdelay: f64) -> f64 {
        if qdelay >= 0.0012 {
            1.0
        } else if qdelay > 0.0008 {
            (qdelay - 0.0008) / 0.0004
        } else {
            0.0
        }
    }

    fn dualpi2_dequeue(&mut self, now: Instant) -> Option<u64> {
        while !self.lq.packets.is_empty() || !self.cq.packets.is_empty() {
            if self.scheduler() {
                let (since, number, ..) = self.lq.packets.pop_front()?;
                if self.p_cl < 1.0 {
                    let is_long = !self.lq.packets.is_empty();
                    let native = if is_long { Self::laqm(now.since(since).as_secs_f64()) } else { 0.0 };
                    if self.lq.recur(native.max(self.p_cl)) {
                        self.marked.push(number);
                    }
                } else {
                    if self.lq.recur(self.p_c) {
                        self.dropped.push(number);
                        continue;
                    }
                    if self.lq.recur(self.p_cl) {
                        self.marked.push(number);
                    }
                }
                return Some(number);
            }
            let (_, number, ecn, _) = self.cq.packets.pop_front()?;
            if self.cq.recur(self.p_c) {
                if ecn == 0 || self.p_c >= (1.0 / (K * K)).min(1.0) {
                    self.dropped.push(number);
                    continue;
                }
                self.marked.push(number);
            }
            return Some(number);
        }
        self.credit = FIRST_CREDIT;
        None
    }

    fn dualpi2_update(&mut self, now: Instant) {
        let curq = self.cq.time(now).max(self.lq.time(now));
        self.p = (self.p + 0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq)).clamp(0.0, 1.0);
        self.p_cl = self.p * K;
        self.p_c = self.p * self.p;
        self.prevq = curq;
    }
}

proptest! {
    #[test]
    fn every_mark_and_drop_is_that_of_the_pseudocode(
        // Periods with a load in percent, the share of L4S in it, and a length in milliseconds.
        periods in prop::collection::vec((0u64..250, 0u64..101, 20u64..1500), 1..12),
        seed in any::<u64>(),
    ) {
        let mut ours = DualPi2::new(Limit::Packets(u32::MAX), parameters(r#"{"variant": "rfc"}"#), stream(seed));
        let mut theirs = Pseudocode::new();
        let mut told = Told::default();
        let (mut chance, mut now, mut end) = (stream(seed ^ 1), 0u64, 0u64);
        let (mut free_at, mut update_at, mut number, mut is_idle) = (0u64, 16_000_000u64, 0u64, true);
        for (load, l4s, millis) in periods {
            end += millis * 1_000_000;
            while now < end {
                let bytes = 64 + (chance.next_u64() % 1437) as u32;
                let mean_gap = if load == 0 { 1e8 } else { 782.0 * 8.0 * 1e9 / RATE as f64 / (load as f64 / 100.0) };
                now += (2.0 * mean_gap * chance.next_f64()) as u64;
                loop {
                    let departs_at = if is_idle { u64::MAX } else { free_at };
                    if update_at.min(departs_at) > now {
                        break;
                    }
                    if update_at <= departs_at {
                        theirs.dualpi2_update(Instant::from_nanos(update_at));
                        update_at += 16_000_000;
                        continue;
                    }
                    let at = Instant::from_nanos(departs_at);
                    let left = ours.dequeue(at, &mut told).map(|(_, item)| (item.number, item.bytes));
                    prop_assert_eq!(left.map(|(number, _)| number), theirs.dualpi2_dequeue(at));
                    is_idle = left.is_none();
                    free_at = departs_at + left.map_or(0, |(_, bytes)| u64::from(bytes) * 8 * 1_000_000_000 / RATE);
                }
                let ecn = if chance.next_u64() % 100 < l4s { Ecn::Ect1 } else { [Ecn::NotEct, Ecn::Ect0][number as usize % 2] };
                ours.enqueue(Instant::from_nanos(now), Item { number, bytes, ecn, ..Item::default() }, &mut told);
                theirs.dualpi2_enqueue(Instant::from_nanos(now), number, ecn.bits(), bytes);
                if is_idle {
                    (is_idle, free_at) = (false, now.max(free_at));
                }
                number += 1;
            }
        }
        let numbers = |told: &[(Item, Reason)]| told.iter().map(|(item, _)| item.number).collect::<Vec<_>>();
        prop_assert_eq!(numbers(&told.dropped), theirs.dropped);
        prop_assert_eq!(numbers(&told.marked), theirs.marked);
        prop_assert_eq!(ours.probability.base(), theirs.p);
    }
}

/// Sends packets of 1500 B at this percentage of the rate of the link for so long. `l4s` percent of them are L4S.
fn loaded(keys: &str, percent: u64, l4s: u64, classic: Ecn, millis: u64) -> (Told, f64) {
    let mut queue = DualPi2::new(Limit::Packets(10_000), parameters(keys), stream(3));
    let (mut told, mut free_at) = (Told::default(), 0);
    for number in 0..millis * percent / 60 {
        let now = number * 60_000 / percent;
        while free_at <= now {
            let left = queue.dequeue(us(free_at), &mut told);
            free_at = if left.is_some() { free_at + 600 } else { now + 1 };
        }
        queue.enqueue(us(now), item(number, if number % 100 < l4s { Ecn::Ect1 } else { classic }), &mut told);
    }
    (told, queue.probability.base())
}

fn count(reports: &[(Item, Reason)], reason: Reason) -> usize {
    reports.iter().filter(|(_, other)| *other == reason).count()
}

#[test]
fn marks_of_l4s_are_coupled_to_drops_of_classic_traffic() {
    // p' = 0.2: 4 % of classic packets are dropped, or marked, and 40 % of L4S packets are marked.
    for (variant, tolerance) in [("linux", 0.01), ("rfc", 0.001)] {
        let keys = format!(r#"{{"variant": "{variant}", "alpha": 0, "beta": 0, "step": "1 s", "min_th": "1 s"}}"#);
        let mut queue = DualPi2::new(Limit::Packets(100_000), parameters(&keys), stream(3));
        queue.probability.set_base(0.2);
        let mut told = Told::default();
        for number in 0..30_000 {
            let ecn = [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0][number as usize % 3];
            queue.enqueue(us(0), item(number, ecn), &mut told);
        }
        while queue.dequeue(us(1), &mut told).is_some() {}
        let share = |reports, reason| count(reports, reason) as f64 / 10_000.0;
        let found = [
            share(&told.dropped, Reason::Early),
            share(&told.marked, Reason::Early),
            share(&told.marked, Reason::Coupled),
        ];
        let sum = found[0] + found[1];
        assert!((sum - 0.08).abs() < tolerance && (found[2] - 0.4).abs() < 2.0 * tolerance, "{found:?}");
        assert!(variant == "rfc" || (found[0] - 0.04).abs() < tolerance, "{found:?}");
    }
}

#[test]
fn overload_drops_ecn_capable_packets_of_both_queues() {
    for variant in ["linux", "rfc"] {
        let keys = format!(r#"{{"variant": "{variant}"}}"#);
        for l4s in [0, 100] {
            let (told, base) = loaded(&keys, 200, l4s, Ecn::Ect0, 8_000);
            assert!(base > 0.5, "{base}");
            assert!(count(&told.dropped, Reason::Overload) > 100, "{variant}, {l4s} % L4S");
        }
    }
}

#[test]
fn the_step_of_linux_marks_every_packet_above_it_and_the_ramp_only_from_two_packets_on() {
    let marks = |keys: &str, packets: u64, at: u64| {
        let mut queue = DualPi2::new(Limit::Packets(100), parameters(keys), stream(3));
        (0..packets).for_each(|number| queue.enqueue(us(0), item(number, Ecn::Ect1), &mut ()));
        let mut told = Told::default();
        queue.dequeue(us(at), &mut told);
        count(&told.marked, Reason::Native)
    };
    assert_eq!([marks("{}", 1, 1000), marks("{}", 1, 1001)], [0, 1]);
    assert_eq!(marks(r#"{"step": "3 ms"}"#, 1, 2999), 0);
    let rfc = r#"{"variant": "rfc"}"#;
    // The count must exceed 1, so the first packet is never marked.
    assert_eq!([marks(rfc, 1, 5000), marks(rfc, 2, 5000)], [0, 0]);
    let mut queue = DualPi2::new(Limit::Packets(100), parameters(rfc), stream(3));
    (0..4).for_each(|number| queue.enqueue(us(0), item(number, Ecn::Ect1), &mut ()));
    let mut told = Told::default();
    // Probabilities 0.75, 0.75 and 1: counts of 0.75, 1.5 and 1.5.
    for at in [1100, 1100, 1200] {
        queue.dequeue(us(at), &mut told);
    }
    assert_eq!(told.marked.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn the_scheduler_gives_the_classic_queue_its_protected_share() {
    let mut queue = DualPi2::new(Limit::Packets(10_000), parameters(r#"{"classic_protection": 25}"#), stream(3));
    for number in 0..2_000 {
        queue.enqueue(us(0), item(number, if number % 2 == 0 { Ecn::Ect1 } else { Ecn::NotEct }), &mut ());
    }
    let left: Vec<_> = (0..400).filter_map(|_| queue.dequeue(us(1), &mut ())).map(|(_, item)| item.ecn).collect();
    assert_eq!(left[..2], [Ecn::Ect1; 2]);
    let classic = left.iter().filter(|ecn| **ecn == Ecn::NotEct).count();
    assert!((98..=102).contains(&classic), "{classic} of 400");
}

#[test]
fn defaults_are_those_of_each_variant() {
    let limit = |text| serde_json::from_str::<DualPi2Keys>(text).unwrap().limit().to_string();
    assert_eq!([limit("{}"), limit(r#"{"variant": "rfc"}"#)], ["10000 packets", "250 ms"]);
    assert_eq!(parameters("{}").in_words(), ", target 15 ms, coupling 2, marks L4S above 1 ms");
    assert_eq!(
        parameters(r#"{"variant": "rfc"}"#).in_words(),
        ", target 15 ms, coupling 2, RFC 9332, marks L4S from 800 us to 1.2 ms"
    );
}

#[test]
fn values_out_of_range_are_named() {
    for (text, key) in [
        (r#"{"t_update": "0 s"}"#, "t_update"),
        (r#"{"alpha": -1}"#, "alpha"),
        (r#"{"coupling": 0}"#, "coupling"),
        (r#"{"classic_protection": 101}"#, "classic_protection"),
    ] {
        let keys: DualPi2Keys = serde_json::from_str(text).unwrap();
        let place = Place {
            rate: None,
            delay: Duration::ZERO,
            packet_bytes: 1500,
            mean_rtt_secs: 0.0,
            groups: crate::qdisc::Groups::NONE,
        };
        assert_eq!(keys.parameters(&place, Limit::Packets(10)).unwrap_err().0, key);
    }
}
