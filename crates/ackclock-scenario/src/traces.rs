//! Trace files: their contents become part of the scenario, which then needs no file.

use super::mistakes::Misfits;
use super::tree::{Node, Origin, Value};
use super::variation::{MOST_OPPORTUNITIES, check_trace};
use ackclock::quantity::Problem;

/// Reads the files of scenarios. A closure that reads a file implements it.
pub trait ReadFiles {
    /// Gives the text of a file by the name that the scenario has for it.
    ///
    /// # Errors
    /// In words, why not.
    fn read_file(&self, name: &str) -> Result<String, String>;

    /// Returns the text of a rule. `is_set` is true if a changed key names its file.
    ///
    /// # Errors
    /// The wrong key, and the problem in words.
    fn read_rule(&self, name: &str, _is_set: bool) -> Result<String, (String, String)> {
        self.read_file(name).map_err(|message| ("file".to_owned(), message))
    }

    /// Returns the table of a user-supplied algorithm with its code and all of its parameters. `is_set` is true if a
    /// changed key names its file.
    ///
    /// # Errors
    /// The wrong key, and the problem in words.
    fn complete_cc(&self, cc: &serde_json::Value, _is_set: bool) -> Result<serde_json::Value, (String, String)> {
        Ok(cc.clone())
    }
}

impl<F: Fn(&str) -> Result<String, String>> ReadFiles for F {
    fn read_file(&self, name: &str) -> Result<String, String> {
        self(name)
    }
}

/// Replaces the name of every trace file of a document by the lines of the file. Adds mistakes to `misfits` with file
/// and line: unreadable files, lines without a number, decreasing times.
pub fn read(root: &Node, files: &dyn ReadFiles, misfits: &mut Misfits) -> Node {
    let mut root = root.clone();
    read_below(&mut root, &mut Vec::new(), files, misfits);
    root
}

fn read_below(node: &mut Node, path: &mut Vec<String>, files: &dyn ReadFiles, misfits: &mut Misfits) {
    let is_trace = node.get("kind").and_then(Node::as_text) == Some("trace");
    let mut below = |key: String, node: &mut Node| {
        path.push(key);
        read_below(node, path, files, misfits);
        path.pop();
    };
    match &mut node.value {
        Value::Table(entries) if is_trace => {
            let named = entries.iter().position(|(key, value)| key == "file" && value.as_text().is_some());
            let Some(index) = named else { return };
            let is_listed = entries.iter().any(|(key, _)| key == "milliseconds");
            let name = entries[index].1.as_text().unwrap_or_default();
            match if is_listed { Err(Problem::TwoTraces) } else { milliseconds(name, files) } {
                Ok(list) => {
                    let (_, file) = entries.swap_remove(index);
                    entries.push(("milliseconds".to_owned(), Node::new(list, file.origin)));
                }
                Err(problem) => {
                    path.push("file".to_owned());
                    misfits.push(path.clone(), problem);
                    path.pop();
                }
            }
        }
        Value::Table(entries) => entries.iter_mut().for_each(|(key, value)| below(key.clone(), value)),
        Value::Array(items) => {
            items.iter_mut().enumerate().for_each(|(index, item)| below(index.to_string(), item));
        }
        _ => {}
    }
}

/// The list that a file holds.
fn milliseconds(name: &str, files: &dyn ReadFiles) -> Result<Value, Problem> {
    let wrong = |message| Problem::TraceFile { file: name.to_owned(), message };
    let text = files.read_file(name).map_err(wrong)?;
    let milliseconds = parse(&text).map_err(|(line, problem)| wrong(in_line(line, &problem)))?;
    let item = |millis: u64| Node::new(Value::Integer(i128::from(millis)), Origin::Default);
    Ok(Value::Array(milliseconds.into_iter().map(item).collect()))
}

fn in_line(line: usize, problem: &Problem) -> String {
    format!("line {line}: {problem}")
}

/// The opportunities of a trace, or the line that is wrong, counted from 1.
fn parse(text: &str) -> Result<Vec<u64>, (usize, Problem)> {
    let mut milliseconds = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if index == MOST_OPPORTUNITIES {
            return Err((index + 1, Problem::TraceTooLong { limit: MOST_OPPORTUNITIES }));
        }
        let found = Node::new(Value::Text(line.to_owned()), Origin::File).in_words();
        let wrong = || Problem::WrongType { expected: "a whole number of milliseconds".to_owned(), found };
        milliseconds.push(line.trim().parse().map_err(|_| (index + 1, wrong()))?);
    }
    match check_trace(&milliseconds) {
        Some((index, problem)) => Err((index + 1, problem)),
        None => Ok(milliseconds),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scenario, ScenarioError};

    const SCENARIO: &str = "schema = 1\nduration = '1 s'\n[[flows]]\ncc = 'aimd'\n[topology]\nkind = 'dumbbell'\n\
                            rate = '100 Mbit/s'\ndelay = '1 ms'\nvaries = { kind = 'trace', file = 'x.trace' }\n";

    fn with(file: Result<&str, &str>) -> Result<Scenario, ScenarioError> {
        let read_file = |name: &str| {
            assert_eq!(name, "x.trace");
            file.map(str::to_owned).map_err(str::to_owned)
        };
        Scenario::from_toml_with::<&str>(SCENARIO, "s.toml", &[], &read_file)
    }

    #[test]
    fn the_scenario_carries_what_is_in_the_file() {
        let scenario = with(Ok("1\n1\n5\n")).unwrap();
        let listed = SCENARIO.replace("file = 'x.trace'", "milliseconds = [1, 1, 5]");
        let written = Scenario::from_toml::<&str>(&listed, "s.toml", &[]).unwrap();
        assert_eq!(scenario.resolved_json(), written.resolved_json());
        assert_eq!(scenario.hash(), written.hash());
        let again = Scenario::from_json::<&str>(&scenario.resolved_json(), "s.json", &[]).unwrap();
        assert_eq!(again.document(), scenario.document());
        assert!(!scenario.is_random());
    }

    #[test]
    fn junk_is_named_with_file_and_line() {
        let message = |text| with(text).unwrap_err().to_string();
        let place = "s.toml:9: topology.varies.file: x.trace";
        assert_eq!(message(Err("cannot be read")), format!("{place}: cannot be read"));
        let number = "expected a whole number of milliseconds, found";
        assert_eq!(message(Ok("1\n2\nthree\n")), format!("{place}: line 3: {number} \"three\""));
        assert_eq!(message(Ok("1\n\n3\n")), format!("{place}: line 2: {number} \"\""));
        assert_eq!(message(Ok("1\n-2\n")), format!("{place}: line 2: {number} \"-2\""));
        let falls = "is out of range; must be at least 5: times of a trace do not fall";
        assert_eq!(message(Ok("5\n4\n")), format!("{place}: line 2: 4 {falls}"));
        let empty = "the trace is empty; write at least one millisecond in which a packet can leave";
        assert_eq!(message(Ok("")), format!("{place}: line 1: {empty}"));
        assert!(message(Ok("0\n0\n")).starts_with(&format!("{place}: line 2: the trace takes no time")));
    }

    #[test]
    fn one_trace_is_enough_and_nobody_reads_files_unasked() {
        let both = SCENARIO.replace("file =", "milliseconds = [1], file =");
        let error = Scenario::from_toml_with::<&str>(&both, "s.toml", &[], &|_: &str| Ok("1".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "s.toml:9: topology.varies.file: write a file or milliseconds, not both");
        let error = Scenario::from_toml::<&str>(SCENARIO, "s.toml", &[]).unwrap_err();
        let expected = "\"x.trace\" cannot be read here; write its lines as milliseconds";
        assert_eq!(error.to_string(), format!("s.toml:9: topology.varies.file: {expected}"));
    }
}
