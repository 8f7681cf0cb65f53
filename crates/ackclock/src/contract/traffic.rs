//! Random traffic.

use super::Draw;
use super::parts::{settings, variation};
use crate::cc::CcSpec;
use crate::sim::{
    AbrPlan, Adaptation, ArrivalsPlan, DatagramPlan, Distribution, DistributionKind, Emission, FlowPlan,
    InteractivePlan, OnOffPlan, PagePlan, Plan, SourcePlan, SourcePopulation, Spacing, Stack, Traffic, VideoPlan,
    WebPlan,
};
use crate::units::{Duration, Instant, Rate};

/// Traffic of a flow that lasts for the whole run.
pub(super) fn of_flow(draw: &mut Draw) -> Traffic {
    match draw.whole(0, 10) {
        10 => Traffic::Page(Box::new(PagePlan {
            document: Distribution { mean: draw.scale(500.0, 50_000.0), kind: DistributionKind::Fixed },
            objects: draw.whole(1, 20) as u32,
            object: Distribution {
                mean: draw.scale(500.0, 20_000.0),
                kind: DistributionKind::Lognormal { sigma: 1.0 },
            },
            think: Distribution { mean: draw.scale(1e6, 1e9), kind: DistributionKind::Exponential },
            request: 300,
        })),
        9 => abr(draw),
        8 => video(draw),
        7 => {
            let every = Distribution { mean: draw.scale(1e6, 1e9), kind: DistributionKind::Pareto { shape: 1.5 } };
            let size = Distribution { mean: draw.scale(1.0, 3000.0), kind: DistributionKind::Exponential };
            let deadline = (size.mean > 300.0).then(|| Duration::from_nanos(every.mean as u64));
            Traffic::Interactive(Box::new(InteractivePlan { every, size, deadline }))
        }
        6 => Traffic::Web(Box::new(WebPlan {
            think: Distribution { mean: draw.scale(1e7, 1e9), kind: DistributionKind::Exponential },
            request: 300,
            response: Distribution {
                mean: draw.scale(500.0, 100_000.0),
                kind: DistributionKind::Pareto { shape: 1.2 },
            },
        })),
        0 => Traffic::Transfer { bytes: draw.scale(1.0, 1e6) as u64 },
        1 => Rate::from_bps(draw.scale(5e3, 5e6) as u64).map_or(Traffic::Bulk, |rate| Traffic::RateLimited { rate }),
        _ => Traffic::Bulk,
    }
}

/// A stream with an adaptive bit rate.
fn abr(draw: &mut Draw) -> Traffic {
    let least = draw.scale(1e4, 1e6);
    let rates = [1.0, 1.7, 2.5, 6.0].map(|factor| Rate::from_bps((factor * least) as u64));
    let (chunk, chunks) = (Duration::from_millis(draw.pick(&[100, 500, 2000])), draw.whole(2, 12));
    let most = chunk * (chunks - 1);
    let reservoir = most.mul_f64_floor(0.4);
    Traffic::Abr(Box::new(AbrPlan {
        ladder: rates.map(|rate| rate.expect("invariant: a rate above zero")).to_vec(),
        chunk,
        buffer: chunk * chunks,
        startup: chunk * draw.whole(1, chunks - 1),
        adaptation: draw.pick(&[
            Adaptation::Bba0 { reservoir, cushion: most - reservoir },
            Adaptation::Throughput,
            Adaptation::Bola,
        ]),
        request: 300,
    }))
}

/// A video call.
pub(super) fn video(draw: &mut Draw) -> Traffic {
    let rate = |bps: f64| Rate::from_bps(bps as u64).expect("invariant: a rate above zero");
    let least = draw.scale(1e4, 1e6);
    let most = least * draw.scale(1.0, 30.0);
    let burst_frames = draw.whole(2, 12) as u32;
    Traffic::Video(Box::new(VideoPlan {
        interval: Duration::from_millis(draw.pick(&[10, 33, 40, 200])),
        min_rate: rate(least),
        max_rate: rate(most),
        start_rate: rate(draw.real(least, most)),
        steps: if draw.chance(30) { vec![rate(least), rate(most)] } else { Vec::new() },
        reaction: draw.time(Duration::from_millis(500)),
        burst_frames,
        key_size: draw.real(1.0, f64::from(burst_frames)),
        key_interval: draw.chance(30).then(|| Duration::from_millis(draw.pick(&[500, 2000]))),
        interval_variation: draw.pick(&[0.0, 0.15, 1.0]),
        size_variation: draw.pick(&[0.0, 0.15, 1.0]),
        deadline: Duration::from_millis(draw.pick(&[50, 150, 400])),
    }))
}

/// A group of arrivals whose slots use the paths of the flows. Sometimes there are too few slots.
pub(super) fn add_arrivals(draw: &mut Draw, plan: &mut Plan, cc: &CcSpec) {
    let slots = (0..draw.whole(1, 6)).map(|number| {
        let flow = draw.whole(0, plan.flows.len() as u64 - 1) as usize;
        let (cc_context, transport) = settings(draw);
        FlowPlan {
            name: format!("mice.{number}").into(),
            group: "mice".into(),
            cc: cc.clone().into(),
            cc_context: cc_context.into(),
            transport: transport.into(),
            stack: Stack::Backend,
            traffic: Traffic::Slot,
            start: Instant::ZERO,
            stop: None,
            ..plan.flows[flow].clone()
        }
    });
    let slots = slots.collect();
    let kind = draw.pick(&[
        DistributionKind::Fixed,
        DistributionKind::Exponential,
        DistributionKind::Pareto { shape: 1.5 },
        DistributionKind::Lognormal { sigma: 1.0 },
    ]);
    let interval = Duration::from_millis(500);
    plan.arrivals.push(ArrivalsPlan {
        name: "mice".to_owned(),
        slots,
        every: Duration::from_secs_f64_round(draw.scale(0.02, 0.5)),
        alternating: draw.chance(30).then(|| (Duration::from_millis(draw.whole(10, 100)), interval)),
        size: Distribution { mean: draw.scale(500.0, 50_000.0), kind },
        start: Instant::ZERO + draw.time(Duration::from_secs(2)),
        stop: draw.chance(30).then(|| Instant::ZERO + Duration::from_secs(3)),
    });
}

/// Datagrams of every kind on the paths of the flows.
pub(super) fn add_datagrams(draw: &mut Draw, plan: &mut Plan) {
    let most = plan.links[plan.bottleneck].rate.map_or(1e6, |rate| rate.as_bps() as f64);
    for number in 0..draw.whole(1, 3) {
        let flow = draw.whole(0, plan.flows.len() as u64 - 1) as usize;
        let Some(rate) = Rate::from_bps((most * draw.scale(0.02, 1.5)) as u64) else { continue };
        let times = |draw: &mut Draw| Distribution {
            mean: draw.scale(1e6, 1e9),
            kind: draw.pick(&[
                DistributionKind::Fixed,
                DistributionKind::Exponential,
                DistributionKind::Pareto { shape: 1.5 },
            ]),
        };
        let leaves = variation(draw, rate.as_bps());
        let count = draw.whole(2, 20) as u32;
        let emission = match (draw.whole(0, 3), leaves) {
            (0, leaves) => Emission::Cbr { rate, spacing: draw.pick(&[Spacing::Even, Spacing::Exponential]), leaves },
            (1, Some(leaves)) => Emission::Population {
                population: SourcePopulation { capacity: rate, beside: draw.whole(1, 9) as u32, count },
                leaves,
            },
            (1 | 2, _) => Emission::OnOff(OnOffPlan { rate, on: times(draw), off: times(draw) }),
            _ => Emission::Rtp {
                rate,
                interval: Duration::from_millis(draw.whole(5, 50)),
                deadline: Duration::from_millis(draw.whole(10, 200)),
            },
        };
        let name = format!("datagrams{number}");
        let forward = &plan.flows[flow].forward;
        let sources = match emission {
            Emission::Population { population, .. } => {
                let source = |number| SourcePlan { name: format!("{name}.{number}"), forward: forward.clone() };
                (0..population.count).map(source).collect()
            }
            _ => vec![SourcePlan { name: name.clone(), forward: forward.clone() }],
        };
        plan.datagrams.push(DatagramPlan {
            in_profile: false,
            meter: None,
            group: name.clone(),
            packet: draw.whole(100, 1500) as u32,
            emission,
            start: Instant::ZERO + draw.time(Duration::from_secs(2)),
            stop: draw.chance(30).then(|| Instant::ZERO + Duration::from_secs(3)),
            sources,
            name,
        });
    }
}
