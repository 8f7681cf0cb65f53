//! How much may be in flight. A window that grows without bound must not take the memory of the machine.

use super::index::LinkId;
use super::plan::{FlowPlan, Plan};
use crate::link::DelayCourse;
use crate::qdisc::Limit;
use crate::units::{Duration, Rate};

/// The most data in flight of a flow, in multiples of its path's capacity. Algorithms need far less.
const TIMES: u64 = 16;
/// A flow may always have this many segments in flight, also on short paths.
const LEAST: u64 = 1 << 16;
/// The most segments that a flow may have in flight. It bounds memory.
pub const MOST_IN_FLIGHT: u64 = 1 << 22;
/// The most packets of all flows together that may be in flight.
pub const MOST_PACKETS: usize = 1 << 24;
/// The most packets of a capture.
pub const MOST_RECORDED: usize = 10_000_000;

/// The inputs that determine the capacity of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) rate: Option<Rate>,
    pub(super) delay: Duration,
    pub(super) limit: Limit,
}

/// Segments that a path holds: queued, and in flight in both directions at the rate of its slowest link.
fn holds(plan: &Plan, flow: &FlowPlan, current: impl Fn(&Plan, LinkId) -> Room) -> u64 {
    let wire = u64::from(flow.transport.mss + flow.transport.header + flow.transport.framing);
    let links = || flow.forward.iter().map(|link| current(plan, *link));
    let queues = links().map(|link| match link.limit {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / wire,
    });
    let delay = flow.forward.iter().chain(&*flow.reverse).fold(Duration::ZERO, |sum, link| {
        let impairments = &plan.links[*link].impairments;
        let extra = impairments.course.as_ref().map_or(Duration::ZERO, DelayCourse::most);
        sum + current(plan, *link).delay
            + extra
            + impairments.jitter
            + impairments.reordering.map_or(Duration::ZERO, |reordering| reordering.delay)
    });
    let Some(rate) = links().filter_map(|link| link.rate).min() else { return u64::MAX };
    queues.fold(bdp(rate, delay, wire), u64::saturating_add)
}

fn bdp(rate: Rate, delay: Duration, wire: u64) -> u64 {
    rate.bytes_in_floor(delay) / wire + 1
}

/// The room of a link as the plan has it.
pub(super) fn planned(plan: &Plan, link: LinkId) -> Room {
    let link = &plan.links[link];
    Room { rate: link.rate, delay: link.delay, limit: link.queue.limit() }
}

/// Segments that a flow may have in flight, where `current` tells the room of each link of the plan.
pub(super) fn most_in_flight(plan: &Plan, flow: &FlowPlan, current: impl Fn(&Plan, LinkId) -> Room) -> u32 {
    holds(plan, flow, current).saturating_mul(TIMES).clamp(LEAST, MOST_IN_FLIGHT) as u32
}
