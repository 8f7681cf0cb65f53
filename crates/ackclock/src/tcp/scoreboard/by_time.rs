//! The queries of a strategy that detects losses by transmission times (RFC 8985).

use super::{Scoreboard, SentSegment};

impl Scoreboard {
    /// The segment at `index`, which is on the scoreboard.
    #[inline]
    pub fn at(&self, index: u64) -> &SentSegment {
        &self.segments[(index - self.first) as usize]
    }

    fn get(&self, index: u64) -> Option<&SentSegment> {
        self.segments.get(usize::try_from(index.checked_sub(self.first)?).ok()?)
    }

    /// Index of the segment that begins at byte `seq` or contains it, or the first one if that was acknowledged.
    #[inline]
    pub fn index_of(&self, seq: u64) -> u64 {
        self.first + self.position_of(seq) as u64
    }

    /// The byte after the highest one that was delivered, where all below `una` was.
    #[inline]
    pub fn highest_delivered(&self, una: u64) -> u64 {
        self.sacked_ranges.end().map_or(una, |end| end.max(una))
    }

    /// True if the segment is missing, was sent once and is not taken for lost.
    pub fn is_waiting_once(&self, index: u64) -> bool {
        self.get(index).is_some_and(|segment| !segment.sacked && !segment.lost && !segment.retransmitted)
    }

    /// True if the segment is missing and its last transmission, at this time, is not considered lost.
    pub fn was_last_sent(&self, index: u64, sent_at: crate::units::Instant) -> bool {
        self.get(index).is_some_and(|segment| !segment.sacked && segment.retransmitted && segment.sent_at == sent_at)
    }

    /// True if the segment is missing, and no copy of it is in flight.
    pub fn awaits_retransmission(&self, index: u64) -> bool {
        self.get(index).is_some_and(|segment| !segment.sacked && segment.lost && !segment.retransmitted)
    }

    /// The last segment from `first` and below `end` that [waits](Self::is_waiting_once) and satisfies `holds`.
    /// `first` must be one.
    pub fn last_waiting_once(&self, first: u64, end: u64, holds: impl Fn(&SentSegment) -> bool) -> u64 {
        let mut index = end.min(self.end_index()).saturating_sub(1);
        while index > first {
            let segment = self.at(index);
            if self.is_waiting_once(index) && holds(segment) {
                return index;
            }
            // The range may begin within a segment, which is then not sacked.
            let whole_from = match self.sacked_ranges.containing(segment.seq) {
                Some((start, _)) if segment.sacked => {
                    let at_start = self.index_of(start);
                    at_start + u64::from(self.at(at_start).seq < start)
                }
                _ => index,
            };
            index = whole_from - 1;
        }
        first
    }

    /// Declares all transmissions of a segment lost. Returns 0 if none was in flight, and else 1.
    pub fn lose(&mut self, index: u64) -> u32 {
        let position = (index - self.first) as usize;
        let segment = &mut self.segments[position];
        let copies = segment.in_flight();
        if copies == 0 {
            return 0;
        }
        self.losses += 1;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_lost(position, segment.len, segment.transmissions > 1);
        }
        segment.lost = true;
        segment.retransmitted = false;
        self.pipe -= copies;
        self.pipe_bytes -= u64::from(copies) * u64::from(segment.len);
        1
    }
}
