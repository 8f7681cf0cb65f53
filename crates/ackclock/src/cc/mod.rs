//! The congestion-control contract: the events that a sender reports to an algorithm, and the algorithm's answers.
//!
//! The sender owns sequence numbers, in-flight, RTT, delivery rate and loss recovery. The algorithm owns
//! the window (in segments, fractions count) and, if it likes, a pacing rate. It never writes the sender.
//! Only differences of time matter to it, and the same events give the same outputs.

mod algorithm;
mod avoidance;
mod bbr1;
mod bbr3;
mod bic;
mod careful_resume;
mod cdg;
mod compound;
mod copa;
mod cubic;
mod dctcp;
mod event;
mod foreign;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod gcc;
mod held_down;
mod highspeed;
mod hosted;
mod htcp;
mod hybla;
mod illinois;
mod ledbat;
mod ledbat_plus_plus;
mod lp;
mod marked_fraction;
mod max_filter;
mod media;
mod nv;
mod packets;
mod parameters;
mod prague;
mod queueing_delay;
mod registry;
mod round_trip;
mod scalable;
mod scream;
mod slow_start;
#[cfg(test)]
mod tests;
mod text;
mod vegas;
mod veno;
mod westwood;
mod window;
mod windowed;
mod yeah;

pub use algorithm::{Algorithm, CcFactory};
pub use avoidance::AvoidanceController;
pub use bbr1::{Bbr1, Bbr1Controller};
pub use bbr3::{Bbr3, Bbr3Controller};
pub use bic::{Bic, BicAvoidance};
pub use careful_resume::Saved;
pub use cdg::{Cdg, CdgAvoidance};
pub use compound::{Compound, CompoundAvoidance};
pub use copa::{Copa, CopaController};
pub use cubic::{Arithmetic, Cubic, CubicController};
pub use dctcp::{AlphaArithmetic, Dctcp, DctcpController};
pub(crate) use event::is_alone;
pub use event::{
    Ack, CaState, Congestion, CongestionKind, Departures, Loss, PathView, Phase, PhaseChange, RateSample, Recovery,
    Restart, Sent,
};
pub use foreign::{BpfProgram, ForeignValue, KernelAlgorithm, KernelModule, PythonClass, SharedLibrary};
#[cfg(any(test, feature = "fuzz"))]
pub use fuzz::fuzz;
pub use gcc::{Gcc, GccController};
pub use highspeed::{HighSpeed, HighSpeedAvoidance};
pub use hosted::Hosted;
pub use htcp::{Htcp, HtcpAvoidance};
pub use hybla::{Hybla, HyblaAvoidance};
pub use illinois::{Illinois, IllinoisAvoidance};
pub use ledbat::{Ledbat, LedbatAvoidance};
pub use ledbat_plus_plus::{LedbatPlusPlus, LedbatPlusPlusAvoidance};
pub use lp::{Lp, LpAvoidance};
pub use media::{MediaControl, MediaFrame, PacketReport};
pub use nv::{Nv, NvAvoidance};
pub use packets::{PacketControl, PacketLost, PacketSent, PacketsAcked, RttSample};
pub use parameters::{CcMistake, CcParameters, EcnNeed, ParametersVisitor};
pub use prague::{Prague, PragueController};
pub(crate) use registry::Requests;
pub use registry::{Cc, CcInfo, CcKind, CcSpec, algorithms, kinds};
pub use scalable::{Scalable, ScalableAvoidance};
pub use scream::{Scream, ScreamController};
pub use slow_start::SlowStart;
pub use text::{CompiledRule, RULE_VARIABLES, RuleSource, RuleText, TextController, TextRule};
pub use vegas::{Vegas, VegasAvoidance};
pub use veno::{Veno, VenoAvoidance};
pub use westwood::{Westwood, WestwoodAvoidance};
pub use windowed::Windowed;
pub use yeah::{Yeah, YeahAvoidance};

use crate::ecn::Ecn;
use crate::units::{Instant, Rate};

/// The settings that an algorithm gets before the first event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcContext {
    /// The window to begin with, in segments.
    pub initial_window: f64,
    /// The effect of a retransmission timeout on ssthresh.
    pub timeout_ssthresh: TimeoutSsthresh,
    /// The initial slow-start threshold, infinite for none.
    pub initial_ssthresh: f64,
    /// The window after the first cut, and after a cut in slow start.
    pub first_cut: FirstCut,
    /// Which window is cut.
    pub cut_window: CutWindow,
    /// The bound of the window at the end of recovery.
    pub exit_window: ExitWindow,
    /// The window that the undo of a congestion event restores.
    pub undo_response: UndoResponse,
    /// The factor by which a mark cuts the window (RFC 8511). Without it, the algorithm decides.
    pub ecn_beta: Option<f64>,
    /// The window after an idle time.
    pub idle_window: IdleWindow,
    /// The window that a timeout leaves: one segment in TCP (RFC 5681 §3.1), two in QUIC (RFC 9002 §7.2).
    pub min_window: f64,
    /// The least window that marks leave: one segment in TCP (RFC 3168 §6.1.2), two in QUIC and Linux.
    pub min_marked: f64,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// Bytes on the wire of a full segment: a pacing rate counts them.
    pub packet_bytes: u32,
    /// True if the sender may find more than one loss per round trip, because it uses SACK blocks.
    pub selective_acks: bool,
    /// How slow start ends before the first loss.
    pub slow_start: SlowStart,
    /// The parameters of an earlier connection, for Careful Resume.
    pub saved: Option<Saved>,
    /// Whether the sender paces an algorithm that sets no rate itself.
    pub paces: bool,
    /// Whether windows have no fractions, as Linux's snd_cwnd has none.
    pub whole_window: bool,
    /// Whether the receiver's feedback tells how many packets were marked ([`Ack::ce_count`]).
    pub counts_marks: bool,
    /// The arithmetic of CUBIC and DCTCP that the profile says.
    pub arithmetic: Arithmetic,
    /// For an algorithm that draws random numbers: another number for each connection, by the name of its flow.
    pub seed: u64,
}

impl CcContext {
    /// The context that leaves all rules to the RFCs and the algorithm. Its segments have 1460 bytes in packets of
    /// 1500, and its sender uses selective ACKs.
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
            min_marked: 1.0,
            mss: 1460,
            packet_bytes: 1500,
            selective_acks: true,
            slow_start: SlowStart::default(),
            saved: None,
            paces: false,
            whole_window: false,
            counts_marks: false,
            arithmetic: Arithmetic::Exact,
            seed: 0,
        }
    }
}

/// The window after the first cut, and after a cut in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCut {
    /// The window of the rule.
    #[default]
    Rule,
    /// Half of the window for every rule.
    Half,
}

/// Which window is cut, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CutWindow {
    /// cwnd with its fraction.
    #[default]
    Exact,
    /// cwnd within the receiver's window, with its fraction. ssthresh is whole.
    Capped {
        /// The receiver's window, infinite for no bound.
        max_window: f64,
    },
    /// Whole segments of cwnd within the receiver's window. The remaining window is also whole.
    Whole {
        /// The receiver's window, infinite for no bound.
        max_window: f64,
    },
}

/// The window after an idle time longer than an RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleWindow {
    /// The initial window at most (RFC 5681 §4.1).
    #[default]
    Restart,
    /// Half of the window for each RTO, and at least the initial window. ssthresh remembers three quarters (RFC 2861,
    /// Linux).
    Halve,
    /// The whole window for five unused minutes, and then half of it for each five minutes. A loss in this time cuts
    /// the used part of the window (RFC 7661).
    Validate,
}

/// The window that the undo of a congestion event restores to a window rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndoResponse {
    /// The flight, with slow start up to the earlier window (RFC 4015).
    #[default]
    Standard,
    /// The window and ssthresh before the cut, as Linux.
    Restore,
}

/// The bound of the window at the end of recovery (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExitWindow {
    /// ssthresh: option 2.
    #[default]
    Ssthresh,
    /// At most one segment more than the flight, option 1, which avoids a burst.
    Flight,
    /// At most three segments more than the flight, as in Linux's `tcp_moderate_cwnd`.
    Moderated,
}

/// ssthresh after a retransmission timeout (never below two segments).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutSsthresh {
    /// As in the reference of the algorithm: half the window in the four papers, CUBIC's own decrease in RFC 9438.
    #[default]
    Standard,
    /// Half the window, as in ns-2.
    HalfCwnd,
    /// Half of the flight (RFC 5681, equation 4).
    HalfFlight,
    /// The decrease of the window rule, as in Linux.
    Rule,
}

impl TimeoutSsthresh {
    /// The setting of an algorithm whose reference halves the window.
    fn of_halving(self) -> TimeoutSsthresh {
        match self {
            TimeoutSsthresh::Standard => TimeoutSsthresh::HalfCwnd,
            given => given,
        }
    }
}

/// A congestion-control algorithm.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The window in segments, always finite and at least one. It is NaN after a [`fault`](Self::fault).
    fn cwnd(&self) -> f64;

    /// The ECN field of data on a connection with ECN. RFC 9331 reserves ECT(1) for algorithms that respond in
    /// proportion to marks.
    fn codepoint(&self) -> Ecn {
        Ecn::Ect0
    }

    /// The reason that the algorithm failed, which ends the run. The sender asks for it when the window is NaN.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// The slow-start threshold in segments, infinite before the first congestion event.
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

    /// The window to which `prr = "rate-halving"` reduces the flight during recovery: the window after the loss, or
    /// less.
    fn least_in_recovery(&self) -> f64 {
        self.cwnd()
    }

    /// True if a congestion event, or the end of its recovery, can leave a larger window than before.
    fn congestion_may_raise(&self) -> bool {
        false
    }

    /// False for an algorithm that does not respond to a mark as to a loss. For all others, a mark at a window of one
    /// segment delays the next segment. A loss in a marked window is not a second event (RFC 3168 §6.1.2).
    fn responds_to_ecn(&self) -> bool {
        true
    }

    /// The departures for which `on_sent` does anything. It is not called for others.
    fn departures(&self) -> Departures {
        Departures::All
    }

    /// False for an algorithm that ignores [`Ack::rate`] and `on_loss`. The sender then keeps no delivery state.
    fn needs_rate_samples(&self) -> bool {
        true
    }

    /// The same algorithm for events that only a transport with packet numbers reports, or none if it ignores them.
    fn packet_control(&mut self) -> Option<&mut dyn PacketControl> {
        None
    }

    /// The same algorithm for encoders and for reports about single packets. An algorithm without a rate for encoders
    /// has none.
    fn media_control(&mut self) -> Option<&mut dyn MediaControl> {
        None
    }

    /// A segment was handed to the network.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A transmission is considered lost. The call precedes `on_ack` for the ACK that shows the loss, and follows the
    /// congestion event. After a timeout, it follows the timeout's congestion event. A retransmission on suspicion
    /// also triggers it (RFC 6675 §4, rules 3 and 4).
    fn on_loss(&mut self, _loss: &Loss) {}

    /// An ACK reports data delivered, data lost, or marks.
    fn on_ack(&mut self, ack: &Ack);

    /// Congestion was detected, at most once per window of data except for timeouts. An algorithm may react to marks
    /// (`CongestionKind::Ecn`) in any way, or ignore them. The sender answers the receiver in each case. An algorithm
    /// that does not reduce its rate for marks also learns of a loss in the same window.
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

    /// The sender resumes at `now`, after an idle time longer than its RTO. With [`IdleWindow::Halve`], the call
    /// comes once per RTO.
    fn on_resume(&mut self, _now: Instant) {}

    /// The window exceeded its used part when it met congestion (RFC 7661 §4.4.1). From now on, window and ssthresh
    /// are at most `segments`. The call follows the event that it belongs to.
    fn on_limit(&mut self, _segments: f64) {}

    /// Reports named numbers for samples.
    fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {}
}
