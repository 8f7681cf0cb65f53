//! A sender, a bottleneck and a receiver in virtual time, for tests that inspect the state of an algorithm. A test
//! may change the parts while they run.

use std::collections::{BTreeMap, VecDeque};

use super::{Cc, CcContext, CcSpec};
use crate::ecn::Ecn;
use crate::rng::{Rng, RngStreams};
use crate::tcp::{AckSegment, DataSegment, Receiver, Sender};
use crate::transport::{LossRecovery, Transport, Undo};
use crate::units::{Duration, Instant, Rate};

pub(super) const MSS: u64 = 1460;
const PACKET: u64 = 1500;

/// A transport that finds spurious timeouts.
pub(super) fn with_timestamps(transport: Transport) -> Transport {
    Transport { timestamps: true, undo: Undo::Both, ..transport }
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) fn mbit(rate: f64) -> Rate {
    Rate::from_bps((rate * 1e6) as u64).unwrap()
}

/// The data that an application writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Application {
    /// Always more.
    Greedy,
    /// One segment each time.
    Every(Duration),
    /// Nothing.
    Pauses,
}

#[derive(Debug)]
enum Event {
    /// Data come to the receiver.
    Data(DataSegment),
    /// An ACK comes to the sender.
    Ack(AckSegment),
    /// The application writes a segment.
    Write,
}

/// One flow on one path.
pub(super) struct Path {
    pub(super) now: Instant,
    pub(super) sender: Sender,
    receiver: Receiver,
    pub(super) rate: Rate,
    /// Propagation from end to end and back.
    pub(super) delay: Duration,
    /// Packets that may wait at the bottleneck.
    pub(super) limit: usize,
    /// One in this number of packets is lost at the bottleneck. 0 stands for none.
    pub(super) lose_each: u64,
    /// ACKs come together, at whole multiples of this.
    pub(super) ack_grid: Duration,
    /// The next packets, so many of them, take so much longer.
    pub(super) late: (u32, Duration),
    /// Packets take up to so much longer, at random and in order.
    jitter: Duration,
    random: Rng,
    last_arrival: Instant,
    /// A policer in front of the bottleneck: bytes that it lets go at once, with its rate.
    pub(super) policer: Option<(f64, Rate)>,
    tokens: f64,
    tokens_at: Instant,
    application: Application,
    /// When packets leave the bottleneck.
    departures: VecDeque<Instant>,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    pub(super) sent: u64,
    pub(super) lost: u64,
    pub(super) delivered: u64,
}

impl Path {
    /// An algorithm on a path, which begins to send without an end.
    pub(super) fn new(cc: &str, rate: Rate, delay: Duration, limit: usize) -> Self {
        Path::with(CcSpec::by_name(cc).unwrap(), rate, delay, limit, |transport| transport)
    }

    pub(super) fn with(
        cc: CcSpec,
        rate: Rate,
        delay: Duration,
        limit: usize,
        change: impl FnOnce(Transport) -> Transport,
    ) -> Self {
        Path::with_context(cc, CcContext::new(10.0), rate, delay, limit, change)
    }

    pub(super) fn with_context(
        cc: CcSpec,
        context: CcContext,
        rate: Rate,
        delay: Duration,
        limit: usize,
        change: impl FnOnce(Transport) -> Transport,
    ) -> Self {
        let transport = change(Transport {
            recovery: LossRecovery::Sack,
            timestamps: false,
            dsack: true,
            undo: Undo::Dsack,
            ..Transport::default()
        });
        let cc = cc.build(transport.cc_context(context, 1));
        let mut path = Path {
            now: Instant::ZERO + Duration::from_secs(1),
            receiver: Receiver::new(&transport),
            sender: Sender::new(transport, cc),
            rate,
            delay,
            limit,
            lose_each: 0,
            ack_grid: Duration::ZERO,
            late: (0, Duration::ZERO),
            jitter: Duration::ZERO,
            random: RngStreams::new(1, 0).stream("path", "jitter"),
            last_arrival: Instant::ZERO,
            policer: None,
            tokens: f64::INFINITY,
            tokens_at: Instant::ZERO,
            application: Application::Pauses,
            departures: VecDeque::new(),
            events: BTreeMap::new(),
            scheduled: 0,
            sent: 0,
            lost: 0,
            delivered: 0,
        };
        path.sender.open(path.now);
        path.set_application(Application::Greedy);
        path
    }

    pub(super) fn cc(&self) -> &Cc {
        self.sender.cc()
    }

    /// From now on, packets take up to so much longer, at random and in order.
    pub(super) fn set_jitter(&mut self, jitter: Duration, seed: u64) {
        (self.jitter, self.random) = (jitter, RngStreams::new(seed, 0).stream("path", "jitter"));
    }

    pub(super) fn set_application(&mut self, application: Application) {
        self.application = application;
        self.events.retain(|_, event| !matches!(event, Event::Write));
        // What was written and has not left is discarded.
        self.sender.stop_writing();
        match application {
            Application::Greedy => self.sender.write_forever(),
            Application::Every(_) => self.schedule(self.now, Event::Write),
            Application::Pauses => {}
        }
        self.transmit();
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    /// The next thing happens.
    pub(super) fn step(&mut self) {
        let event_at = self.events.first_key_value().map(|((at, _), _)| *at);
        let timer_at = self.sender.next_deadline();
        let next = [event_at, timer_at].into_iter().flatten().min().expect("a path has a next event");
        self.now = self.now.max(next);
        if event_at.is_some_and(|at| timer_at.is_none_or(|timer| at <= timer)) {
            match self.events.pop_first().expect("there is an event").1 {
                Event::Data(segment) => self.receive(&segment),
                Event::Ack(ack) => self.sender.on_ack(self.now, &ack),
                Event::Write => {
                    self.sender.write(self.now, MSS);
                    if let Application::Every(gap) = self.application {
                        self.schedule(self.now + gap, Event::Write);
                    }
                }
            }
        } else {
            self.sender.on_deadline(self.now);
        }
        self.transmit();
    }

    fn receive(&mut self, segment: &DataSegment) {
        self.delivered += 1;
        if let Some(ack) = self.receiver.on_data(self.now, segment, Ecn::NotEct) {
            let (at, grid) = ((self.now + self.delay / 2).as_nanos(), self.ack_grid.as_nanos().max(1));
            self.schedule(Instant::from_nanos(at.next_multiple_of(grid)), Event::Ack(ack));
        }
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.sent += 1;
            self.enter(segment);
        }
    }

    /// A packet comes to the bottleneck.
    fn enter(&mut self, segment: DataSegment) {
        while self.departures.front().is_some_and(|at| *at <= self.now) {
            self.departures.pop_front();
        }
        let is_lost = self.lose_each > 0 && self.sent.is_multiple_of(self.lose_each);
        if is_lost || self.departures.len() > self.limit || self.is_policed() {
            self.lost += 1;
            return;
        }
        let starts = self.departures.back().copied().unwrap_or(self.now).max(self.now);
        let leaves = starts + self.rate.transmission(PACKET).0;
        self.departures.push_back(leaves);
        let (late, by) = &mut self.late;
        let late_by = if *late > 0 { *by } else { Duration::ZERO };
        *late = late.saturating_sub(1);
        let arrival = leaves + self.delay / 2 + late_by;
        if self.jitter.is_zero() {
            return self.schedule(arrival, Event::Data(segment));
        }
        let arrival = arrival + self.jitter.mul_f64_floor(self.random.next_f64());
        self.last_arrival = self.last_arrival.max(arrival);
        self.schedule(self.last_arrival, Event::Data(segment));
    }

    fn is_policed(&mut self) -> bool {
        let Some((burst, rate)) = self.policer else { return false };
        let refill = self.now.since(self.tokens_at).as_secs_f64() * rate.as_bps() as f64 / 8.0;
        self.tokens_at = self.now;
        self.tokens = (self.tokens + refill).min(burst);
        let has_tokens = self.tokens >= PACKET as f64;
        self.tokens -= if has_tokens { PACKET as f64 } else { 0.0 };
        !has_tokens
    }

    pub(super) fn backlog(&self) -> usize {
        self.departures.iter().filter(|at| **at > self.now).count()
    }

    /// Runs for a time.
    pub(super) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        self.run_until(&format!("{time}"), |path| path.now >= end);
    }

    /// Runs until a condition holds, which must be within two minutes.
    pub(super) fn run_until(&mut self, what: &str, mut holds: impl FnMut(&Path) -> bool) {
        let end = self.now + Duration::from_secs(120);
        while !holds(self) {
            self.step();
            assert!(self.now < end, "no {what}: {:?}", self.cc());
        }
    }

    /// Payload bits per second that arrive in the next `time`.
    pub(super) fn goodput_over(&mut self, time: Duration) -> f64 {
        let (start, before) = (self.now, self.receiver.delivered());
        self.run_for(time);
        (self.receiver.delivered() - before) as f64 * 8.0 / self.now.since(start).as_secs_f64()
    }
}
