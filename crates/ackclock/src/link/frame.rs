//! The frame of a station: one packet, or an aggregate (A-MPDU) whose packets are acknowledged one by one.
//!
//! The receiver delivers packets in order. A packet waits in its reorder buffer for earlier ones. IEEE Std 802.11-2012, 9.12 (A-MPDU) and 9.21 (block ACK).

use std::collections::VecDeque;

/// The packets between the first transmission of the earliest and its arrival.
#[derive(Clone, Debug)]
pub(super) struct Frame<T> {
    packets: VecDeque<Subframe<T>>,
    /// Whether the next transmission may contain new packets.
    is_open: bool,
}

#[derive(Clone, Debug)]
struct Subframe<T> {
    item: T,
    failures: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is sent, again and again.
    Sent,
    /// It has arrived.
    Arrived,
    /// The retry limit is reached, and the frame is dropped.
    GivenUp,
}

/// A packet that leaves the station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Departure<T> {
    /// It has arrived.
    Arrived(T),
    /// It is lost.
    GivenUp(T),
}

impl<T> Frame<T> {
    pub fn new() -> Self {
        Frame { packets: VecDeque::new(), is_open: true }
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// All packets that have left the queue and are not yet delivered.
    pub fn held(&self) -> impl Iterator<Item = &T> {
        self.packets.iter().map(|packet| &packet.item)
    }

    /// The packets of the next transmission.
    pub fn sent(&self) -> impl Iterator<Item = &T> {
        self.packets.iter().filter(|packet| packet.state == State::Sent).map(|packet| &packet.item)
    }

    /// Whether the next transmission may contain new packets, of at most `most` in the window of the block ACK.
    pub fn has_room(&self, most: u32) -> bool {
        self.is_open && self.packets.len() < most as usize
    }

    /// Adds a packet to the next transmission.
    pub fn add(&mut self, item: T) {
        self.packets.push_back(Subframe { item, failures: 0, state: State::Sent });
    }

    /// A transmission has ended. Returns whether a packet has arrived, and with it a block ACK.
    pub fn end(&mut self, mut is_damaged: impl FnMut() -> bool, retries: u32) -> bool {
        let mut arrived = false;
        for packet in self.packets.iter_mut().filter(|packet| packet.state == State::Sent) {
            if !is_damaged() {
                packet.state = State::Arrived;
                arrived = true;
            } else if packet.failures >= retries {
                packet.state = State::GivenUp;
            } else {
                packet.failures += 1;
            }
        }
        self.is_open = arrived;
        arrived
    }

    /// The next packet that leaves, in order.
    pub fn depart(&mut self) -> Option<Departure<T>> {
        if self.packets.front()?.state == State::Sent {
            return None;
        }
        let packet = self.packets.pop_front()?;
        self.is_open = true;
        Some(match packet.state {
            State::GivenUp => Departure::GivenUp(packet.item),
            _ => Departure::Arrived(packet.item),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(items: std::ops::Range<u32>) -> Frame<u32> {
        let mut frame = Frame::new();
        items.for_each(|item| frame.add(item));
        frame
    }

    /// Ends a transmission in which these were damaged.
    fn end(frame: &mut Frame<u32>, damaged: &[bool], retries: u32) -> Vec<Departure<u32>> {
        let mut damaged = damaged.iter();
        frame.end(|| *damaged.next().expect("a packet was sent"), retries);
        std::iter::from_fn(|| frame.depart()).collect()
    }

    #[test]
    fn packets_wait_for_an_earlier_one_that_was_damaged() {
        let mut frame = frame(0..3);
        assert_eq!(end(&mut frame, &[false, true, false], 1), [Departure::Arrived(0)]);
        assert_eq!(frame.sent().copied().collect::<Vec<_>>(), [1]);
        assert!(frame.has_room(3) && !frame.has_room(2));
        frame.add(3);
        let rest = [Departure::Arrived(1), Departure::Arrived(2), Departure::Arrived(3)];
        assert_eq!(end(&mut frame, &[false, false], 1), rest);
        assert!(frame.is_empty());
    }

    #[test]
    fn a_packet_is_given_up_after_its_last_retry_and_leaves_in_order() {
        let mut frame = frame(0..2);
        assert_eq!(end(&mut frame, &[true, true], 1), []);
        assert!(!frame.has_room(8), "without a block ACK the same frame goes out again");
        assert_eq!(end(&mut frame, &[true, true], 1), [Departure::GivenUp(0), Departure::GivenUp(1)]);
        assert!(frame.has_room(8));
    }
}
