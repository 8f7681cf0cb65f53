//! Rates that change over time: piecewise constant, and independent of the traffic.
//!
//! A [`Variation`] is known ahead of time, so a change of the rate needs no event. [`VariableRateSerializer`]
//! computes the time at which the last bit of a packet leaves. A clone produces the same pieces again.

mod on_off;
mod radio;
mod schedule;
mod serializer;
mod walk;

pub use on_off::OnOff;
pub use radio::{Leo, Lte, Wifi};
pub use schedule::Schedule;
pub use serializer::VariableRateSerializer;
pub use walk::{Walk, WalkKind};

use crate::rng::Rng;
use crate::units::{Duration, Instant, Rate};

/// Later than the end of any run: a hundred days are the longest one, this is 146 years.
const FAR: Instant = Instant::from_nanos(u64::MAX / 4);

/// How a rate varies.
#[derive(Clone, Debug, PartialEq)]
pub enum VariationPlan {
    /// By a timetable.
    Schedule(Schedule),
    /// By a random step at even intervals.
    Walk(Walk),
    /// Between two rates, for random times.
    OnOff(OnOff),
    /// The rate of a Wi-Fi station.
    Wifi(Wifi),
    /// The rate of an LTE subscriber.
    Lte(Lte),
    /// The rate of a terminal of a low-orbit satellite network.
    Leo(Leo),
}

impl VariationPlan {
    /// The same course with all rates times `factor`, rounded to whole bits per second.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scale = |bps: u64| (bps as f64 * factor).round() as u64;
        match self.clone() {
            VariationPlan::Schedule(schedule) => VariationPlan::Schedule(schedule.map_rates(scale)),
            VariationPlan::Walk(walk) => VariationPlan::Walk(walk.map_rates(scale)),
            VariationPlan::OnOff(plan) => {
                VariationPlan::OnOff(OnOff { high_bps: scale(plan.high_bps), low_bps: scale(plan.low_bps), ..plan })
            }
            VariationPlan::Wifi(plan) => VariationPlan::Wifi(Wifi { max_bps: scale(plan.max_bps), ..plan }),
            VariationPlan::Lte(plan) => VariationPlan::Lte(Lte { max_bps: scale(plan.max_bps), ..plan }),
            VariationPlan::Leo(plan) => {
                VariationPlan::Leo(Leo { min_bps: scale(plan.min_bps), max_bps: scale(plan.max_bps), ..plan })
            }
        }
    }

    /// The rate from the start of a run to its `end`, never above `most`. It is constant afterwards.
    ///
    /// One that draws numbers draws them from `stream`.
    pub fn build(&self, most: Rate, end: Instant, stream: impl FnOnce() -> Rng) -> Variation {
        let process = match self {
            VariationPlan::Schedule(schedule) => Process::Schedule(schedule.begin()),
            VariationPlan::Walk(walk) => Process::Walk(walk.begin(stream())),
            VariationPlan::OnOff(on_off) => Process::OnOff(on_off.begin(stream())),
            VariationPlan::Wifi(wifi) => Process::Wifi(wifi.begin(stream())),
            VariationPlan::Lte(lte) => Process::Lte(lte.begin(stream())),
            VariationPlan::Leo(leo) => Process::Leo(leo.begin(stream())),
        };
        let piece = Piece { rate_bps: 0, until: Instant::ZERO };
        let mut variation = Variation { process, most, end, leaves: false, piece };
        variation.advance();
        variation
    }
}

/// The next piece of a process: bits per second, and for how long.
type Step = (u64, Duration);

/// Something that says one rate after the other.
trait Steps {
    /// The next rate and its duration. None if the last rate holds forever.
    fn next_step(&mut self) -> Option<Step>;
}

#[derive(Clone, Debug)]
enum Process {
    Schedule(schedule::Course),
    Walk(walk::Course),
    OnOff(on_off::Course),
    Wifi(radio::WifiCourse),
    Lte(radio::LteCourse),
    Leo(radio::LeoCourse),
}

impl Process {
    fn next_step(&mut self) -> Option<Step> {
        match self {
            Process::Schedule(course) => course.next_step(),
            Process::Walk(course) => course.next_step(),
            Process::OnOff(course) => course.next_step(),
            Process::Wifi(course) => course.next_step(),
            Process::Lte(course) => course.next_step(),
            Process::Leo(course) => course.next_step(),
        }
    }
}

/// A part of a rate over time in which it does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bits per second, which may be zero.
    pub rate_bps: u64,
    /// Where the next piece begins.
    pub until: Instant,
}

/// A rate that varies, and a place in it that moves forward.
#[derive(Clone, Debug)]
pub struct Variation {
    process: Process,
    most: Rate,
    end: Instant,
    /// Whether the pieces are the complement of the process in `most`.
    leaves: bool,
    piece: Piece,
}

impl Variation {
    /// The complement: the highest rate less the varying one.
    #[must_use]
    pub fn complement(mut self) -> Self {
        self.leaves = !self.leaves;
        self.piece.rate_bps = self.most.as_bps() - self.piece.rate_bps;
        self
    }

    /// An upper bound of all pieces.
    pub fn most(&self) -> Rate {
        self.most
    }

    /// The piece at this place.
    pub fn piece(&self) -> Piece {
        self.piece
    }

    /// Moves on to the next piece.
    pub fn advance(&mut self) {
        let begin = self.piece.until;
        if begin >= self.end && begin > Instant::ZERO {
            self.piece.until = FAR;
            return;
        }
        let Some((rate_bps, length)) = self.process.next_step() else {
            self.piece.until = FAR;
            return;
        };
        debug_assert!(!length.is_zero(), "invariant: a piece takes time");
        let rate_bps = rate_bps.min(self.most.as_bps());
        let rate_bps = if self.leaves { self.most.as_bps() - rate_bps } else { rate_bps };
        self.piece = Piece { rate_bps, until: begin + length };
    }

    /// Moves on to the piece that holds `at`, and returns it.
    #[inline]
    pub fn seek(&mut self, at: Instant) -> Piece {
        while self.piece.until <= at && self.piece.until < FAR {
            self.advance();
        }
        self.piece
    }

    /// The bits that pass between two times. A nanosecond of one bit per second counts as 1e-9.
    pub fn bits_between(&mut self, since: Instant, until: Instant) -> f64 {
        let mut at = since;
        let mut area = 0u128;
        while at < until {
            let piece = self.seek(at);
            let to = piece.until.min(until);
            area += u128::from(piece.rate_bps) * u128::from(to.since(at).as_nanos());
            at = to;
        }
        area as f64 / 1e9
    }

    /// The mean rate between two times, bits per second, or the rate at `since` if they are equal.
    pub fn mean_bps(&mut self, since: Instant, until: Instant) -> f64 {
        if since == until {
            return self.seek(since).rate_bps as f64;
        }
        self.bits_between(since, until) / until.since(since).as_secs_f64()
    }
}

#[cfg(test)]
mod tests;
