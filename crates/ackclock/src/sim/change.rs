//! Changes of links, queues and algorithms between two steps of a run.

use super::impairments::ImpairmentsPlan;
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
        self.network.rates.change(link, planned, self.now(), rate);
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

    /// Has a link lose each packet with this probability, from transmissions on that begin now. The random numbers are those of
    /// the link by its name, one for each packet since the plan or the first call asked for losses at random: a run in which
    /// a link loses packets from its start on is one whose plan says so.
    ///
    /// # Errors
    /// [`ChangeError`] if the link loses packets by another model, or is a station; nothing is changed then.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn set_loss(&mut self, link: usize, probability: f64) -> Result<(), ChangeError> {
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
    /// What is queued beyond a smaller limit is sent, as with Linux's `pfifo`, `bfifo` and `tbf`, and what comes meanwhile is
    /// dropped; DRR, SFQ and FQ-CoDel, which make room by dropping what is queued, do so with the next arrival. Parameters of
    /// the queue that were derived from the limit stay as they are.
    ///
    /// # Errors
    /// [`ChangeError`] if nothing is queued at the link, or if the limit is zero; nothing is changed then.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn set_limit(&mut self, link: usize, limit: QueueLimit) -> Result<(), ChangeError> {
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

    /// What a queue has to know of a link as it is now. The mean base RTT is that of the plan, longer or shorter by what delays of
    /// links were changed since.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn place(&self, link: usize) -> Place {
        let (plan, network) = (self.plan, &self.network);
        let mut place = plan.links[link].place;
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

    /// Another queue takes the place of that of a link, and takes over what is queued: the packets come to it in the order in which
    /// they came to the old one, each at its time, so that sojourn times go on. What it refuses or marks of them, it drops or marks
    /// now. It knows nothing else of the old queue: averages, deficits and drop states begin anew, as do the tokens of a bucket.
    /// Drop-tail in the place of drop-tail, with room for what is queued, changes nothing.
    ///
    /// Its random numbers are those of the link's queue in the plan if it is set at the start of the run, and else others for each
    /// time of a change. Drops and marks in the result are those of all queues that the link had, for the reasons of each. At the end
    /// of the run nothing is changed any more.
    ///
    /// # Errors
    /// [`ChangeError`] if nothing is queued at the link; nothing is changed then.
    ///
    /// # Panics
    /// If the plan has no link of this index.
    pub fn set_queue(&mut self, link: usize, queue: QueuePlan) -> Result<(), ChangeError> {
        self.check_change(link)?;
        let plan = &self.plan.links[link];
        if plan.rate.is_none() {
            return Err(ChangeError::PureDelay);
        }
        let now = self.now();
        if now == Instant::ZERO + self.plan.duration {
            return Ok(());
        }
        let rank = self.bring_up_to_date(link);
        let rngs = RngStreams::from_root(self.plan.seed ^ now.as_nanos());
        let built = queue.build(&|purpose| rngs.stream(&plan.name, purpose));
        let Network { links, ledger, queues, .. } = &mut self.network;
        links[rank].set_queue(now, built, &mut AtLink { ledger, link: rank as u32 });
        queues.push((link, queue));
        self.network.wake_changed(rank);
        self.raise_limits(link);
        Ok(())
    }

    /// Another algorithm takes over a flow, as in Linux by the option `TCP_CONGESTION`. It begins with the window in force and the
    /// slow-start threshold of the old one, and with none of its memory; what the sender knows stays: round-trip times, what is
    /// in flight, and a recovery in progress, which the new one hears of. The last congestion event is not undone any more.
    /// Delivery rates of segments in flight count only what was delivered since, and are too low for a round trip. After
    /// a long idle time the window restarts at what was taken over, at most. Results name the algorithm of the plan. Nothing
    /// happens to a flow that has finished.
    ///
    /// # Errors
    /// [`ChangeError::Interrupted`].
    ///
    /// # Panics
    /// If the plan has no flow of this index.
    pub fn set_algorithm(&mut self, flow: usize, algorithm: &Algorithm) -> Result<(), ChangeError> {
        self.check_step()?;
        let now = self.now();
        self.ends.set_algorithm(flow, algorithm, now, &mut self.network);
        Ok(())
    }

    fn check_change(&self, link: usize) -> Result<(), ChangeError> {
        self.check_step()?;
        if self.plan.links[link].channel.is_some() {
            return Err(ChangeError::Station);
        }
        Ok(())
    }

    /// A path over this link may hold more than before.
    fn raise_limits(&mut self, link: usize) {
        let (links, link_rank) = (&self.network.links, &self.network.link_rank);
        let current = |plan: &Plan, index: usize| {
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
