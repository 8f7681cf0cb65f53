//! Traffic against closed forms: arrivals, completion times, datagrams.

use crate::common::run;
use ackclock::sim::{DatagramResult, Lateness, Playing, RunResult, TransferResult};
use ackclock_scenario::Scenario;

/// A run on one link without access links.
fn result(link: &str, times: &str, flows: &str, replicate: u64) -> RunResult {
    let text = format!("schema = 1\n{times}\n[links.a]\n{link}\n{flows}");
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario.plan(None, replicate))
}

fn group<'a>(result: &'a RunResult, name: &str) -> &'a TransferResult {
    result.transfers.iter().find(|row| row.group == name).unwrap()
}

fn datagrams<'a>(result: &'a RunResult, name: &str) -> &'a DatagramResult {
    result.datagrams.iter().find(|row| row.name == name).unwrap()
}

/// Mean and standard error.
fn estimate(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[test]
fn poisson_datagrams_wait_as_in_an_m_d_1_queue() {
    // 1000 B at 8 Mbit/s take S = 1 ms; at a load of .7 the mean waiting time is .7 S / (2 (1 - .7)) = 1.1667 ms.
    let link = "rate = '8 Mbit/s'\nqueue = { kind = 'drop-tail', limit = '100000 packets' }";
    let flows = "[[flows]]\nname = 'cbr'\ntraffic = { kind = 'cbr', rate = '5.6 Mbit/s', spacing = 'exponential' }";
    let runs = (0..10).map(|replicate| result(link, "duration = '200 s'\nwarmup = '5 s'", flows, replicate));
    let (waits, rates): (Vec<_>, Vec<_>) =
        runs.map(|run| (run.links[0].queue_delay_mean_s.unwrap(), datagrams(&run, "cbr").offered_bps)).unzip();
    let (wait, error) = estimate(&waits);
    assert!(error < 2e-5 && (wait - 0.7e-3 / 0.6).abs() < 4.0 * error, "{wait} +- {error}");
    let (rate, error) = estimate(&rates);
    assert!((rate - 5.6e6).abs() < 4.0 * error, "{rate} +- {error}");
}

#[test]
fn even_datagrams_never_wait_and_arrive_one_transmission_and_one_delay_later() {
    let link = "rate = '8 Mbit/s'\ndelay = '20 ms'";
    let flows = "[[flows]]\nname = 'cbr'\ntraffic = { kind = 'cbr', rate = '6 Mbit/s' }";
    let run = result(link, "duration = '10 s'\nwarmup = '1 s'", flows, 0);
    let row = datagrams(&run, "cbr");
    // 750 packets a second; those of the last 21 ms are in flight.
    assert_eq!(row.sent, 6750);
    assert!(row.sent - row.delivered <= 16, "{}", row.delivered);
    assert_eq!(row.delay_mean_s, Some(0.021));
    assert_eq!((row.jitter_s, run.links[0].queue_delay_mean_s.unwrap()), (Some(0.0), 0.0));
    assert!((row.delay_p99_s.unwrap() / 0.021 - 1.0).abs() < 0.01);
    assert_eq!((row.leaves_bps, row.late_rate), (None, None));
    assert_eq!((run.flows.len(), run.summary.goodput_bps, run.summary.jain_index), (0, None, None));
}

#[test]
fn the_goodput_of_a_completed_transfer_is_over_its_own_time() {
    let link = "rate = '10 Mbit/s'\ndelay = '5 ms'";
    let flows = "[[flows]]\nname = 'one'\ncc = 'aimd'\nstart = '2 s'\ntraffic = { kind = 'transfer', size = '1 MB' }\n\
                 [[flows]]\nname = 'cut'\ncc = 'aimd'\ntraffic = { kind = 'transfer', size = '100 MB' }";
    let run = result(link, "duration = '60 s'", flows, 0);
    let [one, cut] = run.flows.as_slice() else { panic!("two flows") };
    let own = 8e6 / one.completion_time_s.unwrap();
    assert!((one.goodput_bps / own - 1.0).abs() < 1e-9, "{} for {own}", one.goodput_bps);
    assert!(one.throughput_bps > one.goodput_bps);
    // Its part of the goodput of all is over the run, and so is that of a transfer that did not complete.
    assert!((one.delivered_bps - 8e6 / 60.0).abs() < 1e-6, "{}", one.delivered_bps);
    assert_eq!((cut.completion_time_s, cut.goodput_bps), (None, cut.delivered_bps));
    let sum = one.delivered_bps + cut.delivered_bps;
    assert!((run.summary.goodput_bps.unwrap() / sum - 1.0).abs() < 1e-12);
    // The part before the end of the warm-up counts in neither.
    let late = result(link, "duration = '60 s'\nwarmup = '50 s'", flows, 0);
    assert_eq!((late.flows[0].goodput_bps, late.flows[0].delivered_bps), (0.0, 0.0));
}

#[test]
fn a_transfer_in_slow_start_takes_as_many_round_trips_as_doublings() {
    // Windows of 2, 4, 8 and 16 segments: 30 take four round trips of 100 ms, and hardly any transmission.
    let link = "rate = '10 Gbit/s'\ndelay = '50 ms'\nqueue = { kind = 'drop-tail', limit = '1000 packets' }";
    let times = "duration = '60 s'";
    for (segments, rounds) in [(1, 1.0), (2, 1.0), (3, 2.0), (6, 2.0), (7, 3.0), (14, 3.0), (30, 4.0), (31, 5.0)] {
        let size = segments * 1460;
        let flows = format!(
            "[[flows]]\nname = 'one'\ncc = 'aimd'\ntraffic = {{ kind = 'transfer', size = '{size} B' }}\n\
             [[flows]]\nname = 'mice'\ncc = 'aimd'\ncount = 100\n\
             traffic = {{ kind = 'arrivals', every = '500 ms', size = '{size} B' }}"
        );
        let run = result(link, times, &flows, 0);
        let one = run.flows[0].completion_time_s.unwrap();
        assert!(one >= rounds * 0.1 && one < rounds * 0.1 + 0.001, "{segments} segments: {one} s");
        let mice = group(&run, "mice");
        let times = mice.times;
        assert!(times.completed > 60 && mice.refused == 0);
        // A slot that is used again is as fast as a fresh one.
        for figure in [times.fct_mean_s, times.fct_p50_s, times.fct_p99_s, times.fct_max_s] {
            assert!((figure.unwrap() - one).abs() < 0.001, "{segments} segments: {times:?}, {one}");
        }
        let one = group(&run, "one").times;
        assert_eq!((one.completed, one.fct_p50_s), (1, one.fct_max_s));
    }
}

const MICE: &str = "[[flows]]\nname = 'mice'\ncc = 'aimd'\ncount = 60\nrecovery = 'sack'\n\
                    traffic = { kind = 'arrivals', every = '30 ms', size = { kind = 'pareto', mean = '12 kB', shape = 2.5 } }\n";

#[test]
fn transfers_under_way_are_arrivals_times_their_time() {
    // Little's law; mean size over mean time is 3.2 Mbit/s.
    let link = "rate = '8 Mbit/s'\ndelay = '20 ms'\nqueue = { kind = 'drop-tail', limit = '60 packets' }";
    let run = result(link, "duration = '600 s'\nwarmup = '10 s'", MICE, 0);
    let mice = group(&run, "mice");
    assert_eq!(mice.refused, 0);
    let rate = mice.times.completed as f64 / 590.0;
    let active = mice.active_mean.unwrap();
    assert!((active / (rate * mice.times.fct_mean_s.unwrap()) - 1.0).abs() < 0.01, "{active} {rate}");
    // 19 667 arrivals; the variance of a Pareto size is mean^2 / (shape (shape - 2)) = .8 mean^2.
    let error = (1.8f64 / 19_667.0).sqrt();
    assert!((mice.offered_bps / 3.2e6 - 1.0).abs() < 4.0 * error, "{}", mice.offered_bps);
    assert!((mice.goodput_bps / mice.offered_bps - 1.0).abs() < 0.02);
    let times = mice.times;
    assert!(
        times.fct_p50_s < times.fct_p95_s && times.fct_p95_s < times.fct_p99_s && times.fct_p99_s < times.fct_max_s
    );
}

#[test]
fn arrivals_that_find_no_slot_are_refused_and_shift_no_luck() {
    let link = "rate = '1 Mbit/s'\ndelay = '20 ms'\nqueue = { kind = 'drop-tail', limit = '60 packets' }";
    let times = "duration = '60 s'";
    let all = |flows: &str| {
        let run = result(link, times, flows, 0);
        let mice = group(&run, "mice");
        (mice.started + mice.refused, mice.refused)
    };
    let (arrivals, refused) = all(MICE);
    assert!(refused > 0, "{refused}");
    let (same, more) = all(&MICE.replace("count = 60", "count = 2"));
    assert_eq!(arrivals, same);
    assert!(more > refused);
    let beside = format!("{}{}", MICE.replace("mice", "other").replace("30 ms", "7 ms"), MICE);
    assert_eq!(all(&beside).0, arrivals);
}

#[test]
fn what_is_left_of_a_transfer_does_not_reach_the_next_one_in_its_slot() {
    // Packets are doubled and come late by up to ten round trips: old ones meet new transfers all the time.
    let link = "rate = '10 Mbit/s'\ndelay = '5 ms'\nqueue = { kind = 'drop-tail', limit = '200 packets' }\nduplication = 0.3\n\
                reordering = { probability = 0.2, delay = '100 ms' }";
    let flows = "[[flows]]\nname = 'mice'\ncc = 'aimd'\nrecovery = 'sack'\ncount = 3\n\
                 traffic = { kind = 'arrivals', every = '50 ms', size = '5 kB' }";
    let run = result(link, "duration = '120 s'", flows, 0);
    let mice = group(&run, "mice");
    assert!(mice.times.completed > 500, "{mice:?}");
    // Everything that ended was delivered once, whole.
    let delivered = mice.goodput_bps * 120.0 / 8.0;
    let ended = 5_000.0 * mice.times.completed as f64;
    assert!(delivered >= ended && delivered <= ended + 5_000.0 * mice.unfinished as f64, "{delivered} {ended}");
}

#[test]
fn a_request_takes_a_round_trip_and_its_answer_its_windows() {
    // 90 ms between answers of one segment: one every 100 ms + 90 ms.
    let link = "rate = '10 Gbit/s'\ndelay = '50 ms'";
    let flow = |response: &str| {
        let traffic = format!("{{ kind = 'web', think = '90 ms', response = '{response}' }}");
        let flows = format!("[[flows]]\nname = 'web'\ncc = 'aimd'\ntraffic = {traffic}");
        result(link, "duration = '100 s'\nwarmup = '5 s'", &flows, 0)
    };
    let run = flow("1460 B");
    let web = group(&run, "web");
    assert!((web.times.fct_mean_s.unwrap() - 0.1).abs() < 1e-4, "{:?}", web.times);
    assert_eq!(web.times.completed, (95.0f64 / 0.19) as u64);
    assert_eq!(run.flows[0].times, Some(Box::new(web.times)));
    // The window has grown by then: 20 segments are one round trip, too.
    let run = flow("29200 B");
    assert!((group(&run, "web").times.fct_p50_s.unwrap() - 0.1).abs() < 1e-3);
}

#[test]
fn requests_that_are_lost_are_sent_again() {
    let link = "rate = '10 Mbit/s'\ndelay = '5 ms'\nreverse.loss = { kind = 'bernoulli', probability = 0.3 }";
    let flows = "[[flows]]\nname = 'web'\ncc = 'aimd'\ntraffic = { kind = 'web', think = '10 ms', response = '3 kB' }";
    let run = result(link, "duration = '200 s'", flows, 0);
    let web = group(&run, "web");
    assert!(web.times.completed > 100 && web.times.fct_max_s > Some(1.0), "{web:?}");
    assert!(web.started - web.times.completed <= 1);
}

#[test]
fn frames_that_take_too_long_are_late() {
    // A frame of 2500 B each 20 ms is two packets at 1 Mbit/s: 12 ms, and 20 ms for both; 10 ms of propagation.
    let link = "rate = '1 Mbit/s'\ndelay = '10 ms'";
    let frames = |deadline: &str| {
        let traffic = format!("{{ kind = 'rtp', rate = '1 Mbit/s', deadline = '{deadline}' }}");
        let flows = format!("[[flows]]\nname = 'video'\ntraffic = {traffic}");
        let run = result(link, "duration = '10 s'\nwarmup = '1 s'", &flows, 0);
        datagrams(&run, "video").clone()
    };
    let row = frames("25 ms");
    assert_eq!((row.sent, row.offered_bps), (900, 1e6));
    assert!((row.delay_mean_s.unwrap() - 0.026).abs() < 1e-4, "{:?}", row.delay_mean_s);
    // The second packet of every frame is late by 5 ms.
    assert!((row.late_rate.unwrap() - 0.5).abs() < 0.002 && row.late_rate <= row.lost_or_late_rate);
    // Between two packets the delay differs by 8 ms, up and down: that is what the jitter estimate tends to.
    assert!((row.jitter_s.unwrap() - 0.008).abs() < 1e-4, "{:?}", row.jitter_s);
    assert_eq!(frames("150 ms").late_rate, Some(0.0));
}

#[test]
fn datagrams_take_what_they_want_and_lose_what_does_not_fit() {
    // Two sources of 6 Mbit/s at 8 Mbit/s: a third is lost.
    let link = "rate = '8 Mbit/s'\ndelay = '10 ms'\nqueue = { kind = 'drop-tail', limit = '20 packets' }";
    let flows = "[[flows]]\nname = 'cbr'\ncount = 2\nstart = { uniform = ['0 s', '1 s'] }\n\
                 traffic = { kind = 'cbr', rate = '6 Mbit/s' }";
    let run = result(link, "duration = '60 s'\nwarmup = '5 s'", flows, 0);
    let lost = run.datagrams.iter().map(|row| row.loss_rate.unwrap()).sum::<f64>() / 2.0;
    assert!((lost - 1.0 / 3.0).abs() < 0.002, "{lost}");
    let delivered: f64 = run.datagrams.iter().map(|row| row.delivered_bps).sum();
    assert!((delivered / 8e6 - 1.0).abs() < 1e-3, "{delivered}");
}

const SQUARE: &str = "leaves = { kind = 'square', high = '4 Mbit/s', low = '1 Mbit/s', interval = '5 s' }";

#[test]
fn datagrams_leave_what_they_are_told_to() {
    let link = "rate = '5 Mbit/s'\ndelay = '10 ms'\nqueue = { kind = 'drop-tail', limit = '50 packets' }";
    let cross = format!("[[flows]]\nname = 'cross'\ntraffic = {{ kind = 'cbr', rate = '5 Mbit/s', {SQUARE} }}\n");
    let alone = result(link, "duration = '100 s'\nwarmup = '20 s'", &cross, 0);
    let row = datagrams(&alone, "cross");
    assert_eq!(row.leaves_bps, Some(2.5e6));
    // Within a packet.
    assert!((row.offered_bps - 2.5e6).abs() <= 8000.0 / 80.0, "{}", row.offered_bps);
    assert_eq!(row.loss_rate.unwrap().max(1e-3), 1e-3);
    // What is left is used: 1460 of 1500 bytes are payload, and the link is full but for the changes.
    let test = "[[flows]]\nname = 'test'\ncc = 'aimd'\nrecovery = 'sack'\n";
    let shared = result(link, "duration = '100 s'\nwarmup = '20 s'", &format!("{test}{cross}"), 0);
    let cross = datagrams(&shared, "cross");
    assert!(shared.links[0].utilization.unwrap() > 0.9);
    let left = 5e6 - cross.delivered_bps;
    let on_the_wire = shared.flows[0].goodput_bps * 1500.0 / 1460.0;
    assert!(on_the_wire <= 1.001 * left && on_the_wire > 0.85 * left, "{on_the_wire} of {left}");
    assert!(left >= 2.5e6 - 8000.0 / 80.0);
}

#[test]
fn a_random_rate_that_is_left_does_not_depend_on_who_else_is_there() {
    let link = "rate = '5 Mbit/s'\ndelay = '10 ms'";
    let leaves = "leaves = { kind = 'random-walk', start = '2 Mbit/s', delta = '1 Mbit/s', step = '1 s' }";
    let cross = format!("[[flows]]\nname = 'cross'\ntraffic = {{ kind = 'cbr', rate = '5 Mbit/s', {leaves} }}\n");
    let leaves = |flows: &str, replicate| {
        let run = result(link, "duration = '100 s'", flows, replicate);
        let row = datagrams(&run, "cross");
        // What is sent and what is left are all there is, within a packet.
        assert!((row.offered_bps + row.leaves_bps.unwrap() - 5e6).abs() <= 8000.0 / 100.0);
        row.leaves_bps
    };
    let alone = leaves(&cross, 0);
    assert_eq!(leaves(&format!("{MICE}{cross}"), 0), alone);
    assert_ne!(leaves(&cross, 1), alone);
}

#[test]
fn a_population_offers_the_fair_shares_of_those_that_send() {
    let link = "rate = '50 Mbit/s'\ndelay = '10 ms'";
    let population = |count: u32| {
        let flows = format!(
            "[[flows]]\nname = 'population'\ncount = {count}\n\
             traffic = {{ kind = 'population', capacity = '5 Mbit/s', beside = 4, {SQUARE} }}\n"
        );
        let run = result(link, "duration = '100 s'\nwarmup = '20 s'", &flows, 0);
        assert_eq!(run.datagrams.len(), 1);
        datagrams(&run, "population").clone()
    };
    // 1 of 1 Mbit/s for 4 Mbit/s, and 16 of 250 kbit/s for 1 Mbit/s.
    let row = population(40);
    assert_eq!((row.sources, row.leaves_bps), (40, Some(2.5e6)));
    assert!((row.offered_bps - 2.5e6).abs() < 0.01e6, "{}", row.offered_bps);
    assert_eq!(row.loss_rate.unwrap().max(1e-3), 1e-3);
    // 1 of 1 Mbit/s, and all 6 of 500 kbit/s.
    let row = population(6);
    assert!((row.offered_bps - 2e6).abs() < 0.01e6, "{}", row.offered_bps);
}

#[test]
fn behind_a_fair_queue_a_population_leaves_what_it_is_told_to() {
    // Populations of 1, 4 and 16 beside 4 flows.
    for (leaves, mbps) in [("4 Mbit/s", 4.0), ("2.5 Mbit/s", 2.5), ("1 Mbit/s", 1.0)] {
        let link = "rate = '5 Mbit/s'\ndelay = '10 ms'\nqueue = { kind = 'drr', limit = '80 packets' }";
        let flows = format!(
            "[[flows]]\nname = 'test'\ncc = 'aimd'\nrecovery = 'sack'\ncount = 4\nstart = {{ uniform = ['0 s', '1 s'] }}\n\
             [[flows]]\nname = 'population'\ncount = 40\ntraffic = {{ kind = 'population', capacity = '5 Mbit/s', beside = 4, \
             leaves = {{ kind = 'steps', times = ['0 s'], rates = ['{leaves}'] }} }}\n"
        );
        let run = result(link, "duration = '120 s'\nwarmup = '20 s'", &flows, 0);
        let wire = run.summary.goodput_bps.unwrap() * 1500.0 / 1460.0 / 1e6;
        assert!((wire / mbps - 1.0).abs() < 0.05, "{wire} of {leaves}");
        let population = datagrams(&run, "population");
        assert!(
            (population.delivered_bps / (5e6 - 1e6 * mbps) - 1.0).abs() < 0.02,
            "{leaves}: {}",
            population.delivered_bps
        );
    }
}

/// A user types on an idle path, or in competition with other flows.
fn typing(traffic: &str, others: &str) -> RunResult {
    let text = format!(
        "schema = 1\nduration = '1000 s'\nwarmup = '100 s'\n[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\n\
         delay = '20 ms'\n[[flows]]\nname = 'typing'\ncc = {{ kind = 'aimd', increase = 0 }}\n{traffic}\n{others}"
    );
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap();
    run(&scenario.plan(None, 0))
}

#[test]
fn a_keystroke_takes_the_delay_of_an_idle_path_and_its_transmission() {
    let result = typing("traffic = { kind = 'interactive', every = '250 ms', size = '85 B' }", "");
    let row = &result.transfers[0];
    // 125 B at 1 Mbit/s take 1 ms.
    let times = &row.times;
    assert_eq!([times.fct_mean_s, times.fct_p95_s, times.fct_max_s], [Some(0.021); 3]);
    assert_eq!((row.started, times.completed, row.unfinished, row.sent), (3600, 3600, 0, 3600));
    assert_eq!((row.offered_bps, row.goodput_bps), (4.0 * 85.0 * 8.0, 4.0 * 85.0 * 8.0));
    assert_eq!(result.flows[0].times.as_deref(), Some(times));
    assert_eq!(result.flows[0].completion_time_s, None);
}

#[test]
fn keystrokes_come_at_their_mean_rate() {
    // 9000 of them, within four standard errors: 4 sqrt(9000) = 380.
    let exponential =
        typing("traffic = { kind = 'interactive', every = { kind = 'exponential', mean = '100 ms' } }", "");
    let started = exponential.transfers[0].started;
    assert!(started.abs_diff(9000) < 380, "{started}");
    // A coefficient of variation of 1/sqrt(3 (3 - 2)) = 0.58 at a shape of 3: 4 x 0.58 sqrt(9000) = 220.
    let every = "{ kind = 'pareto', mean = '100 ms', shape = 3 }";
    let pareto = typing(&format!("traffic = {{ kind = 'interactive', every = {every} }}"), "");
    let started = pareto.transfers[0].started;
    assert!(started.abs_diff(9000) < 220, "{started}");
}

#[test]
fn keystrokes_wait_behind_others_and_go_together_where_the_window_is_full() {
    let idle = "traffic = { kind = 'interactive', every = { kind = 'exponential', mean = '200 ms' } }";
    let beside = typing(idle, "[[flows]]\nname = 'bulk'\ncc = 'aimd'\n");
    let (row, bulk) = (&beside.transfers[0], &beside.flows[1]);
    // They wait in the same queue as the bulk data does, and longer where one is lost.
    let alone = 0.020 + 41.0 * 8.0 / 1e6;
    assert!(row.times.fct_mean_s.unwrap() > alone + 0.5 * bulk.queue_delay_mean_s.unwrap());
    assert!(row.times.fct_p95_s < row.times.fct_max_s);
    // A window that stays at one segment: what is typed in a round trip of 41 ms goes in one.
    let still = "initial_window = 1\nmax_window = 1\ninitial_ssthresh = 'max-window'";
    let window = typing(&format!("{idle}\n{still}").replace("200 ms", "5 ms"), "").transfers.remove(0);
    assert!(window.sent * 6 < window.started, "{} segments, {} keystrokes", window.sent, window.started);
    assert!(window.times.completed + 40 > window.started);
    // On average they wait for half a round trip before it.
    let mean = window.times.fct_mean_s.unwrap();
    assert!((mean / 0.041 - 1.0).abs() < 0.1, "{mean}");
}

/// Chunks of 250 segments every 2 s, which take 3 s at 1 Mbit/s. The link has this rate and no losses.
fn chunks(rate: &str, keys: &str) -> TransferResult {
    let text = format!(
        "schema = 2\nduration = '90 s'\nwarmup = '30 s'\n[topology]\nkind = 'dumbbell'\nrate = '{rate}'\n\
         delay = '20 ms'\nqueue = {{ kind = 'drop-tail', limit = '100 packets' }}\n[[flows]]\nname = 'player'\ncc = 'reno'\nmax_window = 20\n\
         traffic = {{ kind = 'chunks', size = '365 kB'{keys} }}\n"
    );
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap();
    run(&scenario.plan(None, 0)).transfers.remove(0)
}

#[test]
fn chunks_that_come_in_time_neither_are_late_nor_stall() {
    let row = chunks("2 Mbit/s", "");
    let playing = row.playing.as_deref().unwrap();
    assert_eq!((row.traffic, row.started, row.times.completed), ("chunks", 30, 30));
    assert_eq!(*playing, Playing { stalls: 0, stalled_s: 0.0 });
    assert_eq!(row.lateness.as_deref(), Some(&Lateness { late: 0, late_rate: Some(0.0) }));
    // 1.5 s of transmission and a round trip of ramp-up: later than a deadline of a second, and every time as late.
    let hasty = chunks("2 Mbit/s", ", deadline = '1 s'");
    let (playing, lateness) = (hasty.playing.as_deref().unwrap(), hasty.lateness.as_deref().unwrap());
    assert_eq!((lateness.late_rate, playing.stalls), (Some(1.0), 0), "only the first one stalled, in the warm-up");
}

#[test]
fn chunks_that_take_longer_than_they_play_stall_by_the_difference() {
    let row = chunks("1 Mbit/s", "");
    let (playing, lateness) = (row.playing.as_deref().unwrap(), row.lateness.as_deref().unwrap());
    // One comes every 3 s and plays 2 s: 20 stalls of 1 s in 60 s. What is written by 88 s and has not come is late as well:
    // 44 chunks less the 30 that came in 90 s, one more where the last ones are cut.
    assert_eq!(lateness.late_rate, Some(1.0));
    assert!((19..=21).contains(&playing.stalls), "{playing:?}");
    assert!((playing.stalled_s - 20.0).abs() < 1.0, "{playing:?}");
    assert!((33..=36).contains(&lateness.late), "{lateness:?}");
}

/// A client that streams, in the window from 60 s to 180 s.
fn stream(rate: &str, traffic: &str, keys: &str) -> TransferResult {
    let text = format!(
        "schema = 2\nduration = '180 s'\nwarmup = '60 s'\n[topology]\nkind = 'dumbbell'\nrate = '{rate}'\n\
         delay = '20 ms'\nqueue = {{ kind = 'drop-tail', limit = '100 packets' }}\n[[flows]]\nname = 'player'\ncc = 'reno'\n{keys}\n\
         traffic = {{ kind = 'abr', {traffic} }}\n"
    );
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap();
    run(&scenario.plan(None, 0)).transfers.remove(0)
}

const LADDER: &str = "ladder = ['1 Mbit/s', '2.5 Mbit/s', '5 Mbit/s', '20 Mbit/s']";

/// 85 % of 9.7 Mbit/s are above 5 Mbit/s, and below 20 Mbit/s.
#[test]
fn a_stream_on_a_steady_link_has_the_highest_sustainable_bit_rate() {
    for keys in ["max_window = 60", "max_window = 60\nprofile = 'quic'"] {
        let row = stream("10 Mbit/s", &format!("{LADDER}, adaptation = 'throughput'"), keys);
        let (playing, streaming) = (row.playing.as_deref().unwrap(), row.streaming.as_deref().unwrap());
        assert_eq!((row.traffic, row.lateness.is_none()), ("abr", true));
        assert_eq!(*playing, Playing { stalls: 0, stalled_s: 0.0 }, "{keys}");
        assert_eq!((streaming.bit_rate_bps, streaming.switches), (Some(5e6), 0), "{keys}");
        // A full buffer: a chunk every 2 s.
        assert_eq!((row.started, row.times.completed, row.unfinished), (60, 60, 0), "{keys}");
        assert!((row.goodput_bps / 5e6 - 1.0).abs() < 0.02, "{keys}: {}", row.goodput_bps);
    }
    // Clients that follow their buffers alternate between the rungs, so the mean is nearly the rate of the link. A chunk in the buffer makes it larger.
    for adaptation in ["'bba0'", "'bola'", "{ kind = 'bba0', reservoir = '6 s', cushion = '12 s' }"] {
        let row = stream("10 Mbit/s", &format!("{LADDER}, adaptation = {adaptation}"), "max_window = 60");
        let streaming = row.streaming.as_deref().unwrap();
        let bit_rate = streaming.bit_rate_bps.unwrap();
        assert!((7e6..10.5e6).contains(&bit_rate) && streaming.switches > 2, "{adaptation}: {streaming:?}");
        assert_eq!(row.playing.as_deref(), Some(&Playing { stalls: 0, stalled_s: 0.0 }), "{adaptation}");
    }
}

/// A chunk of 500 kB has 345 full segments and one of 440 bytes. Each header has 52 bytes. The rate is 1 Mbit/s. A
/// round trip of 40 ms, the last ACK and the request of 352 B precede it.
#[test]
fn a_stream_on_a_link_below_its_lowest_bit_rate_stalls_by_the_difference() {
    let long = (345.0 * 1500.0 + 492.0 + 52.0 + 352.0) * 8.0 / 1e6 + 0.04;
    let row = stream("1 Mbit/s", "ladder = ['2 Mbit/s', '4 Mbit/s']", "max_window = 20");
    let (playing, streaming) = (row.playing.as_deref().unwrap(), row.streaming.as_deref().unwrap());
    assert!((row.times.fct_mean_s.unwrap() - long).abs() < 1e-9, "{:?}, {long}", row.times);
    let stalled = 120.0 * (1.0 - 2.0 / long);
    assert!((playing.stalled_s - stalled).abs() < 2.0, "{playing:?}, {stalled}");
    // At most one more than the chunks of the window: a stall may be in progress at its start.
    assert!((28..=30).contains(&playing.stalls), "{playing:?}");
    assert_eq!((streaming.bit_rate_bps, streaming.switches), (Some(2e6), 0));
    assert!((streaming.startup_s.unwrap() / long - 1.0).abs() < 0.01, "{streaming:?}");
    // Fewer and longer stalls with a threshold of two chunks, and the same time.
    let patient = stream("1 Mbit/s", "ladder = ['2 Mbit/s'], startup = '4 s'", "max_window = 20");
    let playing = patient.playing.as_deref().unwrap();
    assert!((14..=15).contains(&playing.stalls) && (playing.stalled_s - stalled).abs() < 4.0, "{playing:?}");
    assert!((patient.streaming.as_deref().unwrap().startup_s.unwrap() / (2.0 * long) - 1.0).abs() < 0.01);
}

#[test]
fn a_stream_that_never_begins_waits_until_the_end() {
    let row = stream("1 Mbit/s", "ladder = ['2 Mbit/s'], chunk = '100 s', buffer = '200 s'", "");
    let streaming = row.streaming.as_deref().unwrap();
    assert_eq!((streaming.bit_rate_bps, streaming.startup_s), (None, Some(180.0)));
    assert_eq!(row.playing.as_deref(), Some(&Playing { stalls: 0, stalled_s: 0.0 }));
    // A stream that stops plays the rest of its buffer, without a stall.
    let row = stream("10 Mbit/s", LADDER, "stop = '100 s'");
    assert_eq!((row.playing.as_deref().unwrap().stalls, row.unfinished), (0, 0));
}

/// A browser alone on a link without losses.
fn pages(rate: &str, keys: &str, traffic: &str) -> TransferResult {
    let text = format!(
        "schema = 2\nduration = '60 s'\nwarmup = '5 s'\n[topology]\nkind = 'dumbbell'\nrate = '{rate}'\n\
         delay = '50 ms'\nqueue = {{ kind = 'drop-tail', limit = '10000 packets' }}\n[[flows]]\nname = 'browser'\ncc = 'reno'\n{keys}\n\
         traffic = {{ kind = 'page', think = '300 ms', {traffic} }}\n"
    );
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap();
    run(&scenario.plan(None, 0)).transfers.remove(0)
}

/// The document and the objects take a round trip each.
#[test]
fn a_page_takes_two_round_trips_and_its_transmission() {
    let small = "objects = 10, html = '1448 B', object = '1448 B'";
    for keys in ["initial_window = 20", "initial_window = 20\nprofile = 'quic'\npacing = 'off'"] {
        let row = pages("10 Gbit/s", keys, small);
        assert!((row.times.fct_mean_s.unwrap() - 0.2).abs() < 1e-4, "{:?}", row.times);
        // A page every 200 ms + 300 ms.
        assert_eq!((row.traffic, row.times.completed, row.started), ("page", 110, 110), "{keys}");
        let times = &row.times;
        assert!((times.fct_max_s.unwrap() - times.fct_p50_s.unwrap()).abs() < 1e-4, "{times:?}");
    }
    // At 10 Mbit/s and with a window for all: 10 segments of the document and 200 of the objects, 1.2 ms each. Two ACKs
    // and two requests of up to 352 B take less than 1 ms.
    let large = "objects = 20, html = '14480 B', object = '14480 B'";
    let row = pages("10 Mbit/s", "initial_window = 400", large);
    let expected = 0.2 + 210.0 * 0.0012;
    let mean = row.times.fct_mean_s.unwrap();
    assert!((expected..expected + 0.001).contains(&mean), "{mean}, {expected}");
    let bits = 210.0 * 14480.0 / 10.0 * 8.0;
    assert!((row.offered_bps * 55.0 / bits / row.started as f64 - 1.0).abs() < 0.02, "{}", row.offered_bps);
}
