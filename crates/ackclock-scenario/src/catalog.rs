//! The named items of a scenario: algorithms, queues, losses and others, with their parameters.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::channel::Channel;
use super::impairments::Loss;
use super::json_schema::schema_of;
use super::keys::in_words;
use super::network::Topology;
use super::traffic::TrafficKeys;
use ackclock::cc::{self, CcSpec};
use ackclock::qdisc::QueueSpec;
use ackclock::quantity::kinds;
use ackclock::transport::LossRecovery;

/// Something that a scenario can name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Its other names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<&'static str>,
    /// The description of the item.
    pub summary: String,
    /// The family that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<&'static str>,
    /// Where it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'static str>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

impl Entry {
    /// An entry with the description and the keys of a schema.
    fn new(name: &str, schema: &Json) -> Self {
        let (summary, parameters) = (description(schema), parameters(schema));
        Entry { name: name.to_owned(), aliases: Vec::new(), summary, family: None, reference: None, parameters }
    }
}

/// A parameter of an [`Entry`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The key.
    pub name: String,
    /// The permitted values.
    pub takes: String,
    /// Whether it must be given.
    pub required: bool,
    /// The default. Required, optional and dependent parameters have none.
    pub default: Option<Json>,
    /// The effect.
    pub help: String,
}

/// The lists that there are.
pub const CATALOGS: [&str; 7] = ["cc", "recovery", "queue", "loss", "traffic", "topology", "channel"];

/// Everything of one of the [`CATALOGS`].
pub fn catalog(name: &str) -> Option<Vec<Entry>> {
    match name {
        "cc" => Some(algorithm_entries()),
        "recovery" => Some(entries_of_names::<LossRecovery>()),
        "queue" => Some(entries_of_kinds::<QueueSpec>()),
        "loss" => Some(entries_of_kinds::<Loss>()),
        "traffic" => Some(entries_of_kinds::<TrafficKeys>()),
        "topology" => Some(entries_of_kinds::<Topology>()),
        "channel" => Some(entries_of_kinds::<Channel>()),
        _ => None,
    }
}

fn algorithm_entries() -> Vec<Entry> {
    let mut entries = entries_of_kinds::<CcSpec>();
    for (entry, kind) in entries.iter_mut().zip(cc::kinds()) {
        debug_assert_eq!(entry.name, kind.name, "invariant: the schema lists the algorithms in their order");
        entry.aliases = kind.aliases.to_vec();
        (entry.family, entry.reference) = (Some(kind.family), Some(kind.reference));
    }
    entries
}

fn entries_of_kinds<T: JsonSchema>() -> Vec<Entry> {
    let kinds = kinds(schema_of::<T>());
    kinds.iter().map(|kind| Entry::new(kind.name, kind.schema)).collect()
}

fn entries_of_names<T: JsonSchema>() -> Vec<Entry> {
    let names = schema_of::<T>().get("oneOf").and_then(Json::as_array).into_iter().flatten();
    let entry = |schema: &Json| Some(Entry::new(schema.get("const")?.as_str()?, schema));
    names.filter_map(entry).collect()
}

fn parameters(schema: &Json) -> Vec<Parameter> {
    let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    let required = schema.get("required").and_then(Json::as_array);
    let is_required = |name: &str| required.is_some_and(|keys| keys.iter().any(|key| key == name));
    let parameters = properties.filter(|(name, _)| *name != "kind");
    parameters
        .map(|(name, schema)| Parameter {
            name: name.clone(),
            required: is_required(name),
            default: schema.get("default").cloned(),
            takes: in_words(schema),
            help: description(schema),
        })
        .collect()
}

/// The description of a schema on one line.
fn description(schema: &Json) -> String {
    let text = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_catalog_is_explained() {
        for name in CATALOGS {
            let entries = catalog(name).unwrap();
            assert!(!entries.is_empty(), "{name}");
            for entry in entries {
                assert!(!entry.summary.is_empty(), "{name} {}", entry.name);
                assert!(entry.parameters.iter().all(|parameter| !parameter.help.is_empty()), "{name} {}", entry.name);
                assert_eq!((entry.reference.is_some(), entry.family.is_some()), (name == "cc", name == "cc"));
            }
        }
        assert_eq!(catalog("flavour"), None);
    }

    #[test]
    fn an_algorithm_is_described_in_one_line_and_listed_with_its_family() {
        let entries = catalog("cc").unwrap();
        for entry in &entries {
            assert!(!entry.summary.contains('\n'), "{}", entry.name);
            let line = entry.summary.split(". ").next().unwrap().trim_end_matches('.');
            assert!(line.len() <= 56, "{} takes {} columns: {line}", entry.name, line.len());
        }
        let mut families: Vec<_> = entries.iter().map(|entry| entry.family).collect();
        families.dedup();
        let distinct: std::collections::BTreeSet<_> = families.iter().collect();
        assert_eq!(distinct.len(), families.len(), "a family is in two places");
    }

    #[test]
    fn parameters_have_their_defaults() {
        let algorithms = catalog("cc").unwrap();
        let aimd = algorithms.iter().find(|entry| entry.name == "aimd").unwrap();
        assert!(aimd.summary.starts_with("Additive increase, multiplicative decrease"));
        let parameters: Vec<_> = aimd.parameters.iter().map(|p| (p.name.as_str(), p.default.clone())).collect();
        assert_eq!(parameters, [("increase", Some(1.0.into())), ("remaining", Some(0.5.into()))]);
        assert_eq!(catalog("queue").unwrap()[0].name, "drop-tail");
    }
}
