//! Random small networks.

use std::sync::Arc;

use super::parts::{drop_tail, impairments, over_quic, over_rtp, queue, settings, variation};
use super::{Draw, traffic};
use crate::cc::{Algorithm, CcSpec};
use crate::meter::Profile as MeterProfile;
use crate::qdisc::{Groups, Place};
use crate::sim::{FlowPlan, ImpairmentsPlan, LinkId, LinkPlan, MeterPlan, MeterScope, Plan, Sampling, Stack, Traffic};
use crate::transport::{LossRecovery, Profile};
use crate::units::{Duration, Instant, Rate};

/// The plan of a few seconds on a random dumbbell with one to four flows of every kind. All use the algorithm `cc`.
/// The case with this number is the same in every run. Half of the cases also contain arrivals of transfers and
/// datagrams. A third contain a meter, a quarter run over QUIC, and an eighth over RTP.
pub fn random_plan(cc: &CcSpec, case: u64) -> Plan {
    let mut plan = plan(&mut Draw::new("network", case), cc);
    if case % 2 == 1 {
        let mut draw = Draw::new("traffic", case);
        traffic::add_arrivals(&mut draw, &mut plan, cc);
        traffic::add_datagrams(&mut draw, &mut plan);
    }
    if case % 4 == 2 {
        let mut draw = Draw::new("quic", case);
        let slots = plan.arrivals.iter_mut().flat_map(|group| &mut group.slots);
        for flow in plan.flows.iter_mut().chain(slots) {
            flow.transport = over_quic(&mut draw, (*flow.transport).clone()).into();
        }
    }
    if case % 8 == 4 {
        let mut draw = Draw::new("rtp", case);
        for flow in &mut plan.flows {
            flow.transport = over_rtp(&mut draw, (*flow.transport).clone()).into();
            if !matches!(flow.traffic, Traffic::Bulk | Traffic::RateLimited { .. }) {
                flow.traffic = traffic::video(&mut draw);
            }
        }
    }
    if case.is_multiple_of(3) {
        add_meter(&mut Draw::new("meter", case), &mut plan);
    }
    plan
}

/// The bottleneck and its reverse.
const FORWARD: LinkId = LinkId::new(0);
const REVERSE: LinkId = LinkId::new(1);

/// A meter in front of the bottleneck. Most packets through the bottleneck pass it.
fn add_meter(draw: &mut Draw, plan: &mut Plan) {
    let most = plan.links[plan.bottleneck].rate.map_or(1e6, |rate| rate.as_bps() as f64);
    let rate = |share: f64| Rate::from_bps((most * share) as u64).expect("invariant: links have a rate above 10 bit/s");
    let share = draw.scale(0.02, 1.0);
    let (committed_rate, committed_burst) = (rate(share), draw.scale(1.0, 50_000.0) as u64);
    let second = draw.scale(1.0, 50_000.0) as u64;
    let profile = if draw.chance(50) {
        MeterProfile::SingleRate { committed_rate, committed_burst, excess_burst: second }
    } else {
        MeterProfile::TwoRates { committed_rate, committed_burst, peak_rate: rate(2.0 * share), peak_burst: second }
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

/// The place of a shared link.
fn place(rate: Option<Rate>, delay: Duration) -> Place {
    Place { rate, delay, packet_bytes: 1500, mean_rtt_secs: 2.0 * delay.as_secs_f64(), groups: Groups::NONE }
}

/// The plan of two flows with the algorithm for ten seconds at 10 Mbit/s and 20 ms. They use Linux's transport behind
/// a queue of two bandwidth-delay products.
pub(super) fn crowded(algorithm: &Arc<Algorithm>) -> Plan {
    let (rate, delay) = (Rate::from_bps(10_000_000), Duration::from_millis(10));
    let link = |name: &str, queue| LinkPlan {
        name: name.to_owned(),
        rate,
        varies: None,
        delay,
        queue,
        place: place(rate, delay),
        impairments: ImpairmentsPlan::default(),
        channel: None,
        private: false,
    };
    let keys = Profile::Linux.keys();
    let (context, transport) = (Arc::new(keys.cc_context()), Arc::new(keys.transport(LossRecovery::Sack)));
    let flow = |name: &str| FlowPlan {
        name: name.into(),
        group: name.into(),
        forward: [FORWARD].into(),
        reverse: [REVERSE].into(),
        cc: algorithm.clone(),
        cc_context: context.clone(),
        transport: transport.clone(),
        stack: Stack::Backend,
        traffic: Traffic::Bulk,
        in_profile: false,
        meter: None,
        start: Instant::ZERO,
        stop: None,
        base_rtt: delay * 2,
    };
    Plan {
        seed: 1,
        duration: Duration::from_secs(10),
        warmup: Duration::from_secs(5),
        links: vec![link("bottleneck", drop_tail(34)), link("bottleneck.reverse", drop_tail(1000))],
        channels: Vec::new(),
        flows: vec![flow("one"), flow("other")],
        arrivals: Vec::new(),
        datagrams: Vec::new(),
        groups: Groups::NONE,
        meters: Vec::new(),
        bottleneck: FORWARD,
        sampling: Sampling { interval: None, max_flows: 0, packets: false },
        capture: None,
        kernel: Default::default(),
    }
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
        place: place(rate, delay),
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
        let first = LinkId::new(links.len());
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
        let (cc_context, transport) = settings(draw);
        flows.push(FlowPlan {
            name: name.as_str().into(),
            group: name.into(),
            forward: [first, FORWARD].into(),
            reverse: [REVERSE, LinkId::new(first.number() + 1)].into(),
            cc: cc.clone().into(),
            cc_context: cc_context.into(),
            transport: transport.into(),
            stack: Stack::Backend,
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
        groups: Groups::NONE,
        meters: Vec::new(),
        bottleneck: FORWARD,
        sampling: Sampling { interval: Some(duration / 500), max_flows: 64, packets: false },
        capture: None,
        kernel: Default::default(),
    }
}
