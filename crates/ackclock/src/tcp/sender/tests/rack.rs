//! RACK and TLP: against the pseudo-code of RFC 8985 segment by segment, over paths that lose and reorder.

use std::collections::BTreeMap;

use super::*;
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::DataSegment;
use crate::tcp::transport::Undo;

/// Numbers that look random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// RFC 8985 §6.2 and §6.3 as they are written: every segment is looked at each time.
#[derive(Default)]
struct Model {
    segments: Vec<Sent>,
    una: u64,
    /// RACK.xmit_ts and RACK.end_seq.
    latest: Option<(Instant, u64)>,
    rtt: Duration,
    fack: u64,
    reordering_seen: bool,
    min_rtt: Option<Duration>,
}

/// A segment of the model.
#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    retransmitted: bool,
    copies: u32,
    delivered: bool,
}

impl Model {
    fn transmit(&mut self, now: Instant, index: u64) {
        if index == self.segments.len() as u64 {
            self.segments.push(Sent { at: now, retransmitted: false, copies: 1, delivered: false });
            return;
        }
        let segment = &mut self.segments[index as usize];
        *segment = Sent { at: now, retransmitted: true, copies: segment.copies + 1, ..*segment };
    }

    fn pipe(&self) -> u32 {
        self.segments.iter().map(|segment| segment.copies).sum()
    }

    fn on_ack(&mut self, now: Instant, una: u64, blocks: &[(u64, u64)], srtt: Duration, state: CaState, point: u64) {
        let is_new = |index: u64, segment: &Sent| {
            !segment.delivered && (index < una || blocks.iter().any(|block| (block.0..block.1).contains(&index)))
        };
        let found = self.segments.iter().enumerate().filter(|(index, segment)| is_new(*index as u64, segment));
        let mut new: Vec<u64> = found.map(|(index, _)| index as u64).collect();
        for index in &new {
            let segment = self.segments[*index as usize];
            if !segment.retransmitted {
                let rtt = now.since(segment.at);
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            }
            // In ascending order of end_seq.
            if index + 1 > self.fack {
                self.fack = index + 1;
            } else if !segment.retransmitted {
                self.reordering_seen = true;
            }
        }
        new.sort_by_key(|index| (self.segments[*index as usize].at, *index));
        for index in new {
            let segment = &mut self.segments[index as usize];
            (segment.delivered, segment.copies) = (true, 0);
            let (at, rtt) = (segment.at, now.since(segment.at));
            if segment.retransmitted && self.min_rtt.is_some_and(|least| rtt < least) {
                continue;
            }
            self.rtt = rtt;
            self.latest = self.latest.max(Some((at, index + 1)));
        }
        self.una = una;
        let recovers = matches!(state, CaState::Recovery | CaState::Loss) && una < point;
        self.detect(now, srtt, recovers);
    }

    fn window(&self, srtt: Duration, recovers: bool) -> Duration {
        let sacked = self.segments[self.una as usize..].iter().filter(|segment| segment.delivered).count();
        if !self.reordering_seen && (recovers || sacked >= 3) {
            return Duration::ZERO;
        }
        let least = self.min_rtt.unwrap_or(Duration::ZERO);
        if srtt.is_zero() { least / 4 } else { (least / 4).min(srtt) }
    }

    fn detect(&mut self, now: Instant, srtt: Duration, recovers: bool) {
        let window = self.window(srtt, recovers);
        let Some(latest) = self.latest else { return };
        for (index, segment) in self.segments.iter_mut().enumerate().filter(|(_, segment)| segment.copies > 0) {
            if latest > (segment.at, index as u64 + 1) && segment.at + self.rtt + window <= now {
                segment.copies = 0;
            }
        }
    }

    fn on_timeout(&mut self, now: Instant, srtt: Duration) {
        let settle = self.rtt + self.window(srtt, true);
        let (una, known) = (self.una as usize, self.latest.is_some());
        for (index, segment) in self.segments.iter_mut().enumerate().skip(una).filter(|(_, one)| !one.delivered) {
            if index == una || known && segment.at + settle <= now {
                segment.copies = 0;
            }
        }
    }
}

/// What is under way.
enum Event {
    Data(DataSegment),
    Ack(AckSegment),
}

/// A sender and a receiver, and the model beside them, over a path of 100 ms.
struct Path {
    sender: Sender,
    receiver: Receiver,
    model: Model,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
    now: Instant,
    /// The end of what was sent when the last recovery began.
    point: u64,
}

impl Path {
    fn new(transport: Transport, window: f64) -> Self {
        let cc = CcSpec::by_name("aimd").unwrap().build(CcContext::new(window));
        let mut sender = Sender::new(transport.clone(), cc);
        sender.open(Instant::ZERO);
        sender.write(Instant::ZERO, 400 * MSS);
        let (events, model) = (BTreeMap::new(), Model::default());
        Path { sender, receiver: Receiver::new(&transport), model, events, number: 0, now: Instant::ZERO, point: 0 }
    }

    fn add(&mut self, at: Instant, event: Event) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// Sends what may be sent, each segment with the delay that `fate` gives it beyond 50 ms, or none if it is lost.
    fn send(&mut self, fate: &mut impl FnMut(Instant, u64) -> Option<Duration>) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let index = segment.seq / MSS;
            self.model.transmit(self.now, index);
            if let Some(more) = fate(self.now, index) {
                self.add(self.now + Duration::from_millis(50) + more, Event::Data(segment));
            }
        }
    }

    /// Until all is acknowledged; `check` compares after each event.
    fn run(&mut self, mut fate: impl FnMut(Instant, u64) -> Option<Duration>, check: impl Fn(&Path)) {
        self.send(&mut fate);
        while !self.sender.is_done() {
            let next = self.events.first_key_value().map(|(key, _)| key.0);
            let timer = self.sender.next_deadline();
            let state = self.sender.info().state;
            let srtt = self.sender.rtt().srtt();
            if next.is_none_or(|at| timer.is_some_and(|timer| timer < at)) {
                self.now = timer.expect("something is under way or a timer runs");
                let timeouts = self.sender.counters().timeouts;
                self.sender.on_deadline(self.now);
                if self.sender.counters().timeouts > timeouts {
                    self.model.on_timeout(self.now, srtt);
                } else {
                    self.model.detect(self.now, srtt, matches!(state, CaState::Recovery | CaState::Loss));
                }
            } else {
                let ((at, _), event) = self.events.pop_first().unwrap();
                self.now = at;
                match event {
                    Event::Data(segment) => {
                        if let Some(ack) = self.receiver.on_data(at, &segment, false) {
                            self.add(at + Duration::from_millis(50), Event::Ack(ack));
                        }
                        continue;
                    }
                    Event::Ack(ack) => {
                        let blocks: Vec<_> = ack.sack.iter(ack.ack).map(|(from, to)| (from / MSS, to / MSS)).collect();
                        let is_old = ack.ack < self.sender.acknowledged();
                        self.sender.on_ack(at, &ack);
                        if !is_old {
                            self.model.on_ack(at, ack.ack / MSS, &blocks, srtt, state, self.point);
                        }
                    }
                }
            }
            check(self);
            if matches!(self.sender.state, State::FastRecovery { .. } | State::Restarted { .. }) {
                self.point = match self.sender.state {
                    State::FastRecovery { point, .. } | State::Restarted { point, .. } => point / MSS,
                    State::Open => 0,
                };
            }
            self.send(&mut fate);
        }
    }
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
        let mut path = Path::new(Transport { prr: seed % 2 == 0, ..rack() }, 20.0);
        let fate = |_, _| {
            let is_lost = draw.below(100) < loss;
            let delay = if draw.below(10) == 0 { draw.below(jitter) } else { 0 };
            (!is_lost).then(|| Duration::from_millis(delay))
        };
        path.run(fate, |path| {
            assert_eq!(path.sender.in_flight(), path.model.pipe(), "seed {seed} at {:?}", path.now);
        });
        lost += path.sender.counters().retransmits;
        timeouts += path.sender.counters().timeouts;
        reordered += u32::from(path.model.reordering_seen);
    }
    assert!(lost > 300 && timeouts > 3 && reordered > 20, "{lost} {timeouts} {reordered}");
}

/// Retransmissions of 400 segments of which each is late by up to `late_by` ms, but the first ten, of which the first four arrive in
/// this order, a millisecond from each other.
fn retransmits(first: [u64; 4], late_by: u64, seed: u64) -> u64 {
    let mut draw = Draw(seed);
    let mut path = Path::new(rack(), 10.0);
    let fate = |_, index: u64| {
        let place = first.get(index as usize).copied().or((index < 10).then_some(index));
        let late = place.unwrap_or_else(|| draw.below(late_by + 1));
        Some(Duration::from_millis(late))
    };
    path.run(fate, |_| {});
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
        let mut path = Path::new(Transport { rack, ..rack_off() }, 400.0);
        // All leave at once; one arrives each millisecond, and each group of four in this order.
        let fate = |_, index: u64| Some(Duration::from_millis(index / 4 * 4 + first[index as usize % 4]));
        path.run(fate, |_| {});
        let counters = path.sender.counters();
        assert_eq!((counters.retransmits, counters.timeouts), (0, 0), "{rack} {first:?}");
        assert!(path.model.reordering_seen);
    }
}

fn rack_off() -> Transport {
    Transport { rack: false, ..rack() }
}

#[test]
fn lost_retransmissions_and_lost_tails_need_no_timeout() {
    // The first segment three times, and the last one, are lost.
    let run = |transport: Transport| {
        let mut path = Path::new(transport, 10.0);
        let mut left = BTreeMap::from([(0, 3), (399, 1)]);
        let fate = |_, index: u64| match left.get_mut(&index) {
            Some(count) if *count > 0 => {
                *count -= 1;
                None
            }
            _ => Some(Duration::ZERO),
        };
        path.run(fate, |_| {});
        (path.sender.counters().timeouts, path.sender.counters().retransmits)
    };
    assert_eq!(run(Transport { tlp: true, dsack: true, ..rack() }), (0, 4));
    assert_eq!(run(Transport { dsack: true, ..rack() }), (1, 4));
    assert!(run(rack_off()).0 >= 3);
}

#[test]
fn an_undo_with_rack_goes_on_as_before() {
    let mut path = Path::new(Transport { dsack: true, undo: Undo::Dsack, tlp: true, ..rack() }, 10.0);
    // One segment is late by 60 ms, twice the window for reordering.
    path.run(|_, index| Some(Duration::from_millis(if index == 5 { 60 } else { 0 })), |_| {});
    let counters = path.sender.counters();
    assert_eq!((counters.undos, counters.timeouts), (1, 0));
    assert_eq!(counters.retransmits, 1);
}
