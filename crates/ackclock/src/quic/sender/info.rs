//! The visible state of a sender.

use super::Sender;
use crate::cc::{Cc, Phase};
use crate::transport::{Rtt, SenderCounters, SenderInfo};
use crate::units::Instant;

impl Sender {
    /// No more than this many packets are ever in flight: a bound for the memory, which no window should reach.
    pub fn set_most_outstanding(&mut self, packets: u32) {
        self.most_outstanding = packets;
    }

    /// The bound on packets in flight.
    pub fn most_outstanding(&self) -> u32 {
        self.most_outstanding
    }

    /// Whether the window would have let more go than that, or the algorithm has a
    /// [`fault`](crate::cc::CongestionControl::fault).
    #[inline]
    pub fn wants_too_much(&self) -> bool {
        self.wants_too_much
    }

    /// An ACK will arrive soon. The sender itself is already in the cache.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.sent.prefetch();
    }

    /// The algorithm.
    pub fn cc(&self) -> &Cc {
        self.cc.cc()
    }

    /// The window in packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd()
    }

    /// The counters so far. Timeouts are probe timeouts.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Bytes acknowledged so far, without a gap.
    pub fn acknowledged(&self) -> u64 {
        self.stream.una
    }

    /// Bytes sent so far, each counted once.
    pub fn sent_once(&self) -> u64 {
        self.stream.next
    }

    /// The number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.sent.next_number()
    }

    /// Packets taken for lost so far.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// The numbers of lost packets whose frames wait to be sent again, in order.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        self.stream.lost()
    }

    /// Packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.sent.in_flight()
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The integral of cwnd over time since the application started, in packets times nanoseconds.
    pub fn window_integral(&mut self, now: Instant) -> f64 {
        self.window_mean.step(now, self.cc.cwnd());
        self.window_mean.integral
    }

    /// The state of the sender. Lost data wait for retransmission, the retransmission timeout is the probe timeout,
    /// and min RTT follows RFC 9002 §5.2.
    pub fn info(&self) -> SenderInfo {
        SenderInfo {
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
            unacked: self.sent.in_flight(),
            sacked: 0,
            lost: self.stream.lost_count() as u32,
            retransmitted: 0,
            state: self.ca_state(),
            backoff: self.pto_count,
            rto: self.pto(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.min_rtt,
            reordering: self.transport.packet_threshold,
            reorderings: 0,
            window_probes: 0,
            timer: self.timers.next(),
        }
    }
}
