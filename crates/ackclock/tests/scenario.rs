//! Scenario files from the outside: what they mean, and what is said about wrong ones.

use ackclock::scenario::Scenario;
use ackclock::sim::{LossPlan, QueueLimit, QueuePlan};
use ackclock::units::Duration;

const TWO_FLOWS: &str = r#"
schema = 1
name = "two-flows"
duration = "100 s"
warmup = "5 s"                       # left out of every metric

[topology]                           # sugar: `ackclock check` prints the named links it expands to, and each flow's base RTT
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "30 ms"                      # one way
queue = { kind = "drop-tail", limit = "100 packets" }       # or "64 kB", "0.5 BDP" (rate x mean base RTT, whole packets, at least 1)
# loss = { kind = "bernoulli", probability = 1e-3 }          # data direction
access = { rate = "100 Mbit/s", delay = "1 ms" }             # each access link, each way; takes queue and loss too

[[flows]]
name = "test"
count = 2
cc = { kind = "aimd", increase = 1, remaining = 0.5 }        # or cc = "new-aimd", short for { kind = "new-aimd" }
recovery = "sack"
traffic = "bulk"
start = { uniform = ["0 s", "1 s"] }                         # or "0 s"
"#;

const NO_SETS: [&str; 0] = [];

fn two_flows(sets: &[&str]) -> Scenario {
    Scenario::from_toml(TWO_FLOWS, "two-flows.toml", sets).unwrap()
}

fn read(text: &str) -> Scenario {
    Scenario::from_toml(text, "x.toml", &NO_SETS).unwrap()
}

/// The message about a text.
fn complaint(text: &str) -> String {
    Scenario::from_toml(text, "x.toml", &NO_SETS).unwrap_err().to_string()
}

/// The message about the example with `old` replaced by `new`.
fn complaint_after(old: &str, new: &str) -> String {
    assert!(TWO_FLOWS.contains(old), "{old}");
    complaint(&TWO_FLOWS.replacen(old, new, 1))
}

/// A change of the example, and what is said about it behind the name of the file.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("schema = 1\n", "", r#" schema: missing; write schema = 1"#),
    (
        "schema = 1",
        "schema = 2",
        r#"2: schema: the scenario is written in version 2 of the schema; this program reads version 1"#,
    ),
    ("schema = 1", "schema = '1'", r#"2: schema: expected a whole number, found "1""#),
    ("increase = 1", "increse = 1", r#"18: flows.test.cc.increse: unknown key; did you mean "increase"?"#),
    ("kind = \"aimd\"", "kind = \"amd\"", r#"18: flows.test.cc.kind: unknown algorithm "amd"; did you mean "aimd"?"#),
    (
        "kind = \"aimd\"",
        "kind = \"bbr\"",
        r#"18: flows.test.cc.kind: unknown algorithm "bbr"; use one of aimd, aiad, mimd, miad, linear, aild, aimd-fc, aimd-fc+, new-aimd, mr-aimd, cubic, reno"#,
    ),
    (
        "kind = \"aimd\"",
        "knid = \"aimd\"",
        r#"18: flows.test.cc.kind: missing; use one of aimd, aiad, mimd, miad, linear, aild, aimd-fc, aimd-fc+, new-aimd, mr-aimd, cubic, reno"#,
    ),
    ("\"sack\"", "\"sak\"", r#"19: flows.test.recovery: unknown value "sak"; did you mean "sack"?"#),
    (
        "kind = \"dumbbell\"",
        "kind = \"dumbell\"",
        r#"8: topology.kind: unknown kind "dumbell"; did you mean "dumbbell"?"#,
    ),
    (
        "5 Mbit/s",
        "5 Mb/s",
        r#"9: topology.rate: unknown unit "Mb/s" for a rate; use one of bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s"#,
    ),
    (
        "5 Mbit/s",
        "-5 Mbit/s",
        r#"9: topology.rate: "-5 Mbit/s" is not a rate; write a number that is not negative, with a unit, for example "5 Mbit/s""#,
    ),
    ("5 Mbit/s", "0 Mbit/s", r#"9: topology.rate: a rate must be above zero, not "0 Mbit/s""#),
    ("\"5 Mbit/s\"", "5", r#"9: topology.rate: a bare number has no unit; write a rate such as "5 Mbit/s""#),
    ("\"30 ms\"", "30", r#"10: topology.delay: a bare number has no unit; write a duration such as "30 ms""#),
    ("\"30 ms\"", "\"30\"", r#"10: topology.delay: "30" has no unit; write for example "30 ms""#),
    (
        "\"30 ms\"",
        "\"30 Mbit/s\"",
        r#"10: topology.delay: unknown unit "Mbit/s" for a duration; use one of ns, us, ms, s, min, h"#,
    ),
    (
        "100 packets",
        "100",
        r#"11: topology.queue.limit: "100" is not a queue limit; write "100 packets", "64 kB" or "0.5 BDP""#,
    ),
    ("count = 2", "count = 0", r#"17: flows.test.count: 0 is out of range; must be from 1 to 1000000"#),
    ("count = 2", "count = -1", r#"17: flows.test.count: -1 is out of range; must be from 1 to 1000000"#),
    ("count = 2", "count = 2.5", r#"17: flows.test.count: expected a whole number, found the number 2.5"#),
    ("count = 2", "count = 2000000", r#"17: flows.test.count: 2000000 is out of range; must be from 1 to 1000000"#),
    ("duration = \"100 s\"", "duration = \"0 s\"", r#"4: duration: 0 s is out of range; must be above zero"#),
    ("duration = \"100 s\"", "", r#" duration: missing; write for example duration = "30 ms""#),
    ("warmup = \"5 s\"", "warmup = \"100 s\"", r#"5: warmup: the warm-up of 100 s leaves nothing of a run of 100 s"#),
    ("\"1 s\"] }", "\"100 s\"] }", r#"21: flows.test.start: the flow starts at 100 s, but the run ends at 100 s"#),
    (
        "\"0 s\", \"1 s\"] }",
        "\"1 s\", \"0 s\"] }",
        r#"21: flows.test.start: the lower bound 1 s is above the upper bound 0 s"#,
    ),
    ("\"0 s\", \"1 s\"] }", "\"1 s\"] }", r#"21: flows.test.start.uniform: expected 2 items, found 1"#),
    (
        "traffic = \"bulk\"",
        "stop = \"1 s\"",
        r#"20: flows.test.stop: the flow stops at 1 s, but may start as late as 1 s"#,
    ),
    (
        "traffic = \"bulk\"",
        "rtt = \"10 ms\"",
        r#"20: flows.test.rtt: an RTT of 10 ms is below the 64 ms that the shared path takes"#,
    ),
    (
        "traffic = \"bulk\"",
        "rtt = { uniform = [\"10 ms\", \"1 s\"] }",
        r#"20: flows.test.rtt: an RTT of 10 ms is below the 64 ms that the shared path takes"#,
    ),
    (
        "traffic = \"bulk\"",
        "path = [\"botleneck\"]",
        r#"20: flows.test.path: unknown link "botleneck"; did you mean "bottleneck"?"#,
    ),
    (
        "traffic = \"bulk\"",
        "path = [\"bottleneck\", \"bottleneck\"]",
        r#"20: flows.test.path: the path crosses "bottleneck" twice"#,
    ),
    ("traffic = \"bulk\"", "path = []", r#"20: flows.test.path: expected at least 1 items, found 0"#),
    (
        "traffic = \"bulk\"",
        "traffic = \"transfer\"",
        r#"20: flows.test.traffic.size: missing; write for example size = "1460 B""#,
    ),
    (
        "traffic = \"bulk\"",
        "traffic = { kind = \"transfer\", size = \"0 B\" }",
        r#"20: flows.test.traffic.size: 0 B is out of range; must be at least 1 B"#,
    ),
    (
        "traffic = \"bulk\"",
        "mss = \"1460 bit\"",
        r#"20: flows.test.mss: unknown unit "bit" for a size; use one of B, kB, MB, GB, KiB, MiB, GiB"#,
    ),
    ("traffic = \"bulk\"", "mss = \"0 B\"", r#"20: flows.test.mss: 0 B is out of range; must be at least 1 B"#),
    (
        "traffic = \"bulk\"",
        "mss = \"100 kB\"",
        r#"20: flows.test.mss: 100 kB is out of range; must be at most 65535 B"#,
    ),
    (
        "traffic = \"bulk\"",
        "max_window = 0",
        r#"20: flows.test.max_window: 0 is out of range; must be from 1 to 16777216"#,
    ),
    (
        "traffic = \"bulk\"",
        "max_window = \"nnoe\"",
        r#"20: flows.test.max_window: unknown value "nnoe"; did you mean "none"?"#,
    ),
    (
        "traffic = \"bulk\"",
        "delayed_ack = 40",
        r#"20: flows.test.delayed_ack: a bare number has no unit; write a duration such as "30 ms""#,
    ),
    (
        "traffic = \"bulk\"",
        "send_jitter = 1",
        r#"20: flows.test.send_jitter: a bare number has no unit; write a send jitter such as "1 packet""#,
    ),
    (
        "traffic = \"bulk\"",
        "initial_window = 0",
        r#"20: flows.test.initial_window: 0 is out of range; must be from 1 to 16777216"#,
    ),
    ("traffic = \"bulk\"", "timestamps = \"yes\"", r#"20: flows.test.timestamps: expected true or false, found "yes""#),
    (
        "remaining = 0.5",
        "remaining = 1.5",
        r#"18: flows.test.cc.remaining: 1.5 is out of range; must be above 0 and at most 1"#,
    ),
    ("remaining = 0.5", "remaining = \"x\"", r#"18: flows.test.cc.remaining: expected a number, found "x""#),
    (
        "name = \"test\"",
        "name = \"a b\"",
        r#"16: flows.0.name: "a b" cannot be a name; use up to 64 letters, digits, "-", "_" or "+", and not digits alone"#,
    ),
    (
        "name = \"test\"",
        "name = \"7\"",
        r#"16: flows.0.name: "7" cannot be a name; use up to 64 letters, digits, "-", "_" or "+", and not digits alone"#,
    ),
    (
        "name = \"test\"",
        "name = \"bottleneck\"",
        r#"16: flows.0.name: the name "bottleneck" is taken by a link of the topology"#,
    ),
    (
        "[[flows]]",
        "[[flows]]\nname = \"test\"\ncc = \"aimd\"\n[[flows]]",
        r#"19: flows.1.name: the name "test" is taken by another flow"#,
    ),
    (
        "name = \"two-flows\"",
        "name = \"\\u001b[31mred\"",
        r#"3: name: "\u{1b}[31mred" cannot be a name; use up to 200 characters, none of them a control character"#,
    ),
    (
        "30 ms",
        "0,5 ms",
        r#"10: topology.delay: "0,5 ms" has a comma; numbers have a decimal point, and nothing between thousands: write for example "0.5 ms""#,
    ),
    (
        "\"30 ms\"",
        "2020-01-01",
        r#"10: topology.delay: expected a duration such as "30 ms", found the date 2020-01-01"#,
    ),
    ("100 packets", "1e9 BDP", r#"11: topology.queue.limit: 1e9 BDP is out of range; must be at most 1000000 BDP"#),
    (
        "100 packets",
        "0 packets",
        r#"11: topology.queue.limit: a queue of 0 packets carries nothing, as every packet passes through it; at least 1 packet, or 1500 B here"#,
    ),
    (
        "100 packets",
        "1499 B",
        r#"11: topology.queue.limit: a queue of 1499 B carries nothing, as every packet passes through it; at least 1 packet, or 1500 B here"#,
    ),
    (
        "increase = 1",
        "increase = 1e300",
        r#"18: flows.test.cc.increase: 1e300 is out of range; must be at least 0 and at most 16777216"#,
    ),
    (
        "increase = 1",
        "increase = nan",
        r#"18: flows.test.cc.increase: NaN is not a finite number; write a number such as 1.5"#,
    ),
    (
        "traffic = \"bulk\"",
        "initial_window = 4000000000",
        r#"20: flows.test.initial_window: 4000000000 is out of range; must be from 1 to 16777216"#,
    ),
    (
        "traffic = \"bulk\"",
        "max_window = 16777217",
        r#"20: flows.test.max_window: 16777217 is out of range; must be from 1 to 16777216"#,
    ),
    (
        "traffic = \"bulk\"",
        "traffic = { kind = \"arrivals\", every = \"1 us\", size = \"1 kB\" }",
        r#"20: flows.test.traffic.every: 100000000 transfers would arrive; at most 10000000: a longer time between two, or a shorter run"#,
    ),
    (
        "traffic = \"bulk\"",
        "traffic = { kind = \"rtp\", rate = \"1 Tbit/s\", interval = \"1 h\" }",
        r#"20: flows.test.traffic.interval: a frame of 300000000000 datagrams is out of range; must be at most 1000000 datagrams"#,
    ),
    ("[[flows]]", "[flows]", r#"15: flows: expected a list of tables, found a table"#),
    ("[[flows]]", "[[flow]]", r#"15: flow: unknown key; did you mean "flows"?"#),
    (
        "[topology]",
        "[links.a]\nrate = '1 Mbit/s'\n[topology]",
        r#"7: links: a [topology] and [links] exclude each other; write one of them"#,
    ),
    ("[topology]", "[[topology]]", r#"7: topology: expected a table with a kind, found a list"#),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"bernoulli\", probability = 1.5 }",
        r#"11: topology.loss.probability: 1.5 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"bit-errors\", probability = -1e-6 }",
        r#"11: topology.loss.probability: -0.000001 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"gilbert-elliott\", p = 0.1, r = 0.5, loss_bad = 2 }",
        r#"11: topology.loss.loss_bad: 2 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"gilbert-elliott\", p = 0.1 }",
        r#"11: topology.loss.r: missing; expected a number"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nreverse = { corruption = 1.01 }",
        r#"11: topology.reverse.corruption: 1.01 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"1 ms\" }",
        "delay = \"1 ms\", duplication = -1 }",
        r#"13: topology.access.duplication: -1 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nreordering = { probability = 7.5, delay = \"1 ms\" }",
        r#"11: topology.reordering.probability: 7.5 is out of range; must be from 0 to 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nreordering = { probability = 0.5 }",
        r#"11: topology.reordering.delay: missing; write for example delay = "30 ms""#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nduplicaton = 0.5",
        r#"11: topology.duplicaton: unknown key; did you mean "duplication"?"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"bernoulli\" }",
        r#"11: topology.loss.probability: missing; expected a number"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"periodic\", period = 0 }",
        r#"11: topology.loss.period: 0 is out of range; must be at least 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"periodic\", period = 3, offset = 3 }",
        r#"11: topology.loss: an offset of 3 is out of range; must be below the period, 3"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"scripted\", packets = [3, 2] }",
        r#"11: topology.loss: packet 2 is out of range; must be above 3: ascending"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { kind = \"scripted\", packets = [0] }",
        r#"11: topology.loss: packet 0 is out of range; must be at least 1"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 ms\"\nloss = { probability = 1.5 }",
        r#"11: topology.loss.kind: missing; use one of none, bernoulli, bit-errors, gilbert-elliott, periodic, scripted"#,
    ),
    (
        "delay = \"30 ms\"",
        "delay = \"30 h\"",
        r#"15: flows.test.path: a base RTT of 216000.004 s is too long; at most 86400 s"#,
    ),
    ("delay = \"30 ms\"", "delay = \"30 ms", r#"10: this is not TOML: invalid basic string, expected `"`"#),
    (
        "[topology]",
        "[sampling]\ninterval = \"1 us\"\n[topology]",
        r#"8: sampling.interval: 400000000 rows of samples are too many; at most 10000000: a longer interval, or fewer flows"#,
    ),
    (
        "[topology]",
        "[sampling]\ninterval = \"0 s\"\n[topology]",
        r#"8: sampling.interval: 0 s is out of range; must be above zero, or "none""#,
    ),
    ("[topology]", "[transport]\nms = \"1 B\"\n[topology]", r#"8: transport.ms: unknown key; did you mean "mss"?"#),
    (
        "[topology]",
        "[transport]\nmss = \"0 B\"\n[topology]",
        r#"8: transport.mss: 0 B is out of range; must be at least 1 B"#,
    ),
    (
        "\"1 s\"] }",
        "1.0] }",
        r#"21: flows.test.start.uniform.1: a bare number has no unit; write a duration such as "30 ms""#,
    ),
    ("\"100 s\"", "inf", r#"4: duration: inf is not a finite number; write a number such as 1.5"#),
];

#[test]
fn every_mistake_has_its_message() {
    for (old, new, message) in MISTAKES {
        assert_eq!(complaint_after(old, new), format!("x.toml:{message}"), "{new}");
    }
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_file() {
    let mut text = TWO_FLOWS.to_owned();
    for (old, new) in [
        ("duration = \"100 s\"", "duration = 100"),
        ("warmup", "warmpu"),
        ("5 Mbit/s", "5 Mbit"),
        ("drop-tail", "drop-tale"),
        ("kind = \"aimd\", increase = 1", "kind = \"aimd\", increse = 1"),
        ("remaining = 0.5", "remaining = 1.5"),
        ("\"sack\"", "\"sak\""),
        ("\"0 s\", \"1 s\"", "\"2 s\", \"1 s\""),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    let sets = ["flows.test.count=two", "flows.late.count=2", "nonsense"];
    let error = Scenario::from_toml(&text, "x.toml", &sets).unwrap_err();
    let places: Vec<_> = error.mistakes().iter().map(|mistake| (mistake.line(), mistake.path())).collect();
    assert_eq!(
        places,
        [
            (Some(4), "duration"),
            (Some(5), "warmpu"),
            (Some(9), "topology.rate"),
            (Some(11), "topology.queue.kind"),
            (Some(18), "flows.test.cc.increse"),
            (Some(18), "flows.test.cc.remaining"),
            (Some(19), "flows.test.recovery"),
            (Some(21), "flows.test.start"),
            (None, "flows"),
            (None, ""),
            (None, "flows.test.count"),
        ]
    );
    assert_eq!(error.mistakes()[10].set(), Some(sets[0]));
    assert_eq!(error.to_string().lines().count(), 11);
}

#[test]
fn mistakes_that_no_schema_knows_are_told_at_once_too() {
    let text = TWO_LINKS.replace("path = [\"a\", \"b\"]", "path = [\"a\", \"a.reverse\"]\nstart = \"1 h\"");
    let text = text.replace("probability = 0.01", "probability = 0.5").replace("30 ms", "1 ms");
    let error = Scenario::from_toml(&text, "x.toml", &NO_SETS).unwrap_err().to_string();
    let expected = [
        "x.toml:16: flows.flow0.path: the path crosses both \"a\" and \"a.reverse\", the two directions of a link; write one of them",
        "x.toml:17: flows.flow0.start: the flow starts at 3600 s, but the run ends at 10 s",
        "x.toml:21: flows.flow1.rtt: an RTT of 1 ms is below the 10 ms that the shared path takes",
    ];
    assert_eq!(error.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn what_one_mistake_hides_is_not_guessed_at() {
    // Without a kind of traffic nobody knows whether it needs an algorithm; without a duration, what is too late.
    let text = "schema = 1\nduration = 'x'\n[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n\
                [[flows]]\nstart = '5 h'\ntraffic = 'cbt'\n";
    let error = Scenario::from_toml(text, "x.toml", &NO_SETS).unwrap_err();
    let paths: Vec<_> = error.mistakes().iter().map(|mistake| mistake.path()).collect();
    assert_eq!(paths, ["duration", "flows.flow0.traffic.kind"]);
}

#[test]
fn a_mistake_of_all_flows_is_told_once() {
    let text = TWO_LINKS.replace("[links.a]", "[transport]\nmss = '0 B'\n[links.a]");
    assert_eq!(complaint(&text), "x.toml:5: transport.mss: 0 B is out of range; must be at least 1 B");
}

#[test]
fn a_trace_of_all_packets_has_a_bound() {
    let text = TWO_FLOWS.replace("5 Mbit/s", "10 Gbit/s").replace("[topology]", "sampling.packets = true\n[topology]");
    // 10 Gbit/s for 100 s are 125 GB, in packets of 1500 B.
    let expected = "x.toml:7: sampling.packets: up to 83333333 packets would be written down at the bottleneck; \
                    at most 50000000: a shorter run, or packets = false";
    assert_eq!(complaint(&text), expected);
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
fn texts_that_are_no_scenario_have_their_message() {
    assert_eq!(complaint(""), "x.toml: the scenario is empty; it begins with schema = 1");
    assert_eq!(complaint("# nothing\n"), "x.toml: the scenario is empty; it begins with schema = 1");
    let json = |text| Scenario::from_json(text, "x.json", &NO_SETS).unwrap_err().to_string();
    assert_eq!(json("{}"), "x.json: the scenario is empty; it begins with schema = 1");
    assert_eq!(json("[]"), "x.json: a scenario is a table, not a list");
    assert_eq!(json("null"), "x.json: a scenario is a table, not null");
    assert_eq!(json("{"), "x.json:1: this is not JSON: EOF while parsing an object");
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
        let names = |plan: &ackclock::sim::Plan, way: &[usize]| {
            way.iter().map(|link| (plan.links[*link].name.clone(), plan.links[*link].delay)).collect::<Vec<_>>()
        };
        assert_eq!(names(&forth, &one.forward), names(&back, &other.forward));
        assert_eq!(names(&forth, &one.reverse), names(&back, &other.reverse));
    }
}

#[test]
fn an_rtt_adds_what_is_missing_to_the_side_of_the_source() {
    // 100 ms - 64 ms = 36 ms: 18 ms more each way, behind 1 ms of access link.
    let plan = two_flows(&["flows.test.rtt=100 ms", "flows.test.count=1"]).plan(None, 0);
    let delay = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap().delay;
    assert_eq!(delay("test.source"), Duration::from_millis(19));
    assert_eq!(delay("test.source.reverse"), Duration::from_millis(19));
    assert_eq!(delay("test.destination"), Duration::from_millis(1));
    assert_eq!(plan.flows[0].base_rtt, Duration::from_millis(100));
    let way: u64 =
        plan.flows[0].forward.iter().chain(&*plan.flows[0].reverse).map(|l| plan.links[*l].delay.as_nanos()).sum();
    assert_eq!(way, 100_000_000);
}

const TWO_LINKS: &str = r#"
schema = 1
duration = "10 s"
[links.a]
rate = "10 Mbit/s"
delay = "10 ms"
reverse = { rate = "1 Mbit/s", delay = "20 ms" }
[links.b]
rate = "5 Mbit/s"
delay = "5 ms"
loss = { kind = "bernoulli", probability = 0.01 }
[links.idle]
delay = "1 ms"
[[flows]]
cc = "new-aimd"
path = ["a", "b"]
[[flows]]
cc = "aimd"
path = ["b"]
rtt = "30 ms"
send_jitter = "1 packet"
"#;

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
    assert_eq!(link("b").queue, QueuePlan::DropTail { limit: QueueLimit::Packets(15) });
    assert_eq!(link("b").wire.loss, LossPlan::Bernoulli { probability: 0.01 });
    assert_eq!(link("b.reverse").wire.loss, LossPlan::None);
    assert_eq!(link("a.reverse").rate.unwrap().as_bps(), 1_000_000);
    assert_eq!(link("flow1.source").delay, Duration::from_millis(10));
    // 1500 B at 5 Mbit/s.
    assert_eq!(link("flow1.source").wire.jitter, Duration::from_micros(2400));
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
fn mistakes_of_the_general_form_have_their_message() {
    let after = |old: &str, new: &str| {
        assert!(TWO_LINKS.contains(old), "{old}");
        complaint(&TWO_LINKS.replacen(old, new, 1))
    };
    assert_eq!(
        after("path = [\"b\"]", ""),
        "x.toml:17: flows.flow1.path: missing; there are several links, write for example path = [\"a\"]"
    );
    assert_eq!(
        after("path = [\"b\"]", "path = [\"idle\"]"),
        "x.toml:19: flows.flow1.path: no link on the path has a rate, so nothing limits the flow"
    );
    assert_eq!(
        after("delay = \"1 ms\"", "queue = { kind = \"drop-tail\", limit = \"2 BDP\" }"),
        "x.toml:13: links.idle.queue.limit: a limit in BDP needs a rate, and link \"idle\" has none"
    );
    assert_eq!(
        after("[links.idle]", "[links.\"a.b\"]").split(';').next(),
        Some("x.toml:12: links.a.b: \"a.b\" cannot be a name")
    );
    assert_eq!(
        complaint("schema = 1\nduration = \"1 s\"\n[[flows]]\ncc = \"aimd\"\n"),
        "x.toml: no network; write a [topology] or [links.NAME]"
    );
    assert_eq!(
        complaint("schema = 1\nduration = \"1 s\"\nflows = []\n"),
        "x.toml:3: flows: no flows; write at least one [[flows]]"
    );
    assert_eq!(complaint("schema = 1\nduration = \"1 s\"\n"), "x.toml: flows: no flows; write at least one [[flows]]");
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
    assert_eq!(plan.flows[0].cc.name(), "new-aimd");
    assert_eq!(plan.flows[0].transport.mss, 1000);
    assert_eq!(plan.flows[0].transport.delayed_ack, Some(Duration::from_millis(40)));
    assert_eq!(plan.links[0].wire.loss, LossPlan::Periodic { period: 100, offset: 0 });
    // 5 Mbit/s x 64 ms = 40,000 B; half of it is 19.2 packets of 1040 B.
    assert_eq!(plan.links[0].queue, QueuePlan::DropTail { limit: QueueLimit::Packets(19) });

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
