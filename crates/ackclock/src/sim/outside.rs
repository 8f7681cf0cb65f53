//! Flows whose ends are outside of the simulation, for example in real TCP stacks.
//!
//! Their owner sends packets by [`Simulation::enter`], and takes the outcomes by [`Simulation::take_outcome`]. A packet
//! in flight on the last link of its path arrives for certain, unless other packets may overtake it. Its outcome is
//! known then, before its time. At the end of the run the owner hands over its measures.

use std::sync::atomic::AtomicBool;

use super::error::RunError;
use super::index::{FlowId, LinkId};
use super::measures::{FlowMeasures, OutsideFlow};
use super::outcome::{Direction, Outcome};
use super::packet::{Body, Kind, OutsideBody};
use super::result::RunResult;
use super::simulation::Simulation;
use crate::qdisc::{Ecn, QueueServer};
use crate::units::{Duration, Instant};

/// A packet of a flow whose ends are outside.
#[derive(Clone, Copy, Debug)]
pub struct OutsidePacket {
    /// The flow.
    pub flow: FlowId,
    /// Where it goes.
    pub direction: Direction,
    /// Its kind for counters.
    pub kind: Kind,
    /// Its identity for its owner.
    pub token: u32,
    /// Bytes on the wire.
    pub wire_len: u32,
    /// The ECN field.
    pub ecn: Ecn,
}

impl Simulation<'_> {
    /// A packet of a flow sets out at `now`, at most 1 ns before the end of the last step.
    ///
    /// # Panics
    /// If the plan has no flow of this index.
    pub fn enter(&mut self, now: Instant, packet: OutsidePacket) {
        let OutsidePacket { flow, direction, kind, token, wire_len, ecn } = packet;
        let meta = self.ends.flow(flow).outside_meta(direction, wire_len, ecn);
        self.network.send(now, meta, Body::Outside(OutsideBody { token, kind, is_corrupted: false }));
        self.take_ahead();
    }

    /// A server decides about the packets of a link whose queue is the kernel's. Connect it before the first step.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn connect_queue(&mut self, link: LinkId, server: Box<dyn QueueServer>) {
        let rank = self.network.link_rank[link];
        self.network.links[rank].connect_queue(server);
    }

    /// The next outcome that was not taken.
    pub fn take_outcome(&mut self) -> Option<Outcome> {
        self.network.ledger.outcomes.take()
    }

    /// A time before which no packet arrives in this direction without a known outcome, unless an end sends more.
    /// None if no such packet is on its way.
    pub fn earliest_news(&self, direction: Direction) -> Option<Instant> {
        let rest = self.bounds.rest[direction as usize].iter_enumerated();
        let news = rest.filter_map(|(link, rest)| {
            let at = self.network.next_news(self.network.link_rank[link], self.bounds.are_certain[link])?;
            Some(at + (*rest)?)
        });
        news.min()
    }

    /// The shortest time that a packet takes in this direction, or none without flows whose ends are outside.
    pub fn least_delay(&self, direction: Direction) -> Option<Duration> {
        self.bounds.least[direction as usize]
    }

    /// Continues to the end of the run. `flows` are the measures of all flows whose ends are outside.
    ///
    /// # Errors
    /// The errors of [`run`](super::run).
    pub fn finish_with(mut self, flows: Vec<OutsideFlow>, stop: &AtomicBool) -> Result<RunResult, RunError> {
        for outside in flows {
            let rank = self.ends.flow_rank[outside.flow];
            let flow = &mut self.ends.flows[rank];
            let FlowMeasures { queueing_delay, completion, window_integral, .. } = outside.measures;
            flow.queueing_delay = queueing_delay;
            flow.finished = completion.map(|time| (flow.started + time, window_integral));
            let OutsideFlow { data_delays, ack_delay, ack_delays, rtts, .. } = &outside;
            self.ends.delays.add(flow.place, data_delays, (*ack_delay, ack_delays), rtts);
            flow.outside = Some(Box::new(outside));
        }
        self.finish(stop)
    }
}
