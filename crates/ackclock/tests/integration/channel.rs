//! Stations that contend for a channel, in whole runs: throughput of datagrams, flows that win, conserved packets.

use std::fmt::Write as _;

use ackclock::contract::check_run;
use ackclock::sim::{LinkId, Plan, QueueLimit, RunResult};
use ackclock_scenario::Scenario;

fn plan(text: &str, sets: &[&str]) -> Plan {
    Scenario::from_toml(text, "channel.toml", sets).unwrap_or_else(|error| panic!("{error}")).plan(None, 0)
}

/// Runs a plan and checks all that holds for any run, conservation among it.
fn checked(plan: &Plan) -> RunResult {
    let run = check_run("channel", plan);
    run.unwrap_or_else(|violation| panic!("{violation}"))
}

/// Stations that always have datagrams of 1023 bytes, on Bianchi's channel.
fn saturated(stations: usize, keys: &str) -> String {
    let mut text = format!(
        "schema = 1\nduration = '60 s'\nwarmup = '1 s'\nsampling.interval = 'none'\n[channels.air]\nkind = 'dcf'\n\
         preset = 'fhss'\n{keys}\n"
    );
    for station in 0..stations {
        write!(
            text,
            "[links.s{station}]\nchannel = 'air'\nqueue = {{ kind = 'drop-tail', limit = '20 packets' }}\n[[flows]]\n\
             name = 'd{station}'\ntraffic = {{ kind = 'cbr', rate = '1 Mbit/s', packet = '1023 B' }}\n\
             path = ['s{station}']\n"
        )
        .unwrap();
    }
    text
}

/// Five stations with an access point, TCP up and down, datagrams, and links beyond the access point.
pub(crate) const HOME: &str = "
schema = 1
duration = '10 s'
warmup = '1 s'
channels.wifi = { kind = 'dcf', preset = '802.11g' }

[links]
ap.channel = 'wifi'
sta1.channel = 'wifi'
sta2 = { channel = 'wifi', rate = '6 Mbit/s', queue = 'red' }
sta3 = { channel = 'wifi', loss = { kind = 'bernoulli', probability = 0.01 }, duplication = 0.01, corruption = 0.01 }
wire = { rate = '100 Mbit/s', delay = '5 ms' }

[[flows]]
name = 'up'
cc = 'aimd'
recovery = 'sack'
path = ['sta1', 'wire']
reverse_path = ['wire.reverse', 'ap']

[[flows]]
name = 'down'
count = 2
cc = 'aimd'
rtt = { uniform = ['20 ms', '40 ms'] }
path = ['wire.reverse', 'ap']
reverse_path = ['sta2', 'wire']

[[flows]]
name = 'harmed'
cc = 'cubic'
delayed_ack = true
path = ['sta3', 'wire']
reverse_path = ['wire.reverse', 'ap']

[[flows]]
name = 'web'
cc = 'aimd'
count = 3
traffic = { kind = 'arrivals', every = '200 ms', size = { kind = 'pareto', mean = '30 kB', shape = 2.5 } }
path = ['wire.reverse', 'ap']
reverse_path = ['sta1', 'wire']

[[flows]]
name = 'call'
traffic = { kind = 'rtp', rate = '200 kbit/s' }
path = ['sta2']
";

/// Nobody shares a queue here, so that links without a channel would hand everything over ahead of time.
const PAIRS: &str = "
schema = 1
duration = '5 s'
channels.air = { kind = 'dcf', preset = '802.11b' }

[links]
s1.channel = 'air'
s2.channel = 'air'
s3.channel = 'air'
wire = { rate = '3 Mbit/s', delay = '5 ms' }

[[flows]]
name = 'pair'
cc = 'aimd'
path = ['s1']

[[flows]]
name = 'far'
cc = 'cubic'
rtt = '30 ms'
path = ['s2']

[[flows]]
name = 'wired'
cc = 'aimd'
path = ['wire']
reverse_path = ['s3']

[[flows]]
name = 'back'
cc = 'aimd'
path = ['s3.reverse']
reverse_path = ['wire.reverse']
";

const VARIANTS: [&[&str]; 9] = [
    &[],
    &["channels.wifi.preset=802.11b", "links.sta2.rate=1 Mbit/s", "channels.wifi.retries=0"],
    &["channels.wifi.aggregate=16", "channels.wifi.ack=32 B"],
    &["channels.wifi.rts_threshold=500 B"],
    &["channels.wifi.frame_errors=0.2", "channels.wifi.retries=1"],
    &["channels.wifi.preset=802.11n", "channels.wifi.packet_errors=0.2", "channels.wifi.retries=1"],
    &["channels.wifi.preset=802.11ax", "channels.wifi.packet_errors=0.05", "channels.wifi.frame_errors=0.05"],
    &["channels.wifi.preset=802.11a", "links.ap.jitter=2 ms", "links.ap.jitter_reorders=true"],
    &["channels.wifi.countdown=counts-busy", "channels.wifi.after_failure=difs"],
];

fn without_trace(mut result: RunResult) -> String {
    result.events = 0;
    result.samples.trace = Default::default();
    format!("{result:?}")
}

#[test]
fn every_packet_of_a_channel_is_somewhere() {
    for sets in VARIANTS {
        let plan = plan(HOME, sets);
        let result = checked(&plan);
        assert!(result.flows.iter().all(|flow| flow.arrived > 0), "{sets:?}");
        let failed = result.links.iter().filter_map(|link| link.attempts).map(|attempts| attempts.failed_attempts);
        assert!(failed.sum::<u64>() > 0, "{sets:?}");
    }
}

#[test]
fn nothing_happens_ahead_of_time_that_a_trace_would_show() {
    let pairs = [(PAIRS, [].as_slice()), (PAIRS, &["sampling.interval=none"]), (PAIRS, &["channels.air.retries=0"])];
    for (text, sets) in VARIANTS.map(|sets| (HOME, sets)).into_iter().chain(pairs) {
        let plan = plan(text, sets);
        checked(&plan);
        let mut traced = plan.clone();
        traced.sampling.packets = true;
        assert_eq!(without_trace(crate::common::run(&plan)), without_trace(crate::common::run(&traced)), "{sets:?}");
    }
}

#[test]
fn samples_change_nothing() {
    let events = |interval: &str| {
        let mut result = crate::common::run(&plan(HOME, &[interval]));
        result.samples = Default::default();
        without_trace(result)
    };
    assert_eq!(events("sampling.interval=none"), events("sampling.interval=1 ms"));
}

#[test]
fn the_order_of_declaration_does_not_matter() {
    let plan = plan(HOME, &["duration=5 s"]);
    let mut turned = plan.clone();
    turned.links.reverse();
    let last = plan.links.len() - 1;
    let turned_id = |link: LinkId| LinkId::new(last - link.number());
    let turn = |path: &[LinkId]| path.iter().map(|link| turned_id(*link)).collect();
    turned.bottleneck = turned_id(plan.bottleneck);
    for flow in turned.flows.iter_mut().chain(turned.arrivals.iter_mut().flat_map(|group| &mut group.slots)) {
        (flow.forward, flow.reverse) = (turn(&flow.forward), turn(&flow.reverse));
    }
    for source in turned.datagrams.iter_mut().flat_map(|row| &mut row.sources) {
        source.forward = turn(&source.forward);
    }
    let goodputs = |plan: &Plan| -> Vec<_> {
        let result = crate::common::run(plan);
        result.flows.iter().map(|flow| (flow.name.clone(), flow.goodput_bps, flow.lost)).collect()
    };
    let before = goodputs(&plan);
    assert_eq!(before, goodputs(&plan));
    assert_eq!(before, goodputs(&turned));
    turned.flows.reverse();
    assert_eq!(before, goodputs(&turned).into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn datagrams_of_a_scenario_have_the_throughput_of_bianchi() {
    // Equation (13) of Bianchi 2000 for W = 32, m = 3; `link::channel` computes it.
    for (stations, expected) in [(1, 0.8388), (5, 0.8097), (10, 0.7532), (20, 0.6788)] {
        for keys in ["", "countdown = 'freezes'"] {
            let result = checked(&plan(&saturated(stations, keys), &[]));
            let goodput: f64 = result.datagrams.iter().map(|row| row.delivered_bps).sum();
            let off = goodput / 1e6 / expected - 1.0;
            assert!(off.abs() < 0.02, "{stations} stations, {keys}: {off:+.4}");
        }
    }
}

#[test]
fn lost_frames_are_losses_of_their_flows() {
    let result = checked(&plan(&saturated(10, "retries = 1"), &[]));
    let lost: u64 = result.links.iter().map(|link| link.losses).sum();
    assert_eq!(result.totals.lost.packets, {
        let all = checked(&plan(&saturated(10, "retries = 1"), &["warmup=0 s"]));
        all.links.iter().map(|link| link.losses).sum::<u64>()
    });
    assert!(lost > 500, "{lost}");
}

#[test]
fn a_slow_station_slows_down_all_others() {
    // Equal chances to send (Heusse et al. 2003): everybody gets as many packets as the slowest.
    let goodputs = |sets: &[&str]| -> Vec<f64> {
        let stations = saturated(4, "preset = '802.11b'\nrate = '11 Mbit/s'").replace("preset = 'fhss'\n", "");
        let text = stations.replace("rate = '1 Mbit/s'", "rate = '8 Mbit/s'");
        checked(&plan(&text, sets)).datagrams.iter().map(|row| row.delivered_bps).collect()
    };
    let (fast, mixed) = (goodputs(&[]), goodputs(&["links.s0.rate=1 Mbit/s"]));
    assert!(mixed.iter().all(|goodput| (goodput / mixed[0] - 1.0).abs() < 0.1), "{mixed:?}");
    assert!(mixed[1] < 0.5 * fast[1], "{mixed:?}, without the slow one {fast:?}");
}

#[test]
fn the_queue_of_a_station_holds_a_hundred_packets_by_default() {
    let plan = plan(HOME, &[]);
    let limit = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap().queue.limit();
    for name in ["ap", "ap.reverse", "sta1", "sta1.reverse", "sta2", "sta2.reverse"] {
        assert_eq!(limit(name), QueueLimit::Packets(100), "{name}");
    }
    assert_eq!(limit("wire.reverse"), QueueLimit::Packets(10_000));
}

#[test]
fn uploads_get_more_than_downloads() {
    // The access point sends the data of all downloads and the ACKs of all uploads, and has the chances of one station.
    let result = checked(&plan(include_str!("../../../../examples/wifi.toml"), &[]));
    let goodput = |name: &str| result.flows.iter().find(|flow| *flow.name == *name).unwrap().goodput_bps;
    let (ups, downs) = (["up1", "up2"].map(goodput), ["down3", "down4"].map(goodput));
    assert!(ups.iter().all(|up| downs.iter().all(|down| up > down)), "{ups:?}, {downs:?}");
    let alone = checked(&plan(
        include_str!("../../../../examples/wifi.toml"),
        &[
            "flows.up1.traffic={ kind = 'transfer', size = '1 B' }",
            "flows.up2.traffic={ kind = 'transfer', size = '1 B' }",
        ],
    ));
    let total = |result: &RunResult| result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>();
    assert!(total(&alone) > 15e6, "{}", total(&alone));
    assert!(result.datagrams[0].loss_rate.unwrap() < 0.01, "{:?}", result.datagrams);
}

#[test]
fn the_base_rtt_of_a_channel_is_its_propagation() {
    let plan = plan(HOME, &[]);
    // Two microseconds of the channel, ten milliseconds of the wire.
    assert_eq!(plan.flows[0].base_rtt.as_nanos(), 10_002_000);
}

fn mistake(keys: &str) -> String {
    let text = format!(
        "schema = 1\nduration = '1 s'\n[channels.air]\nkind = 'dcf'\n{keys}\n[[flows]]\ncc = 'aimd'\npath = ['a']\n"
    );
    let error = Scenario::from_toml::<&str>(&text, "x.toml", &[]).expect_err(keys);
    error.to_string()
}

#[test]
fn a_mistake_is_told_with_its_place_and_a_hint() {
    let station = "[links.a]\nchannel = 'air'\n";
    for (keys, expected) in [
        (
            "[links.a]\nchannel = 'sir'".to_owned(),
            "x.toml:6: links.a.channel: unknown channel \"sir\"; did you mean \"air\"?",
        ),
        (
            format!("{station}delay = '1 ms'"),
            "x.toml:7: links.a.delay: a station has the propagation of its channel, \"air\"",
        ),
        (
            format!("{station}varies = 'wifi'\nreverse.delay = '1 ms'"),
            "links.a.reverse.delay: a station has the propagation",
        ),
        (
            format!("{station}rate = '10 Mbit/s'"),
            "x.toml:7: links.a.rate: unknown rate of its preset \"10 Mbit/s\"; use one of 6 Mbit/s, 9 Mbit/s",
        ),
        (
            format!("{station}queue = {{ kind = 'drop-tail', limit = '1 BDP' }}"),
            "links.a.queue.limit: a limit in BDP or time needs a fixed rate",
        ),
        (
            format!("{station}reverse.queue = {{ kind = 'red', limit = '2 BDP' }}"),
            "links.a.reverse.queue.limit: a limit in BDP or time needs a fixed rate",
        ),
        (format!("slot = '0 s'\n{station}"), "x.toml:5: channels.air.slot: 0 s is out of range; must be above zero"),
        (format!("cw_min = 30\n{station}"), "channels.air.cw_min: 30 is out of range; must be a power of two less one"),
        (
            format!("cw_min = 63\ncw_max = 31\n{station}"),
            "channels.air.cw_max: 31 is out of range; must be at least cw_min, 63",
        ),
        (format!("rate = '7 Mbit/s'\n{station}"), "channels.air.rate: unknown rate of its preset"),
        (
            format!("basic_rates = ['12 Mbit/s', '6 Mbit/s']\n{station}"),
            "channels.air.basic_rates: 6 Mbit/s is out of range",
        ),
        (format!("aggregat = 2\n{station}"), "channels.air.aggregat: unknown key; did you mean \"aggregate\"?"),
        (format!("aggregate = 0\n{station}"), "channels.air.aggregate: 0 is out of range; must be from 1 to 256"),
        (
            "[links.a]\nrate = '1 Mbit/s'\n[links.air]".to_owned(),
            "channels.air: the name \"air\" is taken by the link \"air\"",
        ),
    ] {
        let told = mistake(&keys);
        assert!(told.contains(expected), "{keys}\n{told}");
    }
}
