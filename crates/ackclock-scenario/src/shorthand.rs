//! Shorthand, and the full form of a document.
//!
//! A name may replace a table that contains only its `kind`: `queue = "drop-tail"` for
//! `queue = { kind = "drop-tail" }`. A label may replace any table with a `kind`: `queue = "codel(target=10 ms)"`. The
//! full form contains such tables and a name for every flow. Every table with a default contains its omitted keys, so
//! that `--set` finds them.

use serde_json::Value as Json;

use super::foreign::kind_of;
use super::json_schema::{alternatives, document_schema, resolve};
use super::label;
use super::tree::{Node, Origin, Value};
use ackclock::cc::CcSpec;
use ackclock::quantity::SHORTHAND_KEY;

/// Expands a document to its full form. Mistakes stay unchanged.
pub fn expand(root: &mut Node) {
    if let Some(Node { value: Value::Array(flows), .. }) = root.get_mut("flows") {
        for (index, flow) in flows.iter_mut().enumerate() {
            if let Value::Table(entries) = &mut flow.value
                && !entries.iter().any(|(key, _)| key == "name")
            {
                let name = Value::Text(format!("flow{index}"));
                entries.push(("name".to_owned(), Node::new(name, Origin::Default)));
            }
        }
    }
    expand_node(root, document_schema());
}

/// Expands a value of this schema to its full form.
pub fn expand_node(node: &mut Node, schema: &Json) {
    let schema = resolve(schema);
    if schema.get(SHORTHAND_KEY).is_some() {
        name_to_table(node);
    }
    match &mut node.value {
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| expand_node(item, schema));
            }
        }
        Value::Table(_) => expand_table(node, schema),
        _ => {}
    }
}

fn expand_table(table: &mut Node, schema: &Json) {
    let kind = table.get("kind").and_then(Node::as_text);
    let fits = |schema: &&Json| match (kind, schema.pointer("/properties/kind/const")) {
        (_, None) => schema.get("properties").is_some() || schema.get("additionalProperties").is_some(),
        (kind, Some(name)) => name.as_str() == kind,
    };
    let Some(schema) = alternatives(schema).into_iter().find(fits) else { return };
    let no_properties = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&no_properties);
    let Value::Table(entries) = &mut table.value else { return };
    for (key, child) in entries.iter_mut() {
        let Some(schema) = properties.get(key).or_else(|| schema.get("additionalProperties")) else { continue };
        if key == "cc" {
            file_to_table(child);
        }
        if resolve(schema).get(SHORTHAND_KEY).is_some() {
            name_to_table(child);
        }
        if key == "cc" {
            alias_to_name(child);
        }
        if let Some(default) = schema.get("default") {
            fill(child, default);
        }
        expand_node(child, schema);
    }
    for (key, schema) in properties {
        if let Some(default) = schema.get("default").filter(|default| default.is_object())
            && !entries.iter().any(|(name, _)| name == key)
        {
            entries.push((key.clone(), Node::from_default(default)));
        }
    }
}

/// A name becomes the table that it stands for.
pub fn name_to_table(node: &mut Node) {
    if let Value::Text(name) = &mut node.value {
        if name.contains('(')
            && let Ok(table) = label::table_of(name, None, &node.origin)
        {
            *node = table;
            return;
        }
        let kind = Node::new(Value::Text(std::mem::take(name)), node.origin.clone());
        node.value = Value::Table(vec![("kind".to_owned(), kind)]);
    }
}

/// Expands `cc = "my_cc.py:MyCc"`, the name of user-supplied code.
fn file_to_table(cc: &mut Node) {
    let Some((kind, key)) = cc.as_text().and_then(kind_of) else { return };
    let source = cc.clone();
    let kind = Node::new(Value::Text(kind.to_owned()), source.origin.clone());
    cc.value = Value::Table(vec![("kind".to_owned(), kind), (key.to_owned(), source)]);
}

fn alias_to_name(cc: &mut Node) {
    let Some(Node { value: Value::Text(kind), .. }) = cc.get_mut("kind") else { return };
    if let Some(spec) = CcSpec::by_name(kind) {
        *kind = spec.name().to_owned();
    }
}

/// Gives a table the keys of its default that it lacks, unless it is of another kind.
pub fn fill(table: &mut Node, default: &Json) {
    let kind = table.get("kind").and_then(Node::as_text);
    if default.get("kind").is_some() && default.get("kind").and_then(Json::as_str) != kind {
        return;
    }
    let (Value::Table(entries), Some(defaults)) = (&mut table.value, default.as_object()) else { return };
    for (key, default) in defaults {
        if !entries.iter().any(|(name, _)| name == key) {
            entries.push((key.clone(), Node::from_default(default)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn expanded(text: &str) -> Json {
        let mut root = parse::toml(text, "x").unwrap();
        expand(&mut root);
        let once = root.clone();
        expand(&mut root);
        assert_eq!(root, once, "the full form is its own full form");
        root.to_json()
    }

    #[test]
    fn names_become_tables() {
        let full = expanded("[[flows]]\ncc = 'aimd-fc-plus'\ntraffic = 'bulk'\n[[flows]]\nname = 'x'\n");
        assert_eq!(full["flows"][0]["cc"], serde_json::json!({"kind": "aimd-fc+"}));
        assert_eq!(full["flows"][0]["traffic"], serde_json::json!({"kind": "bulk"}));
        assert_eq!(full["flows"][0]["name"], "flow0");
        assert_eq!(full["flows"][1]["name"], "x");
    }

    #[test]
    fn a_queue_gets_the_limit_of_its_place() {
        let full = expanded(
            "[topology]\nkind = 'dumbbell'\nqueue = 'drop-tail'\naccess.delay = '1 ms'\nreverse.queue.kind = 'drop-tail'",
        );
        assert_eq!(full["topology"]["queue"]["limit"], "1 BDP");
        assert_eq!(full["topology"]["access"]["queue"]["limit"], "10000 packets");
        assert_eq!(full["topology"]["reverse"]["queue"]["limit"], "10000 packets");
        assert_eq!(expanded("[links.a]\nrate = '1 Mbit/s'")["links"]["a"]["queue"]["limit"], "1 BDP");
    }
}
