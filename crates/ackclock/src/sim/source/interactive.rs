//! Somebody who types: small writes at random times on a connection that stays open, whatever became of those before.

use std::collections::VecDeque;

use crate::rng::{Rng, RngStreams};
use crate::sim::endpoint::SendingEnd;
use crate::sim::plan::{FlowPlan, InteractivePlan};
use crate::sim::transfer::TransferLog;
use crate::units::Instant;

/// The keystrokes of a flow, and those that have not come to the receiver.
#[derive(Clone, Debug)]
pub struct Interactive {
    plan: InteractivePlan,
    pauses: Rng,
    sizes: Rng,
    stop: Option<Instant>,
    next: Option<Instant>,
    /// Bytes written so far.
    written: u64,
    /// Where each keystroke in flight ends, and when it was made.
    pending: VecDeque<(u64, Instant)>,
    /// Keystrokes.
    pub log: TransferLog,
}

impl Interactive {
    /// Before the first keystroke, at the start of the flow.
    pub fn new(plan: &InteractivePlan, flow: &FlowPlan, rngs: &RngStreams) -> Self {
        Interactive {
            plan: *plan,
            pauses: rngs.stream(&flow.name, "keystrokes"),
            sizes: rngs.stream(&flow.name, "sizes"),
            stop: flow.stop,
            next: Some(flow.start),
            written: 0,
            pending: VecDeque::new(),
            log: TransferLog::default(),
        }
    }

    /// When the next keystroke is made.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.next
    }

    /// No more keystrokes.
    pub fn stop(&mut self) {
        self.next = None;
    }

    /// Makes the keystroke that is due at `now`.
    pub fn on_deadline(&mut self, now: Instant, sender: &mut SendingEnd) {
        if self.written == 0 {
            sender.open(now);
        }
        let bytes = self.plan.size.draw_bytes(&mut self.sizes);
        self.written += bytes;
        sender.write(now, bytes);
        self.pending.push_back((self.written, now));
        self.log.start(bytes);
        let next = now + self.plan.every.draw_time(&mut self.pauses);
        self.next = Some(next).filter(|next| self.stop.is_none_or(|stop| *next < stop));
    }

    /// So many bytes have come in order by `now`.
    pub fn on_delivered(&mut self, now: Instant, bytes: u64) {
        while let Some((_, made)) = self.pending.front().filter(|(end, _)| *end <= bytes) {
            self.log.times_ns.push(now.since(*made).as_nanos());
            self.pending.pop_front();
        }
    }

    /// The end of the first keystroke in flight, if any.
    pub fn awaited(&self) -> Option<u64> {
        self.pending.front().map(|(end, _)| *end)
    }

    /// Keystrokes in flight.
    pub fn pending(&self) -> u64 {
        self.pending.len() as u64
    }
}
