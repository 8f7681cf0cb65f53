//! Settings that reach nothing: no run depends on them.
//!
//! A setting reaches a run if the compiled plan changes without it. A setting that repeats the present value does not
//! change the plan, so other values are tried in its place. If none of them changes the plan, the setting reaches
//! nothing.

use std::sync::Arc;

use super::conform::conform;
use super::mistakes::Mistake;
use super::sets::{self, Setting};
use super::tree::{Node, Origin, Value};
use ackclock::quantity::{Hint, Problem};

/// Keys that identify a run and that its result repeats.
const IDENTITY: [&str; 2] = ["name", "seed"];
/// Values of other types and units, tried in turn.
const TEXTS: [&str; 16] = [
    "auto",
    "none",
    "off",
    "on",
    "0 s",
    "1 ms",
    "1 s",
    "100 s",
    "1 Mbit/s",
    "100 Mbit/s",
    "1000 B",
    "100 kB",
    "1 packets",
    "50 packets",
    "2 BDP",
    "1",
];
const NUMBERS: [f64; 4] = [0.25, 0.75, 1.5, 100.0];
const INTEGERS: [i128; 5] = [0, 1, 2, 3, 1000];
/// A setting with more values than this counts as one that reaches the run: trying them all takes too long.
const MOST_PLACES: usize = 64;
/// No key has this value, so the check of names lists those that there are.
const NO_NAME: &str = "\u{1}";

/// Finds the settings that reach nothing. `before` is the document without them in its full form, and `after` the
/// document with all of them. `plan` identifies the plan of a valid document.
pub fn unreached(
    before: &Node,
    after: &Node,
    settings: &[Setting],
    plan: &dyn Fn(&Node) -> Option<String>,
) -> Vec<Mistake> {
    let Some(with) = plan(after) else { return Vec::new() };
    let mut found = Vec::new();
    for (index, setting) in settings.iter().enumerate() {
        if setting.path.len() == 1 && IDENTITY.contains(&setting.path[0].as_str()) {
            continue;
        }
        let places = leaves(after, setting);
        let problem = if places.is_empty() {
            Some(Problem::SettingReplaced)
        } else if without(before, settings, index).is_some_and(|tree| plan(&tree).as_ref() == Some(&with))
            && places.len() <= MOST_PLACES
            && !places.iter().any(|place| may_change(after, place, &with, plan))
        {
            Some(Problem::ReachesNothing { hint: hint(after, &setting.path) })
        } else {
            None
        };
        found.extend(problem.map(|problem| Mistake::new("", setting.origin(), setting.path.join("."), problem)));
    }
    found
}

/// The document with all settings but one, or none where the others need it.
fn without(before: &Node, settings: &[Setting], index: usize) -> Option<Node> {
    let mut tree = before.clone();
    for (other, setting) in settings.iter().enumerate() {
        if other != index {
            sets::apply(&mut tree, &setting.text).ok()?;
        }
    }
    Some(tree)
}

/// The places of the plain values that a setting has written, as far as no later one replaced them.
fn leaves(tree: &Node, setting: &Setting) -> Vec<Vec<String>> {
    fn collect(node: &Node, path: &mut Vec<String>, text: &Arc<str>, found: &mut Vec<Vec<String>>) {
        let children: Box<dyn Iterator<Item = (String, &Node)>> = match &node.value {
            Value::Table(entries) => Box::new(entries.iter().map(|(key, child)| (key.clone(), child))),
            Value::Array(items) => Box::new(items.iter().enumerate().map(|(index, item)| (index.to_string(), item))),
            _ => Box::new(std::iter::empty()),
        };
        let mut is_plain = true;
        for (key, child) in children {
            if found.len() > MOST_PLACES {
                return;
            }
            is_plain = false;
            path.push(key);
            collect(child, path, text, found);
            path.pop();
        }
        // The text may be long, and each value of a list would compare it.
        if is_plain && matches!(&node.origin, Origin::Set(other) if Arc::ptr_eq(other, text)) {
            found.push(path.clone());
        }
    }
    let mut found = Vec::new();
    if let Some(node) = sets::at(tree, &setting.path) {
        collect(node, &mut setting.path.clone(), &setting.text, &mut found);
    }
    found
}

/// Whether another value at a place changes the plan, or none that is tried is valid.
fn may_change(tree: &Node, place: &[String], with: &str, plan: &dyn Fn(&Node) -> Option<String>) -> bool {
    let mut is_known = false;
    for value in others(tree, place) {
        let Some(tree) = replaced(tree, place, value) else { continue };
        match plan(&tree) {
            Some(other) if other != *with => return true,
            Some(_) => is_known = true,
            None => {}
        }
    }
    !is_known
}

/// The document with another value at a place. Another kind comes without the parameters of this one.
fn replaced(tree: &Node, place: &[String], value: Value) -> Option<Node> {
    let mut tree = tree.clone();
    let (key, above) = place.split_last()?;
    if key == "kind"
        && let Value::Table(entries) = &mut sets::at_mut(&mut tree, above)?.value
    {
        entries.retain(|(name, _)| name == "kind");
    }
    sets::at_mut(&mut tree, place)?.value = value;
    super::shorthand::expand(&mut tree);
    Some(tree)
}

/// Other permitted values at a place. Near values and values of the same type come first.
fn others(tree: &Node, place: &[String]) -> Vec<Value> {
    let Some(node) = sets::at(tree, place) else { return Vec::new() };
    let is_number = matches!(node.value, Value::Integer(_) | Value::Float(_));
    let near: Vec<Value> = match &node.value {
        Value::Bool(flag) => vec![Value::Bool(!flag)],
        Value::Integer(number) => [number + 1, number - 1, 2 * number, number / 2].map(Value::Integer).to_vec(),
        Value::Float(number) => [2.0 * number, 0.5 * number, number + 1.0].map(Value::Float).to_vec(),
        Value::Text(text) => scaled(text).into_iter().map(Value::Text).collect(),
        _ => Vec::new(),
    };
    let general = NUMBERS.map(Value::Float).into_iter().chain(INTEGERS.map(Value::Integer));
    let general = general.chain([true, false].map(Value::Bool));
    let texts = names(tree, place).into_iter().chain(TEXTS.map(str::to_owned));
    let (texts, general): (Vec<Value>, Vec<Value>) = (texts.map(Value::Text).collect(), general.collect());
    let far = if is_number { [general, texts] } else { [texts, general] };
    let mut values: Vec<Value> = near.into_iter().chain(far.into_iter().flatten()).collect();
    values.retain(|value| *value != node.value);
    values
}

/// The quantity twice, half, and one unit more.
fn scaled(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let Ok(number) = number.parse::<f64>() else { return Vec::new() };
    [2.0 * number, 0.5 * number, number + 1.0].map(|number| format!("{number}{unit}")).to_vec()
}

/// The permitted names at a place.
fn names(tree: &Node, place: &[String]) -> Vec<String> {
    let Some(tree) = replaced(tree, place, Value::Text(NO_NAME.to_owned())) else { return Vec::new() };
    let listed = conform(&tree).iter().find_map(|(path, problem)| match problem {
        Problem::UnknownName { hint: Hint::OneOf(names), .. } if path.starts_with(place) => Some(names.clone()),
        _ => None,
    });
    listed.unwrap_or_default()
}

/// A suggestion for another key.
fn hint(tree: &Node, path: &[String]) -> String {
    let flows = tree.get("flows").map(Node::items).unwrap_or_default();
    match path {
        [transport, key, ..] if transport == "transport" => {
            let own: Vec<&str> = flows.iter().filter(|flow| flow.get(key).is_some()).filter_map(name_of).collect();
            match own.as_slice() {
                [] => "no flow reads it here".to_owned(),
                [name, ..] => format!("every flow has its own {key}; set flows.{name}.{key} instead"),
            }
        }
        _ => "every value of this key gives the same run here; leave it out".to_owned(),
    }
}

fn name_of(flow: &Node) -> Option<&str> {
    flow.get("name").and_then(Node::as_text)
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const HEAD: &str =
        "schema = 2\nduration = '5 s'\n[topology]\nkind = 'dumbbell'\nrate = '5 Mbit/s'\ndelay = '5 ms'\n";

    fn error_of(text: &str, sets: &[&str]) -> Option<String> {
        Scenario::from_toml(&format!("{HEAD}{text}"), "x", sets).err().map(|error| error.to_string())
    }

    const ONE: &str = "[[flows]]\nname = 'a'\ncc = 'reno'\n";
    const OWN: &str = "[[flows]]\nname = 'a'\ncc = 'reno'\nmin_rto = '1 s'\nmss = '1000 B'\n";
    const TWO: &str = "[[flows]]\nname = 'a'\ncc = 'reno'\nmss = '1000 B'\n[[flows]]\nname = 'b'\ncc = 'reno'\n";

    #[test]
    fn a_setting_that_every_flow_overrides_is_a_mistake() {
        let message = "set transport.mss=500 B: transport.mss: reaches nothing: every flow has its own mss; set flows.a.mss instead";
        assert_eq!(error_of(OWN, &["transport.mss=500 B"]).as_deref(), Some(message));
        // Nor does the value that the flow has make it one that counts.
        assert!(error_of(OWN, &["transport.mss=1000 B"]).is_some());
        assert_eq!(error_of(TWO, &["transport.mss=500 B"]), None);
    }

    #[test]
    fn in_a_resolved_scenario_the_transport_of_all_is_a_mistake() {
        let scenario = Scenario::from_toml::<&str>(&format!("{HEAD}{ONE}"), "x", &[]).unwrap();
        let resolved = Scenario::from_json::<&str>(&scenario.resolved_json(), "y", &[]).unwrap();
        for set in ["transport.mss=500 B", "transport.profile=rfc"] {
            assert!(scenario.with_sets(&[set]).is_ok(), "{set}");
            let error = resolved.with_sets(&[set]).unwrap_err().to_string();
            assert!(error.contains("reaches nothing"), "{set}: {error}");
        }
        let written = Scenario::from_json::<&str>(&scenario.written_json(), "y", &[]).unwrap();
        assert_eq!(written.document(), scenario.document());
        let set = ["transport.profile=rfc"];
        assert_eq!(written.with_sets(&set).unwrap().hash(), scenario.with_sets(&set).unwrap().hash());
    }

    #[test]
    fn a_setting_equal_to_the_present_value_is_none() {
        for set in [
            "topology.queue.limit=1 BDP",
            "topology.queue.kind=drop-tail",
            "topology.queue=drop-tail",
            "topology.rate=5 Mbit/s",
            "transport.profile=linux",
            "flows.a.cc=reno",
            "flows.a.count=1",
            "flows.a.start=0 s",
            "flows.a.traffic=bulk",
            "warmup=0 s",
            "duration=5 s",
            "sampling.packets=false",
            "sampling.flows=8",
            "schema=2",
            "name=scenario",
            "seed=1",
        ] {
            assert_eq!(error_of(ONE, &[set]), None, "{set}");
        }
    }

    #[test]
    fn transport_reaches_no_datagrams() {
        let cbr = "[[flows]]\nname = 'a'\ntraffic = { kind = 'cbr', rate = '1 Mbit/s' }\n";
        let message = "set transport.mss=500 B: transport.mss: reaches nothing: no flow reads it here";
        assert_eq!(error_of(cbr, &["transport.mss=500 B"]).as_deref(), Some(message));
    }

    #[test]
    fn known_settings_give_the_same_scenario_and_are_not_checked() {
        let files = |_: &str| Err::<String, String>("no files".to_owned());
        let known = |sets: &[&str]| Scenario::from_toml_known(&format!("{HEAD}{OWN}"), "x", sets, &files);
        let set = ["topology.rate=7 Mbit/s"];
        let checked = Scenario::from_toml(&format!("{HEAD}{OWN}"), "x", &set).unwrap();
        assert_eq!(known(&set).unwrap().hash(), checked.hash());
        assert!(known(&["transport.mss=500 B"]).is_ok() && known(&["topology.rate=0 Mbit/s"]).is_err());
    }

    #[test]
    fn a_long_list_of_which_the_first_values_are_replaced_counts() {
        let times: Vec<String> = (0..200).map(|at| format!("'{at} ms'")).collect();
        let rates = vec!["'5 Mbit/s'"; 200];
        let list = format!(
            "topology.varies={{ kind = 'steps', times = [{}], rates = [{}] }}",
            times.join(", "),
            rates.join(", ")
        );
        let others = format!("topology.varies.rates=[{}]", vec!["'3 Mbit/s'"; 200].join(", "));
        let mut sets = vec![list, others];
        sets.extend((0..70).map(|at| format!("topology.varies.rates.{at}=4 Mbit/s")));
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        assert_eq!(error_of(ONE, &sets), None);
    }

    #[test]
    fn a_setting_that_a_later_one_replaces_is_a_mistake() {
        let replaced = "reaches nothing: a later setting replaces it";
        for (set, later) in [
            ("topology.rate=2 Mbit/s", "topology.rate=3 Mbit/s"),
            ("topology.queue.limit=20 packets", "topology.queue.kind=codel"),
            ("flows.a.cc.increase=2", "flows.a.cc=cubic"),
        ] {
            let text = ONE.replace("'reno'", "'aimd'");
            let error = error_of(&text, &[set, later]).unwrap_or_default();
            assert!(error.starts_with(&format!("set {set}: ")) && error.ends_with(replaced), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        assert_eq!(error_of(ONE, &["topology.queue.kind=codel", "topology.queue.limit=20 packets"]), None);
        assert_eq!(error_of(ONE, &["flows.a.name=b", "flows.b.count=2"]), None);
    }
}
