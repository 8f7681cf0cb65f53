//! # YeAH: fast while the queue is short
//!
//! `cc = "yeah"`
//!
//! YeAH has two modes. While few of its packets wait in the queue, its window grows by one percent per
//! round trip or more. Otherwise it grows as Reno, and the flow removes its packets from the queue.
//! It measures whether it competes with Reno flows, and does not yield to them.
//!
//! ## Reference
//!
//! A. Baiocchi, A. P. Castellani and F. Vacirca, YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007. The
//! constants follow Linux.
//!
//! ## Equations
//!
//! Here w is the window, and R the smallest RTT of the last round trip. B is the smallest RTT since the
//! last idle time. W_r is a lower estimate of the window that Reno would have.
//!
//! | event | equation |
//! |---|---|
//! | end of a round trip | `Q = w (R - B) / R` |
//! | end of a round trip, `Q > 80` or `R - B > B/8` | slow mode: `W_r <- W_r + 1`, or `w/2` if it was reset |
//! | the same, `Q > 80` and `w > W_r` | `w <- max(w - min(Q, w/2), W_r)`, and ssthresh is the same |
//! | end of a round trip otherwise | fast mode. After more than 50 of them, W_r is reset to 2. |
//! | ACK above ssthresh, fast mode | `w <- w + 1/min(w, 100)` |
//! | ACK above ssthresh, slow mode | `w <- w + 1/w` |
//! | loss with fewer than 16 round trips of slow mode | `w <- w - max(min(Q, w/2), w/8)` |
//! | other losses | `w <- w/2` |
//! | each loss | `W_r <- max(W_r/2, 2)` |
//!
//! A round trip needs three RTT samples or more.
//!
//! ## Constants
//!
//! The paper has 80 packets for the queue and 1/8 for its delay. Sixteen round trips of slow mode
//! without a loss show competing flows.
//!
//! ## Deviations
//!
//! - A round trip is counted only while no losses or marks are handled.
//! - Under `profile = "linux"` times are whole microseconds plus one, and numbers of packets are
//!   rounded down.
//!
//! ## Validation
//!
//! On ten paths of 10 and 100 Mbit/s, `python tools/kernel/algorithms.py yeah` compares it with Linux 6.12.
//! Figures are means of three runs of 30 seconds.
//!
//! | quantity | difference |
//! |---|---|
//! | goodput | -0.01 to +1.2 % |
//! | mean cwnd | -0.1 to +1.7 % |
//!
//! The goodput exceeds its bound of 1 % at 10 Mbit/s, 100 ms and a buffer of one BDP. Three runs do not
//! show whether this is chance. Tests compare the formulas with hand-computed values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{DelayMeter, Delays};
use super::vegas::ENOUGH_SAMPLES;
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, Departures, Sent};

/// The paper's Q_max: packets in the queue from which the flow yields.
const MOST_QUEUED: f64 = 80.0;
/// The paper's φ: part of the smallest RTT for which packets may wait.
const DELAY_PARTS: f64 = 8.0;
/// Acknowledged segments of fast mode for which a window grows by one, as in Scalable TCP.
const FAST_SEGMENTS: f64 = 100.0;
/// The paper's ρ: round trips of slow mode that show competing flows.
const COMPETITION: u32 = 16;
/// Round trips of fast mode that show that there are none.
const NO_COMPETITION: u32 = 50;
/// The least part of the window that a loss removes.
const LEAST_CUT: f64 = 8.0;
/// The least window of Reno.
const LEAST: f64 = 2.0;

/// YeAH: fast while the queue is short. Baiocchi, Castellani & Vacirca 2007.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Yeah {}

impl CcParameters for Yeah {
    type Controller = AvoidanceController<YeahAvoidance>;
    const REFERENCE: &'static str = "Baiocchi, Castellani & Vacirca 2007, YeAH-TCP: Yet Another Highspeed TCP";

    fn check(&self) -> Result<(), CcMistake> {
        Ok(())
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = YeahAvoidance {
            numbers: Numbers::of(&context),
            meter: DelayMeter::default(),
            queued: 0.0,
            slow_trips: 0,
            fast_trips: 0,
            reno: LEAST,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// YeAH's congestion avoidance.
#[derive(Clone, Debug)]
pub struct YeahAvoidance {
    numbers: Numbers,
    meter: DelayMeter,
    /// Packets in the queue in the last round trip.
    queued: f64,
    /// Round trips of slow mode since the last one of fast mode.
    slow_trips: u32,
    /// Round trips of fast mode since the last loss or reset.
    fast_trips: u32,
    /// The window that Reno would have.
    reno: f64,
}

impl YeahAvoidance {
    fn end_round(&mut self, window: &mut Window, delays: Delays) {
        let cwnd = window.cwnd();
        let (base, rtt) = if self.numbers.are_whole() {
            (delays.base.floor() + 1.0, delays.least.floor() + 1.0)
        } else {
            (delays.base, delays.least)
        };
        self.queued = self.numbers.down(cwnd * (rtt - base) / rtt);
        if self.queued <= MOST_QUEUED && rtt - base <= self.numbers.down(base / DELAY_PARTS) {
            self.fast_trips += 1;
            if self.fast_trips > NO_COMPETITION {
                (self.reno, self.fast_trips) = (LEAST, 0);
            }
            self.slow_trips = 0;
            return;
        }
        if self.queued > MOST_QUEUED && cwnd > self.reno {
            let reduction = self.queued.min(self.numbers.down(cwnd / 2.0));
            window.avoid((cwnd - reduction).max(self.reno));
            window.exit_slow_start();
        }
        self.reno =
            if self.reno <= LEAST { self.numbers.down(window.cwnd() / 2.0).max(LEAST) } else { self.reno + 1.0 };
        self.slow_trips = self.slow_trips.saturating_add(1);
    }
}

impl Avoidance for YeahAvoidance {
    const DEPARTURES: Departures = Departures::AfterIdle;

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.meter.on_sent(sent);
    }

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(delays) = self.meter.observe(ack)
            && delays.samples >= ENOUGH_SAMPLES
        {
            self.end_round(window, delays);
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let for_one = if self.slow_trips == 0 { cwnd.min(FAST_SEGMENTS) } else { cwnd };
        cwnd + ack.acked / for_one
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        self.meter.on_congestion(congestion);
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        let half = self.numbers.down(window / 2.0).max(LEAST);
        let reduction = if self.slow_trips < COMPETITION {
            self.queued.min(half).max(self.numbers.down(window / LEAST_CUT))
        } else {
            half
        };
        self.fast_trips = 0;
        self.reno = self.numbers.down(self.reno / 2.0).max(LEAST);
        window - reduction
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("queued_segments", self.queued);
        report("reno_segments", self.reno);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::{ack, round};

    /// YeAH on a path of 100 ms, after a round trip with this RTT.
    fn after(context: CcContext, rtt_ms: f64) -> AvoidanceController<YeahAvoidance> {
        let mut cc = Yeah::default().controller(context);
        cc.avoidance.meter.observe(&ack(100.0, context.initial_window as u32 - 1));
        round(&mut cc, rtt_ms);
        cc
    }

    #[test]
    fn a_short_queue_lets_the_window_grow_by_a_hundredth_of_the_acknowledged_segments() {
        let mut cc = after(real(200.0), 101.0);
        let (cwnd, is_fast) = (cc.cwnd(), cc.avoidance.slow_trips == 0);
        assert!((cwnd - 202.0).abs() < 1e-9 && is_fast, "{cwnd}");
        cc.on_ack(&ack(101.0, 200));
        assert!((cc.cwnd() - 202.01).abs() < 1e-9);
        // 200 * 13/113 = 23 packets, and 13 ms are more than an eighth.
        let mut slow = after(linux(200.0), 113.0);
        assert_eq!((slow.avoidance.queued, slow.avoidance.slow_trips, slow.avoidance.reno), (23.0, 1, 100.0));
        let cwnd = slow.cwnd();
        round(&mut slow, 113.0);
        assert_eq!((slow.cwnd(), slow.avoidance.reno), (cwnd + 1.0, 101.0));
    }

    #[test]
    fn a_long_queue_is_emptied() {
        // 401 segments by the end of the round trip, and 401/5 = 80 packets are not yet too many.
        let first = after(linux(398.0), 125.0);
        assert_eq!((first.cwnd(), first.avoidance.queued), (401.0, 80.0));
        let second = after(linux(500.0), 125.0);
        assert_eq!((second.avoidance.queued, second.cwnd()), (100.0, 404.0));
        assert_eq!(second.avoidance.reno, 202.0);
    }

    #[test]
    fn losses_remove_the_queue_or_half_under_competition() {
        // A fifth of 201 segments, and an eighth of 202.
        assert_eq!(lose(&mut after(linux(200.0), 125.0)), 161.0);
        assert_eq!(lose(&mut after(linux(200.0), 101.0)), 177.0);
        let mut cc = after(linux(200.0), 113.0);
        cc.avoidance.slow_trips = 16;
        let cwnd = cc.cwnd();
        assert_eq!((lose(&mut cc), cc.avoidance.reno), (cwnd - (cwnd / 2.0).floor(), 50.0));
        respects_slow_start_and_floors(&Yeah::default(), 35.0);
    }
}
