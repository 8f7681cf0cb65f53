//! Errors of the core as errors of JavaScript.

use ackclock_scenario::{ScenarioError, printable};
use serde_json::json;
use wasm_bindgen::prelude::*;

/// An `Error` with the message of the commands, and its `mistakes`: a list of `line`, `key` and `message` as JSON.
pub fn scenario_error(error: &ScenarioError) -> JsValue {
    let mistakes: Vec<_> = error
        .mistakes()
        .iter()
        .map(|mistake| {
            json!({
                "line": mistake.line(),
                "set": mistake.set().map(printable),
                "key": printable(mistake.path()),
                "message": printable(&mistake.problem().to_string()),
            })
        })
        .collect();
    let thrown: JsValue = js_sys::Error::new(&error.to_string()).into();
    // Setting a property of a new object does not fail.
    let _ = js_sys::Reflect::set(&thrown, &"mistakesJson".into(), &to_json(&mistakes).into());
    thrown
}

/// JSON of something whose serialisation cannot fail but for a mistake in it.
pub fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("invariant: results can be written as JSON")
}
