//! Automatic growth of Linux's receive window, during which the receiver acknowledges each segment.
//!
//! `tcp_grow_window` raises the advertised window towards its limit by two segments per data segment. Each time it
//! requests an immediate ACK. Dynamic right-sizing (`tcp_rcv_space_adjust` of Linux 6.12) raises the limit each round-trip
//! time. Only the ACKs matter here: the window never limits the sender.

use crate::transport::Transport;
use crate::units::{Duration, Instant};

/// `tcp_rmem`: bytes of memory of a new connection.
pub const FIRST_RECEIVE_MEMORY: u64 = 131_072;
/// The most memory, far above Linux's default, because the window never limits the sender.
pub const MOST_RECEIVE_MEMORY: u64 = 256 << 20;
/// Before the first segment, Linux assumes that half of the memory holds payload.
const FIRST_SHARE: (u64, u64) = (1, 2);
/// The payload of 1448 bytes in a buffer of 2304 bytes, in Linux's units of 1/256.
const PAYLOAD_SHARE: (u64, u64) = (160, 256);
/// Before the first sample, no round ends.
const UNKNOWN: Duration = Duration::from_nanos(u64::MAX);
/// Linux ignores shorter segments.
const LEAST_SEGMENT: u64 = 128;
/// The option of a timestamp, which the announced MSS includes.
const TIMESTAMP: u64 = 12;
/// Segments that right-sizing adds as a reserve for losses.
const CUSHION: u64 = 16;

/// The window of one connection, in bytes.
#[derive(Clone, Debug)]
pub(super) struct WindowGrowth {
    mss: u64,
    window: u64,
    limit: u64,
    /// Bytes of the most productive round so far.
    most_in_round: u64,
    round_began: Instant,
    /// RCV.NXT when the round began.
    round_next: u64,
    /// The propagation delay of both directions.
    base_rtt: Duration,
    least_delay: Duration,
    /// The timestamp of the last RTT sample.
    sampled: Option<Instant>,
    rtt: Duration,
}

impl WindowGrowth {
    /// The state of a new connection whose path has this base RTT.
    pub(super) fn new(transport: &Transport, base_rtt: Duration) -> Self {
        let mss = u64::from(transport.mss);
        // `tcp_init_buffer_space` reserves a segment.
        let window = share(FIRST_RECEIVE_MEMORY, FIRST_SHARE) - (mss + TIMESTAMP);
        WindowGrowth {
            mss,
            window,
            limit: share(FIRST_RECEIVE_MEMORY, PAYLOAD_SHARE),
            most_in_round: window.min(10 * mss).max(mss),
            round_began: Instant::ZERO,
            round_next: 0,
            base_rtt,
            least_delay: UNKNOWN,
            sampled: None,
            rtt: UNKNOWN,
        }
    }

    /// A segment arrives. Returns true if the window grows.
    #[inline]
    pub(super) fn grows(&mut self, len: u64) -> bool {
        if self.window >= self.limit || len < LEAST_SEGMENT {
            return false;
        }
        self.window = self.limit.min(self.window + 2 * self.mss);
        true
    }

    /// The application has read everything below `next`. The segment that arrived left the sender at `sent_at`.
    #[inline]
    pub(super) fn on_read(&mut self, now: Instant, sent_at: Instant, next: u64) {
        if self.sampled != Some(sent_at) {
            self.on_delay(now, sent_at);
        }
        if now.since(self.round_began) < self.rtt {
            return;
        }
        let bytes = next - self.round_next;
        if bytes > self.most_in_round {
            self.raise_limit(bytes);
        }
        (self.round_began, self.round_next) = (now, next);
    }

    /// Linux smooths the RTT by 7/8, and takes a smaller sample at once.
    fn on_delay(&mut self, now: Instant, sent_at: Instant) {
        if self.sampled.is_none() {
            self.round_began = now;
        }
        let delay = now.since(sent_at);
        self.least_delay = self.least_delay.min(delay);
        let rtt = self.base_rtt + (delay - self.least_delay);
        self.rtt = if rtt < self.rtt { rtt } else { self.rtt - self.rtt / 8 + rtt / 8 };
        self.sampled = Some(sent_at);
    }

    /// The limit applies one round later, so it is twice the bytes of the round. It is higher if the sender doubles its
    /// rate.
    fn raise_limit(&mut self, bytes: u64) {
        let steady = 2 * bytes + CUSHION * self.mss;
        let growth = steady.saturating_mul(bytes - self.most_in_round) / self.most_in_round;
        let window = (2 * growth).saturating_add(steady);
        self.most_in_round = bytes;
        self.limit = self.limit.max(window.min(share(MOST_RECEIVE_MEMORY, PAYLOAD_SHARE)));
    }
}

fn share(bytes: u64, (payload, memory): (u64, u64)) -> u64 {
    bytes * payload / memory
}
