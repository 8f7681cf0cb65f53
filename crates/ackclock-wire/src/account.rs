//! The account of a flow at the links: its segments, their outcomes, and the stalls of its hosts.

use std::collections::VecDeque;

use ackclock::link::SojournTimes;
use ackclock::sim::QueueingDelay;
use ackclock::units::{Duration, Instant};

use crate::packet::Segment;

/// A host answers at least every second segment. It has stalled if this many answers are due for long.
const DUE: u32 = 4;
/// A host sends its queued packets within this time after a stall.
const BURST: Duration = Duration::from_millis(1);

/// Counters of a flow since the start, as defined by `FlowMeasures` of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) wire_bytes: u64,
    /// Bytes ever sent, retransmissions not counted.
    pub(crate) sent_once: u64,
    pub(crate) acknowledged: u64,
    pub(crate) retransmits: u64,
    pub(crate) copies: u64,
    pub(crate) lost: u64,
    pub(crate) access_drops: u64,
    pub(crate) corrupted: u64,
    pub(crate) acks_lost: u64,
    pub(crate) acks_corrupted: u64,
    pub(crate) marks: u64,
    /// Bytes on the wire of data that arrived.
    pub(crate) delivered_wire_bytes: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) rtt_count: u64,
    /// Data packets on the path now.
    pub(crate) in_flight: u64,
}

/// Numbers of bytes of a direction from the first one on, beyond 32 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    initial: Option<u32>,
}

impl Numbers {
    /// The stream offset of a sequence number near another offset. Byte 0 is the first.
    fn place(self, number: u32, near: u64) -> Option<u64> {
        let first = self.initial?.wrapping_add(1);
        let step = number.wrapping_sub(first).wrapping_sub(near as u32) as i32;
        near.checked_add_signed(i64::from(step))
    }
}

/// A segment that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    end: u64,
    at: Instant,
    again: bool,
}

/// Packets that came to a host and want an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Unanswered {
    count: u32,
    since: Instant,
}

impl Unanswered {
    fn add(&mut self, now: Instant) {
        if self.count == 0 {
            self.since = now;
        }
        self.count += 1;
    }

    /// The host answers: for how long it did not, if that is a stall, which takes so long at least.
    fn answer(&mut self, now: Instant, least: Duration) -> Option<Duration> {
        let before = std::mem::take(self);
        let gap = now.since(before.since.min(now));
        (before.count >= DUE && gap >= least).then_some(gap)
    }
}

/// A gap of a sender that is a stall if a burst follows.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    gap: Duration,
    until: Instant,
    missing: u32,
}

/// A flow as it is seen at the links.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub(crate) counters: Counters,
    /// Data that arrived, and ACKs, since the window began.
    pub(crate) data_delay: QueueingDelay,
    pub(crate) ack_delay: QueueingDelay,
    pub(crate) data_delays: SojournTimes,
    pub(crate) ack_delays: SojournTimes,
    pub(crate) rtts: SojournTimes,
    numbers: Numbers,
    outstanding: VecDeque<Outstanding>,
    /// Bytes of a transfer, or none if it does not end.
    pub size: Option<u64>,
    /// When the last byte of a transfer was acknowledged.
    pub(crate) finished: Option<Instant>,
    /// Whether its sender has data at any time, so that gaps are stalls.
    pub is_backlogged: bool,
    /// The shortest gap that is a stall.
    pub least_stall: Duration,
    to_sender: Unanswered,
    to_receiver: Unanswered,
    suspect: Option<Suspect>,
    /// Stalls of its hosts.
    pub stalls: u64,
    /// The longest of them.
    pub longest_stall: Duration,
}

impl Account {
    /// Its counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Bytes on the wire of all its packets from the sender.
    pub fn wire_bytes(&self) -> u64 {
        self.counters.wire_bytes
    }

    /// A segment leaves the sender. Whether it is data.
    pub(crate) fn sent(&mut self, now: Instant, segment: &Segment, wire_len: u32) -> bool {
        if segment.syn && self.numbers.initial.is_none() {
            self.numbers.initial = Some(segment.seq);
        }
        self.counters.wire_bytes += u64::from(wire_len);
        if segment.len == 0 || segment.syn {
            return false;
        }
        let counters = &mut self.counters;
        let Some(place) = self.numbers.place(segment.seq, counters.sent_once) else { return false };
        counters.sent += 1;
        counters.in_flight += 1;
        counters.sent_bytes += u64::from(segment.len);
        let (end, again) = (place + u64::from(segment.len), place < counters.sent_once);
        counters.retransmits += u64::from(again);
        if again {
            let first = self.outstanding.partition_point(|segment| segment.end <= place);
            let repeated = self.outstanding.range_mut(first..).take_while(|segment| segment.end <= end);
            repeated.for_each(|segment| segment.again = true);
        }
        if end > counters.sent_once {
            counters.sent_once = end;
            self.outstanding.push_back(Outstanding { end, at: now, again });
        }
        self.note_data(now);
        true
    }

    /// Data leaves the sender: whether that ends a stall.
    fn note_data(&mut self, now: Instant) {
        let due = self.to_sender.count;
        if let Some(gap) = self.to_sender.answer(now, self.least_stall).filter(|_| self.is_backlogged) {
            self.suspect = Some(Suspect { gap, until: now + BURST, missing: due });
        }
        if let Some(mut suspect) = self.suspect.take().filter(|suspect| now <= suspect.until) {
            suspect.missing -= 1;
            if suspect.missing == 0 {
                self.stalled(suspect.gap);
            } else {
                self.suspect = Some(suspect);
            }
        }
    }

    fn stalled(&mut self, gap: Duration) {
        self.stalls += 1;
        self.longest_stall = self.longest_stall.max(gap);
    }

    /// A segment leaves the receiver.
    pub(crate) fn answered(&mut self, now: Instant) {
        if let Some(gap) = self.to_receiver.answer(now, self.least_stall) {
            self.stalled(gap);
        }
    }

    /// Data comes to the receiver.
    pub(crate) fn arrived(&mut self, now: Instant, wire_len: u32, queueing: Duration, is_marked: bool) {
        self.counters.delivered_wire_bytes += u64::from(wire_len);
        self.data_delay.note(queueing);
        self.data_delays.record(queueing);
        self.counters.marks += u64::from(is_marked);
        self.to_receiver.add(now);
    }

    /// A segment comes to the sender.
    pub(crate) fn acknowledged(&mut self, now: Instant, segment: &Segment, queueing: Duration) {
        self.ack_delay.note(queueing);
        self.ack_delays.record(queueing);
        let Some(ack) = self.numbers.place(segment.ack, self.counters.acknowledged) else { return };
        if segment.syn {
            return;
        }
        self.to_sender.add(now);
        // A FIN has a number of its own.
        let ack = ack.min(self.counters.sent_once);
        if ack <= self.counters.acknowledged {
            return;
        }
        self.counters.acknowledged = ack;
        let (mut last, mut is_clean) = (None, true);
        while let Some(segment) = self.outstanding.front().filter(|segment| segment.end <= ack) {
            is_clean &= !segment.again;
            last = Some(segment.at);
            self.outstanding.pop_front();
        }
        // Karn's rule, and none where a hole was filled.
        if let Some(at) = last.filter(|_| is_clean) {
            let rtt = now.since(at.min(now));
            self.counters.rtt_ns += rtt.as_nanos();
            self.counters.rtt_count += 1;
            self.rtts.record(rtt);
        }
        if self.finished.is_none() && self.size.is_some_and(|size| ack >= size) {
            self.finished = Some(now);
        }
    }

    /// The window of measurement begins.
    pub fn begin(&mut self) {
        self.data_delay = QueueingDelay::default();
        self.ack_delay = QueueingDelay::default();
        self.data_delays.clear();
        self.ack_delays.clear();
        self.rtts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn data(seq: u32, len: u32) -> Segment {
        Segment { seq, ack: 0, len, syn: false }
    }

    fn ack(ack: u32) -> Segment {
        Segment { seq: 0, ack, len: 0, syn: false }
    }

    /// An account of a connection whose first byte has the number 0, after a SYN with the largest one.
    fn open() -> Account {
        let mut account = Account {
            is_backlogged: true,
            least_stall: Duration::from_millis(5),
            size: Some(3000),
            ..Account::default()
        };
        assert!(!account.sent(at(0), &Segment { seq: u32::MAX, ack: 0, len: 0, syn: true }, 60));
        account
    }

    #[test]
    fn segments_and_acknowledgements_are_counted() {
        let mut account = open();
        for (millis, seq) in [(1, 0), (2, 1000), (3, 2000)] {
            assert!(account.sent(at(millis), &data(seq, 1000), 1040));
        }
        account.acknowledged(at(11), &ack(1000), Duration::ZERO);
        // The second one is sent again: what acknowledges it measures nothing.
        account.sent(at(12), &data(1000, 1000), 1040);
        account.acknowledged(at(22), &ack(3000), Duration::ZERO);
        let counters = account.counters;
        assert_eq!((counters.sent, counters.sent_bytes, counters.retransmits, counters.sent_once), (4, 4000, 1, 3000));
        assert_eq!((counters.acknowledged, counters.rtt_count, counters.rtt_ns), (3000, 1, 10_000_000));
        assert_eq!((counters.wire_bytes, account.finished), (60 + 4 * 1040, Some(at(22))));
    }

    #[test]
    fn numbers_go_on_beyond_32_bits() {
        let numbers = Numbers { initial: Some(u32::MAX) };
        assert_eq!(numbers.place(5, (1 << 32) - 10), Some((1 << 32) + 5));
        assert_eq!(numbers.place(u32::MAX, (1 << 32) + 5), Some((1 << 32) - 1));
        assert_eq!(numbers.place(u32::MAX - 5, 0), None, "before the first byte");
    }

    #[test]
    fn a_receiver_that_does_not_answer_stalls() {
        let mut account = open();
        for millis in [1, 2, 3, 4] {
            account.arrived(at(millis), 1500, Duration::ZERO, false);
        }
        account.answered(at(8));
        assert_eq!((account.stalls, account.longest_stall), (1, Duration::from_millis(7)));
        // A delayed ACK is none, and neither is a short gap.
        account.arrived(at(10), 1500, Duration::ZERO, false);
        account.answered(at(50));
        for _ in 0..9 {
            account.arrived(at(60), 1500, Duration::ZERO, false);
        }
        account.answered(at(64));
        assert_eq!(account.stalls, 1);
    }

    #[test]
    fn a_sender_stalls_if_a_burst_follows_and_not_if_its_window_is_cut() {
        for (later, stalls) in [(0, 1), (2, 0)] {
            let mut account = open();
            for millis in [1, 2, 3, 4] {
                account.acknowledged(at(millis), &ack(0), Duration::ZERO);
            }
            for index in 0..4 {
                account.sent(at(9 + u64::from(index) * later), &data(index * 10, 10), 50);
            }
            assert_eq!(account.stalls, stalls, "{later} ms between segments");
        }
    }
}
