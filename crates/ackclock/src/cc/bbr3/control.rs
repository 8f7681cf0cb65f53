//! "Updating Control Parameters": pacing rate, send quantum and congestion window.

use super::Bbr;
use super::machine::{ProbeBw, State};
use super::sample::Sample;
use crate::units::{Instant, Rate};

/// "Send Quantum": "min(C.send_quantum, 64 KBytes)".
const MOST_QUANTUM: f64 = 65_536.0;
/// BBR.MinPipeCwnd in segments.
const MIN_PIPE_SEGMENTS: f64 = 4.0;
/// BBR.PacingMarginPercent.
const PACING_MARGIN: f64 = 0.01;

/// BBR.ProbeRTTCwndGain.
const PROBE_RTT_CWND_GAIN: f64 = 0.5;

/// Window and pacing for the sender.
#[derive(Clone, Debug)]
pub(super) struct Control {
    initial_cwnd: f64,
    /// C.cwnd.
    pub(super) cwnd: f64,
    /// BBR.prior_cwnd.
    pub(super) prior_cwnd: f64,
    /// BBR.max_inflight.
    pub(super) max_inflight: f64,
    /// C.pacing_rate.
    pub(super) pacing_rate: f64,
    /// The same on the wire.
    pub(super) wire_rate: Rate,
    /// C.send_quantum.
    pub(super) send_quantum: f64,
    has_seen_rtt: bool,
}

impl Control {
    pub(super) fn new(initial_cwnd: f64, smss: f64, startup_gain: f64, wire_per_payload: f64) -> Self {
        let mut control = Control {
            initial_cwnd,
            cwnd: initial_cwnd,
            prior_cwnd: 0.0,
            max_inflight: initial_cwnd,
            pacing_rate: 0.0,
            wire_rate: Rate::from_bps(1).expect("invariant: one is above zero"),
            send_quantum: 2.0 * smss,
            has_seen_rtt: false,
        };
        // "Pacing Rate": "C.InitialCwnd / (C.srtt ? C.srtt : 1ms)".
        control.set_rate(startup_gain * initial_cwnd / 1e-3, wire_per_payload);
        control
    }

    fn set_rate(&mut self, rate: f64, wire_per_payload: f64) {
        self.pacing_rate = rate;
        let bits = (8.0 * wire_per_payload * rate) as u64;
        self.wire_rate = Rate::from_bps(bits.max(1)).expect("invariant: at least one bit per second");
    }
}

impl Bbr {
    /// BBR.MinPipeCwnd.
    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        MIN_PIPE_SEGMENTS * self.smss
    }

    // ---- "Pacing Rate: C.pacing_rate" ----

    /// InitPacingRate() with "the initial C.srtt after the first non-zero RTT sample".
    pub(super) fn init_pacing_rate_from_rtt(&mut self) {
        let srtt = self.srtt.as_secs_f64();
        if !self.control.has_seen_rtt && srtt > 0.0 {
            self.control.has_seen_rtt = true;
            let nominal_bandwidth = self.control.initial_cwnd / srtt;
            self.control.set_rate(self.parameters.startup_pacing_gain * nominal_bandwidth, self.wire_per_payload);
        }
    }

    /// SetPacingRateWithGain().
    pub(super) fn set_pacing_rate_with_gain(&mut self, pacing_gain: f64) {
        let rate = pacing_gain * self.model.bw * (1.0 - PACING_MARGIN);
        let may_change = rate > 0.0 && (self.machine.full_bw_reached || rate > self.control.pacing_rate);
        if may_change && rate != self.control.pacing_rate {
            self.control.set_rate(rate, self.wire_per_payload);
        }
    }

    /// SetPacingRate().
    pub(super) fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.pacing_gain());
    }

    /// BBR.pacing_gain, from the table in `Summary of Control Behavior in the State Machine`.
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.machine.state {
            State::Startup => self.parameters.startup_pacing_gain,
            State::Drain => self.parameters.drain_pacing_gain,
            State::ProbeBw(ProbeBw::Down) => self.parameters.down_pacing_gain,
            State::ProbeBw(ProbeBw::Up) => self.parameters.up_pacing_gain,
            State::ProbeBw(ProbeBw::Cruise | ProbeBw::Refill) | State::ProbeRtt => 1.0,
        }
    }

    /// BBR.cwnd_gain, by the same table.
    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.machine.state {
            State::ProbeBw(ProbeBw::Up) => 2.25,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => 2.0,
        }
    }

    // ---- "Send Quantum: C.send_quantum" ----

    pub(super) fn set_send_quantum(&mut self) {
        self.control.send_quantum = (self.control.pacing_rate * 1e-3).min(MOST_QUANTUM).max(2.0 * self.smss);
    }

    // ---- "Congestion Window" ----

    /// BDPMultiple(), of the bandwidth `bw`.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        // "no valid RTT samples yet".
        if self.model.min_rtt.is_infinite() {
            return self.control.initial_cwnd;
        }
        gain * bw * self.model.min_rtt
    }

    /// BBR.bdp.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.model.bw, 1.0)
    }

    /// QuantizationBudget(). "TCP Offload Budget": "BBR.offload_budget = 3 * C.send_quantum".
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let offload_budget = 3.0 * self.control.send_quantum;
        let cap = inflight_cap.max(offload_budget).max(self.min_pipe_cwnd());
        if self.machine.state == State::ProbeBw(ProbeBw::Up) { cap + 2.0 * self.smss } else { cap }
    }

    /// Inflight(), of the bandwidth `bw`.
    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// TargetInflight().
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.control.cwnd)
    }

    fn update_max_inflight(&mut self) {
        let inflight_cap = self.bdp_multiple(self.model.bw, self.cwnd_gain()) + self.model.extra_acked;
        self.control.max_inflight = self.quantization_budget(inflight_cap);
    }

    /// "cwnd Adjustment Mechanism": SetCwnd().
    pub(super) fn set_cwnd(&mut self, rs: &Sample) {
        self.update_max_inflight();
        let Control { cwnd, max_inflight, initial_cwnd, .. } = self.control;
        let grown = cwnd + rs.newly_acked as f64;
        let cwnd = if self.machine.full_bw_reached {
            grown.min(max_inflight)
        } else if cwnd < max_inflight || (self.delivered as f64) < initial_cwnd {
            grown
        } else {
            cwnd
        };
        self.control.cwnd = cwnd.max(self.min_pipe_cwnd());
        self.bound_cwnd();
    }

    /// The bounds of every ACK.
    pub(super) fn bound_cwnd(&mut self) {
        self.bound_cwnd_for_probe_rtt();
        self.bound_cwnd_for_model();
    }

    /// "Modulating cwnd in ProbeRTT": ProbeRTTCwnd().
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.model.bw, PROBE_RTT_CWND_GAIN).max(self.min_pipe_cwnd())
    }

    fn bound_cwnd_for_probe_rtt(&mut self) {
        if self.machine.state == State::ProbeRtt {
            self.control.cwnd = self.control.cwnd.min(self.probe_rtt_cwnd());
        }
    }

    /// "Bounding cwnd Based on Recent Congestion": BoundCwndForModel().
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.machine.state {
            State::ProbeBw(ProbeBw::Cruise) | State::ProbeRtt => self.inflight_with_headroom(),
            State::ProbeBw(_) => self.model.inflight_longterm,
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.model.inflight_shortterm).max(self.min_pipe_cwnd());
        self.control.cwnd = self.control.cwnd.min(cap);
    }

    /// InflightWithHeadroom(): "a volume of data that tries to leave free headroom in the bottleneck buffer or link".
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let inflight_longterm = self.model.inflight_longterm;
        if inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = self.smss.max(self.parameters.headroom * inflight_longterm);
        (inflight_longterm - headroom).max(self.min_pipe_cwnd())
    }

    // ---- "Modulating cwnd in Loss Recovery" ----

    /// SaveCwnd().
    pub(super) fn save_cwnd(&mut self) {
        let is_modulated = self.in_loss_recovery || self.machine.state == State::ProbeRtt;
        let least = if is_modulated { self.control.prior_cwnd } else { 0.0 };
        self.control.prior_cwnd = self.control.cwnd.max(least);
    }

    /// RestoreCwnd().
    pub(super) fn restore_cwnd(&mut self) {
        self.control.cwnd = self.control.cwnd.max(self.control.prior_cwnd);
    }

    /// OnEnterRTO(). The flight is given up, so "C.inflight + 1" is one segment. Over QUIC it is two.
    pub(super) fn on_enter_rto(&mut self, now: Instant) {
        self.save_state_upon_loss();
        self.in_loss_recovery = true;
        self.control.cwnd = self.min_window * self.smss;
        self.restarted_at = Some(now);
    }
}
