//! Links whose delay changes during a run, and outages: arrival times and losses by closed form.

use crate::common::run;
use ackclock::probe::PacketEvent;
use ackclock::sim::RunResult;
use ackclock_scenario::Scenario;

const MS: u64 = 1_000_000;

fn result(link: &str, flows: &str) -> RunResult {
    let text = format!(
        "schema = 1\nduration = '20 s'\nsampling.packets = true\n[links.a]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n{link}\n{flows}"
    );
    run(&Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}")).plan(None, 0))
}

/// A datagram of 1000 B, which takes 1 ms, every 10 ms.
const EVEN: &str = "[[flows]]\nname = 'cbr'\ntraffic = { kind = 'cbr', rate = '800 kbit/s' }\n";

/// When each datagram that came through entered the wire, and how long it took, in the order of arrival.
fn passages(result: &RunResult) -> Vec<(u64, u64)> {
    let trace = &result.samples.trace;
    let of = |event: PacketEvent| {
        (0..trace.time_ns.len())
            .filter(move |row| trace.event[*row] == event as u8)
            .map(|row| (trace.seq[row], trace.time_ns[row]))
    };
    let entered: Vec<u64> = of(PacketEvent::Enter).map(|(_, at)| at + MS).collect();
    of(PacketEvent::Leave).map(|(seq, at)| (entered[seq as usize], at - entered[seq as usize])).collect()
}

#[test]
fn every_packet_takes_the_delay_at_the_time_at_which_it_enters_the_wire() {
    let steps =
        "delay_varies = { kind = 'steps', times = ['0 s', '5 s', '10 s'], delays = ['20 ms', '65 ms', '30 ms'] }";
    let stepped = result(steps, EVEN);
    for (entered, took) in passages(&stepped) {
        let expected = if entered < 5000 * MS {
            20
        } else if entered < 10_000 * MS {
            65
        } else {
            30
        };
        assert_eq!(took, expected * MS, "{entered}");
    }
    // The last of 65 ms enter at 9.971, 9.981 and 9.991 s and arrive up to 10.056 s; those of 30 ms that arrive before the
    // last of them enter at 10.001, 10.011 and 10.021 s.
    let arrivals = passages(&stepped);
    let overtaking = |pair: &&[(u64, u64)]| pair[0].0 > pair[1].0;
    assert!(arrivals.windows(2).filter(overtaking).count() > 0);
    assert_eq!(stepped.links[0].impairments.unwrap().reordered, 3);

    let linear = "delay_varies = { kind = 'linear', times = ['0 s', '4 s', '8 s'], delays = ['20 ms', '60 ms', '20 ms'], repeat = '8 s' }";
    let passing = result(linear, EVEN);
    for (entered, took) in passages(&passing) {
        // 10 ms a second, up and down.
        let place = entered % (8000 * MS);
        let expected = 20 * MS + place.min(8000 * MS - place) / 100;
        assert!(took.abs_diff(expected) <= 1, "{entered}: {took}, expected {expected}");
    }
    assert!(passages(&passing).is_sorted() && passing.links[0].impairments.is_none());
}

#[test]
fn packets_are_reordered_exactly_where_a_later_one_arrives_first() {
    // From 60 ms down to 20 ms at once: d1 - d2 = 40 ms, so who leaves within 40 ms after another one overtakes it.
    for (gap_rate, expected) in [("800 kbit/s", true), ("160 kbit/s", false)] {
        let steps = "delay_varies = { kind = 'steps', times = ['0 s', '10 s'], delays = ['60 ms', '20 ms'] }";
        let flows = format!("[[flows]]\nname = 'cbr'\ntraffic = {{ kind = 'cbr', rate = '{gap_rate}' }}\n");
        let result = result(steps, &flows);
        let mut sent: Vec<(u64, u64)> = passages(&result);
        sent.sort_unstable();
        let overtakes = sent.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0 + pair[1].1);
        let reordered = result.links[0].impairments.unwrap().reordered;
        assert_eq!((overtakes, reordered > 0), (expected, expected), "{gap_rate}: {reordered}");
    }
}

#[test]
fn an_outage_loses_what_is_sent_in_it() {
    let outages = result("outages = { times = ['2 s', '5 s'], length = '300 ms', repeat = '10 s' }", EVEN);
    // Twice two outages of 30 packets each.
    let row = &outages.datagrams[0];
    assert_eq!((row.lost, outages.links[0].losses, outages.links[0].impairments), (120, 120, None));
    let within = |entered: u64| {
        [2000, 5000].iter().any(|begin| (begin * MS..(begin + 300) * MS).contains(&(entered % (10_000 * MS))))
    };
    assert!(passages(&outages).iter().all(|(entered, took)| !within(*entered) && *took == 20 * MS));
}

/// A bulk flow with this window.
fn bulk(link: &str, max_window: u32) -> RunResult {
    let flow = format!("[[flows]]\nname = 'x'\ncc = 'aimd'\nrecovery = 'sack'\nmax_window = {max_window}\n");
    let text = format!(
        "schema = 1\nduration = '20 s'\n[links.a]\nrate = '8 Mbit/s'\ndelay = '20 ms'\nqueue = {{ kind = 'drop-tail', limit = '100 packets' }}\n{link}\n{flow}"
    );
    run(&Scenario::from_toml::<&str>(&text, "x", &[]).unwrap().plan(None, 0))
}

#[test]
fn a_sender_takes_reordering_for_loss_once_and_an_outage_for_a_timeout() {
    let stepped = |delays: &str, window| {
        bulk(&format!("delay_varies = {{ kind = 'steps', times = ['0 s', '10 s'], delays = [{delays}] }}"), window)
    };
    let (longer, shorter) = (stepped("'20 ms', '60 ms'", 20), stepped("'60 ms', '20 ms'", 60));
    // Nothing is lost. A longer path, of a window that leaves the link idle, reorders nothing and is within the RTO;
    // a shorter one, of a window that fills it, looks like losses.
    assert_eq!((longer.flows[0].lost, longer.flows[0].retransmits, longer.flows[0].timeouts), (0, 0, 0));
    assert!(shorter.flows[0].lost == 0 && (1..40).contains(&shorter.flows[0].retransmits), "{:?}", shorter.flows[0]);
    assert_eq!(shorter.flows[0].timeouts, 0);
    // A window of 20 segments in a round trip of 40 ms, and of 80 ms, by half of the time each.
    assert_eq!(longer.flows[0].base_rtt_s, 0.040);
    let rtt = longer.flows[0].rtt_mean_s.unwrap();
    assert!((0.0415..0.0835).contains(&rtt), "{rtt}");
    // A percentile contains the longer path. About a third of the measurements come from it.
    let (median, high) = (longer.flows[0].rtt_p50_s.unwrap(), longer.flows[0].rtt_p95_s.unwrap());
    assert!((0.0415..0.0445).contains(&median) && (0.0805..0.0835).contains(&high), "{median} {high}");
    assert_eq!((longer.summary.rtt_p50_s, longer.summary.rtt_p95_s), (Some(median), Some(high)));
    // No queue is there: what the delay adds is no waiting.
    assert!(longer.summary.queue_delay_mean_s.unwrap() < 0.001, "{:?}", longer.summary.queue_delay_mean_s);
    let outage = bulk("outages = { times = ['10 s'], length = '1 s' }", 20);
    assert!(outage.flows[0].timeouts >= 1 && outage.flows[0].lost >= 20, "{:?}", outage.flows[0]);
    let plain = bulk("", 20);
    let lost_time = 1.0 - outage.flows[0].goodput_bps / plain.flows[0].goodput_bps;
    assert!((0.05..0.15).contains(&lost_time), "{lost_time}");
}

#[test]
fn a_delay_that_does_not_change_is_that_of_the_link() {
    let flat = bulk("delay_varies = { kind = 'steps', times = ['0 s', '3 s'], delays = ['20 ms', '20 ms'] }", 20);
    let plain = bulk("", 20);
    assert_eq!((flat.summary, flat.events), (plain.summary, plain.events));
}

#[test]
fn mistakes_of_times_are_told_with_their_key() {
    let message = |link: &str| {
        let text = format!(
            "schema = 1\nduration = '1 s'\n[links.a]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n{link}\n[[flows]]\ncc = 'aimd'\n"
        );
        Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_err().to_string()
    };
    let steps = |times: &str, delays: &str| {
        message(&format!("delay_varies = {{ kind = 'steps', times = [{times}], delays = [{delays}] }}"))
    };
    assert_eq!(
        steps("'0 s'", "'10 ms'"),
        "x:6: links.a.delay_varies.delays: 10 ms is out of range; must be from 20 ms, the link's delay, to 86400 s"
    );
    assert!(
        steps("'1 s'", "'30 ms'")
            .contains("delay_varies.times: 1 s is out of range; must be \"0 s\" in the first place")
    );
    assert!(steps("'0 s', '0 s'", "'30 ms', '40 ms'").contains("must be above 0 s: rising"));
    assert!(steps("'0 s', '1 s'", "'30 ms'").contains("delays: expected as many as there are times, 2,"));
    let outage = message("outages = { times = ['1 s', '2 s'], length = '2 s' }");
    assert!(outage.contains("outages.length: 2 s is out of range; must be above zero and at most 1 s"), "{outage}");
}
