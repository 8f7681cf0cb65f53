//! Metamorphic tests: runs with irrelevant differences give the same results.

use std::sync::Arc;

use crate::common::{Dumbbell, FlowSetup, run};
use ackclock::cc::{Ack, Algorithm, CcSpec, Congestion, CongestionControl, algorithms};
use ackclock::contract::random_plan;
use ackclock::sim::{
    self, DatagramResult, Emission, FlowPlan, FlowResult, LinkId, LossPlan, Plan, QueuePlan, RunResult, Sampling,
    Summary, Traffic,
};
use ackclock::transport::{LossRecovery, Transport};
use ackclock::units::{Duration, Rate};

/// Random networks of each test.
const CASES: u64 = 40;

fn plans() -> impl Iterator<Item = Plan> {
    (0..CASES).map(|case| {
        let specs = algorithms();
        random_plan(&specs[case as usize % specs.len()].defaults, case)
    })
}

fn flow<'a>(result: &'a RunResult, name: &str) -> &'a FlowResult {
    result.flows.iter().find(|flow| *flow.name == *name).unwrap()
}

#[test]
fn permuted_flows_give_permuted_results() {
    for mut plan in plans() {
        let straight = run(&plan);
        plan.flows.rotate_left(1);
        plan.flows.reverse();
        plan.datagrams.reverse();
        let permuted = run(&plan);
        assert_eq!(straight.summary, permuted.summary);
        for one in &straight.flows {
            assert_eq!(FlowResult { id: one.id, ..flow(&permuted, &one.name).clone() }, *one);
        }
        for (one, other) in straight.datagrams.iter().zip(permuted.datagrams.iter().rev()) {
            assert_eq!(DatagramResult { id: one.id, ..other.clone() }, *one);
        }
    }
}

#[test]
fn an_idle_flow_changes_nothing() {
    for mut plan in plans() {
        let without = run(&plan);
        let mut idle = plan.flows[0].clone();
        idle.name = "idle".into();
        idle.start = ackclock::units::Instant::ZERO + plan.duration * 2;
        idle.stop = None;
        plan.flows.push(idle);
        let with_idle = run(&plan);
        assert_eq!(with_idle.flows[..without.flows.len()], without.flows[..]);
        assert_eq!(with_idle.links, without.links);
    }
}

#[test]
fn idle_arrivals_and_datagrams_change_nothing() {
    for mut plan in plans() {
        let without = run(&plan);
        let never = ackclock::units::Instant::ZERO + plan.duration * 2;
        let mut busy = random_plan(&CcSpec::by_name("aimd").unwrap(), 1);
        for (mut group, name) in busy.arrivals.drain(..).zip(["idle0"]) {
            for (number, slot) in group.slots.iter_mut().enumerate() {
                (slot.name, slot.group) = (format!("{name}.{number}").into(), name.into());
                slot.forward.clone_from(&plan.flows[0].forward);
                slot.reverse.clone_from(&plan.flows[0].reverse);
            }
            (group.name, group.start) = (name.to_owned(), never);
            plan.arrivals.push(group);
        }
        for (mut group, name) in busy.datagrams.drain(..).zip(["idle1", "idle2", "idle3"]) {
            for (number, source) in group.sources.iter_mut().enumerate() {
                source.name = format!("{name}.{number}");
                source.forward.clone_from(&plan.flows[0].forward);
            }
            (group.name, group.start) = (name.to_owned(), never);
            plan.datagrams.push(group);
        }
        let with_idle = run(&plan);
        assert_eq!(with_idle.flows, without.flows);
        assert_eq!(with_idle.links, without.links);
        assert_eq!(with_idle.summary, without.summary);
        assert_eq!(with_idle.transfers[..without.transfers.len()], without.transfers[..]);
        assert_eq!(with_idle.datagrams[..without.datagrams.len()], without.datagrams[..]);
    }
}

/// The results that a later start must not change: whole numbers, and the course of every window.
fn course(result: &RunResult) -> Vec<(u64, u64, u64, Vec<u64>)> {
    let samples = &result.samples.flows;
    let of_flow = |index: usize| {
        let rows = (0..samples.flow.len()).filter(|row| samples.flow[*row] as usize == index);
        rows.flat_map(|row| [samples.cwnd_segments[row].to_bits(), samples.srtt_ns[row], samples.delivered_bytes[row]])
            .collect()
    };
    let flows = result.flows.iter().enumerate();
    flows.map(|(index, flow)| (flow.sent, flow.retransmits, flow.timeouts, of_flow(index))).collect()
}

#[test]
fn everything_later_is_the_same_later() {
    let shift = Duration::from_nanos(86_400_123_456_789);
    for mut plan in plans() {
        // The samples of the shifted run are those of the straight one, after the pause.
        plan.warmup = Duration::ZERO;
        // Some queues act at fixed times of the run, whether or not anything comes.
        // So does a capacity that varies, and what datagrams leave to others.
        plan.datagrams.retain(|group| !matches!(group.emission, Emission::Population { .. }));
        for group in &mut plan.datagrams {
            if let Emission::Cbr { leaves, .. } = &mut group.emission {
                *leaves = None;
            }
        }
        for link in &mut plan.links {
            link.varies = None;
            (link.impairments.course, link.impairments.outages, link.impairments.aggregation) = (None, None, None);
            if link.queue.has_clock() {
                link.queue = QueuePlan::drop_tail(link.queue.limit());
            }
        }
        // And senders whose clocks have ticks.
        let slots = plan.arrivals.iter_mut().flat_map(|group| &mut group.slots);
        for flow in plan.flows.iter_mut().chain(slots) {
            let transport = Arc::make_mut(&mut flow.transport);
            (transport.clock_tick, transport.timer_tick) = (Duration::ZERO, Duration::ZERO);
        }
        plan.sampling = Sampling { interval: Some(plan.duration), max_flows: 64, packets: false };
        let straight = run(&plan);
        let end = plan.duration;
        plan.warmup = shift;
        plan.duration += shift;
        plan.sampling.interval = Some(plan.duration);
        for flow in &mut plan.flows {
            flow.start += shift;
            flow.stop = flow.stop.map(|stop| stop + shift);
        }
        for group in &mut plan.arrivals {
            group.start += shift;
            group.stop = group.stop.map(|stop| stop + shift);
        }
        for group in &mut plan.datagrams {
            group.start += shift;
            group.stop = group.stop.map(|stop| stop + shift);
        }
        let later = run(&plan);
        assert_eq!(course(&straight), course(&later), "{end}");
        assert_eq!(straight.totals, later.totals);
    }
}

/// The plan with every time `factor` times as long, and every rate as much slower.
fn slower(plan: &Plan, factor: u64) -> Plan {
    let mut plan = plan.clone();
    let rate = |rate: Rate| Rate::from_bps(rate.as_bps() / factor).unwrap();
    plan.duration = plan.duration * factor;
    plan.warmup = plan.warmup * factor;
    plan.sampling.interval = plan.sampling.interval.map(|interval| interval * factor);
    for link in &mut plan.links {
        link.rate = link.rate.map(rate);
        link.delay = link.delay * factor;
        link.impairments.jitter = link.impairments.jitter * factor;
        if let Some(reordering) = &mut link.impairments.reordering {
            reordering.delay = reordering.delay * factor;
        }
    }
    for flow in &mut plan.flows {
        flow.start = ackclock::units::Instant::from_nanos(flow.start.as_nanos() * factor);
        flow.stop = flow.stop.map(|stop| ackclock::units::Instant::from_nanos(stop.as_nanos() * factor));
        flow.base_rtt = flow.base_rtt * factor;
        if let Some(CcSpec::Cubic(mut cubic)) = flow.cc.spec().cloned() {
            // Segments per cubed second.
            cubic.c /= (factor * factor * factor) as f64;
            flow.cc = CcSpec::Cubic(cubic).into();
        }
        let transport = transport(flow);
        transport.min_rto = transport.min_rto * factor;
        transport.delayed_ack = transport.delayed_ack.map(|delay| delay * factor);
        if let Traffic::RateLimited { rate: writes } = &mut flow.traffic {
            *writes = rate(*writes);
        }
    }
    plan
}

#[test]
fn twice_as_slow_is_the_same_in_twice_the_time() {
    // Rates that divide a second into even nanoseconds per byte: nothing is rounded, here or there. The
    // constants of the RTO do not scale (1 s before the first measurement, 1 ms of granularity, 60 s at the most); a
    // floor above them leaves them without effect.
    let mut dumbbell = Dumbbell::new(8_000_000, Duration::from_millis(64), 30, 3);
    dumbbell.duration = Duration::from_secs(20);
    for (index, (_, setup)) in dumbbell.flows.iter_mut().enumerate() {
        setup.transport.recovery = LossRecovery::Sack;
        setup.transport.min_rto = Duration::from_secs(3);
        setup.start = Duration::from_millis(320 * index as u64);
    }
    // BBR has times of its own, from bursts of a millisecond to ten seconds of memory. Prague has a target of the RTT,
    // and LEDBAT and LEDBAT++ one of the delay. Copa remembers ten seconds. Hybla has a reference RTT, H-TCP a second
    // of low speed, and Westwood+ an interval of 50 ms. CDG has a scale of 3 ms, and NV a period of 5 s. SCReAM has a
    // target of the delay, and GCC a start rate.
    const WITH_TIMES: [&str; 13] = [
        "bbr1", "bbr3", "prague", "ledbat", "ledbat++", "copa", "hybla", "htcp", "westwood", "cdg", "nv", "scream",
        "gcc",
    ];
    for info in algorithms().into_iter().filter(|info| !WITH_TIMES.contains(&info.name)) {
        dumbbell.flows[0].1.cc = info.defaults.clone();
        let (fast, slow) = (dumbbell.plan(), slower(&dumbbell.plan(), 2));
        let (fast, slow) = (run(&fast), run(&slow));
        let (fast_flows, slow_flows) = (&fast.samples.flows, &slow.samples.flows);
        assert!(fast_flows.time_ns.iter().zip(&slow_flows.time_ns).all(|(fast, slow)| 2 * fast == *slow));
        // A smoothed round-trip time is a whole number of nanoseconds, on which the windows of CUBIC depend.
        let most = if info.defaults.rule().is_some() { 0.0 } else { 1e-6 };
        let off =
            fast_flows.cwnd_segments.iter().zip(&slow_flows.cwnd_segments).map(|(fast, slow)| (fast - slow).abs());
        let off = off.fold(0.0, f64::max);
        assert!(off <= most, "{}: windows are {off} segments apart", info.name);
        assert_eq!(fast_flows.delivered_bytes, slow_flows.delivered_bytes, "{}", info.name);
        assert_eq!(fast_flows.retransmits, slow_flows.retransmits, "{}", info.name);
        assert_eq!(fast.samples.links.backlog_packets, slow.samples.links.backlog_packets, "{}", info.name);
        assert_eq!(fast.totals, slow.totals);
    }
}

/// The transport of a flow, to be changed.
fn transport(flow: &mut FlowPlan) -> &mut Transport {
    Arc::make_mut(&mut flow.transport)
}

/// Two flows on disjoint paths: a change to one flow does not reach the other.
#[test]
fn the_configuration_of_a_flow_does_not_reach_a_flow_on_another_path() {
    let changes: [fn(&mut FlowPlan); 12] = [
        |flow| flow.cc = CcSpec::by_name("mimd").unwrap().into(),
        |flow| Arc::make_mut(&mut flow.cc_context).initial_window = 17.0,
        |flow| transport(flow).mss = 536,
        |flow| transport(flow).recovery = LossRecovery::Tahoe,
        |flow| transport(flow).max_window = Some(3),
        |flow| transport(flow).delayed_ack = Some(Duration::from_millis(40)),
        |flow| transport(flow).timestamps = true,
        |flow| transport(flow).byte_counting = 2,
        |flow| transport(flow).min_rto = Duration::from_secs(1),
        |flow| transport(flow).peer_sack = false,
        |flow| flow.traffic = Traffic::Transfer { bytes: 12_345 },
        |flow| flow.start += Duration::from_millis(777),
    ];
    for case in 0..10 {
        let cc = CcSpec::by_name("aimd").unwrap();
        let mut plan = random_plan(&cc, case);
        plan.flows.truncate(1);
        // A second network beside the first.
        let mut other = random_plan(&cc, case + 100);
        let links = plan.links.len();
        for link in &mut other.links {
            link.name = format!("other.{}", link.name);
        }
        for flow in &mut other.flows {
            flow.name = format!("other.{}", flow.name).into();
            for path in [&mut flow.forward, &mut flow.reverse] {
                *path = path.iter().map(|link| LinkId::new(link.number() + links)).collect();
            }
            flow.meter = flow.meter.map(|meter| meter + plan.meters.len());
        }
        other.meters.iter_mut().for_each(|meter| meter.link = LinkId::new(meter.link.number() + links));
        plan.meters.append(&mut other.meters);
        plan.links.append(&mut other.links);
        plan.flows.append(&mut other.flows);
        let before = run(&plan);
        for (number, change) in changes.iter().enumerate() {
            let mut changed = plan.clone();
            change(&mut changed.flows[0]);
            let after = run(&changed);
            assert_eq!(before.flows[1..], after.flows[1..], "change {number}");
            let others = |result: &RunResult| -> Vec<_> {
                result.links.iter().filter(|link| link.name.starts_with("other.")).cloned().collect()
            };
            assert_eq!(others(&before), others(&after), "change {number}");
        }
    }
}

/// A window that never moves.
#[derive(Debug)]
struct Frozen(f64);

impl CongestionControl for Frozen {
    fn cwnd(&self) -> f64 {
        self.0
    }
    fn ssthresh(&self) -> f64 {
        self.0
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

/// Goodput over delay and losses, as a sum of logarithms: a factor in any of them counts the same everywhere.
fn score(summary: &Summary, base_rtt: Duration) -> f64 {
    let delay = 1.0 + summary.queue_delay_mean_s.unwrap() / base_rtt.as_secs_f64();
    (summary.efficiency.unwrap().max(1e-6) / delay * (1.0 - summary.loss_rate.unwrap()).powi(10)).log2()
}

/// A fitting window exists for each single link. No window fits all links of a suite, and adaptive windows find one
/// by themselves.
#[test]
fn no_frozen_window_beats_every_adaptive_one_over_a_suite() {
    let environments: Vec<Dumbbell> =
        [(5_000_000, 120, 1), (5_000_000, 120, 5), (100_000_000, 4, 2), (20_000_000, 42, 8), (50_000_000, 80, 1)]
            .into_iter()
            .map(|(rate, rtt, flows)| {
                let rtt = Duration::from_millis(rtt);
                let buffer = Dumbbell::bdp_packets(rate, rtt).max(30.0) as u32;
                let mut dumbbell = Dumbbell::new(rate, rtt, buffer, flows);
                dumbbell.loss = LossPlan::None;
                dumbbell.duration = Duration::from_secs(40);
                dumbbell.flows = dumbbell
                    .flows
                    .iter()
                    .enumerate()
                    .map(|(index, (name, setup))| {
                        let start = Duration::from_millis(190 * index as u64);
                        (name.clone(), FlowSetup { start, ..setup.clone() })
                    })
                    .collect();
                dumbbell
            })
            .collect();
    let total = |algorithm: Algorithm| -> f64 {
        let algorithm = Arc::new(algorithm);
        let scores = environments.iter().map(|dumbbell| {
            let mut plan = dumbbell.plan();
            plan.flows.iter_mut().for_each(|flow| flow.cc = algorithm.clone());
            let result = sim::run(&plan, &Default::default()).unwrap();
            score(&result.summary, dumbbell.base_rtt)
        });
        scores.sum()
    };
    let adaptive = algorithms().into_iter().map(|info| total(info.defaults.into()));
    let best = adaptive.fold(f64::NEG_INFINITY, f64::max);
    for window in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0] {
        let frozen = total(Algorithm::new("frozen", move |_| Frozen(window)));
        assert!(frozen < best, "a window of {window} scores {frozen}, the best adaptive one {best}");
    }
}
