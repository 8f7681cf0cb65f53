//! Labels: a table in the words of a command line, such as `codel(target=10 ms)`.

use super::parse;
use super::tree::{Node, Origin, Value};

/// The table of a name or of a label. A value without quotes is a number, a truth value or a text.
///
/// `first` is the key of a first value without a key. An inline table of TOML is read as such.
///
/// # Errors
/// The problem of another text.
pub fn table_of(text: &str, first: Option<&str>, origin: &Origin) -> Result<Node, String> {
    let text = text.trim();
    if text.starts_with('{') {
        let found = parse::toml_value(text).filter(|node| matches!(node.value, Value::Table(_)));
        return found.ok_or_else(|| "is not an inline table of TOML".to_owned());
    }
    let (name, values) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => (name, rest.strip_suffix(')').ok_or("has no closing parenthesis")?),
    };
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|character| character.is_ascii_alphanumeric() || "_+-".contains(character))
    {
        return Err("is neither a name, a label such as codel(target=10 ms), nor an inline table of TOML".to_owned());
    }
    let mut entries = vec![("kind".to_owned(), Node::new(Value::Text(name.to_owned()), origin.clone()))];
    for (number, part) in parts(values).into_iter().enumerate() {
        let keyed = part.split_once('=').map(|(key, value)| (key.trim(), value)).filter(|(key, _)| is_key(key));
        let (key, value) = match (keyed, first) {
            (Some(keyed), _) => keyed,
            (None, Some(first)) if number == 0 => (first, part),
            (None, _) => return Err(format!("has the value {part:?} without a key; write KEY={part}")),
        };
        if entries.iter().any(|(known, _)| known == key) {
            return Err(format!("has {key} twice"));
        }
        entries.push((key.to_owned(), value_of(value, origin)));
    }
    Ok(Node::new(Value::Table(entries), origin.clone()))
}

/// The parts between the commas that are outside of brackets and quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
}

fn value_of(text: &str, origin: &Origin) -> Node {
    let Some(mut node) = parse::toml_value(text) else {
        return Node::new(Value::Text(text.trim().to_owned()), origin.clone());
    };
    node.set_origin(origin);
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(text: &str, first: Option<&str>) -> Result<serde_json::Value, String> {
        table_of(text, first, &Origin::File).map(|node| node.to_json())
    }

    #[test]
    fn labels_are_tables() {
        let expected = json!({ "kind": "codel", "target": "10 ms", "ecn": true });
        assert_eq!(table("codel(target=10 ms, ecn=true)", None).unwrap(), expected);
        assert_eq!(table("{ kind = 'codel', target = '10 ms', ecn = true }", None).unwrap(), expected);
        assert_eq!(table(" aimd-fc+ ", None).unwrap(), json!({ "kind": "aimd-fc+" }));
        let poisson = json!({ "kind": "poisson", "rate": "9 Mbit/s", "flows": 3 });
        assert_eq!(table("poisson(9 Mbit/s, flows=3)", Some("rate")).unwrap(), poisson);
        let nested = json!({ "kind": "tbf", "inner": { "kind": "codel", "target": "1 ms" }, "note": "a, b" });
        assert_eq!(table("tbf(inner={ kind = 'codel', target = '1 ms' }, note='a, b')", None).unwrap(), nested);
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, message) in [
            ("", "is neither a name"),
            ("my cc", "is neither a name"),
            ("codel(target=1 ms", "has no closing parenthesis"),
            ("codel(1 ms)", "has the value \"1 ms\" without a key; write KEY=1 ms"),
            ("codel(target=1 ms, target=2 ms)", "has target twice"),
            ("{ kind = ", "is not an inline table"),
        ] {
            assert!(table(text, None).unwrap_err().contains(message), "{text}");
        }
    }
}
