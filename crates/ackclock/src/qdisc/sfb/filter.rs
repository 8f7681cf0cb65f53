//! The counting Bloom filter of SFB.

use super::SfbParameters;
use crate::qdisc::flow_queues::mix;

/// Levels of the filter, and bins at each.
const LEVELS: usize = 8;
const BINS: usize = 16;

/// A bin: its packets in the queue, and its probability.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u32,
    probability: f64,
}

/// Bins for the flows.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    salt: u64,
    bins: [[Bin; BINS]; LEVELS],
}

impl Filter {
    /// Empty bins.
    pub(super) fn new(salt: u64) -> Self {
        Filter { salt, bins: [[Bin::default(); BINS]; LEVELS] }
    }

    /// The bins of a flow: four bits of its hash select one at each level.
    fn bins(&mut self, hash: u64) -> impl Iterator<Item = &mut Bin> {
        let mut bits = mix(hash ^ self.salt);
        self.bins.iter_mut().map(move |level| {
            let bin = bits as usize % BINS;
            bits /= BINS as u64;
            &mut level[bin]
        })
    }

    /// A packet arrives: adjusts the bins of its flow. Returns the probability of the flow and the packets in its
    /// shortest bin.
    pub(super) fn arrive(&mut self, hash: u64, parameters: &SfbParameters) -> (f64, u32) {
        let SfbParameters { bin_size, increment, decrement, .. } = *parameters;
        let mut least = (1.0_f64, u32::MAX);
        for bin in self.bins(hash) {
            if bin.packets == 0 {
                bin.probability = (bin.probability - decrement).max(0.0);
            } else if bin.packets >= bin_size {
                bin.probability = (bin.probability + increment).min(1.0);
            }
            least = (least.0.min(bin.probability), least.1.min(bin.packets));
        }
        least
    }

    /// The largest probability of a bin.
    pub(super) fn largest_probability(&self) -> f64 {
        self.bins.iter().flatten().map(|bin| bin.probability).fold(0.0, f64::max)
    }

    /// A packet of a flow joins the queue.
    pub(super) fn add(&mut self, hash: u64) {
        self.bins(hash).for_each(|bin| bin.packets += 1);
    }

    /// A packet of a flow leaves the queue.
    pub(super) fn remove(&mut self, hash: u64) {
        self.bins(hash).for_each(|bin| bin.packets -= 1);
    }
}
