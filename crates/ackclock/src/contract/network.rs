//! Random small networks.

use super::random_queue::random_queue;
use super::{Draw, traffic};
use crate::cc::{CcContext, CcSpec, TimeoutSsthresh};
use crate::link::{DelayCourse, Outages};
use crate::meter::Profile;
use crate::qdisc::{Limit, Place, QueuePlan};
use crate::sim::{
    ChannelState, FlowPlan, ImpairmentsPlan, LinkPlan, LossPlan, MeterPlan, MeterScope, Plan, ReorderingPlan, Sampling,
    Script,
};
use crate::tcp::{EcnMode, LossRecovery, Transport, Undo};
use crate::units::{Duration, Instant, Rate};
use crate::variation::{Law, Lte, OnOff, Schedule, VariationPlan, Walk, Wifi};

/// The plan of a few seconds on a random dumbbell with one to four flows of every kind, all with the algorithm
/// `cc`: the case with this number, the same in every run. Half of the cases have arrivals of transfers and datagrams beside
/// the flows, and a third of them a meter.
pub fn random_plan(cc: &CcSpec, case: u64) -> Plan {
    let mut plan = plan(&mut Draw::new("network", case), cc);
    if case % 2 == 1 {
        let mut draw = Draw::new("traffic", case);
        traffic::add_arrivals(&mut draw, &mut plan, cc);
        traffic::add_datagrams(&mut draw, &mut plan);
    }
    if case.is_multiple_of(3) {
        add_meter(&mut Draw::new("meter", case), &mut plan);
    }
    plan
}

/// A meter in front of the bottleneck, past which most of what crosses it goes.
fn add_meter(draw: &mut Draw, plan: &mut Plan) {
    let most = plan.links[plan.bottleneck].rate.map_or(1e6, |rate| rate.as_bps() as f64);
    let rate = |share: f64| Rate::from_bps((most * share) as u64).expect("invariant: links have a rate above 10 bit/s");
    let share = draw.scale(0.02, 1.0);
    let (committed_rate, committed_burst) = (rate(share), draw.scale(1.0, 50_000.0) as u64);
    let second = draw.scale(1.0, 50_000.0) as u64;
    let profile = if draw.chance(50) {
        Profile::SingleRate { committed_rate, committed_burst, excess_burst: second }
    } else {
        Profile::TwoRates { committed_rate, committed_burst, peak_rate: rate(2.0 * share), peak_burst: second }
    };
    plan.meters.push(MeterPlan {
        name: "meter".to_owned(),
        link: plan.bottleneck,
        profile,
        scope: draw.pick(&[MeterScope::Aggregate, MeterScope::Flow]),
        is_aware: draw.chance(50),
        drops_red: draw.chance(50),
    });
    let mut meter = || draw.chance(70).then_some(0);
    plan.flows.iter_mut().for_each(|flow| flow.meter = meter());
    plan.arrivals.iter_mut().flat_map(|group| &mut group.slots).for_each(|slot| slot.meter = meter());
    plan.datagrams.iter_mut().for_each(|datagrams| datagrams.meter = meter());
}

pub(super) fn plan(draw: &mut Draw, cc: &CcSpec) -> Plan {
    let bits = draw.scale(2e5, 2e7);
    let rate = Rate::from_bps(bits as u64);
    let delay = draw.time(Duration::from_millis(40));
    let varies = variation(draw, bits as u64);
    let shared = |name: &str, queue, impairments| LinkPlan {
        name: name.to_owned(),
        rate,
        varies: None,
        delay,
        queue,
        impairments,
        channel: None,
        private: false,
    };
    let mut links = vec![
        LinkPlan { varies, ..shared("bottleneck", queue(draw, bits), impairments(draw)) },
        shared(
            "bottleneck.reverse",
            drop_tail(1000),
            if draw.chance(30) { impairments(draw) } else { ImpairmentsPlan::default() },
        ),
    ];
    let mut flows = Vec::new();
    for index in 0..draw.whole(1, 4) {
        let name = format!("flow{index}");
        let first = links.len();
        let access = if draw.chance(50) { Rate::from_bps(draw.scale(1e6, 1e9) as u64) } else { None };
        let side = draw.time(Duration::from_millis(20));
        for direction in ["source", "source.reverse"] {
            links.push(LinkPlan {
                rate: access,
                delay: side,
                private: true,
                ..shared(
                    &format!("{name}.{direction}"),
                    drop_tail(draw.whole(2, 1000) as u32),
                    ImpairmentsPlan::default(),
                )
            });
        }
        flows.push(FlowPlan {
            name: name.as_str().into(),
            group: name.into(),
            forward: [first, 0].into(),
            reverse: [1, first + 1].into(),
            cc: cc.clone().into(),
            cc_context: context(draw).into(),
            transport: transport(draw).into(),
            traffic: traffic::of_flow(draw),
            in_profile: index == 1,
            meter: None,
            start: Instant::ZERO + draw.time(Duration::from_secs(2)),
            stop: draw.chance(15).then(|| Instant::ZERO + Duration::from_secs(2) + draw.time(Duration::from_secs(4))),
            base_rtt: (delay + side) * 2,
        });
    }
    let duration = Duration::from_secs(draw.whole(4, 10));
    Plan {
        seed: draw.whole(0, u64::MAX - 1),
        duration,
        warmup: draw.time(duration / 2),
        links,
        channels: Vec::new(),
        flows,
        arrivals: Vec::new(),
        datagrams: Vec::new(),
        meters: Vec::new(),
        bottleneck: 0,
        sampling: Sampling { interval: Some(duration / 500), max_flows: 64, packets: false },
    }
}

/// The settings that an algorithm gets at the start.
pub(super) fn context(draw: &mut Draw) -> CcContext {
    use TimeoutSsthresh::{HalfCwnd, HalfFlight, Rule, Standard};
    let timeouts = [Standard, HalfCwnd, HalfFlight, Rule];
    CcContext { timeout_ssthresh: draw.pick(&timeouts), ..CcContext::new(draw.whole(1, 20) as f64) }
}

/// How a rate varies, if it does: one time of three.
pub(super) fn variation(draw: &mut Draw, most: u64) -> Option<VariationPlan> {
    let time = |draw: &mut Draw| Duration::from_micros(10) + draw.time(Duration::from_millis(300));
    let low = draw.whole(0, most);
    Some(match draw.whole(0, 17) {
        0 => VariationPlan::Schedule(Schedule::square(most, low, time(draw))),
        1 => {
            let steps = (0..draw.whole(1, 9)).map(|_| (draw.whole(0, most), time(draw))).collect();
            VariationPlan::Schedule(Schedule::once(steps))
        }
        2 => {
            let law = Law::Around { start: low, delta: most / 3 };
            VariationPlan::Walk(Walk { law, min_bps: 0, max_bps: most, step: time(draw) })
        }
        3 => {
            let (mean_high, mean_low) = (time(draw), time(draw));
            VariationPlan::OnOff(OnOff { high_bps: most, low_bps: 0, mean_high, mean_low })
        }
        4 => VariationPlan::Lte(Lte { max_bps: most, volatility: 1.0, mean_outage: time(draw) }),
        5 => VariationPlan::Wifi(Wifi { max_bps: most, stations: draw.whole(0, 5) as u32 }),
        _ => return None,
    })
}

/// Impairments of a link, mostly one or two of them.
pub(super) fn impairments(draw: &mut Draw) -> ImpairmentsPlan {
    let reordering = ReorderingPlan { probability: draw.scale(1e-3, 1.0), delay: draw.time(Duration::from_millis(30)) };
    ImpairmentsPlan {
        course: draw.chance(15).then(|| course(draw)),
        outages: draw.chance(10).then(|| Outages {
            begins: vec![draw.time(Duration::from_millis(500)), Duration::from_secs(1)],
            length: Duration::from_millis(draw.whole(1, 200)),
            repeat: draw.chance(50).then_some(Duration::from_secs(2)),
        }),
        jitter: jitter(draw),
        jitter_reorders: draw.chance(50),
        reordering: draw.chance(15).then_some(reordering),
        loss: loss(draw),
        duplication: if draw.chance(15) { draw.scale(1e-3, 1.0) } else { 0.0 },
        corruption: if draw.chance(15) { draw.scale(1e-4, 0.3) } else { 0.0 },
    }
}

/// A delay that changes, in steps or evenly.
fn course(draw: &mut Draw) -> DelayCourse {
    let mut at = Duration::ZERO;
    let mut points = Vec::new();
    for _ in 0..draw.whole(1, 5) {
        points.push((at, draw.time(Duration::from_millis(60))));
        at += Duration::from_nanos(1) + draw.time(Duration::from_millis(700));
    }
    DelayCourse { points, is_linear: draw.chance(50), repeat: draw.chance(50).then_some(at) }
}

fn drop_tail(packets: u32) -> QueuePlan {
    QueuePlan::drop_tail(Limit::Packets(packets))
}

/// A queue of a link of `rate` bits a second.
fn queue(draw: &mut Draw, rate: f64) -> QueuePlan {
    let place = Place {
        rate: Rate::from_bps(rate as u64),
        delay: Duration::from_millis(draw.whole(1, 50)),
        packet_bytes: 1500,
        mean_rtt_secs: draw.scale(0.005, 0.2),
    };
    random_queue(draw, &place)
}

fn loss(draw: &mut Draw) -> LossPlan {
    match draw.whole(0, 7) {
        0 => LossPlan::Bernoulli { probability: draw.scale(1e-4, 0.3) },
        1 => {
            let period = draw.whole(2, 500);
            LossPlan::Periodic { period, offset: draw.whole(0, period - 1) }
        }
        2 => {
            let first = draw.whole(1, 200);
            let late = draw.whole(1, 200);
            let marked = draw.whole(1, 200);
            LossPlan::Scripted(Script {
                lost: (first..first + draw.whole(1, 40)).collect(),
                late: (late..late + draw.whole(0, 20)).collect(),
                late_by: draw.time(Duration::from_millis(50)),
                marked: (marked..marked + draw.whole(0, 20)).collect(),
            })
        }
        3 => LossPlan::BitErrors { probability: draw.scale(1e-8, 1e-4) },
        4 => LossPlan::GilbertElliott {
            good: ChannelState { loss: draw.scale(1e-4, 1e-2), leave: draw.scale(1e-4, 0.1) },
            bad: ChannelState { loss: draw.real(0.0, 1.0), leave: draw.real(0.05, 1.0) },
        },
        _ => LossPlan::None,
    }
}

fn jitter(draw: &mut Draw) -> Duration {
    if draw.chance(20) { draw.time(Duration::from_millis(10)) } else { Duration::ZERO }
}

pub(super) fn transport(draw: &mut Draw) -> Transport {
    let recoveries = [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack];
    Transport {
        mss: draw.pick(&[536, 1000, 1460]),
        header: 40,
        framing: draw.pick(&[0, 18]),
        max_window: draw.chance(25).then(|| draw.whole(2, 60) as u32),
        min_rto: Duration::from_millis(draw.pick(&[100, 200, 1000])),
        delayed_ack: draw.chance(30).then(|| Duration::from_millis(draw.pick(&[40, 100]))),
        limited_transmit: draw.chance(70),
        timestamps: draw.chance(30),
        byte_counting: draw.chance(30),
        idle_restart: draw.chance(70),
        recovery: draw.pick(&recoveries),
        peer_sack: draw.chance(85),
        ecn: draw.pick(&[EcnMode::Off, EcnMode::Classic, EcnMode::AccEcn]),
        dsack: draw.chance(50),
        undo: draw.pick(&[Undo::None, Undo::Eifel, Undo::Dsack, Undo::Both]),
        ..Transport::default()
    }
}
