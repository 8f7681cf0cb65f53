//! Lookahead: which deliveries may be executed before their time, because that cannot be observed.
//!
//! A packet that leaves a link enters the next one ahead of time on two conditions. Only this link feeds the next
//! one, and the packet is not reported. Data arrive ahead of time if their ACK enters a link that only the receivers
//! at one link feed. ACKs enter it in the order of their times. An ACK arrives ahead of time if its sender feeds its
//! own link. Stations of a channel have no lookahead, because their transmissions depend on later arrivals at other
//! stations.
//!
//! No packet enters the next link ahead of time if some packets arrive outside of the simulation at this place. It
//! could wait for the end of a step, and hold up packets behind it whose arrival must be known.
//!
//! By default lookahead is forbidden. A link permits it only if everything on it declares to permit it. Kinds of
//! traffic declare it in `Traffic::receiver_only_answers` and `Traffic::sender_reacts_only_to_acks`, impairments in
//! `ImpairmentsPlan::reorders`. Each of them lists all kinds, so that a new kind does not compile without a decision.

use typed_index_collections::{TiSlice, TiVec};

use super::index::{FlowId, LinkId};
use super::plan::{FlowPlan, Plan, Stack};
use crate::transport::Transport;

/// The permitted lookahead at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lookahead {
    /// Packets enter it ahead of time.
    pub(super) takes: bool,
    /// Packets whose route ends with it arrive ahead of time.
    pub(super) ends: bool,
    /// Samples show effects of some of these arrivals.
    pub(super) shows: bool,
    /// Several routes end with it.
    pub(super) shared: bool,
    /// Packets to ends outside of the simulation arrive for certain as soon as they are in flight on it.
    pub(super) outside: bool,
    /// Some packets that leave it enter the next link or arrive ahead of time.
    pub(super) hands_over: bool,
}

/// The feeders of a link, and the routes that end with it.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    feeder: Option<Feeder>,
    /// Routes that end with it.
    ends: u32,
    /// One of these routes must not deliver ahead of time.
    in_time: bool,
    /// Samples show effects of one of them.
    shows: bool,
    /// One of these routes leads to an end outside of the simulation.
    outside: bool,
}

/// The origin of packets in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    /// The sender of this flow.
    Sender(FlowId),
    Source,
    Link(LinkId),
    /// Receivers of the packets that leave this link.
    ReceiversOf(LinkId),
    Several,
}

impl Known {
    fn fed_by(&mut self, feeder: Feeder) {
        let known = *self.feeder.get_or_insert(feeder);
        if known != feeder {
            self.feeder = Some(Feeder::Several);
        }
    }

    fn ends(&mut self, ahead: bool, shows: bool) {
        self.ends += 1;
        self.in_time |= !ahead;
        self.shows |= shows;
    }
}

/// The permitted lookahead at each link of a plan.
pub(super) fn look_ahead(plan: &Plan) -> TiVec<LinkId, Lookahead> {
    // A trace, or a capture, shows the window at the time of each arrival.
    if plan.is_traced() {
        return vec![Lookahead::default(); plan.links.len()].into();
    }
    let contends = |link: LinkId| plan.links[link].channel.is_some();
    let mut links = TiVec::from(vec![Known::default(); plan.links.len()]);
    for (number, flow) in plan.tcp_flows().enumerate() {
        let last = feed(&mut links, Feeder::Sender(FlowId::new(number)), &flow.forward);
        feed(&mut links, Feeder::ReceiversOf(last), &flow.reverse);
    }
    for source in plan.datagrams.iter().flat_map(|row| &row.sources) {
        feed(&mut links, Feeder::Source, &source.forward);
    }
    for (number, flow) in plan.tcp_flows().enumerate() {
        let is_sampled = number < plan.sampled_flows();
        if flow.stack == Stack::Outside {
            for path in [&flow.forward, &flow.reverse] {
                links[last(path)].ends(false, is_sampled);
                links[last(path)].outside = true;
            }
            continue;
        }
        let last = last(&flow.forward);
        let in_order = links[flow.reverse[0]].feeder == Some(Feeder::ReceiversOf(last));
        links[last].ends(
            in_order && !contends(flow.reverse[0]) && answers_at_once(flow),
            is_sampled || plan.reports(flow.reverse[0]),
        );
        let alone = links[flow.forward[0]].feeder == Some(Feeder::Sender(FlowId::new(number)))
            && !plan.reports(flow.forward[0]);
        links[self::last(&flow.reverse)].ends(alone && reacts_only_to_acks(flow), is_sampled);
    }
    for row in &plan.datagrams {
        // The counters of a row depend on the order of its arrivals.
        let ends = row.sources.iter().map(|source| last(&source.forward));
        let together = ends.clone().is_sorted_by(|one, other| one == other);
        ends.for_each(|link| links[link].ends(together, false));
    }

    let mut lookahead = TiVec::from(vec![Lookahead::default(); links.len()]);
    for (index, link) in links.iter_enumerated() {
        lookahead[index].ends =
            link.ends > 0 && !link.in_time && !contends(index) && !plan.links[index].impairments.reorders();
        lookahead[index].shows = link.shows;
        lookahead[index].shared = link.ends > 1;
        lookahead[index].outside = link.outside && !contends(index) && !plan.links[index].impairments.reorders();
        lookahead[index].hands_over |= lookahead[index].ends || lookahead[index].outside;
        if let Some(Feeder::Link(before)) = link.feeder
            && !plan.reports(index)
            && !contends(index)
            && !contends(before)
            && !links[before].outside
            && !plan.links[before].impairments.reorders()
        {
            lookahead[index].takes = true;
            lookahead[before].hands_over = true;
        }
    }
    lookahead
}

/// Records the feeders of the links of a path, and returns the last link.
fn feed(links: &mut TiSlice<LinkId, Known>, mut feeder: Feeder, path: &[LinkId]) -> LinkId {
    for link in path {
        links[*link].fed_by(feeder);
        feeder = Feeder::Link(*link);
    }
    last(path)
}

fn last(path: &[LinkId]) -> LinkId {
    *path.last().expect("invariant: a path has a link")
}

/// Whether nothing but arriving data makes the receiver send.
fn answers_at_once(flow: &FlowPlan) -> bool {
    let Transport { delayed_ack, receive_buffer, .. } = &*flow.transport;
    delayed_ack.is_none() && receive_buffer.is_none() && flow.traffic.receiver_only_answers()
}

/// Whether nothing but ACKs and timers makes the sender send, and nothing depends on its end.
fn reacts_only_to_acks(flow: &FlowPlan) -> bool {
    flow.traffic.sender_reacts_only_to_acks()
}
