//! Scores for JavaScript: a module of its own, which is loaded where something is evaluated.
//!
//! The binding contains no computation. `ackclock::score` computes.

use ackclock::score::{self, Environment, Notes, Results};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// The value of each metric of an environment in a run, then the queueing delay p95 in ms. Both are JSON.
#[wasm_bindgen]
pub fn measured(environment: &str, document: &str) -> Result<Vec<f64>, JsError> {
    let environment: Environment = serde_json::from_str(environment)?;
    let document: Value = serde_json::from_str(document)?;
    environment.measured(&document).map_err(|message| JsError::new(&message))
}

/// A race of candidates alongside the panel of a suite. All arguments and results are JSON.
#[wasm_bindgen]
pub struct Race(score::Race);

#[wasm_bindgen]
impl Race {
    /// Prepares a race.
    #[wasm_bindgen(constructor)]
    pub fn new(suite: &str, plan: &str) -> Result<Race, JsError> {
        let race = score::Race::new(read(suite)?, read(plan)?);
        Ok(Race(race.map_err(|work| JsError::new(&format!("the budget is too small: the first round takes {work}")))?))
    }

    /// The next round as `{ replicates, algorithms }`, or null if the race is over.
    pub fn wanted(&self) -> String {
        let wanted = self.0.wanted();
        let told = wanted.map(|each| json!({ "replicates": each.replicates, "algorithms": each.algorithms }));
        json!(told).to_string()
    }

    /// Takes the runs of the wanted round: `{ values, failures }`.
    pub fn add(&mut self, results: &str) -> Result<(), JsError> {
        self.0.add(read::<Results>(results)?);
        Ok(())
    }

    /// Ends the race. The result contains `document`, the output of `ackclock evaluate --json`, and `overview`, its summary.
    pub fn evaluation(self, notes: &str) -> Result<String, JsError> {
        let found = score::Evaluation::new(self.0, read::<Notes>(notes)?);
        Ok(json!({ "document": found.document(), "overview": found.overview() }).to_string())
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, JsError> {
    Ok(serde_json::from_str(json)?)
}
