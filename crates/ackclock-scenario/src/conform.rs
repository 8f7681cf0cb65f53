//! The check of a document against the schema: unknown keys and names, types, units, ranges.

use serde_json::Value as Json;

use super::json_schema::{alternatives, document_schema};
use super::mistakes::{Misfit, Misfits};
use super::tree::{Node, Value};
use ackclock::quantity::kind;
use ackclock::quantity::{self, Spelling};
use ackclock::quantity::{Hint, Problem};
use ackclock::units::show_number;

/// Values that have another name now: the key, the old name and the new one.
const RENAMED: [(&str, &str, &str); 3] =
    [("traffic", "crowd", "population"), ("first_cut", "law", "rule"), ("timeout_ssthresh", "law", "rule")];

/// Checks a document in its full form, and returns its misfits in the order of the file.
pub fn conform(root: &Node) -> Misfits {
    let mut walk = Walk::default();
    // The other keys mean nothing before the version is known.
    match version(root) {
        Some((path, problem)) => walk.found.push(path, problem),
        None => walk.node(root, document_schema()),
    }
    walk.found
}

/// Checks the value of a key of some table against the schema of its type.
pub fn conform_at(key: &str, node: &Node, schema: &Json) -> Misfits {
    let mut walk = Walk::default();
    walk.below(key, |walk| walk.node(node, schema));
    walk.found
}

/// The misfit of the document as a whole.
fn version(root: &Node) -> Option<Misfit> {
    let Value::Table(entries) = &root.value else {
        return Some((Vec::new(), Problem::NotATable { found: root.in_words() }));
    };
    if entries.is_empty() {
        return Some((Vec::new(), Problem::Empty));
    }
    let at_schema = |problem| Some((vec!["schema".to_owned()], problem));
    match root.get("schema").map(|version| &version.value) {
        None => at_schema(Problem::MissingKey { example: "write schema = 2".to_owned() }),
        Some(Value::Integer(version)) if !(1..=2).contains(version) => {
            at_schema(Problem::SchemaVersion { found: version.to_string() })
        }
        Some(_) => None,
    }
}

#[derive(Default)]
struct Walk {
    path: Vec<String>,
    found: Misfits,
}

impl Walk {
    fn below(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(key.to_owned());
        check(self);
        self.path.pop();
    }

    fn wrong(&mut self, problem: Problem) {
        self.found.push(self.path.clone(), problem);
    }

    fn node(&mut self, node: &Node, schema: &Json) {
        let alternatives = alternatives(schema);
        let fitting: Vec<&Json> =
            alternatives.iter().copied().filter(|schema| types(schema).any(|name| is_of_type(node, name))).collect();
        match (&node.value, fitting.as_slice()) {
            (Value::Float(number), _) if !number.is_finite() => self.wrong(Problem::NotFinite { number: *number }),
            (_, []) => self.wrong(wrong_type(node, &alternatives)),
            (Value::Table(_), fitting) if fitting.iter().any(|schema| kind(schema).is_some()) => {
                self.table_with_kind(node, fitting);
            }
            (Value::Text(text), fitting) => self.text(text, fitting),
            (Value::Table(entries), [schema, ..]) => self.table(entries, schema),
            (Value::Array(items), [schema, ..]) => self.array(items, schema),
            (Value::Integer(number), [schema, ..]) => self.integer(*number, schema),
            (Value::Float(number), [schema, ..]) => self.in_range(*number, schema),
            (Value::Bool(_) | Value::Date(_), _) => {}
        }
    }

    fn table_with_kind(&mut self, node: &Node, fitting: &[&Json]) {
        let kinds: Vec<_> = fitting.iter().filter_map(|schema| kind(schema)).collect();
        let names = kinds.iter().map(|kind| kind.name);
        let what = self.what_kind();
        let problem = match node.get("kind") {
            None => {
                let example = Hint::OneOf(names.map(str::to_owned).collect()).to_string();
                Problem::MissingKey { example }
            }
            Some(Node { value: Value::Text(name), .. }) => {
                if let Some(chosen) = kinds.iter().find(|kind| kind.name == name) {
                    if let Value::Table(entries) = &node.value {
                        self.table(entries, chosen.schema);
                    }
                    return;
                }
                self.unknown_name(what, name, names)
            }
            Some(other) => Problem::WrongType { expected: format!("the name of a {what}"), found: other.in_words() },
        };
        self.below("kind", |walk| walk.wrong(problem));
    }

    /// The problem with a name that is not in `known` at this place.
    fn unknown_name<'a>(&self, what: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        let key = self.path.last().map(String::as_str);
        match RENAMED.iter().find(|(place, old, _)| key == Some(*place) && *old == name) {
            Some((_, old, new)) => Problem::Renamed { old, new },
            None => Problem::UnknownName { what, name: name.to_owned(), hint: Hint::for_name(name, known) },
        }
    }

    /// The noun for the `kind` at this place.
    fn what_kind(&self) -> &'static str {
        match self.path.last().map(String::as_str) {
            Some("cc") => "algorithm",
            Some("queue") => "queue discipline",
            Some("loss") => "loss model",
            Some("varies" | "leaves") => "kind of variation",
            Some("traffic") => "kind of traffic",
            _ => "kind",
        }
    }

    fn table(&mut self, entries: &[(String, Node)], schema: &Json) {
        let no_properties = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&no_properties);
        let others = schema.get("additionalProperties").filter(|schema| schema.is_object());
        // A misspelt key is also missing under its name. Only one of both is reported.
        let mut meant = Vec::new();
        for (key, node) in entries {
            // A text under an arbitrary name that expects numbers is a misspelt key.
            let may_be = |schema: &Json| types(schema).any(|name| is_of_type(node, name));
            let is_own = |schema: &&Json| alternatives(schema).into_iter().any(may_be);
            self.below(key, |walk| match properties.get(key).or(others.filter(is_own)) {
                Some(schema) => walk.node(node, schema),
                None => {
                    let hint = Hint::for_name(key, properties.keys().map(String::as_str));
                    if let Hint::Near(name) = &hint {
                        meant.push(name.clone());
                    }
                    walk.wrong(Problem::UnknownKey { hint });
                }
            });
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let is_there = |key: &str| meant.iter().any(|name| name == key) || entries.iter().any(|(name, _)| name == key);
        for key in required.filter(|key| !is_there(key)) {
            let problem = if key == "flows" {
                Problem::NoFlows
            } else {
                let example = properties.get(key).map(|schema| example(key, schema)).unwrap_or_default();
                Problem::MissingKey { example }
            };
            self.below(key, |walk| walk.wrong(problem));
        }
    }

    fn array(&mut self, items: &[Node], schema: &Json) {
        let bound = |key| schema.get(key).and_then(Json::as_u64);
        let (min, max) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
        let found = items.len() as u64;
        if found < min || found > max {
            let is_flows = self.path.last().is_some_and(|key| key == "flows");
            let expected = match max {
                _ if min == max => min.to_string(),
                u64::MAX => format!("at least {min}"),
                _ => format!("{min} to {max}"),
            };
            self.wrong(match is_flows && found == 0 {
                true => Problem::NoFlows,
                false => Problem::WrongLength { expected, found: items.len() },
            });
            return;
        }
        let Some(schema) = schema.get("items") else { return };
        for (index, item) in items.iter().enumerate() {
            self.below(&index.to_string(), |walk| walk.node(item, schema));
        }
    }

    fn text(&mut self, text: &str, fitting: &[&Json]) {
        let names: Vec<&str> = fitting.iter().flat_map(|schema| names(schema)).collect();
        let quantity = fitting.iter().find_map(|schema| quantity_of(schema));
        match quantity {
            _ if names.contains(&text) => {}
            Some(Spelling { check, .. }) => {
                if let Err(problem) = check(text) {
                    self.wrong(problem);
                }
            }
            None if names.is_empty() => {}
            None => {
                let problem = self.unknown_name("value", text, names);
                self.wrong(problem);
            }
        }
    }

    fn integer(&mut self, number: i128, schema: &Json) {
        let largest = match schema.get("format").and_then(Json::as_str) {
            Some("uint32") => u64::from(u32::MAX),
            Some("uint64") => u64::MAX,
            _ => return self.in_range(number as f64, schema),
        };
        let given = schema.get("maximum").and_then(Json::as_u64);
        let max = i128::from(given.unwrap_or(largest));
        let min = schema.get("minimum").and_then(Json::as_i64).map_or(0, i128::from);
        if (min..=max).contains(&number) {
            return;
        }
        let expected = match given {
            Some(max) => format!("from {min} to {max}"),
            None if number < min => format!("at least {min}"),
            None => format!("at most {max}"),
        };
        self.wrong(Problem::OutOfRange { value: number.to_string(), expected });
    }

    fn in_range(&mut self, number: f64, schema: &Json) {
        let bound = |key| schema.get(key).and_then(Json::as_f64);
        let (min, max) = (bound("minimum"), bound("maximum"));
        if min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max) {
            return;
        }
        let expected = match (min, max) {
            (Some(min), Some(max)) => format!("from {min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (_, max) => format!("at most {}", max.unwrap_or(f64::MAX)),
        };
        self.wrong(Problem::OutOfRange { value: show_number(number), expected });
    }
}

fn types(schema: &Json) -> impl Iterator<Item = &str> {
    let several = schema.get("type").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    schema.get("type").and_then(Json::as_str).into_iter().chain(several)
}

fn is_of_type(node: &Node, name: &str) -> bool {
    match node.value {
        Value::Bool(_) => name == "boolean",
        Value::Integer(_) => name == "integer" || name == "number",
        Value::Float(_) => name == "number",
        Value::Text(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Table(_) => name == "object",
        Value::Date(_) => false,
    }
}

/// The strings that a schema allows by name.
fn names(schema: &Json) -> impl Iterator<Item = &str> {
    let listed = schema.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    schema.get("const").and_then(Json::as_str).into_iter().chain(listed)
}

fn quantity_of(schema: &Json) -> Option<Spelling> {
    quantity::by_name(schema.get(quantity::SCHEMA_KEY)?.as_str()?)
}

fn wrong_type(node: &Node, alternatives: &[&Json]) -> Problem {
    if matches!(node.value, Value::Integer(_) | Value::Float(_))
        && let Some(Spelling { name, example, .. }) = alternatives.iter().find_map(|schema| quantity_of(schema))
    {
        return Problem::BareNumber { quantity: name, example };
    }
    Problem::WrongType { expected: in_words(alternatives), found: node.in_words() }
}

/// The permitted values in words: `a duration such as "30 ms" or a table with the keys uniform`.
fn in_words(alternatives: &[&Json]) -> String {
    let mut words: Vec<String> = Vec::new();
    for schema in alternatives.iter().filter(|schema| types(schema).next() != Some("null")) {
        let word = match types(schema).next() {
            Some("string") => match (quantity_of(schema), names(schema).next()) {
                (Some(Spelling { name, example, .. }), _) => format!("a {name} such as \"{example}\""),
                (None, Some(name)) => format!("a name such as \"{name}\""),
                (None, None) => "a string in quotes".to_owned(),
            },
            Some("object") if kind(schema).is_some() => "a table with a kind".to_owned(),
            Some("object") => "a table".to_owned(),
            Some("array") if schema.pointer("/items/$ref").is_some() => "a list of tables".to_owned(),
            Some("array") => "a list".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("integer") => "a whole number".to_owned(),
            _ => "a number".to_owned(),
        };
        let same_sort = |other: &String| word.starts_with("a name") && other.starts_with("a name");
        if !words.iter().any(|other| *other == word || same_sort(other)) {
            words.push(word);
        }
    }
    words.join(" or ")
}

/// An example of a missing key.
fn example(key: &str, schema: &Json) -> String {
    let alternatives = alternatives(schema);
    let value = alternatives.iter().find_map(|schema| {
        let quantity = quantity_of(schema).map(|spelling| spelling.example);
        quantity.or_else(|| names(schema).next())
    });
    match value {
        Some(value) => format!("write for example {key} = \"{value}\""),
        None => format!("expected {}", in_words(&alternatives)),
    }
}
