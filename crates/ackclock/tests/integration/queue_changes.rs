//! Queues that take the place of one another during a run.

use std::sync::atomic::AtomicBool;

use ackclock::contract::queue_kinds;
use ackclock::sim::{ChangeError, Plan, Progress, QueueLimit, QueuePlan, Simulation};
use ackclock::units::{Duration, Instant, Rate};
use ackclock_scenario::Scenario;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Three flows at 10 Mbit/s, 40 ms and more, and a buffer of half a BDP.
fn scenario(sets: &[&str]) -> Scenario {
    let text = include_str!("../../../../bench/golden/dumbbell.toml");
    let is_given = |set: &&&str| sets.iter().any(|given| given.split('=').next() == set.split('=').next());
    let own = ["duration=8 s", "transport.ecn=\"classic\""];
    let sets: Vec<_> = own.iter().filter(|set| !is_given(set)).chain(sets).collect();
    Scenario::from_toml(text, "golden.toml", &sets).unwrap()
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A queue of each kind, as JSON, which marks where it can.
fn queues() -> Vec<String> {
    let queue = |kind: &String| match kind.as_str() {
        "tbf" | "policer" => {
            format!(r#"{{"kind": "{kind}", "rate": "9 Mbit/s", "burst": "3000 B", "limit": "30 packets"}}"#)
        }
        "prio" | "wrr" => {
            format!(r#"{{"kind": "{kind}", "limit": "40 packets", "class": [{{"queue": {{"kind": "drop-tail"}}}}]}}"#)
        }
        // Of the queue as it is, so that what is taken over is marked, too.
        "red" => r#"{"kind": "red", "ecn": true, "weight": 1.0, "min": "5 packets", "max": "30 packets"}"#.to_owned(),
        "codel" | "fq-codel" => format!(r#"{{"kind": "{kind}", "ecn": true, "limit": "40 packets"}}"#),
        _ => format!(r#"{{"kind": "{kind}", "limit": "40 packets"}}"#),
    };
    queue_kinds().iter().map(queue).collect()
}

/// The queue at the bottleneck as it is now.
fn queue_now(scenario: &Scenario, simulation: &Simulation, plan: &Plan, queue: &str) -> QueuePlan {
    scenario.queue_at(plan.bottleneck, &simulation.place(plan.bottleneck), queue).unwrap()
}

/// A run with these queues from these times on. Returns all results except the engine's work.
fn run_with(scenario: &Scenario, plan: &Plan, queues: &[(u64, &str)]) -> String {
    let mut simulation = Simulation::new(plan);
    for (millis, queue) in queues {
        simulation.step(at(*millis), &NEVER).unwrap();
        let queue = queue_now(scenario, &simulation, plan, queue);
        simulation.set_queue(plan.bottleneck, queue).unwrap();
    }
    let mut result = simulation.finish(&NEVER).unwrap();
    result.events = 0;
    format!("{result:?}")
}

#[test]
fn a_queue_that_is_set_at_the_start_is_that_of_the_plan() {
    // The first sample is taken before anything can be changed; the seed counts where something is random.
    let sets = ["sampling.interval=none", "flows.test.start={ uniform = ['0 s', '10 ms'] }"];
    let scenario = scenario(&sets);
    let plan = scenario.plan(None, 0);
    assert!(scenario.is_random());
    for queue in queues() {
        let toml = queue.replace("\": ", " = ").replace("{\"", "{ ").replace(", \"", ", ");
        let planned = scenario.with_sets(&[format!("topology.queue={toml}")]).unwrap();
        let planned = run_with(&planned, &planned.plan(None, 0), &[]);
        assert_eq!(run_with(&scenario, &plan, &[(0, &queue)]), planned, "{queue}");
    }
}

#[test]
fn drop_tail_in_the_place_of_drop_tail_changes_nothing() {
    let scenario = scenario(&[]);
    let plan = scenario.plan(None, 0);
    let same = format!(r#"{{"kind": "drop-tail", "limit": "{}"}}"#, plan.links[plan.bottleneck].queue.limit());
    let often: Vec<_> = (0..79).map(|step| (100 * step + step % 7, &*same)).collect();
    assert_eq!(run_with(&scenario, &plan, &often), run_with(&scenario, &plan, &[]));
}

#[test]
fn what_one_flow_has_in_the_queue_leaves_as_it_would_have() {
    // Nothing is dropped, so that fair queues do with one flow what a FIFO does: the same order, and the same sojourn times.
    let sets = ["flows.test.count=1", "flows.test.start=0 s", "topology.queue.limit=20000 packets", "duration=4 s"];
    let scenario = scenario(&sets);
    let plan = scenario.plan(None, 0);
    let straight = run_with(&scenario, &plan, &[]);
    for kind in ["drr", "sfq"] {
        let queue = format!(r#"{{"kind": "{kind}", "limit": "20000 packets"}}"#);
        let changes: Vec<_> = [900, 1700, 3100].map(|millis| (millis, &*queue)).to_vec();
        assert_eq!(run_with(&scenario, &plan, &changes), straight, "{kind}");
    }
}

#[test]
fn packets_and_counters_add_up_whatever_queue_takes_over() {
    let (mut dropped, mut marked) = (0, 0);
    let scenario = scenario(&[]);
    for old in queues() {
        for new in queues() {
            let plan = scenario.plan(None, 0);
            let mut simulation = Simulation::new(&plan);
            for (step, queue) in [&old, &new, &old, &new].into_iter().enumerate() {
                simulation.step(at(400 + 1500 * step as u64), &NEVER).unwrap();
                let queue = queue_now(&scenario, &simulation, &plan, queue);
                let (limit, before) = (queue.limit(), simulation.link(plan.bottleneck));
                simulation.set_queue(plan.bottleneck, queue).unwrap();
                let after = simulation.link(plan.bottleneck);
                let said = format!("{old}, then {new}: {before:?} {after:?}");
                let (old, new) = (before.counters, after.counters);
                assert_eq!((old.arrivals, old.forwarded), (new.arrivals, new.forwarded), "{said}");
                assert_eq!((new.drops - old.drops) as u32, before.backlog_packets - after.backlog_packets, "{said}");
                assert_eq!(new.dropped_bytes - old.dropped_bytes, before.backlog_bytes - after.backlog_bytes, "{said}");
                assert_eq!(new.drops, new.drops_by.iter().sum::<u64>(), "{said}");
                assert_eq!(new.marks, new.marks_by.iter().sum::<u64>(), "{said}");
                assert!(matches!(limit, QueueLimit::Packets(most) if after.backlog_packets <= most), "{said}");
                dropped += new.drops - old.drops;
                marked += new.marks - old.marks;
            }
            let result = simulation.finish(&NEVER).unwrap();
            let totals = &result.totals;
            let parts = [totals.dropped, totals.lost, totals.in_flight, totals.corrupted, totals.policed];
            let (packets, bytes) =
                parts.iter().fold((totals.delivered.packets, totals.delivered.bytes), |sum, part| {
                    (sum.0 + part.packets, sum.1 + part.bytes)
                });
            assert_eq!((totals.sent.packets, totals.sent.bytes), (packets, bytes), "{old}, then {new}");
            // What flows lost is what queues dropped, but for ACKs and what went before the window.
            let lost: u64 = result.flows.iter().map(|flow| flow.lost).sum();
            let link = &result.links[0];
            assert_eq!(lost, link.drops, "{old}, then {new}");
            // Every drop and mark has a reason that one of the queues has; what is only ever full has none.
            let named = |counts: &[(ackclock::qdisc::Reason, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
            assert!(named(&link.reasons.drops) <= link.drops, "{old}, then {new}");
            assert_eq!(named(&link.reasons.marks), link.marks, "{old}, then {new}");
        }
    }
    assert!(dropped > 30 && marked > 5, "{dropped} {marked}");
}

#[test]
fn reasons_are_those_of_all_queues_that_a_link_had() {
    let scenario = scenario(&["warmup=0 s"]);
    let plan = scenario.plan(None, 0);
    let mut simulation = Simulation::new(&plan);
    for (millis, queue) in [(1000, r#"{"kind": "red", "limit": "40 packets"}"#), (4000, "\"codel\"")] {
        simulation.step(at(millis), &NEVER).unwrap();
        let queue = queue_now(&scenario, &simulation, &plan, queue);
        simulation.set_queue(plan.bottleneck, queue).unwrap();
    }
    let link = &simulation.finish(&NEVER).unwrap().links[0];
    let names: Vec<_> = link.reasons.drops.iter().map(|(reason, _)| reason.name()).collect();
    assert_eq!(names, ["early", "forced", "full", "sojourn"]);
    assert_eq!(link.reasons.drops.iter().map(|(_, count)| count).sum::<u64>(), link.drops);
    let sojourn = link.reasons.drops.iter().find(|(reason, _)| reason.name() == "sojourn");
    assert!(sojourn.is_some_and(|(_, count)| *count > 0));
}

#[test]
fn what_a_queue_is_derived_from_is_the_link_as_it_is() {
    let scenario = scenario(&[]);
    let plan = scenario.plan(None, 0);
    let mut simulation = Simulation::new(&plan);
    assert_eq!(format!("{:?}", simulation.place(plan.bottleneck)), format!("{:?}", plan.links[plan.bottleneck].place));
    simulation.step(at(2000), &NEVER).unwrap();
    let there = plan.bottleneck;
    let back = plan.link_ids().find(|link| plan.links[*link].name == "bottleneck.reverse").unwrap();
    simulation.set_rate(there, Rate::from_bps(2_000_000).unwrap()).unwrap();
    let longer = Duration::from_millis(30);
    for link in [there, back] {
        simulation.set_delay(link, plan.links[link].delay + longer).unwrap();
    }
    let (place, planned) = (simulation.place(there), plan.links[there].place.clone());
    assert_eq!((place.rate, place.delay), (Rate::from_bps(2_000_000), planned.delay + longer));
    assert!((place.mean_rtt_secs - planned.mean_rtt_secs - 0.06).abs() < 1e-12, "{place:?} {planned:?}");
    let product = (2e6 * place.mean_rtt_secs / 8.0 / place.packet_bytes as f64).round() as u32;
    let queue = queue_now(&scenario, &simulation, &plan, "\"drop-tail\"");
    assert_eq!(queue.limit(), QueueLimit::Packets(product));
}

#[test]
fn numbers_of_a_queue_are_others_at_another_time_and_the_same_at_the_same() {
    let scenario = scenario(&["flows.test.start={ uniform = ['0 s', '10 ms'] }"]);
    let plan = scenario.plan(None, 0);
    let red = r#"{"kind": "red", "limit": "60 packets"}"#;
    let changed = |millis: &[u64]| {
        let changes: Vec<_> = millis.iter().map(|millis| (*millis, red)).collect();
        run_with(&scenario, &plan, &changes)
    };
    assert_eq!(changed(&[3000, 5000]), changed(&[3000, 5000]));
    assert_ne!(changed(&[3000, 5000]), changed(&[3000, 5001]));
    // Another seed gives other numbers, too.
    let other = scenario.plan(Some(7), 0);
    assert_ne!(run_with(&scenario, &other, &[(3000, red)]), changed(&[3000]));
}

#[test]
fn what_cannot_be_changed_says_why_and_an_ended_run_stays() {
    let scenario = scenario(&[]);
    let mut plan = scenario.plan(None, 0);
    let back = plan.flows[0].reverse[0];
    plan.links[back].rate = None;
    let mut simulation = Simulation::new(&plan);
    let queue = || QueuePlan::drop_tail(QueueLimit::Packets(1));
    assert_eq!(simulation.set_queue(back, queue()), Err(ChangeError::PureDelay));
    assert_eq!(simulation.step(at(8000), &NEVER), Ok(Progress::Ended));
    let before = simulation.link(plan.bottleneck);
    assert!(before.backlog_packets > 1);
    simulation.set_queue(plan.bottleneck, queue()).unwrap();
    assert_eq!(simulation.link(plan.bottleneck), before);
}
