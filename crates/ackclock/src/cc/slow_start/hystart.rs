//! Linux's HyStart (Ha and Rhee 2011).
//!
//! It leaves slow start at once when the smallest RTT of a round trip exceeds the smallest before. It also leaves when
//! consecutive ACKs span half of the smallest RTT. It applies to each slow start.
//!
//! Rounds follow Linux 6.14 and later, and the stable kernels of 2025. A round begins with the first ACK of data sent
//! after the previous round began, for any window. An ACK train may last 1 ms longer for the bursts of segmentation
//! offload. It may also last as long as four of the largest bursts take at the pacing rate. A sender that paces waits
//! for a whole RTT of ACKs. After a timeout the next round begins once the losses are repaired. It also ends slow start
//! in recovery, where a reduced window below ssthresh counts as slow start. Recovery then ends at the reduced window.
//!
//! Deviation: Linux takes no RTT in the first second of congestion avoidance after a cut.

use super::{N_RTT_SAMPLE, Sender, rtt_thresh};
use crate::cc::{Ack, CaState, PathView};
use crate::units::{Duration, Instant};

/// Linux's `hystart_low_window` in segments and `hystart_ack_delta_us`.
const LOW_WINDOW: f64 = 16.0;
const ACK_DELTA: Duration = Duration::from_millis(2);
/// The most that `hystart_ack_delay` adds, the bursts that it counts, and bytes in the largest one.
const MAX_ACK_DELAY: Duration = Duration::from_millis(1);
const BURSTS: f64 = 4.0;
const MAX_BURST: f64 = 65_536.0;

/// Linux's HyStart.
#[derive(Clone, Debug, Default)]
pub(in crate::cc) struct Hystart {
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

impl Hystart {
    /// Slow start begins again after a timeout.
    pub(super) fn restart(&mut self) {
        *self = Hystart { awaits_repair: true, ..Hystart::default() };
    }

    /// Returns true if slow start ends.
    pub(super) fn observe(&mut self, ack: &Ack, sender: Sender) -> bool {
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
pub(super) fn ack_delay(path: &PathView, cwnd: f64) -> Duration {
    let window = cwnd.max(f64::from(path.in_flight)) * f64::from(path.mss);
    let round_trips = BURSTS * MAX_BURST / (2.0 * window);
    // No window has a time of its own before there is one in bytes.
    if round_trips.is_finite() { path.srtt.mul_f64_floor(round_trips).min(MAX_ACK_DELAY) } else { MAX_ACK_DELAY }
}
