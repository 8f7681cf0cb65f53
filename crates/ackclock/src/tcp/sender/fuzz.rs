//! Compares RACK with the pseudocode of RFC 8985, over paths that lose and reorder, for fuzzers and tests.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{Sender, State};
use crate::cc::{CaState, CcContext, CcSpec};
use crate::ecn::Ecn;
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::{AckSegment, DataSegment};
use crate::transport::{Reduction, Transport};
use crate::units::{Duration, Instant};

/// Bytes of a segment.
const MSS: u64 = 1000;
/// Segments of a connection that is fuzzed.
const SEGMENTS: u64 = 60;
/// Transmissions and ACKs that may be lost, late or both.
const MOST: usize = 1_000;

/// RFC 8985 §6.2 and §6.3 as written: every event examines all segments.
#[derive(Default)]
pub(super) struct Model {
    segments: Vec<Sent>,
    una: u64,
    /// RACK.xmit_ts and RACK.end_seq.
    latest: Option<(Instant, u64)>,
    rtt: Duration,
    fack: u64,
    pub(super) reordering_seen: bool,
    /// The smallest measured RTT, including the present ACK.
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

impl Sent {
    fn delivered_now(&mut self) {
        (self.delivered, self.copies) = (true, 0);
    }
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

    /// Copies in flight.
    pub(super) fn pipe(&self) -> u32 {
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
        // The sender does not look behind a retransmission whose ACK may be of the first transmission, but for segments that were
        // sent once.
        let is_valid = |index: &u64| {
            let segment = self.segments[*index as usize];
            !segment.retransmitted || self.min_rtt.is_none_or(|least| now.since(segment.at) >= least)
        };
        if !new.last().is_some_and(is_valid) {
            let once = |index: &u64| !self.segments[*index as usize].retransmitted;
            let valid: Vec<u64> = new.iter().copied().filter(once).collect();
            new.iter().for_each(|index| self.segments[*index as usize].delivered_now());
            new = valid;
        }
        for index in new {
            let segment = &mut self.segments[index as usize];
            segment.delivered_now();
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

/// A segment or an ACK in flight.
enum Event {
    Data(DataSegment),
    Ack(AckSegment),
}

/// A sender, a receiver and the parallel model, over a path of 100 ms.
pub(super) struct Path {
    pub(super) sender: Sender,
    receiver: Receiver,
    pub(super) model: Model,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
    pub(super) now: Instant,
    /// The end of the sent data when the last recovery began.
    point: u64,
}

impl Path {
    /// So many segments, from a window of so many.
    pub(super) fn new(transport: Transport, window: f64, segments: u64) -> Self {
        let cc = CcSpec::by_name("aimd").unwrap().build(CcContext::new(window));
        let mut sender = Sender::new(transport.clone(), cc);
        sender.open(Instant::ZERO);
        sender.write(Instant::ZERO, segments * MSS);
        let (events, model) = (BTreeMap::new(), Model::default());
        Path { sender, receiver: Receiver::new(&transport), model, events, number: 0, now: Instant::ZERO, point: 0 }
    }

    fn add(&mut self, at: Instant, event: Event) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// Sends the permitted segments. `fate` gives the delay of each beyond 50 ms, or none for a loss.
    fn send(&mut self, fate: &mut impl FnMut(Instant, u64) -> Option<Duration>) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let index = segment.seq / MSS;
            self.model.transmit(self.now, index);
            if let Some(more) = fate(self.now, index) {
                self.add(self.now + Duration::from_millis(50) + more, Event::Data(segment));
            }
        }
    }

    /// Runs until all data are acknowledged. `check` compares after each event. `fate_of_ack` corresponds to `fate`
    /// for ACKs.
    pub(super) fn run(
        &mut self,
        mut fate: impl FnMut(Instant, u64) -> Option<Duration>,
        mut fate_of_ack: impl FnMut() -> Option<Duration>,
        check: impl Fn(&Path),
    ) {
        self.send(&mut fate);
        while !self.sender.is_done() {
            let next = self.events.first_key_value().map(|(key, _)| key.0);
            let timer = self.sender.next_deadline();
            let state = self.sender.info().state;
            let (srtt, least) = (self.sender.rtt().srtt(), self.sender.rtt().min());
            self.model.min_rtt = (!least.is_zero()).then_some(least);
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
                        let ack = self.receiver.on_data(at, &segment, Ecn::NotEct);
                        if let Some((ack, more)) = ack.and_then(|ack| Some((ack, fate_of_ack()?))) {
                            self.add(at + Duration::from_millis(50) + more, Event::Ack(ack));
                        }
                        continue;
                    }
                    Event::Ack(ack) => {
                        let before = self.sender.acknowledged();
                        // Of an old ACK only blocks above count.
                        let blocks = ack.sack.iter(ack.ack).filter(|(_, to)| *to > before);
                        let blocks: Vec<_> = blocks.map(|(from, to)| (from / MSS, to / MSS)).collect();
                        self.sender.on_ack(at, &ack);
                        if ack.ack >= before || !blocks.is_empty() {
                            self.model.on_ack(at, ack.ack.max(before) / MSS, &blocks, srtt, state, self.point);
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

/// Sends a few segments over a path. Each byte determines the outcome of a transmission or an ACK: lost, late, or
/// neither. After each event, data in flight equal the result of the pseudocode of RFC 8985 §6.
///
/// # Panics
/// If it is not.
pub fn fuzz_rack(data: &[u8]) {
    let (&[options, window], data) = data.split_first_chunk().unwrap_or((&[0, 9], &[]));
    let transport = Transport {
        mss: MSS as u32,
        rack: true,
        prr: if options & 1 > 0 { Reduction::Proportional } else { Reduction::AtOnce },
        limited_transmit: options & 2 > 0,
        ..Transport::default()
    };
    let mut path = Path::new(transport, f64::from(window % 40 + 1), SEGMENTS);
    let bytes = RefCell::new(data.iter().take(MOST));
    let next = || match bytes.borrow_mut().next().copied().unwrap_or(0) {
        late @ 128..224 => Some(Duration::from_millis(u64::from(late) - 127)),
        224.. => None,
        _ => Some(Duration::ZERO),
    };
    path.run(
        |_, _| next(),
        next,
        |path| {
            assert_eq!(path.sender.in_flight(), path.model.pipe(), "in flight at {:?}", path.now);
        },
    );
}
