//! Rates that change by a random step at even intervals.

use super::{Step, Steps};
use crate::rng::Rng;
use crate::units::Duration;

/// A random walk of the rate, clamped to bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// How the next rate follows from the last one, B.
    pub kind: WalkKind,
    /// Lower bound, bits per second.
    pub min_bps: u64,
    /// Upper bound, bits per second.
    pub max_bps: u64,
    /// For how long each rate holds.
    pub step: Duration,
}

/// The process from one rate to the next, which is drawn uniformly. Rates are in bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WalkKind {
    /// Between the bounds, independent of the previous rate.
    Anywhere,
    /// From B - delta to B + delta.
    Around {
        /// The first rate.
        start: u64,
        /// The largest step.
        delta: u64,
    },
    /// From 0 to B + delta: an additively constrained walk (Karp, Koutsoupias, Papadimitriou & Shenker 2000).
    Additive {
        /// The first rate.
        start: u64,
        /// How far it may rise.
        delta: u64,
    },
    /// From 0 to factor times B: a multiplicatively constrained walk (the same).
    Multiplicative {
        /// The first rate.
        start: u64,
        /// The largest factor by which it may rise.
        factor: f64,
    },
}

impl Walk {
    /// The same walk with other rates.
    pub(super) fn map_rates(self, of: impl Fn(u64) -> u64) -> Self {
        let kind = match self.kind {
            WalkKind::Anywhere => WalkKind::Anywhere,
            WalkKind::Around { start, delta } => WalkKind::Around { start: of(start), delta: of(delta) },
            WalkKind::Additive { start, delta } => WalkKind::Additive { start: of(start), delta: of(delta) },
            WalkKind::Multiplicative { start, factor } => WalkKind::Multiplicative { start: of(start), factor },
        };
        Walk { kind, min_bps: of(self.min_bps), max_bps: of(self.max_bps), step: self.step }
    }

    pub(super) fn begin(self, stream: Rng) -> Course {
        Course { walk: self, last: None, stream }
    }
}

/// The state of a walk.
#[derive(Clone, Debug)]
pub(super) struct Course {
    walk: Walk,
    /// With its fraction: a walk that comes close to zero comes back.
    last: Option<f64>,
    stream: Rng,
}

impl Steps for Course {
    fn next_step(&mut self) -> Option<Step> {
        let Walk { kind, min_bps, max_bps, step } = self.walk;
        let (min, max) = (min_bps as f64, max_bps as f64);
        let mut draw = |low: f64, high: f64| low + (high - low) * self.stream.next_f64();
        let next = match (kind, self.last) {
            (WalkKind::Anywhere, _) => draw(min, max),
            (
                WalkKind::Around { start, .. }
                | WalkKind::Additive { start, .. }
                | WalkKind::Multiplicative { start, .. },
                None,
            ) => start as f64,
            (WalkKind::Around { delta, .. }, Some(last)) => draw(last - delta as f64, last + delta as f64),
            (WalkKind::Additive { delta, .. }, Some(last)) => draw(0.0, last + delta as f64),
            (WalkKind::Multiplicative { factor, .. }, Some(last)) => draw(0.0, factor * last),
        };
        let next = next.max(min).min(max);
        self.last = Some(next);
        Some((next as u64, step))
    }
}
