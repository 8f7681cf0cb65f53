//! Pacing: segments leave at a rate in bytes on the wire, singly or in bursts of a send quantum.

use super::rules::Pacing;
use crate::units::{Duration, Instant, Rate};

/// When the next segment of a paced sender may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// The end of the last departure at the pacing rate.
    next_send_at: Instant,
    /// When the last burst began.
    burst_at: Instant,
    /// Bytes of payload that may still leave in it.
    burst_left: u64,
    /// The delay of the burst behind the rate, less its compensation.
    late: Duration,
}

impl Pacer {
    /// True if a segment of `len` bytes of payload must not leave yet.
    #[inline]
    pub(crate) fn holds(&self, now: Instant, len: u32) -> bool {
        let is_in_burst = self.burst_at == now && self.burst_left >= u64::from(len);
        self.next_send_at > now && !is_in_burst
    }

    /// When it may leave.
    #[inline]
    pub(crate) fn next_send_at(&self) -> Instant {
        self.next_send_at
    }

    /// A segment of `len` bytes of payload leaves, which takes `gap` at the pacing rate. `quantum` bytes of payload
    /// may leave together. With `catches_up`, a late burst shortens its time by up to half, as in Linux.
    pub(crate) fn on_sent(&mut self, now: Instant, len: u32, gap: Duration, quantum: u64, catches_up: bool) {
        if self.next_send_at <= now {
            self.late = if catches_up { now.since(self.next_send_at) } else { Duration::ZERO };
            (self.next_send_at, self.burst_at, self.burst_left) = (now, now, quantum);
        }
        let caught_up = self.late.min(gap / 2);
        self.late = self.late - caught_up;
        self.next_send_at += gap - caught_up;
        self.burst_left = self.burst_left.saturating_sub(u64::from(len));
    }
}

impl Pacing {
    /// The rate of a window of `cwnd` packets of this wire size, or none before the first RTT measurement.
    pub(crate) fn rate(self, cwnd: f64, ssthresh: f64, packet_bytes: u32, srtt: Duration) -> Option<Rate> {
        let gain = match self {
            Pacing::Off => return None,
            Pacing::Linux if cwnd < ssthresh / 2.0 => 2.0,
            Pacing::Linux => 1.2,
            Pacing::Quic => 1.25,
        };
        let rtt = srtt.as_secs_f64();
        (rtt > 0.0).then(|| Rate::from_bps((gain * cwnd * f64::from(packet_bytes) * 8.0 / rtt) as u64)).flatten()
    }
}

/// The burst size at the rate of a window: a millisecond, as in Linux, but at least two segments.
pub(crate) fn window_quantum(rate: Rate, mss: u32) -> u64 {
    const LARGEST: u64 = 65_536;
    let least = 2 * u64::from(mss);
    (rate.as_bps() / 8 / 1000).clamp(least, LARGEST.max(least))
}
