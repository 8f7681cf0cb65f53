//! A scenario as it was written: a tree of values that know where they come from.

use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// In the file, at a line that is not known.
    File,
    /// In the file, at this line, counted from 1.
    Line(u32),
    /// In this change of a key, `KEY=VALUE`.
    Set(Arc<str>),
    /// Nowhere: a default.
    Default,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub origin: Origin,
}

/// A value of TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A date or a time of TOML, which no key takes.
    Date(String),
    /// A list.
    Array(Vec<Node>),
    /// Keys with their values, in the order of the file. Keys are unique.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// A value from `origin`.
    pub fn new(value: Value, origin: Origin) -> Self {
        Node { value, origin }
    }

    /// A value from a default, which no file contains.
    pub fn from_default(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => Value::Table(Vec::new()),
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i128() {
                Some(integer) => Value::Integer(integer),
                None => Value::Float(number.as_f64().unwrap_or(f64::MAX)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Node::from_default).collect()),
            Json::Object(entries) => {
                Value::Table(entries.iter().map(|(key, item)| (key.clone(), Node::from_default(item))).collect())
            }
        };
        Node::new(value, Origin::Default)
    }

    /// Sets the place where the value and its parts were written.
    pub fn set_origin(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.set_origin(origin)),
            Value::Table(entries) => entries.iter_mut().for_each(|(_, item)| item.set_origin(origin)),
            _ => {}
        }
    }

    /// The entry `key` of a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The entry `key` of a table.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list, empty for other values.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    /// The type of the value in words, for an error message.
    pub fn in_words(&self) -> String {
        const LONGEST: usize = 40;
        match &self.value {
            Value::Bool(flag) => format!("{flag}"),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Text(text) if text.chars().count() <= LONGEST => format!("\"{text}\""),
            Value::Text(text) => format!("\"{}...\"", text.chars().take(LONGEST).collect::<String>()),
            Value::Date(date) => format!("the date {date}"),
            Value::Array(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The same value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::{Number, Value as Json};
        match &self.value {
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Integer(number) => Number::from_i128(*number).map_or(Json::Null, Json::Number),
            Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
            Value::Text(text) | Value::Date(text) => Json::String(text.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(entries) => {
                Json::Object(entries.iter().map(|(key, node)| (key.clone(), node.to_json())).collect())
            }
        }
    }

    /// Where the value at `path` was written, or the nearest table around it.
    pub fn origin_of(&self, path: &[String]) -> Origin {
        let mut node = self;
        let mut origin = &self.origin;
        for segment in path {
            let next = match &node.value {
                Value::Array(items) => segment.parse().ok().and_then(|index: usize| items.get(index)),
                _ => node.get(segment),
            };
            let Some(next) = next else { break };
            node = next;
            if node.origin != Origin::Default {
                origin = &node.origin;
            }
        }
        origin.clone()
    }
}
