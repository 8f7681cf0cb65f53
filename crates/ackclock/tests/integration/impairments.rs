//! Links that lose, delay, reorder, double and corrupt: in networks, and as a scenario says it.

use std::sync::Arc;

use crate::common::{Dumbbell, run};
use ackclock::cc::CcSpec;
use ackclock::contract::check_run;
use ackclock::probe::PacketEvent;
use ackclock::sim::{
    ChannelState, ImpairmentCounts, ImpairmentsPlan, LossPlan, Plan, ReorderingPlan, RunResult, Traffic,
};
use ackclock::transport::{LossRecovery, Undo};
use ackclock::units::Duration;
use ackclock_scenario::Scenario;

/// 5 Mbit/s, 60 ms, a buffer of a bandwidth-delay product: 25 packets.
fn small(flows: usize) -> Dumbbell {
    Dumbbell::new(5_000_000, Duration::from_millis(60), 25, flows)
}

/// The bottleneck of a dumbbell with these keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "schema = 1\nduration = \"20 s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"5 Mbit/s\"\ndelay = \"30 ms\"\n{keys}\n\
         [[flows]]\nname = \"test\"\ncc = \"aimd\"\n"
    );
    Scenario::from_toml::<&str>(&text, "impaired.toml", &[]).unwrap()
}

fn gilbert_elliott(good: (f64, f64), bad: (f64, f64)) -> LossPlan {
    let state = |(loss, leave)| ChannelState { loss, leave };
    LossPlan::GilbertElliott { good: state(good), bad: state(bad) }
}

/// The initial RTO is 1 s and doubles up to 60 s. Timeouts occur at 1, 3, 7, 15, 31, 63, 123 and 183 s, and little
/// else happens.
fn check_back_off(result: &RunResult) {
    assert_eq!(result.flows[0].timeouts, 8);
    assert!(result.flows[0].sent < 20, "{} segments", result.flows[0].sent);
    assert!(result.events < 1100, "{} events, 1001 of them samples", result.events);
}

#[test]
fn a_link_that_loses_everything_ends_in_exponential_back_off() {
    let everything = [
        LossPlan::Bernoulli { probability: 1.0 },
        LossPlan::BitErrors { probability: 1.0 },
        gilbert_elliott((1.0, 0.1), (1.0, 0.1)),
        LossPlan::Periodic { period: 1, offset: 0 },
    ];
    for loss in everything {
        let mut dumbbell = small(1);
        dumbbell.loss = loss;
        dumbbell.warmup = Duration::ZERO;
        dumbbell.duration = Duration::from_secs(200);
        let result = dumbbell.run();
        check_back_off(&result);
        assert_eq!(result.summary.goodput_bps.unwrap(), 0.0);
        assert_eq!(result.summary.loss_rate.unwrap(), 1.0);
    }
}

#[test]
fn so_does_a_way_back_on_which_every_ack_is_lost() {
    let mut dumbbell = small(1);
    dumbbell.warmup = Duration::ZERO;
    dumbbell.duration = Duration::from_secs(200);
    let mut plan = dumbbell.plan();
    plan.links[1].impairments.loss = LossPlan::Bernoulli { probability: 1.0 };
    let result = run(&plan);
    check_back_off(&result);
    let flow = &result.flows[0];
    assert_eq!((flow.lost, flow.arrived), (0, flow.sent));
    assert!(flow.acks_lost > 0 && flow.acknowledged_bytes == 0);
    // The window at the start arrives, and nobody knows.
    assert!(result.summary.goodput_bps.unwrap() > 0.0);
}

#[test]
fn losses_of_a_run_are_those_of_the_closed_forms() {
    // 1 - (1 - 1e-6)^12000 = 0.011 928; 0.01/(0.01 + 0.4) = 0.024 390.
    let cases = [
        (LossPlan::BitErrors { probability: 1e-6 }, 0.011_928, 1.0),
        // States k packets apart are correlated by (1 - p - r)^k: the variance is 1 + 2 (1 - p - r)/(p + r) times as large.
        (gilbert_elliott((0.0, 0.01), (1.0, 0.4)), 0.024_390, 1.0 + 2.0 * 0.59 / 0.41),
    ];
    for (loss, expected, correlation) in cases {
        let mut dumbbell = small(2);
        dumbbell.duration = Duration::from_secs(2000);
        dumbbell.loss = loss.clone();
        let result = dumbbell.run();
        let link = &result.links[0];
        let packets = link.forwarded as f64;
        let rate = link.losses as f64 / packets;
        let error = (correlation * expected * (1.0 - expected) / packets).sqrt();
        assert!(packets > 1e5 && (rate - expected).abs() < 3.0 * error, "{loss:?}: {rate} +- {error}");
    }
}

/// A flow with a window of 20 segments, which always fits the buffer. The bottleneck has these impairments in both
/// directions.
fn undropped(forward: &ImpairmentsPlan, reverse: &ImpairmentsPlan) -> Plan {
    let mut dumbbell = small(1);
    dumbbell.warmup = Duration::ZERO;
    dumbbell.flows[0].1.transport.max_window = Some(20);
    let mut plan = dumbbell.plan();
    plan.links[0].impairments = forward.clone();
    plan.links[1].impairments = reverse.clone();
    plan
}

fn impairments(result: &RunResult, link: usize) -> ImpairmentCounts {
    result.links[link].impairments.expect("the link impairs packets")
}

fn sound() -> ImpairmentsPlan {
    ImpairmentsPlan::default()
}

#[test]
fn jitter_in_order_causes_no_retransmission_and_jitter_that_reorders_does() {
    // Eight packets' time.
    let jitter = ImpairmentsPlan { jitter: Duration::from_millis(20), ..sound() };
    let in_order = run(&undropped(&jitter, &jitter));
    assert!(in_order.flows[0].sent > 10_000);
    assert_eq!((in_order.flows[0].retransmits, in_order.flows[0].timeouts), (0, 0));
    assert_eq!(in_order.links[0].impairments, None);
    let free = ImpairmentsPlan { jitter_reorders: true, ..jitter };
    let result = run(&undropped(&free, &free));
    assert!(result.flows[0].retransmits > 100 && result.links[0].losses + result.links[0].drops == 0);
    assert!(impairments(&result, 0).reordered > 1000);
}

#[test]
fn packets_held_back_long_enough_are_taken_for_lost() {
    let held_back = |millis| {
        let reordering = Some(ReorderingPlan { probability: 0.01, delay: Duration::from_millis(millis) });
        run(&undropped(&ImpairmentsPlan { reordering, ..sound() }, &sound())).flows[0].clone()
    };
    // A packet takes 2.4 ms: one that is overtaken by two others gives two duplicate ACKs, not three.
    assert_eq!(held_back(6).retransmits, 0);
    assert!(held_back(12).retransmits > 50);
}

#[test]
fn what_was_late_and_not_lost_is_undone_where_timestamps_or_duplicates_show_it() {
    let flow = |impairments: &ImpairmentsPlan, recovery, undo| {
        let mut plan = undropped(impairments, &sound());
        plan.flows[0].cc = CcSpec::by_name("cubic").unwrap().into();
        let transport = Arc::make_mut(&mut plan.flows[0].transport);
        (transport.recovery, transport.timestamps, transport.dsack) = (recovery, true, true);
        transport.undo = undo;
        let result = run(&plan).flows[0].clone();
        (result.goodput_bps, result.retransmits, result.sent)
    };
    let late = Some(ReorderingPlan { probability: 0.01, delay: Duration::from_millis(12) });
    let late = ImpairmentsPlan { reordering: late, ..sound() };
    let lossy = ImpairmentsPlan { loss: LossPlan::Bernoulli { probability: 0.01 }, ..sound() };
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let without = flow(&late, recovery, Undo::None);
        for undo in [Undo::Eifel, Undo::Dsack, Undo::Both] {
            let with = flow(&late, recovery, undo);
            // Duplicates show it a round trip later than timestamps.
            let least = if undo == Undo::Eifel { 1.2 } else { 1.1 };
            assert!(with.0 > least * without.0, "{} {undo:?}: {with:?}, {without:?}", recovery.name());
            // Where everything that is sent again was lost, nothing is undone.
            let found = flow(&lossy, recovery, undo);
            assert_eq!(found, flow(&lossy, recovery, Undo::None), "{} {undo:?}", recovery.name());
        }
    }
}

#[test]
fn duplicates_do_no_harm() {
    let twice = ImpairmentsPlan { duplication: 0.2, ..sound() };
    for recovery in [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        for (forward, reverse) in [(&twice, &sound()), (&sound(), &twice), (&twice, &twice)] {
            let mut plan = undropped(forward, reverse);
            Arc::make_mut(&mut plan.flows[0].transport).recovery = recovery;
            plan.flows[0].traffic = Traffic::Transfer { bytes: 1_000_001 };
            let result = run(&plan);
            let delivered = result.flows[0].delivered_bps * plan.duration.as_secs_f64() / 8.0;
            assert_eq!(delivered.round(), 1_000_001.0, "{}", recovery.name());
            assert!(result.flows[0].completion_time_s.is_some());
            assert!(result.totals.duplicated.packets > 100);
            // Only three duplicate ACKs that report nothing new look like a loss, and only without SACK.
            if recovery == LossRecovery::Sack {
                assert_eq!(result.flows[0].retransmits, 0);
            }
        }
    }
}

#[test]
fn what_arrives_corrupted_is_discarded_and_counted_apart() {
    let corrupted = ImpairmentsPlan { corruption: 0.02, ..sound() };
    let mut plan = undropped(&corrupted, &corrupted);
    plan.sampling.packets = true;
    let result = run(&plan);
    let (flow, totals) = (&result.flows[0], &result.totals);
    assert_eq!((totals.lost.packets, totals.dropped.packets), (0, 0));
    let corrupted = flow.corrupted + flow.acks_corrupted;
    assert_eq!(corrupted, totals.corrupted.packets);
    assert!(corrupted > 200 && flow.retransmits > 100 && flow.lost == 0);
    let at_links = impairments(&result, 0).corruptions + impairments(&result, 1).corruptions;
    // The last few are in flight beyond the bottleneck.
    assert!(at_links - corrupted < 3, "{at_links} at links, {corrupted} at hosts");
    let traced = result.samples.trace.event.iter().filter(|event| **event == PacketEvent::Discard as u8).count();
    assert_eq!(traced as u64, corrupted);
}

fn everything() -> ImpairmentsPlan {
    ImpairmentsPlan {
        ack_thinning: Some(3),
        aggregation: Some((Duration::from_millis(2), 10)),
        jitter: Duration::from_millis(3),
        jitter_reorders: true,
        reordering: Some(ReorderingPlan { probability: 0.02, delay: Duration::from_millis(10) }),
        loss: gilbert_elliott((0.001, 0.01), (0.3, 0.2)),
        duplication: 0.02,
        corruption: 0.01,
        ..sound()
    }
}

#[test]
fn everything_at_once_on_every_link_is_conserved_and_happens_again_in_the_same_way() {
    let mut plan = small(3).plan();
    // The thinned ACKs slow the flows down.
    plan.duration = plan.duration * 16;
    plan.sampling.packets = true;
    for link in &mut plan.links {
        link.impairments = everything();
    }
    let result = check_run("impaired", &plan).unwrap();
    let totals = &result.totals;
    for part in [totals.duplicated, totals.corrupted, totals.lost, totals.delivered] {
        assert!(part.packets > 100, "{totals:?}");
    }
    assert_eq!(format!("{result:?}"), format!("{:?}", run(&plan)));
    plan.seed += 1;
    assert_ne!(result.summary, run(&plan).summary);
}

#[test]
fn a_scenario_says_how_a_link_loses() {
    let loss = |keys: &str| scenario(keys).plan(None, 0).links[0].impairments.loss.clone();
    assert_eq!(loss("loss = { kind = 'bit-errors', probability = 1e-6 }"), LossPlan::BitErrors { probability: 1e-6 });
    assert_eq!(
        loss("loss = { kind = 'gilbert-elliott', p = 0.01, r = 0.4 }"),
        gilbert_elliott((0.0, 0.01), (1.0, 0.4))
    );
    let bursts = "loss = { kind = 'gilbert-elliott', p = 0.01, r = 0.4, loss_good = 0.001, loss_bad = 0.5 }";
    let bursts = scenario(bursts);
    assert_eq!(bursts.plan(None, 0).links[0].impairments.loss, gilbert_elliott((0.001, 0.01), (0.5, 0.4)));
    assert_eq!(bursts.describe().links[0].loss, "gilbert-elliott, p 0.01, r 0.4, loss 0.001 or 0.5");
    let again = Scenario::from_json::<&str>(&bursts.resolved_json(), "resolved", &[]).unwrap();
    assert_eq!((again.document(), again.hash()), (bursts.document(), bursts.hash()));
}

#[test]
fn losses_without_luck_are_not_random() {
    let cases = [
        ("kind = 'bit-errors', probability = 1e-9", true),
        ("kind = 'bit-errors', probability = 1", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0.1", true),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0.1, loss_good = 1", false),
        ("kind = 'gilbert-elliott', p = 0, r = 0.1", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0, loss_bad = 0.9", true),
    ];
    for (loss, is_random) in cases {
        assert_eq!(scenario(&format!("loss = {{ {loss} }}")).is_random(), is_random, "{loss}");
    }
}

#[test]
fn what_one_hardly_means_is_warned_of() {
    let warnings = |keys: &str| scenario(keys).describe().warnings;
    let link = "bottleneck.reverse";
    for (keys, expected) in [
        (
            "loss = { kind = 'bernoulli', probability = 1 }",
            format!("loss = 1 means 100 % loss on {link}; for one percent write 0.01 (or --loss 1%)"),
        ),
        ("loss = { kind = 'periodic', period = 1 }", format!("{link} delivers nothing: it loses every packet")),
        (
            "corruption = 1",
            format!("corruption = 1 means that {link} corrupts every packet; for one percent write 0.01"),
        ),
    ] {
        assert_eq!(warnings(&format!("reverse.{keys}")), [expected]);
    }
    assert_eq!(warnings("access.jitter_reorders = true"), ["every access link has jitter_reorders, but no jitter"]);
    assert!(warnings("jitter = '1 ms'\njitter_reorders = true\ncorruption = 0.9").is_empty());
}

#[test]
fn a_scenario_says_what_goes_wrong_on_any_link_and_direction() {
    let keys = "duplication = 0.1\nreverse = { jitter = '1 ms', jitter_reorders = true }\n\
                [topology.access]\ncorruption = 0.2\nreordering = { probability = 0.3, delay = '4 ms' }";
    let scenario = scenario(keys);
    let described = scenario.describe();
    let link = |name: &str| described.links.iter().find(|link| link.name == name).unwrap();
    assert_eq!(link("bottleneck").impairments, ["duplication, probability 0.1"]);
    assert_eq!(link("bottleneck.reverse").impairments, ["jitter reorders"]);
    assert_eq!(link("bottleneck.reverse").jitter_s, 0.001);
    for part in ["source", "source.reverse", "destination", "destination.reverse"] {
        let expected = ["reordering, probability 0.3, by 4 ms", "corruption, probability 0.2"];
        assert_eq!(link(&format!("test.{part}")).impairments, expected);
    }
    assert_eq!(
        described.random_inputs,
        [
            "duplication of bottleneck: probability 0.1",
            "delay of bottleneck.reverse: uniform, 0 to 1 ms more",
            "reordering of every access link: probability 0.3",
            "corruption of every access link: probability 0.2",
        ]
    );
    let again = Scenario::from_json::<&str>(&scenario.resolved_json(), "resolved", &[]).unwrap();
    assert_eq!((again.document(), again.hash()), (scenario.document(), scenario.hash()));
}

#[test]
fn a_link_has_one_jitter() {
    let text = "schema = 1\nduration = '1 s'\ntransport.send_jitter = '1 packet'\n[topology]\nkind = 'dumbbell'\n\
                rate = '5 Mbit/s'\ndelay = '30 ms'\naccess = { jitter = '1 ms' }\n[[flows]]\ncc = 'aimd'\n";
    let error = Scenario::from_toml::<&str>(text, "x.toml", &[]).unwrap_err().to_string();
    let expected = "x.toml:3: transport.send_jitter: the access links have a jitter of their own; write one of the two";
    assert_eq!(error, expected);
}

#[test]
fn aggregation_sends_packets_in_bursts_and_keeps_their_order() {
    let every = Duration::from_millis(10);
    let bursts = ImpairmentsPlan { aggregation: Some((every, u32::MAX)), ..sound() };
    let result = run(&undropped(&bursts, &sound()));
    assert!(result.flows[0].sent > 10_000);
    assert_eq!((result.flows[0].retransmits, result.links[0].losses), (0, 0));
    let rtt = |result: &RunResult| result.flows[0].rtt_mean_s.unwrap();
    let longer = rtt(&result) - rtt(&run(&undropped(&sound(), &sound())));
    // Half of a period on average, and less where bursts fill the window.
    assert!((0.0..=0.011).contains(&longer), "{longer}");
}

#[test]
fn thinned_acks_are_at_most_as_many_as_asked_for() {
    let thin = ImpairmentsPlan { ack_thinning: Some(4), ..sound() };
    let (thinned, plain) = (run(&undropped(&sound(), &thin)), run(&undropped(&sound(), &sound())));
    // ACKs come 4.8 ms apart, and one is kept after 10 ms at the latest.
    let lost = thinned.links[1].losses as f64 / thinned.links[1].arrivals as f64;
    assert!((0.6..=0.75).contains(&lost), "{lost}");
    assert_eq!(plain.links[1].losses, 0);
    // A window of 20 segments is a little below the BDP, so the sender sometimes waits for the next ACK.
    let (thinned, plain) = (&thinned.flows[0], &plain.flows[0]);
    assert_eq!((thinned.timeouts, thinned.retransmits), (0, 0));
    assert!((0.8..1.0).contains(&(thinned.goodput_bps / plain.goodput_bps)), "{}", thinned.goodput_bps);
}
