//! Lookahead changes no result. A run that traces every packet does nothing ahead of time.

use ackclock::cc::CcSpec;
use ackclock::contract::random_plan;
use ackclock::probe::PacketEvent;
use ackclock::sim::{Plan, RunResult};
use ackclock_scenario::Scenario;

/// All of a result but its trace and the number of events.
fn without_trace(mut result: RunResult) -> String {
    result.events = 0;
    result.samples.trace = Default::default();
    format!("{result:?}")
}

fn plan(file: &str, text: &str, sets: &[&str]) -> Plan {
    Scenario::from_toml(text, file, sets).unwrap_or_else(|error| panic!("{error}")).plan(None, 0)
}

fn traced(plan: &Plan) -> RunResult {
    let mut plan = plan.clone();
    plan.sampling.packets = true;
    crate::common::run(&plan)
}

const TRAFFIC: (&str, &str) = ("traffic.toml", include_str!("../../../../bench/golden/traffic.toml"));
const LINKS: (&str, &str) = ("links.toml", include_str!("../../../../bench/golden/links.toml"));
const DUMBBELL: (&str, &str) = ("dumbbell.toml", include_str!("../../../../bench/golden/dumbbell.toml"));
const W1: (&str, &str) = ("w1.toml", include_str!("../../../../bench/w1.toml"));
const TIES: (&str, &str) = ("ties.toml", include_str!("../../../../bench/golden/ties.toml"));
const PARKING_LOT: (&str, &str) = ("parking-lot.toml", include_str!("../../../../bench/golden/parking-lot.toml"));
const TOPOLOGY_B: (&str, &str) = ("topology-b.toml", include_str!("../../../../examples/topology-b.toml"));

const HOSTS: &str = "topology.access={ rate = '100 Mbit/s', delay = '1 ms' }";

#[test]
fn a_run_that_looks_at_every_packet_has_the_same_result() {
    let cases: &[((&str, &str), &[&str])] = &[
        (TRAFFIC, &[]),
        (TRAFFIC, &[HOSTS]),
        (
            TRAFFIC,
            &[
                "topology.jitter=1 ms",
                "topology.duplication=0.01",
                "topology.corruption=0.01",
                "topology.loss={ kind = 'bernoulli', probability = 0.01 }",
            ],
        ),
        (TRAFFIC, &["sampling.interval=1 ms", "transport.ecn=classic", "topology.queue=red"]),
        (DUMBBELL, &["sampling.interval=none"]),
        (DUMBBELL, &["sampling.interval=1 ms", "sampling.flows=1", "duration=5 s"]),
        (DUMBBELL, &["sampling.interval=1 ms", "flows.test.count=800", "duration=2 s", "warmup=500 ms"]),
        (DUMBBELL, &["transport.delayed_ack=100 ms"]),
        (DUMBBELL, &["transport.max_burst=2", "topology.access={ rate = '100 Mbit/s', delay = '1 ms' }"]),
        (W1, &["sampling.interval=1 ms", "sampling.flows=0", "duration=3 s"]),
        (TIES, &[]),
        (LINKS, &["duration=5 s", "sampling.interval=1 ms"]),
        (PARKING_LOT, &["duration=10 s"]),
        (TOPOLOGY_B, &["duration=10 s", "warmup=2 s"]),
    ];
    let mut saved = 0;
    for ((file, text), sets) in cases {
        let plan = plan(file, text, sets);
        let (fast, slow) = (crate::common::run(&plan), traced(&plan));
        assert!(fast.events <= slow.events, "{file} {sets:?}: {} and {} events", fast.events, slow.events);
        saved += u32::from(3 * fast.events < 2 * slow.events);
        assert_eq!(without_trace(fast), without_trace(slow), "{file} {sets:?}");
    }
    assert!(saved >= 3, "{saved} of {} have few events", cases.len());
}

#[test]
fn lookahead_changes_nothing_in_random_networks() {
    let mut ahead = 0;
    for case in 0..60 {
        let plan = random_plan(&CcSpec::by_name(["aimd", "cubic", "mr-aimd"][case as usize % 3]).unwrap(), case);
        let (fast, slow) = (crate::common::run(&plan), traced(&plan));
        ahead += u32::from(fast.events < slow.events);
        assert_eq!(without_trace(fast), without_trace(slow), "network {case}");
    }
    assert!(ahead >= 30, "{ahead} of 60 have fewer events");
}

#[test]
fn a_trace_has_the_window_of_its_time() {
    let (file, text) = DUMBBELL;
    let trace = traced(&plan(file, text, &["duration=5 s"])).samples.trace;
    let mut cwnd = vec![0.0; trace.flow_names.len()];
    for row in 0..trace.time_ns.len() {
        let flow = trace.flow[row] as usize;
        if trace.event[row] == PacketEvent::Window as u8 {
            cwnd[flow] = trace.cwnd_segments[row];
        }
        assert_eq!(trace.cwnd_segments[row], cwnd[flow], "row {row}");
    }
    assert!(trace.time_ns.len() > 1000);
}

#[test]
fn a_trace_tells_of_the_window_that_lets_the_first_packet_go() {
    let (file, text) = TRAFFIC;
    let trace = traced(&plan(file, text, &[])).samples.trace;
    let mice = (0..trace.flow_names.len()).filter(|flow| trace.flow_names[*flow].starts_with("mice"));
    let firsts: Vec<_> = mice
        .filter_map(|flow| (0..trace.flow.len()).find(|row| trace.flow[*row] as usize == flow))
        .map(|row| trace.event[row])
        .collect();
    assert!(firsts.len() > 3 && firsts.iter().all(|event| *event == PacketEvent::Window as u8), "{firsts:?}");
}
