//! # Hybla: the throughput of a reference round trip
//!
//! `cc = "hybla"`
//!
//! Hybla gives a flow with a long round-trip time the throughput of a flow with a reference
//! round-trip time. It was made for satellite links. Flows with shorter round trips
//! behave as Reno.
//!
//! ## Reference
//!
//! C. Caini and R. Firrincieli (2004): TCP Hybla: a TCP enhancement for heterogeneous networks. It
//! appeared in the International Journal of Satellite Communications and Networking 22 (5). Linux
//! contains it as `tcp_hybla`.
//!
//! ## Equations
//!
//! Here `ρ = RTT / rtt0`, at least 1. RTT is the smallest smoothed round-trip time of the
//! connection.
//!
//! | event | equation |
//! |---|---|
//! | start | `w <- ρ` |
//! | ACK in slow start | `w <- w + 2^ρ - 1`, at most ssthresh |
//! | ACK in congestion avoidance | `w <- w + ρ^2 / w` |
//! | loss, mark or timeout | as [Reno](reno.md) |
//!
//! With these equations, the window of a flow is always ρ times the window of the reference flow.
//!
//! ## Parameters
//!
//! Under `profile = "linux"` four points follow Linux:
//!
//! - ρ is in eighths and ρ² in units of 1/128. The initial window has only the whole part of ρ.
//! - The power of two has the fractional part of ρ in eighths.
//! - Each ACK counts once.
//! - An ACK in the states Disorder, Cwr, Recovery and Loss raises the window as in Reno.
//!
//! ## Constants
//!
//! The reference round-trip time of 25 ms comes from the paper. It stands for a wired connection. In
//! slow start the exponent is at most 16, so that a single ACK cannot overflow the window.
//!
//! ## Deviations
//!
//! - The paper adds pacing, and bandwidth estimates for the first ssthresh. Linux has neither. The
//!   transport keys `pacing` and `initial_ssthresh` select similar behaviour.
//! - The initial window needs a round-trip time. Without a handshake, the first ACK provides it.
//! - The synchronous model has no clock, and therefore no Hybla.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. `python tools/kernel/algorithms.py hybla` compares
//! whole flows with Linux 6.12 in virtual time. On seven of ten paths, goodput differs by at most 0.6 %
//! and the mean window by at most 2.6 %. On the other three the windows differ after the first
//! slow start:
//!
//! | path | goodput | mean window |
//! |---|---|---|
//! | 10 Mbit/s, 100 ms, 1 BDP | -0.0 % | +10.4 % |
//! | 10 Mbit/s, 100 ms, 4 BDP | +0.1 % | +35.9 % |
//! | 100 Mbit/s, 40 ms, 1 BDP | -2.9 % | -15.1 % |
//!
//! At 100 ms, a slow-start window multiplies by 16 in a round trip. The overshoot of
//! the simulator is larger. The buffers of Linux's sockets may limit the flow, which is not confirmed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::window::Window;
use super::{Ack, CaState, CcContext, CcMistake, CcParameters, Congestion, Departures, Sent};
use crate::rule::require;
use crate::units::Duration;

/// The largest exponent in slow start.
const MOST_DOUBLINGS: f64 = 16.0;
/// The largest window, in segments.
const MOST_SEGMENTS: f64 = 65_535.0;
/// Linux has ρ in eighths, and increases in units of 1/128.
const EIGHTHS: f64 = 8.0;
const UNIT: f64 = 128.0;
/// The longest reference round trip, in seconds.
const LONGEST_RTT0: f64 = 10.0;

/// TCP Hybla: makes up for long round trips. Caini & Firrincieli 2004.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hybla {
    /// Round-trip time of the reference connection, above 0 and at most 10 s.
    pub rtt0: Duration,
}

impl Default for Hybla {
    fn default() -> Self {
        Hybla { rtt0: Duration::from_millis(25) }
    }
}

impl CcParameters for Hybla {
    type Controller = AvoidanceController<HyblaAvoidance>;
    const REFERENCE: &'static str = "Caini & Firrincieli 2004, TCP Hybla: A TCP Enhancement for Heterogeneous Networks";

    fn check(&self) -> Result<(), CcMistake> {
        let rtt0 = self.rtt0.as_secs_f64();
        Ok(require("rtt0", rtt0, rtt0 > 0.0 && rtt0 <= LONGEST_RTT0, "above 0 and at most 10 (seconds)")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance =
            HyblaAvoidance { rtt0: self.rtt0, numbers: Numbers::of(&context), rtt: None, rho: 1.0, earned: 0.0 };
        AvoidanceController::new(avoidance, context)
    }
}

/// Hybla's increases.
#[derive(Clone, Debug)]
pub struct HyblaAvoidance {
    rtt0: Duration,
    numbers: Numbers,
    /// The smallest smoothed round-trip time, or none before the first.
    rtt: Option<Duration>,
    rho: f64,
    /// The part of the next segment that is earned. Only whole windows need it.
    earned: f64,
}

impl HyblaAvoidance {
    /// Takes the smoothed round-trip time if it is the smallest. The first sets the window.
    fn take_rtt(&mut self, window: &mut Window, srtt: Duration) {
        if srtt.is_zero() || self.rtt.is_some_and(|rtt| rtt <= srtt) {
            return;
        }
        let ratio = srtt.as_nanos() as f64 / self.rtt0.as_nanos() as f64;
        self.rho = (self.numbers.down(EIGHTHS * ratio) / EIGHTHS).max(1.0);
        if self.numbers == Numbers::Real {
            self.rho = ratio.max(1.0);
        }
        if self.rtt.replace(srtt).is_none() {
            window.avoid(self.numbers.down(self.rho));
        }
    }

    /// Segments that an ACK adds to the window, for an increase per acknowledged segment. Linux counts ACKs, and keeps
    /// fractions beyond a cut.
    fn earn(&mut self, gain: f64, ack: &Ack) -> f64 {
        if !self.numbers.are_whole() {
            return gain * ack.acked;
        }
        let all = self.earned + gain;
        self.earned = all.fract();
        all.floor()
    }

    /// Linux has Reno's increase outside of the state Open.
    fn is_reno(&self, ack: &Ack) -> bool {
        self.numbers.are_whole() && ack.state != CaState::Open
    }
}

impl Avoidance for HyblaAvoidance {
    const DEPARTURES: Departures = Departures::All;

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        // The handshake measured the path.
        if self.rtt.is_none() {
            self.take_rtt(window, sent.path.srtt);
        }
    }

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        self.take_rtt(window, ack.path.srtt);
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if self.is_reno(ack) {
            window.slow_start(ack);
            return;
        }
        let power = libm::exp2(self.rho.min(MOST_DOUBLINGS));
        let target = window.cwnd() + self.earn(self.numbers.down(UNIT * power) / UNIT - 1.0, ack);
        window.approach(target.min(window.ssthresh()).min(MOST_SEGMENTS).max(window.cwnd()));
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.is_reno(ack) {
            return cwnd + ack.acked / cwnd;
        }
        let mut gain = self.rho * self.rho / cwnd;
        if self.numbers.are_whole() {
            let units = (UNIT * gain).floor();
            gain = if units > 0.0 { units / UNIT } else { 1.0 / cwnd };
        }
        (cwnd + self.earn(gain, ack)).min(MOST_SEGMENTS).max(cwnd)
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window / 2.0
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::{CongestionControl, PathView};
    use crate::units::Instant;

    fn path(srtt_ms: u64) -> PathView {
        PathView { srtt: Duration::from_millis(srtt_ms), ..PathView::default() }
    }

    fn ack(srtt_ms: u64) -> Ack {
        Ack { path: path(srtt_ms), ..Ack::of(1.0) }
    }

    /// The window after the first segment on a path.
    fn begin(cc: &mut AvoidanceController<HyblaAvoidance>, srtt_ms: u64) -> f64 {
        cc.on_sent(&Sent {
            now: Instant::ZERO,
            bytes: 1460,
            retransmission: false,
            idle_for: None,
            path: path(srtt_ms),
        });
        cc.cwnd()
    }

    #[test]
    fn a_flow_begins_with_the_ratio_of_its_round_trip() {
        let mut cc = Hybla::default().controller(CcContext::new(10.0));
        assert_eq!(begin(&mut cc, 110), 4.4);
        assert_eq!(begin(&mut Hybla::default().controller(CcContext::new(10.0)), 10), 1.0);
        let mut whole = Hybla::default().controller(CcContext { initial_ssthresh: f64::INFINITY, ..linux(10.0) });
        assert_eq!((begin(&mut whole, 110), whole.avoidance.rho), (4.0, 4.375));
    }

    #[test]
    fn increases_are_those_of_the_paper() {
        let mut cc = Hybla::default().controller(CcContext::new(10.0));
        begin(&mut cc, 75);
        cc.on_ack(&ack(75));
        assert_eq!(cc.cwnd(), 3.0 + 7.0);
        let mut later = Hybla::default().controller(real(10.0));
        later.avoidance.rtt = Some(Duration::from_millis(75));
        later.avoidance.rho = 3.0;
        later.on_ack(&ack(75));
        assert_eq!((later.cwnd(), lose(&mut later)), (10.9, 5.45));
    }

    #[test]
    fn linux_counts_acks_in_units_of_1_128() {
        let mut cc = Hybla::default().controller(linux(10.0));
        (cc.avoidance.rtt, cc.avoidance.rho) = (Some(Duration::from_millis(75)), 3.0);
        // 9/10 is 115/128: eight segments for nine ACKs, less a little.
        (0..9).for_each(|_| cc.on_ack(&Ack { acked: 2.0, ..ack(75) }));
        assert!(cc.cwnd() >= 15.0 && cc.cwnd() <= 17.0, "{}", cc.cwnd());
        let mut reno = Hybla::default().controller(linux(10.0));
        (reno.avoidance.rtt, reno.avoidance.rho) = (Some(Duration::from_millis(75)), 3.0);
        (0..9).for_each(|_| reno.on_ack(&Ack { state: CaState::Disorder, ..ack(75) }));
        assert_eq!(reno.cwnd(), 10.0);
    }

    #[test]
    fn only_a_smaller_round_trip_time_counts() {
        let mut cc = Hybla::default().controller(real(10.0));
        [100, 150, 75].into_iter().for_each(|srtt| cc.on_ack(&ack(srtt)));
        assert_eq!(cc.avoidance.rho, 3.0);
    }

    #[test]
    fn slow_start_floors_and_undo() {
        respects_slow_start_and_floors(&Hybla::default(), 20.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert_eq!(Hybla { rtt0: Duration::ZERO }.check().unwrap_err().key(), "rtt0");
    }
}
