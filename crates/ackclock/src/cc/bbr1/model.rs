//! BBRv1's model of the path: bandwidth, delay, aggregation and policers.

use super::Sample;
use crate::cc::max_filter::MaxFilter;
use crate::units::{Duration, Instant};

/// Round trips over which the bandwidth is the largest: a gain cycle and two more.
const BW_RTTS: u64 = 10;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const FULL_BW_THRESH: f64 = 1.25;
const FULL_BW_COUNT: u32 = 3;
/// Round trips after which the older one of two maxima of aggregation is forgotten.
const EXTRA_ACKED_WIN_RTTS: u32 = 5;
/// Segments after which an interval of aggregation ends.
const ACK_EPOCH_MOST: f64 = 1_048_576.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    bw: MaxFilter,
    pub(super) min_rtt: Option<Duration>,
    pub(super) min_rtt_stamp: Instant,
    /// Bytes, as in samples.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    next_rtt_delivered: u64,
    rtt_cnt: u64,
    pub(super) round_start: bool,
    pub(super) full_bw_reached: bool,
    full_bw: f64,
    full_bw_cnt: u32,
    extra_acked: [f64; 2],
    extra_acked_idx: usize,
    extra_acked_rtts: u32,
    ack_epoch_mstamp: Instant,
    ack_epoch_acked: f64,
}

impl Model {
    /// `jiffies` is `now` in the unit of `min_rtt_stamp`.
    pub(super) fn begin(&mut self, now: Instant, jiffies: Instant) {
        self.min_rtt_stamp = jiffies;
        self.ack_epoch_mstamp = now;
    }

    pub(super) fn max_bw(&self) -> f64 {
        self.bw.get()
    }

    pub(super) fn start_round(&mut self) {
        self.next_rtt_delivered = self.delivered;
    }

    /// True if the ACK of a segment that was sent when this much was delivered begins a round trip.
    pub(super) fn update_round(&mut self, prior_delivered: u64) -> bool {
        self.round_start = prior_delivered >= self.next_rtt_delivered;
        if self.round_start {
            self.start_round();
            self.rtt_cnt += 1;
        }
        self.round_start
    }

    pub(super) fn update_bw(&mut self, rs: &Sample) {
        if !rs.is_app_limited || rs.bw >= self.max_bw() {
            self.bw.update(BW_RTTS, self.rtt_cnt, rs.bw);
        }
    }

    pub(super) fn extra_acked(&self) -> f64 {
        self.extra_acked[0].max(self.extra_acked[1])
    }

    pub(super) fn restart_aggregation(&mut self, now: Instant) {
        self.ack_epoch_mstamp = now;
        self.ack_epoch_acked = 0.0;
    }

    pub(super) fn update_ack_aggregation(&mut self, now: Instant, acked: f64, bw: f64, cwnd: f64) {
        if self.round_start {
            self.extra_acked_rtts += 1;
            if self.extra_acked_rtts >= EXTRA_ACKED_WIN_RTTS {
                self.extra_acked_rtts = 0;
                self.extra_acked_idx = 1 - self.extra_acked_idx;
                self.extra_acked[self.extra_acked_idx] = 0.0;
            }
        }
        let mut expected = bw * now.since(self.ack_epoch_mstamp).as_secs_f64();
        if self.ack_epoch_acked <= expected || self.ack_epoch_acked + acked >= ACK_EPOCH_MOST {
            self.restart_aggregation(now);
            expected = 0.0;
        }
        self.ack_epoch_acked += acked;
        let extra = (self.ack_epoch_acked - expected).min(cwnd);
        let most = &mut self.extra_acked[self.extra_acked_idx];
        *most = most.max(extra);
    }

    pub(super) fn check_full_bw_reached(&mut self, is_app_limited: bool) {
        if self.full_bw_reached || !self.round_start || is_app_limited {
            return;
        }
        if self.max_bw() >= FULL_BW_THRESH * self.full_bw {
            self.full_bw = self.max_bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= FULL_BW_COUNT;
    }

    /// The plateau of Startup begins again, after a timeout and an undo.
    pub(super) fn forget_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_cnt = 0;
    }

    /// True if the minimum is older than its window, before it is replaced.
    pub(super) fn update_min_rtt(&mut self, now: Instant, latest: Duration) -> bool {
        let expired = now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if !latest.is_zero() && (expired || self.min_rtt.is_none_or(|min_rtt| latest < min_rtt)) {
            self.min_rtt = Some(latest);
            self.min_rtt_stamp = now;
        }
        expired
    }
}

/// Least number of round trips of an interval. It is given up after four times as many.
const LT_INTERVAL_MIN_RTTS: u32 = 4;
/// Least ratio of lost to delivered segments.
const LT_LOSS_THRESH: f64 = 50.0 / 256.0;
/// Rates that differ by less than this part, or by 4 kbit/s, are the same.
const LT_BW_RATIO: f64 = 1.0 / 8.0;
const LT_BW_DIFF_BYTES: f64 = 500.0;
const LT_BW_MOST_RTTS: u32 = 48;

/// The long-term bandwidth, which is the rate of a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    pub(super) is_sampling: bool,
    use_bw: bool,
    pub(super) bw: Option<f64>,
    rtt_cnt: u32,
    last_stamp: Instant,
    last_delivered: u64,
    last_lost: u64,
}

impl LongTerm {
    pub(super) fn begin(&mut self, now: Instant, delivered: u64) {
        self.last_stamp = now;
        self.last_delivered = delivered;
    }

    /// The bandwidth that is used instead of the measured one.
    pub(super) fn bw_in_use(&self) -> Option<f64> {
        self.bw.filter(|_| self.use_bw)
    }

    fn reset_interval(&mut self, now: Instant, model: &Model) {
        self.last_stamp = now;
        self.last_delivered = model.delivered;
        self.last_lost = model.lost;
        self.rtt_cnt = 0;
    }

    pub(super) fn reset(&mut self, now: Instant, model: &Model) {
        (self.bw, self.use_bw, self.is_sampling) = (None, false, false);
        self.reset_interval(now, model);
    }

    /// Handles an ACK. Returns true if probing begins again after the long-term bandwidth.
    pub(super) fn sample(&mut self, now: Instant, rs: &Sample, model: &Model, mss: f64, in_probe_bw: bool) -> bool {
        if self.use_bw {
            self.rtt_cnt += u32::from(in_probe_bw && model.round_start);
            let is_over = self.rtt_cnt >= LT_BW_MOST_RTTS;
            if is_over {
                self.reset(now, model);
            }
            return is_over;
        }
        if !self.is_sampling {
            if rs.losses == 0.0 {
                return false;
            }
            self.reset_interval(now, model);
            self.is_sampling = true;
        }
        if rs.is_app_limited {
            self.reset(now, model);
            return false;
        }
        self.rtt_cnt += u32::from(model.round_start);
        if self.rtt_cnt > 4 * LT_INTERVAL_MIN_RTTS {
            self.reset(now, model);
        } else if self.rtt_cnt >= LT_INTERVAL_MIN_RTTS && rs.losses > 0.0 {
            self.end_interval(now, model, mss);
        }
        false
    }

    /// An interval ends with a loss, if enough was lost in it.
    fn end_interval(&mut self, now: Instant, model: &Model, mss: f64) {
        let lost = (model.lost - self.last_lost) as f64;
        let delivered = model.delivered.saturating_sub(self.last_delivered) as f64;
        let time = now.since(self.last_stamp).as_secs_f64();
        if delivered <= 0.0 || lost < LT_LOSS_THRESH * delivered || time < 1e-3 {
            return;
        }
        let bw = delivered / mss / time;
        if let Some(before) = self.bw {
            let difference = (bw - before).abs();
            if difference <= LT_BW_RATIO * before || difference * mss <= LT_BW_DIFF_BYTES {
                self.bw = Some((bw + before) / 2.0);
                self.use_bw = true;
                self.rtt_cnt = 0;
                return;
            }
        }
        self.bw = Some(bw);
        self.reset_interval(now, model);
    }
}
