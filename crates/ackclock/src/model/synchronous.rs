//! The synchronous model of Chiu & Jain: users, a common feedback bit, a common step.
//!
//! Reference: Chiu & Jain 1989, and eq. 1 of `jasem-utilization`. In each step every user grows after feedback y = 0
//! and cuts after y = 1. The feedback is `y = 1` (congested) while the sum of the windows is strictly greater than
//! `X_goal`. In jasem-efficiency-fairness a feedback of 0 means congested.
//!
//! A step is one round trip, or a fraction of it for the limit of fine steps. With [`Peak::Overshoot`] growing steps
//! are complete, so peaks exceed `X_goal` by up to a step. A cut takes a step. With [`Peak::Exact`] the last growing
//! step is shortened so that the load hits `X_goal`. The cut takes no time. Only a cut that frees almost nothing
//! takes a step, because ever shorter cycles would stop the clock.
//!
//! Deviations: windows have a floor (1 segment by default), unlike in the equations. It must be positive, because a
//! rule divides by the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{CcMistake, CcSpec};
use crate::rule::Rule;

/// A user of the resource.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// The algorithm. The model uses only its rule.
    pub cc: CcSpec,
    /// The window at the start, in segments.
    pub window: f64,
    /// When the user arrives, in round trips.
    pub start: f64,
    /// When the user leaves, in round trips.
    pub stop: Option<f64>,
}

/// How the load meets `X_goal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Peak {
    /// Whole steps: the load passes `X_goal` by up to a step.
    #[default]
    Overshoot,
    /// The load hits `X_goal` exactly, and the cut follows at once.
    Exact,
}

/// Everything that the model needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The users.
    pub users: Vec<User>,
    /// The capacity, in segments per round trip.
    pub x_goal: f64,
    /// Length of a step in round trips, at most 1.
    pub step: f64,
    /// The least window, in segments.
    pub floor: f64,
    /// How the load meets `x_goal`.
    pub peak: Peak,
}

impl Setup {
    /// Users who are there from the start, all with the algorithm `cc`, in steps of one round trip.
    pub fn alike(cc: &CcSpec, windows: &[f64], x_goal: f64) -> Setup {
        let user = |&window: &f64| User { cc: cc.clone(), window, start: 0.0, stop: None };
        Setup { users: windows.iter().map(user).collect(), x_goal, step: 1.0, floor: 1.0, peak: Peak::Overshoot }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), SetupError> {
        if self.users.is_empty() {
            return Err(SetupError::NoUsers);
        }
        let at = |key: &str, value: f64, holds: bool, expected: &'static str| {
            let key = key.to_owned();
            if value.is_finite() && holds { Ok(()) } else { Err(SetupError::OutOfRange { key, value, expected }) }
        };
        at("x_goal", self.x_goal, self.x_goal > 0.0, "above 0")?;
        at("step", self.step, self.step > 0.0 && self.step <= 1.0, "above 0 and at most 1")?;
        at("floor", self.floor, self.floor > 0.0, "above 0")?;
        for (i, user) in self.users.iter().enumerate() {
            user.cc.check().map_err(|source| SetupError::Algorithm { user: i, source })?;
            at(&format!("users.{i}.window"), user.window, user.window > 0.0, "above 0")?;
            at(&format!("users.{i}.start"), user.start, user.start >= 0.0, "at least 0")?;
            if let Some(stop) = user.stop {
                at(&format!("users.{i}.stop"), stop, stop > user.start, "later than the start")?;
            }
        }
        Ok(())
    }
}

/// An invalid configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// There are no users.
    #[error("`users` is empty; give at least one user")]
    NoUsers,
    /// A value is out of its range.
    #[error("`{key}` is {value}, but must be {expected}")]
    OutOfRange {
        /// Path of the key.
        key: String,
        /// The value.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// A parameter of an algorithm is out of its range.
    #[error("users.{user}.cc: {source}")]
    Algorithm {
        /// Number of the user, from 0.
        user: usize,
        /// Which parameter.
        source: CcMistake,
    },
    /// The algorithm of a user gave a window that cannot be.
    #[error("users.{user}.cc: the algorithm failed after {time} round trips: {what}")]
    Failed {
        /// Number of the user, from 0.
        user: usize,
        /// When.
        time: f64,
        /// Why.
        what: String,
    },
    /// An algorithm that is more than a window rule.
    #[error(
        "users.{user}.cc: \"{name}\" is more than a window rule, and the model has no clock; use another algorithm"
    )]
    NoRule {
        /// Number of the user, from 0.
        user: usize,
        /// The algorithm.
        name: &'static str,
    },
}

/// The part of `X_goal` that a cut must free to take no time.
const NEXT_TO_NOTHING: f64 = 1e-6;

/// The kind of an advance of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// The feedback was 0: the users grew.
    Grew,
    /// The feedback was 1: the users cut.
    Cut,
}

/// The model at one moment.
pub struct Synchronous {
    setup: Setup,
    rules: Vec<Box<dyn Rule>>,
    /// The window of each user. None for an absent user.
    windows: Vec<Option<f64>>,
    clock: Clock,
    /// A shortened step has brought the load to `x_goal`.
    at_peak: bool,
}

impl Synchronous {
    /// The model at time 0.
    ///
    /// # Errors
    /// As [`Setup::check`], and an algorithm without a window rule.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let rule = |(number, user): (usize, &User)| {
            user.cc.rule().ok_or_else(|| SetupError::NoRule { user: number, name: user.cc.name() })
        };
        let mut model = Synchronous {
            rules: setup.users.iter().enumerate().map(rule).collect::<Result<_, _>>()?,
            windows: vec![None; setup.users.len()],
            clock: Clock { anchor: 0.0, steps: 0, step: setup.step },
            at_peak: false,
            setup,
        };
        model.admit_and_dismiss();
        Ok(model)
    }

    /// Time since the start, in round trips.
    pub fn time(&self) -> f64 {
        self.clock.now()
    }

    /// The window of each user in segments. None for an absent user.
    pub fn windows(&self) -> &[Option<f64>] {
        &self.windows
    }

    /// The windows of the users who are there.
    pub fn active_windows(&self) -> Vec<f64> {
        self.windows.iter().flatten().copied().collect()
    }

    /// The sum of the windows.
    pub fn load(&self) -> f64 {
        self.windows.iter().flatten().sum()
    }

    /// The feedback: true (y = 1) if the load is above `x_goal`, or with exact peaks, if it has reached it.
    pub fn congested(&self) -> bool {
        match self.setup.peak {
            Peak::Overshoot => self.load() > self.setup.x_goal,
            Peak::Exact => self.at_peak || self.load() >= self.setup.x_goal,
        }
    }

    /// True if the load is above `x_goal`. At an exact peak it is false, regardless of rounding.
    pub fn above_goal(&self) -> bool {
        !self.at_peak && self.load() > self.setup.x_goal
    }

    /// The capacity, in segments per round trip.
    pub fn x_goal(&self) -> f64 {
        self.setup.x_goal
    }

    /// The algorithm that cannot continue, and the reason.
    ///
    /// # Errors
    /// [`SetupError::Failed`].
    pub fn check_rules(&self) -> Result<(), SetupError> {
        let faults = self.rules.iter().enumerate().filter_map(|(user, rule)| Some((user, rule.fault()?)));
        let failed =
            faults.map(|(user, what)| SetupError::Failed { user, time: self.time(), what: what.to_owned() }).next();
        failed.map_or(Ok(()), Err)
    }

    /// All users react to the feedback once.
    pub fn advance(&mut self) -> Advance {
        let advance = if self.congested() { self.cut() } else { self.grow() };
        self.admit_and_dismiss();
        advance
    }

    fn cut(&mut self) -> Advance {
        let load_before = self.load();
        let loss_ratio = (1.0 - self.setup.x_goal / load_before).max(0.0);
        for (window, rule) in self.windows.iter_mut().zip(&mut self.rules) {
            if let Some(w) = window {
                rule.on_loss_ratio(loss_ratio);
                *w = rule.cut(*w);
                if *w < self.setup.floor {
                    *w = self.setup.floor;
                    rule.floored(*w);
                }
            }
        }
        self.at_peak = false;
        let freed = load_before - self.load();
        if self.setup.peak == Peak::Overshoot || freed < NEXT_TO_NOTHING * self.setup.x_goal {
            self.clock.tick();
        }
        Advance::Cut
    }

    fn grow(&mut self) -> Advance {
        let before = self.windows.clone();
        let load_before = self.load();
        for (window, rule) in self.windows.iter_mut().zip(&mut self.rules) {
            if let Some(w) = window {
                *w = rule.grow(*w, *w * self.setup.step).max(self.setup.floor);
            }
        }
        let load = self.load();
        if self.setup.peak == Peak::Overshoot || load < self.setup.x_goal {
            self.clock.tick();
            return Advance::Grew;
        }
        // Shortened in proportion: exact for a rule that grows evenly within a step, as all linear ones do.
        let part = (self.setup.x_goal - load_before) / (load - load_before);
        for (window, before) in self.windows.iter_mut().zip(before) {
            if let (Some(w), Some(before)) = (window, before) {
                *w = before + part * (*w - before);
            }
        }
        self.clock.part_of_a_tick(part);
        self.at_peak = true;
        Advance::Grew
    }

    /// Lets users arrive and leave, at the first step at or after their time.
    fn admit_and_dismiss(&mut self) {
        let now = self.clock.now();
        for (i, user) in self.setup.users.iter().enumerate() {
            let present = user.start <= now && user.stop.is_none_or(|stop| now < stop);
            if present && self.windows[i].is_none() {
                let window = user.window.max(self.setup.floor);
                self.rules[i].restart(window);
                self.windows[i] = Some(window);
                self.at_peak = false;
            } else if !present && self.windows[i].is_some() {
                self.windows[i] = None;
                self.at_peak = false;
            }
        }
    }
}

/// Time as a number of steps since the last shortened one, so that no rounding adds up.
struct Clock {
    anchor: f64,
    steps: u64,
    step: f64,
}

impl Clock {
    fn now(&self) -> f64 {
        self.anchor + self.steps as f64 * self.step
    }

    fn tick(&mut self) {
        self.steps += 1;
    }

    fn part_of_a_tick(&mut self, part: f64) {
        self.anchor = self.now() + part * self.step;
        self.steps = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimd() -> CcSpec {
        CcSpec::by_name("aimd").unwrap()
    }

    #[test]
    fn feedback_is_congested_strictly_above_the_goal() {
        // 49 + 49 = 98, 100, 102: the cut comes at 102 and leaves 25.5 each.
        let mut model = Synchronous::new(Setup::alike(&aimd(), &[49.0, 49.0], 100.0)).unwrap();
        assert_eq!((model.advance(), model.load(), model.congested()), (Advance::Grew, 100.0, false));
        assert_eq!((model.advance(), model.load(), model.congested()), (Advance::Grew, 102.0, true));
        assert_eq!((model.advance(), model.load(), model.time()), (Advance::Cut, 51.0, 3.0));
    }

    #[test]
    fn an_exact_peak_shortens_the_step_and_cuts_at_once() {
        // 49.5 + 49.5 = 99: half a step to 100, then 25 each at the same time.
        let setup = Setup { peak: Peak::Exact, ..Setup::alike(&aimd(), &[49.5, 49.5], 100.0) };
        let mut model = Synchronous::new(setup).unwrap();
        assert_eq!((model.advance(), model.load(), model.congested()), (Advance::Grew, 100.0, true));
        assert_eq!((model.advance(), model.load(), model.time()), (Advance::Cut, 50.0, 0.5));
    }

    #[test]
    fn users_arrive_and_leave() {
        let mut setup = Setup::alike(&aimd(), &[10.0, 20.0], 1000.0);
        setup.users[0].stop = Some(3.0);
        setup.users[1].start = 2.0;
        let mut model = Synchronous::new(setup).unwrap();
        let mut seen = vec![model.windows().to_vec()];
        for _ in 0..3 {
            model.advance();
            seen.push(model.windows().to_vec());
        }
        let expected = [[Some(10.0), None], [Some(11.0), None], [Some(12.0), Some(20.0)], [None, Some(21.0)]]
            .map(|row| row.to_vec());
        assert_eq!(seen, expected);
    }

    #[test]
    fn no_window_falls_below_the_floor() {
        let aiad: CcSpec = serde_json::from_str(r#"{"kind": "aiad", "increase": 1, "removed": 30}"#).unwrap();
        let mut model = Synchronous::new(Setup::alike(&aiad, &[5.0, 96.0], 100.0)).unwrap();
        assert_eq!((model.advance(), model.active_windows()), (Advance::Cut, vec![1.0, 66.0]));
    }

    #[test]
    fn a_set_up_out_of_range_is_named() {
        let message = |setup: Setup| setup.check().unwrap_err().to_string();
        assert_eq!(message(Setup::alike(&aimd(), &[], 1.0)), "`users` is empty; give at least one user");
        assert_eq!(message(Setup::alike(&aimd(), &[1.0, 0.0], 1.0)), "`users.1.window` is 0, but must be above 0");
        let setup = Setup { step: 2.0, ..Setup::alike(&aimd(), &[1.0], 1.0) };
        assert_eq!(message(setup), "`step` is 2, but must be above 0 and at most 1");
        let cc: CcSpec = serde_json::from_str(r#"{"kind": "aimd", "remaining": 2}"#).unwrap();
        assert_eq!(
            message(Setup::alike(&cc, &[1.0], 1.0)),
            "users.0.cc: `remaining` is 2, but must be above 0 and at most 1"
        );
    }
}
