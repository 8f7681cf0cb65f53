//! Meters in front of links: the flows that share them, and their counters.

use typed_index_collections::TiSlice;

use super::index::{LinkId, LinkRank};
use super::ledger::Colours;
use super::packet::Packet;
use super::plan::{MeterPlan, MeterScope, Plan};
use super::result::{ColourCounts, Volume};
use crate::meter::{Colour, Meter};
use crate::qdisc::Queued;
use crate::units::Instant;

/// All meters of a run: first meters of aggregates in the order of the plan, then meters of single flows.
#[derive(Debug)]
pub(super) struct Meters {
    plan: Vec<MeterPlan>,
    /// For each of `plan`, its link.
    links: Vec<LinkRank>,
    /// Each with the index of its plan.
    meters: Vec<(usize, Meter)>,
    policed: Volume,
}

impl Meters {
    /// The meters of aggregates.
    pub(super) fn new(plan: &Plan, link_rank: &TiSlice<LinkId, LinkRank>) -> Self {
        Meters {
            links: plan.meters.iter().map(|meter| link_rank[meter.link]).collect(),
            meters: plan.meters.iter().map(|meter| Meter::new(meter.profile)).enumerate().collect(),
            plan: plan.meters.clone(),
            policed: Volume::default(),
        }
    }

    /// The meter of one more flow that points to the plan with this index.
    pub(super) fn place(&mut self, index: usize) -> u32 {
        if self.plan[index].scope == MeterScope::Aggregate {
            return index as u32;
        }
        self.meters.push((index, Meter::new(self.plan[index].profile)));
        self.meters.len() as u32 - 1
    }

    /// The link that a meter precedes.
    pub(super) fn link(&self, meter: u32) -> LinkRank {
        self.links[self.meters[meter as usize].0]
    }

    /// Gives a packet its colour, and says whether it is dropped.
    pub(super) fn colour(&mut self, now: Instant, meter: u32, packet: &mut Packet) -> (Colour, bool) {
        let (index, meter) = &mut self.meters[meter as usize];
        let MeterPlan { is_aware, drops_red, .. } = self.plan[*index];
        let was = if is_aware && !packet.in_profile() { Colour::Yellow } else { Colour::Green };
        let colour = meter.colour(now, packet.wire_len(), was);
        packet.set_in_profile(colour == Colour::Green);
        let is_dropped = drops_red && colour == Colour::Red;
        if is_dropped {
            self.policed.add(packet.wire_len());
        }
        (colour, is_dropped)
    }

    /// The drops since the start of the run.
    pub(super) fn policed(&self) -> Volume {
        self.policed
    }
}

impl Colours {
    /// In packets.
    pub(super) fn counts(&self) -> ColourCounts {
        let [green, yellow, red] = self.of.map(|volume| volume.packets);
        ColourCounts { green, yellow, red, policed: self.policed }
    }
}
