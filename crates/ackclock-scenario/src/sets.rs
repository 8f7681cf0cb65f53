//! Applies `a.b=c` of `--set`, which replaces one key of the full form.

use std::sync::Arc;

use super::foreign::source_key;
use super::mistakes::Mistake;
use super::parse;
use super::shorthand::expand;
use super::tree::{Node, Origin, Value};
use ackclock::quantity::{Hint, Problem};

/// More keys below each other than any document has.
const DEEPEST: usize = 16;

/// A change of a key that was applied.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As it was written, `KEY=VALUE`.
    pub text: Arc<str>,
    /// The path of the key, lists by index.
    pub path: Vec<String>,
}

impl Setting {
    /// The place of the values that it wrote.
    pub fn origin(&self) -> Origin {
        Origin::Set(self.text.clone())
    }
}

/// The value at a path, lists by index.
pub fn at<'a>(root: &'a Node, path: &[String]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, segment| match &node.value {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => node.get(segment),
    })
}

/// The value at a path, lists by index.
pub fn at_mut<'a>(root: &'a mut Node, path: &[String]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, segment| match &mut node.value {
        Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
        Value::Table(entries) => entries.iter_mut().find(|(key, _)| key == segment).map(|(_, child)| child),
        _ => None,
    })
}

/// Applies one change to a document in its full form, and brings the result into its full form.
///
/// The value is read as TOML, or otherwise as a string. Missing tables are created, and items of lists are found by
/// index or by name. A new `kind` drops the parameters of the old one, and so does another file of code.
///
/// # Errors
/// A text without `=`, an item that is not there, a key below a plain value.
pub fn apply(root: &mut Node, text: &str) -> Result<Setting, Mistake> {
    let text: Arc<str> = Arc::from(text);
    let origin = Origin::Set(text.clone());
    let error = |path: &[&str], problem| Err(Mistake::new("", origin.clone(), path.join("."), problem));
    let Some((path, value)) = text.split_once('=') else { return error(&[], Problem::SetSyntax) };
    let path: Vec<&str> = path.trim().split('.').collect();
    if path.len() > DEEPEST || path.iter().any(|segment| segment.is_empty()) {
        return error(&[], Problem::SetSyntax);
    }
    let value = match parse::toml_value(value) {
        Some(mut node) => {
            node.set_origin(&origin);
            node
        }
        None => Node::new(Value::Text(value.trim().to_owned()), origin.clone()),
    };
    let mut here = &mut *root;
    let mut places = Vec::with_capacity(path.len());
    for (depth, segment) in path.iter().enumerate() {
        let last = depth + 1 == path.len();
        let found = here.in_words();
        here = match &mut here.value {
            Value::Table(entries) => {
                let is_other = |(key, node): &(String, Node)| key == "kind" && node.value != value.value;
                if last && *segment == "kind" && entries.iter().any(is_other) {
                    entries.clear();
                }
                if last && source_key(kind_among(entries)) == Some(segment) {
                    forget_code(entries, segment, &value);
                }
                let index = entries.iter().position(|(key, _)| key == segment).unwrap_or_else(|| {
                    entries.push(((*segment).to_owned(), Node::new(Value::Table(Vec::new()), origin.clone())));
                    entries.len() - 1
                });
                places.push((*segment).to_owned());
                &mut entries[index].1
            }
            Value::Array(items) => match position(items, segment) {
                Some(index) => {
                    places.push(index.to_string());
                    &mut items[index]
                }
                None => {
                    let hint = Hint::OneOf(items.iter().enumerate().map(|(index, item)| label(index, item)).collect());
                    let item = (*segment).to_owned();
                    return error(&path[..depth], Problem::NoSuchItem { item, hint });
                }
            },
            _ => return error(&path[..depth], Problem::NotBelow { found }),
        };
    }
    *here = value;
    expand(root);
    Ok(Setting { text: text.clone(), path: places })
}

fn kind_among(entries: &[(String, Node)]) -> Option<&str> {
    entries.iter().find(|(key, _)| key == "kind").and_then(|(_, kind)| kind.as_text())
}

/// Code from another file has parameters of its own.
fn forget_code(entries: &mut Vec<(String, Node)>, key: &str, value: &Node) {
    if entries.iter().any(|(name, node)| name == key && node.value != value.value) {
        entries.retain(|(name, _)| name == "kind");
    }
}

/// The item with this index or name.
fn position(items: &[Node], segment: &str) -> Option<usize> {
    match segment.parse::<usize>() {
        Ok(index) => (index < items.len()).then_some(index),
        Err(_) => items.iter().position(|item| item.get("name").and_then(Node::as_text) == Some(segment)),
    }
}

fn label(index: usize, item: &Node) -> String {
    item.get("name").and_then(Node::as_text).map_or_else(|| index.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Node {
        let text = "rate = '1 Mbit/s'\n[[flows]]\nname = 'a'\ncc = { kind = 'aimd', remaining = 0.5 }\n[[flows]]\nname = 'b'\n";
        let mut root = parse::toml(text, "x").unwrap();
        expand(&mut root);
        root
    }

    fn after(set: &str) -> serde_json::Value {
        let mut root = tree();
        apply(&mut root, set).unwrap();
        root.to_json()
    }

    #[test]
    fn values_are_toml_or_else_strings() {
        assert_eq!(after("seed=7")["seed"], 7);
        assert_eq!(after("rate=5 Mbit/s")["rate"], "5 Mbit/s");
        assert_eq!(after("rate = \"5 Mbit/s\"")["rate"], "5 Mbit/s");
        assert_eq!(after("topology.access.delay=1 ms")["topology"]["access"]["delay"], "1 ms");
        assert_eq!(after("flows.a.start={ uniform = ['0 s', '1 s'] }")["flows"][0]["start"]["uniform"][1], "1 s");
    }

    #[test]
    fn flows_are_found_by_index_and_by_name() {
        assert_eq!(after("flows.1.count=4")["flows"][1]["count"], 4);
        assert_eq!(after("flows.b.count=4")["flows"][1]["count"], 4);
        assert_eq!(after("flows.b.cc=new-aimd")["flows"][1]["cc"]["kind"], "new-aimd");
    }

    #[test]
    fn a_new_kind_drops_the_parameters_of_the_old_one() {
        assert_eq!(after("flows.a.cc.kind=new-aimd")["flows"][0]["cc"], serde_json::json!({"kind": "new-aimd"}));
        assert_eq!(after("flows.a.cc.kind=aimd")["flows"][0]["cc"]["remaining"], 0.5);
        assert_eq!(after("flows.a.cc.increase=2")["flows"][0]["cc"]["remaining"], 0.5);
    }

    #[test]
    fn what_cannot_be_set_is_an_error() {
        let message = |set: &str| apply(&mut tree(), set).unwrap_err().to_string();
        let syntax = "write KEY=VALUE, for example topology.rate=\"10 Mbit/s\"";
        assert_eq!(message("seed"), format!("set seed: {syntax}"));
        assert_eq!(message("=1"), format!("set =1: {syntax}"));
        assert_eq!(message("a..b=1"), format!("set a..b=1: {syntax}"));
        assert_eq!(message("flows.2.count=1"), "set flows.2.count=1: flows: no item \"2\"; use one of a, b");
        assert_eq!(message("flows.c.count=1"), "set flows.c.count=1: flows: no item \"c\"; use one of a, b");
        assert_eq!(message("rate.x=1"), "set rate.x=1: rate: \"1 Mbit/s\" has no keys below it");
    }
}
