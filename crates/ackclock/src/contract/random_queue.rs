//! Random queues: any registered discipline, with any of its keys.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};

use super::Draw;
use crate::qdisc::{Place, QueuePlan, QueueSpec};

/// The schema of everything that a scenario may write of a queue that the simulation contains. Queues of the kernel are
/// not among them.
static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(QueueSpec).to_value();
    retain_simulated(&mut schema);
    schema
});

fn retain_simulated(schema: &mut Json) {
    match schema {
        Json::Object(keys) => keys.values_mut().for_each(retain_simulated),
        Json::Array(items) => {
            items.retain(|item| name_of(item) != Some("kernel"));
            items.iter_mut().for_each(retain_simulated);
        }
        _ => {}
    }
}

/// The number of new draws for keys that contradict one another.
const TRIES: usize = 20;

/// The names of all disciplines that the simulation contains.
pub fn queue_kinds() -> Vec<String> {
    alternatives().iter().filter_map(name_of).map(str::to_owned).collect()
}

fn name_of(kind: &Json) -> Option<&str> {
    kind.pointer("/properties/kind/const")?.as_str()
}

/// A queue of a random discipline, half of the time drop-tail, with random keys.
pub(super) fn random_queue(draw: &mut Draw, place: &Place) -> QueuePlan {
    let number = if draw.chance(50) { 0 } else { draw.whole(0, alternatives().len() as u64 - 1) };
    random_queue_of(draw, &alternatives()[number as usize], place)
}

/// Returns `times` queues of each discipline, with random keys.
pub fn random_queues(seed: u64, times: usize, place: &Place) -> Vec<QueuePlan> {
    let mut draw = Draw::new("queues", seed);
    let all = alternatives().iter().flat_map(|kind| std::iter::repeat_n(kind, times));
    all.map(|kind| random_queue_of(&mut draw, kind, place)).collect()
}

fn alternatives() -> &'static [Json] {
    SCHEMA.get("oneOf").and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn random_queue_of(draw: &mut Draw, kind: &Json, place: &Place) -> QueuePlan {
    let name = name_of(kind).unwrap_or_default();
    for _ in 0..TRIES {
        let spec: Result<QueueSpec, _> = serde_json::from_value(random_keys(draw, kind, place));
        if let Ok(plan) = spec.map_err(|error| panic!("{name}: {error}")).and_then(|spec| spec.plan(place)) {
            return plan;
        }
    }
    panic!("invariant: {name} has keys that fit a link")
}

/// Its kind, the keys that it must have, and some of the others.
fn random_keys(draw: &mut Draw, kind: &Json, place: &Place) -> Json {
    let required: Vec<&str> =
        kind.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let mut keys = Map::new();
    for (key, schema) in kind.get("properties").and_then(Json::as_object).into_iter().flatten() {
        if let Some(name) = schema.get("const") {
            keys.insert(key.clone(), name.clone());
        } else if (required.contains(&key.as_str()) || key == "limit" || draw.chance(40))
            && let Some(value) = random_value(draw, schema, place)
        {
            keys.insert(key.clone(), value);
        }
    }
    Json::Object(keys)
}

/// A random value for a key of this schema. None for a type that no queue uses so far.
fn random_value(draw: &mut Draw, schema: &Json, place: &Place) -> Option<Json> {
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        return random_value(draw, SCHEMA.pointer(reference.strip_prefix('#')?)?, place);
    }
    if let Some(name) = schema.get("const") {
        return Some(name.clone());
    }
    for list in ["enum", "oneOf", "anyOf"] {
        if let Some(choices) = schema.get(list).and_then(Json::as_array) {
            // The name of a queue stands for a table, which another choice has.
            let may_be =
                |choice: &&Json| !(is_null(choice) || schema.get("x-shorthand").is_some() && has_names(choice));
            let choices: Vec<&Json> = choices.iter().filter(may_be).collect();
            let choice = draw.pick(&choices);
            return if list == "enum" { Some(choice.clone()) } else { random_value(draw, choice, place) };
        }
    }
    if let Some(quantity) = schema.get("x-quantity").and_then(Json::as_str) {
        return random_quantity(draw, quantity, place).map(Json::from);
    }
    let types = schema.get("type")?;
    let is = |name: &str| types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name));
    if is("boolean") {
        Some(json!(draw.chance(50)))
    } else if is("integer") {
        Some(json!(draw.whole(1, 8)))
    } else if is("number") {
        Some(json!(draw.scale(0.001, 1.0)))
    } else if is("object") {
        Some(random_keys(draw, schema, place))
    } else if is("array") {
        let items = schema.get("items")?;
        let count = draw.whole(1, 3);
        (0..count).map(|_| random_value(draw, items, place)).collect::<Option<Vec<Json>>>().map(Json::from)
    } else {
        None
    }
}

fn has_names(schema: &Json) -> bool {
    schema.get("enum").is_some()
}

fn is_null(schema: &Json) -> bool {
    schema.is_null() || schema.get("type").is_some_and(|name| name == "null")
}

fn random_quantity(draw: &mut Draw, name: &str, place: &Place) -> Option<String> {
    let limit = |draw: &mut Draw| {
        if draw.chance(70) {
            format!("{} packets", draw.scale(1.0, 200.0) as u32)
        } else {
            format!("{} B", draw.scale(1500.0, 200_000.0) as u64)
        }
    };
    Some(match name {
        "queue limit" => limit(draw),
        "queue threshold" if draw.chance(50) => format!("{:.2} limit", draw.real(0.05, 1.0)),
        "queue threshold" => limit(draw),
        "duration" => format!("{} us", draw.scale(10.0, 200_000.0) as u64),
        "size" => format!("{} B", draw.scale(100.0, 20_000.0) as u64),
        "rate" => format!("{} bit/s", (place.rate?.as_bps() as f64 * draw.scale(0.3, 3.0)) as u64 + 1),
        _ => return None,
    })
}
