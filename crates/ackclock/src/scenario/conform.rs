//! The check of a document against the schema: unknown keys and names, types, units, ranges.

use serde_json::Value as Json;

use super::error::{Hint, Problem};
use super::json_schema::{alternatives, document_schema, kind};
use super::quantity::{self, Spelling};
use super::tree::{Node, Value};

/// A problem and the path of the key that has it, lists by index.
pub type Misfit = (Vec<String>, Problem);

/// Checks a document in its full form.
///
/// # Errors
/// The first thing that does not fit, in the order of the file.
pub fn conform(root: &Node) -> Result<(), Misfit> {
    let Value::Table(entries) = &root.value else {
        return Err((Vec::new(), Problem::NotATable { found: root.in_words() }));
    };
    if entries.is_empty() {
        return Err((Vec::new(), Problem::Empty));
    }
    // The other keys mean nothing before the version is known.
    match root.get("schema").map(|version| &version.value) {
        None => return Err((path(&["schema"]), Problem::MissingKey { example: "write schema = 1".to_owned() })),
        Some(Value::Integer(1)) => {}
        Some(Value::Integer(version)) => {
            return Err((path(&["schema"]), Problem::SchemaVersion { found: version.to_string() }));
        }
        Some(_) => {}
    }
    Walk { path: Vec::new() }.node(root, document_schema())
}

fn path(segments: &[&str]) -> Vec<String> {
    segments.iter().map(|segment| (*segment).to_owned()).collect()
}

struct Walk {
    path: Vec<String>,
}

impl Walk {
    fn node(&mut self, node: &Node, schema: &Json) -> Result<(), Misfit> {
        let alternatives = alternatives(schema);
        let fitting: Vec<&Json> =
            alternatives.iter().copied().filter(|schema| types(schema).any(|name| is_of_type(node, name))).collect();
        match (&node.value, fitting.as_slice()) {
            (_, []) => Err(self.misfit(wrong_type(node, &alternatives))),
            (Value::Table(_), fitting) if fitting.iter().any(|schema| kind(schema).is_some()) => {
                self.table_with_kind(node, fitting)
            }
            (Value::Text(text), fitting) => self.text(text, fitting),
            (Value::Table(entries), [schema, ..]) => self.table(entries, schema),
            (Value::Array(items), [schema, ..]) => self.array(items, schema),
            (Value::Integer(number), [schema, ..]) => self.integer(*number, schema),
            (Value::Float(number), [schema, ..]) => self.in_range(*number, schema),
            (Value::Bool(_), _) => Ok(()),
        }
    }

    fn table_with_kind(&mut self, node: &Node, fitting: &[&Json]) -> Result<(), Misfit> {
        let kinds: Vec<_> = fitting.iter().filter_map(|schema| kind(schema)).collect();
        let names = kinds.iter().map(|kind| kind.name);
        let what = self.what_kind();
        self.path.push("kind".to_owned());
        let name = match node.get("kind").map(|kind| &kind.value) {
            None => {
                let example = Hint::OneOf(names.map(str::to_owned).collect()).to_string();
                return Err(self.misfit(Problem::MissingKey { example }));
            }
            Some(Value::Text(name)) => name,
            Some(_) => {
                let found = node.get("kind").map(Node::in_words).unwrap_or_default();
                return Err(self.misfit(Problem::WrongType { expected: format!("the name of a {what}"), found }));
            }
        };
        let Some(chosen) = kinds.iter().find(|kind| kind.name == name) else {
            return Err(self.misfit(Problem::UnknownName {
                what,
                name: name.clone(),
                hint: Hint::for_name(name, names),
            }));
        };
        self.path.pop();
        match &node.value {
            Value::Table(entries) => self.table(entries, chosen.schema),
            _ => Ok(()),
        }
    }

    /// What the `kind` at this place is a kind of.
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

    fn table(&mut self, entries: &[(String, Node)], schema: &Json) -> Result<(), Misfit> {
        let no_properties = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&no_properties);
        let others = schema.get("additionalProperties").filter(|schema| schema.is_object());
        for (key, node) in entries {
            self.path.push(key.clone());
            match properties.get(key).or(others) {
                Some(schema) => self.node(node, schema)?,
                None => {
                    let hint = Hint::for_name(key, properties.keys().map(String::as_str));
                    return Err(self.misfit(Problem::UnknownKey { hint }));
                }
            }
            self.path.pop();
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        for key in required {
            if !entries.iter().any(|(name, _)| name == key) {
                self.path.push(key.to_owned());
                let example = properties.get(key).map(|schema| example(key, schema)).unwrap_or_default();
                return Err(self.misfit(if key == "flows" {
                    Problem::NoFlows
                } else {
                    Problem::MissingKey { example }
                }));
            }
        }
        Ok(())
    }

    fn array(&mut self, items: &[Node], schema: &Json) -> Result<(), Misfit> {
        let bound = |key| schema.get(key).and_then(Json::as_u64);
        let (min, max) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
        let found = items.len() as u64;
        if found < min || found > max {
            if self.path.last().is_some_and(|key| key == "flows") {
                return Err(self.misfit(Problem::NoFlows));
            }
            let expected = if min == max { min.to_string() } else { format!("at least {min}") };
            return Err(self.misfit(Problem::WrongLength { expected, found: items.len() }));
        }
        for (index, item) in items.iter().enumerate() {
            self.path.push(index.to_string());
            if let Some(schema) = schema.get("items") {
                self.node(item, schema)?;
            }
            self.path.pop();
        }
        Ok(())
    }

    fn text(&self, text: &str, fitting: &[&Json]) -> Result<(), Misfit> {
        let names: Vec<&str> = fitting.iter().flat_map(|schema| names(schema)).collect();
        let quantity = fitting.iter().find_map(|schema| quantity_of(schema));
        match quantity {
            _ if names.contains(&text) => Ok(()),
            Some(Spelling { check, .. }) => check(text).map_err(|problem| self.misfit(problem)),
            None if names.is_empty() => Ok(()),
            None => {
                let hint = Hint::for_name(text, names);
                Err(self.misfit(Problem::UnknownName { what: "value", name: text.to_owned(), hint }))
            }
        }
    }

    fn integer(&self, number: i128, schema: &Json) -> Result<(), Misfit> {
        let largest = match schema.get("format").and_then(Json::as_str) {
            Some("uint32") => i128::from(u32::MAX),
            Some("uint64") => i128::from(u64::MAX),
            _ => return self.in_range(number as f64, schema),
        };
        let max = schema.get("maximum").and_then(Json::as_u64).map_or(largest, i128::from);
        let min = schema.get("minimum").and_then(Json::as_i64).map_or(0, i128::from);
        if (min..=max).contains(&number) {
            return Ok(());
        }
        let expected = if number < min { format!("at least {min}") } else { format!("at most {max}") };
        Err(self.misfit(Problem::OutOfRange { value: number.to_string(), expected }))
    }

    fn in_range(&self, number: f64, schema: &Json) -> Result<(), Misfit> {
        let bound = |key| schema.get(key).and_then(Json::as_f64);
        let (min, max) = (bound("minimum"), bound("maximum"));
        if min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max) {
            return Ok(());
        }
        let expected = match (min, max) {
            (Some(min), Some(max)) => format!("from {min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (_, max) => format!("at most {}", max.unwrap_or(f64::MAX)),
        };
        Err(self.misfit(Problem::OutOfRange { value: number.to_string(), expected }))
    }

    fn misfit(&self, problem: Problem) -> Misfit {
        (self.path.clone(), problem)
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

/// What a value may be: `a duration such as "30 ms" or a table with the keys uniform`.
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

/// What could be written for a key that is missing.
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
