//! The earliest arrivals at ends that are outside of the simulation.

use typed_index_collections::{TiSlice, TiVec};

use super::index::LinkId;
use super::lookahead::Lookahead;
use super::outcome::Direction;
use super::plan::{Plan, Stack};
use crate::units::Duration;

/// Bounds for arrivals at the ends that are outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// The shortest time from a link to the end of a path, by direction and link of the plan.
    pub(super) rest: [TiVec<LinkId, Option<Duration>>; 2],
    /// Whether outcomes of all packets of these flows are known once in flight, by link.
    pub(super) are_certain: TiVec<LinkId, bool>,
    /// The shortest time over a whole path, by direction.
    pub(super) least: [Option<Duration>; 2],
}

impl Bounds {
    pub(super) fn new(plan: &Plan, lookahead: &TiSlice<LinkId, Lookahead>) -> Self {
        let unknown = TiVec::from(vec![None; plan.links.len()]);
        let (mut rest, mut least) = ([unknown.clone(), unknown], [None; 2]);
        let mut are_certain: TiVec<_, _> = lookahead.iter().map(|link| link.outside).collect();
        let shortest = |known: Option<Duration>, time: Duration| Some(known.map_or(time, |known| known.min(time)));
        for flow in plan.flows.iter().filter(|flow| flow.stack == Stack::Outside) {
            for (direction, path) in [(Direction::Forward, &flow.forward), (Direction::Reverse, &flow.reverse)] {
                let mut left = Duration::ZERO;
                for (place, link) in path.iter().rev().enumerate() {
                    let known = &mut rest[direction as usize][*link];
                    *known = shortest(*known, left);
                    are_certain[*link] &= place == 0;
                    left += plan.links[*link].delay;
                }
                least[direction as usize] = shortest(least[direction as usize], left);
            }
        }
        Bounds { rest, are_certain, least }
    }
}
