//! # BBRv1: the first BBR, as in Linux
//!
//! `cc = "bbr1"`
//!
//! BBR measures the bandwidth and the propagation delay of its path. It paces at this bandwidth and
//! keeps about two bandwidth-delay products in flight at most. It ignores losses, and probes for
//! more bandwidth and for an empty queue from time to time.
//!
//! ## Reference
//!
//! - N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh and V. Jacobson: BBR: Congestion-Based
//!   Congestion Control. ACM Queue 14, 2016.
//! - draft-cardwell-iccrg-bbr-congestion-control-00 (2017).
//! - `tcp_bbr` of Linux 6, which adds long-term bandwidth for policers and, since 4.20, the
//!   estimate of ACK aggregation.
//!
//! Names are Linux's.
//!
//! ## Equations
//!
//! Windows are in segments, and `bw` in segments per second. `bdp = bw min_rtt`, rounded up.
//!
//! | quantity | equation |
//! |---|---|
//! | bandwidth | `bw`: largest delivery rate of the last 10 round trips |
//! | propagation delay | `min_rtt`: smallest RTT of 10 s |
//! | pacing | `0.99 pacing_gain bw`, which only rises before the pipe was full |
//! | burst | `tso_segs`: segments that the pacing rate sends in 1/1024 s |
//! | limits of a burst | 2 to 44 segments of 1460 B, 1 below 1.2 Mbit/s of payload, at most `max_tso_segs` |
//! | target window | `cwnd_gain bdp + extra_acked + 3 tso_segs`, rounded up to an even number |
//! | first phase of the gain cycle | 2 segments more |
//! | window | grows by the acknowledged segments up to the target, and is at least 4 |
//! | aggregation | `extra_acked`: largest excess of ACKs over `bw`, within 5 to 10 round trips, at most 100 ms of `bw` |
//! | recovery | the first round trip conserves packets: `cwnd = in_flight + acked` |
//! | end of recovery | restores the window |
//! | timeout | leaves one segment, persistent congestion of QUIC leaves two |
//!
//! A sample that the application limited counts for `bw` only if it is larger.
//!
//! The long-term bandwidth handles policers. It needs two intervals of 4 to 16 round trips with a
//! loss of 20 % or more. If their rates differ by less than an eighth, `bw` is their mean for 48
//! round trips.
//!
//! ## States
//!
//! | state | pacing_gain | cwnd_gain | next state |
//! |---|---|---|---|
//! | Startup | 2.885 | 2.885 | Drain, after three round trips in which `bw` grew by less than 25 % |
//! | Drain | 0.347 | 2.885 | ProbeBW, once at most `bdp` is in flight |
//! | ProbeBW | 1.25, 0.75, 1, 1, 1, 1, 1, 1 | 2 | ProbeRTT, when `min_rtt` is 10 s old |
//! | ProbeRTT | 1 | 1 | ProbeBW or Startup, after 200 ms and a round trip with four segments |
//!
//! Each phase of ProbeBW lasts for `min_rtt`. The first phase continues until a loss or until
//! `1.25 bdp` is in flight. The second phase ends early, once at most `bdp` is in flight.
//!
//! Under `profile = "linux"`, the age of `min_rtt` and the time in ProbeRTT are in whole
//! milliseconds, as in Linux.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The constants are Linux's. 2.885 is 2/ln 2, the smallest gain that doubles the delivery rate in
//! each round trip. 0.347 is its inverse, which drains the queue of Startup. The phases 1.25 and
//! 0.75 of ProbeBW probe for bandwidth and drain the resulting queue.
//!
//! ## Deviations
//!
//! - Rates and products are real numbers, where Linux uses fixed-point numbers. Windows are rounded
//!   where Linux rounds them.
//! - Linux predicts the flight at the time at which the pacer sends the next segment. The algorithm
//!   does not see the pacer here. Drain and the phase of 0.75 end later, by at most the gap between
//!   two bursts.
//! - RTT samples of delayed ACKs count for `min_rtt`.
//! - A restart from idle is known only when its first segment has left. The next gap still follows
//!   the previous pacing rate.
//! - BBRv1 does not respond to ECN. `ackclock check` warns where a flow is ECN-capable and a queue
//!   on its path marks.
//! - The first phase of ProbeBW is random, except 0.75. The random numbers come from a stream of
//!   the flow's name.
//!
//! ## Validation
//!
//! Hand-computed exchanges test all states, conservation in recovery and long-term sampling.
//! [Linux validation](../validation/linux.md) compares BBRv1 with the running kernel.
//! [ns-3 validation](../validation/ns3.md) compares it with `TcpBbr` of ns-3.44.
//! [BBR against CUBIC](../validation/bbr.md) measures its shares over buffer sizes, which have the
//! published shape.
//!
//! ## Behaviour
//!
//! Losses do not slow it down. In a buffer below 1.5 BDP, several BBRv1 flows lose several percent
//! of their segments.

mod model;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::model::{LongTerm, Model};
use super::held_down::HeldDown;
use super::{
    Ack, Arithmetic, CaState, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, Loss, PathView,
    RateSample, Recovery, Restart, Sent,
};
use crate::rng::{Rng, RngStreams};
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

/// 2 / ln 2: Startup doubles the rate in each round trip.
const HIGH_GAIN: f64 = 2.885;
/// The gain cycle of ProbeBW.
const PACING_GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The least window, also the window of ProbeRTT, in segments.
const CWND_MIN_TARGET: f64 = 4.0;
const PACING_MARGIN: f64 = 0.01;
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// A jiffy of Linux, in which it compares times of ProbeRTT.
const JIFFY: Duration = Duration::from_millis(1);
/// Below this rate in bytes of payload per second a burst is one segment.
const MIN_TSO_RATE: f64 = 150_000.0;
/// The largest burst in bytes: a GSO packet with its headers.
const MOST_BURST: f64 = 65_535.0 - 320.0;
/// The largest burst in segments of any size.
const MOST_TSO_SEGS: u32 = 127;
/// `sk_pacing_shift`: bursts are of 1/1024 s.
const BURST_SECS: f64 = 1.0 / 1024.0;

/// BBRv1, the first BBR, as Linux ships it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr1 {
    /// Ratio of the window to the bandwidth-delay product in ProbeBW, at least 1 and at most 10.
    pub cwnd_gain: f64,
    /// Whether the window allows for aggregated ACKs (Linux 4.20).
    pub aggregation: bool,
    /// Whether to detect a policer and keep its rate for 48 round trips.
    pub long_term: bool,
    /// Largest burst in segments, 1 to 127. A host without segmentation offload uses 1.
    pub max_tso_segs: u32,
}

impl Default for Bbr1 {
    fn default() -> Self {
        Bbr1 { cwnd_gain: 2.0, aggregation: true, long_term: true, max_tso_segs: MOST_TSO_SEGS }
    }
}

impl CcParameters for Bbr1 {
    type Controller = Bbr1Controller;
    const REFERENCE: &'static str =
        "Cardwell, Cheng, Gunn, Yeganeh & Jacobson 2016, BBR: Congestion-Based Congestion Control";

    fn responds_to_marks(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), CcMistake> {
        require("cwnd_gain", self.cwnd_gain, (1.0..=10.0).contains(&self.cwnd_gain), "at least 1 and at most 10")?;
        let segs = self.max_tso_segs;
        require("max_tso_segs", f64::from(segs), (1..=MOST_TSO_SEGS).contains(&segs), "at least 1 and at most 127")?;
        Ok(())
    }

    fn controller(&self, context: CcContext) -> Bbr1Controller {
        Bbr1Controller(Box::new(Bbr::new(self.clone(), context)))
    }
}

/// BBRv1 with its state.
#[derive(Clone, Debug)]
pub struct Bbr1Controller(Box<Bbr>);

/// `bbr->mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Windows and volumes in segments, rates in segments per second, times in seconds.
#[derive(Clone, Debug)]
struct Bbr {
    parameters: Bbr1,
    mss: f64,
    packet_bytes: f64,
    initial_cwnd: f64,
    /// Window after a timeout.
    min_window: f64,
    /// The age of `min_rtt` and the time in ProbeRTT are in whole jiffies.
    counts_jiffies: bool,
    /// When a timeout last did.
    restarted_at: Option<Instant>,
    rng: Rng,
    path: PathView,
    has_begun: bool,
    mode: Mode,
    model: Model,
    long_term: LongTerm,
    cycle_idx: usize,
    cycle_mstamp: Instant,
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    held_down: HeldDown,
    has_seen_rtt: bool,
    cwnd: f64,
    prior_cwnd: f64,
    packet_conservation: bool,
    prev_state: CaState,
    /// Segments lost since the last ACK.
    losses: f64,
    /// In segments per second, and in bits on the wire.
    pacing_rate: f64,
    wire_rate: Rate,
}

/// The facts of an ACK.
#[derive(Clone, Copy, Debug)]
struct Sample {
    bw: f64,
    acked: f64,
    losses: f64,
    is_app_limited: bool,
    /// In flight before the ACK.
    prior_in_flight: f64,
    prior_delivered: u64,
}

impl Sample {
    fn of_a_timeout() -> Self {
        Sample { bw: 0.0, acked: 0.0, losses: 1.0, is_app_limited: false, prior_in_flight: 0.0, prior_delivered: 0 }
    }
}

impl Bbr {
    fn new(parameters: Bbr1, context: CcContext) -> Self {
        let mut bbr = Bbr {
            parameters,
            mss: f64::from(context.mss),
            packet_bytes: f64::from(context.packet_bytes),
            initial_cwnd: context.initial_window,
            min_window: context.min_window,
            counts_jiffies: context.arithmetic == Arithmetic::Linux,
            restarted_at: None,
            rng: RngStreams::from_root(context.seed).stream("bbr1", "phase"),
            path: PathView::default(),
            has_begun: false,
            mode: Mode::Startup,
            model: Model::default(),
            long_term: LongTerm::default(),
            cycle_idx: 0,
            cycle_mstamp: Instant::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            held_down: HeldDown::default(),
            has_seen_rtt: false,
            cwnd: context.initial_window,
            prior_cwnd: 0.0,
            packet_conservation: false,
            prev_state: CaState::Open,
            losses: 0.0,
            pacing_rate: 0.0,
            wire_rate: Rate::from_bps(1).expect("invariant: one is above zero"),
        };
        // Without a round-trip time one of a millisecond is assumed.
        bbr.set_rate(bbr.paced(bbr.cwnd / 1e-3, HIGH_GAIN));
        bbr
    }

    fn begin(&mut self, now: Instant, path: &PathView) {
        self.path = *path;
        if !self.has_begun {
            self.has_begun = true;
            self.cycle_mstamp = now;
            self.model.begin(now, self.jiffies(now));
            // The round trip of the handshake, if there was one.
            self.model.update_min_rtt(self.jiffies(now), path.min_rtt);
            self.long_term.begin(now, 0);
        }
        let srtt = path.srtt.as_secs_f64();
        if !self.has_seen_rtt && srtt > 0.0 {
            self.has_seen_rtt = true;
            self.set_rate(self.paced(self.cwnd / srtt, HIGH_GAIN));
        }
    }

    /// `tcp_jiffies32`.
    fn jiffies(&self, now: Instant) -> Instant {
        let over = if self.counts_jiffies { now.as_nanos() % JIFFY.as_nanos() } else { 0 };
        Instant::from_nanos(now.as_nanos() - over)
    }

    fn in_flight(&self) -> f64 {
        self.path.in_flight_bytes as f64 / self.mss
    }

    // ---- rates ----

    fn bw(&self) -> f64 {
        self.long_term.bw_in_use().unwrap_or(self.model.max_bw())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw if self.long_term.bw_in_use().is_none() => PACING_GAINS[self.cycle_idx],
            Mode::ProbeBw | Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => self.parameters.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// A rate less the margin.
    fn paced(&self, bw: f64, gain: f64) -> f64 {
        gain * bw * (1.0 - PACING_MARGIN)
    }

    fn set_rate(&mut self, rate: f64) {
        self.pacing_rate = rate;
        let bits = (8.0 * self.packet_bytes * rate) as u64;
        self.wire_rate = Rate::from_bps(bits.max(1)).expect("invariant: at least one bit per second");
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.paced(self.bw(), gain);
        let may_change = rate > 0.0 && (self.model.full_bw_reached || rate > self.pacing_rate);
        if may_change && rate != self.pacing_rate {
            self.set_rate(rate);
        }
    }

    /// Segments of a burst.
    fn tso_segs(&self) -> f64 {
        // Linux's `sk_pacing_rate` counts payload.
        let rate = self.pacing_rate * self.mss;
        let least = if rate < MIN_TSO_RATE { 1.0 } else { 2.0 };
        let segs = ((rate * BURST_SECS).min(MOST_BURST) / self.mss).floor().max(least);
        segs.min(f64::from(self.parameters.max_tso_segs))
    }

    // ---- windows ----

    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        match self.model.min_rtt {
            // Linux's TCP_INIT_CWND, which is 10 there.
            None => self.initial_cwnd,
            Some(min_rtt) => (gain * bw * min_rtt.as_secs_f64()).ceil(),
        }
    }

    fn quantization_budget(&self, cwnd: f64) -> f64 {
        let cwnd = (cwnd + 3.0 * self.tso_segs()).ceil();
        let even = cwnd + cwnd.rem_euclid(2.0);
        if self.mode == Mode::ProbeBw && self.cycle_idx == 0 { even + 2.0 } else { even }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp(bw, gain))
    }

    fn aggregation_cwnd(&self) -> f64 {
        if self.parameters.aggregation && self.model.full_bw_reached {
            self.model.extra_acked().min(0.1 * self.bw()).ceil()
        } else {
            0.0
        }
    }

    fn set_cwnd(&mut self, rs: &Sample, state: CaState) {
        if rs.acked > 0.0 && !self.recovers(rs, state) {
            let target = self.bdp(self.bw(), self.cwnd_gain()) + self.aggregation_cwnd();
            let target = self.quantization_budget(target);
            let grown = self.cwnd + rs.acked;
            if self.model.full_bw_reached {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || self.model.delivered as f64 / self.mss < self.initial_cwnd {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(CWND_MIN_TARGET);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(CWND_MIN_TARGET);
        }
    }

    /// Recovery begins, continues or ends. Returns true if it sets the window.
    fn recovers(&mut self, rs: &Sample, state: CaState) -> bool {
        let is_repairing = |state| matches!(state, CaState::Recovery | CaState::Loss);
        self.cwnd = (self.cwnd - rs.losses).max(1.0);
        if state == CaState::Recovery && self.prev_state != CaState::Recovery {
            self.packet_conservation = true;
            self.model.start_round();
            // The rest of a segment may be all that was in flight.
            self.cwnd = (self.in_flight() + rs.acked).max(1.0);
        } else if is_repairing(self.prev_state) && !is_repairing(state) {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prev_state = state;
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(self.in_flight() + rs.acked);
        }
        self.packet_conservation
    }

    fn save_cwnd(&mut self) {
        let is_low = matches!(self.prev_state, CaState::Recovery | CaState::Loss) || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_low { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    // ---- states ----

    fn check_drain(&mut self, now: Instant) {
        if self.mode == Mode::Startup && self.model.full_bw_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight() <= self.inflight(self.model.max_bw(), 1.0) {
            self.probe_bw(now);
        }
    }

    /// ProbeBW begins in any phase except the one with a gain of 0.75.
    fn probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle_idx = PACING_GAINS.len() - 1 - (self.rng.next_f64() * 7.0) as usize;
        self.advance_cycle_phase(now);
    }

    fn advance_cycle_phase(&mut self, now: Instant) {
        self.cycle_idx = (self.cycle_idx + 1) % PACING_GAINS.len();
        self.cycle_mstamp = now;
    }

    fn update_cycle_phase(&mut self, now: Instant, rs: &Sample) {
        if self.mode == Mode::ProbeBw && self.is_next_cycle_phase(now, rs) {
            self.advance_cycle_phase(now);
        }
    }

    fn is_next_cycle_phase(&self, now: Instant, rs: &Sample) -> bool {
        let is_full_length = self.model.min_rtt.is_some_and(|min_rtt| now.since(self.cycle_mstamp) > min_rtt);
        let (gain, bw) = (self.pacing_gain(), self.model.max_bw());
        if gain > 1.0 {
            let in_flight = rs.prior_in_flight + self.tso_segs();
            is_full_length && (rs.losses > 0.0 || in_flight >= self.inflight(bw, gain))
        } else if gain < 1.0 {
            is_full_length || rs.prior_in_flight <= self.inflight(bw, 1.0)
        } else {
            is_full_length
        }
    }

    fn update_min_rtt(&mut self, now: Instant) {
        let jiffies = self.jiffies(now);
        let expired = self.model.update_min_rtt(jiffies, self.path.latest_rtt);
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.held_down.mark(self.model.delivered, self.path.in_flight_bytes);
            if self.probe_rtt_done_stamp.is_some() {
                self.probe_rtt_round_done |= self.model.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(now);
                }
            } else if self.in_flight() <= CWND_MIN_TARGET {
                self.probe_rtt_done_stamp = Some(jiffies + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.model.start_round();
            }
        }
        self.idle_restart = false;
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        let jiffies = self.jiffies(now);
        if self.probe_rtt_done_stamp.is_none_or(|done| jiffies <= done) {
            return;
        }
        self.model.min_rtt_stamp = jiffies;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.model.full_bw_reached {
            self.probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn sample_long_term(&mut self, now: Instant, rs: &Sample) {
        let in_probe_bw = self.mode == Mode::ProbeBw;
        if self.parameters.long_term && self.long_term.sample(now, rs, &self.model, self.mss, in_probe_bw) {
            self.probe_bw(now);
        }
    }

    fn on_ack(&mut self, now: Instant, rs: &Sample, state: CaState) {
        let round_start = self.model.update_round(rs.prior_delivered);
        self.packet_conservation &= !round_start;
        self.sample_long_term(now, rs);
        self.model.update_bw(rs);
        self.model.update_ack_aggregation(now, rs.acked, self.bw(), self.cwnd);
        self.update_cycle_phase(now, rs);
        self.model.check_full_bw_reached(rs.is_app_limited);
        self.check_drain(now);
        self.update_min_rtt(now);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(rs, state);
        // The ACK that shows persistent congestion is of packets sent before it.
        if self.restarted_at == Some(now) {
            self.cwnd = self.min_window;
        }
    }
}

impl CongestionControl for Bbr1Controller {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    /// There is none: in Startup the window grows without a bound, then it is where it is meant to be.
    #[inline]
    fn ssthresh(&self) -> f64 {
        if self.0.model.full_bw_reached { self.0.cwnd } else { f64::INFINITY }
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.0.wire_rate)
    }

    fn send_quantum(&self) -> u64 {
        (self.0.tso_segs() * self.0.mss) as u64
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        false
    }

    fn on_sent(&mut self, sent: &Sent) {
        let bbr = &mut self.0;
        bbr.begin(sent.now, &sent.path);
        if sent.path.in_flight_bytes <= u64::from(sent.bytes) && !sent.retransmission {
            bbr.idle_restart = true;
            bbr.model.restart_aggregation(sent.now);
            match bbr.mode {
                Mode::ProbeBw => bbr.set_pacing_rate(1.0),
                Mode::ProbeRtt => bbr.check_probe_rtt_done(sent.now),
                Mode::Startup | Mode::Drain => {}
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let bbr = &mut self.0;
        bbr.path = loss.path;
        bbr.losses += f64::from(loss.bytes) / bbr.mss;
        bbr.model.lost += u64::from(loss.bytes);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let bbr = &mut self.0;
        let delivered = ack.rate.map_or(0, |rate| rate.newly_acked);
        let prior_in_flight = ack.path.in_flight_bytes + delivered;
        bbr.begin(ack.now, &ack.path);
        let losses = std::mem::take(&mut bbr.losses);
        let Some(RateSample { delivered, interval, prior_delivered, newly_acked, app_limited, .. }) = ack.rate else {
            return;
        };
        bbr.model.delivered = prior_delivered + delivered;
        let sample = Sample {
            bw: delivered as f64 / bbr.mss / interval.as_secs_f64(),
            acked: newly_acked as f64 / bbr.mss,
            losses,
            is_app_limited: app_limited || bbr.held_down.covers(prior_delivered),
            prior_in_flight: prior_in_flight as f64 / bbr.mss + losses,
            prior_delivered,
        };
        bbr.on_ack(ack.now, &sample, ack.state);
    }

    /// A timeout, or persistent congestion over QUIC: the end of a round, and a loss for the long-term bandwidth. All that was in flight is given up.
    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.restart == Restart::Reduced {
            return;
        }
        let bbr = &mut self.0;
        bbr.path = congestion.path;
        bbr.save_cwnd();
        bbr.prev_state = CaState::Loss;
        bbr.packet_conservation = false;
        bbr.model.forget_full_bw();
        bbr.model.round_start = true;
        bbr.cwnd = bbr.min_window;
        bbr.restarted_at = Some(congestion.now);
        bbr.sample_long_term(congestion.now, &Sample::of_a_timeout());
    }

    fn on_recovery_enter(&mut self, recovery: &Recovery) {
        self.0.path = recovery.path;
        self.0.save_cwnd();
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        let bbr = &mut self.0;
        bbr.model.forget_full_bw();
        bbr.long_term.reset(recovery.now, &bbr.model);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        let bbr = &*self.0;
        report("bbr_state", f64::from(bbr.mode as u8));
        report("max_bw_bps", 8.0 * bbr.mss * bbr.model.max_bw());
        report("bw_bps", 8.0 * bbr.mss * bbr.bw());
        report("min_rtt_s", bbr.model.min_rtt.map_or(f64::INFINITY, Duration::as_secs_f64));
        report("pacing_gain", bbr.pacing_gain());
    }
}
