//! When datagrams leave their source.

use super::cbr::Cbr;
use super::on_off::OnOff;
use crate::rng::RngStreams;
use crate::sim::plan::{DatagramPlan, Emission, Spacing};
use crate::sim::population::PopulationSource;
use crate::units::{Duration, Instant, Rate};
use crate::variation::{Schedule, Variation, VariationPlan};

/// Bytes that leave a source at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When.
    pub at: Instant,
    /// How much, in one packet or several.
    pub bytes: u64,
}

/// A source of datagrams.
#[derive(Clone, Debug)]
pub struct Emitter {
    kind: Kind,
    packet: u32,
    /// Nothing leaves from then on.
    end: Instant,
}

#[derive(Clone, Debug)]
enum Kind {
    Cbr(Box<Cbr>),
    OnOff(Box<OnOff>),
    Frames { rate: Rate, interval: Duration, start: Instant, frames: u64 },
    Population(Box<PopulationSource>),
}

impl Emitter {
    /// Source `number` of a group before its start. `end` is the end of the run.
    pub fn new(plan: &DatagramPlan, number: usize, end: Instant, rngs: &RngStreams) -> Self {
        let (name, start) = (&plan.sources[number].name, plan.start);
        let kind = match &plan.emission {
            Emission::Cbr { rate, spacing, .. } => {
                let random = (*spacing == Spacing::Exponential).then(|| rngs.stream(name, "spacing"));
                let variation = match plan.leaves(end, rngs) {
                    Some(leaves) => leaves.complement(),
                    None => constant(*rate, end),
                };
                Kind::Cbr(Box::new(Cbr::new(variation, plan.packet, random, start)))
            }
            Emission::OnOff(on_off) => {
                Kind::OnOff(Box::new(OnOff::new(*on_off, plan.packet, rngs.stream(name, "on-off"), start)))
            }
            Emission::Rtp { rate, interval, .. } => Kind::Frames { rate: *rate, interval: *interval, start, frames: 0 },
            Emission::Population { population, .. } => {
                let leaves = plan.leaves(end, rngs).expect("invariant: a population leaves something");
                Kind::Population(Box::new(PopulationSource::new(
                    *population,
                    number as u32,
                    leaves,
                    plan.packet,
                    start,
                )))
            }
        };
        // Packets that leave at the very end of the run belong to it.
        let end = end + Duration::from_nanos(1);
        Emitter { kind, packet: plan.packet, end: plan.stop.map_or(end, |stop| stop.min(end)) }
    }

    /// The next burst.
    pub fn next_burst(&mut self) -> Option<Burst> {
        let (at, bytes) = match &mut self.kind {
            Kind::Cbr(cbr) => {
                let at = cbr.next();
                if at < self.end {
                    cbr.step();
                }
                (at, u64::from(self.packet))
            }
            Kind::OnOff(on_off) => {
                let at = on_off.next(self.end)?;
                on_off.step();
                (at, u64::from(self.packet))
            }
            Kind::Frames { rate, interval, start, frames } => {
                let at = *start + *interval * *frames;
                let produced = |frames: u64| rate.bytes_in_floor(*interval * frames);
                *frames += 1;
                (at, produced(*frames) - produced(*frames - 1))
            }
            Kind::Population(population) => (population.next(self.end)?, u64::from(self.packet)),
        };
        (at < self.end).then_some(Burst { at, bytes })
    }
}

/// A rate that does not vary.
fn constant(rate: Rate, end: Instant) -> Variation {
    let schedule = Schedule::once(vec![(rate.as_bps(), Duration::from_secs(1))]);
    let no_luck = || RngStreams::from_root(0).stream("", "");
    VariationPlan::Schedule(schedule).build(rate, end, no_luck)
}
