//! "State Machine Operation": Startup, Drain, ProbeBW and ProbeRTT.

use super::Bbr;
use super::sample::Sample;
use crate::cc::held_down::HeldDown;
use crate::units::{Duration, Instant};

/// BBRStartupFullLossCnt.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// BBR.ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// "rounds = min(reno_rounds, 63)".
const MOST_RENO_ROUNDS: f64 = 63.0;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBw(ProbeBw),
    ProbeRtt,
}

impl State {
    /// The number of the state in samples, by the order of the table of states.
    pub(super) fn number(self) -> u8 {
        match self {
            State::Startup => 0,
            State::Drain => 1,
            State::ProbeBw(ProbeBw::Down) => 2,
            State::ProbeBw(ProbeBw::Cruise) => 3,
            State::ProbeBw(ProbeBw::Refill) => 4,
            State::ProbeBw(ProbeBw::Up) => 5,
            State::ProbeRtt => 6,
        }
    }
}

/// The phases of ProbeBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeBw {
    Down,
    Cruise,
    Refill,
    Up,
}

/// BBR.undo_state: the state that a loss ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UndoState {
    Startup,
    ProbeBwUp,
}

/// BBR.ack_phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state and the conditions of its transitions.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) state: State,
    pub(super) full_bw_reached: bool,
    pub(super) full_bw_now: bool,
    full_bw: f64,
    pub(super) full_bw_count: u32,
    pub(super) drain_start_round: u64,
    pub(super) in_fast_recovery: bool,
    /// ACKs of this round that showed losses.
    loss_events_in_round: u32,
    /// Whether the ACK at hand did.
    shows_loss: bool,
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    pub(super) bw_probe_up_acked: f64,
    pub(super) probe_up_acked_per_inc: f64,
    pub(super) bw_probe_up_rounds: u32,
    pub(super) rounds_since_probe_up: u64,
    pub(super) bw_probe_wait: Duration,
    pub(super) cycle_stamp: Instant,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
    /// BBR.probe_rtt_done_stamp, with none for 0.
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
    pub(super) idle_restart: bool,
    /// Segments sent while ProbeRTT limits the flight.
    pub(super) held_down: HeldDown,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            state: State::Startup,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            drain_start_round: 0,
            in_fast_recovery: false,
            loss_events_in_round: 0,
            shows_loss: false,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: Instant::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            held_down: HeldDown::default(),
        }
    }
}

impl Machine {
    /// The ACK at hand shows this many losses.
    pub(super) fn note_losses(&mut self, newly_lost: u32) {
        self.shows_loss = newly_lost > 0;
        self.loss_events_in_round += u32::from(self.shows_loss);
    }

    /// ResetFullBW().
    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }
}

impl Bbr {
    pub(super) fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(self.machine.state, State::ProbeBw(_))
    }

    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.machine.state, State::Startup | State::ProbeBw(ProbeBw::Refill | ProbeBw::Up))
    }

    // ---- "Startup" ----

    /// "Exiting Acceleration Based on Bandwidth Plateau".
    pub(super) fn check_full_bw_reached(&mut self, rs: &Sample) {
        let machine = &mut self.machine;
        if machine.full_bw_now || !self.model.round_start || rs.is_app_limited {
            return;
        }
        if rs.delivery_rate >= machine.full_bw * 1.25 {
            machine.reset_full_bw();
            machine.full_bw = rs.delivery_rate;
            return;
        }
        machine.full_bw_count += 1;
        machine.full_bw_now = machine.full_bw_count >= 3;
        machine.full_bw_reached |= machine.full_bw_now;
    }

    pub(super) fn check_startup_done(&mut self, rs: &Sample) {
        self.check_startup_high_loss(rs);
        self.check_startup_marks();
        if self.machine.state == State::Startup && self.machine.full_bw_reached {
            // EnterDrain().
            self.machine.state = State::Drain;
            self.machine.drain_start_round = self.model.round_count;
        }
    }

    /// "Exiting Startup Based on Packet Loss".
    fn check_startup_high_loss(&mut self, rs: &Sample) {
        let loss_round_start = self.model.loss_round_start;
        let machine = &mut self.machine;
        // "The connection has been in fast recovery for at least one full packet-timed round trip": a round of losses
        // begins with the loss that begins recovery.
        let after_a_round = loss_round_start && machine.loss_events_in_round >= STARTUP_FULL_LOSS_COUNT;
        // "if any packet loss is detected during fast recovery".
        let at_once = !self.has_selective_acks && machine.shows_loss;
        let may_exit = machine.in_fast_recovery && (after_a_round || at_once);
        if loss_round_start {
            machine.loss_events_in_round = 0;
        }
        if self.machine.state != State::Startup || self.machine.full_bw_reached || !may_exit {
            return;
        }
        if at_once || self.is_inflight_too_high(rs.tx_in_flight, rs.lost) {
            self.model.undo_state = Some(UndoState::Startup);
            self.end_startup();
        }
    }

    /// Startup has filled the queue.
    pub(super) fn end_startup(&mut self) {
        self.machine.full_bw_now = true;
        self.machine.full_bw_reached = true;
        self.model.inflight_longterm = self.bdp().max(self.model.inflight_latest);
    }

    // ---- "Drain" ----

    pub(super) fn check_drain_done(&mut self, now: Instant) {
        if self.machine.state == State::Drain
            && (self.inflight() <= self.inflight_at(self.model.bw, 1.0)
                || self.model.round_count > self.machine.drain_start_round + 3)
        {
            // EnterProbeBW().
            self.start_probe_bw_down(now);
        }
    }

    // ---- "ProbeBW Algorithm Details" ----

    pub(super) fn start_probe_bw_down(&mut self, now: Instant) {
        self.model.reset_congestion_signals();
        self.begin_cycle_of_marks();
        self.machine.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.machine.cycle_stamp = now;
        self.machine.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.machine.state = State::ProbeBw(ProbeBw::Down);
    }

    fn start_probe_bw_cruise(&mut self) {
        self.machine.state = State::ProbeBw(ProbeBw::Cruise);
    }

    /// `bw_probe_up_rounds` is the exponent of the growth in the first round of UP.
    fn start_probe_bw_refill(&mut self, bw_probe_up_rounds: u32) {
        self.model.reset_short_term_model();
        self.machine.bw_probe_up_rounds = bw_probe_up_rounds;
        self.machine.bw_probe_up_acked = 0.0;
        self.machine.prev_probe_precautionary = false;
        self.machine.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.machine.state = State::ProbeBw(ProbeBw::Refill);
    }

    fn start_probe_bw_up(&mut self, rs: &Sample) {
        self.machine.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.machine.reset_full_bw();
        self.machine.full_bw = rs.delivery_rate;
        self.machine.state = State::ProbeBw(ProbeBw::Up);
        self.raise_inflight_longterm_slope();
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, now: Instant, rs: &Sample) {
        if !self.machine.full_bw_reached || self.adapt_long_term_model(now, rs) {
            return;
        }
        let state = self.machine.state;
        if matches!(state, State::ProbeBw(ProbeBw::Down | ProbeBw::Cruise))
            && let Some(rounds) = self.growth_after_marks()
        {
            return self.start_probe_bw_refill(rounds);
        }
        match state {
            State::ProbeBw(ProbeBw::Down) if self.is_time_to_probe_bw(now) => self.start_probe_bw_refill(0),
            State::ProbeBw(ProbeBw::Down) if self.is_time_to_cruise() => self.start_probe_bw_cruise(),
            State::ProbeBw(ProbeBw::Cruise) if self.is_time_to_probe_bw(now) => self.start_probe_bw_refill(0),
            // "After one round of REFILL, start UP".
            State::ProbeBw(ProbeBw::Refill) if self.model.round_start => {
                self.machine.is_bw_probe_sample = true;
                self.start_probe_bw_up(rs);
            }
            State::ProbeBw(ProbeBw::Up) if self.is_time_to_go_down(rs) => {
                self.machine.prev_probe_too_high = false;
                self.start_probe_bw_down(now);
            }
            _ => {}
        }
    }

    fn is_time_to_cruise(&self) -> bool {
        self.inflight() <= self.inflight_with_headroom() && self.inflight() <= self.inflight_at(self.model.max_bw, 1.0)
    }

    fn is_time_to_go_down(&mut self, rs: &Sample) -> bool {
        let inflight_longterm = self.model.inflight_longterm;
        // "Precautionary Bandwidth Probing: Deceleration".
        if self.machine.prev_probe_too_high && self.inflight() >= inflight_longterm {
            self.machine.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.control.cwnd >= inflight_longterm {
            // "bw is limited by BBR.inflight_longterm".
            self.machine.reset_full_bw();
            self.machine.full_bw = rs.delivery_rate;
            return false;
        }
        self.machine.full_bw_now
    }

    /// "Track ACK state and update BBR.max_bw window and BBR.inflight_longterm. Returns true if it decided a state
    /// transition, false otherwise."
    fn adapt_long_term_model(&mut self, now: Instant, rs: &Sample) -> bool {
        if self.machine.ack_phase == AckPhase::ProbeStarting && self.model.round_start {
            self.machine.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.machine.ack_phase == AckPhase::ProbeStopping && self.model.round_start {
            self.machine.is_bw_probe_sample = false;
            self.machine.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() && !rs.is_app_limited {
                self.model.advance_max_bw_filter();
            }
            // "Precautionary Bandwidth Probing: Acceleration".
            if self.is_in_a_probe_bw_state()
                && self.machine.prev_probe_precautionary
                && !self.machine.prev_probe_too_high
            {
                self.start_probe_bw_refill(0);
                return true;
            }
        }
        if self.has_too_many_marks(rs) {
            if self.machine.is_bw_probe_sample {
                self.handle_inflight_too_high(now, rs.tx_in_flight as f64, rs.is_app_limited);
            }
        } else if self.model.inflight_longterm.is_finite() && !self.is_inflight_too_high(rs.tx_in_flight, rs.lost) {
            // "Loss rate is safe. Adjust upper bounds upward."
            self.model.inflight_longterm = self.model.inflight_longterm.max(rs.tx_in_flight as f64);
            if self.machine.state == State::ProbeBw(ProbeBw::Up) {
                self.probe_inflight_longterm_upward(rs);
            }
        }
        false
    }

    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = (1u64 << self.machine.bw_probe_up_rounds) as f64;
        self.machine.bw_probe_up_rounds = (self.machine.bw_probe_up_rounds + 1).min(30);
        self.machine.probe_up_acked_per_inc = (self.control.cwnd / growth_this_round).max(self.smss);
    }

    fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        // "not fully using BBR.inflight_longterm, so don't grow it".
        if !self.is_cwnd_limited() || self.control.cwnd < self.model.inflight_longterm {
            return;
        }
        let machine = &mut self.machine;
        machine.bw_probe_up_acked += rs.newly_acked as f64;
        if machine.bw_probe_up_acked >= machine.probe_up_acked_per_inc {
            let delta = (machine.bw_probe_up_acked / machine.probe_up_acked_per_inc).floor();
            machine.bw_probe_up_acked -= delta * machine.probe_up_acked_per_inc;
            self.model.inflight_longterm += delta * self.smss;
        }
        if self.model.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    // ---- "Time Scale for Bandwidth Probing" ----

    fn is_time_to_probe_bw(&self, now: Instant) -> bool {
        now > self.machine.cycle_stamp + self.machine.bw_probe_wait || self.is_reno_coexistence_probe_time()
    }

    fn is_reno_coexistence_probe_time(&self) -> bool {
        let reno_rounds = self.target_inflight() / self.smss;
        self.machine.rounds_since_probe_up as f64 >= reno_rounds.min(MOST_RENO_ROUNDS)
    }

    fn pick_probe_wait(&mut self) {
        self.machine.rounds_since_probe_up = self.rng.next_u64() >> 63;
        self.machine.bw_probe_wait = Duration::from_secs_f64_round(2.0 + self.rng.next_f64());
    }

    // ---- "ProbeRTT Logic" ----

    pub(super) fn check_probe_rtt(&mut self, now: Instant, rs: &Sample) {
        if self.machine.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.machine.idle_restart {
            self.machine.state = State::ProbeRtt;
            self.save_cwnd();
            self.machine.probe_rtt_done_stamp = None;
            self.machine.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.machine.state == State::ProbeRtt {
            self.handle_probe_rtt(now);
        }
        if rs.delivered > 0.0 {
            self.machine.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Instant) {
        // "Ignore low rate samples during ProbeRTT".
        self.machine.held_down.mark(self.delivered, self.in_flight_bytes);
        if self.machine.probe_rtt_done_stamp.is_none() {
            if self.inflight() <= self.probe_rtt_cwnd() {
                self.machine.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
                self.machine.probe_rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.machine.probe_rtt_round_done |= self.model.round_start;
        if self.machine.probe_rtt_round_done {
            self.check_probe_rtt_done(now);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.machine.probe_rtt_done_stamp.is_some_and(|done| now > done) {
            self.model.probe_rtt_min_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// "Exiting ProbeRTT".
    fn exit_probe_rtt(&mut self, now: Instant) {
        self.model.reset_short_term_model();
        if self.machine.full_bw_reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.machine.state = State::Startup;
        }
    }

    // ---- "Restarting From Idle" ----

    /// The flow is limited by the application and had nothing in flight.
    pub(super) fn handle_restart_from_idle(&mut self, now: Instant) {
        self.machine.idle_restart = true;
        self.model.extra_acked_interval_start = now;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.machine.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    // ---- "Handling a Spurious Loss Recovery" ----

    /// "If flow was probing bandwidth, return to that state".
    pub(super) fn return_to(&mut self, undo_state: Option<UndoState>) {
        let is_probing_rtt = self.machine.state == State::ProbeRtt;
        match undo_state {
            Some(UndoState::Startup) if self.machine.state != State::Startup => {
                self.machine.full_bw_reached = false;
                if !is_probing_rtt {
                    self.machine.state = State::Startup;
                }
            }
            Some(UndoState::ProbeBwUp) if self.machine.state != State::ProbeBw(ProbeBw::Up) && !is_probing_rtt => {
                self.start_probe_bw_refill(0);
            }
            _ => {}
        }
    }
}
