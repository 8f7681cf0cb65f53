//! Careful Resume: a connection that knows the window of an earlier one.
//!
//! Reference: draft-ietf-tsvwg-careful-resume-24 (Kuhn, Stephan, Fairhurst, Secchi and Huitema, October 2025), which
//! became RFC 9959. Sections and quotations refer to the draft. `docs/learn/slow-starts.md` shows its phases.

use super::round_trip::RoundTrip;
use super::{Ack, Congestion, CongestionKind};
use crate::units::{Duration, Instant, Rate};

/// §3.3: "the jump_cwnd MUST be no more than half of the saved_cwnd".
const JUMP: f64 = 0.5;
/// §3.5: "The CWND MUST be reduced to no more than (PipeSize/2)."
const RETREAT: f64 = 0.5;
/// §3.5: "Beta is a scaling factor between 0.5 and 1. The default value is 0.5".
const BETA: f64 = 0.5;
/// §4.2.1: "A current RTT that is more than ten times the saved_rtt is indicative of a path change."
const MOST_RTTS: u64 = 10;
/// §3.2: a minimum RTT "less than or equal to (saved_rtt / 2)" is too small.
const LEAST_RTT_DIVISOR: u64 = 2;

/// The parameters that an earlier connection saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// Its window in segments: saved_cwnd.
    pub window: f64,
    /// Its smallest RTT: saved_rtt.
    pub rtt: Duration,
}

/// The change of the window that an ACK brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// None.
    Stays,
    /// The window is this, and does not grow.
    Jumps(f64),
    /// The window is this, and grows again.
    Validates(f64),
    /// Another path has this RTT. The window is at most half of PipeSize, and does not grow.
    Retreats,
    /// Normal congestion control, from this window.
    ReturnsAt(f64),
    /// Normal congestion control.
    Returns,
    /// Normal congestion control after a retreat, with this ssthresh.
    Recovers(f64),
}

/// A phase other than normal congestion control. The first segments of a phase are counted, as algorithms know no
/// packet numbers.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Reconnaissance {
        delivered: f64,
    },
    Unvalidated {
        pipe: f64,
        since: Instant,
        rtt: Duration,
        /// Ends with the first unvalidated segment.
        first: RoundTrip,
    },
    Validating {
        pipe: f64,
        /// Ends with the last unvalidated segment.
        last: RoundTrip,
    },
    SafeRetreat {
        pipe: f64,
        last: RoundTrip,
    },
}

/// A connection that has not returned to normal congestion control.
#[derive(Clone, Debug)]
pub(super) struct CarefulResume {
    saved: Saved,
    initial_window: f64,
    /// jump_cwnd.
    jump: f64,
    packet_bytes: u32,
    phase: Phase,
}

impl CarefulResume {
    /// In the Reconnaissance Phase.
    pub(super) fn new(saved: Saved, initial_window: f64, packet_bytes: u32, is_whole: bool) -> Self {
        let jump = if is_whole { (JUMP * saved.window).floor() } else { JUMP * saved.window };
        CarefulResume { saved, initial_window, jump, packet_bytes, phase: Phase::Reconnaissance { delivered: 0.0 } }
    }

    /// The validated capacity in segments, or none in the Reconnaissance Phase.
    pub(super) fn pipe_size(&self) -> Option<f64> {
        match self.phase {
            Phase::Reconnaissance { .. } => None,
            Phase::Unvalidated { pipe, .. } | Phase::Validating { pipe, .. } | Phase::SafeRetreat { pipe, .. } => {
                Some(pipe)
            }
        }
    }

    /// The largest window of the Safe Retreat Phase, or none in other phases.
    pub(super) fn retreat(&self) -> Option<f64> {
        match self.phase {
            Phase::SafeRetreat { pipe, .. } => Some(RETREAT * pipe),
            _ => None,
        }
    }

    /// §3.3: "All packets sent in the Unvalidated Phase MUST use pacing based on the current RTT."
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        let Phase::Unvalidated { rtt, .. } = self.phase else { return None };
        // §4.3.2: "ITT = (current RTT x MPS)/jump_cwnd".
        Rate::from_bps((self.jump * f64::from(self.packet_bytes) * 8.0 / rtt.as_secs_f64()) as u64)
    }

    /// Processes an ACK before it grows the window of `cwnd` segments.
    pub(super) fn observe(&mut self, ack: &Ack, cwnd: f64, in_slow_start: bool) -> Step {
        let (delivered, passed) = (f64::from(ack.newly_delivered), ack.newly_delivered + ack.newly_lost);
        match &mut self.phase {
            Phase::Reconnaissance { delivered: so_far } => {
                *so_far += delivered;
                let has_confirmed = *so_far >= self.initial_window;
                self.confirm(ack, has_confirmed, cwnd, in_slow_start)
            }
            Phase::Unvalidated { pipe, since, rtt, first } => {
                *pipe += delivered;
                if !ack.path.latest_rtt.is_zero() {
                    *rtt = ack.path.latest_rtt;
                }
                // "the flight_size equals the CWND", "the first packet number (or higher)", "more than one RTT".
                let is_sent = f64::from(ack.path.in_flight + passed) + 1.0 > self.jump;
                let is_over = first.pass(passed) || is_sent || ack.now.since(*since) > *rtt;
                let pipe = *pipe;
                if self.is_too_short(ack.path.min_rtt) {
                    self.begin_retreat(pipe, ack.path.in_flight);
                    return Step::Retreats;
                }
                if is_over { self.leave_unvalidated(ack.path.in_flight, pipe) } else { Step::Stays }
            }
            Phase::Validating { pipe, last } => {
                *pipe += delivered;
                if last.pass(passed) { Step::Returns } else { Step::Stays }
            }
            Phase::SafeRetreat { pipe, last } => {
                *pipe += delivered;
                if last.pass(passed) { Step::Recovers(BETA * *pipe) } else { Step::Stays }
            }
        }
    }

    /// Congestion. Returns false if normal congestion control follows.
    pub(super) fn on_congestion(&mut self, congestion: &Congestion) -> bool {
        // §3.6: "A sender that experiences persistent congestion (e.g., a Retransmission Time Out, RTO, expiry in TCP)
        // ceases to use Careful Resume."
        if congestion.kind == CongestionKind::Timeout {
            return false;
        }
        match self.phase {
            Phase::Reconnaissance { .. } => return false,
            Phase::Unvalidated { pipe, .. } => self.begin_retreat(pipe, congestion.flight_size),
            Phase::Validating { pipe, last } => self.phase = Phase::SafeRetreat { pipe, last },
            Phase::SafeRetreat { .. } => {}
        }
        true
    }

    /// The Reconnaissance Phase, after an ACK.
    fn confirm(&mut self, ack: &Ack, has_confirmed: bool, cwnd: f64, in_slow_start: bool) -> Step {
        if !in_slow_start {
            return Step::Returns;
        }
        // §3.2: "an ACK that acknowledges all the initial data (usually the IW) without reported congestion".
        let min_rtt = ack.path.min_rtt;
        if !has_confirmed || min_rtt.is_zero() {
            return Step::Stays;
        }
        if self.is_too_short(min_rtt) || min_rtt > self.saved.rtt * MOST_RTTS || self.jump <= cwnd {
            return Step::Returns;
        }
        // §4.2: a rate-limited sender "is allowed to remain in the Reconnaissance Phase".
        if !ack.cwnd_limited {
            return Step::Stays;
        }
        let mut first = RoundTrip::default();
        first.begin(ack.path.in_flight);
        // "The variable PipeSize is initialised to the flight_size".
        let pipe = f64::from(ack.path.in_flight);
        self.phase = Phase::Unvalidated { pipe, since: ack.now, rtt: ack.path.latest_rtt.max(min_rtt), first };
        Step::Jumps(self.jump)
    }

    /// The end of the Unvalidated Phase (§3.3, "Check flight_size").
    fn leave_unvalidated(&mut self, in_flight: u32, pipe: f64) -> Step {
        let flight = f64::from(in_flight);
        // "if (flight_size is less than IW) or (flight_size is less than or equal to the PipeSize) then the CWND is
        // reset to the PipeSize". "Otherwise, the CWND MUST be set to the flight_size".
        if flight < self.initial_window || flight <= pipe {
            // "In the absence of detected congestion, CWND is not reduced below IW."
            return Step::ReturnsAt(pipe.max(self.initial_window));
        }
        self.phase = Phase::Validating { pipe, last: until_last(in_flight) };
        Step::Validates(flight)
    }

    fn begin_retreat(&mut self, pipe: f64, flight: u32) {
        self.phase = Phase::SafeRetreat { pipe, last: until_last(flight) };
    }

    fn is_too_short(&self, min_rtt: Duration) -> bool {
        min_rtt <= self.saved.rtt / LEAST_RTT_DIVISOR
    }
}

/// The time until the last segment of a flight is delivered or lost.
fn until_last(flight: u32) -> RoundTrip {
    let mut last = RoundTrip::default();
    last.begin(flight.saturating_sub(1));
    last
}

#[cfg(test)]
mod tests;
