//! Queues that separate flows and profiles, in a network.

use std::sync::atomic::AtomicBool;

use ackclock::sim::{self, FlowResult, LinkResult, RunResult};
use ackclock_scenario::Scenario;

fn run(text: &str) -> RunResult {
    let scenario = Scenario::from_toml::<&str>(text, "x", &[]).unwrap();
    sim::run(&scenario.plan(None, 0), &AtomicBool::new(false)).unwrap()
}

/// A dumbbell of 10 Mbit/s with this queue.
fn dumbbell(queue: &str, flows: &str) -> RunResult {
    run(&format!(
        "schema = 1\nduration = '60 s'\nwarmup = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\n\
         delay = '20 ms'\nqueue = {queue}\n{flows}"
    ))
}

fn goodputs<'a>(result: &'a RunResult, group: &'a str) -> impl Iterator<Item = f64> + 'a {
    result.flows.iter().filter(move |flow| *flow.group == *group).map(|flow| flow.goodput_bps)
}

fn link<'a>(result: &'a RunResult, name: &str) -> &'a LinkResult {
    result.links.iter().find(|link| link.name == name).unwrap()
}

fn flow<'a>(result: &'a RunResult, name: &str) -> &'a FlowResult {
    result.flows.iter().find(|flow| *flow.name == *name).unwrap()
}

/// Three algorithms that share a FIFO badly.
const UNLIKE: &str = "[[flows]]\nname = 'a'\ncc = 'aimd'\nrecovery = 'sack'\n\
                      [[flows]]\nname = 'b'\ncc = 'mimd'\nrecovery = 'sack'\n\
                      [[flows]]\nname = 'c'\ncc = { kind = 'aimd', increase = 3, remaining = 0.8 }\nrecovery = 'sack'\n";

#[test]
fn flows_that_take_turns_get_the_same_whatever_their_algorithm() {
    let fifo = dumbbell("'drop-tail'", UNLIKE).summary.jain_index.unwrap();
    assert!(fifo < 0.9, "{fifo}");
    for queue in ["'drr'", "{ kind = 'drr', quantum = '200 B' }", "{ kind = 'sfq', buckets = 1024 }"] {
        let result = dumbbell(queue, UNLIKE);
        assert!(result.summary.jain_index.unwrap() > 0.99, "{queue}: {}", result.summary.jain_index.unwrap());
        assert!(result.summary.utilization.unwrap() > 0.95, "{queue}: {}", result.summary.utilization.unwrap());
    }
}

const BULK: &str = "[[flows]]\nname = 'bulk'\ncount = 4\ncc = 'cubic'\nrecovery = 'sack'\n";

#[test]
fn codel_keeps_delays_near_its_target_and_the_link_busy() {
    for queue in ["'codel'", "{ kind = 'codel', control_law = 'newton' }", "'fq-codel'"] {
        let result = dumbbell(queue, BULK);
        let bottleneck = link(&result, "bottleneck");
        assert!(bottleneck.utilization.unwrap() > 0.95, "{queue}: {:?}", bottleneck.utilization);
        let delay = bottleneck.queue_delay_mean_s.unwrap();
        assert!((0.002..0.015).contains(&delay), "{queue}: {delay} s");
        assert_eq!(bottleneck.reasons.drops[0].1, bottleneck.drops, "{queue}: all drops are for sojourn times");
    }
    let fifo = dumbbell("{ kind = 'drop-tail', limit = '1000 packets' }", BULK);
    assert!(link(&fifo, "bottleneck").queue_delay_mean_s.unwrap() > 0.5);
}

#[test]
fn a_sparse_flow_hardly_waits_behind_fq_codel() {
    let flows = "[[flows]]\nname = 'bulk'\ncount = 10\ncc = 'cubic'\n\
                 [[flows]]\nname = 'sparse'\ntraffic = { kind = 'cbr', rate = '100 kbit/s', packet = '200 B' }\n";
    let delay = |queue: &str| {
        let result = run(&format!(
            "schema = 1\nduration = '20 s'\nwarmup = '5 s'\n[topology]\nkind = 'dumbbell'\nrate = '100 Mbit/s'\n\
             delay = '10 ms'\nqueue = {queue}\n{flows}"
        ));
        // Without propagation and its own transmission of 16 us.
        result.datagrams[0].delay_p99_s.unwrap() - 0.010_016
    };
    let (sparse, fifo) = (delay("'fq-codel'"), delay("'drop-tail'"));
    assert!(sparse < 0.000_5 && fifo > 0.005, "{sparse} s, with drop-tail {fifo} s");
}

#[test]
fn a_token_bucket_shapes_to_its_rate() {
    let result = dumbbell("{ kind = 'tbf', rate = '4 Mbit/s', limit = '40 packets' }", BULK);
    let utilization = link(&result, "bottleneck").utilization.unwrap();
    assert!((utilization - 0.4).abs() < 1e-4, "{utilization}");
}

/// One flow keeps within 4 Mbit/s, and four greedy flows fill the rest.
const PROFILES: &str = "[[flows]]\nname = 'inside'\ncc = 'aimd'\nrecovery = 'sack'\nin_profile = true\n\
                        traffic = { kind = 'rate-limited', rate = '4 Mbit/s' }\n\
                        [[flows]]\nname = 'outside'\ncount = 4\ncc = 'aimd'\nrecovery = 'sack'\n";

#[test]
fn rio_drops_nothing_in_profile_while_out_of_profile_absorbs() {
    let queues = [
        "'rio'",
        "{ kind = 'rio', limit = '20 packets' }",
        "{ kind = 'rio', out = 'drop-tail' }",
        "{ kind = 'rio', limit = '30 kB', out = 'drop-tail', out_max = '1 BDP' }",
    ];
    for queue in queues {
        let result = dumbbell(queue, PROFILES);
        let bottleneck = link(&result, "bottleneck");
        assert_eq!(bottleneck.in_profile_drops, Some(0), "{queue}");
        assert!(bottleneck.drops > 50, "{queue}: {}", bottleneck.drops);
        let inside = flow(&result, "inside");
        assert!((inside.goodput_bps / 4e6 - 1.0).abs() < 0.005, "{queue}: {}", inside.goodput_bps);
        assert_eq!(inside.retransmits, 0, "{queue}");
    }
    let plain = dumbbell("'drop-tail'", PROFILES);
    assert!(flow(&plain, "inside").retransmits > 0 && link(&plain, "bottleneck").in_profile_drops.is_none());
}

/// Topology (b) of reddy-aimd-aiad: place-holders at R0-R1, test flows at R1-R2, cross traffic over both.
fn topology_b(queue: &str) -> RunResult {
    run(&format!(
        "schema = 1\nduration = '60 s'\nwarmup = '10 s'\n\
         [links.r0-r1]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nqueue = 'drr'\n\
         [links.r1-r2]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nqueue = {queue}\n\
         [[flows]]\nname = 'test'\ncount = 3\ncc = 'aimd'\nrecovery = 'sack'\npath = ['r1-r2']\n\
         [[flows]]\nname = 'place-holder'\ncount = 3\ncc = 'aimd'\nrecovery = 'sack'\npath = ['r0-r1']\n\
         [[flows]]\nname = 'cross'\ncount = 2\ncc = 'aimd'\nrecovery = 'sack'\nin_profile = true\n\
         path = ['r0-r1', 'r1-r2']\n"
    ))
}

#[test]
fn cross_traffic_of_topology_b_has_its_fair_share_and_loses_nothing_at_r1() {
    let queues = [
        "{ kind = 'rio', limit = '4 BDP' }",
        "{ kind = 'rio', limit = '4 BDP', out = 'drop-tail', out_max = '1 BDP' }",
        "'drr'",
    ];
    for queue in queues {
        let result = topology_b(queue);
        // Five flows at R0-R1; two of them go on.
        let share = 10e6 / 5.0 * 1460.0 / 1500.0;
        for goodput in goodputs(&result, "cross").chain(goodputs(&result, "place-holder")) {
            assert!((goodput / share - 1.0).abs() < 0.1, "{queue}: {goodput}");
        }
        let r1 = link(&result, "r1-r2");
        assert!(r1.in_profile_drops.is_none_or(|drops| drops == 0), "{queue}: {:?}", r1.in_profile_drops);
        assert!(r1.utilization.unwrap() > 0.9, "{queue}: {:?}", r1.utilization);
        let test: f64 = goodputs(&result, "test").sum();
        assert!(test > 0.8 * 3.0 * share, "{queue}: {test}");
    }
    // Without a profile they lose at R1, too.
    let plain: f64 = goodputs(&topology_b("'drop-tail'"), "cross").sum();
    let kept: f64 = goodputs(&topology_b(queues[0]), "cross").sum();
    assert!(plain < kept, "{plain} {kept}");
}

/// Mean queueing delay in milliseconds of 20 Reno flows at 50 Mbit/s and 50 ms, after 20 s.
fn mean_delay_of_long_flows(queue: &str, ecn: &str) -> f64 {
    let result = run(&format!(
        "schema = 2\nduration = '60 s'\nwarmup = '20 s'\n[topology]\nkind = 'dumbbell'\nrate = '50 Mbit/s'\n\
         delay = '25 ms'\nqueue = {queue}\n[[flows]]\nname = 'long'\ncount = 20\ncc = 'reno'\necn = '{ecn}'\n\
         start = {{ uniform = ['0 s', '2 s'] }}\n"
    ));
    1e3 * link(&result, "bottleneck").queue_delay_mean_s.unwrap()
}

/// `tools/evidence/aqm_targets.py` measures more rates, RTTs and numbers of flows.
#[test]
fn controllers_of_the_delay_hold_their_target() {
    for queue in ["'pie'", "{ kind = 'pie', ecn = true }", "'dualpi2'"] {
        for ecn in ["off", "classic"] {
            let delay = mean_delay_of_long_flows(queue, ecn);
            assert!((12.0..=18.0).contains(&delay), "{queue}, ecn {ecn}: {delay} ms for a target of 15 ms");
        }
    }
}

/// Three long flows of two hosts, and one sparse flow.
const HOUSEHOLD: &str = "[[flows]]\nname = 'many'\ncount = 3\ncc = 'cubic'\ndestination_host = 'laptop'\n\
                         [[flows]]\nname = 'one'\ncc = 'cubic'\ndestination_host = 'phone'\n";

#[test]
fn cake_shares_its_bandwidth_between_hosts() {
    let run_with = |queue: &str| {
        run(&format!(
            "schema = 2\nduration = '30 s'\nwarmup = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '100 Mbit/s'\n\
             delay = '10 ms'\nqueue = {queue}\n{HOUSEHOLD}"
        ))
    };
    let result = run_with("{ kind = 'cake', bandwidth = '10 Mbit/s' }");
    let (many, one) = (goodputs(&result, "many").sum::<f64>(), goodputs(&result, "one").sum::<f64>());
    assert!((many / one - 1.0).abs() < 0.1, "{many} {one}");
    let rate = 8.0 * link(&result, "bottleneck").forwarded as f64 * 1500.0 / 20.0;
    assert!((9.5e6..=10.1e6).contains(&rate), "{rate}");
    assert!(link(&result, "bottleneck").queue_delay_mean_s.unwrap() < 0.015);
    let flows = run_with("{ kind = 'cake', bandwidth = '10 Mbit/s', isolation = 'flows' }");
    let ratio = goodputs(&flows, "many").sum::<f64>() / goodputs(&flows, "one").sum::<f64>();
    assert!((2.7..3.3).contains(&ratio), "{ratio}");
}

#[test]
fn an_ack_filter_shortens_the_queue_of_a_slow_reverse_path() {
    // 20 Mbit/s of data need 800 ACKs of 40 B a second, more than 200 kbit/s carry.
    let run_with = |filter: &str| {
        run(&format!(
            "schema = 2\nduration = '30 s'\nwarmup = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '20 Mbit/s'\n\
             delay = '10 ms'\nreverse = {{ rate = '200 kbit/s', queue = {{ kind = 'cake', ack_filter = '{filter}' }} }}\n\
             [[flows]]\nname = 'long'\ncc = 'cubic'\n"
        ))
    };
    let (off, on) = (run_with("off"), run_with("on"));
    let delay = |result: &RunResult| link(result, "bottleneck.reverse").queue_delay_mean_s.unwrap();
    // Two ACKs of the flow are queued at the most, of 2.1 ms each.
    assert!(delay(&on) < 0.0045 && delay(&off) > 1.2 * delay(&on), "{} {}", delay(&on), delay(&off));
    let filtered = |result: &RunResult| {
        let drops = &link(result, "bottleneck.reverse").reasons.drops;
        drops.iter().find(|(reason, _)| reason.name() == "ack_filter").map(|(_, count)| *count)
    };
    assert_eq!(filtered(&off), Some(0));
    assert!(filtered(&on).unwrap() > 100);
}

#[test]
fn classes_separate_groups_of_flows() {
    let shares = |queue: &str| {
        let result =
            dumbbell(queue, "[[flows]]\nname = 'a'\ncc = 'cubic'\n[[flows]]\nname = 'b'\ncount = 4\ncc = 'cubic'\n");
        (goodputs(&result, "a").sum::<f64>(), goodputs(&result, "b").sum::<f64>())
    };
    let fifo = "{ kind = 'drop-tail', limit = '100 packets' }";
    let (a, b) = shares(&format!(
        "{{ kind = 'wrr', class = [{{ flows = ['a'], weight = 3, queue = {fifo} }}, {{ queue = {fifo} }}] }}"
    ));
    assert!((a / b - 3.0).abs() < 0.3, "{a} {b}");
    let (a, b) = shares("{ kind = 'prio', class = [{ flows = ['b'], queue = 'codel' }, { queue = 'codel' }] }");
    assert!(b > 10.0 * a, "{a} {b}");
    let shaper = "{ kind = 'tbf', rate = '2 Mbit/s', queue = 'codel' }";
    let (a, _) =
        shares(&format!("{{ kind = 'prio', class = [{{ flows = ['a'], queue = {shaper} }}, {{ queue = 'codel' }}] }}"));
    assert!((1.7e6..2.05e6).contains(&a), "{a}");
}
