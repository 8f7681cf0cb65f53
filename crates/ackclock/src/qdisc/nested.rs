//! A queue within another one: its key, and a look at its next item.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Limit, Misfit, Place, Qdisc, Queue, QueuePlan, QueueSink, QueueSpec, Queued, Reason};
use crate::quantity::{Problem, Shorthand};
use crate::units::{Duration, Instant};

/// A queue within another one: the name of a discipline, or a table with its `kind` and keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct InnerQueue(Box<QueueSpec>);

impl InnerQueue {
    /// Its keys.
    pub(super) fn spec(&self) -> &QueueSpec {
        &self.0
    }

    /// The queue at a link.
    ///
    /// # Errors
    /// Fails if a key does not fit. The key `queue` contains the key of the inner queue.
    pub(super) fn plan(&self, place: &Place) -> Result<QueuePlan, Misfit> {
        let planned = match self.spec() {
            QueueSpec::Kernel(_) => Err(("kind", Problem::KernelQueueInside)),
            spec => spec.plan(place),
        };
        planned.map_err(|(key, problem)| ("queue", inside(key, problem)))
    }
}

/// The problem of a key of an inner queue, or of a class.
pub(super) fn inside(key: impl fmt::Display, problem: Problem) -> Problem {
    match problem {
        Problem::Within { place, problem } => Problem::Within { place: format!("{key}.{place}"), problem },
        problem => Problem::Within { place: key.to_string(), problem: Box::new(problem) },
    }
}

/// The reasons of several queues, each once.
pub(super) fn union(reasons: impl IntoIterator<Item = Vec<Reason>>) -> Vec<Reason> {
    let all: Vec<Reason> = reasons.into_iter().flatten().collect();
    Reason::ALL.into_iter().filter(|reason| all.contains(reason)).collect()
}

impl<'de> Deserialize<'de> for InnerQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;

        impl<'de> Visitor<'de> for NameOrTable {
            type Value = QueueSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a queue discipline, or a table with its kind")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<QueueSpec, E> {
                let table = std::iter::once(("kind", name));
                QueueSpec::deserialize(MapDeserializer::new(table))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<QueueSpec, A::Error> {
                QueueSpec::deserialize(MapAccessDeserializer::new(table))
            }
        }

        deserializer.deserialize_any(NameOrTable).map(|spec| InnerQueue(Box::new(spec)))
    }
}

impl JsonSchema for InnerQueue {
    fn schema_name() -> Cow<'static, str> {
        "InnerQueue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Shorthand::<QueueSpec>::json_schema(generator)
    }
}

/// A queue whose next item can be taken out ahead of its departure, as by Linux's `qdisc_peek_dequeued()`.
///
/// A queue without items ahead behaves as if it were alone. The item ahead counts in the limit.
#[derive(Clone, Debug)]
pub(super) struct Ahead<T: Queued> {
    queue: Queue<T>,
    limit: Limit,
    first: Option<(Instant, T)>,
}

impl<T: Queued> Ahead<T> {
    pub(super) fn new(queue: Queue<T>) -> Self {
        Ahead { limit: queue.limit(), queue, first: None }
    }

    pub(super) fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        self.queue.enqueue(now, item, sink);
    }

    /// Bytes of the next item, which is taken out ahead. None if the queue is empty or keeps its items.
    pub(super) fn first_len(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<u32> {
        if self.first.is_none() {
            self.first = self.queue.dequeue(now, sink);
            if let Some((_, item)) = &self.first {
                self.queue.set_limit(self.limit.without(item.wire_len()));
            }
        }
        self.first.as_ref().map(|(_, item)| item.wire_len())
    }

    /// Takes out the next item.
    pub(super) fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let Some(first) = self.first.take() else { return self.queue.dequeue(now, sink) };
        self.queue.set_limit(self.limit);
        Some(first)
    }

    pub(super) fn idled(&mut self, idle: Duration) {
        self.queue.idled(idle);
    }

    pub(super) fn next_deadline(&self) -> Instant {
        if self.first.is_some() { Instant::ZERO } else { self.queue.next_deadline() }
    }

    #[inline]
    pub(super) fn backlog_packets(&self) -> u32 {
        self.queue.backlog_packets() + u32::from(self.first.is_some())
    }

    #[inline]
    pub(super) fn backlog_bytes(&self) -> u64 {
        self.queue.backlog_bytes() + self.first.as_ref().map_or(0, |(_, item)| u64::from(item.wire_len()))
    }

    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    pub(super) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
        let ahead = self.first.as_ref().map(|(_, item)| item.wire_len());
        self.queue.set_limit(ahead.map_or(limit, |len| limit.without(len)));
    }

    pub(super) fn order(&self, item: &T) -> u64 {
        self.queue.order(item)
    }

    pub(super) fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        if let Some((since, item)) = &self.first {
            see(*since, item);
        }
        self.queue.visit(see);
    }

    pub(super) fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.queue.state(see);
    }
}
