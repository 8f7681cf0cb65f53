//! Changes of links, queues and algorithms between two steps of a run.

use super::impairments::ImpairmentsPlan;
use super::index::{FlowId, LinkId};
use super::ledger::AtLink;
use super::limits::{Room, most_in_flight, planned};
use super::network::Network;
use super::plan::Plan;
use super::simulation::Simulation;
use super::view::ChangeError;
use crate::cc::Algorithm;
use crate::qdisc::{Limit as QueueLimit, Place, Qdisc, QueuePlan};
use crate::rng::RngStreams;
use crate::units::{Duration, Instant, Rate};

impl Simulation<'_> {
    /// Changes the rate of a link: of transmissions that begin from now on. One in
    /// progress keeps its time.
    ///
    /// The queue is not rebuilt, so RED, for example, keeps the old rate. Capacities in the result are means over the
    /// rates of the link. Samples contain the column `capacity_bps` only if the plan varies the capacity of some
    /// link.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no rate of its own. The link stays unchanged then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let plan = &self.plan.links[link];
        if plan.varies.is_some() {
            return Err(ChangeError::Varies);
        }
        let planned = plan.rate.ok_or(ChangeError::PureDelay)?;
        let rank = self.bring_up_to_date(link);
        self.network.links[rank].set_rate(rate);
        self.network.rates.change(link, planned, self.now(), rate);
        self.raise_limits(link);
        Ok(())
    }

    /// Changes the delay of a link, for packets whose transmission begins from
    /// now on. A link that keeps the order of packets also keeps it here: no packet arrives before packets in flight.
    ///
    /// The base RTT in results remains the plan's.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no delay of its own. The link stays unchanged then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn set_delay(&mut self, link: LinkId, delay: Duration) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let rank = self.bring_up_to_date(link);
        self.network.links[rank].set_delay(delay);
        self.network.wake_changed(rank);
        self.raise_limits(link);
        Ok(())
    }

    /// Makes a link lose each packet with this probability, from transmissions on that begin now. The random numbers
    /// belong to the link by its name. Each packet consumes one, since the plan or the first call asked for random
    /// losses. To lose packets from the start of a run, write the losses in its plan.
    ///
    /// # Errors
    /// [`ChangeError`] if the link loses packets by another model, or is a station. The link stays unchanged then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn set_loss(&mut self, link: LinkId, probability: f64) -> Result<(), ChangeError> {
        self.check_change(link)?;
        if !(0.0..=1.0).contains(&probability) {
            return Err(ChangeError::NoProbability);
        }
        let rank = self.bring_up_to_date(link);
        let (seed, name) = (self.plan.seed, &self.plan.links[link].name);
        let is_changed = self.network.links[rank]
            .set_loss(probability, || RngStreams::from_root(seed).stream(name, ImpairmentsPlan::LOSS));
        if is_changed { Ok(()) } else { Err(ChangeError::LosesOtherwise) }
    }

    /// Changes how much the queue of a link holds.
    ///
    /// Packets beyond a smaller limit are sent, as with Linux's `pfifo`, `bfifo` and `tbf`, and arrivals are dropped
    /// meanwhile. DRR, SFQ and FQ-CoDel drop queued packets at the next arrival. Parameters of the queue that were
    /// derived from the limit keep their values.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no queue, or if the limit is zero. The link stays unchanged then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn set_limit(&mut self, link: LinkId, limit: QueueLimit) -> Result<(), ChangeError> {
        self.check_change(link)?;
        if self.plan.links[link].rate.is_none() {
            return Err(ChangeError::PureDelay);
        }
        if matches!(limit, QueueLimit::Packets(0) | QueueLimit::Bytes(0)) {
            return Err(ChangeError::NoRoom);
        }
        let rank = self.bring_up_to_date(link);
        self.network.links[rank].set_limit(limit);
        self.raise_limits(link);
        Ok(())
    }

    /// The place of a queue at a link with its present settings. The mean base RTT is the plan's, plus the changes of
    /// link delays since then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn place(&self, link: LinkId) -> Place {
        let (plan, network) = (self.plan, &self.network);
        let mut place = plan.links[link].place.clone();
        let (mut flows, mut longer) = (0, 0);
        for flow in plan.flows.iter().filter(|flow| flow.crosses(link)) {
            flows += 1;
            for index in flow.forward.iter().chain(&*flow.reverse) {
                let delay = network.links[network.link_rank[*index]].delay();
                longer += delay.as_nanos() as i64 - plan.links[*index].delay.as_nanos() as i64;
            }
        }
        if longer != 0 {
            place.mean_rtt_secs = (place.mean_rtt_secs + longer as f64 / 1e9 / f64::from(flows)).max(0.0);
        }
        let now = &network.links[network.link_rank[link]];
        place.rate = now.rate().or(place.rate);
        if now.delay() != plan.links[link].delay {
            place.delay = now.delay();
        }
        place
    }

    /// Replaces the queue of a link by another one, which takes over the queued packets. They enter it in the order
    /// and at the times of their arrival, so that sojourn times continue. Packets that it rejects or marks are
    /// dropped or marked now. Other state of the old queue is lost: averages, deficits, drop states and the tokens of
    /// a bucket start again. Replacing drop-tail by drop-tail with enough space changes nothing.
    ///
    /// A change at the start of the run uses the random numbers of the link's queue in the plan. Any other time of a
    /// change has its own. Drops and marks in the result cover all queues of the link, for the reasons of each. At
    /// the end of the run the call has no effect.
    ///
    /// # Errors
    /// [`ChangeError`] if the link has no queue, or if the new one is the kernel's. The link stays unchanged then.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn set_queue(&mut self, link: LinkId, queue: QueuePlan) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let plan = &self.plan.links[link];
        if plan.rate.is_none() {
            return Err(ChangeError::PureDelay);
        }
        if queue.tc().is_some() {
            return Err(ChangeError::NeedsKernel);
        }
        let now = self.now();
        if now == Instant::ZERO + self.plan.duration {
            return Ok(());
        }
        let rank = self.bring_up_to_date(link);
        let rngs = RngStreams::from_root(self.plan.seed ^ now.as_nanos());
        let built = queue.build(&|purpose| rngs.stream(&plan.name, purpose));
        let Network { links, ledger, queues, .. } = &mut self.network;
        links[rank].set_queue(now, built, &mut AtLink { ledger, link: rank });
        queues.push((link, queue));
        self.network.wake_changed(rank);
        self.raise_limits(link);
        Ok(())
    }

    /// Another algorithm takes over a flow, as in Linux by the option `TCP_CONGESTION`. It begins with the window and
    /// the slow-start threshold of the old one, without its memory. The sender keeps round-trip times, data in
    /// flight, and a recovery in progress, which it reports to the new algorithm. The last congestion event can no
    /// longer be undone. Delivery rates of segments in flight count only later deliveries, so they are too low for a
    /// round trip. After a long idle time the window restarts at the window of the change, at most. Results name the
    /// algorithm of the plan. A finished flow stays unchanged.
    ///
    /// # Errors
    /// [`ChangeError::Interrupted`].
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn set_algorithm(&mut self, flow: FlowId, algorithm: &Algorithm) -> Result<(), ChangeError> {
        self.check_step()?;
        let now = self.now();
        self.ends.set_algorithm(flow, algorithm, now, &mut self.network);
        Ok(())
    }

    fn check_change(&self, link: LinkId) -> Result<(), ChangeError> {
        self.check_step()?;
        if self.plan.links[link].channel.is_some() {
            return Err(ChangeError::Station);
        }
        Ok(())
    }

    /// A path over this link may hold more than before.
    fn raise_limits(&mut self, link: LinkId) {
        let (links, link_rank) = (&self.network.links, &self.network.link_rank);
        let current = |plan: &Plan, index: LinkId| {
            let (planned, link) = (planned(plan, index), &links[link_rank[index]]);
            Room { rate: link.rate().or(planned.rate), delay: link.delay(), limit: link.queue().limit() }
        };
        for (flow, rank) in self.plan.tcp_flows().zip(&self.ends.flow_rank).filter(|(flow, _)| flow.crosses(link)) {
            let sender = &mut self.ends.flows[*rank].sender;
            let most = most_in_flight(self.plan, flow, current).max(sender.most_outstanding());
            sender.set_most_outstanding(most);
        }
    }
}
