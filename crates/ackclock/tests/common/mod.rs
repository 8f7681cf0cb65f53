//! Plans for tests: a dumbbell with an access link on either side of every flow.
#![allow(dead_code)]

use std::sync::atomic::AtomicBool;

use ackclock::cc::{CcContext, CcSpec};
use ackclock::qdisc::{Groups, Place};
use ackclock::sim::{
    self, FlowPlan, ImpairmentsPlan, LinkId, LinkPlan, LossPlan, Plan, QueueLimit, QueuePlan, RunResult, Sampling,
    Stack, Traffic,
};
use ackclock::transport::Transport;
use ackclock::units::{Duration, Instant, Rate};

/// A dumbbell whose bottleneck is far slower than its access links.
pub struct Dumbbell {
    pub rate_bps: u64,
    /// Propagation from end to end and back.
    pub base_rtt: Duration,
    pub limit: u32,
    pub loss: LossPlan,
    pub duration: Duration,
    pub warmup: Duration,
    pub seed: u64,
    pub flows: Vec<(String, FlowSetup)>,
}

#[derive(Clone)]
pub struct FlowSetup {
    pub cc: CcSpec,
    pub transport: Transport,
    pub traffic: Traffic,
    pub start: Duration,
    pub stop: Option<Duration>,
}

impl Default for FlowSetup {
    fn default() -> Self {
        FlowSetup {
            cc: CcSpec::by_name("aimd").unwrap(),
            transport: Transport::default(),
            traffic: Traffic::Bulk,
            start: Duration::ZERO,
            stop: None,
        }
    }
}

impl Dumbbell {
    /// `flows` standard flows at a bottleneck with a buffer of `limit` packets.
    pub fn new(rate_bps: u64, base_rtt: Duration, limit: u32, flows: usize) -> Self {
        Dumbbell {
            rate_bps,
            base_rtt,
            limit,
            loss: LossPlan::None,
            duration: Duration::from_secs(100),
            warmup: Duration::from_secs(10),
            seed: 1,
            flows: (0..flows).map(|index| (format!("flow{index}"), FlowSetup::default())).collect(),
        }
    }

    /// A bandwidth-delay product in packets of 1500 bytes.
    pub fn bdp_packets(rate_bps: u64, base_rtt: Duration) -> f64 {
        rate_bps as f64 * base_rtt.as_secs_f64() / 12_000.0
    }

    pub fn plan(&self) -> Plan {
        let eighth = self.base_rtt / 8;
        let shared = |name: &str, limit, loss| LinkPlan {
            name: name.to_owned(),
            rate: Rate::from_bps(self.rate_bps),
            varies: None,
            delay: eighth * 2,
            queue: QueuePlan::drop_tail(QueueLimit::Packets(limit)),
            place: Place {
                rate: Rate::from_bps(self.rate_bps),
                delay: eighth * 2,
                packet_bytes: 1500,
                mean_rtt_secs: self.base_rtt.as_secs_f64(),
                groups: Groups::NONE,
            },
            impairments: ImpairmentsPlan { loss, ..ImpairmentsPlan::default() },
            channel: None,
            private: false,
        };
        let mut links = vec![
            shared("bottleneck", self.limit, self.loss.clone()),
            shared("bottleneck.reverse", 10_000, LossPlan::None),
        ];
        let mut flows = Vec::new();
        for (name, setup) in &self.flows {
            let first = links.len();
            for side in ["source", "source.reverse", "destination", "destination.reverse"] {
                links.push(LinkPlan {
                    name: format!("{name}.{side}"),
                    rate: Rate::from_bps(self.rate_bps * 10),
                    delay: eighth,
                    private: true,
                    ..shared("", 100_000, LossPlan::None)
                });
            }
            flows.push(FlowPlan {
                name: name.as_str().into(),
                group: name.as_str().into(),
                forward: [first, 0, first + 2].map(LinkId::new).into(),
                reverse: [first + 3, 1, first + 1].map(LinkId::new).into(),
                cc: setup.cc.clone().into(),
                cc_context: CcContext::new(2.0).into(),
                transport: setup.transport.clone().into(),
                stack: Stack::Backend,
                traffic: setup.traffic.clone(),
                in_profile: false,
                meter: None,
                start: Instant::ZERO + setup.start,
                stop: setup.stop.map(|stop| Instant::ZERO + stop),
                base_rtt: eighth * 8,
            });
        }
        Plan {
            seed: self.seed,
            duration: self.duration,
            warmup: self.warmup,
            links,
            channels: Vec::new(),
            flows,
            arrivals: Vec::new(),
            datagrams: Vec::new(),
            groups: Groups::NONE,
            meters: Vec::new(),
            bottleneck: LinkId::new(0),
            sampling: Sampling { interval: Some(self.duration / 1000), max_flows: 64, packets: false },
            capture: None,
            kernel: Default::default(),
        }
    }

    pub fn run(&self) -> RunResult {
        run(&self.plan())
    }
}

pub fn run(plan: &Plan) -> RunResult {
    sim::run(plan, &AtomicBool::new(false)).expect("nobody interrupts")
}
