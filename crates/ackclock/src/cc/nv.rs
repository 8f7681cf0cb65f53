//! # NV: Vegas for data centres
//!
//! `cc = "nv"`
//!
//! NV (New Vegas) compares its window with the window that its rate needs without a queue. It tolerates
//! noisy RTTs, because it takes the largest rate of many ACKs. It decreases by a part of the excess, where
//! [Vegas](vegas.md) decreases by one segment.
//!
//! ## Reference
//!
//! L. Brakmo, TCP-NV: An Update to TCP-Vegas, 2015. The constants follow Linux.
//!
//! ## Equations
//!
//! Here w is the window, and R the average RTT. B is the smallest average RTT. The acknowledged segment left with f
//! segments in flight.
//!
//! | event | equation |
//! |---|---|
//! | RTT sample | `R <- (R + sample)/2` |
//! | the same | the rate is `f / R`, and r is the largest of the evaluation |
//! | end of a round trip | `W = r B + pad` |
//! | `w > W + 2` | ssthresh is W, and `w <- w - max(2, decrease (w - W))` |
//! | `W < w <= W + 2` | ssthresh is W, and `w <- W` |
//! | `w <= W - hold` | growth is permitted |
//! | otherwise | unchanged |
//! | ACK with growth | `w <- w + 1/(2^slowdown max(w, 4))`, or `w + 1` in slow start |
//! | loss, timeout or mark | `w <- remaining w`, and growth stops until an evaluation permits it |
//! | timeout | the slowdown is one more, at most 8 |
//! | nine evaluations that permit growth | the slowdown is one less |
//!
//! An evaluation lasts until it decides. A decrease needs two round trips and 60 samples, or 30 samples in the first
//! slow start. Growth needs 20 samples. Ten round trips without a decision stop growth.
//!
//! B is measured again about every `reset_period`. The period varies at random between 3/4 and 5/4 of it.
//!
//! ## States
//!
//! | state | condition | window |
//! |---|---|---|
//! | slow start | `w < ssthresh`, growth permitted | doubles per round trip |
//! | growth | `w >= ssthresh`, growth permitted | as in Reno |
//! | hold | growth not permitted | constant |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! A pad of ten segments keeps a flow from starving itself by noise. Windows of less than ten segments therefore
//! follow Reno. Brakmo recommends NV for flows whose competitors also use NV, or whose RTT is far smaller.
//!
//! ## Deviations
//!
//! - Linux's minimum window grows where one ACK per round trip acknowledges everything (receive offload). Here it is
//!   always four segments.
//! - Losses and marks cut the window as the transport does. Under `profile = "linux"` all windows are whole.
//!
//! ## Validation
//!
//! `python tools/kernel/algorithms.py nv` compares NV with Linux 6.12 on ten paths. The option `--drawn 1` adds six
//! random paths, which were not used before. Figures are means of three runs of 30 seconds.
//!
//! | quantity | difference, ten paths | six random paths |
//! |---|---|---|
//! | goodput | -0.1 to 0.0 % | 0.0 % |
//! | mean cwnd | -2.1 to +1.9 % | -1.8 to -0.1 % |
//!
//! All paths are inside the bounds, except recoveries on one path, which are undecided. In packets, a flow alone
//! keeps a queue of `pad - hold` to `pad` packets until the first reset. The next smallest RTT contains this queue.
//! The queue therefore grows with each `reset_period`, in Linux too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{RoundTrip, sample_us};
use super::window::Window;
use super::{Ack, CaState, CcContext, CcMistake, CcParameters, Congestion};
use crate::rng::{Rng, RngStreams};
use crate::rule::{require, require_segments};
use crate::units::{Duration, Instant};

/// The least window that a decision leaves, in segments.
const LEAST: f64 = 4.0;
/// The time of the first measurement of the smallest RTT.
const FIRST_RESET: Duration = Duration::from_secs(2);
/// Samples for a decrease, for one in the first slow start, and for growth.
const DECREASE_SAMPLES: u32 = 60;
const SLOW_START_SAMPLES: u32 = 30;
const GROWTH_SAMPLES: u32 = 20;
/// Round trips for a decrease, and those after which growth stops without a decision.
const DECREASE_ROUNDS: u32 = 2;
const UNDECIDED_ROUNDS: u32 = 10;
/// An excess in segments up to which the window is set at once.
const SMALL_EXCESS: f64 = 2.0;
/// Bounds of the slowdown after timeouts.
const MOST_SLOWDOWN: u32 = 8;
const CALM_EVALUATIONS: u32 = 8;
/// The longest period, in seconds.
const LONGEST_PERIOD: f64 = 1000.0;

/// NV (New Vegas), for data centres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nv {
    /// Segments above the window that the rate needs, at least 0 and at most 16777216.
    pub pad: f64,
    /// Segments below the padded window at which growth stops, at least 0 and at most 16777216.
    pub hold: f64,
    /// Part of a large excess by which the window decreases, above 0 and at most 1.
    pub decrease: f64,
    /// Part of the window that remains after a loss or mark, above 0 and at most 1.
    pub remaining: f64,
    /// Time after which the smallest RTT is measured again, above 0 and at most 1000 s.
    pub reset_period: Duration,
}

impl Default for Nv {
    fn default() -> Self {
        // The defaults of Linux's module. The decrease is 38/128, and the rest after a loss is 819/1024.
        let reset_period = Duration::from_secs(5);
        Nv { pad: 10.0, hold: 2.0, decrease: 0.296875, remaining: 0.7998046875, reset_period }
    }
}

impl CcParameters for Nv {
    type Controller = AvoidanceController<NvAvoidance>;
    const REFERENCE: &'static str = "Brakmo 2015, TCP-NV: An Update to TCP-Vegas";

    fn check(&self) -> Result<(), CcMistake> {
        require_segments("pad", self.pad)?;
        require_segments("hold", self.hold)?;
        for (key, part) in [("decrease", self.decrease), ("remaining", self.remaining)] {
            require(key, part, part > 0.0 && part <= 1.0, "above 0 and at most 1")?;
        }
        let period = self.reset_period.as_secs_f64();
        let is_period = period > 0.0 && period <= LONGEST_PERIOD;
        Ok(require("reset_period", period, is_period, "above 0 and at most 1000 (seconds)")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = NvAvoidance {
            parameters: self.clone(),
            numbers: Numbers::of(&context),
            mss: f64::from(context.mss),
            rng: RngStreams::from_root(context.seed).stream("nv", "reset"),
            rtt: None,
            least_rtt: f64::INFINITY,
            next_least_rtt: f64::INFINITY,
            resets_at: None,
            trip: RoundTrip::default(),
            evaluation: Evaluation::default(),
            grows: true,
            recovers: false,
            was_cut: false,
            slowdown: 0,
            calm: 0,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The ACKs since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Evaluation {
    samples: u32,
    rounds: u32,
    /// The largest rate in segments per microsecond.
    rate: f64,
}

/// NV's congestion avoidance. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct NvAvoidance {
    parameters: Nv,
    numbers: Numbers,
    mss: f64,
    rng: Rng,
    /// The average RTT.
    rtt: Option<f64>,
    least_rtt: f64,
    /// The smallest RTT since the last reset.
    next_least_rtt: f64,
    resets_at: Option<Instant>,
    trip: RoundTrip,
    evaluation: Evaluation,
    grows: bool,
    /// Losses or marks are handled.
    recovers: bool,
    /// The first slow start has ended.
    was_cut: bool,
    /// The exponent by which growth is slower than Reno's.
    slowdown: u32,
    /// Evaluations in a row that permitted growth.
    calm: u32,
}

impl NvAvoidance {
    fn measure(&mut self, now: Instant, sample: f64, flight: f64) {
        let rtt = self.numbers.down(self.rtt.map_or(sample, |rtt| (rtt + sample) / 2.0));
        self.rtt = Some(rtt);
        self.evaluation.rate = self.evaluation.rate.max(flight / rtt.max(1.0));
        self.evaluation.samples = self.evaluation.samples.saturating_add(1);
        self.least_rtt = self.least_rtt.min(rtt);
        self.next_least_rtt = self.next_least_rtt.min(rtt);
        match self.resets_at {
            None => self.resets_at = Some(now + FIRST_RESET),
            Some(at) if now >= at => {
                self.least_rtt = std::mem::replace(&mut self.next_least_rtt, f64::INFINITY);
                let share = 0.75 + self.rng.next_f64() / 2.0;
                self.resets_at = Some(now + self.parameters.reset_period.mul_f64_floor(share));
            }
            Some(_) => {}
        }
    }

    /// The end of a round trip.
    fn evaluate(&mut self, window: &mut Window) {
        self.evaluation.rounds = self.evaluation.rounds.saturating_add(1);
        let Evaluation { samples, rounds, rate } = self.evaluation;
        let cwnd = window.cwnd();
        let most = self.numbers.down(rate * self.least_rtt) + self.parameters.pad;
        if cwnd > most {
            let is_first = !self.was_cut;
            if rounds < DECREASE_ROUNDS || is_first && samples < SLOW_START_SAMPLES {
                return;
            }
            if !is_first && samples < DECREASE_SAMPLES {
                self.grows &= rounds <= UNDECIDED_ROUNDS;
                return;
            }
            self.decrease(window, most);
        } else if cwnd <= most - self.parameters.hold {
            if samples < GROWTH_SAMPLES {
                return;
            }
            self.grows = true;
            self.calm += 1;
            if self.slowdown > 0 && self.calm > CALM_EVALUATIONS {
                self.slowdown -= 1;
                self.calm = 0;
            }
        } else {
            return;
        }
        self.evaluation = Evaluation::default();
    }

    fn decrease(&mut self, window: &mut Window, most: f64) {
        let (cwnd, excess) = (window.cwnd(), window.cwnd() - most);
        let left = if excess > SMALL_EXCESS {
            cwnd - self.numbers.down(self.parameters.decrease * excess).max(SMALL_EXCESS)
        } else {
            most
        };
        window.avoid(left.max(LEAST).min(cwnd));
        window.set_ssthresh(most.max(LEAST));
        (self.grows, self.was_cut, self.calm) = (false, true, 0);
    }

    fn divisor(&self, cwnd: f64) -> f64 {
        cwnd.max(LEAST) * f64::from(1_u32 << self.slowdown)
    }
}

impl Avoidance for NvAvoidance {
    const NEEDS_RATE_SAMPLES: bool = true;

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if !matches!(ack.state, CaState::Open | CaState::Disorder) {
            self.recovers = true;
            return;
        }
        if std::mem::take(&mut self.recovers) {
            (self.evaluation, self.rtt, self.trip) = (Evaluation::default(), None, RoundTrip::default());
            self.calm = 0;
        }
        let (Some(sample), Some(rate)) = (sample_us(ack), ack.rate) else { return };
        self.measure(ack.now, sample, rate.tx_in_flight as f64 / self.mss);
        if self.trip.advance(ack) {
            self.trip.begin(ack.path.in_flight);
            self.evaluate(window);
        }
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if self.grows {
            window.slow_start(ack);
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.grows { cwnd + ack.acked / self.divisor(cwnd) } else { cwnd }
    }

    fn on_congestion(&mut self, _cwnd: f64, _congestion: &Congestion) {
        (self.grows, self.was_cut, self.recovers) = (false, true, true);
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        self.parameters.remaining * window
    }

    fn on_timeout(&mut self) {
        self.slowdown = (self.slowdown + 1).min(MOST_SLOWDOWN);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("slowdown", f64::from(self.slowdown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{congestion, linux, lose, real};
    use crate::cc::tests::{Path, mbit, ms};
    use crate::cc::{CcSpec, CongestionControl, CongestionKind};

    /// NV at a window and a smallest RTT of 100 us, after `samples` and `rounds`.
    fn nv(window: f64, samples: u32, rounds: u32, rate: f64) -> AvoidanceController<NvAvoidance> {
        let mut cc = Nv::default().controller(linux(window));
        cc.avoidance.least_rtt = 100.0;
        cc.avoidance.was_cut = true;
        cc.avoidance.evaluation = Evaluation { samples, rounds, rate };
        cc
    }

    /// The window and ssthresh after the end of a round trip.
    fn evaluated(cc: &mut AvoidanceController<NvAvoidance>) -> (f64, f64) {
        cc.avoidance.evaluate(&mut cc.window);
        (cc.cwnd(), cc.ssthresh())
    }

    #[test]
    fn a_window_above_the_padded_one_decreases() {
        // 0.2 segments per us need 20 segments, and 30 with the pad. 38/128 of an excess of 20 is 5.9.
        let mut cc = nv(50.0, 60, 1, 0.2);
        assert_eq!(evaluated(&mut cc), (45.0, 30.0));
        assert!(!cc.avoidance.grows);
        // An excess of 3 costs two segments, and one of 2 all.
        assert_eq!(evaluated(&mut nv(33.0, 60, 1, 0.2)), (31.0, 30.0));
        assert_eq!(evaluated(&mut nv(32.0, 60, 1, 0.2)), (30.0, 30.0));
    }

    #[test]
    fn a_decision_needs_samples_and_round_trips() {
        assert_eq!(evaluated(&mut nv(50.0, 59, 1, 0.2)).0, 50.0);
        assert_eq!(evaluated(&mut nv(50.0, 60, 0, 0.2)).0, 50.0);
        let mut first = nv(50.0, 30, 1, 0.2);
        first.avoidance.was_cut = false;
        assert_eq!(evaluated(&mut first).0, 45.0);
        // Ten round trips without a decision do not stop growth, and eleven do.
        let mut slow = nv(50.0, 10, 9, 0.2);
        evaluated(&mut slow);
        assert!(slow.avoidance.grows);
        evaluated(&mut slow);
        assert!(!slow.avoidance.grows);
    }

    #[test]
    fn growth_is_permitted_two_segments_below_the_padded_window() {
        let grows = |window, samples| {
            let mut cc = nv(window, samples, 0, 0.2);
            cc.avoidance.grows = false;
            evaluated(&mut cc);
            cc.avoidance.grows
        };
        assert!(grows(28.0, 20) && !grows(29.0, 20) && !grows(28.0, 19));
    }

    #[test]
    fn timeouts_slow_growth_down_and_nine_calm_evaluations_end_it() {
        let mut cc = Nv::default().controller(real(40.0));
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.avoidance.slowdown, cc.avoidance.grows), (1, false));
        cc.avoidance.grows = true;
        assert_eq!(cc.avoidance.grow(32.0, &Ack::of(1.0)), 32.0 + 1.0 / 64.0);
        assert_eq!(cc.avoidance.grow(2.0, &Ack::of(1.0)), 2.125);
        cc.avoidance.least_rtt = 100.0;
        for left in [1, 1, 1, 1, 1, 1, 1, 1, 0] {
            cc.avoidance.evaluation = Evaluation { samples: 20, rounds: 0, rate: 1.0 };
            cc.avoidance.evaluate(&mut cc.window);
            assert_eq!(cc.avoidance.slowdown, left);
        }
    }

    #[test]
    fn a_loss_leaves_four_fifths_and_stops_growth() {
        let mut cc = Nv::default().controller(linux(50.0));
        assert_eq!(lose(&mut cc), 39.0);
        cc.on_ack(&Ack::of(1.0));
        assert_eq!(cc.cwnd(), 39.0);
    }

    #[test]
    fn the_smallest_rtt_is_measured_again() {
        let mut cc = Nv::default().controller(real(10.0)).avoidance;
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        cc.measure(at(0), 100.0, 10.0);
        // Averages of 200 and 250 us.
        cc.measure(at(1), 300.0, 10.0);
        assert_eq!((cc.rtt, cc.least_rtt), (Some(200.0), 100.0));
        cc.measure(at(3), 300.0, 10.0);
        assert_eq!((cc.least_rtt, cc.next_least_rtt), (100.0, f64::INFINITY));
        cc.measure(at(4), 300.0, 10.0);
        cc.measure(at(20), 300.0, 10.0);
        assert_eq!(cc.least_rtt, 275.0);
    }

    #[test]
    fn a_flow_alone_keeps_the_pad_in_the_queue() {
        // A smallest RTT of the second period contains the queue of the first.
        for (period, expected) in [(1000, 8.0..=11.0), (5, 20.0..=30.0)] {
            let nv = Nv { reset_period: Duration::from_secs(period), ..Nv::default() };
            let mut path = Path::with(CcSpec::Nv(nv), mbit(100.0), ms(20), 1000, |transport| transport);
            path.run_for(ms(20_000));
            let samples = 1000;
            let sum: usize = (0..samples)
                .map(|_| {
                    path.run_for(ms(10));
                    path.backlog()
                })
                .sum();
            let mean = sum as f64 / f64::from(samples);
            assert!(expected.contains(&mean) && path.lost == 0, "{period} s: {mean}, {} lost", path.lost);
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let nv = Nv::default();
        for (wrong, key) in [
            (Nv { pad: -1.0, ..nv.clone() }, "pad"),
            (Nv { hold: -1.0, ..nv.clone() }, "hold"),
            (Nv { decrease: 0.0, ..nv.clone() }, "decrease"),
            (Nv { remaining: 1.1, ..nv.clone() }, "remaining"),
            (Nv { reset_period: Duration::ZERO, ..nv }, "reset_period"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
