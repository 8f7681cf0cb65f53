//! Meters in a network: the traffic in profile for each owner, and the drops.

use std::sync::atomic::AtomicBool;

use ackclock::sim::{self, ColourCounts, MeterResult, RunResult};
use ackclock_scenario::Scenario;

fn run(text: &str, sets: &[&str]) -> RunResult {
    let scenario = Scenario::from_toml(text, "x", sets).unwrap();
    sim::run(&scenario.plan(None, 0), &AtomicBool::new(false)).unwrap()
}

fn dumbbell(queue: &str, meters: &str, flows: &str) -> String {
    format!(
        "schema = 1\nduration = '60 s'\nwarmup = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\n\
         delay = '20 ms'\nqueue = {queue}\n{meters}{flows}"
    )
}

fn meter<'a>(result: &'a RunResult, name: &str) -> &'a MeterResult {
    result.meters.iter().find(|meter| meter.name == name).unwrap()
}

fn goodput(result: &RunResult, group: &str) -> f64 {
    result.flows.iter().filter(|flow| *flow.group == *group).map(|flow| flow.goodput_bps).sum()
}

fn close(value: f64, expected: f64, slack: f64) {
    assert!((value - expected).abs() <= slack, "{value}, expected {expected}");
}

/// Datagrams of 1000 B at 3 Mbit/s, without a warm-up. 22,499 are sent before the end of a minute, with 22,498 gaps
/// of 8/3 ms.
const CONSTANT: &str = "[[flows]]\nname = 'cbr'\ntraffic = { kind = 'cbr', rate = '3 Mbit/s' }\nmeter = 'gold'\n";

#[test]
fn a_constant_rate_is_green_up_to_the_committed_rate_and_the_burst() {
    let single = "[meters.gold]\nkind = 'srtcm'\ncommitted_rate = '2 Mbit/s'\ncommitted_burst = '20 kB'\n\
                  excess_burst = '40 kB'\n";
    let text = dumbbell("'rio'", single, CONSTANT);
    let result = run(&text, &["warmup=0 s"]);
    // The burst of 20 kB, and in the gaps 22,498 x 8/3 ms x 250 B/ms = 14,998,667 B. The excess burst never fills again.
    let ColourCounts { green, yellow, red, policed } = meter(&result, "gold").colours;
    assert_eq!((green, yellow, green + yellow + red, policed), (15_018, 40, 22_499, red));
    let row = &result.datagrams[0];
    assert_eq!((row.colours, row.lost), (Some(meter(&result, "gold").colours), policed));
    assert_eq!(result.totals.policed.bytes, 1000 * policed);
    // A policed packet does not come to the queue.
    assert_eq!((result.links[0].arrivals, result.links[0].drops), (green + yellow, 0));
    // In a window that begins later there is the rate alone.
    close(meter(&run(&text, &[]), "gold").green_bps, 2e6, 8000.0 / 50.0);

    let two = "[meters.gold]\nkind = 'trtcm'\ncommitted_rate = '1 Mbit/s'\ncommitted_burst = '10 kB'\n\
               peak_rate = '2 Mbit/s'\npeak_burst = '20 kB'\nred = 'out'\n";
    let result = run(&dumbbell("'rio'", two, CONSTANT), &["warmup=0 s"]);
    let ColourCounts { green, yellow, red, policed } = meter(&result, "gold").colours;
    // 10 kB and 7,499,333 B; at the peak 20 kB and 14,998,667 B.
    assert_eq!((green, green + yellow, green + yellow + red), (7_509, 15_018, 22_499));
    assert_eq!((policed, result.datagrams[0].lost), (0, 0));
}

#[test]
fn a_flow_with_an_assured_rate_gets_it_beside_others() {
    // An assured rate of 4 Mbit/s beside nine flows that fill the rest: its fair share is 1 Mbit/s.
    let gold = "[meters.gold]\nkind = 'srtcm'\ncommitted_rate = '4 Mbit/s'\ncommitted_burst = '60 kB'\nred = 'out'\n";
    let flows = "[[flows]]\nname = 'assured'\ncc = 'aimd'\nrecovery = 'sack'\nmeter = 'gold'\n\
                 [[flows]]\nname = 'others'\ncount = 9\ncc = 'aimd'\nrecovery = 'sack'\n";
    let assured = run(&dumbbell("'rio'", gold, flows), &[]);
    let committed = 4e6 * 1460.0 / 1500.0;
    assert!(goodput(&assured, "assured") > 0.97 * committed, "{}", goodput(&assured, "assured"));
    assert_eq!(assured.links[0].in_profile_drops, Some(0));
    assert!(assured.summary.utilization.unwrap() > 0.95);
    // Without a queue that knows profiles, colours change nothing.
    let fifo = run(&dumbbell("'drop-tail'", gold, flows), &[]);
    assert!(goodput(&fifo, "assured") < 0.6 * committed, "{}", goodput(&fifo, "assured"));
    let plain = run(&dumbbell("'drop-tail'", "", &flows.replace("meter = 'gold'\n", "")), &[]);
    assert_eq!(fifo.summary, plain.summary);
}

#[test]
fn a_policer_bounds_a_flow_by_its_rate() {
    let policer = "[meters.cap]\nkind = 'srtcm'\ncommitted_rate = '2 Mbit/s'\ncommitted_burst = '30 kB'\n";
    let flows = "[[flows]]\nname = 'capped'\ncc = 'aimd'\nrecovery = 'sack'\nmeter = 'cap'\n";
    let result = run(&dumbbell("'drop-tail'", policer, flows), &[]);
    let (row, flow) = (meter(&result, "cap"), &result.flows[0]);
    assert!(row.green_bps <= 2e6 + 8.0 * 30_000.0 / 50.0, "{}", row.green_bps);
    assert!(flow.goodput_bps > 0.6 * 2e6, "{}", flow.goodput_bps);
    assert!(row.colours.policed > 10 && flow.lost == row.colours.policed);
    assert_eq!(flow.colours.as_deref(), Some(&row.colours));
    assert_eq!((result.links[0].drops, row.colours.yellow), (0, 0));
}

#[test]
fn flows_share_a_meter_or_have_one_each() {
    let meter_of = |per: &str| {
        let meters = format!(
            "[meters.cap]\nkind = 'srtcm'\ncommitted_rate = '1 Mbit/s'\ncommitted_burst = '10 kB'\nper = '{per}'\n"
        );
        let flows = "[[flows]]\nname = 'a'\ncount = 2\ntraffic = { kind = 'cbr', rate = '2 Mbit/s' }\nmeter = 'cap'\n\
                     [[flows]]\nname = 'b'\ntraffic = { kind = 'cbr', rate = '2 Mbit/s' }\nmeter = 'cap'\n";
        run(&dumbbell("'drop-tail'", &meters, flows), &[])
    };
    close(meter(&meter_of("aggregate"), "cap").green_bps, 1e6, 8000.0 / 50.0);
    let each = meter_of("flow");
    close(meter(&each, "cap").green_bps, 3e6, 3.0 * 8000.0 / 50.0);
    for row in &each.datagrams {
        close(row.delivered_bps, 1e6, 2.0 * 8000.0 / 50.0);
    }
}

#[test]
fn a_meter_that_is_aware_of_colours_keeps_what_comes_out_of_profile_out_of_it() {
    let result_of = |colour: &str| {
        let meters = format!(
            "[meters.gold]\nkind = 'srtcm'\ncommitted_rate = '2 Mbit/s'\ncommitted_burst = '10 kB'\n\
             excess_burst = '10 kB'\nred = 'out'\ncolour = '{colour}'\n"
        );
        let flows = "[[flows]]\nname = 'inside'\nin_profile = true\nmeter = 'gold'\n\
                     traffic = { kind = 'cbr', rate = '1.5 Mbit/s' }\n\
                     [[flows]]\nname = 'outside'\nmeter = 'gold'\ntraffic = { kind = 'cbr', rate = '3 Mbit/s' }\n";
        run(&dumbbell("'rio'", &meters, flows), &[])
    };
    let aware = result_of("aware");
    // All that came in profile stays so, as it keeps within the rate; the rest fills the excess with the 0.5 Mbit/s left.
    let [inside, outside] = [0, 1].map(|row: usize| aware.datagrams[row].colours.unwrap());
    assert_eq!((inside.yellow + inside.red, outside.green, inside.green), (0, 0, aware.datagrams[0].sent));
    close(meter(&aware, "gold").yellow_bps, 0.5e6, 3.0 * 8000.0 / 50.0);
    let blind = result_of("blind");
    assert!(blind.datagrams[0].colours.unwrap().red > 0 && blind.datagrams[1].colours.unwrap().green > 0);
}

#[test]
fn a_meter_that_finds_everything_green_changes_nothing_but_colours() {
    let ample = "[meters.ample]\nkind = 'srtcm'\ncommitted_rate = '1 Gbit/s'\ncommitted_burst = '1 GB'\n";
    let flows = "[[flows]]\nname = 'x'\ncount = 3\ncc = 'aimd'\nin_profile = true\n";
    let metered = run(&dumbbell("'rio'", ample, &format!("{flows}meter = 'ample'\n")), &[]);
    let plain = run(&dumbbell("'rio'", "", flows), &[]);
    assert_eq!((&metered.summary, metered.events), (&plain.summary, plain.events));
    assert_eq!(metered.samples.flows.cwnd_segments, plain.samples.flows.cwnd_segments);
}
