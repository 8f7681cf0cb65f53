//! Strict priority: a class sends while the classes before it have nothing to send.
//!
//! Reference: Linux's `prio` (`tc-prio(8)`), and priority queueing as in RFC 7806, section 2.2.1.
//!
//! ```text
//! arrival     joins the first class that selects it, or else the last one
//! departure   the first class with an item that may leave
//! ```
//!
//! Deviations: classes have selectors instead of the priority map of a socket's priority. A class may shape
//! (`tbf`): while it keeps its items, later classes send. The limit of all classes is an addition.

mod keys;

pub use keys::{PrioKeys, PrioParameters};

use super::classes::{Class, Classes, Scheduler};
use super::{QueueSink, Queued};
use crate::units::Instant;

/// Classes by strict priority.
pub type Prio<T> = Classes<T, Priority>;

/// The first class that has something to send.
#[derive(Clone, Copy, Debug)]
pub struct Priority;

impl Scheduler for Priority {
    fn activate(&mut self, _class: usize) {}

    fn next<T: Queued>(
        &mut self,
        classes: &mut [Class<T>],
        now: Instant,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        classes.iter_mut().filter(|class| !class.is_empty()).find_map(|class| class.dequeue(now, sink))
    }
}

#[cfg(test)]
mod tests;
