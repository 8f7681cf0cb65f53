//! PSH, as Linux sets it on the last segment of a TSO packet and of a write.
//!
//! A burst stands for a TSO packet: new segments that leave together. `tcp_tso_autosize` limits it to the payload of
//! a millisecond at the pacing rate. `tcp_cwnd_test` limits it to half of the window. A single segment gets no PSH.
//!
//! A burst waits for the next ACK if that allows a larger one, as `tcp_tso_should_defer` decides.
//!
//! Deviations: segments that are sent again keep PSH in Linux. Here they only get it at the end of a write. The last
//! data of an application never wait.

use super::Sender;
use super::recovery::State;
use crate::transport::Pacing;
use crate::units::{Duration, Instant};

/// Linux's `sk_gso_max_size`, about.
const MOST_BYTES: u64 = 65_536;
/// `tcp_min_tso_segs`.
const LEAST: u64 = 2;
/// `sk_pacing_shift`: the rate in bytes per second, shifted by this, is about the bytes of a millisecond.
const MILLISECOND_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: the shortest RTT in microseconds, shifted by this, shifts [`MOST_BYTES`].
const RTT_SHIFT: u32 = 9;

/// `tcp_tso_should_defer` waits only if the last segment left at most this long ago.
const RECENT: Duration = Duration::from_millis(1);
/// `tcp_tso_should_defer` waits if the ACK of the oldest segment is due within this time, or half a round trip.
const SOON: Duration = Duration::from_millis(1);
/// `tcp_tso_win_divisor`: this part of the window never waits.
const WINDOW_DIVISOR: i64 = 3;

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

    /// Whether new data wait for the next ACK, although the window has room.
    pub(super) fn defers(&self, now: Instant) -> bool {
        if !self.defers || self.pushed.segments > 0 || self.state != State::Open {
            return false;
        }
        let (window, room) = (self.window(), self.window() - self.in_flight_for_window());
        if room * WINDOW_DIVISOR >= window {
            return false;
        }
        let unsent = self.written.map_or(u64::MAX, |written| written - self.snd_nxt);
        let has_more = unsent > room as u64 * u64::from(self.transport.mss);
        let is_recent = now.since(self.last_sent_at.min(now)) <= RECENT;
        let srtt = self.rtt.srtt();
        let soon = (srtt / 2).min(SOON);
        let comes_soon = self.board.front().is_some_and(|oldest| oldest.sent_at + srtt <= now + soon);
        has_more && is_recent && comes_soon && room < i64::from(self.full_burst())
    }

    /// The most segments of a burst that begins now.
    fn largest_burst(&self) -> u32 {
        let half = (self.cwnd() / 2.0).max(1.0) as u32;
        self.full_burst().min(half)
    }

    /// The segments of a burst that is not limited by the window.
    fn full_burst(&self) -> u32 {
        let mss = self.transport.mss;
        let rate = self
            .pacing_rate()
            .or_else(|| Pacing::Linux.rate(self.cwnd(), self.cc.ssthresh(), mss, self.rtt.srtt()))
            .map_or(u64::MAX, |rate| rate.as_bps() / 8);
        let burst = (rate >> MILLISECOND_SHIFT).saturating_add(bonus(self.rtt.min())).min(MOST_BYTES);
        (burst / u64::from(mss)).max(LEAST) as u32
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
