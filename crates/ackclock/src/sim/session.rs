//! A run in steps: the state that an observer sees between two steps, and the changes that are possible there.

use std::sync::atomic::AtomicBool;

use super::limits::{most_in_flight, planned};
use super::plan::{FlowPlan, Plan};
use super::simulation::Simulation;
use super::{RunError, before};
use crate::link::LinkCounters;
use crate::probe::Samples;
use crate::tcp::{SenderCounters, SenderInfo};
use crate::units::{Duration, Instant, Rate};

/// The result of [`Simulation::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The run reached the given time.
    Paused,
    /// The run reached its end.
    Ended,
}

/// A TCP flow between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowView {
    /// Window, timers and flight size.
    pub sender: SenderInfo,
    /// Counters of the sender since the start of the run.
    pub counters: SenderCounters,
    /// Payload received in order, bytes.
    pub delivered_bytes: u64,
    /// When all data was acknowledged, for a finite flow.
    pub finished: Option<Instant>,
}

/// A link between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// Bits per second of a link whose rate does not vary.
    pub rate: Option<Rate>,
    /// Propagation.
    pub delay: Duration,
    /// Packets in the queue.
    pub backlog_packets: u32,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// Counters since the start of the run.
    pub counters: LinkCounters,
}

/// Why a link cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The last step was interrupted.
    #[error("the last step was interrupted: finish it by another one to the same time")]
    Interrupted,
    /// A station of a channel.
    #[error("the link is a station of a channel, which sets its rate and its delay")]
    Station,
    /// A pure delay.
    #[error("the link has no rate")]
    PureDelay,
    /// A rate that varies by itself.
    #[error("the rate of the link varies by itself")]
    Varies,
}

impl Simulation<'_> {
    /// The current time: all events before it have been executed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether the last step was interrupted: events after `now` may have been executed.
    pub(super) fn is_amid_step(&self) -> bool {
        self.now < self.target
    }

    /// Runs until `until`, or to the end of the run if that comes first; events at `until` are not executed.
    ///
    /// ```
    /// use std::sync::atomic::AtomicBool;
    ///
    /// use ackclock::scenario::Scenario;
    /// use ackclock::sim::{Progress, Simulation};
    /// use ackclock::units::{Duration, Instant, Rate};
    ///
    /// let text = "
    /// schema = 1
    /// duration = '4 s'
    /// warmup = '0 s'
    /// topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms', queue = { kind = 'drop-tail', limit = '50 packets' } }
    /// [[flows]]
    /// name = 'test'
    /// cc = 'cubic'
    /// ";
    /// let plan = Scenario::from_toml::<&str>(text, "example.toml", &[]).unwrap().plan(None, 0);
    /// let stop = AtomicBool::new(false);
    /// let mut simulation = Simulation::new(&plan);
    /// let at = |secs| Instant::ZERO + Duration::from_secs(secs);
    ///
    /// // The first two seconds; then the bottleneck loses nine tenths of its rate.
    /// assert_eq!(simulation.step(at(2), &stop), Ok(Progress::Paused));
    /// let before = simulation.flow(0).delivered_bytes;
    /// simulation.set_rate(plan.bottleneck, Rate::from_bps(1_000_000).unwrap()).unwrap();
    /// assert_eq!(simulation.step(at(3), &stop), Ok(Progress::Paused));
    /// assert_eq!(simulation.now(), at(3));
    /// assert!(simulation.flow(0).delivered_bytes - before < 200_000);
    /// assert!(simulation.link(plan.bottleneck).backlog_packets > 0);
    ///
    /// let result = simulation.finish(&stop).unwrap();
    /// assert_eq!(result.links[0].capacity_bps, Some(5_500_000.0));
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](super::run). A step that was interrupted can be repeated; it ends no earlier than intended.
    pub fn step(&mut self, until: Instant, stop: &AtomicBool) -> Result<Progress, RunError> {
        let end = Instant::ZERO + self.plan.duration;
        let until = until.min(end).max(self.target);
        self.go_on(until, before(until).unwrap_or_default(), stop)?;
        Ok(if self.now == end { Progress::Ended } else { Progress::Paused })
    }

    /// Goes on until `until`; nothing at all happens ahead of `horizon`.
    pub(super) fn go_on(&mut self, until: Instant, horizon: Instant, stop: &AtomicBool) -> Result<(), RunError> {
        if self.error.is_none() {
            (self.target, self.until) = (until, until);
            self.network.step_horizon = horizon;
            self.set_horizon();
            self.handle_events(stop)?;
        }
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.now = self.target;
        Ok(())
    }

    /// The flow with this index in [`Plan::flows`].
    ///
    /// # Panics
    /// If the plan has none of this index.
    pub fn flow(&self, index: usize) -> FlowView {
        let flow = &self.flows[self.flow_rank[index]];
        FlowView {
            sender: flow.sender.info(),
            counters: flow.sender.counters(),
            delivered_bytes: flow.receiver.delivered(),
            finished: flow.finished.map(|(at, _)| at),
        }
    }

    /// The link with this index in [`Plan::links`].
    ///
    /// # Panics
    /// If the plan has none of this index.
    pub fn link(&mut self, index: usize) -> LinkView {
        let rank = self.bring_up_to_date(index);
        let link = &self.network.links[rank];
        let (backlog_packets, backlog_bytes) = link.backlog();
        LinkView { rate: link.rate(), delay: link.delay(), backlog_packets, backlog_bytes, counters: link.counters() }
    }

    /// The samples taken so far.
    pub fn samples(&self) -> &Samples {
        self.sampler.samples()
    }

    /// Changes the rate of the link with this index in [`Plan::links`]: of transmissions that begin from now on. One in
    /// progress keeps its time.
    ///
    /// Its queue is not rebuilt; RED, for example, keeps the old rate. Capacities in the result are means over the
    /// rates that the link had; the column `capacity_bps` of samples is there only if some link of the plan varies by
    /// itself.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no rate of its own; nothing is changed then.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn set_rate(&mut self, link: usize, rate: Rate) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let plan = &self.plan.links[link];
        if plan.varies.is_some() {
            return Err(ChangeError::Varies);
        }
        let planned = plan.rate.ok_or(ChangeError::PureDelay)?;
        let rank = self.bring_up_to_date(link);
        self.network.links[rank].set_rate(rate);
        self.rates.change(link, planned, self.now(), rate);
        self.raise_limits(link);
        Ok(())
    }

    /// Changes the delay of the link with this index in [`Plan::links`]: of packets of which transmission begins from now
    /// on. If the link keeps the order of packets it keeps it here, too: none arrives before packets that are in flight already.
    ///
    /// The base RTT in results remains that of the plan.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no delay of its own; nothing is changed then.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn set_delay(&mut self, link: usize, delay: Duration) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let rank = self.bring_up_to_date(link);
        self.network.links[rank].set_delay(delay);
        self.network.wake_changed(rank);
        self.raise_limits(link);
        Ok(())
    }

    fn check_change(&self, link: usize) -> Result<(), ChangeError> {
        if self.is_amid_step() {
            return Err(ChangeError::Interrupted);
        }
        if self.plan.links[link].channel.is_some() {
            return Err(ChangeError::Station);
        }
        Ok(())
    }

    /// Everything that a link does before now has happened; returns where it stands in the network.
    fn bring_up_to_date(&mut self, link: usize) -> usize {
        let rank = self.link_rank[link];
        if let Some(last) = before(self.now()) {
            self.network.advance_link(last, rank);
        }
        rank
    }

    /// A path over this link may hold more than before.
    fn raise_limits(&mut self, link: usize) {
        let (links, link_rank) = (&self.network.links, &self.link_rank);
        let current = |plan: &Plan, index: usize| {
            let (rate, link) = (planned(plan, index).0, &links[link_rank[index]]);
            (link.rate().or(rate), link.delay())
        };
        let crosses = |flow: &FlowPlan| flow.forward.contains(&link) || flow.reverse.contains(&link);
        for (flow, rank) in self.plan.tcp_flows().zip(&self.flow_rank).filter(|(flow, _)| crosses(flow)) {
            let sender = &mut self.flows[*rank].sender;
            let most = most_in_flight(self.plan, flow, current).max(sender.most_outstanding());
            sender.set_most_outstanding(most);
        }
    }
}
