//! Compression of ACKs while data is missing, as in `__tcp_ack_snd_check` of Linux.

use crate::units::Duration;

/// ACKs that leave at once after the cumulative acknowledgement has advanced.
const AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr`: segments that wait for one ACK.
const MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns`.
const LONGEST: Duration = Duration::from_millis(1);
/// The delay is at most this part of the RTT.
const PART_OF_RTT: u64 = 20;

/// The ACKs since the cumulative acknowledgement advanced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compression {
    mss: u64,
    delay: Duration,
    /// RCV.NXT at the last segment.
    next: u64,
    sent_at_once: u32,
    /// Segments since the last ACK.
    waiting: u32,
}

impl Compression {
    /// The state of a new connection whose path has this base RTT.
    pub(super) fn new(mss: u32, base_rtt: Duration) -> Self {
        let delay = LONGEST.min(base_rtt / PART_OF_RTT);
        Compression { mss: mss.into(), delay, next: 0, sent_at_once: 0, waiting: 0 }
    }

    /// A segment arrives while data is missing. `next` is RCV.NXT, which has advanced by `advance` bytes since the last
    /// ACK. `waits` is true if an ACK waits already. Returns how long this one waits, or none if it leaves at once.
    pub(super) fn delay(&mut self, next: u64, advance: u64, waits: bool) -> Option<Duration> {
        if self.next != next {
            (self.next, self.sent_at_once) = (next, 0);
        }
        if !waits {
            self.waiting = 0;
        }
        if advance > self.mss || self.waiting >= MOST {
            return None;
        }
        if self.sent_at_once < AT_ONCE {
            self.sent_at_once += 1;
            return None;
        }
        self.waiting += 1;
        Some(self.delay)
    }
}
