//! Losses, limits and algorithms that change during a run, and the packets that are seen at a link.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ackclock::cc::{Ack, Algorithm, CaState, CcContext, CcSpec, Congestion, CongestionControl};
use ackclock::contract::queue_kinds;
use ackclock::sim::{ChangeError, FlowId, LinkId, LossPlan, PacketKind, PacketView, Plan, QueueLimit, Simulation, run};
use ackclock::units::{Duration, Instant};
use ackclock_scenario::Scenario;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Three flows at 10 Mbit/s, 40 ms and more, and a buffer of half a BDP.
fn plan(sets: &[&str]) -> Plan {
    let text = include_str!("../../../../bench/golden/dumbbell.toml");
    let is_short = sets.iter().any(|set| set.starts_with("duration="));
    let sets: Vec<_> = ["duration=8 s"].iter().filter(|_| !is_short).chain(sets).collect();
    Scenario::from_toml(text, "golden.toml", &sets).unwrap().plan(None, 0)
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

#[test]
fn losses_are_those_of_a_plan_that_has_them_from_the_first_packet_on() {
    let (without, link) = (plan(&[]), plan(&[]).bottleneck);
    let with = |probability| {
        let mut plan = plan(&[]);
        plan.links[link].impairments.loss = LossPlan::Bernoulli { probability };
        plan
    };
    let finish = |simulation: Simulation| {
        let mut result = simulation.finish(&NEVER).unwrap();
        result.events = 0;
        (result.links[0].losses, format!("{result:?}"))
    };
    let planned = finish(Simulation::new(&with(0.01)));
    assert!(planned.0 > 10);
    let changed = |plan: &Plan| {
        let mut simulation = Simulation::new(plan);
        simulation.set_loss(link, 0.01).unwrap();
        finish(simulation)
    };
    assert_eq!([changed(&without), changed(&with(0.5))], [planned.clone(), planned]);
    // A link whose numbers were drawn without an effect goes on with them.
    let later = |plan: &Plan, calls: &[f64]| {
        let mut simulation = Simulation::new(plan);
        calls.iter().for_each(|probability| simulation.set_loss(link, *probability).unwrap());
        simulation.step(at(4_000_000), &NEVER).unwrap();
        simulation.set_loss(link, 0.01).unwrap();
        finish(simulation)
    };
    assert_eq!(later(&without, &[0.0]), later(&with(0.0), &[]));
    assert_ne!(later(&without, &[0.0]), later(&without, &[]));
}

#[test]
fn losses_begin_and_end_when_they_are_told() {
    let plan = plan(&[]);
    let mut simulation = Simulation::new(&plan);
    let mut counters = |probability: Option<f64>, millis: u64| {
        probability.into_iter().for_each(|probability| simulation.set_loss(plan.bottleneck, probability).unwrap());
        simulation.step(at(1000 * millis), &NEVER).unwrap();
        let counters = simulation.link(plan.bottleneck).counters;
        (counters.forwarded, counters.losses)
    };
    let (before, none) = counters(None, 3000);
    let (after, all) = counters(Some(1.0), 3500);
    assert!(none == 0 && after > before);
    assert_eq!(all, after - before);
    let (last, same) = counters(Some(0.0), 8000);
    assert!(last > after);
    assert_eq!(same, all);
}

#[test]
fn what_is_queued_beyond_a_smaller_limit_leaves_and_nothing_is_added_to_it() {
    let mut plan = plan(&["topology.queue.limit=60 packets"]);
    plan.flows.iter_mut().for_each(|flow| flow.cc = Arc::new(Algorithm::new("many", |_: CcContext| Fixed(100.0))));
    let mut simulation = Simulation::new(&plan);
    simulation.step(at(3_000_000), &NEVER).unwrap();
    let mut before = simulation.link(plan.bottleneck);
    assert!(before.backlog_packets > 50);
    simulation.set_limit(plan.bottleneck, QueueLimit::Packets(9)).unwrap();
    // Not for the change, but for what comes.
    assert_eq!(simulation.link(plan.bottleneck), before);
    for step in 1..=400 {
        simulation.step(at(3_000_000 + 500 * step), &NEVER).unwrap();
        let link = simulation.link(plan.bottleneck);
        assert!(link.backlog_packets <= before.backlog_packets.max(9), "step {step}");
        let (old, new) = (before.counters, link.counters);
        let added = new.arrivals - old.arrivals - (new.drops - old.drops);
        assert!(before.backlog_packets < 9 || added <= new.forwarded - old.forwarded, "step {step}");
        before = link;
    }
    assert!(before.backlog_packets <= 9 && before.counters.drops > 50);
    // And a larger one is used.
    simulation.set_limit(plan.bottleneck, QueueLimit::Packets(200)).unwrap();
    simulation.step(at(5_000_000), &NEVER).unwrap();
    assert!(simulation.link(plan.bottleneck).backlog_packets > 100);
}

#[test]
fn a_limit_from_the_start_is_that_of_the_plan() {
    for queue in queue_kinds() {
        let queue = match queue.as_str() {
            "tbf" | "policer" => format!(
                "topology.queue={{ kind = \"{queue}\", rate = \"9 Mbit/s\", burst = \"3000 B\", limit = \"40 packets\" }}"
            ),
            "prio" | "wrr" => format!(
                "topology.queue={{ kind = \"{queue}\", limit = \"40 packets\", class = [{{ queue = \"drop-tail\" }}] }}"
            ),
            // Thresholds of their own: those that the keys leave open come from the limit.
            "red" | "rio" | "choke" => continue,
            other => format!("topology.queue={{ kind = \"{other}\", limit = \"40 packets\" }}"),
        };
        let (planned, other) = (plan(&[&queue]), plan(&[&queue.replace("40 packets", "77 packets")]));
        let result = |plan: &Plan, limit: Option<u32>| {
            let mut simulation = Simulation::new(plan);
            let limit = limit.map(QueueLimit::Packets);
            limit.into_iter().for_each(|limit| simulation.set_limit(plan.bottleneck, limit).unwrap());
            let mut result = simulation.finish(&NEVER).unwrap();
            result.events = 0;
            format!("{result:?}")
        };
        assert_eq!(result(&other, Some(40)), result(&planned, None), "{queue}");
    }
}

#[test]
fn what_cannot_be_changed_says_why() {
    let mut plan = plan(&[]);
    let back = plan.flows[0].reverse[0];
    plan.links[back].rate = None;
    plan.links[plan.bottleneck].impairments.loss = LossPlan::Periodic { period: 100, offset: 0 };
    let mut simulation = Simulation::new(&plan);
    assert_eq!(simulation.set_loss(plan.bottleneck, 0.1), Err(ChangeError::LosesOtherwise));
    assert_eq!(simulation.set_limit(back, QueueLimit::Packets(9)), Err(ChangeError::PureDelay));
    for limit in [QueueLimit::Packets(0), QueueLimit::Bytes(0)] {
        assert_eq!(simulation.set_limit(plan.bottleneck, limit), Err(ChangeError::NoRoom));
    }
    for probability in [-0.1, 1.1, f64::NAN] {
        assert_eq!(simulation.set_loss(back, probability), Err(ChangeError::NoProbability));
    }
    assert_eq!(format!("{:?}", simulation.finish(&NEVER).unwrap()), format!("{:?}", run(&plan, &NEVER).unwrap()));
}

/// A window that stays as it is.
#[derive(Debug)]
struct Fixed(f64);

impl CongestionControl for Fixed {
    fn cwnd(&self) -> f64 {
        self.0
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
fn packets_are_seen_where_they_are() {
    // A packet takes 1 ms to send, and 10 ms to the other end.
    let text = "schema = 2\nduration = '1 s'\n\
         topology = { kind = 'dumbbell', rate = '12 Mbit/s', delay = '10 ms' }\n\
         transport = { profile = 'rfc' }\n\
         flows = [{ name = 'test', cc = 'reno', start = '0 s' }]";
    let mut plan = Scenario::from_toml::<&str>(text, "seen.toml", &[]).unwrap().plan(None, 0);
    plan.flows[0].cc = Arc::new(Algorithm::new("four", |_: CcContext| Fixed(4.0)));
    let [there, back] = [plan.flows[0].forward[0], plan.flows[0].reverse[0]];
    let mut simulation = Simulation::new(&plan);
    let mut seen = |micros: u64, link: LinkId| {
        simulation.step(at(micros), &NEVER).unwrap();
        simulation.packets(link)
    };
    let data = |arrives: Option<u64>| PacketView {
        flow: Some(FlowId::new(0)),
        kind: PacketKind::Data,
        wire_bytes: 1500,
        marked: false,
        arrives: arrives.map(at),
    };
    // Two have left, one is being sent, and one waits.
    let packets = [data(None), data(Some(11_000)), data(Some(12_000)), data(Some(13_000))];
    assert_eq!(seen(2_500, there), packets);
    assert_eq!(seen(2_500, back), []);
    assert_eq!(seen(11_500, there), [data(Some(12_000)), data(Some(13_000)), data(Some(14_000))]);
    let acks = seen(11_500, back);
    assert_eq!((acks.len(), acks[0].flow, acks[0].kind), (1, Some(FlowId::new(0)), PacketKind::Ack));
    // 40 bytes at 12 Mbit/s, and 10 ms.
    assert_eq!((acks[0].wire_bytes, acks[0].arrives), (40, Some(at(11_000 + 10_000) + Duration::from_nanos(26_666))));
}

#[test]
fn what_is_seen_at_a_link_is_its_backlog_and_what_will_come_out() {
    let ecn = ["topology.queue={ kind = \"red\", ecn = true }", "transport.ecn=\"classic\""];
    let kinds = queue_kinds().into_iter().filter(|name| !["tbf", "policer"].contains(&name.as_str()));
    let written = |kind: &str| match kind {
        "prio" | "wrr" => format!(
            "topology.queue={{ kind = \"{kind}\", limit = \"40 packets\", class = [{{ queue = \"drop-tail\" }}] }}"
        ),
        kind => format!("topology.queue={kind}"),
    };
    let queues: Vec<_> = kinds.map(|kind| vec![written(&kind)]).chain([ecn.map(str::to_owned).to_vec()]).collect();
    let mut marked = 0;
    for queue in queues {
        let sets: Vec<_> = queue.iter().map(String::as_str).collect();
        let plan = plan(&sets);
        let mut simulation = Simulation::new(&plan);
        for step in 1..80 {
            let now = at(100_003 * step);
            simulation.step(now, &NEVER).unwrap();
            for index in plan.link_ids() {
                let (link, packets) = (simulation.link(index), simulation.packets(index));
                let (queued, sent): (Vec<_>, Vec<_>) = packets.into_iter().partition(|packet| packet.arrives.is_none());
                let bytes = queued.iter().map(|packet| u64::from(packet.wire_bytes)).sum();
                assert_eq!((queued.len() as u32, bytes), (link.backlog_packets, link.backlog_bytes), "{queue:?}");
                assert!(sent.iter().all(|packet| packet.arrives >= Some(now)), "{queue:?}");
                assert!(sent.is_sorted_by_key(|packet| packet.arrives), "{queue:?}");
                marked += sent.iter().filter(|packet| packet.marked).count();
            }
            // Every byte of the window is somewhere: what is sent and was not dropped is data or will be an ACK.
            let seen = |simulation: &mut Simulation, flow: FlowId| -> usize {
                let all = plan.link_ids().flat_map(|index| simulation.packets(index));
                all.filter(|packet| packet.flow == Some(flow) && packet.kind == PacketKind::Data).count()
            };
            for flow in plan.flow_ids() {
                assert!(seen(&mut simulation, flow) <= simulation.flow(flow).sender.unacked as usize, "{queue:?}");
            }
        }
    }
    assert!(marked > 0);
}

fn algorithm(name: &str) -> Algorithm {
    CcSpec::by_name(name).unwrap().into()
}

/// The golden dumbbell with one algorithm for all flows, over either transport.
fn plan_with(cc: &str, profile: &str) -> Plan {
    // The first sample is taken before anything can be changed.
    let sets = ["sampling.interval=none", &format!("flows.test.cc={cc}"), &format!("transport.profile={profile}")];
    plan(&sets)
}

/// All results except the engine's work, the algorithm's name, which the plan gives, and the last bits of mean
/// windows. Steps integrate these means in parts.
fn outcome(simulation: Simulation) -> String {
    let mut result = simulation.finish(&NEVER).unwrap();
    result.events = 0;
    for flow in &mut result.flows {
        flow.cc = "".into();
        flow.cwnd_mean_segments = flow.cwnd_mean_segments.map(|mean| (1e9 * mean).round());
    }
    format!("{result:?}")
}

const PROFILES: [&str; 3] = ["rfc", "linux", "quic"];

#[test]
fn an_algorithm_that_is_set_before_a_flow_begins_is_that_of_the_plan() {
    for profile in PROFILES {
        for (old, new) in [("aimd", "bbr3"), ("bbr1", "cubic"), ("cubic", "bbr1")] {
            let [plan, planned] = [plan_with(old, profile), plan_with(new, profile)];
            let mut simulation = Simulation::new(&plan);
            plan.flow_ids().for_each(|flow| simulation.set_algorithm(flow, &algorithm(new)).unwrap());
            assert_eq!(outcome(simulation), outcome(Simulation::new(&planned)), "{old} to {new}, {profile}");
        }
    }
}

#[test]
fn an_algorithm_without_memory_that_takes_over_from_itself_changes_nothing() {
    // Reno remembers its window and threshold, and those are taken over.
    let plan = plan_with("reno", "rfc");
    let mut simulation = Simulation::new(&plan);
    for step in 1..70 {
        simulation.step(at(100_003 * step), &NEVER).unwrap();
        plan.flow_ids().for_each(|flow| simulation.set_algorithm(flow, &algorithm("reno")).unwrap());
    }
    assert_eq!(outcome(simulation), outcome(Simulation::new(&plan)));
}

#[test]
fn an_algorithm_takes_over_the_window_and_goes_on_with_it() {
    let names = ["reno", "cubic", "bbr1", "bbr3", "new-aimd"];
    let mut recoveries = 0;
    for profile in PROFILES {
        for old in names {
            for new in names.into_iter().filter(|new| *new != old) {
                let plan = plan_with(old, profile);
                let mut simulation = Simulation::new(&plan);
                // In slow start, in a recovery, later; and back again.
                for (step, millis) in [1200, 1350, 1500, 2500, 4100].into_iter().enumerate() {
                    simulation.step(at(1000 * millis), &NEVER).unwrap();
                    let taken = algorithm([new, old][step % 2]);
                    for flow in plan.flow_ids() {
                        let before = simulation.flow(flow).sender;
                        simulation.set_algorithm(flow, &taken).unwrap();
                        let after = simulation.flow(flow).sender;
                        let in_recovery = before.state == CaState::Recovery;
                        recoveries += u32::from(in_recovery);
                        let said = format!("{old} to {new}, {profile}, {millis} ms: {before:?} {after:?}");
                        // Windows in bytes become windows in segments.
                        let same = (after.cwnd - before.cwnd.max(1.0)).abs() < 1e-9;
                        assert!(in_recovery || same, "{said}");
                        // A reduction that begins amid a recovery begins at what is in flight.
                        let held = i64::from(before.sacked) + i64::from(before.lost) - i64::from(before.retransmitted);
                        let flight = (i64::from(before.unacked) - held) as f64;
                        assert!(after.cwnd >= 1.0 && after.cwnd <= before.cwnd.max(flight + 1.0) + 1e-9, "{said}");
                        assert_eq!((after.unacked, after.srtt), (before.unacked, before.srtt), "{said}");
                    }
                }
                let result = simulation.finish(&NEVER).unwrap();
                let used = result.summary.utilization.unwrap();
                assert!(used > 0.7, "{old} to {new}, {profile}: {used}");
            }
        }
    }
    assert!(recoveries > 10, "{recoveries}");
}

/// Keeps the window that it begins with, and notes the delivery rates that it is told, bytes a second.
#[derive(Debug)]
struct Watch(f64, Arc<Mutex<Vec<(Instant, f64)>>>);

impl CongestionControl for Watch {
    fn cwnd(&self) -> f64 {
        self.0
    }
    fn ssthresh(&self) -> f64 {
        1.0
    }
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rate) = ack.rate {
            self.1.lock().unwrap().push((ack.now, rate.delivered as f64 / rate.interval.as_secs_f64()));
        }
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

#[test]
fn who_takes_over_is_told_rates_that_are_too_low_for_a_round_trip_and_never_too_high() {
    // 1460 of 1500 bytes are payload; nothing is lost, and the queue is never empty.
    let capacity = 1_500_000.0 * 1460.0 / 1500.0;
    for profile in ["rfc", "quic"] {
        let sets = [
            &*format!("transport.profile={profile}"),
            "flows.test.cc=reno",
            "flows.test.count=1",
            "flows.test.start=0 s",
            "topology.rate=12 Mbit/s",
            "topology.queue.limit=2000 packets",
            "duration=3 s",
            "warmup=1 s",
        ];
        let plan = plan(&sets);
        let mut simulation = Simulation::new(&plan);
        simulation.step(at(900_000), &NEVER).unwrap();
        let rtt = simulation.flow(FlowId::new(0)).sender.srtt;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        let watch = Algorithm::new("watch", move |context: CcContext| Watch(context.initial_window, told.clone()));
        simulation.set_algorithm(FlowId::new(0), &watch).unwrap();
        simulation.finish(&NEVER).unwrap();
        let seen = seen.lock().unwrap();
        type Told = Vec<(Instant, f64)>;
        let (first, later): (Told, Told) = seen.iter().copied().partition(|(now, _)| *now < at(900_000) + rtt);
        assert!(first.len() > 50 && later.len() > 100, "{profile}: {} {}", first.len(), later.len());
        assert!(first[0].1 < 0.1 * capacity, "{profile}: {:?}", first[0]);
        assert!(seen.iter().all(|(_, rate)| *rate < 1.02 * capacity), "{profile}");
        let settled = &later[later.len() / 2..];
        assert!(settled.iter().all(|(_, rate)| (rate / capacity - 1.0).abs() < 0.02), "{profile}: {settled:?}");
    }
}
