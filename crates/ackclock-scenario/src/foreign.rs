//! User-supplied algorithms: the contents of their files become part of the scenario.

use super::mistakes::Misfits;
use super::traces::ReadFiles;
use super::tree::{Node, Origin, Value};
use ackclock::cc::RuleSource;
use ackclock::quantity::Problem;

/// The key that names the code of each kind.
pub(super) const SOURCES: [(&str, &str); 5] = [("python", "source"), ("library", "path"), BPF, MODULE, RULE];
const BPF: (&str, &str) = ("bpf", "object");
const MODULE: (&str, &str) = ("module", "source");
const RULE: (&str, &str) = ("rule", "file");

/// The kind of algorithm file that a name denotes, as in `cc = "my_cc.py:MyCc"`.
pub fn kind_of(name: &str) -> Option<(&'static str, &'static str)> {
    let file = name.rsplit_once(".py:").map_or(name, |(stem, _)| &name[..stem.len() + 3]);
    let is_library = [".so", ".dylib", ".dll"].iter().any(|suffix| file.ends_with(suffix)) || file.contains(".so.");
    match () {
        () if file.ends_with(".py") => Some(SOURCES[0]),
        () if is_library => Some(SOURCES[1]),
        () if file.ends_with(".bpf.o") => Some(BPF),
        () if file.ends_with(".c") => Some(MODULE),
        () if file.ends_with(".rule") => Some(RULE),
        () => None,
    }
}

/// The key of a table of this kind whose value determines all other keys.
pub fn source_key(kind: Option<&str>) -> Option<&'static str> {
    SOURCES.iter().find(|(name, _)| Some(*name) == kind).map(|(_, key)| *key)
}

/// Completes every user-supplied algorithm. Adds their mistakes to `misfits`.
pub fn complete(root: &mut Node, files: &dyn ReadFiles, misfits: &mut Misfits) {
    let Some(Node { value: Value::Array(flows), .. }) = root.get_mut("flows") else { return };
    for (index, flow) in flows.iter_mut().enumerate() {
        let Some(cc) = flow.get_mut("cc") else { continue };
        let Some(key) = source_key(cc.get("kind").and_then(Node::as_text)) else { continue };
        let Some(source) = cc.get(key).filter(|source| source.as_text() != Some("")) else { continue };
        let is_set = matches!(source.origin, Origin::Set(_));
        let completed = match source.as_text() {
            Some(name) if key == RULE.1 => {
                files.read_rule(name, is_set).and_then(|text| with_rule(&cc.to_json(), &text))
            }
            _ => files.complete_cc(&cc.to_json(), is_set),
        };
        match completed {
            Ok(full) => add_missing(cc, &full),
            Err((wrong, message)) => {
                // Nothing more is to be said of it.
                add_missing(cc, &serde_json::json!({ "code": "?" , "sha256": "?" }));
                let wrong = if cc.get(&wrong).is_some() { wrong } else { key.to_owned() };
                misfits.push(vec!["flows".into(), index.to_string(), "cc".into(), wrong], Problem::Foreign(message));
            }
        }
    }
}

/// The table of a rule with the texts and numbers of its file. Values in the table override the file.
fn with_rule(cc: &serde_json::Value, text: &str) -> Result<serde_json::Value, (String, String)> {
    let wrong = |message: String| (RULE.1.to_owned(), message);
    let rule = RuleSource::from_line(text).map_err(|error| wrong(error.in_one_line()))?;
    let mut full = serde_json::to_value(rule).map_err(|error| wrong(error.to_string()))?;
    if let (Some(full), Some(given)) = (full.as_object_mut(), cc.as_object()) {
        full.extend(given.clone());
        // The file has been read, so its name is no longer needed.
        full.insert(RULE.1.to_owned(), "".into());
    }
    Ok(full)
}

/// Takes the missing values from `full`. Written values keep their place in the file.
fn add_missing(cc: &mut Node, full: &serde_json::Value) {
    let Value::Table(entries) = &mut cc.value else { return };
    for (key, value) in full.as_object().into_iter().flatten() {
        let value = Node::from_default(value);
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, node)) => node.value = value.value,
            None => entries.push((key.clone(), Node { origin: Origin::Default, ..value })),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::{ReadFiles, Scenario, ScenarioError};
    use super::*;

    const SCENARIO: &str = "schema = 1\nduration = '1 s'\n[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\n\
                            delay = '1 ms'\n[[flows]]\nname = 'test'\ncc = CC\n";

    /// A folder with one class: `gain` is its parameter.
    struct Folder;

    impl ReadFiles for Folder {
        fn read_file(&self, _: &str) -> Result<String, String> {
            Err("is not there".to_owned())
        }

        fn complete_cc(&self, cc: &Json, _is_set: bool) -> Result<Json, (String, String)> {
            let mut cc = cc.clone();
            if cc["gain"] == "much" {
                return Err(("gain".to_owned(), "takes a number".to_owned()));
            }
            let code = format!("text of {}", cc["source"].as_str().unwrap());
            let table = cc.as_object_mut().unwrap();
            table.entry("code").or_insert(code.into());
            table.entry("gain").or_insert(json!(1.5));
            Ok(cc)
        }
    }

    fn read(cc: &str) -> Result<Scenario, ScenarioError> {
        Scenario::from_toml_with::<&str>(&SCENARIO.replace("CC", cc), "s.toml", &[], &Folder)
    }

    fn cc_of(scenario: &Scenario) -> Json {
        serde_json::from_str::<Json>(&scenario.resolved_json()).unwrap()["flows"][0]["cc"].clone()
    }

    #[test]
    fn the_scenario_carries_code_and_parameters() {
        let scenario = read("{ kind = 'python', source = 'a.py:A' }").unwrap();
        let expected = json!({"kind": "python", "source": "a.py:A", "code": "text of a.py:A", "gain": 1.5});
        assert_eq!(cc_of(&scenario), expected);
        assert_eq!(read("'a.py:A'").unwrap().hash(), scenario.hash());
        let again = Scenario::from_json::<&str>(&scenario.resolved_json(), "s.json", &[]).unwrap();
        assert_eq!((again.document(), again.hash()), (scenario.document(), scenario.hash()));
    }

    #[test]
    fn another_text_or_parameter_is_another_scenario() {
        let hashes = ["'a.py:A'", "'b.py:A'", "{ kind = 'python', source = 'a.py:A', gain = 2 }"]
            .map(|cc| read(cc).unwrap().hash());
        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[1] != hashes[2]);
    }

    #[test]
    fn what_is_wrong_has_its_line_and_key() {
        let error = read("{ kind = 'python', source = 'a.py:A', gain = 'much' }").unwrap_err();
        assert_eq!(error.to_string(), "s.toml:9: flows.test.cc.gain: takes a number");
        let error = Scenario::from_toml::<&str>(&SCENARIO.replace("CC", "'a.py:A'"), "s.toml", &[]).unwrap_err();
        let expected = "s.toml:9: flows.test.cc.source: only the Python package can read user-supplied code";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_new_source_has_its_own_text_and_parameters() {
        let scenario = read("{ kind = 'python', source = 'a.py:A', gain = 2 }").unwrap();
        let kept = scenario.with_sets_and(&["flows.test.cc.gain=3", "duration=2 s"], &Folder).unwrap();
        assert_eq!((&cc_of(&kept)["gain"], &cc_of(&kept)["code"]), (&json!(3), &json!("text of a.py:A")));
        let other = scenario.with_sets_and(&["flows.test.cc.source=b.py:B"], &Folder).unwrap();
        assert_eq!((&cc_of(&other)["gain"], &cc_of(&other)["code"]), (&json!(1.5), &json!("text of b.py:B")));
    }

    #[test]
    fn a_rule_in_a_file_is_the_rule_itself() {
        let files = |name: &str| match name {
            "a.rule" => Ok("# mine\ngrow = a / w\na = 2".to_owned()),
            "wrong.rule" => Ok("grow = 1 / w\nb".to_owned()),
            _ => Err("cannot be read".to_owned()),
        };
        let read = |cc: &str| Scenario::from_toml_with::<&str>(&SCENARIO.replace("CC", cc), "s.toml", &[], &files);
        let written = read("{ kind = 'rule', grow = 'a / w', a = 2 }").unwrap();
        assert_eq!(read("'a.rule'").unwrap().hash(), written.hash());
        let changed = read("'a.rule'").unwrap().with_sets_and(&["flows.test.cc.a=3"], &files).unwrap();
        assert_eq!(cc_of(&changed), json!({"kind": "rule", "grow": "a / w", "cut": "w / 2", "a": 3.0}));
        let again = Scenario::from_json::<&str>(&changed.resolved_json(), "s.json", &[]).unwrap();
        assert_eq!(again.hash(), changed.hash());
        let expected = "s.toml:9: flows.test.cc.file: character 14 of `grow = 1 / w b`: expected NAME = FORMULA";
        assert_eq!(read("'wrong.rule'").unwrap_err().to_string(), expected);
        assert_eq!(read("'no.rule'").unwrap_err().to_string(), "s.toml:9: flows.test.cc.file: cannot be read");
        let error = Scenario::from_toml::<&str>(&SCENARIO.replace("CC", "'a.rule'"), "s.toml", &[]).unwrap_err();
        assert!(error.to_string().contains("flows.test.cc.file: a file cannot be read here"), "{error}");
    }

    #[test]
    fn files_of_code_are_known_by_their_names() {
        for name in ["a.py", "x/a.py:A", "a.py:"] {
            assert_eq!(kind_of(name), Some(("python", "source")), "{name}");
        }
        for name in ["./a.so", "a.so.1", "a.dylib", "a.dll"] {
            assert_eq!(kind_of(name), Some(("library", "path")), "{name}");
        }
        assert_eq!(kind_of("x/a.rule"), Some(("rule", "file")));
        assert_eq!(kind_of("./a.bpf.o"), Some(("bpf", "object")));
        assert_eq!(kind_of("x/tcp_mine.c"), Some(("module", "source")));
        for name in ["aimd", "aimd-fc+", "a.pyc:A", "py"] {
            assert_eq!(kind_of(name), None, "{name}");
        }
    }
}
