//! Scenarios: checked, described, run to their end.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ackclock::qdisc::{Place, QueuePlan};
use ackclock::sim::{self, LinkId, RunOf, RunResult};
use ackclock_scenario::ReadFiles;
use wasm_bindgen::prelude::*;

use crate::column::{Column, Table, columns, timers};
use crate::error::{scenario_error, to_json};

/// The files that a scenario names, which come with it.
struct Files(BTreeMap<String, String>);

impl Files {
    /// Names and texts in turns.
    fn new(files: Vec<String>) -> Self {
        let mut files = files.into_iter();
        let mut known = BTreeMap::new();
        while let (Some(name), Some(text)) = (files.next(), files.next()) {
            known.insert(name, text);
        }
        Files(known)
    }
}

impl ReadFiles for Files {
    fn read_file(&self, name: &str) -> Result<String, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("no file {name:?} came with the scenario"))
    }
}

/// A checked scenario.
#[wasm_bindgen]
pub struct Scenario {
    inner: ackclock_scenario::Scenario,
}

#[wasm_bindgen]
impl Scenario {
    /// Reads TOML, or with `is_json` the same tree from JSON. `sets` are `KEY=VALUE` texts of `--set`. `files`
    /// contains names and texts of files alternately.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, is_json: bool, sets: Vec<String>, files: Vec<String>) -> Result<Scenario, JsValue> {
        let (source, files) = ("scenario", Files::new(files));
        let read = if is_json {
            ackclock_scenario::Scenario::from_json_with(text, source, &sets, &files)
        } else {
            ackclock_scenario::Scenario::from_toml_with(text, source, &sets, &files)
        };
        let inner = read.map_err(|error| scenario_error(&error))?;
        if let Err(error) = inner.plan(None, 0).check_simulated() {
            return Err(js_sys::Error::new(&error.to_string()).into());
        }
        if let Some(spec) = inner.foreign().first() {
            let message =
                format!("{}: user-supplied code does not run here; give the algorithm as a rule", spec.title());
            return Err(js_sys::Error::new(&message).into());
        }
        Ok(Scenario { inner })
    }

    /// This scenario with some keys changed.
    #[wasm_bindgen(js_name = withSets)]
    pub fn with_sets(&self, sets: Vec<String>, files: Vec<String>) -> Result<Scenario, JsValue> {
        let inner = self.inner.with_sets_and(&sets, &Files::new(files)).map_err(|error| scenario_error(&error))?;
        Ok(Scenario { inner })
    }

    /// The name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.inner.name().to_owned()
    }

    /// The canonical hash, equal for scenarios with equal results. Name and seed do not count.
    #[wasm_bindgen(getter)]
    pub fn hash(&self) -> String {
        self.inner.hash()
    }

    /// The seed.
    #[wasm_bindgen(getter)]
    pub fn seed(&self) -> u64 {
        self.inner.seed()
    }

    /// True if replicates differ.
    #[wasm_bindgen(getter, js_name = isRandom)]
    pub fn is_random(&self) -> bool {
        self.inner.is_random()
    }

    /// Warnings: properties to check before trusting a result.
    #[wasm_bindgen(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// The resolved scenario as JSON that reads back as the same scenario.
    #[wasm_bindgen(js_name = resolvedJson)]
    pub fn resolved_json(&self) -> String {
        self.inner.resolved_json()
    }

    /// Links, flows and random inputs in full, as JSON.
    #[wasm_bindgen(js_name = describeJson)]
    pub fn describe_json(&self) -> String {
        to_json(&self.inner.describe_first(u32::MAX))
    }

    /// Runs one replicate to its end.
    pub fn run(&self, seed: Option<u64>, replicate: u64) -> Result<Finished, JsError> {
        let plan = self.plan(seed, replicate);
        let result = sim::run(&plan, &AtomicBool::new(false))?;
        Ok(self.finished(result, seed, replicate))
    }
}

impl Scenario {
    pub(crate) fn plan(&self, seed: Option<u64>, replicate: u64) -> sim::Plan {
        self.inner.plan(seed, replicate)
    }

    pub(crate) fn queue_at(&self, link: LinkId, place: &Place, json: &str) -> Result<QueuePlan, JsError> {
        self.inner.queue_at(link, place, json).map_err(|error| JsError::new(&error.to_string()))
    }

    pub(crate) fn finished(&self, result: RunResult, seed: Option<u64>, replicate: u64) -> Finished {
        let plan = self.inner.plan(seed, replicate);
        let drawn = self.inner.drawn(&plan);
        let of = RunOf {
            scenario: self.inner.name(),
            scenario_hash: &self.inner.hash(),
            backend: "sim",
            seed: seed.unwrap_or(self.inner.seed()),
            replicate,
            duration_s: plan.duration.as_secs_f64(),
            engine_cpu_s: 0.0,
            drawn: drawn.as_ref(),
        };
        Finished {
            document: to_json(&result.document(of)),
            histograms: to_json(&result.sojourn_times()),
            timers: timers(&result.samples.trace),
            result,
        }
    }
}

/// The result of a run.
#[wasm_bindgen]
pub struct Finished {
    document: String,
    histograms: String,
    timers: Vec<u8>,
    result: RunResult,
}

#[wasm_bindgen]
impl Finished {
    /// Everything except samples and histograms, as the JSON of `ackclock run --json`, without the CPU time.
    #[wasm_bindgen(js_name = toJson)]
    pub fn to_json(&self) -> String {
        self.document.clone()
    }

    /// How long packets waited: a JSON list of `link`, `up_to_ns`, `packets`.
    #[wasm_bindgen(js_name = histogramsJson)]
    pub fn histograms_json(&self) -> String {
        self.histograms.clone()
    }

    /// The columns of a table of samples: `flows`, `links` or `packets`.
    pub fn columns(&self, table: &str) -> Result<Vec<Column>, JsError> {
        let table = Table::by_name(table).ok_or_else(|| JsError::new(&format!("unknown table {table:?}")))?;
        Ok(columns(&self.result.samples, &self.timers, table))
    }
}
