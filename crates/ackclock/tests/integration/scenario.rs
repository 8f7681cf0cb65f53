//! Scenario files from the outside: the meaning of valid files. `scenario_mistakes.rs` tests the messages for invalid
//! ones.

use crate::texts::{TWO_FLOWS, TWO_LINKS};
use ackclock::sim::{LossPlan, QueueLimit, QueuePlan};
use ackclock::units::Duration;
use ackclock_scenario::Scenario;

const NO_SETS: [&str; 0] = [];

fn two_flows(sets: &[&str]) -> Scenario {
    Scenario::from_toml(TWO_FLOWS, "two-flows.toml", sets).unwrap()
}

fn read(text: &str) -> Scenario {
    Scenario::from_toml(text, "x.toml", &NO_SETS).unwrap()
}

#[test]
fn some_flows_of_each_group_stand_for_the_rest() {
    let scenario = two_flows(&["flows.test.count=5000"]);
    let (all, some) = (scenario.describe(), scenario.describe_first(3));
    assert_eq!((some.link_count, some.flow_count), (all.links.len() as u64, all.flows.len() as u64));
    assert_eq!((some.links.len(), some.flows.len()), (2 + 4 * 3, 3));
    assert_eq!((&some.links[..], &some.flows[..]), (&all.links[..14], &all.flows[..3]));
}

#[test]
fn the_example_has_a_base_rtt_of_64_ms_and_named_links() {
    let described = two_flows(&[]).describe();
    let flow = &described.flows[1];
    assert_eq!((flow.name.as_str(), flow.group.as_str(), flow.base_rtt_s), ("test.1", "test", Some(0.064)));
    assert_eq!(flow.path, ["test.1.source", "bottleneck", "test.1.destination"]);
    assert_eq!(flow.reverse_path, ["test.1.destination.reverse", "bottleneck.reverse", "test.1.source.reverse"]);
    let links: Vec<_> = described.links.iter().map(|link| (link.name.as_str(), link.rate_bps, link.delay_s)).collect();
    assert_eq!(
        links[..6],
        [
            ("bottleneck", Some(5_000_000), 0.03),
            ("bottleneck.reverse", Some(5_000_000), 0.03),
            ("test.0.source", Some(100_000_000), 0.001),
            ("test.0.source.reverse", Some(100_000_000), 0.001),
            ("test.0.destination", Some(100_000_000), 0.001),
            ("test.0.destination.reverse", Some(100_000_000), 0.001),
        ]
    );
    assert_eq!(links.len(), 10);
    assert_eq!(described.links[0].queue, "drop-tail, 100 packets");
    assert_eq!(described.links[1].queue, "drop-tail, 10000 packets");
    assert_eq!(described.bottleneck, "bottleneck");
    assert_eq!(described.random_inputs, ["start of test: uniform, 0 s to 1 s"]);
    assert_eq!(described.notes, [""; 0]);
}

#[test]
fn a_plan_depends_on_seed_and_replicate_and_on_nothing_else() {
    let scenario = two_flows(&[]);
    let starts = |seed, replicate| scenario.plan(seed, replicate).flows.iter().map(|f| f.start).collect::<Vec<_>>();
    assert_eq!(starts(None, 0), starts(Some(1), 0));
    assert_ne!(starts(None, 0), starts(None, 1));
    assert_ne!(starts(None, 0), starts(Some(2), 0));
    assert!(starts(None, 0).iter().all(|start| start.as_secs_f64() < 1.0));
    assert_ne!(scenario.plan(None, 0).seed, scenario.plan(None, 1).seed);
}

#[test]
fn permuted_flows_draw_the_same_by_name() {
    let flow = |name| {
        format!(
            "[[flows]]\nname='{name}'\ncc='aimd'\nstart={{uniform=['0 s','1 s']}}\nrtt={{uniform=['70 ms','90 ms']}}\n"
        )
    };
    let head = &TWO_FLOWS[..TWO_FLOWS.find("[[flows]]").unwrap()];
    let forth = read(&format!("{head}{}{}", flow("a"), flow("b"))).plan(None, 0);
    let back = read(&format!("{head}{}{}", flow("b"), flow("a"))).plan(None, 0);
    for (one, other) in [(0, 1), (1, 0)] {
        let (one, other) = (&forth.flows[one], &back.flows[other]);
        assert_eq!((&one.name, one.start, one.base_rtt), (&other.name, other.start, other.base_rtt));
        let names = |plan: &ackclock::sim::Plan, path: &[ackclock::sim::LinkId]| {
            path.iter().map(|link| (plan.links[*link].name.clone(), plan.links[*link].delay)).collect::<Vec<_>>()
        };
        assert_eq!(names(&forth, &one.forward), names(&back, &other.forward));
        assert_eq!(names(&forth, &one.reverse), names(&back, &other.reverse));
    }
}

#[test]
fn an_rtt_adds_what_is_missing_to_the_side_of_the_source() {
    // 100 ms - 64 ms = 36 ms: 18 ms more in each direction, after 1 ms of access link.
    let plan = two_flows(&["flows.test.rtt=100 ms", "flows.test.count=1"]).plan(None, 0);
    let delay = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap().delay;
    assert_eq!(delay("test.source"), Duration::from_millis(19));
    assert_eq!(delay("test.source.reverse"), Duration::from_millis(19));
    assert_eq!(delay("test.destination"), Duration::from_millis(1));
    assert_eq!(plan.flows[0].base_rtt, Duration::from_millis(100));
    let path: u64 =
        plan.flows[0].forward.iter().chain(&*plan.flows[0].reverse).map(|l| plan.links[*l].delay.as_nanos()).sum();
    assert_eq!(path, 100_000_000);
}

#[test]
fn links_of_the_general_form_are_crossed_there_and_back() {
    let scenario = read(TWO_LINKS);
    let described = scenario.describe();
    assert_eq!(described.flows[0].path, ["a", "b"]);
    assert_eq!(described.flows[0].reverse_path, ["b.reverse", "a.reverse"]);
    // 10 + 5 + 5 + 20.
    assert_eq!(described.flows[0].base_rtt_s, Some(0.04));
    assert_eq!(described.flows[1].path, ["flow1.source", "b"]);
    assert_eq!(described.flows[1].reverse_path, ["b.reverse", "flow1.source.reverse"]);
    // Two flows cross b, one crosses a.
    assert_eq!(described.bottleneck, "b");
    assert_eq!(described.notes, ["no flow crosses idle", "no flow crosses idle.reverse"]);
    assert_eq!(
        described.random_inputs,
        ["losses of b: probability 0.01", "send jitter of flow1: uniform, 0 to 1 packet"]
    );
    let plan = scenario.plan(None, 0);
    let link = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap();
    // Mean base RTT (40 + 30)/2 = 35 ms, 5 Mbit/s: 21,875 B, 14.58 packets of 1500 B.
    assert_eq!(link("b").queue, QueuePlan::drop_tail(QueueLimit::Packets(15)));
    assert_eq!(link("b").impairments.loss, LossPlan::Bernoulli { probability: 0.01 });
    assert_eq!(link("b.reverse").impairments.loss, LossPlan::None);
    assert_eq!(link("a.reverse").rate.unwrap().as_bps(), 1_000_000);
    assert_eq!(link("flow1.source").delay, Duration::from_millis(10));
    // 1500 B at 5 Mbit/s.
    assert_eq!(link("flow1.source").impairments.jitter, Duration::from_micros(2400));
    assert_eq!(link("flow1.source").rate, None);
}

#[test]
fn a_path_may_lead_against_a_link() {
    let scenario = two_flows(&["flows.test.path=['bottleneck.reverse']"]);
    let flow = &scenario.describe().flows[0];
    assert_eq!(flow.path, ["test.0.source", "bottleneck.reverse", "test.0.destination"]);
    assert_eq!(flow.reverse_path, ["test.0.destination.reverse", "bottleneck", "test.0.source.reverse"]);
}

#[test]
fn sets_reach_every_key_of_the_full_form() {
    let scenario = two_flows(&[
        "flows.0.cc=new-aimd",
        "flows.test.cc.increase=2",
        "topology.queue.limit=0.5 BDP",
        "topology.loss={ kind = 'periodic', period = 100 }",
        "topology.access.loss.kind=none",
        "transport.mss=1000 B",
        "transport.max_window=none",
        "flows.test.delayed_ack=40 ms",
    ]);
    let plan = scenario.plan(None, 0);
    assert_eq!(&**plan.flows[0].cc.name(), "new-aimd");
    assert_eq!(plan.flows[0].transport.mss, 1000);
    assert_eq!(plan.flows[0].transport.delayed_ack, Some(Duration::from_millis(40)));
    assert_eq!(plan.links[0].impairments.loss, LossPlan::Periodic { period: 100, offset: 0 });
    // 5 Mbit/s x 64 ms = 40,000 B; half of it is 19.2 packets of 1040 B.
    assert_eq!(plan.links[0].queue, QueuePlan::drop_tail(QueueLimit::Packets(19)));

    let wrong = |set: &str| Scenario::from_toml(TWO_FLOWS, "x.toml", &[set]).unwrap_err().to_string();
    assert_eq!(
        wrong("flows.test.mss=1"),
        "set flows.test.mss=1: flows.test.mss: a bare number has no unit; write a size such as \"1460 B\""
    );
    assert_eq!(
        wrong("topology.dealy=1 ms"),
        "set topology.dealy=1 ms: topology.dealy: unknown key; did you mean \"delay\"?"
    );
    assert_eq!(
        wrong("flows.test.cc=new-amd"),
        "set flows.test.cc=new-amd: flows.test.cc.kind: unknown algorithm \"new-amd\"; did you mean \"new-aimd\"?"
    );
}

#[test]
fn equal_scenarios_have_equal_hashes() {
    let hash = |sets: &[&str]| two_flows(sets).hash();
    assert_eq!(hash(&[]).len(), 32);
    for same in ["name=other", "seed=7", "duration=100000 ms", "topology.loss=none", "transport.mss=1.46 kB"] {
        assert_eq!(hash(&[same]), hash(&[]), "{same}");
    }
    for other in
        ["duration=101 s", "flows.test.count=3", "transport.mss=1000 B", "flows.test.cc.increase=2", "sampling.flows=1"]
    {
        assert_ne!(hash(&[other]), hash(&[]), "{other}");
    }
}

#[test]
fn the_resolved_scenario_reads_back_as_itself() {
    for scenario in [two_flows(&["transport.max_window=20", "flows.test.rtt=100 ms"]), read(TWO_LINKS)] {
        let again = Scenario::from_json(&scenario.resolved_json(), "resolved", &NO_SETS).unwrap();
        assert_eq!(again.document(), scenario.document());
        assert_eq!(again.hash(), scenario.hash());
    }
}

#[test]
fn what_is_not_random_says_so() {
    let scenario = two_flows(&["flows.test.start=0 s"]);
    assert!(!scenario.is_random());
    assert_eq!(scenario.describe().notes, ["nothing is random: every replicate gives the same result"]);
    assert_eq!(scenario.plan(Some(1), 0).seed, scenario.plan(Some(2), 3).seed);
    assert!(two_flows(&["flows.test.start=0 s", "flows.test.send_jitter=1 packet"]).is_random());
    assert!(
        two_flows(&["flows.test.start=0 s", "topology.loss={ kind = 'bernoulli', probability = 0.1 }"]).is_random()
    );
    assert!(!two_flows(&["flows.test.start=0 s", "flows.test.send_jitter=0 packets"]).is_random());
}
