use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Ecn, Place, QueueKeys};
use crate::rng::{Rng, RngStreams};
use crate::units::{Duration, Rate};

const RATE: u64 = 10_000_000;

fn parameters(keys: &str) -> PieParameters {
    let keys: PieKeys = serde_json::from_str(keys).unwrap();
    let rate = Rate::from_bps(RATE);
    let place = Place {
        rate,
        delay: Duration::ZERO,
        packet_bytes: 1500,
        mean_rtt_secs: 0.0,
        groups: crate::qdisc::Groups::NONE,
    };
    keys.parameters(&place, Limit::Packets(10)).unwrap()
}

fn stream(seed: u64) -> Rng {
    RngStreams::new(seed, 0).stream("link", "queue")
}

/// The part of the pseudocode that both RFCs share: the adjustment for a probability.
fn autotuned(p: f64, drop_prob: f64) -> f64 {
    if drop_prob < 0.000001 {
        p / 2048.0
    } else if drop_prob < 0.00001 {
        p / 512.0
    } else if drop_prob < 0.0001 {
        p / 128.0
    } else if drop_prob < 0.001 {
        p / 32.0
    } else if drop_prob < 0.01 {
        p / 8.0
    } else if drop_prob < 0.1 {
        p / 2.0
    } else {
        p
    }
}

/// An algorithm as a text contains it. Times are in seconds.
trait Pseudocode {
    /// Returns whether the packet is dropped.
    fn enque(&mut self, queue: &Bytes, size: u32) -> bool;
    /// The queue is full.
    fn full(&mut self) {}
    fn deque(&mut self, timestamp_delay: f64);
    fn calculate_drop_prob(&mut self, queue: &Bytes);
    fn drop_prob(&self) -> f64;
}

/// The bytes of the queue, and of its limit.
struct Bytes {
    length: u64,
    buffer: u64,
}

/// RFC 8033, appendix A, literally.
struct Basic {
    burst_allowance: f64,
    drop_prob: f64,
    qdelay_old: f64,
    current_qdelay: f64,
    random: Rng,
}

const QDELAY_REF: f64 = 0.015;
const MAX_BURST: f64 = 0.150;
const T_UPDATE: f64 = 0.015;

impl Basic {
    fn new(random: Rng) -> Self {
        Basic { burst_allowance: MAX_BURST, drop_prob: 0.0, qdelay_old: 0.0, current_qdelay: 0.0, random }
    }

    fn drop_early(&mut self, queue: &Bytes) -> bool {
        if (self.qdelay_old < QDELAY_REF / 2.0 && self.drop_prob < 0.2) || queue.length <= 2 * 1500 {
            return false;
        }
        self.random.next_f64() < self.drop_prob
    }
}

impl Pseudocode for Basic {
    fn enque(&mut self, queue: &Bytes, _size: u32) -> bool {
        if self.drop_prob == 0.0 && self.current_qdelay < QDELAY_REF / 2.0 && self.qdelay_old < QDELAY_REF / 2.0 {
            self.burst_allowance = MAX_BURST;
        }
        // Sums of 15 ms are not exact in floating point.
        self.burst_allowance < 1e-9 && self.drop_early(queue)
    }

    fn deque(&mut self, timestamp_delay: f64) {
        self.current_qdelay = timestamp_delay;
    }

    fn calculate_drop_prob(&mut self, _queue: &Bytes) {
        let p = 0.125 * (self.current_qdelay - QDELAY_REF) + 1.25 * (self.current_qdelay - self.qdelay_old);
        self.drop_prob += autotuned(p, self.drop_prob);
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = (self.burst_allowance - T_UPDATE).max(0.0);
    }

    fn drop_prob(&self) -> f64 {
        self.drop_prob
    }
}

/// RFC 8034, appendix A, literally, without tokens for the maximum sustained rate. Burst times are in milliseconds.
struct Docsis {
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    burst_allowance: i32,
    burst_reset: i32,
    aqm_state: &'static str,
    random: Rng,
}

const LATENCY_TARGET: f64 = 0.010;
const INTERVAL: i32 = 16;
const MEAN_PKTSIZE: f64 = 1024.0;
const PROB_LOW: f64 = 0.85;

impl Docsis {
    fn new(random: Rng) -> Self {
        Docsis {
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: 0,
            burst_reset: 0,
            aqm_state: "INACTIVE",
            random,
        }
    }
}

impl Pseudocode for Docsis {
    fn enque(&mut self, queue: &Bytes, size: u32) -> bool {
        if self.burst_allowance > 0 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        if self.aqm_state == "INACTIVE" {
            if (queue.length as f64) < queue.buffer as f64 / 3.0 {
                return false;
            }
            self.aqm_state = "QUIESCENT";
        }
        let p1 = (self.drop_prob * (f64::from(size) / MEAN_PKTSIZE)).min(PROB_LOW);
        self.accu_prob += p1;
        if (self.qdelay_old < 0.5 * LATENCY_TARGET && self.drop_prob < 0.2) || queue.length <= 2 * 1024 {
            return false;
        }
        if self.accu_prob < PROB_LOW {
            return false;
        }
        if self.accu_prob < 8.5 && self.random.next_f64() >= p1 {
            return false;
        }
        self.accu_prob = 0.0;
        if self.aqm_state == "QUIESCENT" {
            self.aqm_state = "ACTIVE";
            self.burst_allowance = 142;
        }
        true
    }

    fn full(&mut self) {
        self.accu_prob = 0.0;
    }

    fn deque(&mut self, _timestamp_delay: f64) {}

    fn calculate_drop_prob(&mut self, queue: &Bytes) {
        let qdelay = Duration::from_nanos(queue.length * 8 * 1_000_000_000 / RATE).as_secs_f64();
        if self.burst_allowance > 0 {
            self.drop_prob = 0.0;
            self.burst_allowance = (self.burst_allowance - INTERVAL).max(0);
        } else {
            let mut p = 0.25 * (qdelay - LATENCY_TARGET) + 2.5 * (qdelay - self.qdelay_old);
            p = match self.drop_prob {
                drop_prob if drop_prob < 0.1 => autotuned(p, drop_prob),
                drop_prob if drop_prob < 1.0 => p / 0.5,
                drop_prob if drop_prob < 10.0 => p / 0.125,
                _ => p / 0.03125,
            };
            if self.drop_prob >= 0.1 && p > 0.02 {
                p = 0.02;
            }
            self.drop_prob += p;
            if qdelay < 0.005 && self.qdelay_old < 0.005 {
                self.drop_prob *= 0.98;
            } else if qdelay > 0.200 {
                self.drop_prob += 0.02;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, PROB_LOW * MEAN_PKTSIZE / 64.0);
        }
        let quiet = qdelay < 0.5 * LATENCY_TARGET
            && self.qdelay_old < 0.5 * LATENCY_TARGET
            && self.drop_prob == 0.0
            && self.burst_allowance == 0;
        if self.aqm_state == "ACTIVE" && quiet {
            self.aqm_state = "QUIESCENT";
            self.burst_reset = 0;
        } else if self.aqm_state == "QUIESCENT" {
            if quiet {
                self.burst_reset += INTERVAL;
                if self.burst_reset > 1000 {
                    self.burst_reset = 0;
                    self.aqm_state = "INACTIVE";
                }
            } else {
                self.burst_reset = 0;
            }
        }
        self.qdelay_old = qdelay;
    }

    fn drop_prob(&self) -> f64 {
        self.drop_prob
    }
}

/// Periods with a load in percent of the link and a length in milliseconds.
fn periods() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0u64..250, 20u64..1500), 1..12)
}

/// Sends the same arrivals through the queue and the pseudocode. Returns the numbers of the drops.
fn compare(
    mut ours: Pie<Item>,
    theirs: &mut dyn Pseudocode,
    update_ms: u64,
    periods: &[(u64, u64)],
    seed: u64,
) -> Result<Vec<u64>, TestCaseError> {
    const BUFFER: u64 = 60_000;
    let mut queue: VecDeque<(u64, u64, u32)> = VecDeque::new();
    let (mut length, mut free_at, mut update_at, mut number) = (0u64, 0u64, update_ms * 1_000_000, 0u64);
    let (mut chance, mut now, mut end) = (stream(seed ^ 1), 0u64, 0u64);
    let mut dropped = Vec::new();
    let bytes = |length| Bytes { length, buffer: BUFFER };
    for (load, millis) in periods {
        end += millis * 1_000_000;
        while now < end {
            let size = 64 + (chance.next_u64() % 1437) as u32;
            let mean_gap = if *load == 0 { 1e8 } else { 782.0 * 8.0 * 1e9 / (RATE as f64) / (*load as f64 / 100.0) };
            now += (2.0 * mean_gap * chance.next_f64()) as u64;
            // Departures and updates before the arrival, in order.
            loop {
                let departs_at = if queue.is_empty() { u64::MAX } else { free_at.max(queue[0].0) };
                if update_at.min(departs_at) > now {
                    break;
                }
                if update_at <= departs_at {
                    theirs.calculate_drop_prob(&bytes(length));
                    update_at += update_ms * 1_000_000;
                    continue;
                }
                let (since, expected, size) = queue.pop_front().unwrap();
                length -= u64::from(size);
                // Section 4.3 gives an empty queue no delay, unlike appendix A.
                let delay = if queue.is_empty() { Duration::ZERO } else { Duration::from_nanos(departs_at - since) };
                theirs.deque(delay.as_secs_f64());
                let left = ours.dequeue(Instant::from_nanos(departs_at), &mut ()).map(|(_, item)| item.number);
                prop_assert_eq!(left, Some(expected));
                free_at = departs_at + u64::from(size) * 8 * 1_000_000_000 / RATE;
            }
            let mut told = Told::default();
            let item = Item { number, bytes: size, ..Item::default() };
            ours.enqueue(Instant::from_nanos(now), item, &mut told);
            let fits = length + u64::from(size) <= BUFFER;
            let expected = if fits {
                theirs.enque(&bytes(length), size)
            } else {
                theirs.full();
                true
            };
            prop_assert_eq!(!told.dropped.is_empty(), expected, "packet {} at {} ns", number, now);
            prop_assert_eq!(ours.controller.probability(), theirs.drop_prob());
            if expected {
                dropped.push(number);
            } else {
                queue.push_back((now, number, size));
                length += u64::from(size);
            }
            number += 1;
        }
    }
    Ok(dropped)
}

proptest! {
    #[test]
    fn every_drop_is_that_of_the_basic_pseudocode(periods in periods(), seed in any::<u64>()) {
        let ours = Pie::new(Limit::Bytes(60_000), parameters(r#"{"variant": "rfc"}"#), stream(seed));
        compare(ours, &mut Basic::new(stream(seed)), 15, &periods, seed)?;
    }

    #[test]
    fn every_drop_is_that_of_the_pseudocode_of_docsis(periods in periods(), seed in any::<u64>()) {
        let ours = Pie::new(Limit::Bytes(60_000), parameters(r#"{"variant": "docsis"}"#), stream(seed));
        compare(ours, &mut Docsis::new(stream(seed)), 16, &periods, seed)?;
    }
}

/// Sends 1500 bytes at twice the rate of the link for this long. Returns the reports and the probability at the end.
fn overload(keys: &str, ecn: Ecn, millis: u64) -> (Told, f64) {
    let mut queue = Pie::new(Limit::Packets(1000), parameters(keys), stream(3));
    let mut told = Told::default();
    for number in 0..millis * 1000 / 600 {
        let now = Instant::from_nanos(600_000 * number);
        if number % 2 == 0 {
            queue.dequeue(now, &mut told);
        }
        queue.enqueue(now, Item { number, bytes: 1500, ecn, ..Item::default() }, &mut told);
    }
    (told, queue.controller.probability())
}

#[test]
fn a_burst_of_the_permitted_length_loses_nothing() {
    for variant in ["rfc", "linux"] {
        let keys = format!(r#"{{"variant": "{variant}"}}"#);
        assert_eq!(overload(&keys, Ecn::NotEct, 145).0.dropped, []);
        assert!(!overload(&keys, Ecn::NotEct, 2_000).0.dropped.is_empty(), "{variant}");
    }
}

#[test]
fn marks_end_at_the_probability_from_which_all_are_dropped() {
    let (told, probability) = overload(r#"{"ecn": true}"#, Ecn::Ect0, 10_000);
    assert!(probability > 0.1);
    assert!(!told.marked.is_empty() && !told.dropped.is_empty());
    let reasons: Vec<_> = told.dropped.iter().chain(&told.marked).map(|(_, reason)| *reason).collect();
    assert!(reasons.iter().all(|reason| *reason == Reason::Early));
    let (always, _) = overload(r#"{"ecn": true, "mark_ecnth": 1}"#, Ecn::Ect0, 500);
    assert!(!always.marked.is_empty());
    assert_eq!(always.dropped.iter().filter(|(_, reason)| *reason == Reason::Early).count(), 0);
    assert_eq!(overload("{}", Ecn::Ect0, 10_000).0.marked, []);
}

#[test]
fn in_linux_the_probability_winds_up_beyond_one() {
    let probability = |variant| overload(&format!(r#"{{"variant": "{variant}"}}"#), Ecn::NotEct, 1_000).1;
    assert!(probability("linux") > 1.0);
    assert!(probability("rfc") <= 1.0);
}

#[test]
fn updates_during_a_long_idle_time_are_those_one_by_one() {
    for variant in ["rfc", "linux", "docsis"] {
        let keys = format!(r#"{{"variant": "{variant}"}}"#);
        let mut queue = Pie::new(Limit::Packets(100), parameters(&keys), stream(3));
        for number in 0..3_000_u64 {
            let now = Instant::from_nanos(600_000 * number);
            queue.enqueue(now, Item { number, bytes: 1500, ..Item::default() }, &mut ());
            if number % 2 == 0 {
                queue.dequeue(now, &mut ());
            }
        }
        let mut now = Instant::from_nanos(600_000 * 3_000);
        while queue.dequeue(now, &mut ()).is_some() {
            now += Duration::from_micros(1200);
        }
        let mut step_by_step = queue.clone();
        for step in 1..=200_000_u64 {
            step_by_step.dequeue(now + Duration::from_millis(step), &mut ());
        }
        queue.dequeue(now + Duration::from_secs(200), &mut ());
        assert_eq!(format!("{:?}", queue.controller), format!("{:?}", step_by_step.controller));
    }
}
