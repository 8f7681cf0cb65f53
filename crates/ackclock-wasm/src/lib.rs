//! ackclock for JavaScript: checks, runs and steps through scenarios. Samples are read without copies.
//!
//! Thin: no logic of simulation is here. Times are in seconds, seeds are BigInt.

mod column;
mod error;
mod live;
mod scenario;

pub use column::Column;
pub use live::Live;
pub use scenario::{Finished, Scenario};

use ackclock::cc::{CcSpec, RuleSource};
use wasm_bindgen::prelude::*;

/// The entries of a list (`cc`, `recovery`, `queue`, `loss`, `traffic`, `topology`) as JSON.
#[wasm_bindgen(js_name = listJson)]
pub fn list_json(kind: &str) -> Result<String, JsError> {
    let entries = ackclock_scenario::catalog(kind).ok_or_else(|| JsError::new(&format!("unknown list {kind:?}")))?;
    Ok(error::to_json(&entries))
}

/// The algorithm that a rule on one line is, as JSON of the table `cc`.
#[wasm_bindgen(js_name = ruleJson)]
pub fn rule_json(line: &str) -> Result<String, JsError> {
    let source = RuleSource::from_line(line).map_err(|error| JsError::new(&error.in_one_line()))?;
    Ok(error::to_json(&CcSpec::Rule(source.into())))
}

/// The table of a name or of a label such as `codel(target=10 ms)`, as JSON. `first` is the key of a first value
/// without a key.
#[wasm_bindgen(js_name = labelJson)]
pub fn label_json(text: &str, first: Option<String>) -> Result<String, JsError> {
    ackclock_scenario::label_json(text, first.as_deref()).map_err(|error| JsError::new(&error))
}

/// Answers a request about a queue alone. `ackclock::open_loop::json` defines both sides.
#[wasm_bindgen(js_name = queueJson)]
pub fn queue_json(request: &str) -> Result<String, JsError> {
    ackclock::open_loop::json(request).map_err(|error| JsError::new(&error.to_string()))
}

/// Every metric of the results with unit, label and definition, as JSON.
#[wasm_bindgen(js_name = metricsJson)]
pub fn metrics_json() -> String {
    #[cfg(feature = "stored")]
    return include_str!(env!("ACKCLOCK_METRICS")).to_owned();
    #[cfg(not(feature = "stored"))]
    return error::to_json(&ackclock::sim::metrics());
}
