//! Every key of a scenario with its type, default and help, for the documentation.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::json_schema::{PROFILES_KEY, alternatives, document_schema};
use ackclock::quantity;
use ackclock::quantity::kind;

/// The definition of a queue within a queue.
const INNER_QUEUE: &str = "#/$defs/InnerQueue";

/// A key of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyInfo {
    /// With dots, `links.NAME` for every link, `flows` for each of the flows.
    pub path: String,
    /// The `kind` of the table around it to which the key belongs, if it belongs to one only.
    pub of_kind: Option<String>,
    /// The permitted values, in words.
    pub kind: String,
    /// The default. Required and optional keys have none.
    pub default: Option<String>,
    /// The defaults under a profile, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, String>,
    /// True if the key must be given.
    pub required: bool,
    /// The meaning.
    pub help: String,
}

/// Every key. Algorithms and their parameters are in the catalog `cc`.
pub fn keys() -> Vec<KeyInfo> {
    let mut list = Vec::new();
    collect("", None, document_schema(), None, &mut list);
    list
}

/// Adds the keys of a table. `place` is the table's own default at this place.
fn collect(path: &str, of_kind: Option<&str>, table: &Json, place: Option<&Json>, list: &mut Vec<KeyInfo>) {
    let required = |key: &str| {
        table.get("required").and_then(Json::as_array).is_some_and(|keys| keys.iter().any(|name| name == key))
    };
    for (key, schema) in table.get("properties").and_then(Json::as_object).into_iter().flatten() {
        if key == "kind" {
            continue;
        }
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        list.push(KeyInfo {
            path: path.clone(),
            of_kind: of_kind.map(str::to_owned),
            kind: in_words(schema),
            default: place.and_then(|place| place.get(key)).or(schema.get("default")).and_then(default_in_words),
            profiles: profiles(schema),
            required: required(key),
            help: schema.get("description").and_then(Json::as_str).unwrap_or_default().to_owned(),
        });
        // A queue within a queue has the keys of a queue.
        let is_inner_queue = schema.get("$ref").and_then(Json::as_str) == Some(INNER_QUEUE);
        if key != "cc" && !is_inner_queue {
            below(&path, schema, list);
        }
    }
}

fn below(path: &str, schema: &Json, list: &mut Vec<KeyInfo>) {
    let place = schema.get("default");
    for alternative in alternatives(schema) {
        let name = kind(alternative).map(|kind| kind.name);
        let same_kind = |place: &&Json| place.get("kind").and_then(Json::as_str) == name;
        collect(path, name, alternative, place.filter(same_kind), list);
        if let Some(items) = alternative.get("items") {
            below(path, items, list);
        }
        if let Some(named) = alternative.get("additionalProperties").filter(|schema| schema.is_object()) {
            below(&format!("{path}.NAME"), named, list);
        }
    }
}

fn profiles(schema: &Json) -> BTreeMap<String, String> {
    let values = schema.get(PROFILES_KEY).and_then(Json::as_object).into_iter().flatten();
    values.filter_map(|(profile, value)| Some((profile.clone(), default_in_words(value)?))).collect()
}

/// Tables are written by their kind alone, or not at all: their keys have defaults of their own.
fn default_in_words(default: &Json) -> Option<String> {
    match default {
        Json::Object(table) => table.get("kind").and_then(Json::as_str).map(str::to_owned),
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The permitted values of a schema, in words.
pub(super) fn in_words(schema: &Json) -> String {
    let mut words: Vec<String> = Vec::new();
    for alternative in alternatives(schema) {
        for word in words_of(alternative) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.join(" or ")
}

fn words_of(schema: &Json) -> Vec<String> {
    let quantity = schema.get(quantity::SCHEMA_KEY).and_then(Json::as_str);
    let name = schema.get("const").and_then(Json::as_str).map(|name| format!("\"{name}\""));
    if let Some(word) = quantity.map(str::to_owned).or(name) {
        return vec![word];
    }
    if kind(schema).is_some() {
        return vec!["a name or a table with a kind".to_owned()];
    }
    // The names of kinds are said by the table with a kind.
    if schema.get("enum").is_some() {
        return Vec::new();
    }
    let several = schema.get("type").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let types = schema.get("type").and_then(Json::as_str).into_iter().chain(several);
    types
        .filter_map(|name| match name {
            "boolean" => Some("true or false"),
            "integer" => Some("whole number"),
            "number" => Some("number"),
            "string" => Some("string"),
            "array" => Some("list"),
            "object" => Some("table"),
            _ => None,
        })
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> KeyInfo {
        keys().into_iter().find(|key| key.path == path).unwrap_or_else(|| panic!("{path} is not listed"))
    }

    #[test]
    fn every_key_has_a_help_and_a_type() {
        for key in keys() {
            assert!(!key.help.is_empty(), "{}", key.path);
            assert!(!key.kind.is_empty(), "{}", key.path);
        }
    }

    #[test]
    fn defaults_and_types_come_from_the_schema() {
        let described = |path| {
            let key = key(path);
            (key.kind, key.default, key.required)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(described("duration"), ("duration".to_owned(), None, true));
        assert_eq!(described("warmup"), ("duration".to_owned(), text("0 s"), false));
        assert_eq!(described("transport.mss"), ("size".to_owned(), text("1460 B"), false));
        assert_eq!(key("transport.clock_tick").profiles, BTreeMap::from([("ns-2".to_owned(), "10 ms".to_owned())]));
        assert_eq!(key("transport.framing").profiles, BTreeMap::new());
        assert_eq!(described("flows.mss"), ("size".to_owned(), None, false));
        assert_eq!(described("transport.max_window"), ("whole number or \"none\"".to_owned(), text("none"), false));
        assert_eq!(described("transport.delayed_ack"), ("true or false or duration".to_owned(), text("false"), false));
        assert_eq!(described("topology.queue"), ("a name or a table with a kind".to_owned(), text("drop-tail"), false));
        assert_eq!(described("flows.cc"), ("a name or a table with a kind".to_owned(), None, false));
        assert_eq!(described("flows.start"), ("duration or table".to_owned(), text("0 s"), false));
        assert_eq!(described("links.NAME.reverse.rate"), ("rate".to_owned(), None, false));
        assert_eq!(described("topology.queue.limit").1, text("1 BDP"));
        assert_eq!(described("links.NAME.queue.limit").1, text("1 BDP"));
        assert_eq!(described("links.NAME.reverse.queue.limit").1, text("10000 packets"));
        assert_eq!(described("flows.name").1, None);
        assert_eq!(key("topology.loss.probability").of_kind.as_deref(), Some("bernoulli"));
    }
}
