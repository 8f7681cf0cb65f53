//! Runs that agents control step by step, the basis of `ackclock.gym`.

mod agent;
mod observed;
mod run;

use std::sync::{Mutex, PoisonError};

use ackclock::sim::RunError;
use ackclock::units::Duration;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use self::agent::ACTIONS;
use self::observed::{TERMS, Term};
use self::run::{Episode, Out, Rules};
use crate::error::Error;
use crate::scenario::Scenario;

/// Runs of scenarios whose flows agents steer.
#[pyclass(module = "ackclock._core")]
pub struct Episodes {
    scenario: Py<Scenario>,
    groups: Vec<String>,
    rules: Rules,
    /// None where one thread does it all.
    pool: Option<ThreadPool>,
    /// Never locked, because `&mut self` is exclusive.
    runs: Mutex<Vec<Episode>>,
    /// The flows of one run, in the order of the agents.
    names: Vec<String>,
}

/// A run to begin: its place among the runs, the seed, an optional scenario, and an array for observations.
type Beginning = (usize, u64, Option<Py<Scenario>>, Py<PyAny>);

#[pymethods]
impl Episodes {
    /// Begins `runs` runs of a scenario, which continue in parallel on `threads` threads.
    ///
    /// `agents`: groups of flows. `step_s`: seconds per step. `action`: a name of `actions()`. `observation` and
    /// `reward`: indices of `terms()`, and a weight for each of them.
    #[new]
    #[pyo3(signature = (scenario, agents, step_s, action, observation, reward, runs, threads))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        scenario: Py<Scenario>,
        agents: Vec<String>,
        step_s: f64,
        action: &str,
        observation: Vec<usize>,
        reward: Vec<f64>,
        runs: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let (action, ..) = ACTIONS.iter().find(|row| row.1 == action).ok_or_else(|| wrong("no such action"))?;
        if observation.iter().any(|&index| index >= TERMS.len()) || reward.len() != TERMS.len() {
            return Err(wrong("no such term"));
        }
        if observation.is_empty() || runs == 0 || !(1e-9..=1e6).contains(&step_s) {
            return Err(wrong("no observation, no runs, or no time"));
        }
        let rules = Rules { step: Duration::from_secs_f64_round(step_s), action: *action, observation, reward };
        let begin = || Episode::new(scenario.get().first_plan(0), &agents).map_err(|what| wrong(&what));
        let names = begin()?.names();
        if names.is_empty() {
            return Err(wrong("agents need a flow"));
        }
        let begun = (0..runs).map(|_| begin()).collect::<PyResult<Vec<_>>>()?;
        let threads = threads.clamp(1, runs);
        let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build()).transpose();
        let pool = pool.map_err(|error| wrong(&error.to_string()))?;
        Ok(Episodes { scenario, groups: agents, rules, pool, runs: Mutex::new(begun), names })
    }

    /// Names, units and meanings of actions, with the lowest and highest value.
    #[staticmethod]
    fn actions() -> Vec<Term> {
        ACTIONS.iter().map(|&(_, name, unit, meaning, low, high)| (name, unit, meaning, low, high)).collect()
    }

    /// Names, units and meanings of the terms of observations and rewards, with their clipping bounds.
    #[staticmethod]
    fn terms() -> Vec<Term> {
        TERMS.to_vec()
    }

    /// Names of the flows that agents steer, in the order of rows.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Begins runs again.
    ///
    /// Each run gives its place, its seed, a scenario or None for the common one, and an array. The array of 32-bit
    /// floats gets a row for each agent.
    fn reset(&mut self, py: Python<'_>, begin: Vec<Beginning>) -> PyResult<()> {
        let (agents, size) = (self.names.len(), self.rules.observation.len() * self.names.len());
        let count = self.runs().len();
        let (rules, groups, common, names) = (&self.rules, &self.groups, &self.scenario, &self.names);
        let start = |(place, seed, scenario, _): &Beginning| -> Result<(Episode, Vec<f32>), String> {
            if *place >= count {
                return Err("no such run".to_owned());
            }
            let plan = scenario.as_ref().unwrap_or(common).get().first_plan(*seed);
            let mut episode = Episode::new(plan, groups)?;
            if episode.names() != *names {
                return Err("other flows than at first would have agents".to_owned());
            }
            let (mut row, mut rewards) = (vec![0.0; size], vec![0.0; agents]);
            episode.observe(rules, 0.0, &mut Out { observations: &mut row, rewards: &mut rewards });
            Ok((episode, row))
        };
        let begun: Result<Vec<_>, String> = py.detach(|| match &self.pool {
            Some(pool) => pool.install(|| begin.par_iter().map(start).collect()),
            None => begin.iter().map(start).collect(),
        });
        for ((place, _, _, observations), (episode, row)) in begin.iter().zip(begun.map_err(|what| wrong(&what))?) {
            fill(py, observations.bind(py), &row)?;
            self.runs()[*place] = episode;
        }
        Ok(())
    }

    /// Takes an action for each agent of each run, and advances by a step.
    ///
    /// `observations` (32-bit floats) and `rewards` (64-bit floats) get a row and a number for each agent. Returned is which
    /// runs ended as the transfers of their agents are complete, and which for any reason. A run that has ended stays as it is.
    fn step(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        observations: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<bool>, Vec<bool>)> {
        let (agents, row) = (self.names.len(), self.rules.observation.len());
        let actions = PyBuffer::<f32>::get(actions)?.to_vec(py)?;
        if actions.len() != agents * self.runs().len() {
            return Err(wrong("there must be an action for each agent of each run"));
        }
        if !actions.iter().all(|action| action.is_finite()) {
            return Err(wrong("has a number that is not finite"));
        }
        let (mut rows, mut sums) = (vec![0.0; row * actions.len()], vec![0.0; actions.len()]);
        let (rules, pool) = (&self.rules, &self.pool);
        let runs = self.runs.get_mut().unwrap_or_else(PoisonError::into_inner);
        let parts = runs.iter_mut().zip(actions.chunks(agents));
        let outs = rows.chunks_mut(row * agents).zip(sums.chunks_mut(agents));
        let outs = outs.map(|(observations, rewards)| Out { observations, rewards });
        let step = |((run, actions), mut out): ((&mut Episode, &[f32]), Out<'_>)| run.step(rules, actions, &mut out);
        let done: Vec<Result<(), RunError>> = py.detach(|| match pool {
            Some(pool) => {
                let all: Vec<_> = parts.zip(outs).collect();
                pool.install(|| all.into_par_iter().map(step).collect())
            }
            None => parts.zip(outs).map(step).collect(),
        });
        done.into_iter().collect::<Result<(), _>>().map_err(Error::from)?;
        fill(py, observations, &rows)?;
        fill(py, rewards, &sums)?;
        Ok(self.runs().iter().map(Episode::end).unzip())
    }

    /// The time of a run in seconds.
    fn now_s(&mut self, run: usize) -> PyResult<f64> {
        Ok(self.runs().get_mut(run).ok_or_else(|| wrong("no such run"))?.now_s())
    }
}

impl Episodes {
    fn runs(&mut self) -> &mut Vec<Episode> {
        self.runs.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(what.to_owned())
}

/// Copies numbers into an array of as many.
fn fill<T: Element>(py: Python<'_>, array: &Bound<'_, PyAny>, numbers: &[T]) -> PyResult<()> {
    PyBuffer::<T>::get(array)?.copy_from_slice(py, numbers)
}
