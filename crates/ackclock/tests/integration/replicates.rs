//! Networks that differ from replicate to replicate, by the key `replicates`.

use crate::common::run;
use crate::texts::{TWO_FLOWS, TWO_LINKS};
use ackclock::sim::{FlowPlan, FlowResult, LinkPlan, Plan, RunOf};
use ackclock::units::Duration;
use ackclock::variation::{Schedule, VariationPlan};
use ackclock_scenario::Scenario;

const DRAWN: [&str; 2] = ["replicates.rtt=0.05", "replicates.rate=0.02"];

fn read(text: &str, sets: &[&str]) -> Scenario {
    Scenario::from_toml(text, "x.toml", sets).unwrap()
}

fn drawn(sets: &[&str]) -> Scenario {
    read(TWO_FLOWS, &[&DRAWN[..], sets].concat())
}

fn link<'a>(plan: &'a Plan, name: &str) -> &'a LinkPlan {
    plan.links.iter().find(|link| link.name == name).unwrap()
}

fn rate_factor(plan: &Plan) -> f64 {
    link(plan, "bottleneck").rate.unwrap().as_bps() as f64 / 5e6
}

/// Propagation along the path of a flow and back.
fn propagation(plan: &Plan, flow: &FlowPlan) -> Duration {
    let nanos = flow.forward.iter().chain(&*flow.reverse).map(|link| plan.links[*link].delay.as_nanos()).sum();
    Duration::from_nanos(nanos)
}

/// Mean and extremes of numbers.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let fold = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).unwrap();
    (values.iter().sum::<f64>() / values.len() as f64, fold(f64::min), fold(f64::max))
}

#[test]
fn each_replicate_draws_rtts_within_5_and_rates_within_2_percent() {
    let scenario = drawn(&[]);
    let plans: Vec<Plan> = (0..500).map(|replicate| scenario.plan(None, replicate)).collect();
    let rates: Vec<f64> = plans.iter().map(rate_factor).collect();
    let (mean, low, high) = spread(&rates);
    // The standard error of the mean is 0.02 / sqrt(3 * 500) = 0.0005.
    assert!((mean - 1.0).abs() < 0.003 && (0.98..0.981).contains(&low) && (1.019..=1.02).contains(&high), "{rates:?}");
    let rtts: Vec<f64> = plans.iter().flat_map(|plan| &plan.flows).map(|flow| flow.base_rtt.as_secs_f64()).collect();
    let (mean, low, high) = spread(&rtts);
    // 64 ms, of which 5 % are 3.2 ms.
    assert!((mean - 0.064).abs() < 0.0004, "{mean}");
    assert!((0.0608..0.0610).contains(&low) && (0.0670..=0.0672).contains(&high), "{low} {high}");
    assert!(plans.iter().all(|plan| plan.flows[0].base_rtt != plan.flows[1].base_rtt));
    for plan in &plans {
        for flow in &plan.flows {
            assert_eq!(propagation(plan, flow), flow.base_rtt);
        }
        // 100 packets stay 100 packets, and links keep their ratios.
        assert_eq!(link(plan, "bottleneck").queue.in_words(), "drop-tail, 100 packets");
        let access = link(plan, "test.1.destination").rate.unwrap().as_bps() as f64 / 1e8;
        assert!((access - rate_factor(plan)).abs() < 1e-6, "{access}");
    }
}

#[test]
fn a_buffer_of_a_product_is_that_of_the_written_network() {
    let scenario = drawn(&["topology.queue.limit=1 BDP"]);
    let limits: Vec<String> =
        (0..5).map(|number| link(&scenario.plan(None, number), "bottleneck").queue.in_words()).collect();
    // 5 Mbit/s times 64 ms are 40,000 B: 26.7 packets of 1500 B.
    assert_eq!(limits, vec!["drop-tail, 27 packets"; 5]);
}

#[test]
fn draws_have_names_so_that_algorithms_meet_the_same_networks() {
    let of = |sets: &[&str]| drawn(sets).plan(Some(7), 3);
    let network = |plan: &Plan| {
        let flows = plan.flows.iter().map(|flow| (flow.name.clone(), flow.base_rtt, flow.start)).collect::<Vec<_>>();
        (rate_factor(plan), flows)
    };
    let reference = network(&of(&[]));
    assert_eq!(network(&of(&["flows.test.cc=cubic"])), reference);
    // Another flow does not change the draws of those that were there.
    let more = network(&of(&["flows.test.count=3"]));
    assert_eq!((more.0, &more.1[..2]), (reference.0, &reference.1[..]));
    assert_ne!(network(&drawn(&[]).plan(Some(8), 3)), reference);
    assert_ne!(network(&drawn(&[]).plan(Some(7), 4)), reference);
}

#[test]
fn permuted_flows_give_permuted_results() {
    let flow = |name| format!("[[flows]]\nname='{name}'\ncc='cubic'\nstart={{uniform=['0 s','1 s']}}\n");
    let head = &TWO_FLOWS[..TWO_FLOWS.find("[[flows]]").unwrap()];
    let sets = [&DRAWN[..], &["duration=10 s", "warmup=1 s"]].concat();
    let of = |first, second| run(&read(&format!("{head}{}{}", flow(first), flow(second)), &sets).plan(None, 2));
    let (forth, back) = (of("a", "b"), of("b", "a"));
    assert_eq!(forth.summary, back.summary);
    for (one, other) in [(0, 1), (1, 0)] {
        assert_eq!(FlowResult { id: one, ..back.flows[other].clone() }, forth.flows[one]);
    }
    assert_ne!(forth.flows[0].base_rtt_s, forth.flows[1].base_rtt_s);
}

#[test]
fn nothing_is_drawn_without_the_key_or_with_shares_of_zero() {
    let plain = read(TWO_FLOWS, &[]);
    let zero = read(TWO_FLOWS, &["replicates.rtt=0", "replicates.rate=0"]);
    for replicate in 0..3 {
        let (one, other) = (plain.plan(None, replicate), zero.plan(None, replicate));
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        assert_eq!((plain.drawn(&one), zero.drawn(&other)), (None, None));
    }
    assert!(!plain.resolved_json().contains("replicates"));
    let still = ["flows.test.start=0 s"];
    assert!(!read(TWO_FLOWS, &still).is_random());
    let scenario = read(TWO_FLOWS, &[&still[..], &DRAWN].concat());
    assert!(scenario.is_random());
    let expected = ["base RTT of each flow: uniform, within 5 %", "rates of all links: uniform, within 2 %"];
    assert_eq!(scenario.describe().random_inputs, expected);
    assert_eq!(scenario.describe().link_count, scenario.plan(None, 0).links.len() as u64);
}

#[test]
fn paths_without_access_links_get_a_private_delay() {
    let scenario = read(TWO_LINKS, &DRAWN);
    let described = scenario.describe();
    assert_eq!(described.link_count, described.links.len() as u64);
    for replicate in 0..50 {
        let plan = scenario.plan(None, replicate);
        for (flow, rtt_ms) in plan.flows.iter().zip([40.0, 30.0]) {
            assert_eq!(propagation(&plan, flow), flow.base_rtt);
            let ratio = flow.base_rtt.as_secs_f64() * 1e3 / rtt_ms;
            assert!((0.95..=1.05).contains(&ratio), "{ratio}");
        }
        // Both directions have the factor.
        let [out, back] = ["a", "a.reverse"].map(|name| link(&plan, name).rate.unwrap().as_bps());
        assert!(out.abs_diff(10 * back) <= 10, "{out} {back}");
    }
}

#[test]
fn rates_that_vary_are_drawn_as_a_whole() {
    let square = "topology.varies={ kind = 'square', high = '5 Mbit/s', low = '1 Mbit/s', interval = '2 s' }";
    let scenario = drawn(&[square]);
    let plan = scenario.plan(None, 1);
    let factor = rate_factor(&plan);
    let scaled = |bps: f64| (bps * factor).round() as u64;
    let expected = Schedule::square(scaled(5e6), scaled(1e6), Duration::from_secs(2));
    let Some(VariationPlan::Schedule(found)) = &link(&plan, "bottleneck").varies else { panic!("a timetable") };
    assert_eq!(found.peak_bps(), expected.peak_bps());
    assert_ne!(factor, 1.0);
    for kind in [
        "{ kind = 'random-walk', start = '4 Mbit/s', delta = '1 Mbit/s', step = '1 s' }",
        "{ kind = 'on-off', high = '5 Mbit/s', mean_high = '1 s', mean_low = '1 s' }",
        "wifi",
        "lte",
        "leo",
    ] {
        let plan = drawn(&[&format!("topology.varies={kind}")]).plan(None, 1);
        let varies = link(&plan, "bottleneck").varies.clone().unwrap();
        let nominal = read(TWO_FLOWS, &[&format!("topology.varies={kind}")]).plan(None, 1);
        let nominal = link(&nominal, "bottleneck").varies.clone().unwrap();
        assert_eq!(varies, nominal.scaled(factor), "{kind}");
        assert_ne!(varies, nominal, "{kind}");
    }
}

#[test]
fn the_document_of_a_run_has_what_was_drawn() {
    let scenario = drawn(&["duration=2 s", "warmup=0 s"]);
    let plan = scenario.plan(None, 4);
    let drawn = scenario.drawn(&plan).unwrap();
    let result = run(&plan);
    let of = RunOf {
        scenario: "x",
        scenario_hash: "",
        backend: "sim",
        seed: 1,
        replicate: 4,
        duration_s: 2.0,
        engine_cpu_s: 0.0,
        drawn: Some(&drawn),
    };
    let document = serde_json::to_value(result.document(of)).unwrap();
    let told = &document["drawn"];
    assert_eq!(told["links"][0]["name"], "bottleneck");
    assert_eq!(told["links"][0]["rate_bps"], link(&plan, "bottleneck").rate.unwrap().as_bps());
    assert_eq!(told["links"].as_array().unwrap().len(), 2);
    for (told, flow) in told["flows"].as_array().unwrap().iter().zip(&plan.flows) {
        assert_eq!(told["base_rtt_s"], flow.base_rtt.as_secs_f64());
        assert_eq!(told["start_s"], flow.start.as_secs_f64());
    }
    assert_eq!(told["flows"][1]["base_rtt_s"], document["flows"][1]["base_rtt_s"]);
}

#[test]
fn mistakes_in_the_key_are_named() {
    let message = |set: &str| Scenario::from_toml(TWO_FLOWS, "x.toml", &[set]).unwrap_err().to_string();
    let found = message("replicates.rtt=0.6");
    assert!(found.contains("replicates.rtt: 0.6 is out of range") && found.contains("0.5"), "{found}");
    let found = message("replicates.rates=0.1");
    assert!(found.contains(r#"replicates.rates: unknown key; did you mean "rate"?"#), "{found}");
    assert!(message("replicates.rtt=5 ms").contains("replicates.rtt: expected a number"));
}
