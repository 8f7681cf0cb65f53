//! Wrong scenario files from the outside: each mistake has its message, and all are told at once.

use crate::texts::{TWO_FLOWS, TWO_LINKS};
use ackclock_scenario::Scenario;

const NO_SETS: [&str; 0] = [];

/// The message about a text.
fn complaint(text: &str) -> String {
    Scenario::from_toml(text, "x.toml", &NO_SETS).unwrap_err().to_string()
}

/// The message about the example with `old` replaced by `new`.
fn complaint_after(old: &str, new: &str) -> String {
    assert!(TWO_FLOWS.contains(old), "{old}");
    complaint(&TWO_FLOWS.replacen(old, new, 1))
}

/// A change of the example, and the message about it after the name of the file.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("schema = 1\n", "", r#" schema: missing; write schema = 2"#),
    (
        "schema = 1",
        "schema = 3",
        r#"2: schema: the scenario is written in version 3 of the schema; this program reads versions 1 and 2"#,
    ),
    ("schema = 1", "schema = '1'", r#"2: schema: expected a whole number, found "1""#),
    ("increase = 1", "increse = 1", r#"18: flows.test.cc.increse: unknown key; did you mean "increase"?"#),
    ("kind = \"aimd\"", "kind = \"amd\"", r#"18: flows.test.cc.kind: unknown algorithm "amd"; did you mean "aimd"?"#),
    (
        "kind = \"aimd\"",
        "knid = \"aimd\"",
        "18: flows.test.cc.kind: missing; use one of reno, cubic, bic, highspeed, scalable, htcp, hybla, westwood, veno, \
             illinois, yeah, compound and 33 more",
    ),
    ("\"sack\"", "\"sak\"", r#"19: flows.test.recovery: unknown value "sak"; did you mean "sack"?"#),
    (
        "\"sack\"",
        "\"sack\"\ntimeout_ssthresh = \"law\"",
        r#"20: flows.test.timeout_ssthresh: "law" is called "rule" now"#,
    ),
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
        r#"11: topology.queue.limit: "100" is not a queue limit; write "100 packets", "64 kB", "0.5 BDP" or "50 ms""#,
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
    (
        r#"kind = "drop-tail", limit = "100 packets""#,
        r#"kind = "red", limit = "100 packets", min = "0.5 limit", max = "20 packets""#,
        r#"11: topology.queue.max: the lower threshold, 50 packets, is above the upper one, 20 packets"#,
    ),
    (
        r#"kind = "drop-tail", limit = "100 packets""#,
        r#"kind = "red", min = "a quarter""#,
        r#"11: topology.queue.min: "a quarter" is not a queue threshold; write "20 packets", "30 kB", "0.5 BDP", "50 ms" or "0.25 limit""#,
    ),
    ("100 packets", "1e9 BDP", r#"11: topology.queue.limit: 1e9 BDP is out of range; must be at most 1000000 BDP"#),
    (
        "100 packets",
        "0 packets",
        "11: topology.queue.limit: a queue of 0 packets carries nothing, as every packet passes through it; \
             at least 1 packet, or 1500 B here",
    ),
    (
        "100 packets",
        "1499 B",
        "11: topology.queue.limit: a queue of 1499 B carries nothing, as every packet passes through it; \
             at least 1 packet, or 1500 B here",
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
fn a_name_that_was_changed_is_said_with_the_new_one() {
    let text = TWO_LINKS.replace("path = [\"a\", \"b\"]", "path = [\"a\"]\ntraffic = \"crowd\"");
    let error = Scenario::from_toml(&text, "x.toml", &NO_SETS).unwrap_err().to_string();
    assert!(error.ends_with("traffic.kind: \"crowd\" is called \"population\" now"), "{error}");
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
fn a_mistake_has_no_second_that_is_none() {
    let flow = "[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n[[flows]]\n";
    for (text, path) in [
        ("ccx = 'reno'", "flows.flow0.ccx"),
        ("traffix = { kind = 'cbr', rate = '1 Mbit/s' }", "flows.flow0.traffix"),
        ("cc = 'reno'\nstart = '9 s'\nstop = '5 s'", "flows.flow0.start"),
        ("cc = 'reno'\nrtt = '0 s'", "flows.flow0.rtt"),
    ] {
        let text = format!("schema = 1\nduration = '8 s'\n{flow}{text}\n");
        let error = Scenario::from_toml(&text, "x.toml", &NO_SETS).unwrap_err();
        let paths: Vec<_> = error.mistakes().iter().map(|mistake| mistake.path()).collect();
        assert_eq!(paths, [path], "{error}");
    }
}

#[test]
fn a_mistake_of_all_flows_is_told_once() {
    let text = TWO_LINKS.replace("[links.a]", "[transport]\nmss = '0 B'\n[links.a]");
    assert_eq!(complaint(&text), "x.toml:5: transport.mss: 0 B is out of range; must be at least 1 B");
}

#[test]
fn a_frame_has_a_bound() {
    let frames = "traffic = { kind = 'rtp', rate = '1 Tbit/s', interval = '1 h' }";
    let text = format!("{}[[flows]]\n{frames}\n", &TWO_FLOWS[..TWO_FLOWS.find("[[flows]]").unwrap()]);
    let expected = "x.toml:16: flows.flow0.traffic.interval: a frame of 300000000000 datagrams is out of range; \
                    must be at most 1000000 datagrams";
    assert_eq!(complaint(&text), expected);
}

#[test]
fn a_trace_of_all_packets_has_a_bound() {
    let text = TWO_FLOWS.replace("5 Mbit/s", "10 Gbit/s").replace("[topology]", "sampling.packets = true\n[topology]");
    // 10 Gbit/s for 100 s are 83333333 packets of 1500 B: three rows at the bottleneck, two at each of two access links, as many of
    // its ACK, and two of the sender.
    let expected = "x.toml:7: sampling.packets: about 1333333328 rows of packets would be written down; at most 50000000: \
                    a shorter run, or packets = false";
    assert_eq!(complaint(&text), expected);
    // 3125833 packets.
    let long = text.replace("10 Gbit/s", "10 Mbit/s").replace("100 s", "3751 s");
    assert!(complaint(&long).contains("about 50013328 rows"), "{}", complaint(&long));
}

#[test]
fn texts_that_are_no_scenario_have_their_message() {
    assert_eq!(complaint(""), "x.toml: the scenario is empty; it begins with schema = 2");
    assert_eq!(complaint("# nothing\n"), "x.toml: the scenario is empty; it begins with schema = 2");
    let json = |text| Scenario::from_json(text, "x.json", &NO_SETS).unwrap_err().to_string();
    assert_eq!(json("{}"), "x.json: the scenario is empty; it begins with schema = 2");
    assert_eq!(json("[]"), "x.json: a scenario is a table, not a list");
    assert_eq!(json("null"), "x.json: a scenario is a table, not null");
    assert_eq!(json("{"), "x.json:1: this is not JSON: EOF while parsing an object");
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
        "x.toml:13: links.idle.queue.limit: a limit in BDP or time needs a rate, and link \"idle\" has none"
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
