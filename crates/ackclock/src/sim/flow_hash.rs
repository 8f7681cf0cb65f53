//! A hash for each flow, which no other flow of the run has.

use std::collections::BTreeSet;

use super::packet::Flags;

/// The hashes given so far.
///
/// A hash follows from the name of the flow. Queues that hash flows thus do not depend on the number of other flows.
/// If two names have the same hash, the later flow takes the next free one.
#[derive(Debug, Default)]
pub(super) struct FlowHashes(BTreeSet<u32>);

impl FlowHashes {
    /// The hash of the flow with this key, and its profile.
    pub(super) fn flags(&mut self, key: u64, in_profile: bool) -> Flags {
        let mut hash = key as u32 & Flags::MOST_HASH;
        while !self.0.insert(hash) {
            hash = (hash + 1) & Flags::MOST_HASH;
        }
        Flags::new(hash, in_profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_flows_have_the_same_hash() {
        let mut hashes = FlowHashes::default();
        let most = u64::from(Flags::MOST_HASH);
        // The lowest bits of a key are its hash; of three that are equal, one at the end of the range.
        let of = [7, most + 1 + 7, 2 * (most + 1) + 7, most, 2 * most + 1].map(|key| hashes.flags(key, true));
        let expected = [7, 8, 9, Flags::MOST_HASH, 0].map(|hash| Flags::new(hash, true));
        assert_eq!(of, expected);
    }
}
