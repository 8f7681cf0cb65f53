//! The window of measurement is half-open, `[warmup, end)`, and the same for every counter.

use ackclock::sim::RunResult;
use ackclock_scenario::Scenario;

const DUMBBELL: (&str, &str) = ("dumbbell.toml", include_str!("../../../../bench/golden/dumbbell.toml"));
const TRAFFIC: (&str, &str) = ("traffic.toml", include_str!("../../../../bench/golden/traffic.toml"));
const LINKS: (&str, &str) = ("links.toml", include_str!("../../../../bench/golden/links.toml"));
const TIES: (&str, &str) = ("ties.toml", include_str!("../../../../bench/golden/ties.toml"));

fn run((file, text): (&str, &str), sets: &[String]) -> RunResult {
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let scenario = Scenario::from_toml(text, file, &sets).unwrap_or_else(|error| panic!("{error}"));
    crate::common::run(&scenario.plan(None, 0))
}

/// Everything that is counted in a window, by name.
fn counted(result: &RunResult, secs: f64) -> Vec<(String, u64)> {
    let bytes = |rate_bps: f64| (rate_bps * secs / 8.0).round() as u64;
    let mut counts = Vec::new();
    for flow in &result.flows {
        let of = [
            ("delivered", bytes(flow.delivered_bps)),
            ("sent", flow.sent),
            ("sent bytes", flow.sent_bytes),
            ("copies", flow.copies),
            ("arrived", flow.arrived),
            ("lost", flow.lost),
            ("corrupted", flow.corrupted),
            ("ACKs lost", flow.acks_lost),
            ("ACKs corrupted", flow.acks_corrupted),
            ("retransmits", flow.retransmits),
            ("timeouts", flow.timeouts),
            ("marks", flow.marks),
            ("ECN events", flow.ecn_events),
            ("access drops", flow.access_drops),
        ];
        counts.extend(of.map(|(what, count)| (format!("{} of {}", what, flow.name), count)));
    }
    for row in &result.transfers {
        let of = [
            ("started", row.started),
            ("completed", row.times.completed),
            ("sent", row.sent),
            ("lost", row.lost),
            ("retransmits", row.retransmits),
            ("goodput", bytes(row.goodput_bps)),
        ];
        counts.extend(of.map(|(what, count)| (format!("{} of {}", what, row.group), count)));
    }
    for row in &result.datagrams {
        let of = [("sent", row.sent), ("delivered", row.delivered), ("lost", row.lost), ("corrupted", row.corrupted)];
        counts.extend(of.map(|(what, count)| (format!("{} of {}", what, row.name), count)));
    }
    for link in &result.links {
        let of = [
            ("arrivals", link.arrivals),
            ("forwarded", link.forwarded),
            ("drops", link.drops),
            ("marks", link.marks),
            ("losses", link.losses),
            ("waits", link.queue_delays.packets.iter().sum()),
        ];
        counts.extend(of.map(|(what, count)| (format!("{} at {}", what, link.name), count)));
    }
    counts.push(("waits of paths".to_owned(), result.queue_delays.packets.iter().sum()));
    counts
}

/// Two consecutive windows count the same as one window over both, wherever they meet.
#[test]
fn windows_add_up() {
    let hosts = "topology.access={ rate = '20 Mbit/s', delay = '1 ms' }";
    let duplication = "topology.duplication=0.01";
    let cases: &[((&str, &str), &[&str])] = &[
        (DUMBBELL, &[]),
        (DUMBBELL, &[hosts, duplication, "topology.corruption=0.01", "topology.jitter=1 ms"]),
        (TRAFFIC, &["flows.transfer.start=1 s"]),
        (TRAFFIC, &["flows.transfer.start=1 s", hosts, "topology.loss={ kind = 'bernoulli', probability = 0.02 }"]),
        (LINKS, &["flows.short.start=1 s"]),
        (TIES, &[]),
    ];
    // Whole milliseconds are times at which much happens at once.
    for (file, sets) in cases {
        for meet_ns in [1_200_000_000_u64, 2_000_000_000, 2_000_000_001, 2_500_000_000, 2_999_999_999] {
            let window = |warmup: u64, end: u64| {
                let times =
                    [format!("warmup={warmup} ns"), format!("duration={end} ns"), "sampling.interval=none".into()];
                let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).chain(times).collect();
                let result = run(*file, &sets);
                for flow in &result.flows {
                    let known = flow.in_flight_start + flow.sent + flow.copies;
                    let found = flow.arrived + flow.lost + flow.corrupted + flow.in_flight_end;
                    assert_eq!(known, found, "{} of {} {sets:?}", flow.name, file.0);
                }
                (counted(&result, (end - warmup) as f64 / 1e9), result)
            };
            const END: u64 = 4_000_000_000;
            let ((first, before), (second, after), (both, _)) =
                (window(0, meet_ns), window(meet_ns, END), window(0, END));
            for (((what, first), (_, second)), (_, both)) in first.iter().zip(&second).zip(&both) {
                assert_eq!(first + second, *both, "{what} of {} {sets:?}: {first} before {meet_ns} ns", file.0);
            }
            for (before, after) in before.flows.iter().zip(&after.flows) {
                assert_eq!(before.in_flight_end, after.in_flight_start, "{} of {} at {meet_ns} ns", after.name, file.0);
            }
        }
    }
}

#[test]
fn a_transfer_that_begins_with_the_run_was_sent() {
    let text = "schema = 1\nduration = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\ndelay = '10 ms'\n\
                queue = { kind = 'drop-tail', limit = '100 packets' }\n[[flows]]\nname = 'flow'\ncc = 'aimd'\ntraffic = { kind = 'transfer', size = '29200 B' }\n";
    for start in ["0 s", "1 ns"] {
        let result = run(("transfer.toml", text), &[format!("flows.flow.start={start}")]);
        let (flow, summary) = (&result.flows[0], &result.summary);
        assert_eq!((flow.sent, flow.sent_bytes, flow.arrived, flow.acknowledged_bytes), (20, 29_200, 20, 29_200));
        assert_eq!((summary.delivery_ratio, summary.loss_rate), (Some(1.0), Some(0.0)), "start {start}");
        assert!(summary.goodput_bps < summary.throughput_bps, "start {start}");
        assert_eq!((result.transfers[0].started, result.transfers[0].times.completed), (1, 1));
    }
}

#[test]
fn what_happens_at_the_beginning_is_in_and_what_happens_at_the_end_is_not() {
    // A packet of 1000 bytes every millisecond.
    let text = "schema = 1\n[topology]\nkind = 'dumbbell'\nrate = '16 Mbit/s'\ndelay = '0 s'\n\
                [[flows]]\nname = 'cbr'\ntraffic = { kind = 'cbr', rate = '8 Mbit/s', packet = '1000 B' }\n";
    let sent = |warmup: u64, end: u64| {
        let result = run(("cbr.toml", text), &[format!("warmup={warmup} ns"), format!("duration={end} ns")]);
        assert_eq!(result.links[0].arrivals, result.datagrams[0].sent);
        result.datagrams[0].sent
    };
    assert_eq!(sent(0, 10_000_000), 9);
    assert_eq!(sent(2_000_000, 10_000_000), 8);
    assert_eq!(sent(2_000_001, 10_000_000), 7);
    assert_eq!(sent(2_000_000, 10_000_001), 9);
}
