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

/// The times that packets waited on their paths since the window of measurement began.
#[derive(Debug)]
pub(super) struct PathDelays {
    /// By TCP flow as the simulation numbers them. Apart from the flows, as all of them together stay in the caches.
    data: Vec<Waited>,
    /// Of ACKs to flows of the plan.
    pub(super) acks: Waited,
    ack_histogram: Waits,
    /// The histogram that the data of each flow goes into.
    places: Vec<u8>,
    /// Of the first flows of the plan, of its other flows together, of the first groups of arrivals, and of the others.
    histograms: Vec<Waits>,
}

/// The histograms: those of flows, those of groups of arrivals.
const OTHER_FLOWS: usize = OWN;
const FIRST_GROUP: usize = OTHER_FLOWS + 1;
const OTHER_GROUPS: usize = FIRST_GROUP + OWN;

impl PathDelays {
    pub(super) fn new(plan: &Plan, flow_rank: &[usize]) -> Self {
        let of_flows = (0..plan.flows.len()).map(|flow| flow.min(OTHER_FLOWS));
        let of_groups = plan.arrivals.iter().enumerate().flat_map(|(group, arrivals)| {
            std::iter::repeat_n((FIRST_GROUP + group).min(OTHER_GROUPS), arrivals.slots.len())
        });
        let mut places = vec![0; flow_rank.len()];
        for (place, rank) in of_flows.chain(of_groups).zip(flow_rank) {
            places[*rank] = place as u8;
        }
        PathDelays {
            data: vec![Waited::default(); flow_rank.len()],
            acks: Waited::default(),
            ack_histogram: Waits::default(),
            places,
            histograms: (0..=OTHER_GROUPS).map(|_| Waits::default()).collect(),
        }
    }

    /// Data of a flow waited this long.
    #[inline]
    pub(super) fn note_data(&mut self, flow: usize, waited: Duration) {
        self.data[flow].note(waited);
        self.histograms[usize::from(self.places[flow])].record(waited);
    }

    /// An ACK to a flow waited this long.
    #[inline]
    pub(super) fn note_ack(&mut self, flow: usize, waited: Duration) {
        if usize::from(self.places[flow]) <= OTHER_FLOWS {
            self.acks.note(waited);
            self.ack_histogram.record(waited);
        }
    }

    /// The window of measurement begins.
    pub(super) fn begin(&mut self) {
        self.data.fill(Waited::default());
        self.acks = Waited::default();
        self.histograms.iter_mut().chain([&mut self.ack_histogram]).for_each(Waits::clear);
    }

    /// The data of a flow.
    pub(super) fn data(&self, flow: usize) -> Waited {
        self.data[flow]
    }

    /// Of the data of all flows of the plan.
    pub(super) fn all_flows(&self) -> Histogram<u64> {
        sum(&self.histograms[..FIRST_GROUP])
    }

    /// Of the data of these flows of the plan; none where one of them has no histogram of its own.
    pub(super) fn flows(&self, indices: &[usize]) -> Option<Histogram<u64>> {
        let own = indices.iter().map(|index| self.histograms[..OTHER_FLOWS].get(*index)).collect::<Option<Vec<_>>>();
        own.map(sum)
    }

    /// Of the data of a group of arrivals; none where it has no histogram of its own.
    pub(super) fn group(&self, index: usize) -> Option<Histogram<u64>> {
        self.histograms[FIRST_GROUP..OTHER_GROUPS].get(index).map(Waits::histogram)
    }

    /// Of the ACKs to all flows.
    pub(super) fn acks(&self) -> Histogram<u64> {
        self.ack_histogram.histogram()
    }
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Waits>) -> Histogram<u64> {
    let mut all = Waits::default();
    parts.into_iter().for_each(|part| all.add(part));
    all.histogram()
}
