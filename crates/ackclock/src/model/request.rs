//! Requests and answers as JSON, so that a binding only passes text through.
//!
//! A request is an object with `what`: `table`, `trajectory` ([`super::TrajectoryRequest`]) or `load-curve`
//! ([`super::LoadCurveRequest`]). The latter two have additional fields. Answers are [`super::Table`],
//! [`super::Trajectory`] and [`super::LoadCurve`].

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::load_curve::LoadCurve;
use super::synchronous::SetupError;
use super::{simulate, table};
use crate::cc::{CcSpec, algorithms};

/// A request that cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The text is not a request.
    #[error("{}{message}", if path == "." { String::new() } else { format!("{path}: ") })]
    Format {
        /// Where: `users[0].cc`.
        path: String,
        /// The expected form.
        message: String,
    },
    /// A value is out of its range.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Answers a request.
///
/// # Errors
/// Text that is not a request, and values out of range.
pub fn json(request: &str) -> Result<String, RequestError> {
    let mut fields: serde_json::Map<String, Value> = read(request.trim_start())?;
    let what = fields.remove("what");
    let fields = Value::Object(fields);
    match what.as_ref().and_then(Value::as_str) {
        Some("table") => {
            let NoFields {} = from_value(fields)?;
            Ok(to_json(&table()))
        }
        Some("trajectory") => Ok(to_json(&simulate(&from_value(fields)?)?)),
        Some("load-curve") => Ok(to_json(&LoadCurve::new(&from_value(fields)?)?)),
        _ => Err(RequestError::Format {
            path: "what".to_owned(),
            message: "expected \"table\", \"trajectory\" or \"load-curve\"".to_owned(),
        }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, RequestError> {
    serde_json::from_str(text)
        .map_err(|error| RequestError::Format { path: ".".to_owned(), message: error.to_string() })
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, RequestError> {
    serde_path_to_error::deserialize(value).map_err(|error| RequestError::Format {
        path: error.path().to_string(),
        message: error.into_inner().to_string(),
    })
}

fn to_json(answer: &impl serde::Serialize) -> String {
    serde_json::to_string(answer).expect("invariant: answers are plain data")
}

/// Reads an algorithm: its name alone, or a table with `kind` and parameters.
pub(super) fn algorithm<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CcSpec, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(name) => CcSpec::by_name(&name).ok_or_else(|| {
            let known: Vec<_> = algorithms().iter().map(|info| info.name).collect();
            D::Error::custom(format!("unknown algorithm \"{name}\"; use one of {}", known.join(", ")))
        }),
        table => CcSpec::deserialize(table).map_err(D::Error::custom),
    }
}
