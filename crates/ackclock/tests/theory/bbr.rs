//! BBR in packets: one flow, random loss, and competition with CUBIC.

use super::*;
use crate::common::FlowSetup;

const RATE: u64 = 10_000_000;
const RTT: Duration = Duration::from_millis(40);

fn bulk(name: &str, cc: &str) -> (String, FlowSetup) {
    (name.to_owned(), FlowSetup { cc: by_name(cc), ..FlowSetup::default() })
}

/// A dumbbell with a buffer in bandwidth-delay products.
fn dumbbell(rate: u64, rtt: Duration, buffer: f64, ccs: &[&str]) -> Dumbbell {
    let limit = (buffer * Dumbbell::bdp_packets(rate, rtt)).ceil() as u32;
    let mut dumbbell = Dumbbell::new(rate, rtt, limit.max(1), 0);
    dumbbell.flows = ccs.iter().enumerate().map(|(number, cc)| bulk(&format!("{cc}.{number}"), cc)).collect();
    dumbbell
}

/// The values that the algorithm of the first flow reported in each sample.
fn reported<'a>(result: &'a RunResult, name: &str) -> &'a [f64] {
    let columns = &result.samples.flows.reported;
    &columns.iter().find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

/// The same, whose flows find losses by time.
fn with_rack(mut dumbbell: Dumbbell) -> Dumbbell {
    dumbbell.flows.iter_mut().for_each(|(_, flow)| flow.transport.rack = true);
    dumbbell
}

/// BBRv3 leaves 1 % of the rate as margin. It sends at 90 % while a queue drains. Every five seconds, it halves the
/// flight to half a BDP for 200 ms. BBRv1 keeps the least window in ProbeRTT, and loses more in a buffer that its 2
/// BDPs in flight overflow.
#[test]
fn one_flow_fills_the_link_and_knows_the_path() {
    for (cc, buffers) in [("bbr1", [2.0, 4.0].as_slice()), ("bbr3", &[0.5, 1.0, 2.0, 4.0])] {
        for buffer in buffers {
            let result = with_rack(dumbbell(RATE, RTT, *buffer, &[cc])).run();
            let utilization = result.summary.utilization.unwrap();
            let queue = result.summary.queue_delay_mean_s.unwrap();
            println!("{cc}, {buffer} BDP: utilisation {utilization:.4}, queueing delay {:.2} ms", 1e3 * queue);
            assert!(utilization >= 0.95, "{cc}, {buffer} BDP: {utilization}");
            assert!(queue < 0.5 * RTT.as_secs_f64(), "{cc}: {queue}");
            // Propagation, and 1.2 ms at the bottleneck and a tenth of it at each of the other links.
            let unloaded = RTT.as_secs_f64() + 0.0012;
            let warm = result.samples.flows.time_ns.iter().position(|time| *time > 2_000_000_000).unwrap();
            // A minimum that is too old is replaced by what there is, until ProbeRTT, the last of BBRv1's states, has drained the queue.
            let is_draining = |state: f64| *cc == *"bbr1" && state == 3.0;
            let rows = reported(&result, "min_rtt_s").iter().zip(reported(&result, "bbr_state")).skip(warm);
            for (min_rtt, _) in rows.filter(|(_, state)| !is_draining(**state)) {
                assert!((min_rtt - unloaded).abs() < 1e-3, "{cc}: {min_rtt}, unloaded {unloaded}");
            }
        }
    }
}

/// RFC 6675 begins a second recovery if retransmitted segments are still missing at the end of the first. "HighRxt"
/// belongs to the current recovery. The sender transmits these segments a third time, and considers the second
/// transmission lost. BBRv3 is in DOWN by then and counts a round trip with a loss. It therefore cruises at the
/// delivery rate of DOWN. RACK waits for the second transmission.
#[test]
fn losses_that_are_none_slow_bbr3_down() {
    let half = || dumbbell(RATE, RTT, 0.5, &["bbr3"]);
    let repeats = |result: &RunResult| {
        let flow = only_flow(result);
        flow.retransmits as f64 / result.links[0].drops as f64
    };
    let (by_duplicates, by_time) = (half().run(), with_rack(half()).run());
    assert!(repeats(&by_duplicates) > 1.2, "{}", repeats(&by_duplicates));
    assert!((0.95..=1.05).contains(&repeats(&by_time)), "{}", repeats(&by_time));
    let [slow, fast] = [by_duplicates, by_time].map(|result| result.summary.utilization.unwrap());
    assert!(fast > slow + 0.02, "{slow} and {fast}");
}

/// 1 % random loss, with a BDP of 833 segments in flight. BBRv3 keeps its rate below its 2 % threshold, and loses it
/// above. CUBIC keeps the window of RFC 9438's response function.
#[test]
fn random_loss_below_the_threshold_does_not_slow_bbr3_down() {
    let share = |cc: &str, probability: f64| {
        let mut one = with_rack(dumbbell(100_000_000, Duration::from_millis(100), 1.0, &[cc]));
        one.loss = LossPlan::Bernoulli { probability };
        one.duration = Duration::from_secs(60);
        let result = one.run();
        only_flow(&result).goodput_bps / 1e8
    };
    let (below, cubic, above) = (share("bbr3", 0.01), share("cubic", 0.01), share("bbr3", 0.03));
    println!("1 % of random loss: BBRv3 {below:.3} of the rate, CUBIC {cubic:.4}; 3 %: BBRv3 {above:.3}");
    assert!(below >= 0.75, "{below}");
    assert!(above < 0.5 * below, "{above}");
    assert!(below > 50.0 * cubic, "{below} and {cubic}");
}

/// "BBR.max_inflight" bounds the flight once Startup is over. A segment leaves only if it still fits.
#[test]
fn no_more_is_in_flight_than_the_model_allows() {
    for buffer in [0.5, 1.0, 4.0] {
        let mut one = dumbbell(RATE, RTT, buffer, &["bbr3"]);
        let mut plan = one.plan();
        plan.sampling.interval = Some(Duration::from_millis(1));
        plan.duration = Duration::from_secs(30);
        one.duration = plan.duration;
        let result = common::run(&plan);
        let flows = &result.samples.flows;
        let (states, most) = (reported(&result, "bbr_state"), reported(&result, "max_inflight_bytes"));
        let mut checked = 0;
        for row in 1..flows.time_ns.len() {
            let in_flight = f64::from(flows.in_flight_segments[row]) * 1460.0;
            // When a state begins that allows less, what is in flight is more for a round trip.
            let from = row.saturating_sub(130);
            let allowed = most[from..=row].iter().copied().fold(0.0, f64::max);
            if states[row] > 1.0 && states[from] > 1.0 {
                assert!(in_flight <= allowed, "{buffer} BDP, row {row}: {in_flight} of {allowed}");
                checked += 1;
            }
        }
        assert!(checked > 25_000, "{checked}");
    }
}

/// Permuted flows have permuted results, though each draws random numbers: by its name.
#[test]
fn flows_draw_by_their_names() {
    let goodputs = |order: [usize; 3]| {
        let mut three = dumbbell(RATE, RTT, 2.0, &["bbr3", "bbr1", "bbr3"]);
        three.duration = Duration::from_secs(20);
        three.flows = order.map(|index| three.flows[index].clone()).to_vec();
        let result = three.run();
        let mut flows: Vec<_> = result.flows.iter().map(|flow| (flow.name.clone(), flow.sent)).collect();
        flows.sort();
        flows
    };
    assert_eq!(goodputs([0, 1, 2]), goodputs([2, 0, 1]));
}

/// Hock, Bless and Zitterbart 2017, and Ware et al. 2019. A BBRv1 flow ignores losses. It therefore takes nearly all
/// of a link with a shallow buffer from a CUBIC flow. With deep buffers it gets less than half, because two BDPs in
/// flight are few.
#[test]
fn bbr1_is_ahead_of_cubic_in_shallow_buffers_and_behind_in_deep_ones() {
    let mut shares = Vec::new();
    for buffer in [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        let mut two = dumbbell(RATE, RTT, buffer, &["bbr1", "cubic"]);
        two.duration = Duration::from_secs(200);
        two.warmup = Duration::from_secs(20);
        let mut plan = two.plan();
        plan.sampling.interval = None;
        let result = common::run(&plan);
        let goodput = |index: usize| result.flows[index].goodput_bps;
        let share = goodput(0) / (goodput(0) + goodput(1));
        println!("{buffer} BDP beside CUBIC: BBRv1 has {share:.3}");
        shares.push(share);
    }
    assert!(shares[..4].iter().all(|share| *share > 0.6), "{shares:?}");
    assert!(shares[6..].iter().all(|share| *share < 0.5), "{shares:?}");
    assert!(shares[7] < shares[3], "{shares:?}");
}
