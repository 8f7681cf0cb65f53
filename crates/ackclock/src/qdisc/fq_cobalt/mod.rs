//! FQ-COBALT: flows are hashed into queues with COBALT. Queues take turns, and newly active ones go first.
//!
//! Reference: the scheduler of RFC 8290, as in [`super::fq_codel`], with [`super::cobalt`] in each queue. ns-3 has it as
//! `FqCobaltQueueDisc`.
//!
//! Deviations: the same as in both parts. The longest queue raises its probability when it loses packets to the limit.
//! The probability and the count of an empty queue fall at the highest possible speed.

mod keys;

pub use keys::{FqCobaltKeys, FqCobaltParameters};

use super::cobalt::{CobaltParameters, Controller};
use super::fair_queue::{FairQueue, FlowAqm};
use super::fifo::Fifo;
use super::{QueueSink, Queued};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// COBALT in each of many queues, and a limit for all of them.
pub type FqCobalt<T> = FairQueue<T, CobaltOfFlow>;

/// COBALT in one of the queues.
#[derive(Clone, Debug)]
pub struct CobaltOfFlow(Controller);

impl FlowAqm for CobaltOfFlow {
    type Parameters = CobaltParameters;

    const DROPS_ARRIVALS: bool = false;

    fn new(_parameters: &CobaltParameters) -> Self {
        CobaltOfFlow(Controller::default())
    }

    #[inline]
    fn admit<T: Queued>(
        &mut self,
        parameters: &CobaltParameters,
        now: Instant,
        item: T,
        backlog: u64,
        _stream: &mut Rng,
        _sink: &mut dyn QueueSink<T>,
    ) -> Option<T> {
        if backlog == 0 {
            self.0.rest(parameters, now);
        }
        Some(item)
    }

    fn overflow(&mut self, parameters: &CobaltParameters, now: Instant) {
        self.0.overflow(parameters, now);
    }

    fn show(&self, parameters: &CobaltParameters, see: &mut dyn FnMut(&str, f64)) {
        self.0.show(parameters, see);
    }

    #[inline]
    fn next<T: Queued>(
        &mut self,
        parameters: &CobaltParameters,
        now: Instant,
        (fifo, _others): (&mut Fifo<T>, u64),
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        self.0.dequeue(parameters, now, Duration::ZERO, fifo, stream, sink)
    }
}
