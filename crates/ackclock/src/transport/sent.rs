//! The sent packets, by their numbers, and their outcomes (RFC 9002 §A.1, §A.10).
//!
//! A number is a place in a queue, so packets need no search. An ACK is examined only for its new numbers.

use std::collections::VecDeque;

use super::delivery::{Delivery, LostTransmission};
use super::ranges::RangeSet;
use crate::cc::RateSample;
use crate::prefetch::prefetch;
use crate::units::{Duration, Instant};

/// Bytes that a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// First byte.
    pub offset: u64,
    /// How many.
    pub len: u32,
    /// True for those sent before.
    pub again: bool,
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    Acknowledged,
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// When.
    pub sent_at: Instant,
    /// Its frame.
    pub frame: Frame,
    /// Whether it was sent as ECT(0).
    pub ect: bool,
    fate: Fate,
}

/// The newly acknowledged packets of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewlyAcked {
    /// Packets.
    pub packets: u32,
    /// Bytes of their frames.
    pub bytes: u64,
    /// Bytes of frames in packets that may let the window grow.
    pub growing_bytes: u64,
    /// Packets sent as ECT(0).
    pub ect: u32,
    /// Packets that had been taken for lost since `late_from`.
    pub late: u32,
    /// A number above all packets that had been considered lost.
    pub late_end: u64,
    /// The largest number, and when that was sent.
    pub largest: Option<(u64, Instant)>,
    /// The same of those that were in flight, and their bytes.
    pub largest_in_flight: Option<(u64, Instant)>,
    pub bytes_in_flight: u64,
}

/// Numbers from which on an acknowledged packet counts.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// For the growth of the window.
    pub growing: u64,
    /// For the proof that losses were spurious.
    pub late: u64,
}

/// The decision about a packet, in the order of numbers.
#[derive(Clone, Copy, Debug)]
pub enum Decided {
    /// It was acknowledged.
    Acknowledged,
    /// It is lost.
    Lost(u64, SentPacket),
}

/// All packets that an ACK may still report.
#[derive(Clone, Debug, Default)]
pub struct SentPackets {
    packets: VecDeque<SentPacket>,
    /// The number of the first one.
    first: u64,
    /// The packets below this number are decided to be lost or delivered.
    undecided: u64,
    in_flight: u32,
    bytes_in_flight: u64,
    acknowledged: RangeSet,
    largest_acked: Option<u64>,
    delivery: Option<Box<Delivery>>,
}

impl SentPackets {
    /// None, which keep the state of delivery or do not.
    pub fn new(keeps_delivery: bool) -> Self {
        SentPackets { delivery: keeps_delivery.then(Box::default), ..SentPackets::default() }
    }

    /// Keeps the state of delivery from now on, or no longer.
    pub fn keep_delivery(&mut self, now: Instant, keeps: bool) {
        if keeps != self.delivery.is_some() {
            let sent_at = self.packets.iter().map(|packet| packet.sent_at);
            self.delivery = keeps.then(|| Box::new(Delivery::amid(now, sent_at, self.bytes_in_flight)));
        }
    }

    /// The number of the next packet.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Bytes of their frames.
    #[inline]
    pub fn bytes_in_flight(&self) -> u64 {
        self.bytes_in_flight
    }

    /// The largest number acknowledged.
    pub fn largest_acked(&self) -> Option<u64> {
        self.largest_acked
    }

    /// The first packet whose loss or delivery is undecided.
    pub fn undecided(&self) -> u64 {
        self.undecided
    }

    /// When this packet was sent, if it has been decided that it is lost or acknowledged.
    pub fn decided_sent_at(&self, number: u64) -> Option<Instant> {
        (number < self.undecided).then(|| self.packets[(number - self.first) as usize].sent_at)
    }

    /// Whether a packet above an undecided one has been acknowledged.
    pub fn has_gap(&self) -> bool {
        self.largest_acked.is_some_and(|largest| self.undecided < largest)
    }

    /// The first packet will be needed soon.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(front) = self.packets.front() {
            prefetch(front);
        }
    }

    /// A packet leaves. Returns its number.
    #[inline]
    pub fn push(&mut self, now: Instant, frame: Frame, ect: bool) -> u64 {
        let number = self.next_number();
        let idle = self.in_flight == 0;
        self.packets.push_back(SentPacket { sent_at: now, frame, ect, fate: Fate::InFlight });
        self.in_flight += 1;
        self.bytes_in_flight += u64::from(frame.len);
        if let Some(delivery) = &mut self.delivery {
            delivery.on_sent(now, idle, self.bytes_in_flight);
        }
        number
    }

    /// Processes a range of an ACK. `newly` has the earlier ranges, and `on_acked` gets the newly acknowledged packets with
    /// their numbers.
    pub fn acknowledge(
        &mut self,
        (start, end): (u64, u64),
        from: Counting,
        newly: &mut NewlyAcked,
        mut on_acked: impl FnMut(u64, &SentPacket),
    ) {
        let (next, before) = (self.next_number(), newly.largest);
        let SentPackets { packets, first, in_flight, bytes_in_flight, acknowledged, .. } = self;
        acknowledged.insert(start.max(*first), end.min(next), |new_start, new_end, _| {
            for number in new_start..new_end {
                let packet = &mut packets[(number - *first) as usize];
                let len = u64::from(packet.frame.len);
                match packet.fate {
                    Fate::InFlight => {
                        *in_flight -= 1;
                        *bytes_in_flight -= len;
                        newly.bytes_in_flight += len;
                        let largest = newly.largest_in_flight;
                        if largest.is_none_or(|(largest, _)| number > largest) {
                            newly.largest_in_flight = Some((number, packet.sent_at));
                        }
                    }
                    Fate::Lost => {
                        newly.late += u32::from(number >= from.late);
                        newly.late_end = newly.late_end.max(number + 1);
                    }
                    Fate::Acknowledged => unreachable!("invariant: a number is acknowledged once"),
                }
                packet.fate = Fate::Acknowledged;
                newly.packets += 1;
                newly.bytes += len;
                newly.growing_bytes += if number >= from.growing { len } else { 0 };
                newly.ect += u32::from(packet.ect);
                if newly.largest.is_none_or(|(largest, _)| number > largest) {
                    newly.largest = Some((number, packet.sent_at));
                }
                on_acked(number, packet);
            }
        });
        if let Some((largest, _)) = newly.largest.filter(|largest| before != Some(*largest)) {
            self.largest_acked = self.largest_acked.max(Some(largest));
            if let Some(delivery) = &mut self.delivery {
                delivery.note_newest((largest - self.first) as usize);
            }
        }
    }

    /// Decides about the packets below the largest acknowledged one. Returns the time of the next loss. RFC 9002 §6.1
    /// declares a packet lost by its distance (kPacketThreshold) or by its age.
    pub fn detect_lost(
        &mut self,
        now: Instant,
        loss_delay: Duration,
        packet_threshold: u64,
        mut on_decided: impl FnMut(Decided),
    ) -> Option<Instant> {
        let largest = self.largest_acked?;
        while self.undecided <= largest {
            let position = (self.undecided - self.first) as usize;
            let packet = &mut self.packets[position];
            if packet.fate == Fate::InFlight {
                let loss_time = packet.sent_at + loss_delay;
                if loss_time > now && largest < self.undecided + packet_threshold {
                    return Some(loss_time);
                }
                packet.fate = Fate::Lost;
                let Frame { len, again, .. } = packet.frame;
                self.in_flight -= 1;
                self.bytes_in_flight -= u64::from(len);
                on_decided(Decided::Lost(self.undecided, *packet));
                if let Some(delivery) = &mut self.delivery {
                    delivery.on_lost(position, len, again);
                }
            } else {
                on_decided(Decided::Acknowledged);
            }
            self.undecided += 1;
        }
        None
    }

    /// Considers all packets in flight lost. Returns their number.
    pub fn lose_all(&mut self) -> u32 {
        let lost = self.in_flight;
        for (position, packet) in self.packets.iter_mut().enumerate() {
            if packet.fate == Fate::InFlight {
                packet.fate = Fate::Lost;
                if let Some(delivery) = &mut self.delivery {
                    delivery.on_lost(position, packet.frame.len, packet.frame.again);
                }
            }
        }
        (self.in_flight, self.bytes_in_flight) = (0, 0);
        self.undecided = self.next_number();
        lost
    }

    /// The first packet in flight from this number on whose frame is of interest.
    pub fn find_in_flight(&self, from: u64, wanted: impl Fn(&Frame) -> bool) -> Option<(u64, Frame)> {
        let from = from.max(self.undecided);
        let packets = (from..).zip(self.packets.iter().skip((from - self.first) as usize));
        packets
            .filter(|(_, packet)| packet.fate == Fate::InFlight)
            .map(|(number, packet)| (number, packet.frame))
            .find(|(_, frame)| wanted(frame))
    }

    /// Forgets the oldest packets: those acknowledged, and those lost that were sent before `keep_lost`.
    pub fn forget(&mut self, keep_lost: Instant) {
        while let Some(front) = self.packets.front() {
            match front.fate {
                Fate::Acknowledged => {}
                Fate::Lost if front.sent_at < keep_lost => {}
                Fate::Lost | Fate::InFlight => break,
            }
            self.packets.pop_front();
            self.first += 1;
            if let Some(delivery) = &mut self.delivery {
                delivery.on_acknowledged(false);
            }
        }
        self.acknowledged.remove_below(self.first);
    }

    /// The application has nothing more to send.
    pub fn note_app_limited(&mut self) {
        if let Some(delivery) = &mut self.delivery {
            delivery.note_app_limited(self.bytes_in_flight);
        }
    }

    /// Samples the delivery rate of newly acknowledged packets, if requested.
    pub fn sample_rate(&mut self, now: Instant, newly: &NewlyAcked) {
        if let (Some(delivery), Some((_, sent_at))) = (&mut self.delivery, newly.largest) {
            delivery.on_delivered(now, newly.bytes, sent_at);
        }
    }

    /// The sample of the current ACK, which reports `ce_bytes` more bytes with a mark.
    pub fn take_sample(&mut self, ce_bytes: u32) -> Option<RateSample> {
        self.delivery.as_mut()?.take_sample(ce_bytes)
    }

    /// The next lost packet that was not reported to the algorithm.
    pub fn next_unreported(&mut self) -> Option<LostTransmission> {
        self.delivery.as_mut()?.next_unreported()
    }
}

#[cfg(test)]
mod tests;
