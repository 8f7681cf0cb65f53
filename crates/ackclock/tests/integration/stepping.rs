//! A run in steps equals the run in one go. The state between steps is true, and changes take effect at their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::Dumbbell;
use ackclock::cc::{Ack, Algorithm, CcContext, CcSpec, Congestion, CongestionControl};
use ackclock::contract::{queue_kinds, random_plan};
use ackclock::qdisc::QueueSpec;
use ackclock::rng::{Rng, RngStreams};
use ackclock::sim::{
    ChangeError, Distribution, FlowId, FlowPlan, Plan, Progress, QueueLimit, QueuePlan, RunError, RunResult,
    Simulation, Traffic, WebPlan,
};
use ackclock::units::{Duration, Instant, Rate};
use ackclock_scenario::Scenario;

static NEVER: AtomicBool = AtomicBool::new(false);

fn plan_of(case: u64) -> Plan {
    random_plan(&CcSpec::by_name(["aimd", "cubic", "mr-aimd"][case as usize % 3]).unwrap(), case)
}

/// Runs in which packets pass links of their own ahead of time, before and after those that flows share.
fn plans_with_hosts() -> Vec<Plan> {
    let hosts = "topology.access={ rate = '100 Mbit/s', delay = '1 ms' }";
    let traffic = include_str!("../../../../bench/golden/traffic.toml");
    let parking_lot = include_str!("../../../../bench/golden/parking-lot.toml");
    let dumbbell = include_str!("../../../../bench/golden/dumbbell.toml");
    [
        (traffic, ["sampling.flows=2", hosts, "sampling.interval=10 ms"]),
        (dumbbell, ["duration=5 s", hosts, "sampling.interval=100 ms"]),
        (dumbbell, ["duration=5 s", hosts, "sampling.interval=none"]),
        (parking_lot, ["duration=10 s", "warmup=1 s", "sampling.interval=none"]),
    ]
    .map(|(text, sets)| Scenario::from_toml(text, "golden.toml", &sets).unwrap().plan(None, 0))
    .to_vec()
}

/// Stations that contend for a channel, and links beyond it.
fn home() -> Plan {
    Scenario::from_toml(crate::channel::HOME, "home.toml", &["duration=3 s"]).unwrap().plan(None, 0)
}

fn all_plans() -> Vec<Plan> {
    (0..45).map(plan_of).chain(plans_with_hosts()).chain([home()]).collect()
}

fn rng(case: usize, purpose: &str) -> Rng {
    RngStreams::new(1, case as u64).stream("steps", purpose)
}

/// Times within a run, some of them next to each other, and the end of the warm-up.
fn times(plan: &Plan, rng: &mut Rng, count: usize) -> Vec<Instant> {
    let mut times = vec![plan.warmup.as_nanos()];
    for _ in 0..count {
        let at = rng.next_u64() % plan.duration.as_nanos();
        times.extend([at, at + rng.next_u64() % 3]);
    }
    times.sort_unstable();
    times.into_iter().map(Instant::from_nanos).collect()
}

/// All of a result except the engine's work.
fn without_work(mut result: RunResult) -> String {
    result.events = 0;
    result.samples.trace = Default::default();
    format!("{result:?}")
}

fn traced(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.sampling.packets = true;
    plan
}

/// Everything that can be seen of a run between two steps.
fn seen(plan: &Plan, simulation: &mut Simulation) -> String {
    let flows: Vec<_> = plan.flow_ids().map(|index| simulation.flow(index)).collect();
    let links: Vec<_> = plan.link_ids().map(|index| simulation.link(index)).collect();
    // Rows of samples stay as they are.
    let samples = simulation.samples();
    let rows = (samples.flows.time_ns.len(), samples.links.time_ns.len());
    format!("{:?} {flows:?} {links:?} {rows:?}", simulation.now())
}

/// Changes rate, delay, loss, limit and queue of random links, and the algorithms. Links without these properties
/// keep theirs.
fn change(plan: &Plan, simulation: &mut Simulation, rng: &mut Rng) -> u32 {
    let mut changes = 0;
    for index in plan.link_ids() {
        let link = simulation.link(index);
        if rng.next_u64().is_multiple_of(3) {
            let delay = Duration::from_nanos(link.delay.as_nanos() * (rng.next_u64() % 300) / 100);
            changes += u32::from(simulation.set_delay(index, delay).is_ok());
        }
        if let Some(rate) = plan.links[index].rate
            && rng.next_u64().is_multiple_of(3)
        {
            let rate = Rate::from_bps(rate.as_bps() * (20 + rng.next_u64() % 300) / 100).unwrap();
            changes += u32::from(simulation.set_rate(index, rate).is_ok());
        }
        if rng.next_u64().is_multiple_of(3) {
            let probability = [0.0, 0.001, 0.05][rng.next_u64() as usize % 3];
            changes += u32::from(simulation.set_loss(index, probability).is_ok());
        }
        if rng.next_u64().is_multiple_of(3) {
            let limit = QueueLimit::Packets(1 + rng.next_u64() as u32 % 100);
            changes += u32::from(simulation.set_limit(index, limit).is_ok());
        }
        if rng.next_u64().is_multiple_of(3) {
            let kinds = queue_kinds();
            let kind = &kinds[rng.next_u64() as usize % kinds.len()];
            let spec: Result<QueueSpec, _> = serde_json::from_value(serde_json::json!({ "kind": kind }));
            let queue = spec.ok().and_then(|spec| spec.plan(&simulation.place(index)).ok());
            changes += queue.map_or(0, |queue| u32::from(simulation.set_queue(index, queue).is_ok()));
        }
    }
    for index in plan.flow_ids() {
        if rng.next_u64().is_multiple_of(3) {
            let name = ["reno", "cubic", "bbr1", "bbr3", "aild"][rng.next_u64() as usize % 5];
            let algorithm = CcSpec::by_name(name).unwrap().into();
            changes += u32::from(simulation.set_algorithm(index, &algorithm).is_ok());
        }
    }
    changes
}

/// Runs a plan in steps, with changes at `changes` and a look at everything there and at `looks`.
fn run_with_changes(plan: &Plan, case: usize, changes: &[Instant], looks: &[Instant]) -> (String, u32) {
    let (mut draws, mut count) = (rng(case, "changes"), 0);
    let mut times: Vec<_> = changes.iter().map(|at| (*at, true)).chain(looks.iter().map(|at| (*at, false))).collect();
    times.sort_unstable();
    let mut simulation = Simulation::new(plan);
    for (at, changes) in times {
        simulation.step(at, &NEVER).unwrap();
        seen(plan, &mut simulation);
        if changes {
            count += change(plan, &mut simulation, &mut draws);
        }
    }
    let result = simulation.finish(&NEVER).unwrap();
    let totals = &result.totals;
    let parts = [totals.corrupted, totals.policed, totals.dropped, totals.lost, totals.in_flight];
    let found = parts.iter().fold(totals.delivered.packets, |sum, part| sum + part.packets);
    assert_eq!(totals.sent.packets + totals.duplicated.packets, found, "run {case}: {totals:?}");
    (without_work(result), count)
}

#[test]
fn steps_of_any_length_give_the_result_of_a_run_in_one_go() {
    let mut more = 0;
    for (case, plan) in all_plans().iter().enumerate() {
        let whole = crate::common::run(plan);
        let mut simulation = Simulation::new(plan);
        for at in times(plan, &mut rng(case, "times"), 1 << (case % 8)) {
            assert_eq!(simulation.step(at, &NEVER), Ok(Progress::Paused));
            assert_eq!(simulation.now(), at);
        }
        let steps = simulation.finish(&NEVER).unwrap();
        more += u32::from(steps.events > whole.events);
        assert_eq!(without_work(steps), without_work(whole), "run {case}");
    }
    assert!(more > 10, "steps hindered lookahead in {more} runs");
}

#[test]
fn what_is_seen_between_steps_is_what_a_run_without_lookahead_shows() {
    for (case, plan) in all_plans().iter().enumerate() {
        let traced = traced(plan);
        let (mut fast, mut slow) = (Simulation::new(plan), Simulation::new(&traced));
        for at in times(plan, &mut rng(case, "times"), 30) {
            assert_eq!(fast.step(at, &NEVER), slow.step(at, &NEVER));
            assert_eq!(seen(plan, &mut fast), seen(plan, &mut slow), "run {case}");
        }
        let end = Instant::ZERO + plan.duration;
        assert_eq!([fast.step(end, &NEVER), slow.step(end, &NEVER)], [Ok(Progress::Ended), Ok(Progress::Ended)]);
        assert_eq!(seen(plan, &mut fast), seen(plan, &mut slow), "run {case}");
        assert_eq!(
            without_work(fast.finish(&NEVER).unwrap()),
            without_work(slow.finish(&NEVER).unwrap()),
            "run {case}"
        );
    }
}

#[test]
fn changes_have_the_same_effect_whatever_the_steps_and_whatever_happens_ahead_of_time() {
    let (mut count, mut different) = (0, 0);
    for (case, plan) in all_plans().iter().enumerate() {
        let changes = times(plan, &mut rng(case, "times"), 3);
        let looks = times(plan, &mut rng(case, "looks"), 20);
        let (once, changed) = run_with_changes(plan, case, &changes, &[]);
        assert_eq!(once, run_with_changes(plan, case, &changes, &looks).0, "run {case}");
        assert_eq!(once, run_with_changes(&traced(plan), case, &changes, &[]).0, "run {case}");
        different += u32::from(once != without_work(crate::common::run(plan)));
        count += changed;
    }
    assert!(count > 300 && different > 40, "{count} changes, {different} other results");
}

#[test]
fn a_delay_that_grows_by_a_step_is_one_that_grows_by_the_clock() {
    let plan = &plans_with_hosts()[2];
    let (at, extra) = (Duration::from_millis(2345), Duration::from_millis(7));
    // Nothing leaves a pure delay between the beginning of its transmission and its wire.
    let mut plan = plan.clone();
    let link = plan.flows[0].reverse[0];
    plan.links[link].rate = None;
    let mut by_clock = plan.clone();
    by_clock.links[link].impairments.course = Some(ackclock::link::DelayCourse {
        points: vec![(Duration::ZERO, Duration::ZERO), (at, extra)],
        is_linear: false,
        repeat: None,
    });
    let mut simulation = Simulation::new(&plan);
    simulation.step(Instant::ZERO + at, &NEVER).unwrap();
    let delay = plan.links[link].delay;
    simulation.set_delay(link, delay + extra).unwrap();
    assert_eq!(simulation.link(link).delay, delay + extra);
    let changed = without_work(simulation.finish(&NEVER).unwrap());
    assert_eq!(changed, without_work(crate::common::run(&by_clock)));
    assert_ne!(changed, without_work(crate::common::run(&plan)));
}

#[test]
fn a_link_sends_at_its_new_rate_and_the_result_knows_both() {
    let mut plan = plans_with_hosts()[2].clone();
    plan.warmup = Duration::from_secs(1);
    let (link, old) = (plan.bottleneck, plan.links[plan.bottleneck].rate.unwrap());
    let new = Rate::from_bps(old.as_bps() / 5).unwrap();
    let at = |secs| Instant::ZERO + Duration::from_secs(secs);
    let mut simulation = Simulation::new(&plan);
    simulation.step(at(2), &NEVER).unwrap();
    assert!(simulation.link(link).backlog_packets > 0);
    simulation.set_rate(link, new).unwrap();
    let before = simulation.link(link).counters.forwarded_bytes;
    simulation.step(at(3), &NEVER).unwrap();
    let sent = simulation.link(link).counters.forwarded_bytes - before;
    // A queue that is never empty; a packet may straddle either end of the second.
    assert!((8 * sent).abs_diff(new.as_bps()) <= 2 * 8 * 1500, "{sent} bytes in a second at {new}");
    let result = simulation.finish(&NEVER).unwrap();
    let mean = (old.as_bps() + 3 * new.as_bps()) as f64 / 4.0;
    assert_eq!(result.summary.capacity_bps, Some(mean));
    assert_eq!(result.links[0].capacity_bps, Some(mean));
    assert!(result.links[0].utilization.unwrap() > 0.9);
}

#[test]
fn a_longer_or_faster_path_may_have_more_in_flight() {
    let mut plan = Dumbbell::new(1_000_000, Duration::from_millis(100), 100, 1).plan();
    plan.links.iter_mut().for_each(|link| link.queue = QueuePlan::drop_tail(QueueLimit::Packets(100)));
    plan.flows[0].cc_context = CcContext::new(1e300).into();
    let limit = |rate: u64, delay: Duration| {
        let mut simulation = Simulation::new(&plan);
        for link in plan.link_ids() {
            simulation.set_rate(link, Rate::from_bps(rate).unwrap()).unwrap();
            simulation.set_delay(link, delay).unwrap();
        }
        match simulation.finish(&NEVER) {
            Err(RunError::TooMuchInFlight { limit, .. }) => limit,
            other => panic!("{other:?}"),
        }
    };
    let (short, long) = (Duration::from_millis(10), Duration::from_millis(100));
    assert_eq!(limit(1_000_000, short), 65_536);
    // Two-way 600 ms at 1 Gbit/s are 50,000 packets, the queues hold 300; sixteen times as much.
    assert_eq!(limit(1_000_000_000, long), 16 * (300 + 50_000 + 1));
    assert!(limit(1_000_000_000, short) < limit(1_000_000_000, long));
    // Never more than this, whatever the path holds.
    assert_eq!(limit(1_000_000_000_000, long), 1 << 22);
    let mut simulation = Simulation::new(&plan);
    simulation.set_limit(plan.bottleneck, QueueLimit::Packets(50_000)).unwrap();
    match simulation.finish(&NEVER) {
        // Two-way 100 ms at 1 Mbit/s are 8 packets.
        Err(RunError::TooMuchInFlight { limit, .. }) => assert_eq!(limit, 16 * (50_000 + 200 + 8 + 1)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_has_no_rate_or_delay_of_its_own_is_not_changed() {
    let rate = Rate::from_bps(1_000_000).unwrap();
    let mut plan = plans_with_hosts()[2].clone();
    let link = plan.flows[0].reverse[0];
    plan.links[link].rate = None;
    assert_eq!(Simulation::new(&plan).set_rate(link, rate), Err(ChangeError::PureDelay));

    let varies = |plan: &Plan| plan.links.iter().any(|link| link.varies.is_some());
    let varying = (0..45).map(plan_of).find(varies).unwrap();
    let link = varying.link_ids().find(|link| varying.links[*link].varies.is_some()).unwrap();
    assert_eq!(Simulation::new(&varying).set_rate(link, rate), Err(ChangeError::Varies));

    let home = home();
    let link = home.link_ids().find(|link| home.links[*link].channel.is_some()).unwrap();
    let mut simulation = Simulation::new(&home);
    assert_eq!(simulation.set_rate(link, rate), Err(ChangeError::Station));
    assert_eq!(simulation.set_delay(link, Duration::ZERO), Err(ChangeError::Station));
    assert_eq!(simulation.set_loss(link, 0.1), Err(ChangeError::Station));
    assert_eq!(simulation.set_limit(link, QueueLimit::Packets(9)), Err(ChangeError::Station));
    let queue = QueuePlan::drop_tail(QueueLimit::Packets(9));
    assert_eq!(simulation.set_queue(link, queue), Err(ChangeError::Station));
}

#[test]
fn a_step_that_was_interrupted_can_be_taken_again() {
    let plan = &plans_with_hosts()[0];
    let mut simulation = Simulation::new(plan);
    let end = Instant::ZERO + plan.duration;
    assert_eq!(simulation.step(end, &AtomicBool::new(true)), Err(RunError::Interrupted));
    assert_eq!(simulation.now(), Instant::ZERO);
    assert_eq!(simulation.set_delay(plan.bottleneck, Duration::ZERO), Err(ChangeError::Interrupted));
    assert_eq!(simulation.step(Instant::from_nanos(1), &NEVER), Ok(Progress::Ended));
    assert_eq!(simulation.step(end, &NEVER), Ok(Progress::Ended));
    let result = simulation.finish(&NEVER).unwrap();
    assert_eq!(without_work(result), without_work(crate::common::run(plan)));
}

/// A plan with a transfer, a bulk flow and a web client that begin at `start`. One further flow never begins.
fn joined(start: Instant) -> (Plan, [FlowId; 3]) {
    let text = include_str!("../../../../bench/golden/dumbbell.toml");
    let access = "topology.access={ rate = '100 Mbit/s', delay = '1 ms' }";
    let mut plan = Scenario::from_toml(text, "golden.toml", &["duration=8 s", access]).unwrap().plan(None, 0);
    let web = Traffic::Web(Box::new(WebPlan {
        think: Distribution::fixed(0.2),
        request: 300,
        response: Distribution::fixed(20_000.0),
    }));
    let traffic = [Traffic::Bulk, Traffic::Transfer { bytes: 300_000 }, web];
    let added = [0, 1, 2].map(|number| plan.add_flow_like(FlowId::new(0), &format!("more.{number}")));
    for (index, traffic) in added.into_iter().zip(traffic) {
        plan.flows[index].traffic = traffic;
        plan.flows[index].start = start;
    }
    (plan, added)
}

#[test]
fn a_flow_that_is_begun_is_one_that_starts_then() {
    let at = Instant::ZERO + Duration::from_millis(3210);
    let (planned, _) = joined(at);
    let planned = Simulation::new(&planned).finish(&NEVER).unwrap();
    let (plan, added) = joined(FlowPlan::ON_REQUEST);
    let mut simulation = Simulation::new(&plan);
    simulation.step(at, &NEVER).unwrap();
    for index in added {
        assert_eq!(simulation.end_flow(index), Err(ChangeError::NotBegun));
        simulation.begin_flow(index).unwrap();
        assert_eq!(simulation.begin_flow(index), Err(ChangeError::Begun));
    }
    assert_eq!(simulation.begin_flow(FlowId::new(0)), Err(ChangeError::Begun));
    let begun = simulation.finish(&NEVER).unwrap();
    assert!(
        begun.flows[added[0].number()].goodput_bps > 100_000.0
            && begun.flows[added[1].number()].completion_time_s.is_some()
    );
    assert_eq!(without_work(begun), without_work(planned));
}

#[test]
fn a_flow_that_never_begins_is_in_no_result() {
    let (plan, added) = joined(FlowPlan::ON_REQUEST);
    let result = Simulation::new(&plan).finish(&NEVER).unwrap();
    assert_eq!(result.flows.len(), plan.flows.len() - added.len());
    let mut without = plan.clone();
    without.flows.truncate(added[0].number());
    let alone = Simulation::new(&without).finish(&NEVER).unwrap();
    assert_eq!(format!("{:?}", result.summary), format!("{:?}", alone.summary));
    assert_eq!(format!("{:?}", result.transfers), format!("{:?}", alone.transfers));
}

#[test]
fn a_flow_that_is_ended_sends_what_it_has_written_and_no_more() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let (plan, added) = joined(at(1000));
    let mut simulation = Simulation::new(&plan);
    simulation.step(at(3000), &NEVER).unwrap();
    added.into_iter().for_each(|index| simulation.end_flow(index).unwrap());
    simulation.step(at(5000), &NEVER).unwrap();
    let then: Vec<_> = added.iter().map(|index| simulation.flow(*index).delivered_bytes).collect();
    assert!(then.iter().all(|bytes| *bytes > 0));
    let others = simulation.flow(FlowId::new(0)).delivered_bytes;
    simulation.step(at(8000), &NEVER).unwrap();
    let later: Vec<_> = added.iter().map(|index| simulation.flow(*index).delivered_bytes).collect();
    assert_eq!(then, later);
    assert!(simulation.flow(FlowId::new(0)).delivered_bytes > others);
}

/// A window that is set from outside of the run.
#[derive(Debug)]
struct Set(Arc<AtomicU64>);

impl CongestionControl for Set {
    fn cwnd(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64
    }
    fn ssthresh(&self) -> f64 {
        1.0
    }
    fn owns_recovery(&self) -> bool {
        true
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

#[test]
fn a_refreshed_flow_sends_at_once_what_its_algorithm_asks_for() {
    for profile in ["rfc", "quic"] {
        let sets = [format!("transport.profile=\"{profile}\"")];
        let text = "schema = 2\nduration = '5 s'\ntopology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '500 ms' }\n\
             flows = [{ name = 'test', cc = 'reno' }]";
        let mut plan = Scenario::from_toml(text, "set.toml", &sets).unwrap().plan(None, 0);
        let window = Arc::new(AtomicU64::new(4));
        let shared = window.clone();
        plan.flows[0].cc = Arc::new(Algorithm::new("set", move |_: CcContext| Set(shared.clone())));
        let mut simulation = Simulation::new(&plan);
        let mut unacked_after = |window_now: u64, millis: u64, refreshes: bool| {
            window.store(window_now, Ordering::Relaxed);
            if refreshes {
                simulation.refresh_flow(FlowId::new(0)).unwrap();
            }
            let at = Instant::ZERO + Duration::from_millis(millis);
            simulation.step(at, &NEVER).unwrap();
            (simulation.flow(FlowId::new(0)).sender.unacked, simulation.flow(FlowId::new(0)).sender.cwnd)
        };
        // Before its start, at its start, and between events; without a refresh the next ACK, after a second, would be the first.
        assert_eq!(unacked_after(6, 10, true), (6, 6.0), "{profile}");
        assert_eq!(unacked_after(9, 20, false), (6, 6.0), "{profile}");
        assert_eq!(unacked_after(9, 30, true), (9, 9.0), "{profile}");
        assert_eq!(unacked_after(3, 40, true), (9, 3.0), "{profile}");
    }
}

#[test]
fn refreshing_what_asks_for_the_same_changes_nothing() {
    for case in 0..9 {
        let plan = plan_of(case);
        let (mut plain, mut refreshed) = (Simulation::new(&plan), Simulation::new(&plan));
        for at in times(&plan, &mut rng(case as usize, "refresh"), 20) {
            plain.step(at, &NEVER).unwrap();
            refreshed.step(at, &NEVER).unwrap();
            assert_eq!(seen(&plan, &mut plain), seen(&plan, &mut refreshed), "run {case}");
            plan.flow_ids().for_each(|flow| refreshed.refresh_flow(flow).unwrap());
        }
    }
}
