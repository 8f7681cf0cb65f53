//! The event queue: one pending event per component, in a total order.
//!
//! Events are ordered by (time, component). Components are numbered by class first and by the hash of
//! their name within the class, so the order depends neither on heap internals nor on the order of
//! declaration. A component that has several things to do at one time does them in its own order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::units::Instant;

/// The number of a component; smaller numbers go first among events of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentId(pub u32);

/// Pending wake-ups, at most one valid per component.
#[derive(Debug)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<Key>>,
    /// The wake-up that counts for each component, or [`Instant::MAX`]; other entries in the heap are stale.
    scheduled: Vec<Instant>,
}

/// Time and component in one integer, so that a comparison is one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    fn new(at: Instant, component: ComponentId) -> Self {
        Key(u128::from(at.as_nanos()) << 32 | u128::from(component.0))
    }

    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 32) as u64)
    }

    fn component(self) -> ComponentId {
        ComponentId(self.0 as u32)
    }
}

impl EventQueue {
    /// An empty queue for components `0 .. components`.
    pub fn new(components: usize) -> Self {
        EventQueue { heap: BinaryHeap::with_capacity(components), scheduled: vec![Instant::MAX; components] }
    }

    /// Makes sure that `component` is woken no later than `at`.
    ///
    /// An earlier wake-up that is pending stays: a component that is woken too early says so by
    /// scheduling itself again. That keeps timers lazy: one that moves into the future costs nothing.
    #[inline]
    pub fn schedule(&mut self, component: ComponentId, at: Instant) {
        let scheduled = &mut self.scheduled[component.0 as usize];
        if at < *scheduled {
            *scheduled = at;
            self.heap.push(Reverse(Key::new(at, component)));
        }
    }

    /// The next event, which stays pending until [`EventQueue::finish`].
    #[inline]
    pub fn peek(&mut self) -> Option<(Instant, ComponentId)> {
        loop {
            let key = self.heap.peek()?.0;
            if self.scheduled[key.component().0 as usize] == key.at() {
                return Some((key.at(), key.component()));
            }
            self.heap.pop();
        }
    }

    /// The component whose event follows the one that [`EventQueue::peek`] just returned, unless another one is
    /// scheduled before it.
    #[inline]
    pub fn peek_behind(&self) -> Option<ComponentId> {
        let candidates = self.heap.as_slice().get(1..3)?;
        Some(candidates[0].max(candidates[1]).0.component())
    }

    /// Ends the event that [`EventQueue::peek`] just returned; its component is woken again at `next`.
    ///
    /// To be called before anything else is scheduled.
    #[inline]
    pub fn finish(&mut self, component: ComponentId, next: Option<Instant>) {
        let mut top = self.heap.peek_mut().expect("invariant: the event being finished is on top");
        debug_assert_eq!(top.0.component(), component, "invariant: the event being finished is on top");
        self.scheduled[component.0 as usize] = next.unwrap_or(Instant::MAX);
        match next {
            Some(at) => *top = Reverse(Key::new(at, component)),
            None => {
                PeekMut::pop(top);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut order = Vec::new();
        while let Some((time, component)) = queue.peek() {
            queue.finish(component, None);
            order.push((time.as_nanos(), component.0));
        }
        order
    }

    #[test]
    fn events_come_by_time_and_then_by_component_whatever_the_order_of_scheduling() {
        let events = [(5, 1), (3, 2), (5, 0), (1, 3)];
        for rotation in 0..4 {
            let mut queue = EventQueue::new(4);
            for index in 0..4 {
                let (time, component) = events[(index + rotation) % 4];
                queue.schedule(ComponentId(component), at(time));
            }
            assert_eq!(drain(&mut queue), [(1, 3), (3, 2), (5, 0), (5, 1)]);
        }
    }

    #[test]
    fn an_earlier_wake_up_replaces_a_later_one_and_not_the_other_way_round() {
        let mut queue = EventQueue::new(1);
        queue.schedule(ComponentId(0), at(10));
        queue.schedule(ComponentId(0), at(20));
        queue.schedule(ComponentId(0), at(5));
        assert_eq!(drain(&mut queue), [(5, 0)]);
    }

    #[test]
    fn what_follows_the_next_event_can_be_seen() {
        let mut queue = EventQueue::new(4);
        for (component, time) in [(3, 40), (1, 10), (2, 20), (0, 30)] {
            queue.schedule(ComponentId(component), at(time));
        }
        let mut behind = Vec::new();
        while let Some((_, component)) = queue.peek() {
            behind.push(queue.peek_behind().map(|component| component.0));
            queue.finish(component, None);
        }
        assert_eq!(behind, [Some(2), Some(0), None, None]);
    }

    #[test]
    fn a_component_can_be_woken_again_from_its_own_event() {
        let mut queue = EventQueue::new(2);
        queue.schedule(ComponentId(0), at(1));
        queue.schedule(ComponentId(1), at(2));
        assert_eq!(queue.peek(), Some((at(1), ComponentId(0))));
        queue.finish(ComponentId(0), Some(at(3)));
        assert_eq!(drain(&mut queue), [(2, 1), (3, 0)]);
    }
}
