//! The observations of a run: the window of measurement and the samples of links.

use ackclock::link::LinkCounters;
use ackclock::probe::LinkSamples;
use ackclock::rng::RngStreams;
use ackclock::sim::Plan;
use ackclock::units::Instant;

use crate::account::{Account, Counters};
use crate::network::{Delivery, Network};

/// Counters at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub at: Instant,
    pub flows: Vec<Counters>,
    pub links: Vec<LinkCounters>,
}

/// Observes a network while time passes.
pub struct Watch<'a> {
    plan: &'a Plan,
    before: Option<Snapshot>,
    samples: LinkSamples,
    wire_bytes: Vec<u64>,
    next_sample: Option<Instant>,
}

/// The observations of a run that has ended.
pub struct Watched {
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    pub(crate) samples: LinkSamples,
    /// Bytes on the wire so far, for each sample and sampled flow.
    pub wire_bytes: Vec<u64>,
}

impl Watched {
    /// When the run ended.
    pub fn ended_at(&self) -> Instant {
        self.after.at
    }
}

impl<'a> Watch<'a> {
    /// Before the run.
    pub fn new(plan: &'a Plan) -> Self {
        let next_sample = plan.sampling.interval.map(|_| Instant::ZERO);
        Watch { plan, before: None, samples: LinkSamples::default(), wire_bytes: Vec::new(), next_sample }
    }

    /// The time of the next sample.
    pub fn next_sample(&self) -> Option<Instant> {
        self.next_sample
    }

    /// Begins the window of measurement and takes the samples that are due by `now`. All earlier events happen
    /// before, and `deliver` receives packets as in [`Network::advance`].
    pub fn observe(&mut self, now: Instant, network: &mut Network, mut deliver: impl FnMut(Delivery<'_>) -> Instant) {
        let (warmup_ends, end) = (Instant::ZERO + self.plan.warmup, Instant::ZERO + self.plan.duration);
        while let Some(at) = self.next_sample.filter(|at| *at <= now && *at < end) {
            self.begin(at, warmup_ends, network, &mut deliver);
            network.advance(at.before().unwrap_or(at), &mut deliver);
            self.sample(at, network);
            self.next_sample = self.plan.sampling.interval.map(|interval| at + interval);
        }
        self.begin(now, warmup_ends, network, &mut deliver);
    }

    fn begin(
        &mut self,
        now: Instant,
        warmup_ends: Instant,
        network: &mut Network,
        deliver: impl FnMut(Delivery<'_>) -> Instant,
    ) {
        if self.before.is_none() && warmup_ends <= now {
            network.advance(warmup_ends.before().unwrap_or(warmup_ends), deliver);
            self.before = Some(self.snapshot(warmup_ends, network));
            network.flows.accounts.iter_mut().for_each(Account::begin);
            self.plan.link_ids().for_each(|link| network.link(warmup_ends, link).clear_sojourn_times());
        }
    }

    /// The run ends at `now`.
    pub fn finish(self, now: Instant, network: &mut Network) -> Watched {
        let after = self.snapshot(now, network);
        let Watch { before, samples, wire_bytes, .. } = self;
        Watched { before: before.unwrap_or_else(|| after.clone()), after, samples, wire_bytes }
    }

    fn snapshot(&self, at: Instant, network: &mut Network) -> Snapshot {
        let links = self.plan.link_ids().map(|link| network.link(at, link).counters()).collect();
        Snapshot { at, flows: network.flows.accounts.iter().map(|account| account.counters).collect(), links }
    }

    fn sample(&mut self, at: Instant, network: &mut Network) {
        let sampled = &network.flows.accounts[..self.plan.sampled_flows()];
        self.wire_bytes.extend(sampled.iter().map(Account::wire_bytes));
        let varies = self.plan.links.iter().any(|link| !link.private && link.varies.is_some());
        let shared = self.plan.link_ids().filter(|link| !self.plan.links[*link].private);
        for (position, index) in shared.enumerate() {
            let link = network.link(at, index);
            let ((packets, bytes), counters) = (link.backlog(), link.counters());
            self.samples.time_ns.push(at.as_nanos());
            self.samples.link.push(position as u32);
            self.samples.backlog_packets.push(packets);
            self.samples.backlog_bytes.push(bytes);
            self.samples.forwarded_bytes.push(counters.forwarded_bytes);
            self.samples.drops.push(counters.drops);
            if varies {
                let since = Instant::ZERO
                    + at.since(Instant::ZERO).saturating_sub(self.plan.sampling.interval.unwrap_or_default());
                let rngs = RngStreams::from_root(self.plan.seed);
                let capacity = self.plan.links[index].capacity_bps(rngs, since..at);
                self.samples.capacity_bps.push(capacity.unwrap_or(f64::NAN));
            }
        }
    }
}
