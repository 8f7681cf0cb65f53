//! The scoreboard: segments that were sent and are not yet acknowledged (RFC 6675).
//!
//! Every operation is O(1) amortised over the life of a segment. Three indices only move forward: the
//! cumulative ACK, the edge up to which losses were searched, and the last retransmission. The pipe of
//! RFC 6675 is kept up to date instead of being counted.

use std::collections::VecDeque;

use super::segment::SackBlocks;
use crate::cc::RateSample;
use crate::prefetch::prefetch;
use crate::transport::{Delivery, LostTransmission, RangeSet};
use crate::units::Instant;

mod by_time;
#[cfg(test)]
mod tests;

/// RFC 6675 §2, "DupThresh": a segment is lost if this many above it are selectively acknowledged.
pub const DUP_THRESH: u32 = 3;

/// A segment on the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// True once it was selectively acknowledged.
    pub sacked: bool,
    /// True once it is taken for lost.
    pub lost: bool,
    /// True while a retransmission of it is taken to be in flight.
    pub retransmitted: bool,
    /// How often it was sent, up to 255 times: after more than once its round-trip time is ambiguous (Karn).
    pub transmissions: u8,
    /// When it was last sent.
    pub sent_at: Instant,
}

impl SentSegment {
    /// The byte after it.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Copies of the segment in flight. RFC 6675's SetPipe counts one if it is not lost, and one if it was
    /// retransmitted.
    fn in_flight(&self) -> u32 {
        if self.sacked { 0 } else { u32::from(!self.lost) + u32::from(self.retransmitted) }
    }

    fn bytes_in_flight(&self) -> u64 {
        u64::from(self.in_flight()) * u64::from(self.len)
    }

    /// True if it was sent once, and is neither delivered nor taken for lost.
    #[inline]
    fn is_plain(&self) -> bool {
        self.transmissions == 1 && !(self.sacked | self.lost | self.retransmitted)
    }

    /// True if its last transmission is in flight.
    fn last_is_in_flight(&self) -> bool {
        !self.sacked && (self.retransmitted || !self.lost)
    }
}

/// The changes by an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Segments newly delivered.
    pub segments: u32,
    /// Their bytes.
    pub bytes: u64,
    /// The newly delivered segment that was sent last. Of several, it is the one with the highest end.
    pub newest: Option<SentSegment>,
    /// When the last of those was sent that are cumulatively acknowledged now.
    pub last: Option<Instant>,
    /// The last transmission of segments that no SACK block had covered, and whether it was a retransmission.
    pub last_unsacked: Option<(Instant, bool)>,
    /// The last transmission of segments that were sent once: its time and its end.
    pub newest_once: Option<(Instant, u64)>,
    /// The lowest segment that was sent once: its end, its beginning and its time.
    pub lowest_once: Option<(u64, u64, Instant)>,
}

impl Delivered {
    /// A run, before all other segments.
    #[inline]
    pub fn of_run(run: &Run) -> Self {
        let Run { segments, bytes, lowest, last } = run;
        Delivered {
            segments: *segments,
            bytes: *bytes,
            newest: Some(*last),
            last: Some(last.sent_at),
            last_unsacked: Some((last.sent_at, false)),
            newest_once: Some((last.sent_at, last.end())),
            lowest_once: Some((lowest.end(), lowest.seq, lowest.sent_at)),
        }
    }

    /// Adds a segment. Returns true if it is the newest one.
    fn add(&mut self, segment: &SentSegment) -> bool {
        self.segments += 1;
        self.bytes += u64::from(segment.len);
        if segment.transmissions == 1 {
            let bounds = (segment.end(), segment.seq, segment.sent_at);
            let stamp = (segment.sent_at, segment.end());
            self.newest_once = Some(self.newest_once.map_or(stamp, |newest| newest.max(stamp)));
            self.lowest_once = Some(self.lowest_once.map_or(bounds, |lowest| lowest.min(bounds)));
        }
        let is_newest = self.newest.is_none_or(|newest| (newest.sent_at, newest.seq) <= (segment.sent_at, segment.seq));
        if is_newest {
            self.newest = Some(*segment);
        }
        is_newest
    }
}

/// Segments one after another that an acknowledgement takes off the scoreboard. Each was sent once, and no block had
/// covered it.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How many.
    pub segments: u32,
    /// Their bytes.
    pub bytes: u64,
    /// The first one.
    pub lowest: SentSegment,
    /// The last one, which was sent last.
    pub last: SentSegment,
}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<SentSegment>,
    /// Index of the front. Indices count segments from the start of the connection.
    first: u64,
    sacked_ranges: RangeSet,
    /// Segments in flight: RFC 6675's pipe.
    pipe: u32,
    /// Their payload bytes.
    pipe_bytes: u64,
    /// Below this index every segment was found lost or delivered.
    lost_edge: u64,
    /// Selectively acknowledged segments at or above `lost_edge`.
    sacked_above_edge: u32,
    /// All of them.
    sacked: u32,
    /// One above the highest selectively acknowledged index.
    sacked_end: u64,
    /// One above the highest index that was retransmitted in this recovery: RFC 6675's HighRxt.
    retransmit_next: u64,
    /// Transmissions taken for lost so far.
    losses: u64,
    /// The delivery state at the last transmission of each segment. It is boxed, because few algorithms request it.
    delivery: Option<Box<Delivery>>,
}

impl Scoreboard {
    /// An empty one, which keeps the state of delivery for each transmission or does not.
    pub fn new(keeps_delivery: bool) -> Self {
        Scoreboard { delivery: keeps_delivery.then(Box::default), ..Scoreboard::default() }
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    /// The numbers of segments that are not cumulatively acknowledged, as `(sacked, lost, retransmitted)`. They are
    /// counted on request, for reports.
    pub fn counts(&self) -> (u32, u32, u32) {
        self.segments.iter().fold((0, 0, 0), |(sacked, lost, retransmitted), segment| {
            let open = !segment.sacked;
            (
                sacked + u32::from(segment.sacked),
                lost + u32::from(open && segment.lost),
                retransmitted + u32::from(open && segment.retransmitted),
            )
        })
    }

    /// Transmissions taken for lost so far.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// The segments that are taken for lost and were not sent again since.
    pub fn lost(&self) -> impl Iterator<Item = &SentSegment> {
        self.segments.iter().filter(|segment| !segment.sacked && !segment.last_is_in_flight())
    }

    /// Segments in flight: RFC 6675's pipe.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.pipe
    }

    /// Their payload bytes.
    #[inline]
    pub fn bytes_in_flight(&self) -> u64 {
        self.pipe_bytes
    }

    /// True if anything is selectively acknowledged.
    #[inline]
    pub fn has_sacked(&self) -> bool {
        !self.sacked_ranges.is_empty()
    }

    /// Segments selectively acknowledged.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// The first segment that is not acknowledged.
    pub fn front(&self) -> Option<&SentSegment> {
        self.segments.front()
    }

    /// Prefetches the state that the next ACK reads first.
    #[inline]
    pub fn prefetch(&self) {
        self.segments.iter().take(4).for_each(prefetch);
        self.sacked_ranges.prefetch();
    }

    /// Adds a segment that was sent for the first time, after all others.
    #[inline(always)]
    pub fn push(&mut self, seq: u64, len: u32, sent_at: Instant) {
        self.pipe += 1;
        self.pipe_bytes += u64::from(len);
        if self.delivery.is_some() {
            self.stamp_new(sent_at);
        }
        self.segments.push_back(SentSegment {
            seq,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            transmissions: 1,
            sent_at,
        });
    }

    /// Keeps the state of delivery from now on, or no longer.
    pub fn keep_delivery(&mut self, now: Instant, keeps: bool) {
        if keeps != self.delivery.is_some() {
            let sent_at = self.segments.iter().map(|segment| segment.sent_at);
            self.delivery = keeps.then(|| Box::new(Delivery::amid(now, sent_at, self.pipe_bytes)));
        }
    }

    #[inline(never)]
    fn stamp_new(&mut self, sent_at: Instant) {
        if let Some(delivery) = &mut self.delivery {
            delivery.on_sent(sent_at, self.segments.is_empty(), self.pipe_bytes);
        }
    }

    /// Everything below `ack` was received.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Delivered {
        let mut delivered = Delivered::default();
        self.acknowledge_rest(ack, &mut delivered);
        if !self.sacked_ranges.is_empty() {
            self.sacked_ranges.remove_below(ack);
        }
        delivered
    }

    /// The first segment is another one.
    #[inline]
    fn raise_edges(&mut self) {
        self.lost_edge = self.lost_edge.max(self.first);
        self.sacked_end = self.sacked_end.max(self.first);
        self.retransmit_next = self.retransmit_next.max(self.first);
    }

    /// Takes the first segments below `ack` as long as they were sent once and are in flight.
    #[inline(always)]
    pub fn acknowledge_run(&mut self, ack: u64) -> Option<Run> {
        let is_next = |segment: &&SentSegment| segment.end() <= ack && segment.is_plain();
        let lowest = *self.segments.front().filter(is_next)?;
        let (mut last, mut segments, mut bytes) = (lowest, 0, 0);
        loop {
            self.segments.pop_front();
            segments += 1;
            bytes += u64::from(last.len);
            if let Some(delivery) = &mut self.delivery {
                delivery.on_acknowledged(true);
            }
            match self.segments.front().filter(is_next) {
                Some(segment) => last = *segment,
                None => break,
            }
        }
        self.first += u64::from(segments);
        self.pipe -= segments;
        self.pipe_bytes -= bytes;
        self.raise_edges();
        Some(Run { segments, bytes, lowest, last })
    }

    /// True if data below `ack` are left on the scoreboard.
    #[inline]
    pub fn has_below(&self, ack: u64) -> bool {
        self.segments.front().is_some_and(|segment| segment.seq < ack)
    }

    /// Takes all segments below `ack`, after those that were delivered before.
    pub fn acknowledge_rest(&mut self, ack: u64, delivered: &mut Delivered) {
        while let Some(segment) = self.segments.front_mut() {
            let mut is_newest = false;
            if segment.end() > ack {
                if segment.seq < ack {
                    self.pipe_bytes -= segment.bytes_in_flight();
                    segment.len -= (ack - segment.seq) as u32;
                    segment.seq = ack;
                    self.pipe_bytes += segment.bytes_in_flight();
                }
                break;
            }
            let copies = segment.in_flight();
            self.pipe -= copies;
            self.pipe_bytes -= u64::from(copies) * u64::from(segment.len);
            delivered.last = Some(segment.sent_at);
            if segment.sacked {
                self.sacked_above_edge -= u32::from(self.first >= self.lost_edge);
                self.sacked -= 1;
            } else {
                delivered.last_unsacked = Some((segment.sent_at, segment.transmissions > 1));
                is_newest = delivered.add(segment);
            }
            if let Some(delivery) = &mut self.delivery {
                delivery.on_acknowledged(is_newest);
            }
            self.segments.pop_front();
            self.first += 1;
        }
        self.raise_edges();
    }

    /// The receiver holds these blocks. Blocks beyond the sent data are ignored.
    pub fn acknowledge_selectively(&mut self, ack: u64, blocks: &SackBlocks, delivered: &mut Delivered) {
        let (Some(front), Some(back)) = (self.segments.front(), self.segments.back()) else { return };
        let (low, high) = (front.seq, back.end());
        let mut ranges = std::mem::take(&mut self.sacked_ranges);
        for (start, end) in blocks.iter(ack).filter(|(_, end)| *end <= high) {
            ranges.insert(start.max(low), end, |from, to, whole| self.mark_sacked(from, to, whole, delivered));
        }
        self.sacked_ranges = ranges;
    }

    /// Marks every segment as lost that has three selectively acknowledged ones above it. Returns their number.
    #[inline]
    pub fn find_losses(&mut self) -> u32 {
        let mut found = 0;
        while self.lost_edge < self.sacked_end {
            let position = (self.lost_edge - self.first) as usize;
            if self.segments[position].sacked {
                self.sacked_above_edge -= 1;
            } else if self.sacked_above_edge >= DUP_THRESH {
                found += self.lose_first_transmission(position);
            } else {
                break;
            }
            self.lost_edge += 1;
        }
        found
    }

    /// True if the first segment is taken for lost.
    pub fn front_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.lost)
    }

    /// Marks the first segment as lost, regardless of SACK blocks. Returns the number of newly lost segments.
    pub fn lose_front(&mut self) -> u32 {
        if self.segments.front().is_none_or(|segment| segment.lost || segment.sacked) {
            return 0;
        }
        self.lost_edge = self.lost_edge.max(self.first + 1);
        self.lose_first_transmission(0)
    }

    /// Declares only the first transmission of a segment lost. Returns 0 if it was already lost, and else 1.
    fn lose_first_transmission(&mut self, position: usize) -> u32 {
        let segment = &mut self.segments[position];
        if segment.lost {
            return 0;
        }
        // Of a segment that was sent again on suspicion, the last transmission is another one.
        if !segment.retransmitted
            && let Some(delivery) = &mut self.delivery
        {
            delivery.on_lost(position, segment.len, segment.transmissions > 1);
        }
        self.losses += u64::from(!segment.retransmitted);
        segment.lost = true;
        self.pipe -= 1;
        self.pipe_bytes -= u64::from(segment.len);
        1
    }

    /// Declares everything lost that was not selectively acknowledged, including retransmissions. Returns the number
    /// of newly lost segments.
    pub fn lose_all(&mut self) -> u32 {
        let mut found = 0;
        for (position, segment) in self.segments.iter_mut().enumerate().filter(|(_, segment)| !segment.sacked) {
            if segment.last_is_in_flight() {
                self.losses += 1;
                if let Some(delivery) = &mut self.delivery {
                    delivery.on_lost(position, segment.len, segment.transmissions > 1);
                }
            }
            found += u32::from(!segment.lost);
            segment.lost = true;
            segment.retransmitted = false;
        }
        (self.pipe, self.pipe_bytes) = (0, 0);
        self.lost_edge = self.first + self.segments.len() as u64;
        self.sacked_above_edge = 0;
        self.retransmit_next = self.first;
        found
    }

    /// Reverts all losses. Segments that were not sent again are in flight, and the others twice.
    pub fn restore(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.lost && !segment.sacked) {
            segment.lost = false;
            self.pipe += 1;
            self.pipe_bytes += u64::from(segment.len);
        }
        self.lost_edge = self.first;
        self.sacked_above_edge = self.sacked;
    }

    /// Discards the selective acknowledgements above the cumulative one.
    pub fn forget_sacks(&mut self) {
        if self.sacked_ranges.is_empty() {
            return;
        }
        for segment in self.segments.iter_mut().filter(|segment| segment.sacked) {
            segment.sacked = false;
            self.pipe += segment.in_flight();
            self.pipe_bytes += segment.bytes_in_flight();
        }
        self.sacked_ranges = RangeSet::default();
        self.sacked_above_edge = 0;
        self.sacked = 0;
        self.sacked_end = self.first;
    }

    /// Recovery begins: nothing counts as retransmitted in it yet.
    pub fn begin_recovery(&mut self) {
        self.retransmit_next = self.first;
    }

    /// RFC 6675 §4, NextSeg rule 1: the next segment that is lost and was not retransmitted.
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        while self.retransmit_next < self.lost_edge {
            let segment = &self.segments[(self.retransmit_next - self.first) as usize];
            if segment.lost && !segment.sacked {
                return Some(self.retransmit_next);
            }
            self.retransmit_next += 1;
        }
        None
    }

    /// NextSeg rule 3: the next segment below the highest selectively acknowledged one that may be lost.
    pub fn next_suspect(&self) -> Option<u64> {
        (self.retransmit_next.max(self.lost_edge)..self.sacked_end)
            .find(|index| !self.segments[(index - self.first) as usize].sacked)
    }

    /// The next missing segment below the highest selectively acknowledged one that was not retransmitted, regardless
    /// of the number above it.
    pub fn next_hole(&self) -> Option<u64> {
        (self.retransmit_next..self.sacked_end).find(|index| !self.segments[(index - self.first) as usize].sacked)
    }

    /// The segment that begins at byte `seq`, if it was sent again.
    fn sent_again(&self, seq: u64) -> Option<&SentSegment> {
        let segment = self.segments.get(self.position_of(seq));
        segment.filter(|segment| segment.seq == seq && segment.transmissions > 1)
    }

    /// True if the segment that begins at byte `seq` was sent again.
    pub fn was_sent_again(&self, seq: u64) -> bool {
        self.sent_again(seq).is_some()
    }

    /// True if the segment that begins at byte `seq` was sent again and is selectively acknowledged.
    pub fn came_twice(&self, seq: u64) -> bool {
        self.sent_again(seq).is_some_and(|segment| segment.sacked)
    }

    /// The first segment from `index` on that was not selectively acknowledged.
    pub fn next_unsacked(&self, index: u64) -> Option<u64> {
        let position = index.saturating_sub(self.first) as usize;
        let missing = self.segments.iter().skip(position).position(|segment| !segment.sacked)?;
        Some(self.first + (position + missing) as u64)
    }

    /// NextSeg rule 4: the highest segment that was not selectively acknowledged.
    pub fn last_unsacked(&self) -> Option<u64> {
        let position = self.segments.iter().rposition(|segment| !segment.sacked)?;
        Some(self.first + position as u64)
    }

    /// Payload bytes of the segment at `index`.
    pub fn len_of(&self, index: u64) -> u32 {
        self.segments[(index - self.first) as usize].len
    }

    /// Index of the first segment.
    pub fn front_index(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    /// Index of the segment that is sent for the first time next.
    pub fn end_index(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Records the retransmission of the segment at `index`. `advance` moves HighRxt past it.
    pub fn retransmit(&mut self, index: u64, advance: bool, sent_at: Instant) -> SentSegment {
        let position = (index - self.first) as usize;
        let segment = &mut self.segments[position];
        let is_again = u32::from(!segment.retransmitted);
        self.pipe += is_again;
        self.pipe_bytes += u64::from(is_again * segment.len);
        if let Some(delivery) = &mut self.delivery {
            // The transmission before it counts as lost from now on, if it did not yet.
            if segment.last_is_in_flight() {
                delivery.on_lost(position, segment.len, segment.transmissions > 1);
            }
            delivery.on_sent_again(position, self.pipe_bytes);
        }
        segment.retransmitted = true;
        segment.transmissions = segment.transmissions.saturating_add(1);
        segment.sent_at = sent_at;
        if advance {
            self.retransmit_next = self.retransmit_next.max(index + 1);
        }
        *segment
    }

    /// The application has nothing more to send.
    #[inline]
    pub fn note_app_limited(&mut self) {
        if let Some(delivery) = &mut self.delivery {
            delivery.note_app_limited(self.pipe_bytes);
        }
    }

    /// Samples the delivery rate of the `bytes` that an ACK delivers, if requested. The newest segment left at `sent_at`.
    #[inline(never)]
    pub fn sample_rate(&mut self, now: Instant, bytes: u64, sent_at: Instant) {
        if let Some(delivery) = &mut self.delivery {
            delivery.on_delivered(now, bytes, sent_at);
        }
    }

    /// An ACK reports bytes that were delivered a second time.
    #[cold]
    pub fn note_duplicate(&mut self, now: Instant, bytes: u64) {
        if let Some(delivery) = &mut self.delivery {
            delivery.on_duplicate(now, bytes);
        }
    }

    /// The sample of that ACK, which reports `bytes` more that came with a mark.
    #[inline(never)]
    pub fn take_sample(&mut self, bytes: u32) -> Option<RateSample> {
        self.delivery.as_mut()?.take_sample(bytes)
    }

    /// The next lost transmission that was not reported yet, where rate samples are kept.
    #[inline]
    pub fn next_unreported(&mut self) -> Option<LostTransmission> {
        self.delivery.as_mut()?.next_unreported()
    }

    /// The bytes `from .. to` are newly covered, as is all of the range `whole`: the segments that they complete are
    /// delivered.
    fn mark_sacked(&mut self, from: u64, to: u64, whole: (u64, u64), delivered: &mut Delivered) {
        let mut position = self.position_of(from);
        while let Some(segment) = self.segments.get_mut(position).filter(|segment| segment.seq < to) {
            if !segment.sacked && whole.0 <= segment.seq && segment.end() <= whole.1 {
                self.pipe -= segment.in_flight();
                self.pipe_bytes -= segment.bytes_in_flight();
                segment.sacked = true;
                self.sacked += 1;
                if delivered.add(segment)
                    && let Some(delivery) = &mut self.delivery
                {
                    delivery.note_newest(position);
                }
                let index = self.first + position as u64;
                self.sacked_above_edge += u32::from(index >= self.lost_edge);
                self.sacked_end = self.sacked_end.max(index + 1);
            }
            position += 1;
        }
    }

    /// The position of the segment that holds byte `seq`: a guess that is right while all segments are full.
    fn position_of(&self, seq: u64) -> usize {
        let Some(front) = self.segments.front() else { return 0 };
        let guess = (seq.saturating_sub(front.seq) / u64::from(front.len.max(1))) as usize;
        if self.segments.get(guess).is_some_and(|segment| segment.seq == seq) {
            return guess;
        }
        self.segments.partition_point(|segment| segment.end() <= seq)
    }
}
