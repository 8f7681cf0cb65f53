//! TOML and JSON, read into the same tree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use toml_edit::{Document, Item, Table};

use super::mistakes::Mistake;
use super::tree::{Node, Origin, Value};
use ackclock::quantity::Problem;

/// Reads TOML. Every value knows its line.
///
/// # Errors
/// Anything that is not TOML.
pub fn toml(text: &str, source: &str) -> Result<Node, Mistake> {
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let origin = error.span().map_or(Origin::File, |span| Origin::Line(lines.at(span.start)));
        Mistake::new(source, origin, String::new(), Problem::Syntax { language: "TOML", message })
    })?;
    let root = TomlReader { lines }.item(document.as_item(), 1);
    Ok(Node { origin: Origin::File, ..root })
}

/// Reads one value of TOML, as it stands after a `=`.
pub fn toml_value(text: &str) -> Option<Node> {
    let value: toml_edit::Value = text.trim().parse().ok()?;
    Some(TomlReader { lines: Lines::of(text) }.value(&value, 1))
}

/// Reads JSON. A `null` in an object counts as left out.
///
/// # Errors
/// Anything that is not JSON, keys that come twice, and `null` in a list.
pub fn json(text: &str, source: &str) -> Result<Node, Mistake> {
    match serde_json::from_str::<MaybeNull>(text) {
        Ok(MaybeNull(Some(node))) => Ok(node),
        Ok(MaybeNull(None)) => {
            Err(Mistake::new(source, Origin::File, String::new(), Problem::NotATable { found: "null".to_owned() }))
        }
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(u32::MAX).max(1);
            let full = error.to_string();
            let message = full.split(" at line ").next().unwrap_or(&full).to_owned();
            let problem = Problem::Syntax { language: "JSON", message };
            Err(Mistake::new(source, Origin::Line(line), String::new(), problem))
        }
    }
}

/// The places where lines start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect())
    }

    /// The number, from 1, of the line that holds the byte at `offset`.
    fn at(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset) + 1).unwrap_or(u32::MAX)
    }
}

struct TomlReader {
    lines: Lines,
}

impl TomlReader {
    fn line(&self, span: Option<std::ops::Range<usize>>, outer: u32) -> u32 {
        span.map_or(outer, |span| self.lines.at(span.start))
    }

    fn item(&self, item: &Item, outer: u32) -> Node {
        let line = self.line(item.span(), outer);
        let value = match item {
            Item::None => Value::Table(Vec::new()),
            Item::Value(value) => return self.value(value, outer),
            Item::Table(table) => self.table(table, line),
            Item::ArrayOfTables(tables) => {
                let table = |table: &Table| {
                    let line = self.line(table.span(), line);
                    Node::new(self.table(table, line), Origin::Line(line))
                };
                Value::Array(tables.iter().map(table).collect())
            }
        };
        Node::new(value, Origin::Line(line))
    }

    fn table(&self, table: &Table, line: u32) -> Value {
        let entry = |(key, item): (&str, &Item)| {
            let line = self.line(table.key(key).and_then(toml_edit::Key::span), line);
            (key.to_owned(), self.item(item, line))
        };
        Value::Table(table.iter().map(entry).collect())
    }

    fn value(&self, value: &toml_edit::Value, outer: u32) -> Node {
        use toml_edit::Value as Toml;
        let line = self.line(value.span(), outer);
        let value = match value {
            Toml::String(text) => Value::Text(text.value().clone()),
            Toml::Integer(number) => Value::Integer(i128::from(*number.value())),
            Toml::Float(number) => Value::Float(*number.value()),
            Toml::Boolean(flag) => Value::Bool(*flag.value()),
            Toml::Datetime(date) => Value::Date(date.value().to_string()),
            Toml::Array(array) => Value::Array(array.iter().map(|value| self.value(value, line)).collect()),
            Toml::InlineTable(table) => {
                Value::Table(table.iter().map(|(key, value)| (key.to_owned(), self.value(value, line))).collect())
            }
        };
        Node::new(value, Origin::Line(line))
    }
}

/// A JSON value, or none for `null`.
struct MaybeNull(Option<Node>);

impl<'de> Deserialize<'de> for MaybeNull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor).map(MaybeNull)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Option<Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Some(Node::new(Value::Bool(flag), Origin::File)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Node::new(Value::Integer(i128::from(number)), Origin::File)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Node::new(Value::Integer(i128::from(number)), Origin::File)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(Node::new(Value::Float(number), Origin::File)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Node::new(Value::Text(text.to_owned()), Origin::File)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(MaybeNull(item)) = list.next_element()? {
            items.push(item.ok_or_else(|| A::Error::custom("null in a list"))?);
        }
        Ok(Some(Node::new(Value::Array(items), Origin::File)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        while let Some((key, MaybeNull(value))) = map.next_entry::<String, MaybeNull>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key \"{key}\" comes twice")));
            }
            if let Some(node) = value {
                entries.push((key, node));
            }
        }
        Ok(Some(Node::new(Value::Table(entries), Origin::File)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let tree = toml("a = 1\n\n[b]\nc = { d = 2 }\n[[e]]\n[[e]]\nf = [\n1,\n2]\n", "x").unwrap();
        let at = |path: &[&str]| tree.origin_of(&path.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(at(&["a"]), Origin::Line(1));
        assert_eq!(at(&["b"]), Origin::Line(3));
        assert_eq!(at(&["b", "c", "d"]), Origin::Line(4));
        assert_eq!(at(&["e", "1"]), Origin::Line(6));
        assert_eq!(at(&["e", "1", "f", "1"]), Origin::Line(9));
        assert_eq!(at(&["e", "1", "g"]), Origin::Line(6));
    }

    #[test]
    fn json_gives_the_same_values_as_toml() {
        let from_toml = toml("a = 1\nb = 1.5\nc = [true, \"x\"]\n[d]\ne = \"f\"\n", "x").unwrap();
        let from_json = json(r#"{"a": 1, "b": 1.5, "c": [true, "x"], "d": {"e": "f", "g": null}}"#, "x").unwrap();
        assert_eq!(from_toml.to_json(), from_json.to_json());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_a_line() {
        let message = |result: Result<Node, Mistake>| result.unwrap_err().to_string();
        assert_eq!(
            message(toml("a = 1\nb = \n", "x.toml")),
            "x.toml:2: this is not TOML: string values must be quoted, expected literal string"
        );
        assert!(toml_value("1,5").is_none());
        assert_eq!(message(json("{\"a\": 1,\n \"a\": 2}", "x")), "x:2: this is not JSON: the key \"a\" comes twice");
        assert_eq!(message(json("[1, null]", "x")), "x:1: this is not JSON: null in a list");
    }
}
