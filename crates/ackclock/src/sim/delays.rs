//! How long packets waited on their paths: one-way time less what they would have taken alone.

use hdrhistogram::Histogram;

use super::plan::Plan;
use crate::link::Waits;
use crate::units::{Duration, Instant};

/// So many flows, and so many groups of arrivals, have a histogram of their own; a histogram takes 34 kB.
const OWN: usize = 64;

/// One direction of a flow's path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathDelay {
    /// Packets that came to its end within the window of measurement.
    pub(super) arrived: u64,
    /// Sum of the times that they waited.
    waited_ns: u64,
    /// The last length asked for, and its time alone: packets mostly have one size.
    alone: (u32, Duration),
}

impl PathDelay {
    /// A packet of `wire_len` that set out at `departure` arrives at `now`; how long it waited. `unloaded` tells what it
    /// takes alone.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Instant,
        departure: Instant,
        wire_len: u32,
        unloaded: impl FnOnce() -> Duration,
    ) -> Duration {
        if self.alone.0 != wire_len {
            self.alone = (wire_len, unloaded());
        }
        let waited = now.since(departure + self.alone.1);
        self.arrived += 1;
        self.waited_ns += waited.as_nanos();
        waited
    }

    /// The window of measurement begins.
    pub(super) fn begin(&mut self) {
        (self.arrived, self.waited_ns) = (0, 0);
    }

    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: &PathDelay) {
        self.arrived += other.arrived;
        self.waited_ns += other.waited_ns;
    }

    /// The mean of the times that packets waited, nanoseconds; none where none arrived.
    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.arrived > 0).then(|| self.waited_ns as f64 / self.arrived as f64)
    }
}

/// Histograms of the times that packets waited: of flows, of groups of arrivals, and of all ACKs to flows.
#[derive(Debug)]
pub(super) struct PathDelays {
    /// Of the first flows of a plan, and behind them of all other flows together.
    flows: Vec<Waits>,
    /// Of the first groups of arrivals.
    groups: Vec<Waits>,
    acks: Waits,
}

/// Which histogram the data of a flow goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One of the flows of the plan.
    Flow(u32),
    /// A slot of a group of arrivals.
    Group(u32),
    None,
}

impl PathDelays {
    pub(super) fn new(plan: &Plan) -> Self {
        let fresh = |count: usize| vec![Waits::default(); count];
        let shared = usize::from(plan.flows.len() > OWN);
        PathDelays {
            flows: fresh(plan.flows.len().min(OWN) + shared),
            groups: fresh(plan.arrivals.len().min(OWN)),
            acks: Waits::default(),
        }
    }

    /// The place of a flow of the plan.
    pub(super) fn of_flow(index: usize) -> Place {
        Place::Flow(index.min(OWN) as u32)
    }

    /// The place of the slots of a group of arrivals.
    pub(super) fn of_group(index: usize) -> Place {
        if index < OWN { Place::Group(index as u32) } else { Place::None }
    }

    /// A packet of data waited this long.
    #[inline]
    pub(super) fn record(&mut self, place: Place, waited: Duration) {
        match place {
            Place::Flow(index) => self.flows[index as usize].record(waited),
            Place::Group(index) => self.groups[index as usize].record(waited),
            Place::None => {}
        }
    }

    /// An ACK to a flow of the plan waited this long.
    #[inline]
    pub(super) fn record_ack(&mut self, place: Place, waited: Duration) {
        if let Place::Flow(_) = place {
            self.acks.record(waited);
        }
    }

    /// The window of measurement begins.
    pub(super) fn begin(&mut self) {
        self.flows.iter_mut().chain(&mut self.groups).for_each(Waits::clear);
        self.acks.clear();
    }

    /// Of the data of all flows.
    pub(super) fn all_flows(&self) -> Histogram<u64> {
        sum(&self.flows)
    }

    /// Of the data of these flows of the plan; none where one of them has no histogram of its own.
    pub(super) fn flows(&self, indices: &[usize]) -> Option<Histogram<u64>> {
        indices.iter().all(|index| *index < OWN).then(|| sum(indices.iter().map(|index| &self.flows[*index])))
    }

    /// Of the data of a group of arrivals; none where it has no histogram of its own.
    pub(super) fn group(&self, index: usize) -> Option<Histogram<u64>> {
        self.groups.get(index).map(Waits::histogram)
    }

    /// Of the ACKs to all flows.
    pub(super) fn acks(&self) -> Histogram<u64> {
        self.acks.histogram()
    }
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Waits>) -> Histogram<u64> {
    let mut all = Waits::default();
    parts.into_iter().for_each(|part| all.add(part));
    all.histogram()
}
