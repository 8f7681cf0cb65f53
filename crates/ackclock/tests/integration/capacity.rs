//! Links whose capacity varies over time.

use std::sync::atomic::AtomicBool;

use ackclock::sim::{self, LinkResult, RunResult};
use ackclock_scenario::Scenario;

/// A dumbbell of 10 Mbit/s whose capacity varies like this, with one flow over an ample buffer.
fn text(varies: &str) -> String {
    format!(
        "schema = 1\nduration = '20 s'\nwarmup = '5 s'\n[topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\n\
         delay = '10 ms'\nqueue = {{ kind = 'drop-tail', limit = '2 BDP' }}\n{varies}\n\
         [[flows]]\ncc = 'aimd'\nrecovery = 'sack'\n"
    )
}

fn scenario(varies: &str) -> Scenario {
    Scenario::from_toml::<&str>(&text(varies), "x", &[]).unwrap()
}

fn run_replicate(scenario: &Scenario, replicate: u64) -> RunResult {
    sim::run(&scenario.plan(None, replicate), &AtomicBool::new(false)).unwrap()
}

fn run(varies: &str) -> RunResult {
    run_replicate(&scenario(varies), 0)
}

fn message(text: &str) -> String {
    Scenario::from_toml::<&str>(text, "x", &[]).unwrap_err().to_string()
}

#[test]
fn a_capacity_that_does_not_vary_gives_the_same_bytes_as_a_plain_link() {
    let (plain, varying) =
        (run(""), run("varies = { kind = 'square', high = '10 Mbit/s', low = '10 Mbit/s', interval = '7 ms' }"));
    assert_eq!((plain.events, plain.totals, &plain.summary), (varying.events, varying.totals, &varying.summary));
    assert_eq!(plain.flows, varying.flows);
    assert_eq!(varying.links[0].capacity_bps, Some(10e6));
    let forgetful = |link: &LinkResult| LinkResult { capacity_bps: None, ..link.clone() };
    assert_eq!(plain.links, varying.links.iter().map(forgetful).collect::<Vec<_>>());
    let cwnd = |result: &RunResult| result.samples.flows.cwnd_segments.clone();
    assert_eq!(cwnd(&plain), cwnd(&varying));
    assert!(plain.samples.links.capacity_bps.is_empty());
    assert_eq!(varying.samples.links.capacity_bps.iter().copied().fold(f64::INFINITY, f64::min), 10e6);
}

#[test]
fn utilization_and_efficiency_are_against_what_was_available() {
    let result = run("varies = { kind = 'square', high = '8 Mbit/s', low = '4 Mbit/s', interval = '2 s' }");
    // From 5 s to 20 s: 1 s of high, three times 2 s of low and 2 s of high, 2 s of low.
    let capacity = (8.0 + 3.0 * 24.0 + 8.0) / 15.0 * 1e6;
    let bottleneck = &result.links[0];
    assert!((bottleneck.capacity_bps.unwrap() - capacity).abs() < 1e-6);
    let sent = bottleneck.forwarded as f64 * 12_000.0 / 15.0;
    assert!((bottleneck.utilization.unwrap() - sent / capacity).abs() < 1e-9);
    // The buffer bridges the loss at every fall; a packet may reach beyond the end.
    assert!((0.95..1.0001).contains(&result.summary.utilization.unwrap()), "{}", result.summary.utilization.unwrap());
    assert!((result.summary.efficiency.unwrap() - result.summary.goodput_bps.unwrap() / capacity).abs() < 1e-12);
    assert_eq!(result.links[1].capacity_bps, None);
}

#[test]
fn samples_hold_the_mean_capacity_since_the_last_one() {
    let varies = "varies = { kind = 'square', high = '8 Mbit/s', low = '4 Mbit/s', interval = '2 s' }\n[sampling]\ninterval = '3 s'";
    let samples = run(varies).samples.links;
    let bottleneck: Vec<f64> = samples.capacity_bps.iter().copied().step_by(2).collect();
    // 0 s; 2 s of 8 and 1 of 4; 1 s of 4 and 2 of 8; 2 s of 4 and 1 of 8; 1 s of 8 and 2 of 4; from the beginning.
    let thirds = [24.0, 20.0, 20.0, 16.0, 16.0, 20.0, 20.0].map(|third| third / 3.0 * 1e6);
    assert!(bottleneck.iter().zip(thirds).all(|(mean, third)| (mean - third).abs() < 1e-6), "{bottleneck:?}");
    assert!(samples.capacity_bps.iter().skip(1).step_by(2).all(|reverse| *reverse == 10e6));
}

#[test]
fn nothing_passes_a_link_without_capacity_and_everything_goes_on_behind_it() {
    let steps = "varies = { kind = 'steps', times = ['0 s', '8 s', '11 s'], rates = ['10 Mbit/s', '0 bit/s', '10 Mbit/s'] }\n[sampling]\ninterval = '100 ms'";
    let result = run(steps);
    let samples = &result.samples.links;
    let forwarded = |tenth: usize| samples.forwarded_bytes[2 * tenth];
    // The packet in transmission has been counted.
    assert_eq!(forwarded(81), forwarded(109));
    // A timeout later, at the latest.
    assert!(forwarded(125) > forwarded(110), "{} {}", forwarded(125), forwarded(110));
    assert!(result.flows[0].timeouts >= 1);
    assert!((result.links[0].capacity_bps.unwrap() - 8e6).abs() < 1e-6);
    assert!(result.summary.utilization.unwrap() > 0.8, "{}", result.summary.utilization.unwrap());
    let dead = run("varies = { kind = 'steps', times = ['0 s', '8 s'], rates = ['10 Mbit/s', '0 bit/s'] }");
    assert!((dead.links[0].capacity_bps.unwrap() - 2e6).abs() < 1e-6);
}

#[test]
fn random_capacities_follow_seed_and_replicate() {
    for kind in [
        "{ kind = 'random', high = '10 Mbit/s', step = '50 ms' }",
        "{ kind = 'random-walk', start = '5 Mbit/s', delta = '2 Mbit/s', step = '50 ms' }",
        "{ kind = 'additive-walk', start = '5 Mbit/s', delta = '2 Mbit/s', step = '50 ms' }",
        "{ kind = 'multiplicative-walk', start = '5 Mbit/s', factor = 2.5, step = '50 ms', min = '100 kbit/s' }",
        "{ kind = 'on-off', high = '10 Mbit/s', mean_high = '200 ms', mean_low = '50 ms' }",
        "'wifi'",
        "'lte'",
        "'leo'",
    ] {
        let scenario = scenario(&format!("varies = {kind}"));
        assert!(scenario.is_random(), "{kind}");
        let capacity = |replicate| run_replicate(&scenario, replicate).links[0].capacity_bps.unwrap();
        assert_eq!(capacity(0), capacity(0), "{kind}");
        assert_ne!(capacity(0), capacity(1), "{kind}");
        assert!(capacity(2) > 0.0 && capacity(2) < 10e6, "{kind}");
        let described = scenario.describe();
        assert!(described.random_inputs[0].starts_with("rate of bottleneck: "), "{:?}", described.random_inputs);
        assert!(described.links[0].varies.is_some() && described.links[1].varies.is_none());
    }
}

#[test]
fn each_direction_and_each_link_has_a_capacity_of_its_own() {
    let both = "varies = { kind = 'random', high = '10 Mbit/s', step = '10 ms' }\n";
    let result = run(&format!("{both}reverse.{both}"));
    let capacities: Vec<f64> = result.links.iter().map(|link| link.capacity_bps.unwrap()).collect();
    assert_ne!(capacities[0], capacities[1]);
    // A flow more changes neither.
    let more = text(&format!("{both}reverse.{both}")) + "[[flows]]\ncc = 'aimd'\n";
    let more = run_replicate(&Scenario::from_toml::<&str>(&more, "x", &[]).unwrap(), 0);
    assert_eq!(capacities, more.links.iter().map(|link| link.capacity_bps.unwrap()).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_is_named_with_its_key() {
    let above = "must be from 0 bit/s to 10 Mbit/s, the rate that varies";
    let walk = "varies = { kind = 'random-walk', start = '12 Mbit/s', delta = '1 Mbit/s', step = '1 s' }";
    assert_eq!(message(&text(walk)), format!("x:9: topology.varies.start: 12 Mbit/s is out of range; {above}"));
    let reverse = format!("reverse = {{ rate = '1 Mbit/s', {walk} }}");
    let above = "must be from 0 bit/s to 1 Mbit/s, the rate that varies";
    assert_eq!(
        message(&text(&reverse)),
        format!("x:9: topology.reverse.varies.start: 12 Mbit/s is out of range; {above}")
    );
    let links = "schema = 1\nduration = '1 s'\n[links.a]\nrate = '1 Mbit/s'\n[links.b]\nvaries = 'lte'\n\
                 [[flows]]\ncc = 'aimd'\npath = ['a', 'b']\n";
    let expected = "a rate that varies needs its highest value as the rate of the link, and link \"b\" has no rate";
    assert_eq!(message(links), format!("x:6: links.b.varies.kind: {expected}"));
    let unknown = message(&text("varies = 'lta'"));
    assert_eq!(unknown, "x:9: topology.varies.kind: unknown kind of variation \"lta\"; did you mean \"lte\"?");
    let bare = message(&text("varies = { kind = 'square', high = 5, low = '1 bit/s', interval = '1 s' }"));
    let expected = "a bare number has no unit; write a rate or zero such as \"5 Mbit/s\"";
    assert_eq!(bare, format!("x:9: topology.varies.high: {expected}"));
}
