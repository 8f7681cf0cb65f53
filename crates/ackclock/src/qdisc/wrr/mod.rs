//! Weighted round robin: classes take turns, and each sends bytes in proportion to its weight.
//!
//! Reference: Shreedhar & Varghese 1995, Efficient Fair Queuing using Deficit Round Robin, with a quantum for each
//! class. Linux has it as the classful `drr` (`tc-drr(8)`).
//!
//! ```text
//! a class's turn   deficit <- deficit + quantum x weight
//!                  while its next item fits: send it, deficit <- deficit - its bytes
//! then             empty: deficit <- 0; else the turn is the next class's, and the deficit is kept
//! ```
//!
//! Deviations: classes have selectors. A class that keeps its items (`tbf`) misses its turn and gets no quantum. Linux
//! permits no such class. The limit of all classes is an addition.

mod keys;

pub use keys::{WrrKeys, WrrParameters};

use std::collections::VecDeque;

use super::classes::{Class, Classes, Scheduler};
use super::{QueueSink, Queued};
use crate::units::Instant;

/// Classes by weight.
pub type Wrr<T> = Classes<T, Turns>;

/// The turns of the classes.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The share of each class.
    shares: Vec<Share>,
    /// Classes with items, in the order of their turns.
    active: VecDeque<usize>,
    /// Whether the first of them has got its quantum.
    has_begun: bool,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    /// Bytes in a turn, at least 1.
    quantum: u64,
    /// Bytes that the class may still send.
    deficit: u64,
    is_active: bool,
}

impl Turns {
    /// The turns of classes with these quanta in bytes.
    pub(super) fn new(quanta: impl Iterator<Item = u64>) -> Self {
        let shares = quanta.map(|quantum| Share { quantum, deficit: 0, is_active: false }).collect();
        Turns { shares, active: VecDeque::new(), has_begun: false }
    }

    fn end_turn(&mut self) {
        self.active.rotate_left(1);
        self.has_begun = false;
    }

    /// The first class has nothing left.
    fn retire(&mut self) {
        if let Some(class) = self.active.pop_front() {
            self.shares[class] = Share { deficit: 0, is_active: false, ..self.shares[class] };
        }
        self.has_begun = false;
    }
}

impl Scheduler for Turns {
    fn activate(&mut self, class: usize) {
        if !std::mem::replace(&mut self.shares[class].is_active, true) {
            self.active.push_back(class);
        }
    }

    fn next<T: Queued>(
        &mut self,
        classes: &mut [Class<T>],
        now: Instant,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        // Classes in a row that keep their items.
        let mut keeping = 0;
        while keeping < self.active.len() {
            let number = self.active[0];
            let (class, share) = (&mut classes[number], &mut self.shares[number]);
            let Some(len) = class.first_len(now, sink) else {
                if class.is_empty() {
                    self.retire();
                } else {
                    keeping += 1;
                    self.end_turn();
                }
                continue;
            };
            keeping = 0;
            if !self.has_begun {
                self.has_begun = true;
                share.deficit += share.quantum;
            }
            if u64::from(len) > share.deficit {
                self.end_turn();
                continue;
            }
            share.deficit -= u64::from(len);
            let sent = class.dequeue(now, sink);
            if class.is_empty() {
                self.retire();
            }
            return sent;
        }
        None
    }
}

#[cfg(test)]
mod tests;
