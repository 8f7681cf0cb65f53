//! The end of slow start before the first loss: HyStart++ (RFC 9406), and Linux's HyStart.
//!
//! Both detect the beginning of a queue when the smallest RTT of a round trip exceeds the smallest before. HyStart++
//! then grows a quarter as fast for up to five round trips, and returns if the RTT falls again. It applies to the
//! first slow start of a connection. Linux's HyStart leaves slow start at once, and applies to each slow start. It
//! also leaves when consecutive ACKs span half of the smallest RTT (Ha and Rhee 2011).
//!
//! Rounds follow Linux 6.14 and later, and the stable kernels of 2025. A round begins with the first ACK of data sent
//! after the previous round began, for any window. An ACK train may last 1 ms longer for the bursts of segmentation
//! offload. It may also last as long as four of the largest bursts take at the pacing rate. A sender that paces waits
//! for a whole RTT of ACKs. After a timeout the next round begins once the losses are repaired.
//!
//! Deviations: HyStart++ adds at most 8 segments an ACK, whether the sender paces or not. Linux takes no RTT in the first second of
//! congestion avoidance after a cut.

use super::{Ack, CaState, PathView};
use crate::units::{Duration, Instant};

/// How slow start ends before the first loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum SlowStart {
    /// It does not (RFC 5681).
    #[default]
    #[serde(rename = "standard")]
    Standard,
    /// RFC 9406, in the first slow start of a connection.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// As in Linux.
    #[serde(rename = "hystart")]
    Hystart,
    /// HyStart for CUBIC, and RFC 5681 for window rules: in Linux it belongs to CUBIC.
    #[serde(rename = "linux")]
    Linux,
    /// Slow start continues, and the window passes ssthresh by a segment. RFC 5681 §3.1 permits slow start where the
    /// window equals ssthresh.
    #[serde(rename = "past-ssthresh")]
    PastSsthresh,
}

impl SlowStart {
    /// The algorithm of window rules.
    pub(super) fn of_a_rule(self) -> Self {
        if self == SlowStart::Linux { SlowStart::Standard } else { self }
    }
}

/// RFC 9406 §4.3, and Linux alike: MIN_RTT_THRESH, MAX_RTT_THRESH, MIN_RTT_DIVISOR, N_RTT_SAMPLE.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
/// RFC 9406 §4.3: CSS_GROWTH_DIVISOR, CSS_ROUNDS.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// RFC 9406 §4.3: L, in segments, of a sender that does not pace.
const MOST_PER_ACK: f64 = 8.0;
/// Linux's `hystart_low_window` in segments and `hystart_ack_delta_us`.
const LOW_WINDOW: f64 = 16.0;
const ACK_DELTA: Duration = Duration::from_millis(2);
/// The most that `hystart_ack_delay` adds, the bursts that it counts, and bytes in the largest one.
const MAX_ACK_DELAY: Duration = Duration::from_millis(1);
const BURSTS: f64 = 4.0;
const MAX_BURST: f64 = 65_536.0;

/// By how much an RTT is longer than `base` when a queue builds up.
fn rtt_thresh(base: Duration) -> Duration {
    // RFC 9406 §4.2: "RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))".
    (base / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

/// The growth of an ACK in slow start, and whether slow start ends.
pub(super) struct Growth {
    /// Segments.
    pub(super) growth: f64,
    /// Slow start ends with it.
    pub(super) ends: bool,
}

/// The state that watches slow start.
#[derive(Clone, Debug)]
pub(super) enum Hystart {
    PlusPlus(PlusPlus),
    Linux(Linux),
}

impl Hystart {
    pub(super) fn new(slow_start: SlowStart) -> Option<Self> {
        match slow_start {
            SlowStart::Standard | SlowStart::PastSsthresh => None,
            SlowStart::HystartPlusPlus => Some(Hystart::PlusPlus(PlusPlus::default())),
            SlowStart::Hystart | SlowStart::Linux => Some(Hystart::Linux(Linux::default())),
        }
    }

    /// Processes an ACK before it grows the window. Returns true if slow start ends before that growth.
    pub(super) fn observe(&mut self, ack: &Ack, sender: Sender) -> bool {
        match self {
            Hystart::PlusPlus(hystart) => {
                if sender.in_slow_start {
                    hystart.observe(ack);
                }
                false
            }
            Hystart::Linux(hystart) => hystart.observe(ack, sender),
        }
    }

    /// The last ACK counts for `acked` segments.
    pub(super) fn grow(&mut self, acked: f64) -> Growth {
        match self {
            Hystart::PlusPlus(hystart) => hystart.grow(acked),
            Hystart::Linux(_) => Growth { growth: acked, ends: false },
        }
    }

    /// The window is cut, and slow start begins again or does not.
    pub(super) fn on_cut(&mut self, restarts: bool) {
        match self {
            // RFC 9406 §4.3: "An implementation SHOULD use HyStart++ only for the initial slow start".
            Hystart::PlusPlus(hystart) => hystart.is_over = true,
            Hystart::Linux(hystart) if restarts => *hystart = Linux { awaits_repair: true, ..Linux::default() },
            Hystart::Linux(_) => {}
        }
    }
}

/// HyStart++.
#[derive(Clone, Debug, Default)]
pub(super) struct PlusPlus {
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

impl PlusPlus {
    fn observe(&mut self, ack: &Ack) {
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

    fn grow(&mut self, acked: f64) -> Growth {
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

    /// The smallest RTT of this round if a queue builds up.
    fn delayed(&self) -> Option<Duration> {
        let (last, current) = (self.last_round_min?, self.current_round_min?);
        (self.samples >= N_RTT_SAMPLE && current >= last + rtt_thresh(last)).then_some(current)
    }
}

/// The sender when an ACK arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) cwnd: f64,
    pub(super) in_slow_start: bool,
    pub(super) paces: bool,
}

/// Linux's HyStart.
#[derive(Clone, Debug, Default)]
pub(super) struct Linux {
    /// The smallest RTT since the connection or the last timeout.
    delay_min: Option<Duration>,
    /// Slow start has ended by HyStart since then.
    is_found: bool,
    /// The next round begins when the losses of a timeout are repaired.
    awaits_repair: bool,
    round_start: Instant,
    last_ack: Instant,
    /// The smallest RTT of the round.
    curr_rtt: Option<Duration>,
    sample_cnt: u32,
}

impl Linux {
    fn observe(&mut self, ack: &Ack, sender: Sender) -> bool {
        let begins = if self.awaits_repair { ack.state != CaState::Loss } else { ack.round_ended };
        if begins {
            self.awaits_repair = false;
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.curr_rtt, self.sample_cnt) = (None, 0);
        }
        let rtt = ack.path.latest_rtt;
        if rtt.is_zero() {
            return false;
        }
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        if self.is_found || !sender.in_slow_start || sender.cwnd < LOW_WINDOW {
            return false;
        }
        let is_train = ack.now.since(self.last_ack) <= ACK_DELTA;
        if is_train {
            self.last_ack = ack.now;
        }
        let longest = delay_min + ack_delay(&ack.path, sender.cwnd);
        let longest = if sender.paces { longest } else { longest / 2 };
        let has_train = is_train && ack.now.since(self.round_start) > longest;
        let curr_rtt = self.curr_rtt.map_or(rtt, |least| least.min(rtt));
        self.curr_rtt = Some(curr_rtt);
        // The samples after the first eight ask whether the smallest so far is longer.
        let has_delay = self.sample_cnt >= N_RTT_SAMPLE && curr_rtt > delay_min + rtt_thresh(delay_min);
        self.sample_cnt = (self.sample_cnt + 1).min(N_RTT_SAMPLE);
        self.is_found = has_train || has_delay;
        self.is_found
    }
}

/// Linux's `hystart_ack_delay`: the time of four bursts at twice the window per RTT, up to 1 ms.
fn ack_delay(path: &PathView, cwnd: f64) -> Duration {
    let window = cwnd.max(f64::from(path.in_flight)) * f64::from(path.mss);
    let round_trips = BURSTS * MAX_BURST / (2.0 * window);
    // No window has a time of its own before there is one in bytes.
    if round_trips.is_finite() { path.srtt.mul_f64_floor(round_trips).min(MAX_ACK_DELAY) } else { MAX_ACK_DELAY }
}

#[cfg(test)]
mod tests;
