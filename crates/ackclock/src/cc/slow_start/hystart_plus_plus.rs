//! HyStart++ (RFC 9406).
//!
//! It detects the beginning of a queue when the smallest RTT of a round trip exceeds the smallest before. The window
//! then grows a quarter as fast for up to five round trips. Slow start returns if the RTT falls again. HyStart++ applies
//! to the first slow start of a connection.
//!
//! Deviation: an ACK adds at most 8 segments, whether the sender paces or not.

use super::{Growth, N_RTT_SAMPLE, rtt_thresh};
use crate::cc::Ack;
use crate::units::Duration;

/// RFC 9406 §4.3: CSS_GROWTH_DIVISOR, CSS_ROUNDS.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// RFC 9406 §4.3: L, in segments, of a sender that does not pace.
const MOST_PER_ACK: f64 = 8.0;

/// HyStart++.
#[derive(Clone, Debug, Default)]
pub(in crate::cc) struct HystartPlusPlus {
    /// lastRoundMinRTT, none for infinity.
    last_round_min: Option<Duration>,
    /// currentRoundMinRTT, none for infinity.
    current_round_min: Option<Duration>,
    /// rttSampleCount.
    samples: u32,
    /// Conservative Slow Start.
    css: Option<Css>,
    is_over: bool,
}

#[derive(Clone, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Duration,
    rounds: u32,
}

impl HystartPlusPlus {
    pub(super) fn observe(&mut self, ack: &Ack) {
        if ack.round_ended {
            // RFC 9406 §4.2: "lastRoundMinRTT = currentRoundMinRTT; currentRoundMinRTT = infinity; rttSampleCount = 0".
            self.last_round_min = self.current_round_min.take();
            self.samples = 0;
            if let Some(css) = &mut self.css {
                // "that partial round counts towards the CSS_ROUNDS limit".
                css.rounds += 1;
            }
        }
        let rtt = ack.path.latest_rtt;
        if !rtt.is_zero() {
            self.current_round_min = Some(self.current_round_min.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
    }

    pub(super) fn grow(&mut self, acked: f64) -> Growth {
        if self.is_over {
            return Growth { growth: acked, ends: false };
        }
        let acked = acked.min(MOST_PER_ACK);
        let Some(css) = &self.css else {
            self.css = self.delayed().map(|baseline| Css { baseline, rounds: 0 });
            return Growth { growth: acked, ends: false };
        };
        // "If CSS_ROUNDS rounds are complete, enter congestion avoidance by setting the ssthresh to the current cwnd."
        let ends = css.rounds >= CSS_ROUNDS;
        let growth = if ends { 0.0 } else { acked / CSS_GROWTH_DIVISOR };
        // "if (currentRoundMinRTT < cssBaselineMinRtt) cssBaselineMinRtt = infinity, resume slow start".
        if self.samples >= N_RTT_SAMPLE && self.current_round_min.is_some_and(|least| least < css.baseline) {
            self.css = None;
        }
        Growth { growth, ends }
    }

    /// The first slow start is over.
    pub(super) fn finish(&mut self) {
        // RFC 9406 §4.3: "An implementation SHOULD use HyStart++ only for the initial slow start".
        self.is_over = true;
    }

    /// The smallest RTT of this round if a queue builds up.
    fn delayed(&self) -> Option<Duration> {
        let (last, current) = (self.last_round_min?, self.current_round_min?);
        (self.samples >= N_RTT_SAMPLE && current >= last + rtt_thresh(last)).then_some(current)
    }
}
