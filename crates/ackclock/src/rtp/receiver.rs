//! The receiver: which packets have arrived when, and when it reports them.

use std::collections::VecDeque;

use super::feedback::{self, Arrival};
use crate::ecn::Ecn;
use crate::quic::{AckPacket, DataPacket};
use crate::transport::{RangeSet, Transport};
use crate::units::{Duration, Instant};

/// Ranges of packet numbers that a receiver remembers to recognise duplicates.
const MOST_RANGES: usize = 256;
/// Header of RTP (RFC 3550 §5.1), which the header of each packet contains and feedback does not have.
const RTP_HEADER_LEN: u32 = 12;

/// One end of a session that only receives.
///
/// Feedback is due after more than `ack_eliciting_threshold` packets, and after the last packet of a frame. It is due
/// after `delayed_ack` at the latest. The rules follow draft-ietf-ccwg-rfc8298bis-screamv2, "Receiver Requirements on
/// Feedback Intensity".
/// Each feedback packet also repeats the reports of the previous one, so a single lost feedback packet has no effect.
#[derive(Clone, Debug)]
pub struct Receiver {
    longest_delay: Option<Duration>,
    threshold: u32,
    received: RangeSet,
    /// Smaller numbers are considered old.
    oldest: u64,
    /// Arrivals that the next feedback reports, in order of arrival.
    arrivals: VecDeque<Arrival>,
    /// The number of them that are reported for the second time.
    repeated: usize,
    largest: Option<(u64, Instant)>,
    deadline: Option<Instant>,
    next_number: u64,
    /// The last feedback packet.
    list: Vec<(u64, u64)>,
    /// Payload bytes, duplicates not counted.
    delivered: u64,
    ce_count: u32,
}

impl Receiver {
    /// A receiver before the first packet.
    pub fn new(transport: &Transport) -> Self {
        Receiver {
            longest_delay: transport.delayed_ack,
            threshold: transport.ack_eliciting_threshold,
            received: RangeSet::default(),
            oldest: 0,
            arrivals: VecDeque::new(),
            repeated: 0,
            largest: None,
            deadline: None,
            next_number: 0,
            list: Vec::new(),
            delivered: 0,
            ce_count: 0,
        }
    }

    /// Payload bytes received so far, regardless of gaps.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets that came with a mark.
    pub fn ce_count(&self) -> u32 {
        self.ce_count
    }

    /// The last feedback packet: its time, and an entry for each report.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.list
    }

    pub(crate) fn prefetch_lists(&self) {
        self.received.prefetch();
    }

    /// A packet arrives. Returns false if it came before.
    pub fn is_new(&self, packet: &DataPacket) -> bool {
        packet.number >= self.oldest && self.received.containing(packet.number).is_none()
    }

    /// A packet arrives. Returns the feedback to send at once, if it is due.
    pub fn on_data(&mut self, now: Instant, packet: &DataPacket, ecn: Ecn) -> Option<AckPacket> {
        if !self.is_new(packet) {
            return None;
        }
        let number = packet.number;
        self.received.insert(number, number + 1, |_, _, _| {});
        self.received.keep_last(MOST_RANGES);
        if self.received.len() == MOST_RANGES {
            self.oldest = self.received.iter().next().map_or(0, |(start, _)| start);
        }
        self.delivered += u64::from(packet.len);
        self.ce_count += u32::from(ecn == Ecn::Ce);
        if self.largest.is_none_or(|(largest, _)| number > largest) {
            self.largest = Some((number, now));
        }
        self.arrivals.push_back(Arrival { number, at: now, ecn });
        let is_due = packet.is_marker || self.arrivals.len() - self.repeated > self.threshold as usize;
        match self.longest_delay {
            Some(delay) if !is_due => {
                self.deadline.get_or_insert(now + delay);
                None
            }
            _ => self.report(now),
        }
    }

    /// When feedback is due.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The feedback, if it is due by `now`.
    pub fn on_deadline(&mut self, now: Instant) -> Option<AckPacket> {
        self.deadline.filter(|deadline| *deadline <= now)?;
        self.report(now)
    }

    fn report(&mut self, now: Instant) -> Option<AckPacket> {
        self.deadline = None;
        let numbers = self.arrivals.iter().map(|arrival| arrival.number);
        let (first, last) = (numbers.clone().min()?, numbers.max()?);
        let (largest, came_at) = self.largest?;
        feedback::write(now, self.arrivals.iter().copied(), &mut self.list);
        self.list[1..].sort_unstable_by_key(|(number, _)| *number);
        self.arrivals.drain(..self.repeated);
        self.repeated = self.arrivals.len();
        let number = self.next_number;
        self.next_number += 1;
        let more_len = feedback::len(first, last).saturating_sub(RTP_HEADER_LEN);
        Some(AckPacket { connection: 0, number, largest, delay: now.since(came_at), ecn: None, more_len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn receiver() -> Receiver {
        let delayed_ack = Some(Duration::from_millis(40));
        Receiver::new(&Transport { delayed_ack, ack_eliciting_threshold: 3, ..Transport::default() })
    }

    fn packet(number: u64, is_marker: bool) -> DataPacket {
        DataPacket { connection: 0, number, offset: 0, len: 1000, ect: true, acks_below: 0, is_marker }
    }

    fn numbers(receiver: &Receiver) -> Vec<u64> {
        receiver.ranges()[1..].iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn feedback_is_due_by_number_by_frame_and_by_time() {
        let mut it = receiver();
        let due = |it: &mut Receiver, at, number, is_marker| {
            it.on_data(ms(at), &packet(number, is_marker), Ecn::NotEct).is_some()
        };
        assert_eq!([0, 1, 2, 3].map(|number| due(&mut it, number, number, false)), [false, false, false, true]);
        assert!(due(&mut it, 4, 4, true));
        assert!(!due(&mut it, 10, 5, false));
        assert_eq!((it.next_deadline(), it.on_deadline(ms(49)).is_none()), (Some(ms(50)), true));
        let feedback = it.on_deadline(ms(50)).unwrap();
        assert_eq!((feedback.number, feedback.largest, feedback.delay), (2, 5, Duration::from_millis(40)));
        assert_eq!((it.next_deadline(), it.on_deadline(ms(60))), (None, None));
    }

    #[test]
    fn each_report_is_sent_twice_and_a_duplicate_is_not_counted() {
        let mut it = receiver();
        let numbers_and_reports = [(0, vec![0]), (2, vec![0, 2]), (1, vec![1, 2]), (4, vec![1, 4])];
        for (at, (number, reported)) in numbers_and_reports.into_iter().enumerate() {
            let feedback = it.on_data(ms(at as u64), &packet(number, true), Ecn::Ce).unwrap();
            assert_eq!((numbers(&it), feedback.number), (reported, it.next_number - 1));
        }
        assert_eq!(it.on_data(ms(9), &packet(2, true), Ecn::Ce), None);
        assert_eq!((it.delivered(), it.ce_count()), (4000, 4));
        // Reports on 1 to 4 take 20 + 8 bytes, of which 12 replace the header of RTP.
        let feedback = it.on_data(ms(10), &packet(5, true), Ecn::NotEct).unwrap();
        assert_eq!((numbers(&it), feedback.more_len), (vec![4, 5], 20 + 4 - 12));
    }
}
