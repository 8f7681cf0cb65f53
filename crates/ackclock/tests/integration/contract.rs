//! Everything registered keeps its contract: a new algorithm or queue is checked without a line here.

use ackclock::cc::{CcSpec, ParametersVisitor, algorithms};
use ackclock::contract::{
    Violation, check_cc, check_link, check_queue, check_rule, check_run, check_takeover, random_plan, random_queues,
};
use ackclock::link::Link;
use ackclock::qdisc::{DropTail, Groups, Place, Queue};
use ackclock::rng::{Rng, RngStreams};
use ackclock::rule::RuleParameters;
use ackclock::sim::QueuePlan;
use ackclock::units::{Duration, Rate};
use serde_json::Value as Json;

/// Texts of rules.
const FORMULAS: [&str; 6] = ["2 / w", "0.1", "acked / w", "w / 3", "max(w - 3, 0)", "w / 2 + 1"];

/// Every word that a parameter of some algorithm may be, and formulas.
fn words() -> Vec<String> {
    fn collect(schema: &Json, words: &mut Vec<String>) {
        match schema {
            Json::Object(keys) => {
                words.extend(keys.get("const").and_then(Json::as_str).map(str::to_owned));
                let list = keys.get("enum").and_then(Json::as_array).into_iter().flatten();
                words.extend(list.filter_map(Json::as_str).map(str::to_owned));
                keys.values().for_each(|value| collect(value, words));
            }
            Json::Array(items) => items.iter().for_each(|item| collect(item, words)),
            _ => {}
        }
    }
    let mut words = FORMULAS.map(str::to_owned).to_vec();
    collect(schemars::schema_for!(CcSpec).as_value(), &mut words);
    words
}

/// The parameters of an algorithm as they are, and with each of them smaller and larger, switched, or another word.
fn variants(spec: &CcSpec) -> Vec<CcSpec> {
    let mut variants = vec![spec.clone()];
    let json = serde_json::to_value(spec).unwrap();
    for (key, value) in json.as_object().unwrap().iter().filter(|(key, _)| *key != "kind") {
        let others: Vec<Json> = match value {
            Json::Bool(switch) => vec![Json::from(!switch)],
            Json::String(_) => words().into_iter().map(Json::from).collect(),
            value => match value.as_f64() {
                Some(value) => [0.0, value / 10.0, value * 0.9, value * 1.5, value * 20.0].map(Json::from).to_vec(),
                None => continue,
            },
        };
        for other in others {
            let mut changed = json.clone();
            changed[key] = other;
            variants.extend(serde_json::from_value::<CcSpec>(changed).ok().filter(|spec| spec.check().is_ok()));
        }
    }
    variants
}

struct CheckRule<'a>(&'a str);

impl ParametersVisitor for CheckRule<'_> {
    type Output = Result<(), Violation>;

    fn visit<P: RuleParameters>(self, parameters: &P) -> Self::Output {
        check_rule(self.0, || parameters.rule())
    }
}

fn title(spec: &CcSpec) -> String {
    serde_json::to_string(spec).unwrap()
}

#[test]
fn every_rule_keeps_its_contract() -> Result<(), Violation> {
    for info in algorithms() {
        let variants = variants(&info.defaults);
        let parameters = serde_json::to_value(&info.defaults).unwrap();
        let has_number = parameters.as_object().unwrap().values().any(serde_json::Value::is_number);
        assert!(variants.len() > 2 || !has_number, "{}", info.name);
        for spec in variants {
            let checked = spec.visit(CheckRule(&title(&spec))).unwrap_or(Ok(()));
            // A rule that removes nothing never backs off.
            let removes = |key: &str| serde_json::to_value(&spec).unwrap()[key] != 0.0;
            if !removes("removed") || !removes("removed_per_loss_ratio") {
                assert!(checked.is_err(), "{}", title(&spec));
            } else {
                checked?;
            }
        }
    }
    Ok(())
}

#[test]
fn every_algorithm_keeps_its_contract() -> Result<(), Violation> {
    for info in algorithms() {
        // Parameters of a window rule are varied in the contract of the rule.
        let varied = match info.defaults.rule() {
            // The slow start of Hybla is faster than RFC 5681's, unless the reference path is the shorter one.
            None if info.name == "hybla" => vec![serde_json::from_str(r#"{"kind": "hybla", "rtt0": "10 s"}"#).unwrap()],
            None => variants(&info.defaults),
            Some(_) => vec![info.defaults],
        };
        for spec in varied {
            check_cc(&title(&spec), move |context| spec.build(context))?;
        }
    }
    Ok(())
}

/// Every registered queue, with random keys.
fn queues(times: usize) -> Vec<(String, QueuePlan)> {
    let place = Place {
        rate: Rate::from_bps(10_000_000),
        delay: Duration::from_millis(10),
        packet_bytes: 1500,
        mean_rtt_secs: 0.04,
        groups: Groups::NONE,
    };
    random_queues(1, times, &place).into_iter().map(|plan| (format!("{plan:?}"), plan)).collect()
}

fn rng(purpose: &str) -> Rng {
    RngStreams::new(1, 0).stream("bottleneck", purpose)
}

#[test]
fn every_queue_keeps_its_contract() -> Result<(), Violation> {
    for (name, queue) in queues(12) {
        check_queue(&name, queue.limit(), || queue.build(&rng))?;
    }
    Ok(())
}

#[test]
fn a_link_keeps_its_contract_behind_every_queue() -> Result<(), Violation> {
    check_link("drop-tail", |config, limit| Link::new(config, Queue::DropTail(DropTail::new(limit))))?;
    for (name, queue) in queues(12) {
        check_link(&name, |config, _| Link::new(config, queue.build(&rng)))?;
    }
    Ok(())
}

#[test]
fn every_queue_takes_over_from_every_other() -> Result<(), Violation> {
    let queues = queues(3);
    for (old_name, old) in &queues {
        for (new_name, new) in &queues {
            check_takeover(&format!("{old_name}, then {new_name}"), [&|| old.build(&rng), &|| new.build(&rng)])?;
        }
    }
    Ok(())
}

#[test]
fn every_run_keeps_its_contract() -> Result<(), Violation> {
    for info in algorithms() {
        for case in 0..60 {
            let plan = random_plan(&info.defaults, case);
            check_run(&format!("{} in network {case}", info.name), &plan)?;
        }
    }
    Ok(())
}
