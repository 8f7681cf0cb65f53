//! Flow queueing of RFC 8290: flows are hashed into queues that take turns, and newly active ones go first.
//!
//! Each queue has an active queue management of its own ([`FlowAqm`]). FQ-CoDel, FQ-PIE and FQ-COBALT differ in nothing else.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::with_prefix;
use super::fifo::Fifo;
use super::flow_queues::FlowQueues;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The most items that are dropped at once.
const BATCH: u32 = 64;

/// The active queue management of each queue.
pub trait FlowAqm: Clone {
    /// The same for all queues.
    type Parameters;

    /// Whether an item that does not fit is dropped. Otherwise the longest queue loses half of its items.
    const DROPS_ARRIVALS: bool;

    /// The state of an empty queue.
    fn new(parameters: &Self::Parameters) -> Self;

    /// An item arrives that fits. Returns it if it may be queued.
    fn admit<T: Queued>(
        &mut self,
        parameters: &Self::Parameters,
        now: Instant,
        item: T,
        backlog: u64,
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<T>;

    /// The queue is the longest one, and loses items to the limit.
    fn overflow(&mut self, _parameters: &Self::Parameters, _now: Instant) {}

    /// Shows its state.
    fn show(&self, parameters: &Self::Parameters, see: &mut dyn FnMut(&str, f64));

    /// Takes the next item to send. The number is the bytes in other queues that count for this one.
    fn next<T: Queued>(
        &mut self,
        parameters: &Self::Parameters,
        now: Instant,
        queue: (&mut Fifo<T>, u64),
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)>;
}

/// The rules where Linux differs from RFC 8290.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FairQueueVariant {
    /// RFC 8290: a new queue without packets becomes an old queue. The `mtu` bounds the backlog of the queue itself.
    #[default]
    Rfc,
    /// Linux: a new queue without packets becomes inactive if there is no old queue. The `mtu` bounds the backlog of all
    /// queues.
    Linux,
}

/// Hash, turns, and the parameters of each queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairQueueParameters<P> {
    /// The rules where Linux differs.
    pub variant: FairQueueVariant,
    /// Number of queues, at least 1.
    pub flows: u32,
    /// Bytes that a queue may send in a round, at least 1.
    pub quantum: u32,
    /// The active queue management of each queue.
    pub aqm: P,
}

/// An active queue management in each of many queues, and a limit for all of them.
#[derive(Clone, Debug)]
pub struct FairQueue<T, A: FlowAqm> {
    limit: Limit,
    parameters: FairQueueParameters<A::Parameters>,
    queues: FlowQueues<T, FlowState<A>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    stream: Rng,
}

#[derive(Clone, Debug)]
struct FlowState<A> {
    is_active: bool,
    /// Bytes that it may send in its turn.
    credits: i64,
    aqm: A,
}

impl<T: Queued, A: FlowAqm> FairQueue<T, A> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: FairQueueParameters<A::Parameters>, mut stream: Rng) -> Self {
        let first = FlowState { is_active: false, credits: 0, aqm: A::new(&parameters.aqm) };
        let mut queues = FlowQueues::new(Some(parameters.flows), first);
        queues.salt(stream.next_u64());
        FairQueue { limit, parameters, queues, new: VecDeque::new(), old: VecDeque::new(), stream }
    }

    /// The active queue with the most bytes.
    fn longest(&self) -> Option<usize> {
        let active = || self.new.iter().chain(&self.old).copied();
        active().nth(self.queues.longest(active()))
    }

    /// Makes room: drops from the head of the longest queue.
    fn shrink(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) {
        let Some(place) = self.longest() else { return };
        let aqm = &self.parameters.aqm;
        self.queues.take(place, |queue| {
            queue.state.aqm.overflow(aqm, now);
            let batch = (queue.fifo.packets() / 2).clamp(1, BATCH);
            for _ in 0..batch {
                if let Some((_, item)) = queue.fifo.pop() {
                    sink.dropped(now, item, Reason::Full);
                }
            }
        });
    }
}

impl<T: Queued, A: FlowAqm> Qdisc<T> for FairQueue<T, A> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if A::DROPS_ARRIVALS && !self.limit.fits(self.queues.packets(), self.queues.bytes(), item.wire_len()) {
            sink.dropped(now, item, Reason::Full);
            return;
        }
        let place = self.queues.place_of(&item);
        let queue = self.queues.at(place);
        let (aqm, backlog) = (&mut queue.state.aqm, queue.fifo.bytes());
        let Some(item) = aqm.admit(&self.parameters.aqm, now, item, backlog, &mut self.stream, sink) else { return };
        self.queues.push_at(place, now, item);
        let state = &mut self.queues.at(place).state;
        if !state.is_active {
            state.is_active = true;
            state.credits = i64::from(self.parameters.quantum);
            self.new.push_back(place);
        }
        while !self.queues.keep(self.limit) {
            self.shrink(now, sink);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let state = &mut self.queues.at(place).state;
            if state.credits <= 0 {
                state.credits += i64::from(self.parameters.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let (aqm, stream) = (&self.parameters.aqm, &mut self.stream);
            let is_linux = self.parameters.variant == FairQueueVariant::Linux;
            let all = if is_linux { self.queues.bytes() } else { 0 };
            let sent = self.queues.take(place, |queue| {
                let others = all.saturating_sub(queue.fifo.bytes());
                queue.state.aqm.next(aqm, now, (&mut queue.fifo, others), stream, sink)
            });
            let Some((since, item)) = sent else {
                list.pop_front();
                if is_new && !(is_linux && self.old.is_empty()) {
                    self.old.push_back(place);
                } else {
                    self.queues.at(place).state.is_active = false;
                }
                continue;
            };
            self.queues.at(place).state.credits -= i64::from(item.wire_len());
            return Some((since, item));
        }
    }

    /// The transmitter has asked for another item, and all queues were empty. None of them is active any more.
    fn idled(&mut self, _idle: Duration) {
        for place in self.new.drain(..).chain(self.old.drain(..)) {
            self.queues.at(place).state.is_active = false;
        }
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.queues.packets()
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.queues.bytes()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.queues.visit(see);
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("active_flows", (self.new.len() + self.old.len()) as f64);
        let mut see = with_prefix("longest_", see);
        let idle = A::new(&self.parameters.aqm);
        let (bytes, aqm) = self.longest().map_or((0, &idle), |place| {
            let queue = self.queues.get(place);
            (queue.fifo.bytes(), &queue.state.aqm)
        });
        see("bytes", bytes as f64);
        aqm.show(&self.parameters.aqm, &mut see);
    }
}
