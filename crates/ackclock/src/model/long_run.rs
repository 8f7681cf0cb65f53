//! Long-run averages of the model: the efficiency of a rule, and the share of steps above `X_goal`.
//!
//! Efficiency is the mean load over `X_goal`, taken over the steps at or below `X_goal`. With exact peaks the load is
//! averaged over time along its straight ramps, which are all at or below `X_goal`.

use serde::Serialize;

use super::synchronous::{Advance, Peak, Setup, SetupError, Synchronous};

/// The length of a run. Averages cover its second half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Horizon {
    /// A number of reactions to the feedback.
    Steps(u64),
    /// A number of congestion events, in at most ten million steps.
    Cycles(u64),
}

const MAX_STEPS: u64 = 10_000_000;

impl Horizon {
    fn reached(self, half: bool, steps: u64, cycles: u64) -> bool {
        let (done, end) = match self {
            Horizon::Steps(end) => (steps, end.min(MAX_STEPS)),
            Horizon::Cycles(end) => (cycles, end),
        };
        done >= if half { end / 2 } else { end } || steps >= MAX_STEPS
    }
}

/// Averages over the second half of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Averages {
    /// Mean load over `X_goal`, over the steps at or below it. None without such steps.
    pub efficiency: Option<f64>,
    /// Share of the steps above `X_goal`.
    pub congested_share: f64,
    /// The same share from the start of the run.
    pub congested_share_from_start: f64,
    /// Mean of the load after a cut over the load before it. None without cuts.
    pub remaining: Option<f64>,
}

/// Runs the model to its horizon.
///
/// # Errors
/// As [`Setup::check`].
pub fn long_run(setup: Setup, horizon: Horizon) -> Result<Averages, SetupError> {
    let exact = setup.peak == Peak::Exact;
    let mut model = Synchronous::new(setup)?;
    let (mut steps, mut cycles, mut congested) = (0, 0, 0_u64);
    let mut tally = Tally::default();
    while !horizon.reached(false, steps, cycles) {
        let counted = horizon.reached(true, steps, cycles);
        let (time, load, above) = (model.time(), model.load(), model.above_goal());
        let advance = model.advance();
        if counted {
            tally.steps += 1;
            tally.congested += u64::from(above);
            if exact {
                let length = model.time() - time;
                tally.load.add(length * (load + model.load()) / 2.0, length);
            } else if !above {
                tally.load.add(load, 1.0);
            }
            if advance == Advance::Cut {
                tally.remaining.add(model.load() / load, 1.0);
            }
        }
        steps += 1;
        congested += u64::from(above);
        cycles += u64::from(advance == Advance::Cut);
    }
    Ok(Averages {
        efficiency: tally.load.mean().map(|load| load / model.x_goal()),
        congested_share: crate::metric::ratio(tally.congested as f64, tally.steps as f64).unwrap_or(0.0),
        congested_share_from_start: crate::metric::ratio(congested as f64, steps as f64).unwrap_or(0.0),
        remaining: tally.remaining.mean(),
    })
}

#[derive(Default)]
struct Tally {
    steps: u64,
    congested: u64,
    load: Mean,
    remaining: Mean,
}

#[derive(Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, weighted: f64, weight: f64) {
        self.sum += weighted;
        self.weight += weight;
    }

    fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}
