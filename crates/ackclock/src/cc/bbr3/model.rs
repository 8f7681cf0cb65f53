//! "Updating Network Path Model Parameters": the flow's model of its path.

use super::Bbr;
use super::machine::{ProbeBw, State, UndoState};
use super::sample::Sample;
use crate::cc::Loss;
use crate::cc::max_filter::MaxFilter;
use crate::units::{Duration, Instant};

/// BBR.MinRTTFilterLen.
const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBR.ExtraAckedFilterLen, in round trips.
const EXTRA_ACKED_FILTER_LEN: u64 = 10;

/// Rates are in bytes per second, volumes in bytes, and times in seconds.
///
/// Values are infinite where the draft says so.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) max_bw: f64,
    /// BBR.max_bw_filter: the largest samples of the current cycle and of the one before.
    pub(super) max_bw_filter: [f64; 2],
    pub(super) bw: f64,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
    pub(super) bw_latest: f64,
    pub(super) inflight_latest: f64,
    pub(super) min_rtt: f64,
    pub(super) min_rtt_stamp: Instant,
    pub(super) probe_rtt_min_delay: f64,
    pub(super) probe_rtt_min_stamp: Instant,
    pub(super) probe_rtt_expired: bool,
    pub(super) extra_acked: f64,
    pub(super) extra_acked_interval_start: Instant,
    extra_acked_delivered: f64,
    extra_acked_filter: MaxFilter,
    pub(super) round_count: u64,
    pub(super) round_start: bool,
    pub(super) next_round_delivered: u64,
    pub(super) is_loss_in_round: bool,
    pub(super) loss_round_start: bool,
    pub(super) loss_round_delivered: u64,
    /// When the first loss of the round was found, until the ACK that shows it is counted.
    loss_noted_at: Option<Instant>,
    pub(super) undo_state: Option<UndoState>,
    pub(super) undo_bw_shortterm: f64,
    pub(super) undo_inflight_shortterm: f64,
    pub(super) undo_inflight_longterm: f64,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            max_bw: 0.0,
            max_bw_filter: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            min_rtt: f64::INFINITY,
            min_rtt_stamp: Instant::ZERO,
            probe_rtt_min_delay: f64::INFINITY,
            probe_rtt_min_stamp: Instant::ZERO,
            probe_rtt_expired: false,
            extra_acked: 0.0,
            extra_acked_interval_start: Instant::ZERO,
            extra_acked_delivered: 0.0,
            extra_acked_filter: MaxFilter::default(),
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            is_loss_in_round: false,
            loss_round_start: false,
            loss_round_delivered: 0,
            loss_noted_at: None,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
        }
    }
}

impl Model {
    /// `Initialization`: "BBR.min_rtt = C.srtt ? C.srtt : Infinity", and the stamps.
    pub(super) fn begin(&mut self, now: Instant, srtt: Duration) {
        if !srtt.is_zero() {
            self.min_rtt = srtt.as_secs_f64();
        }
        self.min_rtt_stamp = now;
        self.probe_rtt_min_stamp = now;
        self.extra_acked_interval_start = now;
    }

    /// The ACK at `now` brings C.delivered to this: a round of losses that it showed begins after it.
    pub(super) fn note_delivered(&mut self, now: Instant, delivered: u64) {
        if self.loss_noted_at.take() == Some(now) {
            self.loss_round_delivered = delivered;
        }
    }

    /// ResetCongestionSignals().
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// ResetShortTermModel().
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// AdvanceMaxBwFilter(): a cycle ends. One without a sample does not count.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[0] > 0.0 {
            self.max_bw_filter = [0.0, self.max_bw_filter[0]];
        }
    }
}

impl Bbr {
    // ---- "BBR.round_count: Tracking Packet-Timed Round Trips" ----

    fn update_round(&mut self, rs: &Sample) {
        self.model.round_start = rs.prior_delivered >= self.model.next_round_delivered;
        if self.model.round_start {
            self.start_round();
            self.model.round_count += 1;
            self.machine.rounds_since_probe_up += 1;
        }
    }

    pub(super) fn start_round(&mut self) {
        self.model.next_round_delivered = self.delivered;
    }

    // ---- "Updating the BBR.max_bw Max Filter" ----

    fn update_max_bw(&mut self, rs: &Sample) {
        self.update_round(rs);
        let model = &mut self.model;
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= model.max_bw || !rs.is_app_limited) {
            let [current, previous] = &mut model.max_bw_filter;
            *current = current.max(rs.delivery_rate);
            model.max_bw = current.max(*previous);
        }
    }

    /// BoundBWForModel().
    pub(super) fn bound_bw_for_model(&mut self) {
        self.model.bw = self.model.max_bw.min(self.model.bw_shortterm);
    }

    // ---- "ProbeRTT Logic" ----

    pub(super) fn update_min_rtt(&mut self, now: Instant, rs: &Sample) {
        let model = &mut self.model;
        model.probe_rtt_expired = now > model.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if rs.rtt.is_finite() && (rs.rtt < model.probe_rtt_min_delay || model.probe_rtt_expired) {
            model.probe_rtt_min_delay = rs.rtt;
            model.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = now > model.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if model.probe_rtt_min_delay < model.min_rtt || min_rtt_expired {
            model.min_rtt = model.probe_rtt_min_delay;
            model.min_rtt_stamp = model.probe_rtt_min_stamp;
        }
    }

    // ---- "BBR.extra_acked" ----

    pub(super) fn update_ack_aggregation(&mut self, now: Instant, rs: &Sample) {
        let model = &mut self.model;
        let interval = now.since(model.extra_acked_interval_start).as_secs_f64();
        let mut expected_delivered = model.bw * interval;
        if model.extra_acked_delivered <= expected_delivered {
            model.extra_acked_delivered = 0.0;
            model.extra_acked_interval_start = now;
            expected_delivered = 0.0;
        }
        model.extra_acked_delivered += rs.newly_acked as f64;
        let extra = (model.extra_acked_delivered - expected_delivered).min(self.control.cwnd);
        let filter_len = if self.machine.full_bw_reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        model.extra_acked = model.extra_acked_filter.update(filter_len, model.round_count, extra);
    }

    // ---- "When not Probing for Bandwidth" ----

    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Sample) {
        let model = &mut self.model;
        model.bw_latest = model.bw_latest.max(rs.delivery_rate);
        model.inflight_latest = model.inflight_latest.max(rs.delivered);
        model.loss_round_start = rs.prior_delivered >= model.loss_round_delivered;
        if model.loss_round_start {
            model.loss_round_delivered = self.delivered;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if self.model.loss_round_start {
            self.model.bw_latest = rs.delivery_rate;
            self.model.inflight_latest = rs.delivered;
        }
    }

    pub(super) fn update_congestion_signals(&mut self, rs: &Sample) {
        self.update_max_bw(rs);
        if self.model.loss_round_start {
            self.adapt_lower_bounds_from_congestion();
            self.model.is_loss_in_round = false;
        }
    }

    fn adapt_lower_bounds_from_congestion(&mut self) {
        let is_probing = self.is_probing_bw();
        let after_marks = self.take_marks_of_round().filter(|_| !is_probing);
        if !is_probing && self.model.is_loss_in_round {
            self.adapt_lower_bounds_from_loss();
        }
        if let Some(bound) = after_marks {
            self.model.inflight_shortterm = self.model.inflight_shortterm.min(bound);
        }
    }

    fn adapt_lower_bounds_from_loss(&mut self) {
        let beta = self.parameters.beta;
        let (model, cwnd) = (&mut self.model, self.control.cwnd);
        // InitLowerBounds().
        if model.bw_shortterm.is_infinite() {
            model.bw_shortterm = model.max_bw;
        }
        if model.inflight_shortterm.is_infinite() {
            model.inflight_shortterm = cwnd;
        }
        // LossLowerBounds().
        model.bw_shortterm = model.bw_latest.max(beta * model.bw_shortterm);
        model.inflight_shortterm = model.inflight_latest.max(beta * model.inflight_shortterm);
    }

    // ---- "Probing for Bandwidth In ProbeBW" ----

    /// IsInflightTooHigh(), for a flight of `tx_in_flight` bytes with `lost` bytes lost.
    pub(super) fn is_inflight_too_high(&self, tx_in_flight: u64, lost: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * self.parameters.loss_thresh || lost > 0 && !self.has_selective_acks
    }

    pub(super) fn handle_inflight_too_high(&mut self, now: Instant, tx_in_flight: f64, is_app_limited: bool) {
        self.machine.prev_probe_too_high = true;
        // "only react once per bw probe".
        self.machine.is_bw_probe_sample = false;
        if !is_app_limited {
            self.model.inflight_longterm = tx_in_flight.max(self.target_inflight() * self.parameters.beta);
        }
        if self.machine.state == State::ProbeBw(ProbeBw::Up) {
            self.model.undo_state = Some(UndoState::ProbeBwUp);
            self.start_probe_bw_down(now);
        }
    }

    fn note_loss(&mut self, now: Instant) {
        if !self.model.is_loss_in_round {
            self.model.loss_round_delivered = self.delivered;
            self.model.loss_noted_at = Some(now);
            // Deviation: NoteLoss() saves whenever a round has its first loss. The probe's end begins such a round in the
            // middle of an episode, and what is to be restored would be overwritten.
            if !self.in_loss_recovery {
                self.save_state_upon_loss();
            }
        }
        self.model.is_loss_in_round = true;
    }

    pub(super) fn handle_lost_packet(&mut self, packet: &Loss) {
        self.note_loss(packet.now);
        if self.machine.is_bw_probe_sample && self.is_inflight_too_high(packet.tx_in_flight, packet.lost) {
            let tx_in_flight = self.inflight_at_loss(packet);
            self.handle_inflight_too_high(packet.now, tx_in_flight, packet.app_limited);
        }
    }

    /// InflightAtLoss(): "At what prefix of "packet" P did losses exceed BBR.LossThresh?"
    fn inflight_at_loss(&self, packet: &Loss) -> f64 {
        let thresh = self.parameters.loss_thresh;
        let size = f64::from(packet.bytes);
        let inflight_prev = packet.tx_in_flight as f64 - size;
        let lost_prev = packet.lost as f64 - size;
        let lost_prefix = (thresh * inflight_prev - lost_prev) / (1.0 - thresh);
        inflight_prev + lost_prefix
    }

    // ---- "Updating the Model Upon Detecting a Spurious Loss Recovery" ----

    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        let model = &mut self.model;
        model.undo_state = None;
        model.undo_bw_shortterm = model.bw_shortterm;
        model.undo_inflight_shortterm = model.inflight_shortterm;
        model.undo_inflight_longterm = model.inflight_longterm;
    }

    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.restore_cwnd();
        self.machine.reset_full_bw();
        let model = &mut self.model;
        model.is_loss_in_round = false;
        model.bw_shortterm = model.bw_shortterm.max(model.undo_bw_shortterm);
        model.inflight_shortterm = model.inflight_shortterm.max(model.undo_inflight_shortterm);
        model.inflight_longterm = model.inflight_longterm.max(model.undo_inflight_longterm);
        let undo_state = model.undo_state.take();
        self.return_to(undo_state);
    }
}
