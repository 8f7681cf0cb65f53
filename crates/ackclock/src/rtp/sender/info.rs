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
    pub fn wants_too_much(&self) -> bool {
        self.wants_too_much
    }

    pub(crate) fn prefetch_lists(&self) {
        self.sent.prefetch();
    }

    /// The algorithm.
    pub fn cc(&self) -> &Cc {
        self.cc.cc()
    }

    /// The window in full packets.
    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd()
    }

    /// The counters so far. Timeouts are times without feedback.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Round-trip times, without the time for which the receiver held the report.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Bytes sent so far that have arrived or are lost.
    pub fn acknowledged(&self) -> u64 {
        self.settled
    }

    /// Bytes sent so far.
    pub fn sent_once(&self) -> u64 {
        self.next
    }

    /// The number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.sent.next_number()
    }

    /// Packets taken for lost so far.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Nothing waits to be sent again.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        std::iter::empty()
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

    /// The state of the sender. The retransmission timeout is the time without feedback after which all packets in
    /// flight are lost.
    pub fn info(&self) -> SenderInfo {
        SenderInfo {
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
            unacked: self.sent.in_flight(),
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            state: self.ca_state(),
            backoff: self.backoff,
            rto: self.silence(),
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
