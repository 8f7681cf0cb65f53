//! Writes on a connection that stays open, independent of earlier writes: keystrokes, or media chunks with a
//! deadline.

use std::collections::VecDeque;

use crate::rng::{Rng, RngStreams};
use crate::sim::endpoint::SendingEnd;
use crate::sim::plan::FlowPlan;
use crate::sim::traffic::InteractivePlan;
use crate::sim::transfer::TransferLog;
use crate::units::{Duration, Instant};

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
    playback: Option<Playback>,
    /// Keystrokes, or chunks.
    pub log: TransferLog,
}

/// A client that plays chunks. The first one begins a deadline after it was written, each other one at the end of the
/// previous one.
///
/// A chunk that has not come by then stalls it, and all later ones are played as much later.
#[derive(Clone, Copy, Debug)]
struct Playback {
    deadline: Duration,
    /// How long a chunk plays.
    length: Duration,
    /// The time at which the next chunk is to be played, or none before the first one.
    next: Option<Instant>,
}

impl Playback {
    /// A chunk that was written at `made` has come at `now`.
    fn take(&mut self, made: Instant, now: Instant, log: &mut TransferLog) {
        log.late += u64::from(now > made + self.deadline);
        let due = self.next.unwrap_or(made + self.deadline);
        if now > due {
            log.stalls += 1;
            log.stalled_ns += now.since(due).as_nanos();
        }
        self.next = Some(due.max(now) + self.length);
    }
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
            playback: plan.deadline.map(|deadline| Playback {
                deadline,
                length: Duration::from_nanos(plan.every.mean as u64),
                next: None,
            }),
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

    /// Takes the number of bytes that have arrived in order by `now`.
    pub fn on_delivered(&mut self, now: Instant, bytes: u64) {
        while let Some((_, made)) = self.pending.front().copied().filter(|(end, _)| *end <= bytes) {
            self.log.times_ns.push(now.since(made).as_nanos());
            if let Some(playback) = &mut self.playback {
                playback.take(made, now, &mut self.log);
            }
            self.pending.pop_front();
        }
    }

    /// The log at the end of the run, with the chunks that have not come although they are due.
    pub fn log_at(&self, end: Instant) -> TransferLog {
        let mut log = self.log.clone();
        if let Some(playback) = self.playback {
            let overdue = |made: &Instant| end > *made + playback.deadline;
            log.missing += self.pending.iter().filter(|(_, made)| overdue(made)).count() as u64;
            let first = self.pending.front().map(|(_, made)| playback.next.unwrap_or(*made + playback.deadline));
            if let Some(due) = first.filter(|due| end > *due) {
                log.stalls += 1;
                log.stalled_ns += end.since(due).as_nanos();
            }
        }
        log
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
