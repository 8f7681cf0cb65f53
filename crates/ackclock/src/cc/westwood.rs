//! # Westwood+: a decrease to the measured bandwidth
//!
//! `cc = "westwood"`
//!
//! Westwood+ estimates the bandwidth of the path from the rate of ACKs. After congestion, the
//! window is the estimate times the smallest round-trip time. The flow then fills the path without
//! a queue. Random losses reduce the window less than in Reno, because they do not reduce the
//! bandwidth.
//!
//! ## Reference
//!
//! L. A. Grieco and S. Mascolo published the algorithm in ACM SIGCOMM CCR 34 (2), 2004. The title is
//! "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control".
//! Linux contains it as `tcp_westwood`.
//!
//! ## Equations
//!
//! Here d is the acknowledged data of an interval Δ. An interval is a round trip, or `min_interval`
//! if that is longer.
//!
//! | event | equation |
//! |---|---|
//! | end of an interval | `B <- filter B + (1 - filter) d/Δ`, and the first sample as it is |
//! | ACK in congestion avoidance | `w <- w + 1/w` |
//! | loss or mark | `ssthresh <- B RTT_min`, `w <- ssthresh` |
//! | timeout | `ssthresh <- B RTT_min`, `w <- 1` |
//!
//! ssthresh is at least two segments. The window after a loss never exceeds the window before it.
//!
//! ## Parameters
//!
//! Under `profile = "linux"` four points follow Linux:
//!
//! - A loss halves the window. The end of recovery sets window and ssthresh to `B RTT_min`.
//! - B passes the filter twice.
//! - Times are whole milliseconds, and B is whole bytes per millisecond.
//! - After a timeout, `RTT_min` restarts from the last RTT.
//!
//! ## Constants
//!
//! The filter keeps 7/8 of the last estimate, as the smoothed RTT of RFC 6298 does. The paper takes
//! one sample per round trip, because samples of single ACKs overestimate the bandwidth if ACKs are
//! compressed. Linux adds the 50 ms, so that samples of short paths contain enough ACKs.
//!
//! ## Deviations
//!
//! - Delivered segments count in full size. Linux counts bytes, and a duplicate ACK as a segment.
//! - Under `profile = "linux"` a mark halves the window. Linux sets `B RTT_min` a round trip later.
//! - The synchronous model has no clock, and therefore no Westwood+.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. `python tools/kernel/algorithms.py westwood`
//! compares whole flows with Linux 6.12 in virtual time. On ten paths, the mean window differs by at
//! most 3.1 %, and goodput by at most 2.3 %. Goodput differs by more than 1 % on three paths. Two of
//! them have a buffer of 0.25 BDP, and the third has 100 Mbit/s. The estimates differ after bursts of
//! losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionKind};
use crate::rule::require;
use crate::units::{Duration, Instant};

/// RFC 5681: ssthresh is at least two segments.
const LEAST_SEGMENTS: f64 = 2.0;
/// The longest interval of a sample, in seconds.
const LONGEST_INTERVAL: f64 = 10.0;

/// Westwood+: a cut leaves the measured bandwidth. Grieco & Mascolo 2004.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Westwood {
    /// Weight of the last estimate of the bandwidth, at least 0 and below 1.
    pub filter: f64,
    /// The shortest interval of a bandwidth sample, above 0 and at most 10 s.
    pub min_interval: Duration,
}

impl Default for Westwood {
    fn default() -> Self {
        // The filter of the paper, and the interval of Linux.
        Westwood { filter: 0.875, min_interval: Duration::from_millis(50) }
    }
}

impl CcParameters for Westwood {
    type Controller = AvoidanceController<WestwoodAvoidance>;
    const REFERENCE: &'static str = "Grieco & Mascolo 2004, Performance Evaluation and Comparison of Westwood+, New \
                                     Reno, and Vegas TCP Congestion Control";

    fn check(&self) -> Result<(), CcMistake> {
        require("filter", self.filter, self.filter >= 0.0 && self.filter < 1.0, "at least 0 and below 1")?;
        let interval = self.min_interval.as_secs_f64();
        let is_interval = interval > 0.0 && interval <= LONGEST_INTERVAL;
        Ok(require("min_interval", interval, is_interval, "above 0 and at most 10 (seconds)")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let numbers = Numbers::of(&context);
        let avoidance = WestwoodAvoidance {
            filter: self.filter,
            min_interval_ms: numbers.millis(self.min_interval),
            numbers,
            mss: f64::from(context.mss),
            interval: None,
            estimate: None,
            rtt_ms: 0.0,
            min_rtt_ms: f64::INFINITY,
            restarts_min_rtt: false,
            recovers: false,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The interval of a bandwidth sample.
#[derive(Clone, Copy, Debug)]
struct Interval {
    start: Instant,
    bytes: f64,
}

/// The bandwidth in bytes per millisecond.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// After one pass of the filter.
    once: f64,
    /// After two passes.
    twice: f64,
}

/// Westwood's estimate of the path.
#[derive(Clone, Debug)]
pub struct WestwoodAvoidance {
    filter: f64,
    min_interval_ms: f64,
    numbers: Numbers,
    mss: f64,
    interval: Option<Interval>,
    estimate: Option<Estimate>,
    /// The last round-trip time, 0 before the first.
    rtt_ms: f64,
    min_rtt_ms: f64,
    /// The next ACK begins a new minimum.
    restarts_min_rtt: bool,
    /// A loss halved the window, and the end of recovery sets it.
    recovers: bool,
}

impl WestwoodAvoidance {
    /// Ends the interval if it is long enough.
    fn end_interval(&mut self, now: Instant) {
        let Some(Interval { start, bytes }) = self.interval else { return };
        let millis = self.numbers.millis(now.since(start));
        if self.rtt_ms == 0.0 || millis <= self.rtt_ms.max(self.min_interval_ms) {
            return;
        }
        let sample = self.numbers.down(bytes / millis);
        let filtered = |last: f64, new: f64| self.numbers.down(self.filter * last + (1.0 - self.filter) * new);
        self.estimate = Some(match self.estimate {
            None => Estimate { once: sample, twice: sample },
            Some(Estimate { once, twice }) => {
                let once = filtered(once, sample);
                Estimate { once, twice: filtered(twice, once) }
            }
        });
        self.interval = Some(Interval { start: now, bytes: 0.0 });
    }

    /// The segments that fill the path without a queue.
    fn path_segments(&self) -> Option<f64> {
        let Estimate { once, twice } = self.estimate?;
        let rate = if self.numbers.are_whole() { twice } else { once };
        Some(self.numbers.down(rate * self.min_rtt_ms / self.mss).max(LEAST_SEGMENTS)).filter(|all| all.is_finite())
    }
}

impl Avoidance for WestwoodAvoidance {
    /// The bandwidth of the recovery may be larger.
    const MAY_RAISE: bool = true;

    fn observe(&mut self, _window: &mut Window, ack: &Ack) {
        self.end_interval(ack.now);
        let interval = self.interval.get_or_insert(Interval { start: ack.now, bytes: 0.0 });
        interval.bytes += f64::from(ack.newly_delivered) * self.mss;
        if ack.path.latest_rtt.is_zero() {
            return;
        }
        if std::mem::take(&mut self.restarts_min_rtt) {
            self.min_rtt_ms = f64::INFINITY;
        }
        self.rtt_ms = self.numbers.millis(ack.path.latest_rtt);
        self.min_rtt_ms = self.min_rtt_ms.min(self.rtt_ms);
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        cwnd + ack.acked / cwnd
    }

    fn cut(&mut self, window: f64, congestion: &Congestion) -> f64 {
        let half = window / 2.0;
        let path = self.path_segments().unwrap_or(half).min(window);
        if self.numbers.are_whole() && congestion.kind != CongestionKind::Timeout {
            self.recovers = congestion.kind == CongestionKind::Loss;
            return half;
        }
        self.recovers = false;
        path
    }

    fn on_timeout(&mut self) {
        self.restarts_min_rtt = self.numbers.are_whole();
    }

    fn on_recovery_exit(&mut self, window: &mut Window) {
        if std::mem::take(&mut self.recovers)
            && let Some(path) = self.path_segments()
        {
            window.set(path);
        }
    }

    fn on_undo(&mut self) {
        self.recovers = false;
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        if let Some(path) = self.path_segments() {
            report("path_segments", path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{congestion, linux, lose, real};
    use crate::cc::{CongestionControl, PathView, Recovery};

    /// ACKs of a segment each, one per `gap_ms`, with a round-trip time in milliseconds.
    fn acks(cc: &mut impl CongestionControl, from_ms: u64, count: u64, gap_ms: u64, rtt_ms: u64) -> u64 {
        for number in 1..=count {
            let path = PathView { latest_rtt: Duration::from_millis(rtt_ms), ..PathView::default() };
            let now = Instant::ZERO + Duration::from_millis(from_ms + number * gap_ms);
            cc.on_ack(&Ack { now, path, cwnd_limited: false, ..Ack::of(1.0) });
        }
        from_ms + count * gap_ms
    }

    fn recovery() -> Recovery {
        Recovery { now: Instant::ZERO, flight_size: 10, path: PathView::default() }
    }

    #[test]
    fn the_estimate_is_the_rate_of_the_acks() {
        let mut cc = Westwood::default().controller(real(60.0));
        let end = acks(&mut cc, 0, 100, 2, 40);
        let rate = |cc: &AvoidanceController<WestwoodAvoidance>| cc.avoidance.estimate.unwrap().once;
        // A segment of 1460 bytes in 2 ms.
        assert!((rate(&cc) - 730.0).abs() < 15.0, "{}", rate(&cc));
        // The next interval of more than 50 ms has at most twice that rate, which counts for an eighth.
        let before = rate(&cc);
        acks(&mut cc, end, 60, 1, 40);
        assert!(rate(&cc) > before && rate(&cc) < before + 730.0 / 8.0 + 15.0);
    }

    #[test]
    fn congestion_leaves_the_segments_of_the_path() {
        let mut cc = Westwood::default().controller(real(60.0));
        acks(&mut cc, 0, 200, 2, 40);
        // 730 B/ms times 40 ms are 20 segments.
        let left = lose(&mut cc);
        assert!((left - 20.0).abs() < 0.5, "{left}");
        // Never more than before.
        let mut small = Westwood::default().controller(real(8.0));
        acks(&mut small, 0, 200, 2, 40);
        assert_eq!(lose(&mut small), 8.0);
        // Without an estimate, half.
        assert_eq!(lose(&mut Westwood::default().controller(real(60.0))), 30.0);
    }

    #[test]
    fn in_linux_the_end_of_recovery_sets_the_window() {
        let mut cc = Westwood::default().controller(linux(60.0));
        acks(&mut cc, 0, 400, 2, 40);
        assert_eq!(lose(&mut cc), 30.0);
        cc.on_recovery_exit(&recovery());
        // 730 B/ms times 40 ms.
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20.0, 20.0));
        cc.on_congestion(&congestion(CongestionKind::Ecn));
        assert_eq!(cc.cwnd(), 10.0);
        cc.on_recovery_exit(&recovery());
        assert_eq!(cc.cwnd(), 10.0, "a mark needs no recovery");
    }

    #[test]
    fn a_timeout_leaves_the_path_to_slow_start() {
        let mut cc = Westwood::default().controller(linux(60.0));
        acks(&mut cc, 0, 400, 2, 40);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1.0, 20.0));
        acks(&mut cc, 800, 1, 2, 60);
        assert_eq!(cc.avoidance.min_rtt_ms, 60.0, "a new minimum");
        cc.on_undo(&recovery());
        assert!(cc.cwnd() > 1.0);
        let mut slow = Westwood::default().controller(CcContext::new(10.0));
        slow.on_ack(&Ack::of(1.0));
        assert_eq!(slow.cwnd(), 11.0, "slow start");
        let mut small = Westwood::default().controller(linux(2.0));
        assert_eq!((lose(&mut small), small.ssthresh()), (2.0, 2.0));
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = Westwood::default;
        for (wrong, key) in [
            (Westwood { filter: 1.0, ..default() }, "filter"),
            (Westwood { min_interval: Duration::from_secs(11), ..default() }, "min_interval"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
