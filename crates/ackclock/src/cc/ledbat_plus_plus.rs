//! # LEDBAT++: background transfers without a newcomer advantage
//!
//! `cc = "ledbat++"`
//!
//! LEDBAT++ uses the capacity that other flows leave, as LEDBAT. It adds at most 60 ms of queueing delay.
//! Its increase is slower than Reno's, and its decrease is multiplicative. Periodic slowdowns drain the
//! queue, so each flow measures the base delay. A newcomer therefore takes no more than its share. Windows
//! uses LEDBAT++ for software updates.
//!
//! ## Reference
//!
//! draft-irtf-iccrg-ledbat-plus-plus-06, LEDBAT++: Congestion Control for Background Traffic, section 4. The
//! code was compared with the text of revision 01, and quotes its section numbers.
//! RFC 6817 gives the base delay and the current delay.
//!
//! ## Equations
//!
//! Here d is the queueing delay, T the target and B the base delay.
//!
//! | event | equation |
//! |---|---|
//! | delay sample | base delay: the smallest of the last `base_history` minutes |
//! | the same | current delay: the smallest of the last `current_filter` samples, none older than an RTT |
//! | the same | `G = 1 / min(16, ceil(2 T / B))` |
//! | ACK in slow start | `w <- w + G` |
//! | `d > 3/4 T` in the initial slow start | slow start ends |
//! | ACK, `d < T` | `w <- w + G/w` |
//! | ACK, `d >= T` | `w <- w + max(G - constant w (d/T - 1), -w/2) / w`, at least 2 |
//! | loss or mark | `w <- w/2`, at least 2 |
//! | timeout | ssthresh is `w/2`, and w is 1 |
//! | slowdown | ssthresh is w, and w is 2 for two RTTs, then slow start |
//!
//! A flow alone therefore keeps about `target` of delay in the queue. Its decrease and G cancel out at
//! `d = T (1 + G / (constant w))`.
//!
//! ## States
//!
//! ```text
//!   initial slow start ── d > 3/4 T, loss ──▶ congestion avoidance ── due ──▶ frozen at 2 segments
//!                                                      ▲                              │ 2 RTTs
//!                                                      └── w reaches ssthresh ── slow start
//! ```
//!
//! The first slowdown is due two RTTs after the initial slow start. The time from the start of a slowdown
//! to the return of the window is its duration. The next slowdown is due after 9 times this duration.
//! Slowdowns therefore cost at most 10 % of the throughput.
//!
//! ## Delay
//!
//! Delays are RTTs, as in the draft. A queue on the return path therefore also slows LEDBAT++ down.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The draft gives a target of 60 ms and 1 for the constant of the decrease. The current delay is the
//! smallest of its four most recent samples. RFC 6817 recommends ten minutes for the base delay, and forbids
//! samples older than an RTT.
//!
//! ## Deviations
//!
//! - The window begins with the transport's initial window. The draft begins with two segments.
//! - A timeout leaves one segment, as in RFC 6817. The draft's least window is two.
//! - The draft's CEIL is the next larger number. Here a whole number remains as it is.
//! - Slow start after a slowdown also grows by G. The draft does not mention G there.
//! - Two RTTs are two smoothed RTTs at the start of the interval.
//! - A loss during the two RTTs of a slowdown halves the ssthresh that the slowdown stored.
//! - A slowdown that is due in loss recovery or in slow start waits for congestion avoidance.
//!
//! ## Validation
//!
//! Linux has no LEDBAT++. Tests compare the formulas with hand-computed values. In packets, a flow alone
//! keeps its target within 5 % at 10 Mbit/s and 20, 40 and 100 ms. It uses 93 to 97 % of the link.
//!
//! `cargo test -p ackclock --test integration -- delay_based` runs several flows. At 10 Mbit/s and 40
//! ms behind 1000 packets, a second flow starts 20 s later. It gets 51 % of the goodput. With LEDBAT it
//! gets 99 %. The table shows its part of the goodput in competition with Reno.
//!
//! | buffer | LEDBAT++ | LEDBAT |
//! |---|---|---|
//! | 33 packets, 40 ms | 34 % | 51 % |
//! | 66 packets, 80 ms | 6.4 % | 52 % |
//! | 100 packets, 120 ms | 2.6 % | 67 % |
//! | 200 packets, 240 ms | 1.1 % | 1.1 % |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController};
use super::queueing_delay::{QueueingDelay, check_lengths, check_target};
use super::round_trip::sample_us;
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::require;
use crate::units::{Duration, Instant};

/// The least window, and the window of a slowdown, in segments.
const LEAST: f64 = 2.0;
/// The largest constant of the decrease.
const LARGEST_CONSTANT: f64 = 100.0;
/// The smallest gain is 1/16.
const GAIN_DIVISORS: (f64, f64) = (1.0, 16.0);
/// The part of the target that ends the initial slow start.
const EXIT: f64 = 0.75;
/// RTTs from the initial slow start to the first slowdown, and of the frozen window.
const SLOWDOWN_RTTS: u64 = 2;
/// Durations of a slowdown until the next one.
const INTERVAL: u64 = 9;

/// LEDBAT++ (IRTF draft), for transfers in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedbatPlusPlus {
    /// Queueing delay that the flow adds, above 0 and at most 100 ms.
    pub target: Duration,
    /// The draft's Constant of the multiplicative decrease, above 0 and at most 100.
    pub constant: f64,
    /// RFC 6817's BASE_HISTORY: minutes for which a base delay counts, at least 1 and at most 1000.
    pub base_history: u32,
    /// RFC 6817's CURRENT_FILTER: delay samples whose smallest is the current delay, at least 1 and at most 1000.
    pub current_filter: u32,
}

impl Default for LedbatPlusPlus {
    fn default() -> Self {
        // Sections 4.3 and 4.5 of the draft, and RFC 6817 §2.5 for the base delay.
        LedbatPlusPlus { target: Duration::from_millis(60), constant: 1.0, base_history: 10, current_filter: 4 }
    }
}

impl CcParameters for LedbatPlusPlus {
    type Controller = AvoidanceController<LedbatPlusPlusAvoidance>;
    const REFERENCE: &'static str =
        "draft-irtf-iccrg-ledbat-plus-plus-06, LEDBAT++: Congestion Control for Background Traffic";

    fn check(&self) -> Result<(), CcMistake> {
        let LedbatPlusPlus { constant, base_history, current_filter, .. } = *self;
        check_target(self.target)?;
        let is_constant = constant > 0.0 && constant <= LARGEST_CONSTANT;
        require("constant", constant, is_constant, "above 0 and at most 100")?;
        Ok(check_lengths(base_history, current_filter)?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = LedbatPlusPlusAvoidance {
            target: self.target.as_secs_f64() * 1e6,
            constant: self.constant,
            delays: QueueingDelay::new(self.base_history, self.current_filter),
            queueing: 0.0,
            phase: Phase::Initial,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The part of a connection between two slowdowns, or of a slowdown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The initial slow start.
    Initial,
    /// The next slowdown is due at this time.
    Due(Instant),
    /// The window is two segments. The slowdown leads back to `ssthresh`.
    Frozen { start: Instant, until: Instant, ssthresh: f64 },
    /// Slow start to the window before the slowdown.
    Return { start: Instant },
}

/// LEDBAT++'s congestion avoidance. Delays are in microseconds.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlusAvoidance {
    target: f64,
    constant: f64,
    delays: QueueingDelay,
    queueing: f64,
    phase: Phase,
}

impl LedbatPlusPlusAvoidance {
    /// Section 4.2: "GAIN = 1 / (min (16, CEIL (2*TARGET/base)))".
    fn gain(&self) -> f64 {
        let (least, most) = GAIN_DIVISORS;
        1.0 / libm::ceil(2.0 * self.target / self.delays.base()).clamp(least, most)
    }

    /// Section 4.3: the change of the window in a round trip. The decrease is at most half of the window.
    fn change(&self, cwnd: f64) -> f64 {
        if self.queueing < self.target {
            return self.gain();
        }
        (self.gain() - self.constant * cwnd * (self.queueing / self.target - 1.0)).max(-cwnd / 2.0)
    }

    fn step(&self, cwnd: f64, acked: f64) -> f64 {
        (cwnd + self.change(cwnd) * acked / cwnd).max(LEAST.min(cwnd))
    }

    /// Section 4.4: the initial slowdown and the periodic ones.
    fn advance(&mut self, window: &mut Window, ack: &Ack) {
        let (now, rtts) = (ack.now, ack.path.srtt * SLOWDOWN_RTTS);
        self.phase = match self.phase {
            Phase::Initial if !window.in_slow_start() => Phase::Due(now + rtts),
            Phase::Due(at) if now >= at && !window.in_slow_start() && !ack.in_recovery => {
                let ssthresh = window.cwnd();
                window.set_ssthresh(ssthresh);
                window.avoid(LEAST.min(ssthresh));
                Phase::Frozen { start: now, until: now + rtts, ssthresh }
            }
            Phase::Frozen { start, until, ssthresh } if now >= until => {
                window.set_ssthresh(ssthresh);
                Phase::Return { start }
            }
            Phase::Return { start } if !window.in_slow_start() => Phase::Due(now + now.since(start) * INTERVAL),
            phase => phase,
        };
    }

    fn is_frozen(&self) -> bool {
        matches!(self.phase, Phase::Frozen { .. })
    }
}

impl Avoidance for LedbatPlusPlusAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(delay) = sample_us(ack) {
            self.queueing = self.delays.measure(ack.now, delay, ack.path.srtt);
        }
        // Section 4.1: only the initial slow start ends by the delay.
        if self.phase == Phase::Initial && window.in_slow_start() && self.queueing > EXIT * self.target {
            window.exit_slow_start();
        }
        self.advance(window, ack);
        if window.in_slow_start() || self.is_frozen() || ack.acked == 0.0 || ack.in_recovery {
            return;
        }
        if self.change(window.cwnd()) < 0.0 {
            window.approach(self.step(window.cwnd(), ack.acked));
            window.keep_avoiding();
        }
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if !self.is_frozen() {
            window.approach((window.cwnd() + self.gain() * ack.acked).min(window.ssthresh()));
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let grows = !self.is_frozen() && self.change(cwnd) > 0.0;
        if grows { self.step(cwnd, ack.acked) } else { cwnd }
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        if self.phase == Phase::Initial {
            self.phase = Phase::Due(congestion.now + congestion.path.srtt * SLOWDOWN_RTTS);
        }
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        if let Phase::Frozen { ssthresh, .. } = &mut self.phase {
            *ssthresh = (*ssthresh / 2.0).max(LEAST);
        }
        window / 2.0
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("queueing_delay_us", self.queueing);
        report("frozen", f64::from(u8::from(self.is_frozen())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{congestion, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{MSS, Path, mbit, ms};
    use crate::cc::{Congestion, CongestionKind};

    fn at(millis: u64, rtt_ms: f64) -> Ack {
        Ack { now: Instant::ZERO + ms(millis), ..ack(rtt_ms, 9) }
    }

    /// LEDBAT++ in congestion avoidance, after a base delay and four samples.
    fn after(window: f64, base_ms: f64, rtt_ms: f64) -> AvoidanceController<LedbatPlusPlusAvoidance> {
        let mut cc = LedbatPlusPlus::default().controller(real(window));
        cc.on_ack(&Ack { cwnd_limited: false, ..at(0, base_ms) });
        (0..4).for_each(|_| cc.avoidance.queueing = cc.avoidance.delays.measure(Instant::ZERO, rtt_ms * 1e3, ms(1000)));
        cc
    }

    #[test]
    fn the_gain_falls_with_the_base_delay() {
        // 120 ms / base, rounded up: 1, 2, 3, 12 and 16.
        for (base_ms, divisor) in [(200.0, 1.0), (120.0, 1.0), (119.0, 2.0), (40.0, 3.0), (10.0, 12.0), (1.0, 16.0)] {
            assert_eq!(after(10.0, base_ms, base_ms).avoidance.gain(), 1.0 / divisor, "{base_ms}");
        }
    }

    #[test]
    fn the_change_follows_the_delay() {
        // A base delay of 40 ms and a gain of 1/3. At 66 ms: 1/3 - 12 * 0.1. At 300 ms: half of the window.
        for (queueing, change) in
            [(0.0, 1.0 / 3.0), (59.0, 1.0 / 3.0), (60.0, 1.0 / 3.0), (66.0, 1.0 / 3.0 - 1.2), (300.0, -6.0)]
        {
            let mut cc = after(12.0, 40.0, 40.0 + queueing);
            cc.on_ack(&at(1, 40.0 + queueing));
            assert!((cc.cwnd() - 12.0 - change / 12.0).abs() < 1e-9, "{queueing}: {}", cc.cwnd());
        }
        let mut small = after(2.1, 40.0, 1000.0);
        small.on_ack(&at(1, 1000.0));
        assert_eq!(small.cwnd(), 2.0);
    }

    #[test]
    fn the_initial_slow_start_ends_at_three_quarters_of_the_target() {
        let mut cc = LedbatPlusPlus::default().controller(CcContext::new(12.0));
        cc.on_ack(&at(0, 40.0));
        assert!((cc.cwnd() - 12.0 - 1.0 / 3.0).abs() < 1e-9);
        (1..5).for_each(|millis| cc.on_ack(&at(millis, 85.0)));
        assert_eq!(cc.ssthresh(), f64::INFINITY);
        // The base delay of 40 ms has left the filter, and 45.1 ms of queueing delay end slow start.
        (5..9).for_each(|millis| cc.on_ack(&at(millis, 85.1)));
        assert!(cc.ssthresh() < 15.0 && cc.cwnd() >= cc.ssthresh(), "{}", cc.ssthresh());
        assert_eq!(cc.avoidance.phase, Phase::Due(Instant::ZERO + ms(8) + Duration::from_micros(170_200)));
    }

    #[test]
    fn a_slowdown_freezes_the_window_and_leads_back_to_it() {
        let mut cc = LedbatPlusPlus::default().controller(real(12.0));
        // RTTs of 240 ms and a gain of 1. The first slowdown is due at 480 ms.
        cc.on_ack(&Ack { acked: 0.0, ..at(0, 240.0) });
        cc.on_ack(&Ack { acked: 0.0, ..at(479, 240.0) });
        assert_eq!(cc.cwnd(), 12.0);
        cc.on_ack(&at(480, 240.0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (2.0, 12.0));
        cc.on_ack(&at(959, 240.0));
        assert_eq!(cc.cwnd(), 2.0);
        (0..9).for_each(|_| cc.on_ack(&at(960, 240.0)));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (11.0, 12.0));
        cc.on_ack(&at(1480, 240.0));
        assert_eq!(cc.cwnd(), 12.0);
        // The slowdown ends with the next ACK. It took 1020 ms.
        cc.on_ack(&at(1500, 240.0));
        assert_eq!(cc.avoidance.phase, Phase::Due(Instant::ZERO + ms(1500 + 9 * 1020)));
    }

    #[test]
    fn a_loss_in_a_slowdown_halves_the_stored_window() {
        let mut cc = LedbatPlusPlus::default().controller(real(12.0));
        cc.on_ack(&Ack { acked: 0.0, ..at(0, 240.0) });
        cc.on_ack(&at(480, 240.0));
        cc.on_congestion(&Congestion { now: Instant::ZERO + ms(500), ..congestion(CongestionKind::Loss) });
        assert_eq!(cc.cwnd(), 2.0);
        cc.on_ack(&at(960, 240.0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (3.0, 6.0));
    }

    /// 60 ms at 10 Mbit/s are 50 packets. Slowdowns are a tenth of the time, so the median is outside of them.
    #[test]
    fn a_flow_alone_keeps_its_target() {
        for delay in [20, 40, 100] {
            let mut path = Path::new("ledbat++", mbit(10.0), ms(delay), 1000);
            path.run_for(ms(30_000));
            let mut backlogs: Vec<_> = (0..6000)
                .map(|_| {
                    path.run_for(ms(10));
                    path.backlog()
                })
                .collect();
            backlogs.sort_unstable();
            let median = backlogs[3000] as f64;
            let utilisation = path.goodput_over(ms(60_000)) / 10e6 * 1500.0 / MSS as f64;
            assert!((median - 50.0).abs() <= 2.5 && path.lost == 0, "{delay}: {median}");
            assert!(utilisation > 0.9, "{delay}: {utilisation}");
        }
    }

    #[test]
    fn losses_halve_the_window() {
        respects_slow_start_and_floors(&LedbatPlusPlus::default(), 20.0);
        assert_eq!(lose(&mut LedbatPlusPlus::default().controller(real(41.0))), 20.5);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = LedbatPlusPlus::default;
        for (wrong, key) in [
            (LedbatPlusPlus { target: ms(101), ..default() }, "target"),
            (LedbatPlusPlus { constant: 0.0, ..default() }, "constant"),
            (LedbatPlusPlus { base_history: 0, ..default() }, "base_history"),
            (LedbatPlusPlus { current_filter: 0, ..default() }, "current_filter"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
