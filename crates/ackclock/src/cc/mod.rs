//! The congestion-control contract: what a sender tells an algorithm, and what it gets back.
//!
//! The sender owns sequence numbers, in-flight, RTT, delivery rate and loss recovery. The algorithm owns
//! the window (in segments, fractions count) and, if it likes, a pacing rate. It never writes the sender.
//! Only differences of time matter to it, and the same events give the same outputs.

mod algorithm;
mod bbr1;
mod bbr3;
mod cubic;
mod event;
mod foreign;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod held_down;
mod hosted;
mod max_filter;
mod packets;
mod parameters;
mod registry;
mod slow_start;
#[cfg(test)]
mod tests;
mod text;
mod window;
mod windowed;

pub use algorithm::{Algorithm, CcFactory};
pub use bbr1::{Bbr1, Bbr1Controller};
pub use bbr3::{Bbr3, Bbr3Controller};
pub use cubic::{Arithmetic, Cubic, CubicController};
pub use event::{
    Ack, CaState, Congestion, CongestionKind, Loss, PathView, Phase, PhaseChange, RateSample, Recovery, Restart, Sent,
};
pub use foreign::{BpfProgram, ForeignValue, PythonClass, SharedLibrary};
#[cfg(any(test, feature = "fuzz"))]
pub use fuzz::fuzz;
pub use hosted::Hosted;
pub use packets::{PacketControl, PacketLost, PacketSent, PacketsAcked, RttSample};
pub use parameters::{CcMistake, CcParameters, ParametersVisitor};
pub use registry::{Cc, CcInfo, CcSpec, algorithms, foreign_kinds};
pub use slow_start::SlowStart;
pub use text::{CompiledRule, RULE_VARIABLES, RuleSource, RuleText, TextController, TextRule};
pub use windowed::Windowed;

use crate::units::{Instant, Rate};

/// The settings that an algorithm gets before the first event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcContext {
    /// The window to begin with, in segments.
    pub initial_window: f64,
    /// What a retransmission timeout does to ssthresh.
    pub timeout_ssthresh: TimeoutSsthresh,
    /// The slow-start threshold to begin with; infinite for none.
    pub initial_ssthresh: f64,
    /// What the first cut, and one in slow start, leaves of the window.
    pub first_cut: FirstCut,
    /// Which window is cut.
    pub cut_window: CutWindow,
    /// What bounds the window when recovery ends.
    pub exit_window: ExitWindow,
    /// What the undo of a congestion event gives back.
    pub undo_response: UndoResponse,
    /// What a mark leaves of the window, as a factor; none for what the algorithm leaves (RFC 8511).
    pub ecn_beta: Option<f64>,
    /// What an idle time leaves of the window.
    pub idle_window: IdleWindow,
    /// The window that a timeout leaves, and the least that marks do: one segment in TCP (RFC 5681 §3.1, RFC 3168 §6.1.2), two in
    /// QUIC (RFC 9002 §7.2).
    pub min_window: f64,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// Bytes on the wire of a full segment: a pacing rate counts them.
    pub packet_bytes: u32,
    /// True if the sender may find more than one loss in a round trip: it gets SACK blocks and uses them.
    pub selective_acks: bool,
    /// How slow start ends before the first loss.
    pub slow_start: SlowStart,
    /// Whether windows have no fractions, as Linux's snd_cwnd has none.
    pub whole_window: bool,
    /// For an algorithm that draws random numbers: another number for each connection, by the name of its flow.
    pub seed: u64,
}

impl CcContext {
    /// The context that leaves all rules to the RFCs and the algorithm, for segments of 1460 bytes in packets of 1500 and a
    /// sender with selective ACKs.
    pub fn new(initial_window: f64) -> Self {
        CcContext {
            initial_window,
            timeout_ssthresh: TimeoutSsthresh::default(),
            initial_ssthresh: f64::INFINITY,
            first_cut: FirstCut::default(),
            cut_window: CutWindow::default(),
            exit_window: ExitWindow::default(),
            undo_response: UndoResponse::default(),
            ecn_beta: None,
            idle_window: IdleWindow::default(),
            min_window: 1.0,
            mss: 1460,
            packet_bytes: 1500,
            selective_acks: true,
            slow_start: SlowStart::default(),
            whole_window: false,
            seed: 0,
        }
    }
}

/// What the first cut, and one in slow start, leaves of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCut {
    /// What the window rule leaves.
    #[default]
    Rule,
    /// Half of the window, whatever the rule.
    Half,
}

/// Which window is cut, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CutWindow {
    /// cwnd with its fraction.
    #[default]
    Exact,
    /// What the receiver's window leaves of cwnd, with its fraction; ssthresh is whole.
    Capped {
        /// The receiver's window; infinite for no bound.
        max_window: f64,
    },
    /// Whole segments of what the receiver's window leaves of cwnd; what remains is whole, too.
    Whole {
        /// The receiver's window; infinite for no bound.
        max_window: f64,
    },
}

/// What an idle time longer than an RTO leaves of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleWindow {
    /// The initial window at most (RFC 5681 §4.1).
    #[default]
    Restart,
    /// Half of it for each RTO, and at least the initial window; ssthresh remembers three quarters (RFC 2861, Linux).
    Halve,
    /// All of it, for five minutes in which it was not used, and then half of it for each five minutes; a loss in this time cuts
    /// what was used of it (RFC 7661).
    Validate,
}

/// What the undo of a congestion event gives back to a window rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndoResponse {
    /// What is in flight, and slow start up to what was before (RFC 4015).
    #[default]
    Standard,
    /// The window and ssthresh before the cut, as Linux.
    Restore,
}

/// What bounds the window when recovery ends (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExitWindow {
    /// ssthresh: option 2.
    #[default]
    Ssthresh,
    /// One segment more than is in flight, too: option 1, which avoids a burst.
    Flight,
    /// Three segments more than is in flight, too, as Linux's `tcp_moderate_cwnd`.
    Moderated,
}

/// What a retransmission timeout leaves as ssthresh (never below two segments).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutSsthresh {
    /// As in the reference of the algorithm: half the window in the four papers, CUBIC's own decrease in RFC 9438.
    #[default]
    Standard,
    /// Half the window, as in ns-2.
    HalfCwnd,
    /// Half of what is in flight (RFC 5681, equation 4).
    HalfFlight,
    /// The decrease of the window rule, as in Linux.
    Rule,
}

/// A congestion-control algorithm.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The window in segments; always finite and at least one, or NaN once there is a [`fault`](Self::fault).
    fn cwnd(&self) -> f64;

    /// Why the algorithm cannot go on, which ends the run; asked when the window is NaN.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// The slow-start threshold in segments; infinite before the first congestion event.
    fn ssthresh(&self) -> f64;

    /// The rate at which to send, for an algorithm that paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Bytes of payload that may leave together, as one burst, from an algorithm that paces: `BBR.send_quantum` of
    /// draft-ietf-ccwg-bbr. One segment always may, which is the default.
    fn send_quantum(&self) -> u64 {
        0
    }

    /// True if the algorithm sets the window itself during loss recovery, from ACK to ACK. The window may then grow in
    /// recovery, and stay above one segment at a restart. The sender does not write the window in either case.
    fn owns_recovery(&self) -> bool {
        false
    }

    /// The window down to which `prr = "rate-halving"` takes what is in flight while losses are repaired: what the loss left, or
    /// less.
    fn least_in_recovery(&self) -> f64 {
        self.cwnd()
    }

    /// True if a congestion event can leave a larger window than before.
    fn congestion_may_raise(&self) -> bool {
        false
    }

    /// False for an algorithm that does not reduce its window when packets are marked. For the others, a mark at a window of
    /// one segment delays the next segment, and a loss in a marked window is not a second event (RFC 3168 §6.1.2).
    fn responds_to_ecn(&self) -> bool {
        true
    }

    /// False for an algorithm that does nothing in `on_sent`, which is then not called.
    fn needs_on_sent(&self) -> bool {
        true
    }

    /// False for an algorithm that does not use [`Ack::rate`] and does nothing in `on_loss`: the sender then keeps no
    /// state of delivery.
    fn needs_rate_samples(&self) -> bool {
        true
    }

    /// The same algorithm for what only a transport with packet numbers tells; none for one that has no use for that.
    fn packet_control(&mut self) -> Option<&mut dyn PacketControl> {
        None
    }

    /// A segment was handed to the network.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A transmission is considered lost. Called before `on_ack` of the ACK that shows it and after the congestion event that it
    /// may be; after that of a timeout, or when the segment is sent again on suspicion (RFC 6675 §4, rules 3 and 4).
    fn on_loss(&mut self, _loss: &Loss) {}

    /// An ACK reports data delivered, data lost, or marks.
    fn on_ack(&mut self, ack: &Ack);

    /// Congestion was detected; at most once per window of data, except for timeouts. An algorithm may react to marks
    /// (`CongestionKind::Ecn`) as it likes, or not at all: the sender answers the receiver either way. One that does not
    /// send less for marks is also notified of a loss in the same window.
    fn on_congestion(&mut self, congestion: &Congestion);

    /// Loss recovery begins, after `on_congestion` for the loss or for a mark in the same window of data.
    fn on_recovery_enter(&mut self, _recovery: &Recovery) {}

    /// Everything sent before recovery began has been acknowledged.
    fn on_recovery_exit(&mut self, _recovery: &Recovery) {}

    /// The last congestion event was spurious and may be undone. If a recovery was going on it has ended, and
    /// `on_recovery_exit` was called before.
    fn on_undo(&mut self, _recovery: &Recovery) {}

    /// The sender changed its phase.
    fn on_phase(&mut self, _change: &PhaseChange) {}

    /// The sender resumes at `now`, after being idle for longer than its RTO; once for each RTO where
    /// [`IdleWindow::Halve`] was set.
    fn on_resume(&mut self, _now: Instant) {}

    /// The window was larger than what was used of it when it met congestion (RFC 7661 §4.4.1): it and ssthresh are no more than
    /// so many segments from now on. Called after the event that it belongs to.
    fn on_limit(&mut self, _segments: f64) {}

    /// Reports named numbers for samples.
    fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {}
}
