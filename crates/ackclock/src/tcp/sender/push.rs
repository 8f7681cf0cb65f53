//! PSH, as Linux sets it on the last segment of a TSO packet and of a write.
//!
//! A burst stands for a TSO packet: new segments that leave together. `tcp_tso_autosize` limits it to the payload of
//! a millisecond at the pacing rate. `tcp_cwnd_test` limits it to half of the window. A single segment gets no PSH.
//!
//! Deviations: Linux also waits for the next ACK if that allows a larger burst (`tcp_tso_should_defer`). Segments that
//! are sent again keep PSH in Linux. Here they only get it at the end of a write.

use super::Sender;
use crate::tcp::transport::Pacing;
use crate::units::{Duration, Instant};

/// Linux's `sk_gso_max_size`, about.
const MOST_BYTES: u64 = 65_536;
/// `tcp_min_tso_segs`.
const LEAST: u64 = 2;
/// `sk_pacing_shift`: the rate in bytes per second, shifted by this, is about the bytes of a millisecond.
const MILLISECOND_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: the shortest RTT in microseconds, shifted by this, shifts [`MOST_BYTES`].
const RTT_SHIFT: u32 = 9;

/// The present burst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Its segments so far.
    segments: u32,
    /// The most that it may have, set at its first segment.
    most: u32,
}

impl Sender {
    /// A segment of new data has left. Returns true if it gets PSH.
    pub(super) fn ends_burst(&mut self, now: Instant) -> bool {
        if self.pushed.segments == 0 {
            self.pushed.most = self.largest_burst();
        }
        self.pushed.segments += 1;
        let Burst { segments, most } = self.pushed;
        if segments < most && self.continues(now) {
            return false;
        }
        self.pushed.segments = 0;
        segments > 1 || self.written == Some(self.snd_nxt)
    }

    /// The most segments of a burst that begins now.
    fn largest_burst(&self) -> u32 {
        let mss = self.transport.mss;
        let rate = self
            .pacing_rate()
            .or_else(|| Pacing::Linux.rate(self.cwnd(), self.cc.ssthresh(), mss, self.rtt.srtt()))
            .map_or(u64::MAX, |rate| rate.as_bps() / 8);
        let burst = (rate >> MILLISECOND_SHIFT).saturating_add(bonus(self.rtt.min())).min(MOST_BYTES);
        let half = (self.cwnd() / 2.0).max(1.0) as u64;
        (burst / u64::from(mss)).max(LEAST).min(half) as u32
    }

    /// More new data may leave now.
    fn continues(&self, now: Instant) -> bool {
        self.has_unsent()
            && self.in_flight_for_window() < self.window()
            && self.next_len().is_some_and(|len| self.pacing_rate().is_none() || !self.pacer.holds(now, len))
    }
}

/// The bytes by which a short path enlarges a burst.
fn bonus(min_rtt: Duration) -> u64 {
    let halvings = (min_rtt.as_nanos() / 1000) >> RTT_SHIFT;
    MOST_BYTES.checked_shr(halvings.min(u64::from(u32::MAX)) as u32).unwrap_or(0)
}
