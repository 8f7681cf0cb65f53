//! The entry point of fuzzers: arbitrary bytes, and the properties that hold for them.

use super::checked::Scenario;
use super::mistakes::Mistake;
use ackclock::quantity::Problem;

/// More flows than a fuzzer should wait for.
const MOST_FLOWS: u32 = 1_000;

/// Reads bytes as a scenario, with `--set` texts after zero bytes, and checks the properties of every text. The text
/// is a scenario or has a message. The plan is consistent, and the resolved form reads back unchanged.
///
/// # Panics
/// If one of these does not hold.
pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.split('\0');
    let text = parts.next().unwrap_or_default();
    let sets: Vec<&str> = parts.collect();
    for scenario in [Scenario::from_toml(text, "fuzz", &sets), Scenario::from_json(text, "fuzz", &sets)] {
        match scenario {
            Ok(scenario) => check(&scenario),
            Err(error) => {
                let is_internal = |mistake: &Mistake| matches!(mistake.problem(), Problem::Internal { .. });
                assert!(!error.mistakes().iter().any(is_internal), "{error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

fn check(scenario: &Scenario) {
    let resolved = scenario.resolved_json();
    let again = Scenario::from_json::<&str>(&resolved, "resolved", &[]).expect("a resolved scenario reads back");
    assert_eq!(again.document(), scenario.document());
    assert_eq!(again.hash(), scenario.hash());

    let flows = scenario.document().flows.iter();
    if flows.map(|flow| u64::from(flow.count)).sum::<u64>() > u64::from(MOST_FLOWS) {
        return;
    }
    let plan = scenario.plan(None, 0);
    assert!(plan.bottleneck.number() < plan.links.len());
    for flow in &plan.flows {
        let path = flow.forward.iter().chain(&*flow.reverse);
        let delays: u64 = path.map(|link| plan.links[*link].delay.as_nanos()).sum();
        assert_eq!(delays, flow.base_rtt.as_nanos(), "the base RTT of {}", flow.name);
        assert!(flow.start.as_nanos() < plan.duration.as_nanos());
    }
    let mut names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), plan.links.len(), "links have unique names");
    assert_eq!(scenario.describe().links.len(), plan.links.len());
}
