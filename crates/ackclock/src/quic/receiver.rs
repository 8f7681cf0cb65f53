//! The receiver: numbers of packets received, delayed ACKs, reassembly of the stream, ECN counts.
//!
//! Reference: RFC 9000 §13.2 and §13.4, draft-ietf-quic-ack-frequency §6.

use std::collections::VecDeque;

use super::packet::{AckPacket, DataPacket, EcnCounts, range_len};
use crate::ecn::Ecn;
use crate::transport::{EcnMode, RangeSet, Transport};
use crate::units::{Duration, Instant};

/// Ranges of packet numbers that a receiver remembers, and that an ACK frame may have. RFC 9000 §13.2.3: "A receiver (...) MAY
/// discard unacknowledged ACK Ranges to limit the size of sent ACK frames".
pub const MAX_RANGES: usize = 256;

/// One end of a connection that only receives.
#[derive(Clone, Debug)]
pub struct Receiver {
    max_ack_delay: Option<Duration>,
    ack_eliciting_threshold: u32,
    reordering_threshold: u64,
    counts_ecn: bool,
    /// Bytes that the further ranges of an ACK frame may take.
    room: u32,
    /// Numbers of arrived packets. Smaller numbers are considered old.
    received: RangeSet,
    oldest: u64,
    /// Numbers that each ACK acknowledges again.
    reported: RangeSet,
    /// The largest number, and when it came.
    largest: Option<(u64, Instant)>,
    /// The largest number of the last ACK.
    last_acked: Option<u64>,
    unacknowledged: u32,
    ack_deadline: Option<Instant>,
    next_number: u64,
    /// Numbers of ACKs with several ranges, and the largest number that each acknowledges.
    history: VecDeque<(u64, u64)>,
    /// The ranges of the last ACK, the newest first.
    ranges: Vec<(u64, u64)>,
    /// The next byte expected.
    next: u64,
    /// Data received above it.
    out_of_order: RangeSet,
    counts: EcnCounts,
}

impl Receiver {
    /// A receiver that expects byte 0.
    pub fn new(transport: &Transport) -> Self {
        Receiver {
            max_ack_delay: transport.delayed_ack,
            ack_eliciting_threshold: transport.ack_eliciting_threshold,
            reordering_threshold: u64::from(transport.reordering_threshold),
            counts_ecn: transport.ecn == EcnMode::Counts,
            room: transport.mss,
            received: RangeSet::default(),
            oldest: 0,
            reported: RangeSet::default(),
            largest: None,
            last_acked: None,
            unacknowledged: 0,
            ack_deadline: None,
            next_number: 0,
            history: VecDeque::new(),
            ranges: Vec::new(),
            next: 0,
            out_of_order: RangeSet::default(),
            counts: EcnCounts::default(),
        }
    }

    /// Data will arrive soon. The receiver itself is already in the cache.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.out_of_order.prefetch();
    }

    /// Bytes received in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Data packets that came with a mark.
    pub fn ce_count(&self) -> u32 {
        self.counts.ce
    }

    /// The ranges `start .. end` of packet numbers of the last ACK, the newest first.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// A packet arrives. Returns the ACK to send at once, if one is due.
    pub fn on_data(&mut self, now: Instant, packet: &DataPacket, ecn: Ecn) -> Option<AckPacket> {
        self.forget_acknowledged(packet.acks_below);
        let number = packet.number;
        // RFC 9000 §12.3: "A receiver MUST discard a newly unprotected packet unless it is certain that it has not processed
        // another packet with the same packet number from the same packet number space."
        if number < self.oldest || self.received.containing(number).is_some() {
            return None;
        }
        let ce = ecn == Ecn::Ce;
        self.counts.ce += u32::from(ce);
        self.counts.ect0 += u32::from(ecn == Ecn::Ect0);
        self.counts.ect1 += u32::from(ecn == Ecn::Ect1);
        let shows_reordering = self.note(now, number);
        self.reassemble(packet);
        self.unacknowledged += 1;
        // RFC 9000 §13.2.1: "packets marked with the ECN Congestion Experienced (CE) codepoint in the IP header SHOULD be
        // acknowledged immediately".
        let is_due = ce || shows_reordering || self.unacknowledged > self.ack_eliciting_threshold;
        match self.max_ack_delay {
            Some(delay) if !is_due => {
                self.ack_deadline.get_or_insert(now + delay);
                None
            }
            _ => Some(self.acknowledge(now)),
        }
    }

    /// When a delayed ACK is due.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.ack_deadline
    }

    /// The delayed ACK, if it is due by `now`.
    pub fn on_deadline(&mut self, now: Instant) -> Option<AckPacket> {
        self.ack_deadline.filter(|deadline| *deadline <= now)?;
        Some(self.acknowledge(now))
    }

    /// Records a new packet number. Returns true if it shows reordering that is acknowledged at once.
    fn note(&mut self, now: Instant, number: u64) -> bool {
        for set in [&mut self.received, &mut self.reported] {
            set.insert(number, number + 1, |_, _, _| {});
            set.keep_last(MAX_RANGES);
        }
        if self.received.len() == MAX_RANGES {
            self.oldest = self.received.iter().next().map_or(0, |(start, _)| start);
        }
        let before = self.largest.map(|(largest, _)| largest);
        if before.is_none_or(|largest| number > largest) {
            self.largest = Some((number, now));
        }
        match self.reordering_threshold {
            0 => false,
            // RFC 9000 §13.2.1: "when the received packet has a packet number less than another ack-eliciting packet that has
            // been received, or when the packet has a packet number larger than the highest-numbered ack-eliciting packet that
            // has been received and there are missing packets between that packet and this packet."
            1 => number != before.map_or(0, |largest| largest + 1),
            threshold => self.exceeds(threshold),
        }
    }

    /// draft-ietf-quic-ack-frequency §6.2: a gap makes an ACK due. It reaches from the smallest unreported missing
    /// packet to the largest unacknowledged one, and is at least the Reordering Threshold.
    fn exceeds(&self, threshold: u64) -> bool {
        let Some((largest, _)) = self.largest else { return false };
        let unreported = self.last_acked.map_or(0, |acked| (acked + 1).saturating_sub(threshold)).max(self.oldest);
        let missing = self.received.containing(unreported).map_or(unreported, |(_, end)| end);
        largest.saturating_sub(missing) >= threshold
    }

    fn reassemble(&mut self, packet: &DataPacket) {
        let (start, end) = (packet.offset, packet.offset + u64::from(packet.len));
        if end <= self.next {
            return;
        }
        if start > self.next {
            self.out_of_order.insert(start, end, |_, _, _| {});
            return;
        }
        self.next = self.out_of_order.containing(end).map_or(end, |(_, filled)| filled);
        self.out_of_order.remove_below(self.next);
    }

    /// RFC 9000 §13.2.4: an ACK was acknowledged. The receiver no longer reports packets up to its largest acknowledged
    /// one.
    fn forget_acknowledged(&mut self, below: u64) {
        while let Some((_, largest)) = self.history.front().filter(|(number, _)| *number < below).copied() {
            self.history.pop_front();
            self.reported.remove_below(largest + 1);
        }
    }

    /// The acknowledgement to send now. It ends any delay.
    fn acknowledge(&mut self, now: Instant) -> AckPacket {
        self.unacknowledged = 0;
        self.ack_deadline = None;
        let number = self.next_number;
        self.next_number += 1;
        let ecn = self.counts_ecn.then_some(self.counts);
        let mut more_len = ecn.map_or(0, EcnCounts::encoded_len);
        self.ranges.clear();
        for range in self.reported.iter().rev() {
            if let Some((above, _)) = self.ranges.last() {
                let len = range_len(*above, range);
                // RFC 9000 §13.2.3: "A receiver MUST (...) ensure that an ACK frame fits into one packet".
                if more_len + len > self.room {
                    break;
                }
                more_len += len;
            }
            self.ranges.push(range);
        }
        let (largest, came_at) = self.largest.expect("invariant: an ACK follows a packet");
        // What was acknowledged before may be all that there is.
        let acked = self.ranges.first().map_or(largest, |(_, end)| end - 1);
        self.last_acked = Some(acked);
        if self.ranges.len() > 1 {
            self.history.push_back((number, acked));
        }
        AckPacket { connection: 0, number, largest: acked, delay: now.since(came_at), ecn, more_len }
    }
}

#[cfg(test)]
mod tests;
