//! One run and its results.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ackclock::capture::{Header, QlogVersion, pcapng, qlog, sequences};
use ackclock::sim::{self, Drawn, Plan, ResultDocument, RunOf, RunResult};
use ackclock::units::Instant;
use cpu_time::ThreadTime;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::catalog::to_json;
use crate::error::Error;
use crate::foreign::Needs;
use crate::foreign::progress::{Cells, Watch};
use crate::table::{Table, flow_table, link_table, packet_table};

/// How long Ctrl-C may go unnoticed.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// The result of one run.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Run {
    pub(crate) scenario: String,
    pub(crate) scenario_hash: String,
    pub(crate) seed: u64,
    pub(crate) replicate: u64,
    pub(crate) duration_s: f64,
    pub(crate) drawn: Option<Drawn>,
    pub(crate) outcome: Outcome,
}

/// The packets that an emulation captured.
#[cfg(target_os = "linux")]
pub type Captured = ackclock_linux::Tap;
/// There is no emulation.
#[cfg(not(target_os = "linux"))]
pub enum Captured {}

/// The results of the engine.
pub struct Outcome {
    engine_cpu_s: f64,
    /// The result without its samples, which are in the tables.
    result: RunResult,
    flow_samples: Table,
    link_samples: Table,
    packets: Table,
    backend: &'static str,
    /// The kernel of the run and its timing, for backends other than the simulation.
    emulation: Option<serde_json::Value>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is emulated"))]
    captured: Option<Captured>,
}

impl Outcome {
    /// The results of a run, as callers read them.
    ///
    /// `emulated`: the name of another backend than the simulation, the kernel and the timing, and the captured
    /// packets.
    pub fn new(
        mut result: RunResult,
        engine_cpu_s: f64,
        emulated: Option<(&'static str, serde_json::Value, Option<Captured>)>,
    ) -> Self {
        let (backend, emulation, captured) = match emulated {
            Some((backend, emulation, captured)) => (backend, Some(emulation), captured),
            None => ("sim", None, None),
        };
        let samples = std::mem::take(&mut result.samples);
        Outcome {
            engine_cpu_s,
            result,
            backend,
            flow_samples: flow_table(samples.flows, &samples.flow_names),
            link_samples: link_table(samples.links, &samples.link_names),
            packets: packet_table(samples.trace),
            emulation,
            captured,
        }
    }
}

/// The order of the keys is the order of the output.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    result: ResultDocument<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emulation: Option<&'a serde_json::Value>,
}

#[pymethods]
impl Run {
    /// Everything but the samples and histograms, as JSON.
    fn to_json(&self) -> PyResult<String> {
        let outcome = &self.outcome;
        let of = RunOf {
            scenario: &self.scenario,
            scenario_hash: &self.scenario_hash,
            backend: outcome.backend,
            seed: self.seed,
            replicate: self.replicate,
            duration_s: self.duration_s,
            engine_cpu_s: outcome.engine_cpu_s,
            drawn: self.drawn.as_ref(),
        };
        to_json(&Document { result: outcome.result.document(of), emulation: outcome.emulation.as_ref() })
    }

    /// How long packets waited: a JSON list of `link`, `up_to_ns`, `packets`.
    ///
    /// One for each shared link, and one with `link` null for the data of all flows on their paths.
    fn histograms_json(&self) -> PyResult<String> {
        to_json(&self.outcome.result.sojourn_times())
    }

    /// Samples of flows over time, a table of Arrow.
    #[getter]
    fn flow_samples(&self) -> Table {
        self.outcome.flow_samples.clone()
    }

    /// Samples of links over time, a table of Arrow.
    #[getter]
    fn link_samples(&self) -> Table {
        self.outcome.link_samples.clone()
    }

    /// Every packet at every link, every window that changes and timer that goes off, a table of Arrow.
    ///
    /// Empty unless `sampling.packets` is on.
    #[getter]
    fn packets(&self) -> Table {
        self.outcome.packets.clone()
    }

    /// The captured packets as a pcapng file, with at most `snaplen` bytes of each. It is empty unless `capture` was
    /// given.
    fn pcapng<'py>(&self, py: Python<'py>, snaplen: u32) -> Bound<'py, PyBytes> {
        let application = format!("ackclock {}", env!("CARGO_PKG_VERSION"));
        #[cfg(target_os = "linux")]
        if let Some(captured) = &self.outcome.captured {
            let comment = format!("{}; the kernel's packets in an emulation", self.what());
            let header = Header { application: &application, comment: &comment, snaplen };
            return PyBytes::new(py, &py.detach(|| captured.pcapng(&header)));
        }
        let comment = format!(
            "{}; a simulation with time 0 at 1000000000 s; handshakes are generated where the scenario has none",
            self.what()
        );
        let header = Header { application: &application, comment: &comment, snaplen };
        let recording = self.outcome.result.recording.as_ref();
        let file = py.detach(|| recording.map_or_else(Vec::new, |recording| pcapng(recording, &header)));
        PyBytes::new(py, &file)
    }

    /// The capture of senders as a file of qlog of this version, `0.3` or `draft`.
    fn qlog(&self, py: Python<'_>, version: &str) -> PyResult<String> {
        let known = QlogVersion::ALL.into_iter().find(|(name, _)| *name == version);
        let (_, version) = known.ok_or_else(|| PyValueError::new_err(format!("no version of qlog: {version:?}")))?;
        let description = format!("ackclock {}: {}", env!("CARGO_PKG_VERSION"), self.what());
        let recording = self.outcome.result.recording.as_ref();
        Ok(py.detach(|| {
            recording.map_or_else(String::new, |recording| qlog(recording, version, &self.scenario, &description))
        }))
    }

    /// Time-sequence plots of the connections of a capture of senders, within some nanoseconds, as JSON.
    fn sequences_json(&self, py: Python<'_>, from_ns: u64, to_ns: u64) -> PyResult<String> {
        let within = Range { start: Instant::from_nanos(from_ns), end: Instant::from_nanos(to_ns) };
        let recording = self.outcome.result.recording.as_ref();
        py.detach(|| to_json(&recording.map_or_else(Vec::new, |recording| sequences(recording, &within))))
    }

    fn __repr__(&self) -> String {
        format!("Run(scenario={:?}, seed={}, replicate={})", self.scenario, self.seed, self.replicate)
    }
}

impl Run {
    /// The identity of the run.
    fn what(&self) -> String {
        format!("{} (scenario {}, seed {}, replicate {})", self.scenario, self.scenario_hash, self.seed, self.replicate)
    }

    /// Does the work of a run on a thread of its own, while this one looks for signals.
    pub fn execute(
        py: Python<'_>,
        work: impl FnOnce() -> Result<Outcome, Error> + Send,
        stop: &AtomicBool,
        (needs, cells): (Needs, &'static Cells),
        finish: impl FnOnce(Outcome) -> Run,
    ) -> PyResult<Run> {
        let (sender, mut receiver) = mpsc::sync_channel(1);
        let outcome = std::thread::scope(|scope| {
            let mut watch = Watch::new(cells, needs);
            let engine = scope.spawn(move || {
                let outcome: PyResult<_> = match needs.interpreter {
                    // Held for the whole run: events then reach a class without taking it each time.
                    true => Python::attach(|py| {
                        cells.begin(py)?;
                        Ok(work())
                    }),
                    false => Ok(work()),
                };
                // After a signal the receiver may be closed.
                let _ = sender.send(outcome);
            });
            loop {
                let (receiver, watch) = (&mut receiver, &mut watch);
                match py.detach(move || watch.wait(receiver, SIGNAL_CHECK)) {
                    Ok(outcome) => return Ok(outcome??),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let panic = engine.join().expect_err("invariant: only a panic leaves no outcome");
                        std::panic::resume_unwind(panic);
                    }
                }
                if let Err(signal) = py.check_signals() {
                    stop.store(true, Ordering::Relaxed);
                    return Err(signal);
                }
            }
        })?;
        Ok(finish(outcome))
    }
}

/// Runs a plan in the simulation.
pub fn simulated(plan: &Plan, stop: &AtomicBool) -> Result<Outcome, Error> {
    let clock = ThreadTime::now();
    let result = sim::run(plan, stop)?;
    Ok(Outcome::new(result, clock.elapsed().as_secs_f64(), None))
}
