//! # SCReAM: media with a reference window
//!
//! `cc = "scream"`
//!
//! SCReAM is Self-Clocked Rate Adaptation for Multimedia. Version 2 sets the rate of an encoder from a reference
//! window and the RTT. It responds to losses, to marks and to a queueing delay above half of its
//! target. The flight may exceed the reference window, so that a large frame leaves at once.
//!
//! ## Reference
//!
//! draft-ietf-ccwg-rfc8298bis-screamv2-01 (Johansson, Westerlund and Kühlewind), Self-Clocked Rate Adaptation
//! for Multimedia. The text includes the working group's changes up to August 2026. The draft replaces RFC 8298.
//! Sections are cited by their titles.
//!
//! ## Equations
//!
//! Windows are in bytes. `W` is the reference window, `M` the payload of a full packet, `V` is
//! `virtual_rtt`, and `T` is `qdelay_target`.
//!
//! | event | equation |
//! |---|---|
//! | feedback | `alpha <- alpha + (f - alpha)/8` if the marked fraction `f` rises, else `127/128 alpha` |
//! | the same, once per `min(V, RTT)` | `q_avg <- q` if the queueing delay `q` falls, else `3/4 q_avg + q/4` |
//! | loss | `W <- loss_beta W` |
//! | mark, L4S | `W <- (1 - s alpha/2 / max(1, RTT/V)) W`, `s = max(1/4, near)` for `q < T/4`, else 1 |
//! | mark, otherwise | `W <- ecn_beta W` |
//! | `q_avg > T/2` | `W <- (1 - v/2 / max(1, RTT/V)) W`, `v = (q_avg - T/2) / (T/2)` |
//! | `A` unmarked bytes | `W <- W + A M/W min(1, RTT/V) max(1/4, near) (1 + increase W/M calm near)` |
//! | feedback, frame | `rate = 8 W/RTT low M/(M + 20) / (1.2 + waiting + excess)` |
//!
//! `near` is 0.1 at the window of the last congestion event, and 1 at an eighth away from it. `calm` grows
//! from 0 to 1 in `post_congestion_rtts` round trips without losses and marks. `low` falls from 1 to 0.8 for
//! windows below ten packets. `waiting` integrates the time for which frames wait beyond a quarter of their
//! interval. `excess` is the mean excess of frame sizes.
//!
//! With `limit_undershoot`, alpha and `v` count for a quarter while the encoder is slow. Its rate is then below
//! 0.8 times the acknowledged rate.
//!
//! The window is reduced at most once per `min(V, RTT)`. It does not grow at the encoder's largest rate. It
//! also does not grow beyond 1.5 times the largest flight of two round trips.
//!
//! ## Sending
//!
//! The flight is at most three reference windows. Packets are paced at 1.5 times the rate of the encoder. Near
//! the encoder's largest rate, the factor rises to six. A flow without an encoder sends one reference window
//! per RTT.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! Defaults are the recommended values of the draft.
//!
//! ## Transports
//!
//! Over RTP, the delay is one-way, by the times in reports. Over TCP and QUIC, no feedback has these times,
//! and a delay is an RTT. A queue on the return path then also counts.
//!
//! ## Limits
//!
//! A burst of losses that lasts longer than V reduces the window several times, as in the draft. The encoder
//! follows the target after its reaction time. On short paths, the rate therefore oscillates around the
//! capacity, and the queueing delay exceeds the target for some time.
//!
//! ## Deviations
//!
//! - The draft counts bytes up to the highest acknowledged packet. Here a packet is in flight until it has
//!   arrived or is lost, and only arrived bytes are acknowledged.
//! - The full rate of increase is permitted before the first congestion event.
//! - A time without feedback counts as a loss.
//! - Of the optional functions, only the limit of undershoot is present. Absent are jitter reduction, clock
//!   drift, losses of the link layer, policers and competing flows. The rate is
//!   therefore small in competition with flows that fill a deep queue.
//! - The transport's initial window has no effect. The draft begins with 3000 bytes.
//! - RFC 8298, the first version, is absent.
//!
//! ## Validation
//!
//! Linux has no SCReAM. Tests compare the formulas with hand-computed values. `cargo test -p ackclock --test
//! integration -- media` runs a call alone, against another call, and against CUBIC.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::media::{MediaControl, MediaFrame, PacketReport};
use super::queueing_delay::QueueingDelay;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, EcnNeed, Sent};
use crate::ecn::Ecn;
use crate::rule::{MOST_SEGMENTS, require};
use crate::units::{Duration, Instant, Rate};

/// Growth of the average marked fraction, and its decay ("Receiving ECN-CE for L4S").
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
/// The longest time between two updates of the fraction, in seconds.
const ALPHA_INTERVAL: f64 = 0.01;
/// Growth of the average queueing delay ("Detecting Increased Queue Delay").
const DELAY_UP: f64 = 0.25;
/// Round trips after which a window that was not used is corrected at a mark.
const LONG_TIME: f64 = 100.0;
/// BYTES_IN_FLIGHT_HEAD_ROOM ("Reference Window Update").
const FLIGHT_HEAD_ROOM: f64 = 1.5;
/// REF_WND_OVERHEAD_MAX ("Send Window Calculation"), which holds without jitter reduction.
const OVERHEAD: f64 = 3.0;
/// RATE_PACE_MIN, PACKET_PACING_HEADROOM, RELAXED_PACING_LIMIT_LOW and MAX_RELAXED_PACING_FACTOR ("Packet Pacing").
const LEAST_PACING: f64 = 50_000.0;
const PACING_HEADROOM: f64 = 1.5;
const RELAXED_FROM: f64 = 0.8;
const MOST_RELAXED: f64 = 4.0;
/// PACKET_OVERHEAD in bytes, RATE_ADJUST_GAIN and FRAME_SIZE_DEV_ALPHA ("Media Rate Control").
const PACKET_OVERHEAD: f64 = 20.0;
const ADJUST_GAIN: f64 = 1.0 / 16.0;
const FRAME_SIZE_GAIN: f64 = 1.0 / 64.0;
const MOST_ADJUST: f64 = 0.5;
const MOST_EXCESS: f64 = 0.2;
/// ACKED_BITRATE_MARGIN and BACKOFF_SCALE_LOW_TARGET_RATE ("Reference window undershoot at congestion").
const ACKED_MARGIN: f64 = 0.8;
const LOW_RATE_BACKOFF: f64 = 0.25;
/// The downscaling that avoids a queue at the sender.
const DOWNSCALING: f64 = 1.2;
/// BASE_HISTORY of RFC 6817 in minutes, and a single current delay.
const BASE_HISTORY: u32 = 10;
const CURRENT_FILTER: u32 = 1;

/// SCReAM version 2, for media.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scream {
    /// QDELAY_TARGET_LO: target of the queueing delay, above 0 and at most 1 s.
    pub qdelay_target: Duration,
    /// Whether the flow is L4S: its packets are ECT(1), and it responds in proportion to marks.
    pub l4s: bool,
    /// BETA_LOSS: part of the reference window that a loss leaves, above 0 and at most 1.
    pub loss_beta: f64,
    /// BETA_ECN: part of the reference window that a mark without L4S leaves, above 0 and at most 1.
    pub ecn_beta: f64,
    /// MUL_INCREASE_FACTOR: part of the reference window by which it also grows per RTT, at least 0 and at most 1.
    pub increase: f64,
    /// VIRTUAL_RTT: flows with a shorter RTT behave like flows with this one, above 0 and at most 1 s.
    pub virtual_rtt: Duration,
    /// POST_CONGESTION_DELAY_RTT: round trips after a congestion event in which growth is cautious, at least 1 and at
    /// most 100000.
    pub post_congestion_rtts: u32,
    /// Whether the window is reduced less while the rate of the encoder is below the acknowledged rate.
    pub limit_undershoot: bool,
    /// MIN_REF_WND: least reference window in bytes, at least 1 and at most 1000000.
    pub min_window: u32,
}

impl Default for Scream {
    fn default() -> Self {
        Scream {
            qdelay_target: Duration::from_millis(60),
            l4s: false,
            loss_beta: 0.7,
            ecn_beta: 0.8,
            increase: 0.02,
            virtual_rtt: Duration::from_millis(25),
            post_congestion_rtts: 100,
            limit_undershoot: true,
            min_window: 3000,
        }
    }
}

impl CcParameters for Scream {
    type Controller = ScreamController;
    const REFERENCE: &'static str = "draft-ietf-ccwg-rfc8298bis-screamv2-01 (Johansson, Westerlund & Kühlewind), \
                                     Self-Clocked Rate Adaptation for Multimedia";

    fn check(&self) -> Result<(), CcMistake> {
        let is_time = |time: Duration| !time.is_zero() && time <= Duration::from_secs(1);
        let Scream { qdelay_target, virtual_rtt, loss_beta, ecn_beta, increase, .. } = *self;
        let (target, rtt) = (qdelay_target.as_secs_f64(), virtual_rtt.as_secs_f64());
        require("qdelay_target", target, is_time(qdelay_target), "above 0 and at most 1 (seconds)")?;
        require("loss_beta", loss_beta, loss_beta > 0.0 && loss_beta <= 1.0, "above 0 and at most 1")?;
        require("ecn_beta", ecn_beta, ecn_beta > 0.0 && ecn_beta <= 1.0, "above 0 and at most 1")?;
        require("increase", increase, (0.0..=1.0).contains(&increase), "at least 0 and at most 1")?;
        require("virtual_rtt", rtt, is_time(virtual_rtt), "above 0 and at most 1 (seconds)")?;
        let rtts = self.post_congestion_rtts;
        let is_number = (1..=100_000).contains(&rtts);
        require("post_congestion_rtts", f64::from(rtts), is_number, "at least 1 and at most 100000")?;
        let is_window = (1..=1_000_000).contains(&self.min_window);
        Ok(require("min_window", f64::from(self.min_window), is_window, "at least 1 and at most 1000000 (bytes)")?)
    }

    fn controller(&self, context: CcContext) -> ScreamController {
        ScreamController {
            mss: f64::from(context.mss),
            packet_bytes: f64::from(context.packet_bytes),
            window: f64::from(self.min_window),
            inflection: Inflection { window: 1.0, may_move: true },
            rtt: 0.0,
            delays: QueueingDelay::new(BASE_HISTORY, CURRENT_FILTER),
            delay: Delay::default(),
            marks: Marks::default(),
            flight: Flight::default(),
            acked: Acked::default(),
            acked_rate: AckedRate::default(),
            has_lost: false,
            is_marked: false,
            detected_at: None,
            reacted_at: None,
            encoder: None,
            target: None,
            parameters: self.clone(),
        }
    }

    fn needs_ecn(&self) -> EcnNeed {
        if self.l4s { EcnNeed::Counts } else { EcnNeed::None }
    }
}

/// The window of the last congestion event.
#[derive(Clone, Copy, Debug)]
struct Inflection {
    window: f64,
    may_move: bool,
}

/// The queueing delay, and its average, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Delay {
    now: f64,
    average: f64,
    averaged_at: Option<Instant>,
}

/// The average fraction of marked packets.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    alpha: f64,
    delivered: u32,
    marked: u32,
    updated_at: Option<Instant>,
}

/// The largest flight of this round trip and of the previous one, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    most: u64,
    most_before: u64,
    began_at: Option<Instant>,
}

impl Flight {
    fn most(&self) -> f64 {
        self.most.max(self.most_before) as f64
    }
}

/// Bytes that the present feedback acknowledges, and those with a mark.
#[derive(Clone, Copy, Debug, Default)]
struct Acked {
    bytes: u64,
    marked_bytes: u64,
}

/// The acknowledged rate of the last interval, and the bytes of the present one.
#[derive(Clone, Copy, Debug, Default)]
struct AckedRate {
    bps: f64,
    bytes: u64,
    since: Option<Instant>,
}

/// The encoder, and its deviations from the target.
#[derive(Clone, Copy, Debug)]
struct Encoder {
    least: f64,
    most: f64,
    /// The time between frames.
    interval: f64,
    waiting: f64,
    excess: f64,
}

/// SCReAM with its state. Windows are in bytes, times in seconds, rates in bits per second.
#[derive(Clone, Debug)]
pub struct ScreamController {
    parameters: Scream,
    mss: f64,
    packet_bytes: f64,
    window: f64,
    inflection: Inflection,
    rtt: f64,
    delays: QueueingDelay,
    delay: Delay,
    marks: Marks,
    flight: Flight,
    acked: Acked,
    acked_rate: AckedRate,
    /// Losses and marks since the last reaction.
    has_lost: bool,
    is_marked: bool,
    /// When the last loss or mark was detected, and when the window was last reduced.
    detected_at: Option<Instant>,
    reacted_at: Option<Instant>,
    encoder: Option<Encoder>,
    target: Option<f64>,
}

/// Seconds from an earlier time, infinite without one.
fn since(now: Instant, earlier: Option<Instant>) -> f64 {
    earlier.map_or(f64::INFINITY, |earlier| now.since(earlier).as_secs_f64())
}

impl ScreamController {
    fn virtual_rtt(&self) -> f64 {
        self.parameters.virtual_rtt.as_secs_f64()
    }

    /// The time between two reactions.
    fn interval(&self) -> f64 {
        self.rtt.min(self.virtual_rtt())
    }

    fn target_delay(&self) -> f64 {
        self.parameters.qdelay_target.as_secs_f64()
    }

    /// Bytes arrived after `delay`.
    fn measure(&mut self, now: Instant, delay: Duration, srtt: Duration) {
        let queueing = self.delays.measure(now, delay.as_nanos() as f64 / 1e3, srtt);
        self.delay.now = queueing.max(0.0) / 1e6;
    }

    fn update_marks(&mut self, now: Instant) {
        let marks = &mut self.marks;
        if since(now, marks.updated_at) < self.rtt.min(ALPHA_INTERVAL) || marks.delivered == 0 {
            return;
        }
        let fraction = f64::from(marks.marked.min(marks.delivered)) / f64::from(marks.delivered);
        marks.alpha = if fraction >= marks.alpha {
            ALPHA_UP * fraction + (1.0 - ALPHA_UP) * marks.alpha
        } else {
            (1.0 - ALPHA_DOWN) * marks.alpha
        };
        *marks = Marks { alpha: marks.alpha, updated_at: Some(now), ..Marks::default() };
    }

    /// The acknowledged rate over a round trip, or over two frames.
    fn update_acked_rate(&mut self, now: Instant) {
        let frames = self.encoder.map_or(0.0, |encoder| 2.0 * encoder.interval);
        let rate = &mut self.acked_rate;
        let elapsed = now.since(*rate.since.get_or_insert(now)).as_secs_f64();
        if elapsed > 0.0 && elapsed >= frames.max(self.rtt) {
            *rate = AckedRate { bps: 8.0 * rate.bytes as f64 / elapsed, bytes: 0, since: Some(now) };
        }
        rate.bytes += self.acked.bytes;
    }

    /// The part of a backoff by marks or delay that remains: "Reference window undershoot at congestion".
    fn undershoot(&self) -> f64 {
        let is_low = self.target.is_some_and(|target| target < ACKED_MARGIN * self.acked_rate.bps);
        if self.parameters.limit_undershoot && is_low { LOW_RATE_BACKOFF } else { 1.0 }
    }

    fn update_delay(&mut self, now: Instant) {
        if since(now, self.delay.averaged_at) < self.interval() {
            return;
        }
        let Delay { now: delay, average, .. } = self.delay;
        self.delay.average = if delay < average { delay } else { DELAY_UP * delay + (1.0 - DELAY_UP) * average };
        self.delay.averaged_at = Some(now);
    }

    /// Distance of the window from the window of the last congestion event: 0.1 nearby, 1 far away.
    fn distance(&self) -> f64 {
        let distance = 8.0 * (self.window - self.inflection.window) / self.inflection.window;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// "Reference Window Reduction".
    fn reduce(&mut self, now: Instant, near: f64) {
        if self.has_lost || self.is_marked {
            self.detected_at = Some(now);
        }
        if since(now, self.reacted_at) < self.interval() {
            return;
        }
        let half_target = self.target_delay() / 2.0;
        let excess = ((self.delay.average - half_target) / half_target).clamp(0.0, 1.0);
        if !self.has_lost && !self.is_marked && excess <= 0.0 {
            return;
        }
        if std::mem::take(&mut self.inflection.may_move) {
            self.inflection.window = self.window;
        }
        let many_rtts = (self.rtt / self.virtual_rtt()).max(1.0);
        self.window *= if self.has_lost {
            self.parameters.loss_beta
        } else if self.is_marked && self.parameters.l4s {
            let mut backoff = self.marks.alpha / 2.0 / many_rtts;
            if self.delay.now < self.target_delay() * 0.25 {
                backoff *= near.max(0.25);
            }
            if since(now, self.reacted_at) > LONG_TIME * self.rtt.max(self.virtual_rtt()) {
                self.window = self.window.min(self.flight.most_before as f64);
            }
            1.0 - backoff * self.undershoot()
        } else if self.is_marked {
            self.parameters.ecn_beta
        } else {
            1.0 - excess / 2.0 / many_rtts * self.undershoot()
        };
        self.window = self.window.max(f64::from(self.parameters.min_window));
        self.reacted_at = Some(now);
        (self.has_lost, self.is_marked) = (false, false);
    }

    /// "Reference Window Increase".
    fn increase(&mut self, now: Instant, near: f64) {
        let Acked { bytes, marked_bytes } = std::mem::take(&mut self.acked);
        let trips = f64::from(self.parameters.post_congestion_rtts) * self.rtt.max(self.virtual_rtt());
        let calm = (since(now, self.detected_at) / trips).clamp(0.0, 1.0);
        let ratio = (self.mss / self.window).min(1.0);
        let unmarked = bytes.saturating_sub(marked_bytes) as f64;
        let additive = unmarked * ratio * (self.rtt / self.virtual_rtt()).min(1.0) * near.max(0.25);
        let window = self.window + additive * (1.0 + self.parameters.increase * self.window / self.mss * calm * near);
        let is_at_most = self.encoder.is_some_and(|encoder| self.target.is_some_and(|target| target >= encoder.most));
        if window <= self.mss + self.flight.most() * FLIGHT_HEAD_ROOM && !is_at_most {
            self.inflection.may_move |= window > self.window;
            self.window = window.min(MOST_SEGMENTS * self.mss);
        }
    }

    /// "Media Rate Control".
    fn set_target(&mut self) {
        if self.rtt <= 0.0 {
            return;
        }
        let ratio = (self.mss / self.window).min(1.0);
        let low = 1.0 - (ratio - 0.1).clamp(0.0, 0.2);
        let (waiting, excess) = self.encoder.map_or((0.0, 0.0), |encoder| (encoder.waiting, encoder.excess));
        let parts = low * self.mss / (self.mss + PACKET_OVERHEAD) / (DOWNSCALING + waiting + excess);
        let target = parts * 8.0 * self.window / self.rtt;
        self.target = Some(self.encoder.map_or(target, |encoder| target.clamp(encoder.least, encoder.most)));
    }
}

impl MediaControl for ScreamController {
    fn target_rate(&self) -> Option<Rate> {
        Rate::from_bps(self.target? as u64)
    }

    fn on_frame(&mut self, frame: &MediaFrame) {
        let interval = frame.interval.as_secs_f64();
        let (least, most) = (frame.least.as_bps() as f64, frame.most.as_bps() as f64);
        let encoder = self.encoder.get_or_insert(Encoder { least, most, interval, waiting: 0.0, excess: 0.0 });
        (encoder.least, encoder.most, encoder.interval) = (least, most, interval);
        let error = (frame.waiting.as_secs_f64() - interval / 4.0) / interval;
        encoder.waiting = (encoder.waiting + error * ADJUST_GAIN).clamp(0.0, MOST_ADJUST);
        if let Some(target) = self.target {
            let nominal = target * interval / 8.0;
            let excess = ((frame.bytes as f64 - nominal) / nominal).max(0.0);
            let average = (1.0 - FRAME_SIZE_GAIN) * encoder.excess + FRAME_SIZE_GAIN * excess;
            encoder.excess = average.min(MOST_EXCESS);
        }
        self.set_target();
    }

    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        for report in reports {
            self.acked.bytes += u64::from(report.bytes);
            self.acked.marked_bytes += if report.is_marked { u64::from(report.bytes) } else { 0 };
        }
        if let Some(last) = reports.last() {
            let srtt = Duration::from_secs_f64_round(self.rtt);
            self.measure(now, last.arrived_at.since(last.sent_at.min(last.arrived_at)), srtt);
        }
    }
}

impl CongestionControl for ScreamController {
    #[inline]
    fn cwnd(&self) -> f64 {
        let overhead = if self.encoder.is_some() { OVERHEAD } else { 1.0 };
        (self.window * overhead / self.mss).clamp(1.0, MOST_SEGMENTS)
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.cwnd()
    }

    fn codepoint(&self) -> Ecn {
        if self.parameters.l4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    /// "Packet Pacing", in bytes on the wire.
    fn pacing_rate(&self) -> Option<Rate> {
        let target = self.target?;
        let rate = match &self.encoder {
            Some(encoder) => {
                let relaxed = (target / encoder.most - RELAXED_FROM) / (1.0 - RELAXED_FROM);
                let scale = (1.0 - relaxed).clamp(1.0 / MOST_RELAXED, 1.0);
                target.max(LEAST_PACING) * PACING_HEADROOM / scale
            }
            None => 8.0 * self.window / self.rtt,
        };
        Rate::from_bps((rate * self.packet_bytes / self.mss) as u64)
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn media_control(&mut self) -> Option<&mut dyn MediaControl> {
        Some(self)
    }

    fn on_sent(&mut self, sent: &Sent) {
        if since(sent.now, self.flight.began_at) >= self.rtt {
            self.flight = Flight { most: 0, most_before: self.flight.most, began_at: Some(sent.now) };
        }
        self.flight.most = self.flight.most.max(sent.path.in_flight_bytes);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.path.srtt.as_secs_f64();
        if self.rtt <= 0.0 {
            return;
        }
        if self.acked.bytes == 0 && ack.newly_delivered > 0 {
            // No report came: the transport counts segments, and the delay is an RTT.
            self.acked.bytes = u64::from(ack.newly_delivered) * u64::from(ack.path.mss);
            self.acked.marked_bytes = u64::from(ack.ce_count) * u64::from(ack.path.mss);
            self.measure(ack.now, ack.path.latest_rtt, ack.path.srtt);
        }
        self.marks.delivered += ack.newly_delivered;
        self.marks.marked += ack.ce_count;
        self.has_lost |= ack.newly_lost > 0;
        self.is_marked |= ack.ce_count > 0;
        self.update_acked_rate(ack.now);
        self.update_marks(ack.now);
        self.update_delay(ack.now);
        let near = self.distance();
        self.reduce(ack.now, near);
        self.increase(ack.now, near);
        self.set_target();
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Ecn => self.is_marked = true,
            CongestionKind::Loss | CongestionKind::Timeout => self.has_lost = true,
        }
        if congestion.kind == CongestionKind::Timeout {
            let near = self.distance();
            self.reduce(congestion.now, near);
            self.set_target();
        }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("ref_wnd_bytes", self.window);
        report("qdelay_s", self.delay.now);
        report("l4s_alpha", self.marks.alpha);
        report("target_rate_bps", self.target.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests;
