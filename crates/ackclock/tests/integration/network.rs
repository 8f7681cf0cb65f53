//! Small networks: properties that every run must satisfy, for all algorithms.

use std::sync::atomic::AtomicBool;

use crate::common::{Dumbbell, run};
use ackclock::cc::{CcContext, CcSpec, algorithms};
use ackclock::sim::{self, ImpairmentsPlan, LossPlan, QueueLimit, QueuePlan, RunError, RunResult, Traffic};
use ackclock::transport::LossRecovery;
use ackclock::units::{Duration, Rate};

const RECOVERIES: [LossRecovery; 4] =
    [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack];

/// 5 Mbit/s, 60 ms, a buffer of 25 packets: one bandwidth-delay product.
fn small(flows: usize) -> Dumbbell {
    let mut dumbbell = Dumbbell::new(5_000_000, Duration::from_millis(60), 25, flows);
    dumbbell.duration = Duration::from_secs(30);
    dumbbell.warmup = Duration::from_secs(5);
    for (index, (_, setup)) in dumbbell.flows.iter_mut().enumerate() {
        setup.start = Duration::from_millis(137 * index as u64);
    }
    dumbbell
}

fn with_recovery(mut dumbbell: Dumbbell, recovery: LossRecovery) -> Dumbbell {
    for (_, setup) in &mut dumbbell.flows {
        setup.transport.recovery = recovery;
    }
    dumbbell
}

fn bottleneck(result: &RunResult) -> &ackclock::sim::LinkResult {
    result.links.iter().find(|link| link.name == "bottleneck").unwrap()
}

#[test]
fn every_algorithm_under_every_recovery_keeps_within_the_bounds() {
    for info in algorithms() {
        for recovery in RECOVERIES {
            let mut dumbbell = with_recovery(small(2), recovery);
            for (_, setup) in &mut dumbbell.flows {
                setup.cc = info.defaults.clone();
            }
            let result = dumbbell.run();
            let name = format!("{} under {}", info.name, recovery.name());
            let summary = &result.summary;
            // With a buffer of a bandwidth-delay product a halved window still fills the link.
            let fills = matches!(recovery, LossRecovery::NewReno | LossRecovery::Sack) && info.name == "aimd";
            let least = if fills { 0.97 } else { 0.5 };
            assert!(
                summary.utilization.unwrap() > least && summary.utilization.unwrap() <= 1.0001,
                "{name}: {}",
                summary.utilization.unwrap()
            );
            // 1460 bytes of payload in packets of 1500; and a hole filled just after the warm-up delivers at once
            // what arrived before, two windows of 50 segments at the most.
            let most = 5e6 * 1460.0 / 1500.0 + 100.0 * 1460.0 * 8.0 / 25.0;
            assert!(summary.goodput_bps.unwrap() <= most, "{name}: {}", summary.goodput_bps.unwrap());
            for flow in &result.flows {
                // Nothing is measured where every ACK of new data ends a recovery: Karn rules all of them out.
                assert!(flow.rtt_mean_s.is_none_or(|rtt| rtt >= flow.base_rtt_s), "{name}: RTT below the base");
                assert!(
                    flow.cwnd_mean_segments.unwrap() >= 1.0 && flow.cwnd_mean_segments.unwrap().is_finite(),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn reno_is_aimd_by_its_common_name() {
    let results = ["reno", "aimd"].map(|name| {
        let mut dumbbell = small(2);
        for (_, setup) in &mut dumbbell.flows {
            setup.cc = CcSpec::by_name(name).unwrap();
        }
        dumbbell.run()
    });
    let [reno, aimd] = &results;
    assert_eq!((&*reno.flows[0].cc, &*aimd.flows[0].cc), ("reno", "aimd"));
    assert_eq!(reno.summary, aimd.summary);
    assert_eq!(bottleneck(reno).drops, bottleneck(aimd).drops);
}

#[test]
fn the_histogram_of_waits_holds_every_forwarded_packet_and_its_percentile() {
    let result = small(2).run();
    let link = bottleneck(&result);
    let delays = &link.queue_delays;
    assert_eq!(delays.packets.iter().sum::<u64>(), link.forwarded);
    assert!(delays.up_to_ns.is_sorted() && delays.packets.iter().all(|count| *count > 0));
    let mut below = 0.0;
    let p95 = delays.up_to_ns.iter().zip(&delays.packets).find(|(_, count)| {
        below += **count as f64;
        below >= 0.95 * link.forwarded as f64
    });
    assert_eq!(*p95.unwrap().0 as f64 / 1e9, link.queue_delay_p95_s.unwrap());
}

#[test]
fn better_recovery_gives_more_goodput_under_heavy_loss() {
    let goodput = |recovery| {
        let mut dumbbell = with_recovery(small(1), recovery);
        dumbbell.loss = LossPlan::Bernoulli { probability: 0.03 };
        dumbbell.duration = Duration::from_secs(400);
        dumbbell.run().summary.goodput_bps.unwrap()
    };
    let [tahoe, reno, newreno, sack] = RECOVERIES.map(goodput);
    assert!(sack > newreno && newreno > reno && newreno > tahoe, "{tahoe} {reno} {newreno} {sack}");
}

#[test]
fn a_transfer_of_any_size_arrives_whole_under_every_recovery_and_loss() {
    for recovery in RECOVERIES {
        for (bytes, probability) in
            [(1, 0.0), (1459, 0.1), (1461, 0.1), (100_000, 0.0), (100_000, 0.05), (300_001, 0.2)]
        {
            let mut dumbbell = with_recovery(small(1), recovery);
            dumbbell.warmup = Duration::ZERO;
            dumbbell.duration = Duration::from_secs(3600);
            dumbbell.loss = LossPlan::Bernoulli { probability };
            dumbbell.flows[0].1.traffic = Traffic::Transfer { bytes };
            let result = dumbbell.run();
            let flow = &result.flows[0];
            let delivered = (flow.delivered_bps * 3600.0 / 8.0).round() as u64;
            assert_eq!(delivered, bytes, "{} bytes, loss {probability}, {}", bytes, recovery.name());
            assert!(flow.completion_time_s.unwrap() >= flow.base_rtt_s);
            assert_eq!(flow.loss_rate.unwrap() == 0.0, flow.retransmits == 0);
        }
    }
}

#[test]
fn packets_are_conserved_at_the_bottleneck() {
    let mut dumbbell = small(3);
    dumbbell.warmup = Duration::ZERO;
    let result = dumbbell.run();
    let link = bottleneck(&result);
    let sent: u64 = result.flows.iter().map(|flow| flow.sent).sum();
    assert!(link.drops > 0);
    // What has not arrived yet is on the access links: less than their bandwidth-delay product.
    assert!(sent >= link.arrivals && sent - link.arrivals < 50, "{sent} sent, {} arrived", link.arrivals);
    let waiting = link.arrivals - link.drops - link.forwarded;
    assert!(waiting <= 25, "{waiting} are queued in a queue of 25");
}

#[test]
fn a_rate_limited_application_gets_its_rate_and_does_not_grow_its_window() {
    let mut dumbbell = small(1);
    dumbbell.flows[0].1.traffic = Traffic::RateLimited { rate: Rate::from_bps(1_000_000).unwrap() };
    let result = dumbbell.run();
    assert!((result.summary.goodput_bps.unwrap() / 1e6 - 1.0).abs() < 0.01, "{}", result.summary.goodput_bps.unwrap());
    // 1 Mbit/s in 60 ms are 5 segments.
    assert!(result.flows[0].cwnd_mean_segments.unwrap() < 12.0, "{}", result.flows[0].cwnd_mean_segments.unwrap());
}

#[test]
fn the_receivers_window_bounds_what_is_in_flight() {
    let mut dumbbell = small(1);
    dumbbell.flows[0].1.transport.max_window = Some(10);
    let result = dumbbell.run();
    // Ten segments in a round trip of 60 ms and a packet's time on each link.
    let ideal = 10.0 * 1460.0 * 8.0 / 0.063;
    assert!(
        (result.summary.goodput_bps.unwrap() / ideal - 1.0).abs() < 0.02,
        "{} {ideal}",
        result.summary.goodput_bps.unwrap()
    );
    assert_eq!(result.flows[0].retransmits, 0);
    assert!(result.samples.flows.in_flight_segments.iter().all(|in_flight| *in_flight <= 10));
    assert!(result.flows[0].cwnd_mean_segments.unwrap() < 12.0, "a window that is not used does not grow");
}

#[test]
fn delayed_acks_halve_the_acks_and_slow_the_growth() {
    let acks = |delayed_ack| {
        let mut dumbbell = small(1);
        dumbbell.flows[0].1.transport.delayed_ack = delayed_ack;
        let result = dumbbell.run();
        let reverse = result.links.iter().find(|link| link.name == "bottleneck.reverse").unwrap();
        assert!(result.summary.utilization.unwrap() > 0.95);
        reverse.arrivals as f64 / bottleneck(&result).forwarded as f64
    };
    assert!((acks(None) - 1.0).abs() < 0.01);
    assert!((acks(Some(Duration::from_millis(100))) - 0.5).abs() < 0.02);
}

#[test]
fn a_flow_that_stops_leaves_its_share_to_the_others() {
    let mut dumbbell = small(2);
    dumbbell.duration = Duration::from_secs(60);
    dumbbell.warmup = Duration::from_secs(40);
    dumbbell.flows[1].1.stop = Some(Duration::from_secs(30));
    let result = dumbbell.run();
    assert!(result.flows[0].goodput_bps > 0.93 * 5e6);
    assert_eq!(result.flows[1].goodput_bps, 0.0);
}

#[test]
fn a_peer_without_sack_makes_a_sack_sender_behave_as_reno() {
    let mut plain = with_recovery(small(2), LossRecovery::Reno);
    let mut refused = with_recovery(small(2), LossRecovery::Sack);
    for dumbbell in [&mut plain, &mut refused] {
        for (_, setup) in &mut dumbbell.flows {
            setup.transport.peer_sack = false;
        }
    }
    let (plain, refused) = (plain.run(), refused.run());
    assert_eq!(plain.summary, refused.summary);
}

#[test]
fn the_same_plan_gives_the_same_result() {
    let mut dumbbell = small(4);
    dumbbell.loss = LossPlan::Bernoulli { probability: 0.001 };
    let (one, two) = (dumbbell.run(), dumbbell.run());
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    dumbbell.seed += 1;
    assert_ne!(one.summary, dumbbell.run().summary);
}

/// Handing packets over ahead of time is an optimisation: a link that cannot do it gives the same run.
#[test]
fn deliveries_ahead_of_time_change_no_result() {
    let loss = LossPlan::Bernoulli { probability: 0.002 };
    let lossy = ImpairmentsPlan { loss, ..ImpairmentsPlan::default() };
    let jitter = Duration::from_millis(1);
    let impaired = ImpairmentsPlan { jitter, duplication: 0.002, corruption: 0.002, ..lossy.clone() };
    for flows in [1, 3] {
        for impairments in [&lossy, &impaired] {
            ahead_or_event_by_event(flows, impairments);
        }
    }
}

fn ahead_or_event_by_event(flows: usize, impairments: &ImpairmentsPlan) {
    let mut plan = small(flows).plan();
    for link in &mut plan.links {
        link.impairments = impairments.clone();
    }
    let ahead = run(&plan);
    // A flow that never starts and crosses everything in one path: no link has a single feeder any more.
    let mut witness = plan.flows[0].clone();
    witness.name = "witness".into();
    witness.start = ackclock::units::Instant::ZERO + plan.duration * 2;
    witness.forward = plan.link_ids().rev().collect();
    witness.reverse = plan.link_ids().collect();
    plan.flows.push(witness);
    let event_by_event = run(&plan);
    assert!(event_by_event.events > ahead.events);
    assert_eq!(event_by_event.flows[..flows], ahead.flows[..]);
    assert_eq!(event_by_event.links[0], ahead.links[0]);
    assert_eq!(event_by_event.samples.links.forwarded_bytes, ahead.samples.links.forwarded_bytes);
    assert_eq!(event_by_event.samples.links.backlog_packets, ahead.samples.links.backlog_packets);
}

#[test]
fn samples_cover_the_run_and_agree_with_the_counters() {
    let dumbbell = small(2);
    let result = dumbbell.run();
    let samples = &result.samples;
    assert_eq!(samples.flows.time_ns.len(), 2 * 1001);
    assert_eq!(samples.links.time_ns.len(), 2 * 1001);
    let last = samples.links.forwarded_bytes[2 * 1000];
    assert!(last > 0 && samples.links.backlog_packets.iter().all(|backlog| *backlog <= 25));
    let total = result.packets_forwarded * 1500;
    assert!(total.abs_diff(last) <= 1500, "{total} {last}");
}

#[test]
fn drops_of_an_access_queue_are_counted_for_its_flow() {
    let dumbbell = small(2);
    let mut plan = dumbbell.plan();
    let narrow = plan.links.iter_mut().find(|link| link.name == "flow0.source").unwrap();
    narrow.rate = Rate::from_bps(1_000_000);
    narrow.queue = QueuePlan::drop_tail(QueueLimit::Packets(5));
    let result = run(&plan);
    assert!(result.flows[0].access_drops > 0);
    assert_eq!(result.flows[1].access_drops, 0);
    // What was sent came to the bottleneck or was dropped before it; few packets are in flight at either end.
    let sent: u64 = result.flows.iter().map(|flow| flow.sent).sum();
    let seen = bottleneck(&result).arrivals + result.flows[0].access_drops;
    assert!(sent.abs_diff(seen) < 50, "{sent} sent, {seen} seen");
}

#[test]
fn a_window_without_bound_ends_the_run_with_an_error_that_names_the_flow() {
    for window in [1e5, 1e300] {
        let mut plan = small(2).plan();
        for link in &mut plan.links {
            link.queue = QueuePlan::drop_tail(QueueLimit::Packets(100));
        }
        plan.flows[1].cc_context = CcContext::new(window).into();
        let error = sim::run(&plan, &AtomicBool::new(false)).unwrap_err();
        let is_expected = matches!(&error, RunError::TooMuchInFlight { flow, limit: 65_536, at }
            if *flow == *plan.flows[1].name && *at == Duration::from_millis(137));
        assert!(is_expected, "{error:?}");
        assert!(error.to_string().starts_with("flow flow1 has 65536 segments in flight at 137 ms"), "{error}");
    }
}
