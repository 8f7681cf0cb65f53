//! The model over time, for plots: windows, load, feedback, cycles.

use serde::{Deserialize, Serialize};

use super::cycles::{Cycle, CycleMeter};
use super::request::algorithm;
use super::synchronous::{Peak, Setup, SetupError, Synchronous, User};
use crate::cc::CcSpec;
use crate::metric::jain_index;

/// The configuration of a simulation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrajectoryRequest {
    /// The users.
    pub users: Vec<UserRequest>,
    /// The capacity, in segments per round trip.
    pub x_goal: f64,
    /// The end, in round trips.
    pub duration: f64,
    /// Length of a step in round trips.
    #[serde(default = "one")]
    pub step: f64,
    /// The least window, in segments.
    #[serde(default = "one")]
    pub floor: f64,
    /// How the load meets `x_goal`.
    #[serde(default)]
    pub peak: Peak,
}

/// One user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRequest {
    /// The algorithm: a name, or a table with `kind` and parameters.
    #[serde(deserialize_with = "algorithm")]
    pub cc: CcSpec,
    /// The window at the start, in segments.
    pub window: f64,
    /// When the user arrives, in round trips.
    #[serde(default)]
    pub start: f64,
    /// When the user leaves, in round trips.
    #[serde(default)]
    pub stop: Option<f64>,
}

fn one() -> f64 {
    1.0
}

/// The model over time. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trajectory {
    /// Round trips since the start. Exact peaks give two rows of one time, before and after the cut.
    pub time: Vec<f64>,
    /// One row per time: the window of each user in segments, or none for an absent user.
    pub windows: Vec<Vec<Option<f64>>>,
    /// The sum of the windows.
    pub load: Vec<f64>,
    /// The feedback y that the users react to next.
    pub congested: Vec<bool>,
    /// Jain's index of the windows.
    pub jain_index: Vec<f64>,
    /// Every congestion event.
    pub cycles: Vec<Cycle>,
    /// False if a million rows did not reach the end, which only exact peaks with tiny cuts can do.
    pub complete: bool,
}

const MAX_STEPS: f64 = 500_000.0;
const MAX_ROWS: usize = 1_000_000;

/// Runs the model and keeps every step.
///
/// # Errors
/// The errors of [`Setup::check`], a rule that fails, and a duration that is not positive or exceeds 500 000 steps.
pub fn simulate(request: &TrajectoryRequest) -> Result<Trajectory, SetupError> {
    let mut model = Synchronous::new(request.setup())?;
    let steps = request.duration / request.step;
    if !(steps > 0.0 && steps <= MAX_STEPS) {
        return Err(SetupError::OutOfRange {
            key: "duration".to_owned(),
            value: request.duration,
            expected: "above 0 and at most 500000 steps",
        });
    }
    let mut meter = CycleMeter::default();
    let mut trajectory = Trajectory { complete: true, ..Trajectory::default() };
    while model.time() <= request.duration {
        if trajectory.time.len() == MAX_ROWS {
            trajectory.complete = false;
            break;
        }
        trajectory.push(&model);
        trajectory.cycles.extend(meter.advance(&mut model));
        model.check_rules()?;
    }
    Ok(trajectory)
}

impl TrajectoryRequest {
    fn setup(&self) -> Setup {
        let user =
            |user: &UserRequest| User { cc: user.cc.clone(), window: user.window, start: user.start, stop: user.stop };
        Setup {
            users: self.users.iter().map(user).collect(),
            x_goal: self.x_goal,
            step: self.step,
            floor: self.floor,
            peak: self.peak,
        }
    }
}

impl Trajectory {
    fn push(&mut self, model: &Synchronous) {
        self.time.push(model.time());
        self.windows.push(model.windows().to_vec());
        self.load.push(model.load());
        self.congested.push(model.congested());
        self.jain_index.push(jain_index(&model.active_windows()));
    }
}
