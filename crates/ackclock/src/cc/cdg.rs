//! # CDG: the gradient of the delay
//!
//! `cc = "cdg"`
//!
//! CAIA Delay-Gradient (CDG) takes a rising RTT as a sign of congestion. It reduces its window with a
//! probability that grows with the rise. It needs no threshold and no smallest RTT. In competition with loss-based
//! flows its reductions have no effect, and it then stops them.
//!
//! ## Reference
//!
//! D. A. Hayes and G. Armitage, Revisiting TCP Congestion Control Using Delay Gradients. IFIP Networking
//! 2011. The constants and slow start follow K. K. Jonassen, Implementing CAIA Delay-Gradient in Linux,
//! University of Oslo 2015.
//!
//! ## Equations
//!
//! Here w is the window. `R_min` and `R_max` are the smallest and the largest RTT of a round trip.
//!
//! | event | equation |
//! |---|---|
//! | end of a round trip | `g_min <- R_min - R_min'`, where `'` is the round trip before, and the same for `g_max` |
//! | the same | each gradient is averaged over `average` round trips |
//! | the same | g is the average `g_min` if it is positive, and the average `g_max` otherwise |
//! | the same, with probability `1 - exp(-g / scale)` | `s <- max(s, w)`, and `w <- remaining w` within a round trip |
//! | ACK | `w <- w + 1/w`, and the shadow window s grows alike |
//! | loss, timeout or mark | `s <- min(s/2, w)`, `w <- max(s, w/2)` |
//!
//! The shadow window is the window without reductions for delay. It restores the window that a loss-based flow would
//! hold.
//!
//! ## States
//!
//! | state | condition | window |
//! |---|---|---|
//! | slow start | `w < ssthresh` | doubles per round trip, and HyStart ends it |
//! | by gradient | otherwise | by the equations |
//! | ineffectual | more than `ineffectual` reductions without a falling RTT | no reduction for delay |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper has `scale = 3 ms`, an average over eight round trips, and 0.7 for the window that remains. Linux has
//! the root of 0.5. Five reductions without effect stop further ones. A fall of the RTT shows an effect.
//!
//! ## HyStart
//!
//! Slow start ends when ACKs less than 3 ms apart span half of the smallest RTT. It also ends after eight samples
//! whose smallest exceeds the smallest RTT by an eighth and by 125 us.
//!
//! ## Deviations
//!
//! - The paper tolerates losses while the queue is not full. Linux disables this by default, and it is absent here.
//! - The random numbers come from a stream of the flow.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values, and the share of reductions with the probability.
//! `python tools/kernel/algorithms.py cdg` compares CDG with Linux 6.12 on ten paths. The option `--drawn 1` adds six
//! random paths. Figures are means of 20 runs of 30 seconds.
//!
//! | quantity | difference, ten paths | six random paths |
//! |---|---|---|
//! | goodput | -5.2 to +1.4 % | -7.8 to +0.4 % |
//! | mean cwnd | -5.4 to +1.5 % | -8.5 to +0.8 % |
//!
//! Goodput is outside its bound of 1 % on four of the ten paths and on three of the six. The cause is unknown. Linux counts a reduction for delay as a recovery, and the simulator does not.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{DelayedAcks, RoundTrip, in_us, sample_us};
use super::window::Window;
use super::{Ack, CaState, CcContext, CcMistake, CcParameters, Congestion, CongestionKind, Departures, Sent};
use crate::rng::{Rng, RngStreams};
use crate::rule::require;
use crate::units::{Duration, Instant};

/// RFC 5681: ssthresh is at least two segments.
const LEAST_SEGMENTS: f64 = 2.0;
/// A fall of the RTT over all averaged round trips that shows an effect, in microseconds.
const EFFECT_US: f64 = 32.0;
/// HyStart: largest gap of an ACK train, samples before a decision, and least noise of a delay in microseconds.
const TRAIN_GAP: Duration = Duration::from_millis(3);
const TRAIN_SAMPLES: u32 = 8;
const NOISE_US: f64 = 125.0;
/// The largest average and count.
const LARGEST_COUNT: u32 = 256;
/// The longest scale, in seconds.
const LONGEST_SCALE: f64 = 1.0;

/// CDG: reduces by the gradient of the delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cdg {
    /// Gradient at which a reduction has the probability 0.63 (the paper's G), above 0 and at most 1 s.
    pub scale: Duration,
    /// Part of the window that a reduction for delay leaves, above 0 and at most 1.
    pub remaining: f64,
    /// Round trips over which gradients are averaged, at least 1 and at most 256.
    pub average: u32,
    /// Reductions without a falling RTT that stop further ones, at most 256. 0 never stops them.
    pub ineffectual: u32,
    /// Whether a loss restores the window that reductions for delay took.
    pub shadow: bool,
}

impl Default for Cdg {
    fn default() -> Self {
        let remaining = std::f64::consts::FRAC_1_SQRT_2;
        Cdg { scale: Duration::from_millis(3), remaining, average: 8, ineffectual: 5, shadow: true }
    }
}

impl CcParameters for Cdg {
    type Controller = AvoidanceController<CdgAvoidance>;
    const REFERENCE: &'static str = "Hayes & Armitage 2011, Revisiting TCP Congestion Control Using Delay Gradients";

    fn check(&self) -> Result<(), CcMistake> {
        let (scale, remaining) = (self.scale.as_secs_f64(), self.remaining);
        require("scale", scale, scale > 0.0 && scale <= LONGEST_SCALE, "above 0 and at most 1 (seconds)")?;
        require("remaining", remaining, remaining > 0.0 && remaining <= 1.0, "above 0 and at most 1")?;
        let is_average = (1..=LARGEST_COUNT).contains(&self.average);
        require("average", f64::from(self.average), is_average, "at least 1 and at most 256")?;
        let ineffectual = f64::from(self.ineffectual);
        Ok(require("ineffectual", ineffectual, self.ineffectual <= LARGEST_COUNT, "at least 0 and at most 256")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = CdgAvoidance {
            parameters: self.clone(),
            numbers: Numbers::of(&context),
            rng: RngStreams::from_root(context.seed).stream("cdg", "reduction"),
            now: None,
            before: None,
            gradients: VecDeque::new(),
            trip: RoundTrip::default(),
            reduction: None,
            recovers: false,
            reductions: 0,
            delayed_acks: DelayedAcks::default(),
            is_first: true,
            shadow: context.initial_window,
            hystart: Hystart::default(),
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The RTTs of a round trip in microseconds, or their gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
}

/// HyStart for CDG.
#[derive(Clone, Debug, Default)]
struct Hystart {
    /// The smallest RTT of the connection, in microseconds.
    least_us: Option<f64>,
    /// The start of the ACK train and its last ACK.
    train: Option<(Instant, Instant)>,
    samples: u32,
}

impl Hystart {
    /// True if slow start ends.
    fn ends(&mut self, ack: &Ack, round: Option<Range>) -> bool {
        let Some(Range { least, .. }) = round else { return false };
        let base = self.least_us.map_or(least, |base| base.min(least));
        self.least_us = Some(base);
        match self.train {
            Some((start, last)) if ack.cwnd_limited => {
                if ack.now.since(last) < TRAIN_GAP {
                    self.train = Some((start, ack.now));
                    if in_us(ack.now.since(start)) > (base / 2.0).max(NOISE_US) {
                        return true;
                    }
                }
            }
            _ => self.train = Some((ack.now, ack.now)),
        }
        if self.samples < TRAIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > (base + base / 8.0).max(NOISE_US)
    }

    fn begin_round(&mut self) {
        (self.train, self.samples) = (None, 0);
    }
}

/// A reduction for delay, which takes a round trip as in Linux's CWR state.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    from: f64,
    to: f64,
    /// Segments delivered since its start.
    delivered: f64,
}

impl Reduction {
    /// The window after more delivered segments.
    fn advance(&mut self, delivered: u32) -> f64 {
        self.delivered += f64::from(delivered);
        // RFC 6937 §3.1: "sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out".
        let sent = (self.delivered * self.to / self.from).ceil();
        (self.from - self.delivered + sent).clamp(self.to, self.from)
    }
}

/// CDG's congestion avoidance.
#[derive(Clone, Debug)]
pub struct CdgAvoidance {
    parameters: Cdg,
    numbers: Numbers,
    rng: Rng,
    /// The RTTs of this round trip, and of the one before.
    now: Option<Range>,
    before: Option<Range>,
    /// The last gradients, the newest last.
    gradients: VecDeque<Range>,
    trip: RoundTrip,
    reduction: Option<Reduction>,
    /// A recovery ended within this round trip.
    recovers: bool,
    /// Reductions since the RTT fell.
    reductions: u32,
    delayed_acks: DelayedAcks,
    /// No round trip has begun.
    is_first: bool,
    shadow: f64,
    hystart: Hystart,
}

impl CdgAvoidance {
    fn measure(&mut self, ack: &Ack, rtt: f64) {
        if ack.state == CaState::Open && self.delayed_acks.is_delayed(ack) {
            // Only a smaller RTT counts.
            if let Some(now) = &mut self.now {
                now.least = now.least.min(rtt);
            }
            return;
        }
        // The handshake belongs to the first round trip.
        let other = if std::mem::take(&mut self.is_first) { in_us(ack.path.min_rtt) } else { rtt };
        let Range { least, most } = self.now.unwrap_or(Range { least: other, most: other });
        self.now = Some(Range { least: least.min(rtt), most: most.max(rtt) });
    }

    fn begin_round(&mut self, ack: &Ack) {
        self.trip.begin(ack.path.in_flight);
        self.before = self.now.take();
        self.hystart.begin_round();
    }

    /// The averaged gradient of the round trip that ends, in microseconds.
    fn gradient(&mut self) -> Option<f64> {
        let (now, before) = (self.now?, self.before?);
        self.gradients.push_back(Range { least: now.least - before.least, most: now.most - before.most });
        if self.gradients.len() > self.parameters.average as usize {
            self.gradients.pop_front();
        }
        let sum = |of: fn(&Range) -> f64| self.gradients.iter().map(of).sum::<f64>();
        let (least, most) = (sum(|gradient| gradient.least), sum(|gradient| gradient.most));
        if least <= -EFFECT_US || most <= -EFFECT_US {
            self.reductions = 0;
        }
        let sum = if least > 0.0 { least } else { most };
        Some(sum / self.gradients.len() as f64)
    }

    /// Whether the window is reduced at a positive gradient in microseconds.
    fn reduces_at(&mut self, gradient: f64) -> bool {
        if self.rng.next_f64() >= -libm::expm1(-gradient / in_us(self.parameters.scale)) {
            return false;
        }
        self.reductions = self.reductions.saturating_add(1);
        self.parameters.ineffectual == 0 || self.reductions <= self.parameters.ineffectual
    }
}

impl Avoidance for CdgAvoidance {
    const DEPARTURES: Departures = Departures::AfterIdle;

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if sent.follows_idle() {
            (self.now, self.before) = (None, None);
            self.gradients.clear();
            self.shadow = window.cwnd();
        }
    }

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = sample_us(ack) {
            self.measure(ack, rtt);
        }
        if matches!(ack.state, CaState::Cwr | CaState::Recovery) {
            (self.reduction, self.recovers, self.trip) = (None, true, RoundTrip::default());
            return;
        }
        if let Some(reduction) = &mut self.reduction {
            // An idle time or a limit may have left less.
            window.avoid(reduction.advance(ack.newly_delivered).min(window.cwnd()));
        }
        if window.in_slow_start() && self.hystart.ends(ack, self.now) {
            window.exit_slow_start();
        }
        if !self.trip.advance(ack) || self.now.is_none() {
            return;
        }
        let is_over = match self.reduction.take() {
            Some(Reduction { to, .. }) => {
                window.avoid(to.min(window.cwnd()));
                true
            }
            None => false,
        };
        let gradient = if std::mem::take(&mut self.recovers) || is_over { None } else { self.gradient() };
        self.begin_round(ack);
        if gradient.is_some_and(|gradient| gradient > 0.0 && self.reduces_at(gradient)) {
            self.shadow = self.shadow.max(window.cwnd());
            let from = window.cwnd();
            let to = self.numbers.down(from * self.parameters.remaining).max(LEAST_SEGMENTS).min(from);
            window.set_ssthresh(to.max(LEAST_SEGMENTS));
            self.reduction = Some(Reduction { from, to, delivered: 0.0 });
        } else if !ack.cwnd_limited {
            self.shadow = self.shadow.min(window.cwnd());
        }
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        let before = window.cwnd();
        window.slow_start(ack);
        self.shadow += window.cwnd() - before;
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.reduction.is_some() {
            return cwnd;
        }
        self.shadow += ack.acked / cwnd;
        cwnd + ack.acked / cwnd
    }

    fn on_congestion(&mut self, _cwnd: f64, _congestion: &Congestion) {
        self.reduction = None;
    }

    fn cut(&mut self, window: f64, congestion: &Congestion) -> f64 {
        if congestion.kind == CongestionKind::Ecn || !self.parameters.shadow {
            return window / 2.0;
        }
        self.shadow = (self.shadow / 2.0).min(window);
        self.shadow.max(window / 2.0)
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("shadow", self.shadow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{congestion, lose, real};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{Path, mbit, ms};

    /// CDG in congestion avoidance at 20 segments.
    fn cdg(parameters: &Cdg) -> AvoidanceController<CdgAvoidance> {
        parameters.controller(real(20.0))
    }

    /// Round trips of one ACK each, with their RTTs in milliseconds.
    fn rounds(cc: &mut AvoidanceController<CdgAvoidance>, rtts_ms: &[f64]) {
        rtts_ms.iter().for_each(|rtt_ms| cc.on_ack(&ack(*rtt_ms, 0)));
    }

    #[test]
    fn gradients_are_averaged_over_eight_round_trips() {
        let mut cc = cdg(&Cdg::default()).avoidance;
        let mut after = |from: f64, to: f64| {
            cc.before = Some(Range { least: from, most: from });
            cc.now = Some(Range { least: to, most: to });
            cc.gradient().unwrap()
        };
        assert_eq!(after(50_000.0, 58_000.0), 8_000.0);
        assert_eq!(after(58_000.0, 58_000.0), 4_000.0);
        (0..6).for_each(|_| _ = after(58_000.0, 58_000.0));
        assert_eq!(after(58_000.0, 58_000.0), 0.0);
        // A smallest RTT that falls leaves the gradient of the largest.
        cc.before = Some(Range { least: 58_000.0, most: 60_000.0 });
        cc.now = Some(Range { least: 50_000.0, most: 68_000.0 });
        assert_eq!(cc.gradient(), Some(1_000.0));
    }

    #[test]
    fn a_reduction_has_the_probability_of_the_gradient() {
        // 1 - exp(-1) at a gradient of 3 ms. The standard deviation of the share is 0.0048.
        let mut cc = cdg(&Cdg { ineffectual: 0, ..Cdg::default() }).avoidance;
        let reductions = (0..10_000).filter(|_| cc.reduces_at(3_000.0)).count() as f64;
        assert!((reductions / 10_000.0 - 0.6321).abs() < 0.015, "{reductions}");
    }

    #[test]
    fn five_reductions_without_effect_are_the_last_until_the_rtt_falls() {
        let mut cc = cdg(&Cdg::default()).avoidance;
        // Each has the probability 1.
        assert_eq!((0..8).filter(|_| cc.reduces_at(1e9)).count(), 5);
        cc.before = Some(Range { least: 50_000.0, most: 60_000.0 });
        cc.now = Some(Range { least: 50_000.0, most: 59_000.0 });
        cc.gradient();
        assert!(cc.reduces_at(1e9));
    }

    #[test]
    fn a_reduction_pauses_growth_for_a_round_trip() {
        let mut cc = cdg(&Cdg { remaining: 0.5, ..Cdg::default() });
        // The first ACK adds 1/20, and the gradient of 10 s at the second leads to half.
        rounds(&mut cc, &[50.0, 10_050.0]);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20.05, 10.025));
        // The round trip of the reduction gives no gradient, and growth continues after it.
        rounds(&mut cc, &[50.0]);
        assert_eq!(cc.cwnd(), 10.025 + 1.0 / 10.025);
    }

    #[test]
    fn a_reduction_never_raises_a_window_that_something_else_reduced() {
        let mut cc = cdg(&Cdg::default());
        rounds(&mut cc, &[50.0, 10_050.0]);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(50.0, 5) });
        assert_eq!(cc.cwnd(), 1.0);
        let mut idle = cdg(&Cdg::default());
        rounds(&mut idle, &[50.0, 10_050.0]);
        idle.on_resume(Instant::ZERO);
        idle.on_limit(3.0);
        idle.on_ack(&Ack { cwnd_limited: false, ..ack(50.0, 5) });
        assert_eq!(idle.cwnd(), 3.0);
    }

    #[test]
    fn a_reduction_sends_a_part_of_the_delivered_segments() {
        let mut reduction = Reduction { from: 20.0, to: 14.0, delivered: 0.0 };
        // Of 1, 2, 5 and 10 delivered segments 1, 2, 4 and 7 are sent.
        assert_eq!(
            [1, 1, 3, 5, 9, 1, 4].map(|delivered| reduction.advance(delivered)),
            [20.0, 20.0, 19.0, 17.0, 15.0, 14.0, 14.0]
        );
    }

    #[test]
    fn a_loss_restores_the_window_that_reductions_took() {
        let mut cc = cdg(&Cdg { remaining: 0.5, ..Cdg::default() });
        rounds(&mut cc, &[50.0, 10_050.0, 50.0]);
        cc.window.avoid(10.025);
        // The shadow window is above 20.05, so all of the window remains.
        assert_eq!(lose(&mut cc), 10.025);
        // Half of the shadow window is 5.0125, as is half of the window.
        assert_eq!(lose(&mut cc), 5.0125);
        let mut without = cdg(&Cdg { remaining: 0.5, shadow: false, ..Cdg::default() });
        rounds(&mut without, &[50.0, 10_050.0, 50.0]);
        without.window.avoid(10.025);
        assert_eq!(lose(&mut without), 5.0125);
    }

    #[test]
    fn hystart_ends_slow_start_by_a_train_or_a_delay() {
        let round = |least| Some(Range { least, most: least });
        let at = |now_ms: u64| Ack { now: Instant::ZERO + ms(now_ms), ..ack(40.0, 0) };
        // ACKs 2 ms apart for more than 20 ms.
        let mut train = Hystart::default();
        let ended: Vec<u64> = (0..15).map(|n| 2 * n).filter(|now| train.ends(&at(*now), round(40_000.0))).collect();
        assert_eq!(ended[0], 22);
        // An eighth more than 40 ms, after eight samples.
        let delayed = |least: f64| {
            let mut delay = Hystart { least_us: Some(40_000.0), ..Hystart::default() };
            (0..9).map(|n| 10 * n).filter(|now| delay.ends(&at(*now), round(least))).collect::<Vec<u64>>()
        };
        assert_eq!((delayed(45_000.0), delayed(45_001.0)), (vec![], vec![80]));
    }

    #[test]
    fn delayed_acks_give_no_largest_rtt() {
        let mut cc = cdg(&Cdg::default()).avoidance;
        cc.measure(&Ack { newly_delivered: 2, ..ack(50.0, 0) }, 50_000.0);
        cc.measure(&ack(90.0, 0), 90_000.0);
        assert_eq!(cc.now, Some(Range { least: 50_000.0, most: 50_000.0 }));
        cc.measure(&ack(90.0, 0), 90_000.0);
        assert_eq!(cc.now, Some(Range { least: 50_000.0, most: 90_000.0 }));
    }

    #[test]
    fn a_flow_alone_uses_the_link_with_a_short_queue() {
        // The BDP is 33 packets, and the buffer 1000.
        let mut path = Path::new("cdg", mbit(10.0), ms(40), 1000);
        path.run_for(ms(10_000));
        let before = path.delivered;
        path.run_for(ms(50_000));
        let used = (path.delivered - before) as f64 * 12_000.0 / 10e6 / 50.0;
        assert!(used > 0.9 && used <= 1.0 && path.lost == 0, "{used}, {} lost", path.lost);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let cdg = Cdg::default();
        for (wrong, key) in [
            (Cdg { scale: Duration::ZERO, ..cdg.clone() }, "scale"),
            (Cdg { remaining: 0.0, ..cdg.clone() }, "remaining"),
            (Cdg { average: 0, ..cdg.clone() }, "average"),
            (Cdg { ineffectual: 257, ..cdg }, "ineffectual"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
