//! Cycles of the model: from one congestion event to the next.
//!
//! A step is the time between two signals, a cycle the time between two congestion events.

use serde::Serialize;

use super::synchronous::{Advance, Setup, SetupError, Synchronous};
use crate::metric::jain_index;

/// The end of a cycle: a congestion event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cycle {
    /// When, in round trips.
    pub time: f64,
    /// Time that the users spent growing since the start, in round trips: cuts take none of it.
    pub growing_time: f64,
    /// The load just before the cut.
    pub peak: f64,
    /// The load just after it.
    pub after_cut: f64,
    /// Largest minus smallest window at the peak.
    pub difference: f64,
    /// Largest over smallest window at the peak.
    pub ratio: f64,
    /// Jain's index of the windows at the peak.
    pub jain_index: f64,
}

/// Advances a model and detects the ends of its cycles.
#[derive(Default)]
pub(super) struct CycleMeter {
    growing_time: f64,
}

impl CycleMeter {
    /// Advances `model` once. After a cut, returns the cycle that it ended.
    pub(super) fn advance(&mut self, model: &mut Synchronous) -> Option<Cycle> {
        let (time, windows) = (model.time(), model.active_windows());
        if model.advance() == Advance::Grew {
            self.growing_time += model.time() - time;
            return None;
        }
        let largest = windows.iter().copied().fold(f64::MIN, f64::max);
        let smallest = windows.iter().copied().fold(f64::MAX, f64::min);
        Some(Cycle {
            time,
            growing_time: self.growing_time,
            peak: windows.iter().sum(),
            after_cut: model.load(),
            difference: largest - smallest,
            ratio: largest / smallest,
            jain_index: jain_index(&windows),
        })
    }
}

/// The first `count` cycles of the model, or those that `max_steps` steps hold.
///
/// # Errors
/// As [`Setup::check`].
pub fn cycles(setup: Setup, count: usize, max_steps: usize) -> Result<Vec<Cycle>, SetupError> {
    let mut model = Synchronous::new(setup)?;
    let mut meter = CycleMeter::default();
    Ok((0..max_steps).filter_map(|_| meter.advance(&mut model)).take(count).collect())
}
