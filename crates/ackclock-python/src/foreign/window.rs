//! What code from outside sets, and TCP Reno (RFC 5681) where it says nothing.

use ackclock::cc::{Ack, CcContext, CongestionKind, Restart};

/// RFC 5681: ssthresh is at least two segments.
const MIN_SSTHRESH: f64 = 2.0;

/// Window, threshold and rate: `ackclock_cc_window` of the header, and behind it what that does not show.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// Segments.
    pub cwnd: f64,
    /// Segments; infinite until something sets it.
    pub ssthresh: f64,
    /// bit/s; 0 for none.
    pub pacing_rate: f64,
    /// Segments.
    pub initial_window: f64,
    /// What a timeout leaves, in segments: one in TCP (RFC 5681), two in QUIC (RFC 9002 §7.2).
    loss_window: f64,
}

impl Window {
    /// The connection begins.
    pub fn new(context: &CcContext) -> Self {
        Window {
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            pacing_rate: 0.0,
            initial_window: context.initial_window,
            loss_window: context.min_window,
        }
    }

    /// The window, which is one segment at the least.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.cwnd.max(1.0)
    }

    /// Whether `ack` should make a window grow: new data of a window that was used, outside of recovery, without a mark.
    #[inline]
    pub fn may_grow(ack: &Ack) -> bool {
        ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery && !ack.ece
    }

    /// RFC 5681 §3.1.
    #[inline]
    pub fn grow(&mut self, ack: &Ack) {
        if Self::may_grow(ack) {
            let cwnd = self.segments();
            self.cwnd = cwnd + if cwnd < self.ssthresh { ack.acked } else { ack.acked / cwnd };
        }
    }

    /// Half of the window is left.
    pub fn cut(&mut self, kind: CongestionKind) {
        let half = self.segments() / 2.0;
        self.ssthresh = half.max(MIN_SSTHRESH);
        self.cwnd = match kind {
            // RFC 3168 §6.1.2: "the value of the congestion window is bounded below by a value of one segment".
            CongestionKind::Ecn => half.max(self.loss_window),
            CongestionKind::Loss => self.ssthresh,
            CongestionKind::Timeout => self.loss_window,
        };
    }

    /// What a restart leaves, whatever was set: the window of a timeout, and the threshold of the first cut of a window of data.
    pub fn restart(&mut self, restart: Restart, threshold_before: f64) {
        match restart {
            Restart::Reduced => {}
            Restart::SlowStart => self.cwnd = self.loss_window,
            Restart::SlowStartAgain => (self.cwnd, self.ssthresh) = (self.loss_window, threshold_before),
            Restart::OneSegment => (self.cwnd, self.ssthresh) = (self.loss_window, self.loss_window),
        }
    }

    /// RFC 5681 §4.1: no more than the initial window after an idle time.
    pub fn resume(&mut self) {
        self.cwnd = self.cwnd.min(self.initial_window);
    }

    /// What is wrong with the values, if anything is.
    #[inline]
    pub fn fault(&self) -> Option<String> {
        let Window { cwnd, ssthresh, pacing_rate, .. } = *self;
        let is_rate = pacing_rate == 0.0 || (1.0..=f64::MAX).contains(&pacing_rate);
        match () {
            () if (0.0..=f64::MAX).contains(&cwnd) && ssthresh >= 0.0 && is_rate => None,
            () if !(0.0..=f64::MAX).contains(&cwnd) => {
                Some(format!("cwnd must be finite and not negative, not {cwnd}"))
            }
            () if is_rate => Some(format!("ssthresh must be a number that is not negative, not {ssthresh}")),
            () => Some(format!("pacing_rate must be finite and at least 1 bit/s, or 0, not {pacing_rate}")),
        }
    }
}
