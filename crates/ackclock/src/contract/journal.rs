//! The events that an algorithm got and its answers, and the promises that every answer must keep.

use crate::cc::{Ack, Congestion, CongestionControl, Loss, PhaseChange, Recovery, Restart, Sent};
use crate::units::{Duration, Instant, Rate};

/// RFC 5681 §3.1: "ssthresh = max (FlightSize / 2, 2*SMSS)": a window may rise to this at a congestion event.
const MIN_SSTHRESH: f64 = 2.0;
/// What additions of fractions may be off.
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
        }
    }

    /// The same event, later by `shift`.
    fn later(mut self, shift: Duration) -> Self {
        let now = match &mut self {
            Event::Sent(sent) => &mut sent.now,
            Event::Loss(loss) => &mut loss.now,
            Event::Ack(ack) => &mut ack.now,
            Event::Congestion(congestion) => &mut congestion.now,
            Event::RecoveryEnter(recovery) | Event::RecoveryExit(recovery) | Event::Undo(recovery) => &mut recovery.now,
            Event::Phase(change) => &mut change.now,
            Event::Resume(now) => now,
        };
        *now += shift;
        self
    }

    /// What is left of it for an algorithm that needs what these say.
    fn as_told(self, needs_on_sent: bool, needs_rate_samples: bool) -> Option<Self> {
        match self {
            Event::Sent(_) => needs_on_sent.then_some(self),
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
    peak: f64,
    broken: Option<String>,
}

impl Journal {
    /// Tells `cc` of an event and notes what comes of it.
    pub(super) fn tell(&mut self, cc: &mut dyn CongestionControl, event: Event) {
        let before = Answer::of(cc);
        event.tell(cc);
        let after = Answer::of(cc);
        self.peak = self.peak.max(before.cwnd);
        if self.broken.is_none() {
            let number = self.entries.len();
            self.broken = check_answer(cc, before, &event, after, self.peak)
                .err()
                .map(|what| format!("event {number}, {event:?}: {what} ({before:?} before, {after:?} after)"));
        }
        self.entries.push((event, after));
    }

    /// The first promise that was broken.
    pub(super) fn verdict(&self) -> Result<(), String> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// A fresh algorithm that gets the same events `shift` later, as far as it declares that it needs them, answers the same.
    pub(super) fn replay(&self, cc: &mut dyn CongestionControl, shift: Duration) -> Result<(), String> {
        let (needs_on_sent, needs_rate_samples) = (cc.needs_on_sent(), cc.needs_rate_samples());
        for (number, (event, expected)) in self.entries.iter().enumerate() {
            let Some(told) = event.as_told(needs_on_sent, needs_rate_samples) else { continue };
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
    peak: f64,
) -> Result<(), String> {
    ensure!(after.cwnd.is_finite() && after.cwnd >= 1.0, "the window is not finite, or below one segment");
    ensure!(after.ssthresh > 0.0, "ssthresh is not above zero");
    let unchanged = after.cwnd <= before.cwnd;
    match event {
        // Who paces sets the window by the rate, and not from ACK to ACK.
        Event::Ack(_) if after.pacing_rate.is_some() => {}
        // Nor does who owns recovery, in it.
        Event::Ack(ack) if ack.in_recovery && cc.owns_recovery() => {}
        Event::Ack(ack) => {
            ensure!(ack.cwnd_limited || unchanged, "a window that is not used grows");
            ensure!(ack.acked > 0.0 || unchanged, "the window grows without an ACK of new data");
            ensure!(!ack.in_recovery || unchanged, "the window grows while losses are being repaired");
            let in_slow_start = before.cwnd < before.ssthresh;
            let most = before.cwnd + ack.acked + ROUNDING;
            ensure!(!in_slow_start || after.cwnd <= most, "slow start adds more than was acknowledged");
        }
        Event::Congestion(congestion) => {
            let most = if cc.congestion_may_raise() { f64::INFINITY } else { before.cwnd.max(MIN_SSTHRESH) };
            ensure!(after.cwnd <= most, "congestion raises the window");
            let restarts = congestion.restart != Restart::Reduced && !cc.owns_recovery();
            ensure!(!restarts || after.cwnd <= before.cwnd, "a restart raises the window");
            // An ssthresh of one segment, asked for now or kept, leaves nothing below it.
            let kept = congestion.restart == Restart::SlowStartAgain && before.ssthresh <= 1.0;
            let slow_starts = restarts && congestion.restart != Restart::OneSegment && !kept;
            ensure!(!slow_starts || after.cwnd < after.ssthresh, "a restart does not begin with slow start");
        }
        Event::Undo(_) => ensure_no_more(after.cwnd, peak, "an undo gives more than there ever was")?,
        // Who holds the window down on purpose may find when it sends again that it need not any more.
        Event::Sent(_) if after.pacing_rate.is_some() && cc.owns_recovery() => {
            ensure_no_more(after.cwnd, peak, "sending gives more than there ever was")?;
        }
        Event::Sent(_) => ensure_no_more(after.cwnd, before.cwnd, "sending raises the window")?,
        Event::Loss(_) => ensure_no_more(after.cwnd, before.cwnd, "a loss raises the window")?,
        Event::Resume(_) => ensure_no_more(after.cwnd, before.cwnd, "idleness raises the window")?,
        Event::RecoveryEnter(_) | Event::RecoveryExit(_) => {
            ensure!(unchanged || cc.owns_recovery(), "recovery raises the window");
        }
        Event::Phase(_) => {}
    }
    Ok(())
}

fn ensure_no_more(after: f64, most: f64, what: &str) -> Result<(), String> {
    ensure!(after <= most, "{what}");
    Ok(())
}
