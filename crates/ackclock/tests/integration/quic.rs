//! Runs over QUIC: scenario keys, closed forms, conservation, captures.

use std::collections::BTreeSet;

use ackclock::capture::{QlogVersion, Segment, qlog, sequences};
use ackclock::contract::check_run;
use ackclock::model::closed_form;
use ackclock::sim::{Plan, RunResult};
use ackclock::units::Instant;
use ackclock_scenario::Scenario;

const DUMBBELL: &str = r#"
    schema = 1
    duration = "20 s"
    [topology]
    kind = "dumbbell"
    rate = "10 Mbit/s"
    delay = "20 ms"
    [transport]
    profile = "quic"
    [[flows]]
    name = "test"
    cc = "reno"
"#;

fn scenario(sets: &[&str]) -> Scenario {
    Scenario::from_toml(DUMBBELL, "quic", sets).unwrap()
}

fn plan(sets: &[&str]) -> Plan {
    scenario(sets).plan(None, 0)
}

fn checked(sets: &[&str]) -> RunResult {
    check_run("quic", &plan(sets)).unwrap_or_else(|violation| panic!("{violation}"))
}

#[test]
fn the_profile_is_the_protocol_and_either_can_be_had_alone() {
    assert_eq!(checked(&[]).flows[0].recovery, "quic");
    assert_eq!(checked(&["transport.protocol=tcp"]).flows[0].recovery, "sack");
    assert_eq!(checked(&["transport.profile=rfc", "transport.protocol=quic"]).flows[0].recovery, "quic");
    assert_eq!(scenario(&[]).warnings(), [""; 0]);
}

#[test]
fn keys_of_tcp_are_refused() {
    let refused = |sets: &[&str]| Scenario::from_toml(DUMBBELL, "quic", sets).unwrap_err().to_string();
    let message = refused(&["flows.test.recovery=reno"]);
    assert!(message.contains("recovery") && message.contains("quic has no such key"), "{message}");
    let message = refused(&["transport.rack=true", "transport.ecn=accecn"]);
    assert!(
        message.contains("write protocol = \"tcp\"") && message.contains("write \"off\" or \"counts\""),
        "{message}"
    );
    let message = refused(&["transport.protocol=tcp", "transport.packet_threshold=5"]);
    assert!(message.contains("tcp has no such key"), "{message}");
}

/// One of `period` packets is lost. The mean window follows the closed form for one increase per round trip, as over
/// TCP. Recovery ends earlier over QUIC, with the first packet sent in it.
#[test]
fn one_reno_flow_has_the_sawtooth_of_the_closed_form_over_both_transports() {
    for protocol in ["quic", "tcp"] {
        let sets = [
            &format!("transport.protocol={protocol}"),
            "transport.pacing=off",
            "transport.byte_counting=uncapped",
            "topology.rate=1 Gbit/s",
            "topology.delay=50 ms",
            "topology.queue={ kind = 'drop-tail', limit = '20000 packets' }",
            "topology.loss={ kind = 'periodic', period = 10000 }",
            "duration=800 s",
            "warmup=160 s",
            "sampling.interval=none",
        ];
        let sets: Vec<&str> =
            sets.iter().map(|set| &**set).filter(|set| protocol == "tcp" || !set.contains("byte_counting")).collect();
        let flow = checked(&sets).flows.remove(0);
        let (mean, expected) = (flow.cwnd_mean_segments.unwrap(), closed_form::periodic_loss_window(1.0, 0.5, 1e-4));
        println!("{protocol}: {mean:.2}, theory {expected:.2}");
        assert!((mean / expected - 1.0).abs() < 0.02, "{protocol}: {mean}, theory {expected}");
        // A loss of the last round trip is not repaired at the end.
        let open = flow.lost - flow.retransmits;
        assert!(flow.timeouts == 0 && open <= 1, "{protocol}: {} lost, {} repaired", flow.lost, flow.retransmits);
    }
}

#[test]
fn without_losses_nothing_is_sent_again_and_the_link_is_full() {
    let result = checked(&["topology.queue={ kind = 'drop-tail', limit = '1000 packets' }", "transport.max_window=60"]);
    let flow = &result.flows[0];
    assert_eq!((flow.retransmits, flow.timeouts, flow.lost), (0, 0, 0));
    assert!(result.summary.utilization.unwrap() > 0.95, "{:?}", result.summary.utilization);
}

#[test]
fn everything_arrives_through_losses_reordering_and_copies() {
    let harm = [
        "topology.loss={ kind = 'bernoulli', probability = 0.05 }",
        "topology.reordering={ probability = 0.05, delay = '30 ms' }",
        "topology.duplication=0.02",
        "topology.reverse.loss={ kind = 'bernoulli', probability = 0.05 }",
        "flows.test.traffic={ kind = 'transfer', size = '2 MB' }",
        "flows.test.count=3",
        "duration=60 s",
    ];
    let result = checked(&harm);
    for flow in &result.flows {
        assert!(flow.completion_time_s.is_some(), "{} is not done", flow.name);
        assert!(flow.retransmits > 0, "{}", flow.name);
    }
    let undone = checked(&[&harm[..], &["transport.undo=late-acks"]].concat());
    assert!(undone.flows.iter().any(|flow| flow.completion_time_s.is_some()));
}

/// 50 Mbit/s and 100 ms give 417 packets. Each round trip has losses, and one recovery period follows another. BBRv1
/// achieves the same as over TCP, because its recovery continues until a round trip without a loss.
#[test]
fn bbr1_keeps_its_rate_through_losses_and_reordering_as_over_tcp() {
    let harms = [
        "topology.loss={ kind = 'bernoulli', probability = 0.02 }",
        "topology.loss={ kind = 'bernoulli', probability = 0.05 }",
        "topology.reordering={ probability = 0.01, delay = '5 ms' }",
    ];
    for harm in harms {
        let [quic, tcp] = ["quic", "linux"].map(|profile| {
            let profile = format!("transport.profile={profile}");
            let sets =
                [&profile, harm, "topology.rate=50 Mbit/s", "topology.delay=50 ms", "warmup=5 s", "flows.test.cc=bbr1"];
            checked(&sets).flows[0].goodput_bps / 50e6
        });
        println!("{harm}: {quic:.3} over QUIC, {tcp:.3} over TCP");
        assert!(quic > 0.9 * tcp && tcp > 0.75, "{harm}: {quic} over QUIC, {tcp} over TCP");
    }
}

#[test]
fn slots_of_arrivals_have_one_connection_after_another() {
    let arrivals =
        "flows.test.traffic={ kind = 'arrivals', every = '20 ms', size = { kind = 'exponential', mean = '10 kB' } }";
    let result = checked(&[arrivals, "flows.test.count=4", "topology.loss={ kind = 'bernoulli', probability = 0.02 }"]);
    assert!(result.transfers[0].times.completed > 100, "{:?}", result.transfers[0]);
}

#[test]
fn marks_are_counted_and_reduce_the_window() {
    let result = checked(&["transport.ecn=counts", "topology.queue={ kind = 'codel', ecn = true }"]);
    let flow = &result.flows[0];
    assert!(flow.marks > 0 && flow.ecn_events > 0 && flow.ecn_events <= flow.marks, "{flow:?}");
}

#[test]
fn the_order_of_flows_permutes_the_results() {
    let with = |flows: [&str; 2]| {
        let head = DUMBBELL.split("[[flows]]").next().unwrap();
        let flows = flows
            .map(|name| format!("[[flows]]\nname = '{name}'\ncc = 'cubic'\nstart = {{ uniform = ['0 s', '1 s'] }}\n"));
        let text = format!("{head}{}{}", flows[0], flows[1]);
        let result = crate::common::run(&Scenario::from_toml::<&str>(&text, "x", &[]).unwrap().plan(None, 0));
        let mut rows = result.flows;
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows.into_iter().map(|row| ackclock::sim::FlowResult { id: 0, ..row }).collect::<Vec<_>>()
    };
    assert_eq!(with(["a", "b"]), with(["b", "a"]));
}

#[test]
fn captures_have_the_packet_numbers() {
    let mut plan = plan(&["duration=2 s", "topology.loss={ kind = 'bernoulli', probability = 0.02 }"]);
    plan.capture_at("sender", &[], true).unwrap();
    let result = crate::common::run(&plan);
    let recording = result.recording.as_ref().unwrap();
    let numbers = recording.packets.iter().filter_map(|packet| match packet.segment {
        Segment::QuicData { number, .. } => Some(number),
        _ => None,
    });
    let sent: Vec<u64> = numbers.collect();
    assert_eq!(sent, (0..sent.len() as u64).collect::<Vec<_>>(), "each number leaves once, and none is left out");
    let lost: BTreeSet<u64> = recording.declared.iter().map(|lost| lost.seq).collect();
    assert!(lost.len() as u64 >= result.flows[0].retransmits && result.flows[0].retransmits > 5);
    let text = qlog(recording, QlogVersion::V03, "t", "d");
    assert_eq!(text.matches("recovery:packet_lost").count(), lost.len());
    let plots = sequences(recording, &(Instant::ZERO..Instant::MAX));
    assert_eq!(plots[0].data.iter().filter(|data| data.3 & 1 != 0).count() as u64, result.flows[0].retransmits);
    assert!(!plots[0].sacks.is_empty() && plots[0].acks.is_sorted());
}
