//! # GCC: media by the gradient of the delay
//!
//! `cc = "gcc"`
//!
//! GCC (Google Congestion Control) is the controller of WebRTC. It estimates how fast the one-way delay
//! grows. It reduces the rate of the encoder as soon as a queue builds up, and in proportion to heavy losses.
//! It has no window.
//!
//! ## Reference
//!
//! draft-ietf-rmcat-gcc-02 (Holmer, Lundin, Carlucci, De Cicco and Mascolo, 2016), A Google Congestion
//! Control Algorithm for Real-Time Communication.
//!
//! ## Equations
//!
//! Packets that leave within `burst_time` are a group. Times are in milliseconds.
//!
//! | event | equation |
//! |---|---|
//! | group `i` | `d = t(i) - t(i-1) - (T(i) - T(i-1))`, of arrivals `t` and departures `T` |
//! | the same | `z = d - m`, `k = (e + q) / (var + e + q)`, `m <- m + k z`, `e <- (1 - k)(e + q)` |
//! | the same | `var <- max(1, a var + (1 - a) min(z, 3 sqrt(var))^2)`, `a = (1 - chi)^(30 / f)` |
//! | the same | `G = min(i, groups) m` |
//! | the same, `abs(G) - gamma <= 15` | `gamma <- gamma + K dt (abs(G) - gamma)`, within 6 and 600 |
//! | feedback, increase far from convergence | `A <- 1.08^dt A` |
//! | feedback, increase near convergence | `A <- A + max(1000 dt, dt/(100 ms + RTT) packet/2)` |
//! | the same | A is at most 1.5 times the received rate R |
//! | feedback, decrease | `A <- beta R` |
//! | half a second, more than 10 % lost | `S <- (1 - p/2) S` |
//! | half a second, less than 2 % lost | `S <- 1.05 S` |
//! | feedback | the rate of the encoder is `min(A, S)` |
//!
//! `K` is `k_up` for `abs(G) > gamma`, else `k_down`. `f` is the largest rate of groups per second. R
//! covers the last 0.5 s.
//!
//! ## States
//!
//! The detector signals overuse when G exceeds gamma for `overuse_time` and does not fall. It signals
//! underuse below -gamma.
//!
//! | signal | hold | increase | decrease |
//! |---|---|---|---|
//! | overuse | decrease | decrease | decrease |
//! | normal | increase | increase | hold |
//! | underuse | hold | hold | hold |
//!
//! A is near convergence if R is within three standard deviations of its mean at earlier decreases. A rate
//! above that range resets the mean.
//!
//! ## Sending
//!
//! Packets are paced at 2.5 times the rate of the encoder. A flow without an encoder sends at the rate itself.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! Defaults are the recommended values of the draft, table 1. `chi` is within its range of 0.001 to 0.1.
//!
//! ## Transports
//!
//! Over RTP, arrivals are the times in reports. Over TCP and QUIC, no feedback has these times. The arrival
//! of the ACK then stands for the arrival of the data, and `T` is an RTT earlier.
//!
//! ## Limits
//!
//! A full drop-tail queue has a constant delay, so the gradient is zero. Losses of up to 10 % do not reduce the
//! rate, and they are too many for CUBIC. These commands measure a link of 4 Mbit/s with a queue of 300 ms. GCC
//! gets 9 % of the goodput in the first 40 s, and 30 % in the next 80 s:
//!
//! ```console
//! $ ackclock run examples/call-against-cubic.toml
//! $ ackclock run examples/call-against-cubic.toml --set duration=120s --set warmup=40s
//! ```
//!
//! A queue for each flow, such as `fq-codel`, separates them.
//!
//! ## Deviations
//!
//! - The draft compares `m` itself with gamma. WebRTC multiplies it by the number of groups, up to 60. So
//!   does this page, because a queue would otherwise grow unseen by 6 ms per group.
//! - A further decrease follows after an RTT between 10 and 200 ms. The draft has no such bound.
//! - The loss-based part acts twice per second. The draft has it act on each report. Without losses, the
//!   delay-based part is then the slower one.
//! - The pacing factor is WebRTC's. The draft paces at the rate itself, which leaves a frame waiting for a
//!   whole interval.
//! - The window is 0.5 s and an RTT of the rate. It bounds the flight when feedback stops.
//! - There are no probes of the capacity. WebRTC sends some, so its rate grows faster at the start.
//! - A time without feedback halves the rate. Both rates are at least the smallest rate of the encoder.
//! - The loss-based rate is at most the delay-based one, as in WebRTC.
//!
//! ## Validation
//!
//! Linux has no GCC. Tests compare the formulas with hand-computed values. `cargo test -p ackclock --test
//! integration -- media` runs a call alone, against another call, and against CUBIC.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::media::{MediaControl, MediaFrame, PacketReport};
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Departures};
use crate::rule::{MOST_SEGMENTS, require};
use crate::units::{Duration, Instant, Rate};

/// State noise q, and the initial error e(0) (draft, table 1).
const STATE_NOISE: f64 = 1e-3;
const FIRST_ERROR: f64 = 0.1;
/// The variance of the noise before the first group, and the least one (section 5.3). The first one is WebRTC's.
const FIRST_VARIANCE: f64 = 50.0;
const LEAST_VARIANCE: f64 = 1.0;
/// Groups over which the largest rate f of groups counts.
const RATE_GROUPS: usize = 60;
/// Bounds of the adaptive threshold, and the excess above which it does not adapt, in milliseconds (section 5.4).
const THRESHOLDS: std::ops::RangeInclusive<f64> = 6.0..=600.0;
const MOST_EXCESS: f64 = 15.0;
/// The longest time that an update of the threshold counts for, in milliseconds (WebRTC).
const LONGEST_UPDATE: f64 = 100.0;
/// The window of the received rate: T of table 1, which may be 0.5 to 1 s.
const RATE_WINDOW: Duration = Duration::from_millis(500);
/// The response time without the RTT, in seconds, and the packet of section 5.5 in bits.
const RESPONSE_TIME: f64 = 0.1;
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Frames per second that section 5.5 assumes.
const FRAME_RATE: f64 = 30.0;
/// The least additive increase, in bits per second.
const LEAST_INCREASE: f64 = 1000.0;
/// The estimate is at most this multiple of the received rate (section 5.5).
const MOST_OF_RECEIVED: f64 = 1.5;
/// Smoothing of the received rate at decreases, and the range around it in standard deviations (section 5.5).
const MAXIMUM_GAIN: f64 = 0.05;
const DEVIATIONS: f64 = 3.0;
/// Bounds of the time between two decreases, in seconds.
const DECREASES: std::ops::RangeInclusive<f64> = 0.01..=0.2;
/// Shares of lost packets above which the rate falls, and below which it rises (section 6).
const MANY_LOST: f64 = 0.1;
const FEW_LOST: f64 = 0.02;
const LOSS_INTERVAL: f64 = 0.5;
const LOSS_INCREASE: f64 = 1.05;
/// The pacing rate of an encoder's frames, in parts of its rate.
const PACING: f64 = 2.5;
/// Time that the window lasts beyond an RTT, in seconds.
const WINDOW_TIME: f64 = 0.5;
/// Bounds of the rate.
const RATES: std::ops::RangeInclusive<f64> = 5_000.0..=1e11;

/// Google Congestion Control, for media.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gcc {
    /// Rate of the encoder before the first feedback, at least 5 kbit/s and at most 100 Gbit/s.
    pub start_rate: Rate,
    /// The draft's beta: part of the received rate that a decrease leaves, above 0 and below 1.
    pub beta: f64,
    /// The draft's eta: factor of the increase per second, above 1 and at most 2.
    pub eta: f64,
    /// Packets that leave within this time are a group, above 0 and at most 1 s.
    pub burst_time: Duration,
    /// The draft's del_var_th(0): initial threshold of the detector, at least 6 ms and at most 600 ms.
    pub threshold: Duration,
    /// The draft's overuse_time_th: time for which the threshold is exceeded before overuse, at most 1 s.
    pub overuse_time: Duration,
    /// The draft's K_u: adaptation of the threshold to a larger gradient per millisecond, at least 0 and at most 1.
    pub k_up: f64,
    /// The draft's K_d: adaptation of the threshold to a smaller gradient per millisecond, at least 0 and at most 1.
    pub k_down: f64,
    /// The draft's chi: gain of the noise variance at 30 groups per second, above 0 and below 1.
    pub chi: f64,
    /// Groups by whose number the gradient is multiplied, at least 1 and at most 1000.
    pub groups: u32,
}

impl Default for Gcc {
    fn default() -> Self {
        Gcc {
            start_rate: Rate::from_bps(300_000).expect("invariant: a rate above zero"),
            beta: 0.85,
            eta: 1.08,
            burst_time: Duration::from_millis(5),
            threshold: Duration::from_micros(12_500),
            overuse_time: Duration::from_millis(10),
            k_up: 0.01,
            k_down: 0.00018,
            chi: 0.01,
            groups: 60,
        }
    }
}

impl CcParameters for Gcc {
    type Controller = GccController;
    const REFERENCE: &'static str = "draft-ietf-rmcat-gcc-02 (Holmer, Lundin, Carlucci, De Cicco & Mascolo 2016), A \
                                     Google Congestion Control Algorithm for Real-Time Communication";

    fn check(&self) -> Result<(), CcMistake> {
        let Gcc { beta, eta, k_up, k_down, chi, .. } = *self;
        let rate = self.start_rate.as_bps() as f64;
        require("start_rate", rate, RATES.contains(&rate), "at least 5000 and at most 100000000000 (bit/s)")?;
        require("beta", beta, beta > 0.0 && beta < 1.0, "above 0 and below 1")?;
        require("eta", eta, eta > 1.0 && eta <= 2.0, "above 1 and at most 2")?;
        let burst_time = self.burst_time.as_secs_f64();
        require("burst_time", burst_time, burst_time > 0.0 && burst_time <= 1.0, "above 0 and at most 1 (seconds)")?;
        let threshold = self.threshold.as_secs_f64();
        let is_threshold = THRESHOLDS.contains(&(1e3 * threshold));
        require("threshold", threshold, is_threshold, "at least 0.006 and at most 0.6 (seconds)")?;
        let overuse_time = self.overuse_time.as_secs_f64();
        require("overuse_time", overuse_time, overuse_time <= 1.0, "at most 1 (second)")?;
        for (key, gain) in [("k_up", k_up), ("k_down", k_down)] {
            require(key, gain, (0.0..=1.0).contains(&gain), "at least 0 and at most 1")?;
        }
        require("chi", chi, chi > 0.0 && chi < 1.0, "above 0 and below 1")?;
        let is_number = (1..=1000).contains(&self.groups);
        Ok(require("groups", f64::from(self.groups), is_number, "at least 1 and at most 1000")?)
    }

    fn controller(&self, context: CcContext) -> GccController {
        let rate = self.start_rate.as_bps() as f64;
        GccController {
            mss: f64::from(context.mss),
            packet_bytes: f64::from(context.packet_bytes),
            groups: Groups::default(),
            filter: Filter { gradient: 0.0, error: FIRST_ERROR, variance: FIRST_VARIANCE },
            detector: Detector {
                threshold: 1e3 * self.threshold.as_secs_f64(),
                updated_at: None,
                over_for: None,
                last: 0.0,
                signal: Signal::Normal,
            },
            received: Received::default(),
            maximum: None,
            state: State::Increase,
            rate,
            updated_at: None,
            decreased_at: None,
            losses: Losses { rate, lost: 0, delivered: 0, since: None },
            rtt: 0.0,
            has_reports: false,
            least: None,
            has_feedback: false,
            parameters: self.clone(),
        }
    }

    fn responds_to_marks(&self) -> bool {
        false
    }
}

/// Packets that left together.
#[derive(Clone, Copy, Debug)]
struct Group {
    began_at: Instant,
    sent_at: Instant,
    arrived_at: Instant,
}

/// The arrival-time model (sections 5.1 and 5.2).
#[derive(Clone, Debug, Default)]
struct Groups {
    current: Option<Group>,
    previous: Option<Group>,
    /// Complete pairs so far.
    count: u32,
    /// Departure intervals of the last groups, in milliseconds.
    intervals: VecDeque<f64>,
}

/// Milliseconds from one time to another, negative if it was earlier.
fn millis(from: Instant, to: Instant) -> f64 {
    (to.as_nanos() as f64 - from.as_nanos() as f64) / 1e6
}

impl Groups {
    /// Adds a packet. Returns the delay variation of the last group, when this packet begins the next one.
    fn add(&mut self, report: &PacketReport, burst_time: Duration) -> Option<f64> {
        let PacketReport { sent_at, arrived_at, .. } = *report;
        let Some(current) = &mut self.current else {
            self.current = Some(Group { began_at: sent_at, sent_at, arrived_at });
            return None;
        };
        if sent_at < current.began_at {
            // Section 5.1: the model ignores packets out of order.
            return None;
        }
        let burst = 1e3 * burst_time.as_secs_f64();
        let (gap, arrival_gap) = (millis(current.sent_at, sent_at), millis(current.arrived_at, arrived_at));
        let is_burst = arrival_gap < burst && arrival_gap - gap < 0.0;
        if sent_at.since(current.began_at) <= burst_time || is_burst {
            current.sent_at = current.sent_at.max(sent_at);
            current.arrived_at = current.arrived_at.max(arrived_at);
            return None;
        }
        let ended = std::mem::replace(current, Group { began_at: sent_at, sent_at, arrived_at });
        let before = self.previous.replace(ended)?;
        let departure = millis(before.sent_at, ended.sent_at);
        self.count = self.count.saturating_add(1);
        self.intervals.push_back(departure.max(1e-3));
        if self.intervals.len() > RATE_GROUPS {
            self.intervals.pop_front();
        }
        Some(millis(before.arrived_at, ended.arrived_at) - departure)
    }

    /// The largest rate of groups per second.
    fn rate(&self) -> f64 {
        1e3 / self.intervals.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The Kalman filter of section 5.3.
#[derive(Clone, Copy, Debug)]
struct Filter {
    gradient: f64,
    error: f64,
    variance: f64,
}

impl Filter {
    fn add(&mut self, variation: f64, group_rate: f64, chi: f64) {
        let residual = variation - self.gradient;
        let error = self.error + STATE_NOISE;
        let gain = error / (self.variance + error);
        let most = 3.0 * self.variance.sqrt();
        let bounded = residual.clamp(-most, most);
        let forgetting = libm::pow(1.0 - chi, FRAME_RATE / group_rate);
        self.variance = (forgetting * self.variance + (1.0 - forgetting) * bounded * bounded).max(LEAST_VARIANCE);
        self.gradient += gain * residual;
        self.error = (1.0 - gain) * error;
    }
}

/// The signal of the detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Normal,
    Overuse,
    Underuse,
}

/// The over-use detector of section 5.4.
#[derive(Clone, Copy, Debug)]
struct Detector {
    threshold: f64,
    updated_at: Option<Instant>,
    /// How long the threshold has been exceeded, in milliseconds.
    over_for: Option<f64>,
    last: f64,
    signal: Signal,
}

impl Detector {
    /// A group arrived at `now`, `interval` milliseconds after the previous one left, with this gradient.
    fn add(&mut self, now: Instant, gradient: f64, interval: f64, parameters: &Gcc) {
        if gradient > self.threshold {
            // The time between two groups counts in full from the second one on.
            let over_for = self.over_for.map_or(interval / 2.0, |time| time + interval);
            self.over_for = Some(over_for);
            let is_long = over_for > 1e3 * parameters.overuse_time.as_secs_f64();
            if is_long && gradient >= self.last {
                self.signal = Signal::Overuse;
            }
        } else {
            self.over_for = None;
            self.signal = if gradient < -self.threshold { Signal::Underuse } else { Signal::Normal };
        }
        self.last = gradient;
        self.adapt(now, gradient.abs(), parameters);
    }

    fn adapt(&mut self, now: Instant, size: f64, parameters: &Gcc) {
        let elapsed = self.updated_at.replace(now).map_or(0.0, |at| millis(at, now).clamp(0.0, LONGEST_UPDATE));
        if size - self.threshold > MOST_EXCESS {
            return;
        }
        let gain = if size > self.threshold { parameters.k_up } else { parameters.k_down };
        let threshold = self.threshold + (elapsed * gain).min(1.0) * (size - self.threshold);
        self.threshold = threshold.clamp(*THRESHOLDS.start(), *THRESHOLDS.end());
    }
}

/// Arrivals within the last half second.
#[derive(Clone, Debug, Default)]
struct Received {
    began_at: Option<Instant>,
    arrivals: VecDeque<(Instant, u32)>,
    bytes: u64,
    newest: Instant,
}

impl Received {
    fn add(&mut self, at: Instant, bytes: u32) {
        self.began_at.get_or_insert(at);
        self.newest = self.newest.max(at);
        self.arrivals.push_back((at, bytes));
        self.bytes += u64::from(bytes);
        while let Some((at, bytes)) = self.arrivals.front().copied()
            && self.newest > at + RATE_WINDOW
        {
            self.bytes -= u64::from(bytes);
            self.arrivals.pop_front();
        }
    }

    /// Bits per second, none before a full window.
    fn rate(&self) -> Option<f64> {
        let is_full = self.began_at.is_some_and(|at| self.newest >= at + RATE_WINDOW);
        is_full.then(|| 8.0 * self.bytes as f64 / RATE_WINDOW.as_secs_f64())
    }
}

/// The states of the rate controller (section 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// The loss-based controller (section 6).
#[derive(Clone, Copy, Debug)]
struct Losses {
    rate: f64,
    lost: u64,
    delivered: u64,
    since: Option<Instant>,
}

/// GCC with its state. Rates are in bits per second, delays in milliseconds.
#[derive(Clone, Debug)]
pub struct GccController {
    parameters: Gcc,
    mss: f64,
    packet_bytes: f64,
    groups: Groups,
    filter: Filter,
    detector: Detector,
    received: Received,
    /// Mean and variance of the received rate at decreases.
    maximum: Option<(f64, f64)>,
    state: State,
    /// The estimate by delay.
    rate: f64,
    updated_at: Option<Instant>,
    decreased_at: Option<Instant>,
    losses: Losses,
    /// Seconds.
    rtt: f64,
    has_reports: bool,
    /// The smallest rate of the encoder, if there is one.
    least: Option<f64>,
    has_feedback: bool,
}

impl GccController {
    fn target(&self) -> f64 {
        self.within(self.rate.min(self.losses.rate))
    }

    /// The estimates remain within the bounds of the encoder and of a scenario.
    fn within(&self, rate: f64) -> f64 {
        rate.clamp(self.least.unwrap_or(*RATES.start()), *RATES.end())
    }

    fn on_report(&mut self, report: &PacketReport) {
        self.received.add(report.arrived_at, report.bytes);
        let Some(variation) = self.groups.add(report, self.parameters.burst_time) else { return };
        let interval = self.groups.intervals.back().copied().unwrap_or(0.0);
        self.filter.add(variation, self.groups.rate(), self.parameters.chi);
        let gradient = f64::from(self.groups.count.min(self.parameters.groups)) * self.filter.gradient;
        self.detector.add(report.arrived_at, gradient, interval, &self.parameters);
    }

    /// The table of section 5.5.
    fn next_state(&self) -> State {
        match (self.detector.signal, self.state) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Normal, State::Decrease) | (Signal::Underuse, _) => State::Hold,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
        }
    }

    fn control(&mut self, now: Instant) {
        let elapsed = self.updated_at.replace(now).map_or(0.0, |at| now.since(at).as_secs_f64().min(1.0));
        self.state = self.next_state();
        let Some(received) = self.received.rate() else { return };
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(received, elapsed),
            State::Decrease => self.decrease(now, received),
        }
        self.rate = self.within(self.rate);
    }

    fn increase(&mut self, received: f64, elapsed: f64) {
        if self.maximum.is_some_and(|(mean, variance)| received > mean + DEVIATIONS * variance.sqrt()) {
            self.maximum = None;
        }
        let is_near = self.maximum.is_some_and(|(mean, variance)| received >= mean - DEVIATIONS * variance.sqrt());
        let rate = if is_near {
            let bits_per_frame = self.rate / FRAME_RATE;
            let packet_bits = bits_per_frame / (bits_per_frame / PACKET_BITS).ceil();
            let part = 0.5 * (elapsed / (RESPONSE_TIME + self.rtt)).min(1.0);
            self.rate + (part * packet_bits).max(LEAST_INCREASE * elapsed)
        } else {
            self.rate * libm::pow(self.parameters.eta, elapsed)
        };
        // The bound does not reduce the estimate.
        self.rate = rate.min((MOST_OF_RECEIVED * received).max(self.rate));
    }

    fn decrease(&mut self, now: Instant, received: f64) {
        let patience = self.rtt.clamp(*DECREASES.start(), *DECREASES.end());
        if self.decreased_at.is_some_and(|at| now.since(at).as_secs_f64() < patience) {
            return;
        }
        self.decreased_at = Some(now);
        self.rate = self.rate.min(self.parameters.beta * received);
        self.maximum = Some(match self.maximum {
            Some((mean, variance)) if received >= mean - DEVIATIONS * variance.sqrt() => {
                let difference = received - mean;
                let mean = mean + MAXIMUM_GAIN * difference;
                (mean, (1.0 - MAXIMUM_GAIN) * variance + MAXIMUM_GAIN * difference * difference)
            }
            // A variance of 5 % of the rate, before there are several decreases.
            _ => (received, 0.05 * received * 0.05 * received),
        });
    }

    fn count_losses(&mut self, ack: &Ack) {
        let losses = &mut self.losses;
        losses.lost += u64::from(ack.newly_lost);
        losses.delivered += u64::from(ack.newly_delivered);
        let since = *losses.since.get_or_insert(ack.now);
        if ack.now.since(since).as_secs_f64() < LOSS_INTERVAL {
            return;
        }
        let all = losses.lost + losses.delivered;
        let share = if all == 0 { 0.0 } else { losses.lost as f64 / all as f64 };
        if share > MANY_LOST {
            losses.rate *= 1.0 - 0.5 * share;
        } else if share < FEW_LOST {
            losses.rate *= LOSS_INCREASE;
        }
        // A rate above the other estimate would delay the response to losses.
        let rate = losses.rate.min(self.rate);
        self.losses = Losses { rate: self.within(rate), lost: 0, delivered: 0, since: Some(ack.now) };
    }
}

impl MediaControl for GccController {
    fn target_rate(&self) -> Option<Rate> {
        self.has_feedback.then(|| Rate::from_bps(self.target() as u64)).flatten()
    }

    fn on_frame(&mut self, frame: &MediaFrame) {
        self.least = Some((frame.least.as_bps() as f64).clamp(*RATES.start(), *RATES.end()));
    }

    fn on_reports(&mut self, _now: Instant, reports: &[PacketReport]) {
        self.has_reports = true;
        reports.iter().for_each(|report| self.on_report(report));
    }
}

impl CongestionControl for GccController {
    fn cwnd(&self) -> f64 {
        let bytes = self.target() / 8.0 * (self.rtt + WINDOW_TIME);
        (bytes / self.mss).clamp(1.0, MOST_SEGMENTS)
    }

    fn ssthresh(&self) -> f64 {
        self.cwnd()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let factor = if self.least.is_some() { PACING } else { 1.0 };
        Rate::from_bps((factor * self.target() * self.packet_bytes / self.mss) as u64)
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        false
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn media_control(&mut self) -> Option<&mut dyn MediaControl> {
        Some(self)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.path.srtt.as_secs_f64();
        self.has_feedback |= self.rtt > 0.0;
        if !self.has_reports && ack.newly_delivered > 0 && !ack.path.latest_rtt.is_zero() {
            let bytes = ack.newly_delivered.saturating_mul(ack.path.mss);
            self.on_report(&PacketReport::of_round_trip(ack.now, ack.path.latest_rtt, bytes));
        }
        self.control(ack.now);
        self.count_losses(ack);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.kind == CongestionKind::Timeout {
            self.rate = self.within(self.target() / 2.0);
            self.losses.rate = self.rate;
        }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("target_rate_bps", self.target());
        report("delay_rate_bps", self.rate);
        report("loss_rate_bps", self.losses.rate);
        report("gradient_ms", self.detector.last);
        report("threshold_ms", self.detector.threshold);
    }
}

#[cfg(test)]
mod tests;
