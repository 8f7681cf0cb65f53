//! # BBRv3: a model of the path with bounds from losses
//!
//! `cc = "bbr3"`
//!
//! BBRv3 measures the bandwidth and the propagation delay of its path, like BBRv1. It also learns
//! how much data the path holds without heavy loss, and bounds its flight by this amount. It probes
//! for bandwidth every few seconds and leaves headroom for others in between.
//!
//! ## Reference
//!
//! draft-ietf-ccwg-bbr (N. Cardwell, I. Swett and J. Beshay): BBR Congestion Control. The names
//! below are the draft's. Sections are quoted by their titles.
//!
//! ## Equations
//!
//! Volumes are in bytes of payload, rates in bytes per second, and times in seconds.
//!
//! | section | quantity | equation |
//! |---|---|---|
//! | BBR.max_bw Max Filter | bandwidth | `max_bw`: largest delivery rate of this cycle and the last one |
//! | ProbeRTT Logic | propagation delay | `min_rtt`: smallest RTT of 10 s, with a probe of an empty queue every 5 s |
//! | Computing BBR.max_inflight | BDP | `bdp = bw min_rtt`, `bw = min(max_bw, bw_shortterm)` |
//! | BBR.extra_acked | aggregation | `extra_acked`: largest excess of ACKs over `bw`, in the last 10 round trips |
//! | Computing BBR.max_inflight | largest flight | `max_inflight = max(cwnd_gain bdp + extra_acked, 3 send_quantum, 4 SMSS)`, 2 SMSS more in UP |
//! | cwnd Adjustment Mechanism | window | grows by the acknowledged bytes up to `max_inflight` |
//! | cwnd Adjustment Mechanism | bounds | `inflight_longterm`, 85 % of it in CRUISE and ProbeRTT, and `inflight_shortterm` |
//! | Pacing Rate | pacing | `0.99 pacing_gain bw`, which only rises before the pipe was full |
//! | Send Quantum | burst | bytes that the pacing rate sends in 1 ms, from 2 SMSS to 64 KiB |
//! | Probing for Bandwidth In ProbeBW | more than `loss_thresh` lost while probing | `inflight_longterm <- max(flight at the loss, β min(bdp, cwnd))`, then DOWN |
//! | When not Probing for Bandwidth | losses otherwise, once a round trip | `bw_shortterm <- max(bw_latest, β bw_shortterm)`, and `inflight_shortterm` alike |
//!
//! A sample that the application limited counts for `max_bw` only if it is larger.
//!
//! ## States
//!
//! | state | pacing_gain | cwnd_gain | next state |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | Drain, after three round trips with less than 25 % growth, or a round trip with heavy loss |
//! | Drain | 0.5 | 2 | DOWN, once at most `bdp` is in flight, or after three round trips |
//! | ProbeBW_DOWN | 0.9 | 2 | CRUISE, once at most `bdp` and 85 % of `inflight_longterm` is in flight |
//! | ProbeBW_CRUISE | 1 | 2 | REFILL, after 2 to 3 s, or after as many round trips as `bdp` has segments, at most 63 |
//! | ProbeBW_REFILL | 1 | 2 | UP, after a round trip |
//! | ProbeBW_UP | 1.25 | 2.25 | DOWN, when the pipe is full or after heavy loss |
//! | ProbeRTT | 1 | 0.5 | CRUISE or Startup, after 200 ms and a round trip with half of `bdp` in flight |
//!
//! Heavy loss in Startup means a round trip in recovery with at least six losses and more than
//! `loss_thresh`. UP also ends at `inflight_longterm` if the last probe went too high.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The constants are the draft's. 2.77 is 4 ln 2, the smallest gain of Startup that doubles the
//! rate in each round trip. The bound of 63 round trips lets Reno flows of the same BDP grow
//! between two probes. The random 2 to 3 s keep flows from probing at the same time.
//!
//! ## Deviations
//!
//! - The draft defines no response to ECN. `ecn = true` selects the response of google/bbr, see
//!   below. Without it, `ackclock check` warns where a flow is ECN-capable and a queue on its path
//!   marks.
//! - `cwnd_gain` follows the draft's summary table of the state machine in each state. The pseudocode does not say where ProbeBW_UP raises and ProbeBW_DOWN lowers it.
//! - In Drain `inflight_longterm` does not bound the flight, as in the pseudocode of "Bounding cwnd
//!   Based on Recent Congestion". The table has it.
//! - "Discontiguous sequence ranges lost" in Startup are ACKs that show a loss, as in Linux. One
//!   ACK finds a hole of several segments.
//! - The sender gives up all data in flight when its timer expires, so "C.inflight + 1" is one
//!   segment. Persistent congestion of QUIC leaves two packets (RFC 9002 §7.6.2). Its repair ends
//!   when all data sent by then are delivered.
//! - A restart from idle is known only when its first segment has left. The next gap still follows
//!   the previous pacing rate. New data without data in flight counts as a restart from idle.
//! - State is saved once when a recovery begins, as in the text of "Saving State Upon Loss
//!   Recovery". NoteLoss() in the pseudocode saves it with the first loss of each round. A round
//!   begins in the middle of the losses that end UP, so their undo would restore nothing.
//! - "C.app_limited" in ProbeRTT is kept here instead of in the sender.
//! - The time between two probes is uniform in 2 to 3 s. The random numbers come from a stream of
//!   the flow's name.
//!
//! ## Response to marks
//!
//! `ecn = true` follows the branch v3 of [google/bbr](https://github.com/google/bbr)
//! (`net/ipv4/tcp_bbr.c`, commit 001a430b3ddb). The feedback is DCTCP's, and packets are ECT(0).
//!
//! | event | response |
//! |---|---|
//! | round trip | `alpha <- alpha + ecn_alpha_gain (M - alpha)`, where M is the marked part of the delivered packets |
//! | round trip with marks, outside of probes | `inflight_shortterm <- inflight_shortterm (1 - ecn_factor alpha)` |
//! | probe with more than `ecn_thresh` of a sample marked | `inflight_longterm` is set, and the probe ends |
//! | two round trips of Startup with M of at least `ecn_thresh` | Startup ends |
//! | marks end, and no loss in the cycle | the next probe begins at once, and first adds half of `inflight_longterm` |
//!
//! Marks count once the minimum RTT is at most `ecn_max_rtt`. The response is made for data
//! centres. google/bbr switches it on per route (`ecn_low`). The state of loss recovery is Open
//! there when marks have ended. Here a round trip without marks ends them.
//!
//! ## Validation
//!
//! The 22 test cases of the draft's appendix pass, in their order. Further tests check exchanges
//! derived from the draft: the end of Startup, Drain, ProbeBW, ProbeRTT and 2 % loss. Linux 6 does
//! not include BBRv3, so no comparison with a kernel exists.
//! [BBR against CUBIC and under random loss](../validation/bbr.md) measures its shares.
//!
//! ## Behaviour
//!
//! BBRv3 needs selective ACKs to tell losses apart. It also needs loss detection by time
//! (`rack = true`, a part of `profile = "linux"`). RFC 6675 alone does not find retransmissions
//! that are lost again. Each becomes a timeout, about one per round trip at 1 % random loss on a
//! fast path.
//!
//! Recovery by RFC 6675 may end while segments are missing that were already retransmitted. The
//! next recovery retransmits them once more and takes the retransmission in flight for lost. BBRv3
//! then counts a round trip with a loss in DOWN and cruises at `bw_shortterm`. With a buffer of
//! half a BDP, one flow uses 93 % of the link then, and 97 % with RACK.

mod control;
mod machine;
mod marks;
mod model;
mod sample;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::control::Control;
use self::machine::Machine;
use self::marks::Marks;
use self::model::Model;
use self::sample::Sample;
use super::{
    Ack, CaState, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, EcnNeed, Loss, PathView, Recovery,
    Restart, Sent,
};
use crate::rng::{Rng, RngStreams};
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

/// BBRv3: BBR with bounds from losses. It keeps about one bandwidth-delay product in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr3 {
    /// BBR.LossThresh: part of a flight that may be lost while the flow probes for bandwidth, above 0 and below 1.
    pub loss_thresh: f64,
    /// BBR.Beta: part of a bound that remains after a round trip with a loss, above 0 and below 1.
    pub beta: f64,
    /// BBR.Headroom: the part of inflight_longterm that is left to others while cruising, at least 0 and below 1.
    pub headroom: f64,
    /// BBR.StartupPacingGain, above 1 and at most 10.
    pub startup_pacing_gain: f64,
    /// BBR.DrainPacingGain, above 0 and below 1.
    pub drain_pacing_gain: f64,
    /// The pacing gain of ProbeBW_DOWN, above 0 and below 1.
    pub down_pacing_gain: f64,
    /// The pacing gain of ProbeBW_UP, above 1 and at most 10.
    pub up_pacing_gain: f64,
    /// Whether marks reduce the flight, as in the branch v3 of google/bbr. The flow is then ECN-capable.
    pub ecn: bool,
    /// Weight of a round trip in the estimate of marked packets, above 0 and at most 1.
    pub ecn_alpha_gain: f64,
    /// Part of the estimate by which marks reduce the flight, at least 0 and at most 1.
    pub ecn_factor: f64,
    /// Part of marked packets above which a probe for bandwidth went too far, above 0 and at most 1.
    pub ecn_thresh: f64,
    /// Largest minimum RTT with which marks count. "0 s" means any.
    pub ecn_max_rtt: Duration,
}

impl Default for Bbr3 {
    fn default() -> Self {
        Bbr3 {
            loss_thresh: 0.02,
            beta: 0.7,
            headroom: 0.15,
            startup_pacing_gain: 2.77,
            drain_pacing_gain: 0.5,
            down_pacing_gain: 0.9,
            up_pacing_gain: 1.25,
            ecn: false,
            ecn_alpha_gain: 1.0 / 16.0,
            ecn_factor: 1.0 / 3.0,
            ecn_thresh: 0.5,
            ecn_max_rtt: Duration::from_millis(5),
        }
    }
}

impl CcParameters for Bbr3 {
    type Controller = Bbr3Controller;
    const REFERENCE: &'static str = "draft-ietf-ccwg-bbr (Cardwell, Swett & Beshay), BBR Congestion Control";

    fn responds_to_marks(&self) -> bool {
        self.ecn
    }

    /// google/bbr keeps the ECE flag of each ACK precise, as DCTCP does.
    fn needs_ecn(&self) -> EcnNeed {
        if self.ecn { EcnNeed::PerAck } else { EcnNeed::None }
    }

    fn check(&self) -> Result<(), CcMistake> {
        const PART: &str = "above 0 and below 1";
        const GAIN: &str = "above 1 and at most 10";
        let is_part = |value: f64| value > 0.0 && value < 1.0;
        let is_gain = |value: f64| value > 1.0 && value <= 10.0;
        require("loss_thresh", self.loss_thresh, is_part(self.loss_thresh), PART)?;
        require("beta", self.beta, is_part(self.beta), PART)?;
        require("headroom", self.headroom, (0.0..1.0).contains(&self.headroom), "at least 0 and below 1")?;
        require("startup_pacing_gain", self.startup_pacing_gain, is_gain(self.startup_pacing_gain), GAIN)?;
        require("drain_pacing_gain", self.drain_pacing_gain, is_part(self.drain_pacing_gain), PART)?;
        require("down_pacing_gain", self.down_pacing_gain, is_part(self.down_pacing_gain), PART)?;
        require("up_pacing_gain", self.up_pacing_gain, is_gain(self.up_pacing_gain), GAIN)?;
        const SHARE: &str = "above 0 and at most 1";
        let is_share = |value: f64| value > 0.0 && value <= 1.0;
        require("ecn_alpha_gain", self.ecn_alpha_gain, is_share(self.ecn_alpha_gain), SHARE)?;
        require("ecn_factor", self.ecn_factor, (0.0..=1.0).contains(&self.ecn_factor), "at least 0 and at most 1")?;
        require("ecn_thresh", self.ecn_thresh, is_share(self.ecn_thresh), SHARE)?;
        Ok(())
    }

    fn controller(&self, context: CcContext) -> Bbr3Controller {
        Bbr3Controller(Box::new(Bbr::new(self.clone(), context)))
    }
}

/// BBRv3 with its state.
#[derive(Clone, Debug)]
pub struct Bbr3Controller(Box<Bbr>);

/// The draft's C, as far as events contain it, and BBR.
#[derive(Clone, Debug)]
struct Bbr {
    parameters: Bbr3,
    /// C.SMSS, as a number of bytes.
    smss: f64,
    /// Bytes on the wire for each of payload, in full segments.
    wire_per_payload: f64,
    /// C.has_selective_acks.
    has_selective_acks: bool,
    rng: Rng,
    /// C.inflight, in bytes.
    in_flight_bytes: u64,
    /// C.srtt.
    srtt: Duration,
    /// C.delivered.
    delivered: u64,
    /// C.is_cwnd_limited holds until this much is delivered.
    cwnd_limited_until: u64,
    /// InLossRecovery().
    in_loss_recovery: bool,
    /// The window that a timeout leaves, in segments.
    min_window: f64,
    /// When a timeout last did.
    restarted_at: Option<Instant>,
    has_begun: bool,
    model: Model,
    machine: Machine,
    control: Control,
    /// The response to marks, if it is on.
    marks: Option<Box<Marks>>,
}

impl Bbr {
    /// `Initialization`: OnInit(), except the parts that need a time. [`begin`](Self::begin) sets these.
    fn new(parameters: Bbr3, context: CcContext) -> Self {
        let smss = f64::from(context.mss);
        let wire_per_payload = f64::from(context.packet_bytes) / smss;
        let initial_cwnd = context.initial_window * smss;
        let gain = parameters.startup_pacing_gain;
        Bbr {
            smss,
            wire_per_payload,
            has_selective_acks: context.selective_acks,
            rng: RngStreams::from_root(context.seed).stream("bbr3", "probe wait"),
            in_flight_bytes: 0,
            srtt: Duration::ZERO,
            delivered: 0,
            cwnd_limited_until: 0,
            in_loss_recovery: false,
            min_window: context.min_window,
            restarted_at: None,
            has_begun: false,
            model: Model::default(),
            machine: Machine::default(),
            control: Control::new(initial_cwnd, smss, gain, wire_per_payload),
            marks: parameters.ecn.then(Box::default),
            parameters,
        }
    }

    /// The first event: the stamps of OnInit(). A round-trip time may be known from the handshake.
    fn begin(&mut self, now: Instant, path: &PathView) {
        self.see(path);
        if !self.has_begun {
            self.has_begun = true;
            self.model.begin(now, path.srtt);
            self.machine.cycle_stamp = now;
        }
        self.init_pacing_rate_from_rtt();
    }

    /// It keeps only values of the path that are used between events. A full copy is slow.
    #[inline]
    fn see(&mut self, path: &PathView) {
        self.in_flight_bytes = path.in_flight_bytes;
        self.srtt = path.srtt;
    }

    /// C.inflight.
    fn inflight(&self) -> f64 {
        self.in_flight_bytes as f64
    }

    /// "Transport Connection State": C.is_cwnd_limited is true if the connection filled C.cwnd at any point in the
    /// last packet-timed round trip.
    fn is_cwnd_limited(&self) -> bool {
        self.delivered < self.cwnd_limited_until
    }

    fn note_cwnd_limited(&mut self) {
        self.cwnd_limited_until = self.delivered + self.in_flight_bytes;
    }

    /// "Per-ACK Steps": UpdateOnACK().
    fn update_on_ack(&mut self, now: Instant, rs: &Sample) {
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(rs);
        self.update_ecn_alpha();
        self.update_ack_aggregation(now, rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(now);
        self.update_probe_bw_cycle_phase(now, rs);
        self.update_min_rtt(now, rs);
        self.check_probe_rtt(now, rs);
        self.advance_latest_delivery_signals(rs);
        self.bound_bw_for_model();
        self.set_pacing_rate();
        self.set_send_quantum();
        self.set_cwnd(rs);
    }
}

impl CongestionControl for Bbr3Controller {
    #[inline]
    fn cwnd(&self) -> f64 {
        (self.0.control.cwnd / self.0.smss).max(1.0)
    }

    /// There is none: in Startup the window grows without a bound, then it is where it is meant to be.
    #[inline]
    fn ssthresh(&self) -> f64 {
        if self.0.machine.full_bw_reached { self.cwnd() } else { f64::INFINITY }
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.0.control.wire_rate)
    }

    fn send_quantum(&self) -> u64 {
        self.0.control.send_quantum as u64
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        false
    }

    /// "Per-Transmit Steps".
    fn on_sent(&mut self, sent: &Sent) {
        let bbr = &mut self.0;
        bbr.begin(sent.now, &sent.path);
        if bbr.inflight() + bbr.smss > bbr.control.cwnd {
            bbr.note_cwnd_limited();
        }
        // "Restarting From Idle": C.inflight is that before the segment.
        if sent.path.in_flight_bytes <= u64::from(sent.bytes) && !sent.retransmission {
            bbr.handle_restart_from_idle(sent.now);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.see(&loss.path);
        self.0.handle_lost_packet(loss);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let bbr = &mut self.0;
        bbr.begin(ack.now, &ack.path);
        if ack.cwnd_limited {
            bbr.note_cwnd_limited();
        }
        bbr.note_ca_state(ack.state);
        bbr.machine.note_losses(ack.newly_lost);
        bbr.note_marks(ack);
        let Some(rate) = &ack.rate else {
            bbr.bound_cwnd();
            return;
        };
        bbr.delivered = rate.prior_delivered + rate.delivered;
        let sample = Sample::new(rate, ack, bbr.machine.held_down.covers(rate.prior_delivered));
        bbr.model.note_delivered(ack.now, bbr.delivered);
        bbr.update_on_ack(ack.now, &sample);
        // The ACK that shows persistent congestion is of packets sent before it.
        if bbr.restarted_at == Some(ack.now) {
            bbr.control.cwnd = bbr.min_window * bbr.smss;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.restart != Restart::Reduced {
            self.0.see(&congestion.path);
            self.0.on_enter_rto(congestion.now);
        }
    }

    /// "Modulating cwnd in Loss Recovery": OnEnterFastRecovery().
    fn on_recovery_enter(&mut self, recovery: &Recovery) {
        self.0.see(&recovery.path);
        self.0.save_state_upon_loss();
        self.0.in_loss_recovery = true;
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.0.see(&recovery.path);
        self.0.handle_spurious_loss_detection();
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        let Bbr { model, machine, control, .. } = &*self.0;
        report("bbr_state", f64::from(machine.state.number()));
        report("max_bw_bps", 8.0 * model.max_bw);
        report("bw_bps", 8.0 * model.bw);
        report("min_rtt_s", model.min_rtt);
        report("max_inflight_bytes", control.max_inflight);
        report("inflight_longterm_bytes", model.inflight_longterm);
        report("inflight_shortterm_bytes", model.inflight_shortterm);
        report("extra_acked_bytes", model.extra_acked);
        if let Some(marks) = &self.0.marks {
            report("ecn_alpha", marks.alpha());
        }
    }
}

impl Bbr {
    /// Loss recovery ends with an ACK, by repair or undo. "BBR restores the best-known cwnd value we had upon
    /// entering loss recovery".
    fn note_ca_state(&mut self, state: CaState) {
        let was = std::mem::replace(&mut self.in_loss_recovery, matches!(state, CaState::Recovery | CaState::Loss));
        if was && !self.in_loss_recovery {
            self.restore_cwnd();
        }
        self.machine.in_fast_recovery = state == CaState::Recovery;
    }
}
