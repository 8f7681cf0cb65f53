//! Scenario files: schema, validation, canonical hash, and the compilation to a `Plan`.
//!
//! A text is parsed into a tree with line numbers (`parse`) and expanded to its full form (`shorthand`). `--set`
//! changes it (`sets`). It is then checked against the schema (`conform`), read into types (`resolve`) and checked as
//! a whole (`validate`). Finally it is compiled for each replicate (`compile`). All mistakes are reported at once
//! (`mistakes`).

mod amounts;
mod catalog;
mod channel;
mod checked;
mod compile;
mod conform;
mod delays;
mod describe;
mod distribution;
mod drawn;
mod foreign;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod hash;
mod impairments;
mod json_schema;
mod keys;
mod label;
mod link_checks;
mod meter;
mod meters;
mod mistakes;
mod network;
mod parse;
mod partial;
mod places;
mod queue;
mod random_inputs;
mod reach;
mod replicates;
mod resolve;
mod schema;
mod sets;
mod shorthand;
mod streaming;
mod subflows;
mod topology;
mod traces;
mod traffic;
mod tree;
mod validate;
mod variation;
mod warnings;

pub use ackclock::quantity::{Hint, Problem};
pub use catalog::{CATALOGS, Entry, Parameter, catalog};
pub use checked::Scenario;
pub use describe::{Description, FlowDescription, LinkDescription};
pub use foreign::kind_of as kind_of_file;
#[cfg(any(test, feature = "fuzz"))]
pub use fuzz::fuzz;
pub use json_schema::document_schema;
pub use keys::{KeyInfo, keys};
pub use mistakes::{Mistake, ScenarioError, printable};
pub use schema::Document;
pub use traces::ReadFiles;

/// The table of a name or of a label such as `codel(target=10 ms)`, as JSON. `first` is the key of a first value without a
/// key.
///
/// # Errors
/// The problem of another text.
pub fn label_json(text: &str, first: Option<&str>) -> Result<String, String> {
    label::table_of(text, first, &tree::Origin::File).map(|table| table.to_json().to_string())
}
