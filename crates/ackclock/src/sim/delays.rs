//! How long packets waited on their paths: one-way time less what they would have taken alone.

use hdrhistogram::Histogram;

use super::plan::Plan;
use crate::link::Waits;
use crate::units::Duration;

/// So many flows, and so many groups of arrivals, have a histogram of their own: more of them do not stay in the caches.
const OWN: usize = 8;

/// Packets that came to the end of their path, and the sum of the times that they waited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waited {
    pub(super) packets: u64,
    sum_ns: u64,
}

impl Waited {
    #[inline]
    fn note(&mut self, waited: Duration) {
        self.packets += 1;
        self.sum_ns += waited.as_nanos();
    }

    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: Waited) {
        self.packets += other.packets;
        self.sum_ns += other.sum_ns;
    }

    /// The mean, nanoseconds; none of none.
    pub(super) fn mean_ns(self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ns as f64 / self.packets as f64)
    }
}

/// What a packet of the last length takes that needs not wait; packets mostly have one length.
#[derive(Clone, Copy, Debug, Default)]
struct Alone {
    wire_len: u32,
    time: Duration,
}

impl Alone {
    #[inline]
    fn time(&mut self, wire_len: u32, alone: impl FnOnce() -> Duration) -> Duration {
        if self.wire_len != wire_len {
            *self = Alone { wire_len, time: alone() };
        }
        self.time
    }
}

/// The paths of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Paths {
    data: Waited,
    forward: Alone,
    reverse: Alone,
    /// The histogram that its data go into.
    place: u32,
}

/// The times that packets waited on their paths since the window of measurement began.
#[derive(Debug)]
pub(super) struct PathDelays {
    /// By TCP flow as the simulation numbers them. Apart from the flows, as all of them together stay in the caches.
    paths: Vec<Paths>,
    /// Of ACKs to flows of the plan.
    pub(super) acks: Waited,
    /// Of those that waited at all.
    ack_histogram: Waits,
    /// Of the first flows of the plan, of its other flows together, of the first groups of arrivals, and of the others.
    histograms: Vec<Waits>,
    /// How many of them are of flows.
    of_flows: usize,
}

impl PathDelays {
    pub(super) fn new(plan: &Plan, flow_rank: &[usize]) -> Self {
        let of_flows = plan.flows.len().min(OWN + 1);
        let of_groups = plan.arrivals.len().min(OWN + 1);
        let places = (0..plan.flows.len()).map(|flow| flow.min(OWN));
        let slots = plan
            .arrivals
            .iter()
            .enumerate()
            .flat_map(|(group, arrivals)| std::iter::repeat_n(of_flows + group.min(OWN), arrivals.slots.len()));
        let mut paths = vec![Paths::default(); flow_rank.len()];
        for (place, rank) in places.chain(slots).zip(flow_rank) {
            paths[*rank].place = place as u32;
        }
        PathDelays {
            paths,
            acks: Waited::default(),
            ack_histogram: Waits::default(),
            histograms: (0..of_flows + of_groups).map(|_| Waits::default()).collect(),
            of_flows,
        }
    }

    /// Data of a flow took `took`, and would have taken `alone` without any waiting.
    #[inline]
    pub(super) fn note_data(&mut self, flow: usize, took: Duration, wire_len: u32, alone: impl FnOnce() -> Duration) {
        let paths = &mut self.paths[flow];
        let waited = took - paths.forward.time(wire_len, alone);
        paths.data.note(waited);
        self.histograms[paths.place as usize].record(waited);
    }

    /// An ACK to a flow took `took`, and would have taken `alone` without any waiting.
    #[inline]
    pub(super) fn note_ack(&mut self, flow: usize, took: Duration, wire_len: u32, alone: impl FnOnce() -> Duration) {
        let paths = &mut self.paths[flow];
        if (paths.place as usize) < self.of_flows {
            let waited = took - paths.reverse.time(wire_len, alone);
            self.acks.packets += 1;
            // Mostly none waits.
            if !waited.is_zero() {
                self.acks.sum_ns += waited.as_nanos();
                self.ack_histogram.record(waited);
            }
        }
    }

    /// The window of measurement begins.
    pub(super) fn begin(&mut self) {
        self.paths.iter_mut().for_each(|paths| paths.data = Waited::default());
        self.acks = Waited::default();
        self.histograms.iter_mut().chain([&mut self.ack_histogram]).for_each(Waits::clear);
    }

    /// The data of a flow.
    pub(super) fn data(&self, flow: usize) -> Waited {
        self.paths[flow].data
    }

    /// Of the data of all flows of the plan.
    pub(super) fn all_flows(&self) -> Histogram<u64> {
        sum(&self.histograms[..self.of_flows])
    }

    /// Of the data of these flows of the plan; none where one of them has no histogram of its own.
    pub(super) fn flows(&self, indices: &[usize]) -> Option<Histogram<u64>> {
        let is_own = indices.iter().all(|index| *index < OWN);
        is_own.then(|| sum(indices.iter().map(|index| &self.histograms[*index])))
    }

    /// Of the data of a group of arrivals; none where it has no histogram of its own.
    pub(super) fn group(&self, index: usize) -> Option<Histogram<u64>> {
        (index < OWN).then(|| self.histograms[self.of_flows + index].histogram())
    }

    /// Of the ACKs to all flows.
    pub(super) fn acks(&self) -> Histogram<u64> {
        let mut waited = self.ack_histogram.histogram();
        waited.saturating_record_n(0, self.acks.packets - waited.len());
        waited
    }
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Waits>) -> Histogram<u64> {
    let mut all = Waits::default();
    parts.into_iter().for_each(|part| all.add(part));
    all.histogram()
}
