//! The stream of a sender: its written, sent, delivered and lost data.

use std::collections::VecDeque;

use crate::transport::{Frame, RangeSet};

/// One stream of bytes.
#[derive(Clone, Debug)]
pub struct SendStream {
    /// The present end of the application's data, or `None` for unlimited data.
    pub written: Option<u64>,
    /// The next byte to send for the first time.
    pub next: u64,
    /// Everything below was delivered.
    pub una: u64,
    /// Delivered data above.
    delivered: RangeSet,
    /// Numbers and frames of lost packets, in the order of the stream: the receiver's application waits for the first one. So do
    /// Chromium, mvfst and quiche. RFC 9000 §13.3 leaves the order to the sender.
    lost: VecDeque<(u64, Frame)>,
}

impl SendStream {
    /// Nothing is written.
    pub fn new() -> Self {
        SendStream { written: Some(0), next: 0, una: 0, delivered: RangeSet::default(), lost: VecDeque::new() }
    }

    /// A frame was delivered.
    #[inline]
    pub fn deliver(&mut self, offset: u64, len: u32) {
        let end = offset + u64::from(len);
        if offset > self.una {
            self.delivered.insert(offset, end, |_, _, _| {});
        } else if end > self.una {
            self.una = end;
            if !self.delivered.is_empty() {
                self.una = self.delivered.containing(end).map_or(end, |(_, filled)| filled);
                self.delivered.remove_below(self.una);
            }
        }
    }

    /// Whether all of it was delivered.
    pub fn has(&self, offset: u64, len: u32) -> bool {
        let end = offset + u64::from(len);
        end <= self.una || self.delivered.containing(offset).is_some_and(|(_, filled)| end <= filled)
    }

    /// A packet was lost: its frame is to be sent again.
    pub fn lose(&mut self, number: u64, offset: u64, len: u32) {
        if len > 0 {
            let place = self.lost.partition_point(|(_, frame)| frame.offset <= offset);
            self.lost.insert(place, (number, Frame { offset, len, again: true }));
        }
    }

    /// The next frame to be sent again.
    pub fn next_lost(&mut self) -> Option<Frame> {
        while let Some((_, frame)) = self.lost.front().copied() {
            if !self.has(frame.offset, frame.len) {
                return Some(frame);
            }
            self.lost.pop_front();
        }
        None
    }

    /// It is sent. Other packets that carried the same bytes, and were lost, need no repair of their own.
    pub fn take_lost(&mut self) {
        let end_of = |frame: &Frame| frame.offset + u64::from(frame.len);
        let Some((_, sent)) = self.lost.pop_front() else { return };
        while self.lost.front().is_some_and(|(_, frame)| end_of(frame) <= end_of(&sent)) {
            self.lost.pop_front();
        }
    }

    /// The numbers of lost packets whose frames wait, in order.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        let mut numbers: Vec<u64> = self.lost.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.into_iter()
    }

    /// How many there are.
    pub fn lost_count(&self) -> usize {
        self.lost.len()
    }

    /// Bytes that may be sent for the first time, up to `mss`.
    #[inline]
    pub fn unsent(&self, mss: u32) -> u32 {
        let left = self.written.map_or(u64::from(mss), |written| written - self.next);
        left.min(u64::from(mss)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_delivered_is_not_sent_again() {
        let mut stream = SendStream::new();
        for (number, offset) in [(0, 0), (1, 100), (2, 200)] {
            stream.lose(number, offset, 100);
        }
        stream.deliver(100, 100);
        assert_eq!((stream.una, stream.has(100, 100), stream.has(150, 100)), (0, true, false));
        assert_eq!(stream.next_lost().map(|frame| frame.offset), Some(0));
        stream.take_lost();
        assert_eq!(stream.next_lost().map(|frame| frame.offset), Some(200));
        stream.deliver(0, 100);
        assert_eq!(stream.una, 200);
        stream.deliver(200, 100);
        assert_eq!((stream.una, stream.next_lost(), stream.lost_count()), (300, None, 0));
    }

    #[test]
    fn what_is_lost_is_sent_again_in_the_order_of_the_stream() {
        let mut stream = SendStream::new();
        // Packet 12 carried the bytes of packet 3 again, and packet 13 those of packet 5.
        for (number, offset) in [(5, 500), (8, 800), (12, 300), (13, 500)] {
            stream.lose(number, offset, 100);
        }
        assert_eq!(stream.lost().collect::<Vec<_>>(), [5, 8, 12, 13]);
        let mut offsets = Vec::new();
        while let Some(frame) = stream.next_lost() {
            offsets.push(frame.offset);
            stream.take_lost();
        }
        assert_eq!(offsets, [300, 500, 800]);
    }

    #[test]
    fn the_last_frame_is_short() {
        let mut stream = SendStream::new();
        assert_eq!(stream.unsent(1000), 0);
        stream.written = Some(1200);
        assert_eq!(stream.unsent(1000), 1000);
        stream.next = 1000;
        assert_eq!(stream.unsent(1000), 200);
        stream.written = None;
        assert_eq!(stream.unsent(1000), 1000);
    }
}
