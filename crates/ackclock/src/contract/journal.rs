//! The events that an algorithm got and its answers, and the promises that every answer must keep.

use super::promise::Promise;
use crate::cc::{
    Ack, CcContext, Congestion, CongestionControl, CongestionKind, Departures, Loss, PhaseChange, Recovery, Restart,
    Sent,
};
use crate::units::{Duration, Instant, Rate};

/// RFC 5681 §3.1: "ssthresh = max (FlightSize / 2, 2*SMSS)": a window may rise to this at a congestion event.
const MIN_SSTHRESH: f64 = 2.0;
/// RFC 5681 §3.1: "the loss window, LW, which equals 1 full-sized segment".
const LOSS_WINDOW: f64 = 1.0;
/// The tolerance for sums of fractions.
const ROUNDING: f64 = 1e-9;

/// Any event of an algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Sent(Sent),
    Loss(Loss),
    Ack(Ack),
    Congestion(Congestion),
    RecoveryEnter(Recovery),
    RecoveryExit(Recovery),
    Undo(Recovery),
    Phase(PhaseChange),
    Resume(Instant),
    Limit(Instant, f64),
}

impl Event {
    /// Tells `cc`.
    pub(super) fn tell(&self, cc: &mut dyn CongestionControl) {
        match self {
            Event::Sent(sent) => cc.on_sent(sent),
            Event::Loss(loss) => cc.on_loss(loss),
            Event::Ack(ack) => cc.on_ack(ack),
            Event::Congestion(congestion) => cc.on_congestion(congestion),
            Event::RecoveryEnter(recovery) => cc.on_recovery_enter(recovery),
            Event::RecoveryExit(recovery) => cc.on_recovery_exit(recovery),
            Event::Undo(recovery) => cc.on_undo(recovery),
            Event::Phase(change) => cc.on_phase(change),
            Event::Resume(now) => cc.on_resume(*now),
            Event::Limit(_, segments) => cc.on_limit(*segments),
        }
    }

    /// When it happened.
    pub(super) fn now(mut self) -> Instant {
        *self.time()
    }

    /// The same event, later by `shift`.
    pub(super) fn later(mut self, shift: Duration) -> Self {
        *self.time() += shift;
        self
    }

    fn time(&mut self) -> &mut Instant {
        match self {
            Event::Sent(sent) => &mut sent.now,
            Event::Loss(loss) => &mut loss.now,
            Event::Ack(ack) => &mut ack.now,
            Event::Congestion(congestion) => &mut congestion.now,
            Event::RecoveryEnter(recovery) | Event::RecoveryExit(recovery) | Event::Undo(recovery) => &mut recovery.now,
            Event::Phase(change) => &mut change.now,
            Event::Resume(now) | Event::Limit(now, _) => now,
        }
    }

    /// The event for people.
    pub(super) fn in_words(&self) -> String {
        match self {
            Event::Sent(_) => "a segment is sent".to_owned(),
            Event::Loss(_) => "a segment is lost".to_owned(),
            Event::Ack(ack) => {
                let what = match ack.acked {
                    0.0 => "a duplicate ACK".to_owned(),
                    acked => format!("an ACK of {acked} new"),
                };
                let notes = [
                    (ack.in_recovery, ", in recovery"),
                    (!ack.cwnd_limited, ", the window was not used"),
                    (ack.ece, ", with a mark"),
                    (ack.round_ended, ", the round ends"),
                ];
                notes.iter().filter(|(holds, _)| *holds).fold(what, |text, (_, note)| text + note)
            }
            Event::Congestion(congestion) => match congestion.kind {
                CongestionKind::Loss => "congestion: a loss".to_owned(),
                CongestionKind::Ecn => "congestion: a mark".to_owned(),
                CongestionKind::Timeout => "congestion: a timeout".to_owned(),
            },
            Event::RecoveryEnter(_) => "recovery begins".to_owned(),
            Event::RecoveryExit(_) => "recovery ends".to_owned(),
            Event::Undo(_) => "the last congestion event was spurious".to_owned(),
            Event::Phase(_) => "the sender changes its phase".to_owned(),
            Event::Resume(_) => "the sender resumes after an idle time".to_owned(),
            Event::Limit(_, segments) => format!("of the window {segments} segments were used"),
        }
    }

    /// The event as an algorithm with these needs receives it.
    fn as_told(self, departures: Departures, needs_rate_samples: bool) -> Option<Self> {
        match self {
            Event::Sent(sent) => departures.include(sent.path.in_flight).then_some(self),
            Event::Loss(_) => needs_rate_samples.then_some(self),
            Event::Ack(ack) if !needs_rate_samples => Some(Event::Ack(Ack { rate: None, ..ack })),
            _ => Some(self),
        }
    }
}

/// Everything that an algorithm says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) pacing_rate: Option<Rate>,
}

impl Answer {
    pub(super) fn of(cc: &dyn CongestionControl) -> Self {
        Answer { cwnd: cc.cwnd(), ssthresh: cc.ssthresh(), pacing_rate: cc.pacing_rate() }
    }
}

/// All events of a connection, with the answers.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) entries: Vec<(Event, Answer)>,
    bounds: Bounds,
    /// A loss or mark has reduced the window since the last round trip ended.
    is_reduced: bool,
    /// The first time that each promise was broken, in this order.
    broken: Vec<Broken>,
}

/// The values that answers are compared with.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// The largest window so far.
    peak: f64,
    /// The window after a timeout.
    loss_window: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { peak: 0.0, loss_window: LOSS_WINDOW }
    }
}

/// A promise that an answer broke.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken {
    pub(super) promise: Promise,
    /// The number of the event.
    pub(super) number: usize,
    before: Answer,
}

impl Journal {
    /// Creates the journal of a connection with these settings.
    pub(super) fn of(context: &CcContext) -> Self {
        let loss_window = context.min_window;
        Journal { bounds: Bounds { loss_window, ..Bounds::default() }, ..Journal::default() }
    }

    /// Reports an event to `cc`, and records its answer.
    pub(super) fn tell(&mut self, cc: &mut dyn CongestionControl, event: Event) {
        let before = Answer::of(cc);
        event.tell(cc);
        let after = Answer::of(cc);
        self.bounds.peak = self.bounds.peak.max(before.cwnd);
        let number = self.entries.len();
        let answers = check_answer(cc, before, &event, after, self.bounds);
        let reductions = self.check_reductions(cc, before, &event, after);
        for promise in [answers, reductions].into_iter().filter_map(Result::err) {
            if !self.broken.iter().any(|broken| broken.promise == promise) {
                self.broken.push(Broken { promise, number, before });
            }
        }
        self.entries.push((event, after));
    }

    /// Every promise that was broken.
    pub(super) fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// The first promise that was broken, in words.
    pub(super) fn verdict(&self) -> Result<(), String> {
        let Some(Broken { promise, number, before }) = self.broken.first() else { return Ok(()) };
        let (event, after) = &self.entries[*number];
        Err(format!("event {number}, {event:?}: {promise} ({before:?} before, {after:?} after)"))
    }

    /// Single losses reduce a window at most once in a round trip, and not in addition to a congestion event.
    fn check_reductions(
        &mut self,
        cc: &dyn CongestionControl,
        before: Answer,
        event: &Event,
        after: Answer,
    ) -> Result<(), Promise> {
        let reduces = after.cwnd < before.cwnd;
        match event {
            Event::Ack(ack) if ack.round_ended => self.is_reduced = false,
            Event::Congestion(congestion) => self.is_reduced |= reduces && congestion.kind != CongestionKind::Timeout,
            Event::Loss(_) if reduces => {
                let is_free = cc.owns_recovery() || after.pacing_rate.is_some();
                let is_first = !std::mem::replace(&mut self.is_reduced, true);
                keep(is_free || is_first, Promise::OneReduction)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Replays the events `shift` later with a fresh algorithm. It gets only the events that it declares to need, and
    /// must answer the same.
    pub(super) fn replay(&self, cc: &mut dyn CongestionControl, shift: Duration) -> Result<(), String> {
        let (departures, needs_rate_samples) = (cc.departures(), cc.needs_rate_samples());
        for (number, (event, expected)) in self.entries.iter().enumerate() {
            let Some(told) = event.as_told(departures, needs_rate_samples) else { continue };
            told.later(shift).tell(cc);
            let answer = Answer::of(cc);
            ensure!(answer == *expected, "event {number}, {event:?}: {expected:?}, {shift} later {answer:?}");
        }
        Ok(())
    }
}

fn check_answer(
    cc: &dyn CongestionControl,
    before: Answer,
    event: &Event,
    after: Answer,
    Bounds { peak, loss_window }: Bounds,
) -> Result<(), Promise> {
    keep(after.cwnd.is_finite() && after.cwnd >= 1.0, Promise::Window)?;
    keep(after.ssthresh > 0.0, Promise::Ssthresh)?;
    let unchanged = after.cwnd <= before.cwnd;
    match event {
        // Who paces sets the window by the rate, and not from ACK to ACK.
        Event::Ack(_) if after.pacing_rate.is_some() => {}
        // Nor does who owns recovery, in it.
        Event::Ack(ack) if ack.in_recovery && cc.owns_recovery() => {}
        Event::Ack(ack) => {
            keep(ack.cwnd_limited || unchanged, Promise::Unused)?;
            keep(ack.acked > 0.0 || unchanged, Promise::NewData)?;
            keep(!ack.in_recovery || unchanged, Promise::Repair)?;
            let in_slow_start = before.cwnd < before.ssthresh;
            let most = before.cwnd + ack.acked + ROUNDING;
            keep(!in_slow_start || after.cwnd <= most, Promise::SlowStart)?;
        }
        Event::Congestion(congestion) => {
            let most = if cc.congestion_may_raise() { f64::INFINITY } else { before.cwnd.max(MIN_SSTHRESH) };
            keep(after.cwnd <= most, Promise::Congestion)?;
            let restarts = congestion.restart != Restart::Reduced && !cc.owns_recovery();
            keep(!restarts || after.cwnd < before.cwnd.max(loss_window + ROUNDING), Promise::Restart)?;
            // A requested or previous ssthresh at or below the loss window leaves no room below it.
            let kept = congestion.restart == Restart::SlowStartAgain && before.ssthresh <= loss_window;
            let slow_starts = restarts && congestion.restart != Restart::OneSegment && !kept;
            keep(!slow_starts || after.cwnd < after.ssthresh, Promise::RestartSlowly)?;
        }
        Event::Undo(_) => keep(after.cwnd <= peak, Promise::Undo)?,
        // An algorithm that limits its window on purpose may raise it again when it sends.
        Event::Sent(_) if after.pacing_rate.is_some() && cc.owns_recovery() => {
            keep(after.cwnd <= peak, Promise::Sending)?
        }
        Event::Sent(_) => keep(after.cwnd <= before.cwnd, Promise::Sending)?,
        Event::Loss(_) => keep(after.cwnd <= before.cwnd, Promise::Loss)?,
        Event::Resume(_) | Event::Limit(..) => keep(after.cwnd <= before.cwnd, Promise::Idleness)?,
        Event::RecoveryEnter(_) | Event::RecoveryExit(_) => {
            keep(unchanged || cc.owns_recovery() || cc.congestion_may_raise(), Promise::Recovery)?;
        }
        Event::Phase(_) => {}
    }
    Ok(())
}

/// Whether a promise was kept. Incomparable values (NaN) violate it.
fn keep(is_kept: bool, promise: Promise) -> Result<(), Promise> {
    if is_kept { Ok(()) } else { Err(promise) }
}
