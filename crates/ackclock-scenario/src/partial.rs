//! Finds further mistakes of a document whose keys do not all conform to the schema.
//!
//! The wrong keys are removed, and the rest is checked as far as the result cannot depend on them.

use super::mistakes::Misfits;
use super::resolve::resolve;
use super::tree::{Node, Origin, Value};
use super::validate::{keys_alone, validate};
use ackclock::quantity::{Hint, Problem};

/// As long as a run may be: nothing is too late for it.
const LONGEST: &str = "2400 h";

/// The misfits of the rest of a document, without its `known` misfits.
pub fn misfits_beside(root: &Node, known: &Misfits) -> Misfits {
    let mut root = root.clone();
    let touches =
        |keys: &[&str]| known.iter().any(|(path, _)| path.first().is_some_and(|first| keys.contains(&first.as_str())));
    let is_network_sound = root.get("duration").is_some()
        && !touches(&["topology", "links", "channels", "meters", "sampling", "duration", "flows", "transport"]);
    for (path, problem) in known.iter() {
        if !leave_out(&mut root, path) {
            return Misfits::default();
        }
        if let (Problem::UnknownKey { hint: Hint::Near(meant) }, [flows, index, _]) = (problem, path.as_slice())
            && flows == "flows"
            && matches!(meant.as_str(), "cc" | "traffic")
            && let Some(flow) = index.parse().ok().and_then(|index: usize| flow_mut(&mut root, index))
        {
            stand_in_cc(flow);
        }
    }
    if !is_network_sound && let Value::Table(entries) = &mut root.value {
        entries.retain(|(key, _)| key != "topology" && key != "links");
    }
    if root.get("duration").is_none()
        && let Value::Table(entries) = &mut root.value
    {
        entries.push(("duration".to_owned(), stand_in(LONGEST)));
    }
    match resolve(&root) {
        Ok(document) if is_network_sound => validate(&document).err().unwrap_or_default(),
        Ok(document) => keys_alone(&document),
        Err(_) => Misfits::default(),
    }
}

/// Removes the value at `path` from a document, with the surrounding table where necessary. Returns false if no
/// statement is possible without the value.
fn leave_out(root: &mut Node, path: &[String]) -> bool {
    match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] | ["schema", ..] | ["flows"] | ["flows", _] => false,
        ["flows", index, key, rest @ ..] => {
            let Some(flow) = index.parse().ok().and_then(|index: usize| flow_mut(root, index)) else { return false };
            match (*key, rest) {
                // A parameter that is left out has a default.
                ("cc", [parameter]) if *parameter != "kind" => {
                    if let Some(cc) = flow.get_mut("cc") {
                        remove(cc, parameter);
                    }
                }
                // The protocol is unknown, so it may be TCP.
                ("traffic", _) => {
                    remove(flow, "traffic");
                    stand_in_cc(flow);
                }
                _ => remove(flow, key),
            }
            true
        }
        ["transport", key, ..] => {
            if let Some(transport) = root.get_mut("transport") {
                remove(transport, key);
            }
            true
        }
        [key, ..] => {
            remove(root, key);
            true
        }
    }
}

fn flow_mut(root: &mut Node, index: usize) -> Option<&mut Node> {
    match root.get_mut("flows") {
        Some(Node { value: Value::Array(flows), .. }) => flows.get_mut(index),
        _ => None,
    }
}

/// Gives a flow with an unknown algorithm a default one, so that no second mistake is reported.
fn stand_in_cc(flow: &mut Node) {
    if flow.get("cc").is_none()
        && let Value::Table(entries) = &mut flow.value
    {
        let kind = vec![("kind".to_owned(), stand_in("aimd"))];
        entries.push(("cc".to_owned(), Node::new(Value::Table(kind), Origin::Default)));
    }
}

fn stand_in(text: &str) -> Node {
    Node::new(Value::Text(text.to_owned()), Origin::Default)
}

fn remove(table: &mut Node, key: &str) {
    if let Value::Table(entries) = &mut table.value {
        entries.retain(|(name, _)| name != key);
    }
}
