//! The event queue: one pending event per component, in a total order.
//!
//! Events are ordered by (time, component). Components are numbered by class first and by the hash of their name
//! within the class. The order depends neither on heap internals nor on the order of declaration. A component
//! processes several events of one time in its own order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::key::{ComponentId, Key};
use super::wheel::Wheel;
use crate::units::Instant;

/// Pending wake-ups, at most one valid per component.
///
/// Timers are lazy. A timer that moves into the future, or stops, only changes a number until its entry is due.
/// Distant timers are unordered, so that thousands of them are cheap.
#[derive(Debug)]
pub struct EventQueue {
    /// The next events: all timers in open slots of the wheel, and all events other than timers.
    heap: BinaryHeap<Reverse<Key>>,
    wheel: Wheel,
    /// Later events are discarded.
    end: Instant,
    wakes: Vec<Wake>,
}

/// When a component is woken, or [`Instant::MAX`].
#[derive(Clone, Copy, Debug)]
struct Wake {
    due: Instant,
    /// The time of the valid entry, `due` or before. Other entries are stale.
    entry: Instant,
}

impl Wake {
    const NEVER: Wake = Wake { due: Instant::MAX, entry: Instant::MAX };
}

impl EventQueue {
    /// An empty queue for components `0 .. components`. Timers that are due after `end` never expire.
    pub fn new(components: usize, end: Instant) -> Self {
        debug_assert!(end < Instant::MAX, "invariant: a timer that never expires lies after the end");
        EventQueue { heap: BinaryHeap::new(), wheel: Wheel::new(), end, wakes: vec![Wake::NEVER; components] }
    }

    /// Makes sure that `component` is woken no later than `at`: an earlier wake-up that is pending stays.
    #[inline]
    pub fn schedule(&mut self, component: ComponentId, at: Instant) {
        let wake = &mut self.wakes[component.0 as usize];
        wake.due = wake.due.min(at);
        if at < wake.entry {
            wake.entry = at;
            self.heap.push(Reverse(Key::new(at, component)));
        }
    }

    /// Sets a timer: `component` is woken at `at` regardless of pending timers, or never.
    #[inline]
    pub fn set(&mut self, component: ComponentId, at: Option<Instant>) {
        let wake = &mut self.wakes[component.0 as usize];
        wake.due = at.unwrap_or(Instant::MAX);
        if wake.due < wake.entry {
            self.enter(component);
        }
    }

    /// The next event, which stays pending until [`EventQueue::finish`].
    #[inline]
    pub fn peek(&mut self) -> Option<(Instant, ComponentId)> {
        loop {
            if let Some(Reverse(key)) = self.heap.peek() {
                let (at, component) = (key.at(), key.component());
                if self.wakes[component.0 as usize].due == at && at < self.wheel.next() {
                    return Some((at, component));
                }
            } else if self.wheel.is_empty() {
                return None;
            }
            self.settle();
        }
    }

    /// Opens a slot of the wheel or renews the top entry if the heap does not contain the next event.
    #[inline(never)]
    fn settle(&mut self) {
        if self.heap.peek().is_none_or(|key| key.0.at() >= self.wheel.next()) {
            let entries = self.wheel.open();
            entries.iter().for_each(|key| self.renew(*key));
            self.wheel.give_back(entries);
        } else if let Some(Reverse(key)) = self.heap.pop() {
            self.renew(key);
        }
    }

    /// An entry came up before its component is due, or is stale.
    fn renew(&mut self, key: Key) {
        if self.wakes[key.component().0 as usize].entry == key.at() {
            self.enter(key.component());
        }
    }

    /// Makes the entry of a timer.
    #[inline(never)]
    fn enter(&mut self, component: ComponentId) {
        let wake = &mut self.wakes[component.0 as usize];
        wake.entry = wake.due;
        let key = Key::new(wake.due, component);
        if wake.due < self.wheel.edge() {
            self.heap.push(Reverse(key));
        } else if wake.due <= self.end {
            self.wheel.put(key);
        }
    }

    /// The component whose event follows the one that [`EventQueue::peek`] just returned, unless another one is
    /// scheduled before it.
    #[inline]
    pub fn peek_next(&self) -> Option<ComponentId> {
        let candidates = self.heap.as_slice().get(1..3)?;
        Some(candidates[0].max(candidates[1]).0.component())
    }

    /// Ends the event that [`EventQueue::peek`] just returned. Its component is woken again at `next`.
    ///
    /// To be called before anything else is scheduled.
    #[inline]
    pub fn finish(&mut self, component: ComponentId, next: Option<Instant>) {
        let mut top = self.heap.peek_mut().expect("invariant: the event being finished is on top");
        debug_assert_eq!(top.0.component(), component, "invariant: the event being finished is on top");
        let at = next.unwrap_or(Instant::MAX);
        self.wakes[component.0 as usize] = Wake { due: at, entry: at };
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
    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// A queue that ends after every time of these tests.
    fn queue(components: usize) -> EventQueue {
        EventQueue::new(components, at(1 << 62))
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
            let mut queue = queue(4);
            for index in 0..4 {
                let (time, component) = events[(index + rotation) % 4];
                queue.schedule(ComponentId(component), at(time));
            }
            assert_eq!(drain(&mut queue), [(1, 3), (3, 2), (5, 0), (5, 1)]);
        }
    }

    #[test]
    fn an_earlier_wake_up_replaces_a_later_one_and_not_the_other_way_round() {
        let mut queue = queue(1);
        queue.schedule(ComponentId(0), at(10));
        queue.schedule(ComponentId(0), at(20));
        queue.schedule(ComponentId(0), at(5));
        assert_eq!(drain(&mut queue), [(5, 0)]);
    }

    #[test]
    fn a_timer_can_move_either_way_and_stop() {
        let mut queue = queue(3);
        let [first, second, third] = [0, 1, 2].map(ComponentId);
        queue.set(first, Some(at(10)));
        queue.set(second, Some(at(20)));
        queue.set(third, Some(at(30)));
        // Later, earlier, and not at all.
        queue.set(first, Some(at(40)));
        queue.set(second, Some(at(5)));
        queue.set(third, None);
        assert_eq!(drain(&mut queue), [(5, 1), (40, 0)]);
        assert_eq!(queue.peek(), None);
    }

    #[test]
    fn a_timer_that_moved_back_to_where_it_was_goes_off_once() {
        let mut queue = queue(1);
        let it = ComponentId(0);
        queue.set(it, Some(at(10)));
        queue.set(it, Some(at(5)));
        queue.set(it, Some(at(10)));
        assert_eq!(drain(&mut queue), [(10, 0)]);
        // One that stopped may run again, before or after its old time.
        queue.set(it, Some(at(20)));
        queue.set(it, None);
        queue.set(it, Some(at(15)));
        assert_eq!(drain(&mut queue), [(15, 0)]);
        queue.set(it, Some(at(20)));
        queue.set(it, None);
        queue.set(it, Some(at(25)));
        assert_eq!(drain(&mut queue), [(25, 0)]);
    }

    #[test]
    fn what_is_due_no_later_is_due_then_where_a_timer_has_moved_behind_it() {
        let mut queue = queue(1);
        queue.set(ComponentId(0), Some(at(10)));
        queue.set(ComponentId(0), Some(at(30)));
        queue.schedule(ComponentId(0), at(20));
        queue.schedule(ComponentId(0), at(25));
        assert_eq!(drain(&mut queue), [(20, 0)]);
    }

    #[test]
    fn a_timer_that_is_due_behind_the_end_goes_off_only_if_it_moves_before() {
        let mut queue = EventQueue::new(2, at(1 << 40));
        queue.set(ComponentId(0), Some(at(u64::MAX - 1)));
        queue.set(ComponentId(1), Some(at(u64::MAX - 1)));
        queue.set(ComponentId(1), Some(at(1 << 40)));
        assert_eq!(drain(&mut queue), [(1 << 40, 1)]);
    }

    #[test]
    fn what_follows_the_next_event_can_be_seen() {
        let mut queue = queue(4);
        for (component, time) in [(3, 40), (1, 10), (2, 20), (0, 30)] {
            queue.schedule(ComponentId(component), at(time));
        }
        let mut next = Vec::new();
        while let Some((_, component)) = queue.peek() {
            next.push(queue.peek_next().map(|component| component.0));
            queue.finish(component, None);
        }
        assert_eq!(next, [Some(2), Some(0), None, None]);
    }

    #[test]
    fn a_component_can_be_woken_again_from_its_own_event() {
        let mut queue = queue(2);
        queue.schedule(ComponentId(0), at(1));
        queue.schedule(ComponentId(1), at(2));
        assert_eq!(queue.peek(), Some((at(1), ComponentId(0))));
        queue.finish(ComponentId(0), Some(at(3)));
        assert_eq!(drain(&mut queue), [(2, 1), (3, 0)]);
    }

    /// An action on a component: setting its timer, or waking it at a time at the latest.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Set(u32, Option<u64>),
        Schedule(u32, u64),
        Pop(Option<u64>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Within a slot, within a revolution, and beyond.
        let ahead = prop_oneof![0u64..4, 0u64..1 << 22, 0u64..1 << 30, 0u64..1 << 33];
        let later = prop::option::weighted(0.8, ahead.clone());
        let step = prop_oneof![
            (0u32..6, later.clone()).prop_map(|(component, at)| Step::Set(component, at)),
            (0u32..6, ahead).prop_map(|(component, at)| Step::Schedule(component, at)),
            later.prop_map(Step::Pop),
        ];
        prop::collection::vec(step, 1..80)
    }

    proptest! {
        /// Against the time of each component, searched for the first.
        #[test]
        fn whatever_is_set_the_first_that_is_due_comes_next(steps in steps()) {
            let mut queue = queue(6);
            let (mut now, mut due) = (0, [u64::MAX; 6]);
            for step in steps {
                match step {
                    Step::Set(component, ahead) => {
                        let time = ahead.map(|ahead| now + ahead);
                        queue.set(ComponentId(component), time.map(at));
                        due[component as usize] = time.unwrap_or(u64::MAX);
                    }
                    Step::Schedule(component, ahead) => {
                        queue.schedule(ComponentId(component), at(now + ahead));
                        due[component as usize] = due[component as usize].min(now + ahead);
                    }
                    Step::Pop(again) => {
                        let (time, first) = due.iter().zip(0u32..).min().unwrap();
                        if *time == u64::MAX {
                            prop_assert_eq!(queue.peek(), None);
                            continue;
                        }
                        prop_assert_eq!(queue.peek(), Some((at(*time), ComponentId(first))));
                        now = *time;
                        let next = again.map(|ahead| now + ahead);
                        queue.finish(ComponentId(first), next.map(at));
                        due[first as usize] = next.unwrap_or(u64::MAX);
                    }
                }
            }
        }
    }
}
