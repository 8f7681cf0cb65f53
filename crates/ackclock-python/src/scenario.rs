//! Scenarios: read, described, run.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ackclock::cc::CcSpec;
use ackclock::contract::diagnose;
use ackclock::sim::{Plan, Stack};
use ackclock_scenario::ReadFiles;
use pyo3::prelude::*;

use crate::cancel::Cancel;
use crate::catalog::to_json;
use crate::emulator::{Kernel, Needed, Programs, emulated};
use crate::error::{Error, capture_error};
use crate::foreign;
use crate::foreign::progress::Cells;
use crate::run::{Outcome, Run, simulated};

/// A checked scenario.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Scenario {
    inner: ackclock_scenario::Scenario,
}

impl Scenario {
    /// The plan of the first replicate.
    pub fn first_plan(&self, seed: u64) -> Plan {
        self.inner.plan(Some(seed), 0)
    }
}

#[pymethods]
impl Scenario {
    /// Reads TOML. `source` is the file's name in messages, and `sets` contains `KEY=VALUE` texts as for `--set`.
    #[staticmethod]
    #[pyo3(signature = (text, source = "<string>", sets = Vec::new()))]
    fn from_toml(text: &str, source: &str, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: ackclock_scenario::Scenario::from_toml_with(text, source, &sets, &beside(source))? })
    }

    /// Reads TOML with settings that are known to reach runs, which is several times as fast.
    #[staticmethod]
    fn from_toml_known(text: &str, source: &str, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: ackclock_scenario::Scenario::from_toml_known(text, source, &sets, &beside(source))? })
    }

    /// Reads the same tree from JSON.
    #[staticmethod]
    #[pyo3(signature = (text, source = "<string>", sets = Vec::new()))]
    fn from_json(text: &str, source: &str, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: ackclock_scenario::Scenario::from_json_with(text, source, &sets, &beside(source))? })
    }

    /// This scenario with some keys changed.
    fn with_sets(&self, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: self.inner.with_sets_and(&sets, &beside(self.inner.source()))? })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The canonical hash, equal for scenarios with equal results. It ignores name and seed.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash()
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed()
    }

    /// True if replicates differ.
    #[getter]
    fn is_random(&self) -> bool {
        self.inner.is_random()
    }

    /// The user-supplied algorithms that flows run.
    ///
    /// Of each its `kind` (`python`, `library`, `bpf`, `kernel` or `module`), source, and name in results.
    #[getter]
    fn foreign(&self) -> Vec<(&'static str, String, String)> {
        let row = |spec: &&CcSpec| {
            let source = match spec {
                CcSpec::Python(class) => class.source.clone(),
                CcSpec::Library(library) => library.path.clone(),
                CcSpec::Bpf(program) => program.object.clone(),
                CcSpec::Kernel(algorithm) => algorithm.name.clone(),
                CcSpec::Module(module) => module.source.clone(),
                built_in => built_in.title(),
            };
            (spec.name(), source, spec.title())
        };
        self.inner.foreign().iter().map(row).collect()
    }

    /// Warnings: properties to check before trusting a result.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// The resolved scenario as JSON that reads back as the same scenario.
    fn resolved_json(&self) -> String {
        self.inner.resolved_json()
    }

    /// The scenario as written, with the contents of its files, as JSON. Settings reach the shared parts of its
    /// flows.
    fn written_json(&self) -> String {
        self.inner.written_json()
    }

    /// Equal for scenarios whose compiled plans are equal. It ignores name and seed.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.fingerprint())
    }

    /// Links, flows and random inputs in full, as JSON. `most` limits the flows per group.
    #[pyo3(signature = (most = None))]
    fn describe_json(&self, py: Python<'_>, most: Option<u32>) -> PyResult<String> {
        py.detach(|| to_json(&self.inner.describe_first(most.unwrap_or(u32::MAX))))
    }

    /// Runs one replicate, without holding the GIL. Ctrl-C in the main thread ends it.
    ///
    /// Without `samples` the run samples nothing over time, even if the scenario asks for it. The other results are
    /// the same. `capture` gives the place of capture: a link, `sender` or `receiver`. It also gives the flows (all
    /// if none are given), and whether to capture the states of senders.
    #[pyo3(signature = (seed = None, replicate = 0, cancel = None, *, samples = true, capture = None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        replicate: u64,
        cancel: Option<&Cancel>,
        samples: bool,
        capture: Option<(String, Vec<String>, bool)>,
    ) -> PyResult<Run> {
        let flag = cancel.map(Cancel::flag).unwrap_or_default();
        let mut plan = self.plan(py, (seed, replicate), samples, capture)?;
        let cells = Cells::take();
        let needs = foreign::bind(py, &mut plan, |_| true, cells);
        let run = needs.and_then(|needs| {
            let work = || simulated(&plan, &flag);
            self.execute(py, work, &plan, &flag, (seed, replicate), (needs, cells))
        });
        cells.put_back();
        run
    }

    /// Runs one replicate in real time, with the TCP of the running kernel at both ends. Ctrl-C in the main thread ends it.
    ///
    /// `seed`, `replicate`, `cancel` and `samples` are as for `run`. `programs` lists a group of flows and the shell
    /// commands that replace it. The first command runs on the host of the senders, and its end is the end of the
    /// run. The second runs on the host of the receivers, if given. `capture` gives a link, `sender` or `receiver`,
    /// the flows, and the bytes kept of each packet. `objects` is the folder of compiled objects for algorithms that
    /// the kernel lacks.
    #[pyo3(signature = (seed = None, replicate = 0, cancel = None, *, samples = true, programs = None, capture = None, objects = None, kernel = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn emulate(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        replicate: u64,
        cancel: Option<&Cancel>,
        samples: bool,
        programs: Programs,
        capture: Option<(String, Vec<String>, u32)>,
        objects: Option<PathBuf>,
        kernel: Kernel,
    ) -> PyResult<Run> {
        let flag = cancel.map(Cancel::flag).unwrap_or_default();
        let snaplen = capture.as_ref().map_or(0, |(_, _, kept)| *kept);
        let place = capture.map(|(at, flows, _)| (at, flows, false));
        let mut plan = self.plan(py, (seed, replicate), samples, place)?;
        let cells = Cells::take();
        let needed = Needed { programs, snaplen, objects: objects.unwrap_or_default(), kernel };
        let needs = foreign::bind(py, &mut plan, |flow| flow.stack == Stack::Simulated, cells);
        let run = needs.and_then(|needs| {
            let work = || emulated(&plan, needed, &flag);
            self.execute(py, work, &plan, &flag, (seed, replicate), (needs, cells))
        });
        cells.put_back();
        run
    }

    /// Checks `capture` as `run` takes it.
    fn check_capture(&self, at: &str, flows: Vec<String>) -> PyResult<()> {
        self.inner.plan(None, 0).capture_at(at, &flows, false).map_err(capture_error)
    }

    /// The contract violations of the algorithm of a group, as JSON, or None for a group without an algorithm.
    fn check_cc_json(&self, py: Python<'_>, group: &str) -> PyResult<Option<String>> {
        let mut plan = self.inner.plan(None, 0);
        plan.check_simulated().map_err(Error::from)?;
        let cells = Cells::take();
        let bound = foreign::bind(py, &mut plan, |_| true, cells);
        let flow = plan.flows.iter().find(|flow| &*flow.group == group);
        let findings = bound.map(|_| flow.map(|flow| diagnose(&flow.cc)));
        cells.put_back();
        findings?.map(|findings| to_json(&findings)).transpose()
    }

    fn __repr__(&self) -> String {
        format!("Scenario(name={:?}, hash={:?})", self.inner.name(), self.inner.hash())
    }
}

impl Scenario {
    /// The plan for a seed and a replicate, with or without samples, and with an optional place of capture.
    fn plan(
        &self,
        py: Python<'_>,
        (seed, replicate): (Option<u64>, u64),
        samples: bool,
        capture: Option<(String, Vec<String>, bool)>,
    ) -> PyResult<Plan> {
        let mut plan = py.detach(|| self.inner.plan(seed, replicate));
        if !samples {
            plan.sampling.interval = None;
        }
        if let Some((at, flows, senders)) = capture {
            plan.capture_at(&at, &flows, senders).map_err(capture_error)?;
        }
        Ok(plan)
    }

    fn execute(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<Outcome, Error> + Send,
        plan: &Plan,
        stop: &AtomicBool,
        (seed, replicate): (Option<u64>, u64),
        (needs, cells): (foreign::Needs, &'static Cells),
    ) -> PyResult<Run> {
        Run::execute(py, work, stop, (needs, cells), |outcome| Run {
            scenario: self.inner.name().to_owned(),
            scenario_hash: self.inner.hash(),
            seed: seed.unwrap_or_else(|| self.inner.seed()),
            replicate,
            duration_s: plan.duration.as_secs_f64(),
            drawn: self.inner.drawn(plan),
            outcome,
        })
    }
}

/// Reads files by names that are relative to the folder of `source`.
fn beside(source: &str) -> Beside {
    Beside { folder: Path::new(source).parent().unwrap_or(Path::new("")).to_owned() }
}

/// The folder that a scenario is in.
struct Beside {
    folder: PathBuf,
}

impl ReadFiles for Beside {
    fn read_file(&self, name: &str) -> Result<String, String> {
        let bytes = ackclock_input::read(&self.folder.join(name), ackclock_input::TEXT)
            .map_err(|error| format!("cannot be read: {error}"))?;
        String::from_utf8(bytes).map_err(|_| "is not text; a trace has a number in every line".to_owned())
    }

    fn read_rule(&self, name: &str, is_set: bool) -> Result<String, (String, String)> {
        // Files in `--set` are relative to the current folder, as in a shell.
        let path = if is_set { PathBuf::from(name) } else { self.folder.join(name) };
        let refused = |error: &dyn std::fmt::Display| ("file".to_owned(), format!("cannot be read: {error}"));
        let bytes = ackclock_input::read(&path, ackclock_input::TEXT).map_err(|error| refused(&error))?;
        String::from_utf8(bytes).map_err(|error| refused(&error.utf8_error()))
    }

    fn complete_cc(&self, cc: &serde_json::Value, is_set: bool) -> Result<serde_json::Value, (String, String)> {
        foreign::complete(cc, if is_set { "".into() } else { self.folder.to_string_lossy() }.as_ref())
    }
}
