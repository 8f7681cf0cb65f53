//! Ways that differ: ACKs on links of their own, and traffic in both directions of a link.

use ackclock::sim::{LinkResult, RunResult};
use ackclock_scenario::Scenario;

fn read(text: &str) -> Result<Scenario, String> {
    let text = format!("schema = 1\nduration = \"30 s\"\nwarmup = \"5 s\"\n{text}");
    Scenario::from_toml::<&str>(&text, "x.toml", &[]).map_err(|error| error.to_string())
}

fn run(scenario: &Scenario) -> RunResult {
    crate::common::run(&scenario.plan(None, 0))
}

fn link<'a>(result: &'a RunResult, name: &str) -> &'a LinkResult {
    result.links.iter().find(|link| link.name == name).unwrap()
}

/// A flow whose data comes down by satellite. Its ACKs go up by telephone at this rate.
fn satellite(reverse_path: &str, uplink_rate: &str) -> Result<Scenario, String> {
    read(&format!(
        "[links.satellite]\nrate = \"10 Mbit/s\"\ndelay = \"250 ms\"\n[links.modem]\nrate = \"{uplink_rate}\"\ndelay = \"20 ms\"\n\
         reverse.delay = \"90 ms\"\n[[flows]]\ncc = \"aimd\"\npath = [\"satellite\"]\nreverse_path = {reverse_path}\n"
    ))
}

#[test]
fn acks_cross_the_links_of_the_reverse_path() {
    let scenario = satellite("[\"modem\"]", "1 Mbit/s").unwrap();
    let described = scenario.describe();
    assert_eq!(described.flows[0].path, ["satellite"]);
    assert_eq!(described.flows[0].reverse_path, ["modem"]);
    // 250 ms there and 20 ms back.
    assert_eq!(described.flows[0].base_rtt_s, Some(0.27));
    assert_eq!(described.bottleneck, "satellite");
    assert_eq!(described.notes[1..], ["no flow crosses modem.reverse", "no flow crosses satellite.reverse"]);
    let result = run(&scenario);
    let (down, up) = (link(&result, "satellite"), link(&result, "modem"));
    assert!(
        down.forwarded > 10_000 && up.forwarded.abs_diff(down.forwarded) < 500,
        "{} {}",
        down.forwarded,
        up.forwarded
    );
    assert_eq!(link(&result, "satellite.reverse").arrivals + link(&result, "modem.reverse").arrivals, 0);
    assert!(result.flows[0].rtt_mean_s.unwrap() >= 0.27);
}

#[test]
fn a_reverse_path_may_lead_against_links_and_needs_no_link_of_its_own() {
    let base_rtt =
        |reverse_path: &str| satellite(reverse_path, "1 Mbit/s").unwrap().describe().flows[0].base_rtt_s.unwrap();
    assert_eq!(base_rtt("[\"modem.reverse\"]"), 0.34);
    assert_eq!(base_rtt("[\"modem\", \"satellite.reverse\"]"), 0.52);
    assert_eq!(base_rtt("[\"satellite.reverse\"]"), 0.5);
}

#[test]
fn a_narrow_way_back_drops_acks_and_slows_the_data_down() {
    let over = |rate: &str| run(&satellite("[\"modem\"]", rate).unwrap());
    let (wide, narrow) = (over("1 Mbit/s"), over("28.8 kbit/s"));
    assert_eq!(link(&wide, "modem").drops, 0);
    // Room for 90 ACKs of 40 B a second.
    let modem = link(&narrow, "modem");
    assert!(modem.forwarded <= 25 * 90 + 1 && modem.drops > modem.forwarded, "{modem:?}");
    let (wide, narrow) = (wide.summary.goodput_bps.unwrap(), narrow.summary.goodput_bps.unwrap());
    assert!(narrow < 0.9 * wide, "{wide} {narrow}");
}

#[test]
fn mistakes_of_a_reverse_path_have_their_message() {
    let complaint = |reverse_path: &str| satellite(reverse_path, "1 Mbit/s").unwrap_err();
    assert_eq!(
        complaint("[\"modm\"]"),
        "x.toml:14: flows.flow0.reverse_path: unknown link \"modm\"; did you mean \"modem\"?"
    );
    assert_eq!(
        complaint("[\"modem\", \"modem.reverse\"]"),
        "x.toml:14: flows.flow0.reverse_path: the path crosses both \"modem\" and \"modem.reverse\", the two directions of a link; write one of them"
    );
    assert_eq!(complaint("[]"), "x.toml:14: flows.flow0.reverse_path: expected at least 1 items, found 0");
}

#[test]
fn traffic_in_both_directions_shares_each_with_the_acks_of_the_other() {
    let dumbbell = "[topology]\nkind = \"dumbbell\"\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n\
                    reverse.queue = { kind = \"drop-tail\", limit = \"1 BDP\" }\n[[flows]]\nname = \"there\"\ncc = \"aimd\"\n";
    let back = "[[flows]]\nname = \"back\"\ncc = \"aimd\"\npath = [\"bottleneck.reverse\"]\n";
    let alone = run(&read(dumbbell).unwrap());
    let scenario = read(&format!("{dumbbell}{back}")).unwrap();
    assert_eq!(scenario.describe().flows[1].reverse_path, ["bottleneck"]);
    let both = run(&scenario);
    for name in ["bottleneck", "bottleneck.reverse"] {
        let link = link(&both, name);
        // Neither is full where ACKs come in bunches (Zhang, Shenker & Clark 1991).
        assert!(link.utilization.unwrap() > 0.6 && link.drops > 0, "{name}: {:?}", link.utilization);
    }
    // ACKs are queued after data.
    let delay = |result: &RunResult| link(result, "bottleneck.reverse").queue_delay_mean_s.unwrap();
    assert!(delay(&both) > 0.005 && delay(&alone) == 0.0, "{} {}", delay(&both), delay(&alone));
}

/// Three hops of 10 Mbit/s. One flow crosses all of them, and each hop has one flow of its own.
fn parking_lot(rest: &str) -> Result<Scenario, String> {
    let crossing: String = (1..=3)
        .map(|hop| {
            format!("[[flows]]\nname = \"cross{hop}\"\ncc = \"aimd\"\nrecovery = \"sack\"\npath = [\"hop{hop}\"]\n")
        })
        .collect();
    read(&format!(
        "[topology]\nkind = \"parking-lot\"\nhops = 3\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{rest}\n\
         [[flows]]\nname = \"long\"\ncc = \"aimd\"\nrecovery = \"sack\"\n{crossing}"
    ))
}

#[test]
fn a_parking_lot_is_a_row_of_links_which_the_long_flow_crosses_all() {
    let scenario = parking_lot("access = { rate = \"100 Mbit/s\", delay = \"1 ms\" }").unwrap();
    let described = scenario.describe();
    let names: Vec<&str> = described.links[..6].iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["hop1", "hop1.reverse", "hop2", "hop2.reverse", "hop3", "hop3.reverse"]);
    assert_eq!(described.flows[0].path, ["long.source", "hop1", "hop2", "hop3", "long.destination"]);
    assert_eq!(described.flows[2].path, ["cross2.source", "hop2", "cross2.destination"]);
    // 2 x 3 x 5 ms and 4 x 1 ms; 2 x 5 ms and 4 x 1 ms.
    assert_eq!((described.flows[0].base_rtt_s, described.flows[1].base_rtt_s), (Some(0.034), Some(0.014)));
    assert_eq!(described.bottleneck, "hop1");
    let result = run(&scenario);
    let goodput: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
    // The long flow loses at three links, and has the longer path.
    assert!(goodput[1..].iter().all(|cross| *cross > 2.0 * goodput[0]), "{goodput:?}");
    assert!(goodput[0] > 2e5, "{goodput:?}");
    for hop in ["hop1", "hop2", "hop3"] {
        assert!(link(&result, hop).utilization.unwrap() > 0.9);
    }
}

#[test]
fn fair_queues_give_the_long_flow_of_a_parking_lot_its_half() {
    let result = run(&parking_lot("queue = \"drr\"").unwrap());
    let half = 5e6 * 1460.0 / 1500.0;
    for flow in &result.flows {
        assert!((flow.goodput_bps / half - 1.0).abs() < 0.1, "{}: {}", flow.name, flow.goodput_bps);
    }
}

#[test]
fn mistakes_in_a_parking_lot_are_named() {
    let message = |rest: &str| parking_lot(rest).unwrap_err();
    let red = message("queue = { kind = \"red\", min = \"9 packets\", max = \"3 packets\" }");
    assert!(red.starts_with("x.toml:9: topology.queue.max: "), "{red}");
    let reverse = message("reverse.queue = { kind = \"red\", min = \"9 packets\", max = \"3 packets\" }");
    assert!(reverse.starts_with("x.toml:9: topology.reverse.queue.max: "), "{reverse}");
    assert!(message("hop = 2").contains("topology.hop: unknown key; did you mean \"hops\"?"));
    let none = read(
        "[topology]\nkind = \"parking-lot\"\nhops = 0\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\ncc = \"aimd\"\n",
    );
    assert_eq!(none.unwrap_err(), "x.toml:6: topology.hops: 0 is out of range; must be from 1 to 1000");
}
