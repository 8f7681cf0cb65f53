//! Scores for JavaScript: a module of its own, which is loaded where something is evaluated.
//!
//! The binding contains no computation. `ackclock::score` computes.

use ackclock::score::{Environment, Evaluation, Runs, Suite};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// The value of each metric of an environment of a suite in a run. Both are JSON.
#[wasm_bindgen(js_name = valuesOf)]
pub fn values_of(environment: &str, document: &str) -> Result<Vec<f64>, JsError> {
    let environment: Environment = serde_json::from_str(environment)?;
    let document: Value = serde_json::from_str(document)?;
    environment.values(&document).map_err(|message| JsError::new(&message))
}

/// An evaluation as JSON: `document`, the output of `ackclock evaluate --json`, and `overview`, its summary.
#[wasm_bindgen(js_name = evaluateJson)]
pub fn evaluate_json(suite: &str, runs: &str) -> Result<String, JsError> {
    let suite: Suite = serde_json::from_str(suite)?;
    let runs: Runs = serde_json::from_str(runs)?;
    let found = Evaluation::new(suite, runs);
    Ok(json!({ "document": found.document(), "overview": found.overview() }).to_string())
}
