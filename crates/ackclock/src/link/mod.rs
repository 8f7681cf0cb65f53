//! A link without I/O: a queue, a transmitter, propagation, and impairments.
//!
//! The link is lazy. Transmissions need no wake-ups of their own. A call at `now` first starts every transmission
//! that was due by then, at its due time. The queue therefore receives the same calls at the same times as with an
//! event per transmission. The owner of the link has one pending wake-up: the next delivery.
//!
//! At one and the same time, a transmission that becomes due leaves the queue before an arrival enters it.

mod aggregation;
mod bleaching;
mod change;
mod channel;
mod course;
mod dcf;
mod fate;
mod frame;
mod impairments;
mod loss;
mod script;
mod sink;
mod sojourn_times;

pub use aggregation::{AckThinning, Aggregation};
pub use bleaching::Bleaching;
pub use channel::{Channel, Sinks, StationConfig};
pub use course::{DelayCourse, Outages};
pub use dcf::{AfterFailure, Countdown, Dcf};
use impairments::Impaired;
pub use impairments::{Chance, Impairments, Jitter};
pub use loss::{BitErrors, ChannelState, GilbertElliott, Loss};
pub use script::{Script, Scripted};
pub use sink::Sink;
pub use sojourn_times::SojournTimes;

use std::collections::VecDeque;

use hdrhistogram::Histogram;

use crate::qdisc::{Ecn, Qdisc, Queue, QueueSink, Queued, Reason};
use crate::units::{Duration, Instant, Rate};
use crate::variation::{VariableRateSerializer, Variation};

/// The properties of an item that a link needs in addition to those that its queue needs.
pub trait Impairable: Queued + Clone {
    /// Some of its bits have become wrong.
    fn corrupt(&mut self);

    /// A hop has cleared its ECN field.
    fn clear_ecn(&mut self);

    /// It arrives twice: first as `self`, then as the returned value.
    fn double(&mut self) -> Self {
        self.clone()
    }
}

/// The treatment of a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// It leaves the link ahead of time.
    Take,
    /// It comes out of [`Link::poll`] at its time, and is not asked about again.
    Leave,
    /// It stays for now, and so do all after it.
    Stop,
}

/// The configuration of a link.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Bits per second, or `None` for a pure delay.
    pub rate: Option<Rate>,
    /// Capacity over time, or `None` if constant.
    pub varies: Option<Variation>,
    /// Propagation.
    pub delay: Duration,
    /// Impairments after transmission, or `None` for a link without any.
    pub impairments: Option<Impairments>,
    /// Whether sojourn times of packets are kept as a histogram.
    pub histogram: bool,
}

/// One direction of a link.
///
/// The fields have the order of their use, from the beginning of a cache line. Thousands of links are in no cache
/// when a packet arrives.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link<T: Queued> {
    /// The due time of the next queued packet's transmission, or never with an empty queue.
    next_start: Instant,
    delay: Duration,
    /// Packets in flight with their times of arrival, in the order of arrival.
    pipe: VecDeque<(Instant, T)>,
    /// The number of packets at its front that were examined ahead of time and left in place.
    left: usize,
    /// A delay alone: no queue, no impairments, no histogram.
    is_bare: bool,
    transmitter: Transmitter,
    impairments: Option<Box<Impairments>>,
    passed: Passed,
    sojourn_times: Option<Box<SojournTimes>>,
    /// Counters of drops, marks and impairments. They are boxed, because most links have none.
    counters: Option<Box<LinkCounters>>,
    queue: Queue<T>,
}

/// Packets whose transmission began.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    packets: u64,
    bytes: u64,
    /// Sum of their sojourn times.
    sojourn_ns: u64,
}

/// The counters of a link, from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that came to the queue.
    pub arrivals: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// The drops by their reasons, in the order of [`Reason::ALL`].
    pub drops_by: [u64; Reason::ALL.len()],
    /// Drops of packets in profile.
    pub in_profile_drops: u64,
    /// Packets that the queue marked.
    pub marks: u64,
    /// The marks by their reasons, in the order of [`Reason::ALL`].
    pub marks_by: [u64; Reason::ALL.len()],
    /// Packets whose transmission began.
    pub forwarded: u64,
    /// Their bytes.
    pub forwarded_bytes: u64,
    /// Packets lost in transit.
    pub losses: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Packets that arrive twice.
    pub duplicates: u64,
    /// Bytes of packets that arrive a second time.
    pub duplicated_bytes: u64,
    /// Packets that arrive corrupted. One that arrives twice counts once.
    pub corruptions: u64,
    /// Packets that overtook another one.
    pub reordered: u64,
    /// Transmissions on a channel, including failed ones. Each may carry several packets.
    pub attempts: u64,
    /// Transmissions that collided, or arrived with wrong bits.
    pub failed_attempts: u64,
    /// Sum of the sojourn times of forwarded packets, transmission excluded.
    pub sojourn_ns: u64,
}

/// Counts the drops and marks of a link's queue, and reports them to the owner of the link.
struct Reports<'link, S> {
    counters: &'link mut Option<Box<LinkCounters>>,
    sink: &'link mut S,
}

impl<T: Impairable, S: Sink<T>> QueueSink<T> for Reports<'_, S> {
    #[cold]
    fn dropped(&mut self, now: Instant, item: T, reason: Reason) {
        let counters = &mut **self.counters.get_or_insert_default();
        counters.drops += 1;
        counters.drops_by[reason as usize] += 1;
        counters.dropped_bytes += u64::from(item.wire_len());
        counters.in_profile_drops += u64::from(item.in_profile());
        self.sink.dropped(now, item, reason);
    }

    #[cold]
    fn marked(&mut self, now: Instant, item: &T, reason: Reason) {
        let counters = &mut **self.counters.get_or_insert_default();
        counters.marks += 1;
        counters.marks_by[reason as usize] += 1;
        self.sink.marked(now, item, reason);
    }
}

impl<T: Impairable> Link<T> {
    /// An idle link with an empty queue.
    pub fn new(config: LinkConfig, queue: Queue<T>) -> Self {
        let is_pure_delay = config.rate.is_none() && config.impairments.is_none();
        Link {
            is_bare: is_pure_delay && !config.histogram && matches!(queue, Queue::DropTail(_)),
            next_start: Instant::MAX,
            transmitter: Transmitter::new(config.rate, config.varies),
            delay: config.delay,
            impairments: config.impairments.map(Box::new),
            queue,
            pipe: VecDeque::new(),
            left: 0,
            passed: Passed::default(),
            sojourn_times: config.histogram.then(Box::default),
            counters: None,
        }
    }

    /// A packet comes to the queue at `now`.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, item: T, sink: &mut impl Sink<T>) {
        if self.is_bare {
            self.passed.packets += 1;
            self.passed.bytes += u64::from(item.wire_len());
            self.pipe.push_back((now + self.delay, item));
            return;
        }
        self.advance(now, sink);
        let free_at = self.transmitter.free_at;
        let reports = &mut Reports { counters: &mut self.counters, sink };
        // A packet may be queued at an idle transmitter until its queue releases it.
        if free_at > now || self.next_start < Instant::MAX {
            self.queue.enqueue(now, item, reports);
            self.note_backlog();
        } else if let Some(item) = self.queue.bypass(now, now.since(free_at), item, reports) {
            self.transmit(now, Duration::ZERO, item, sink);
        } else {
            self.note_backlog();
        }
    }

    /// Whether nothing is in flight.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.pipe.is_empty()
    }

    /// The time of the next poll. No packet leaves the link before it.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.pipe.front() {
            // Queued packets may overtake packets in flight.
            Some((arrival, _)) if self.reorders() => {
                Some(self.next_commitment().map_or(*arrival, |earliest| earliest.min(*arrival)))
            }
            Some((arrival, _)) => Some(*arrival),
            // Everything sent so far was lost, and more is waiting.
            None => (self.next_start < Instant::MAX).then_some(self.next_start),
        }
    }

    /// The next packet that has come to the far end by `now`.
    #[inline]
    pub fn poll(&mut self, now: Instant, sink: &mut impl Sink<T>) -> Option<T> {
        self.advance(now, sink);
        let (at, item) = self.pipe.front()?;
        if *at > now {
            return None;
        }
        let item = item.clone();
        self.pipe.pop_front();
        self.left = self.left.saturating_sub(1);
        Some(item)
    }

    /// The packet that arrives `place` packets after the next one, if it is in flight already.
    #[inline]
    pub fn under_way(&self, place: usize) -> Option<&T> {
        self.pipe.get(place).map(|(_, item)| item)
    }

    /// Removes a packet in flight from the link ahead of time. `decide` gets its arrival time and whether no packet
    /// follows so far, for one packet after the other.
    ///
    /// For an owner that can process arrivals before they happen. It then wakes the link by [`Link::next_arrival`]
    /// and not by [`Link::next_deadline`]. Do not call it for a link that [`Link::reorders`].
    #[inline(always)]
    pub fn take_ahead(&mut self, decide: impl Fn(Instant, &T, bool) -> Ahead) -> Option<(Instant, T, bool)> {
        loop {
            let (at, item) = self.pipe.get(self.left)?;
            let is_last = self.pipe.len() == self.left + 1;
            match decide(*at, item, is_last) {
                Ahead::Take => {
                    let taken = (*at, item.clone(), is_last);
                    match self.left {
                        0 => drop(self.pipe.pop_front()),
                        _ if is_last => drop(self.pipe.pop_back()),
                        left => drop(self.pipe.remove(left)),
                    }
                    return Some(taken);
                }
                Ahead::Leave => self.left += 1,
                Ahead::Stop => return None,
            }
        }
    }

    /// When something may come out that was not taken ahead of time: nothing does before.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.pipe.front().map_or_else(|| self.next_commitment(), |(at, _)| Some(*at))
    }

    /// Whether the link impairs packets.
    #[inline]
    pub fn is_impaired(&self) -> bool {
        self.impairments.is_some()
    }

    /// Whether packets may overtake one another.
    #[inline]
    pub fn reorders(&self) -> bool {
        self.impairments.as_ref().is_some_and(|impairments| impairments.reorders())
    }

    /// A time before which nothing comes out that is not in flight already.
    #[inline]
    pub fn next_commitment(&self) -> Option<Instant> {
        (self.next_start < Instant::MAX).then(|| self.next_start + self.delay)
    }

    /// The same for a link that keeps the order of packets. Nothing comes out before the last packet in flight, which
    /// jitter can delay beyond the next commitment.
    pub fn next_commitment_in_order(&self) -> Option<Instant> {
        let last = self.pipe.back().map_or(Instant::ZERO, |(at, _)| *at);
        self.next_commitment().map(|at| at.max(last))
    }

    /// Starts every transmission that is due by `now`.
    #[inline(always)]
    pub fn advance(&mut self, now: Instant, sink: &mut impl Sink<T>) {
        if self.next_start <= now {
            self.catch_up(now, sink);
        }
    }

    /// The queue took or gave something.
    #[inline]
    fn note_backlog(&mut self) {
        let is_backlogged = self.queue.backlog_packets() > 0;
        self.next_start =
            if is_backlogged { self.transmitter.free_at.max(self.queue.next_deadline()) } else { Instant::MAX };
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Instant, sink: &mut impl Sink<T>) {
        while self.next_start <= now {
            let start = self.next_start;
            if let Some((since, item)) = self.take(start, sink) {
                self.transmit(start, start.since(since), item, sink);
                self.note_backlog();
            } else {
                self.note_backlog();
                assert!(self.next_start > start, "invariant: a queue that gives nothing names a later time");
            }
        }
    }

    /// The next packet leaves the queue, if there is one that may.
    #[inline]
    fn take(&mut self, start: Instant, sink: &mut impl Sink<T>) -> Option<(Instant, T)> {
        let (since, item) = self.queue.dequeue(start, &mut Reports { counters: &mut self.counters, sink })?;
        sink.dequeued(&item, start.since(since));
        Some((since, item))
    }

    /// The counters so far. Call [`Link::advance`] first for exact figures.
    pub fn counters(&self) -> LinkCounters {
        let counters = self.counters.as_deref().copied().unwrap_or_default();
        let Passed { packets, bytes, sojourn_ns } = self.passed;
        LinkCounters {
            arrivals: packets + counters.drops + u64::from(self.queue.backlog_packets()),
            forwarded: packets,
            forwarded_bytes: bytes,
            sojourn_ns,
            ..counters
        }
    }

    /// The sojourn times of forwarded packets, in nanoseconds, since the last [`Link::clear_sojourn_times`].
    pub fn sojourn_times(&self) -> Option<Histogram<u64>> {
        self.sojourn_times.as_ref().map(|times| times.histogram())
    }

    /// Forgets the sojourn times.
    pub fn clear_sojourn_times(&mut self) {
        if let Some(times) = &mut self.sojourn_times {
            times.clear();
        }
    }

    /// Packets and bytes in the queue.
    pub fn backlog(&self) -> (u32, u64) {
        (self.queue.backlog_packets(), self.queue.backlog_bytes())
    }

    /// Packets that were sent and have not arrived, and their bytes.
    pub fn in_transit(&self) -> (usize, u64) {
        (self.pipe.len(), self.pipe.iter().map(|(_, item)| u64::from(item.wire_len())).sum())
    }

    /// Shows every queued packet, and every one that was sent with the time of its arrival. Call [`Link::advance`] first.
    pub fn visit(&self, mut see: impl FnMut(&T, Option<Instant>)) {
        self.queue.visit(&mut |_, item| see(item, None));
        self.pipe.iter().for_each(|(at, item)| see(item, Some(*at)));
    }

    #[inline(always)]
    fn transmit(&mut self, start: Instant, sojourn: Duration, item: T, sink: &mut impl Sink<T>) {
        self.begin(start, sojourn, &item, sink);
        let left = self.transmitter.send(start, item.wire_len());
        self.send_off(start, left, item, sink);
    }

    /// Counts a packet whose transmission begins.
    #[inline(always)]
    fn begin(&mut self, start: Instant, sojourn: Duration, item: &T, sink: &mut impl Sink<T>) {
        self.passed.packets += 1;
        self.passed.bytes += u64::from(item.wire_len());
        self.passed.sojourn_ns = self.passed.sojourn_ns.saturating_add(sojourn.as_nanos());
        if let Some(times) = &mut self.sojourn_times {
            times.record(sojourn);
            sink.transmitted(start, item);
        }
    }

    /// A packet has left the transmitter at `left`, and arrives unless an impairment prevents it.
    #[inline(always)]
    fn send_off(&mut self, start: Instant, left: Instant, item: T, sink: &mut impl Sink<T>) {
        match &mut self.impairments {
            None => self.pipe.push_back((left + self.delay, item)),
            Some(impairments) => {
                let impaired = impairments.apply(left, self.delay, &item);
                self.deliver(start, impaired, item, sink);
            }
        }
    }

    #[inline(never)]
    fn deliver(&mut self, start: Instant, impaired: Impaired, mut item: T, sink: &mut impl Sink<T>) {
        let Impaired { at, lost, marked, bleached, doubled, corrupted } = impaired;
        let bytes = u64::from(item.wire_len());
        let counters = &mut **self.counters.get_or_insert_default();
        if lost {
            counters.losses += 1;
            counters.lost_bytes += bytes;
            sink.lost(at, item);
            return;
        }
        if marked && matches!(item.ecn(), Ecn::Ect0 | Ecn::Ect1) {
            item.mark();
        }
        if bleached.clears(item.ecn()) {
            item.clear_ecn();
        }
        if corrupted {
            counters.corruptions += 1;
            item.corrupt();
        }
        // After everything that arrives no later.
        let place = self.pipe.iter().rposition(|(arrival, _)| *arrival <= at).map_or(0, |before| before + 1);
        counters.reordered += u64::from(place < self.pipe.len());
        if doubled {
            counters.duplicates += 1;
            counters.duplicated_bytes += bytes;
            sink.doubled(start, &item);
            let second = item.double();
            self.pipe.insert(place, (at, second));
        }
        self.pipe.insert(place, (at, item));
    }
}

/// Turns bytes into time, without accumulated rounding while it is busy.
#[derive(Clone, Debug)]
struct Transmitter {
    free_at: Instant,
    line: Line,
    /// The part of the busy period below whole nanoseconds, in 1/rate ns.
    remainder: u64,
    /// The last length asked for, and its time: links mostly carry packets of one size.
    cached: (u32, Duration, u64),
}

/// The serializer of a transmitter.
#[derive(Clone, Debug)]
enum Line {
    /// Everything at once.
    Delay,
    /// At the same rate at all times.
    Even(Rate),
    /// At a rate that varies.
    Varying(Box<VariableRateSerializer>),
}

impl Line {
    /// Sends without a constant rate. Returns the time at which the last bit has left.
    #[inline(never)]
    fn send(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Line::Varying(pace) => pace.send(start, bytes),
            Line::Delay | Line::Even(_) => start,
        }
    }
}

impl Transmitter {
    fn new(rate: Option<Rate>, varies: Option<Variation>) -> Self {
        let line = match (rate, varies) {
            (None, _) => Line::Delay,
            (Some(rate), None) => Line::Even(rate),
            (Some(_), Some(variation)) => Line::Varying(Box::new(VariableRateSerializer::new(variation))),
        };
        Transmitter { free_at: Instant::ZERO, line, remainder: 0, cached: (0, Duration::ZERO, 0) }
    }

    /// Sends `bytes` from `start` on. Returns the time at which the last bit has left.
    #[inline]
    fn send(&mut self, start: Instant, bytes: u32) -> Instant {
        let rate = match &mut self.line {
            Line::Even(rate) => *rate,
            line => {
                self.free_at = line.send(start, bytes);
                return self.free_at;
            }
        };
        if start > self.free_at {
            self.remainder = 0;
        }
        if self.cached.0 != bytes {
            let (length, remainder) = rate.transmission(u64::from(bytes));
            self.cached = (bytes, length, remainder);
        }
        let (_, mut length, remainder) = self.cached;
        self.remainder += remainder;
        if self.remainder >= rate.as_bps() {
            self.remainder -= rate.as_bps();
            length += Duration::from_nanos(1);
        }
        self.free_at = start + length;
        self.free_at
    }
}

#[cfg(test)]
mod tests;
