//! A set of byte ranges, merged and in order. Receivers store data out of order in it, and senders selectively
//! acknowledged data.

use std::collections::VecDeque;

use crate::prefetch::prefetch;

/// Half-open ranges `start .. end`, none empty, none touching another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: VecDeque<(u64, u64)>,
}

impl RangeSet {
    /// True for the empty set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The first range will be needed soon.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(front) = self.ranges.front() {
            prefetch(front);
        }
    }

    /// Adds `start .. end`, and returns the range that contains it now. Reports each new part in order, with that
    /// range.
    pub fn insert(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64, (u64, u64))) -> (u64, u64) {
        if start >= end {
            return (start, start);
        }
        // Mostly it is the last range that grows, or one after it that begins.
        match self.ranges.back_mut() {
            Some(last) if start < last.0 => {}
            Some(last) if start <= last.1 => {
                if end > last.1 {
                    on_new(last.1, end, (last.0, end));
                    last.1 = end;
                }
                return *last;
            }
            _ => {
                self.ranges.push_back((start, end));
                on_new(start, end, (start, end));
                return (start, end);
            }
        }
        // The ranges that overlap or touch are `first .. last`.
        let first = self.ranges.partition_point(|range| range.1 < start);
        let touching = self.ranges.iter().skip(first).take_while(|range| range.0 <= end).count();
        if touching == 0 {
            self.ranges.insert(first, (start, end));
            on_new(start, end, (start, end));
            return (start, end);
        }
        let last = first + touching;
        let whole = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
        let mut covered = start;
        for &(from, to) in self.ranges.range(first..last) {
            if covered < from {
                on_new(covered, from, whole);
            }
            covered = covered.max(to);
        }
        if covered < end {
            on_new(covered, end, whole);
        }
        self.ranges[first] = whole;
        self.ranges.drain(first + 1..last);
        whole
    }

    /// Removes everything below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        while let Some(front) = self.ranges.front_mut() {
            if front.1 > bound {
                front.0 = front.0.max(bound);
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.ranges.iter().copied()
    }

    /// Forgets the first ranges beyond the last `most`.
    pub fn keep_last(&mut self, most: usize) {
        let excess = self.ranges.len().saturating_sub(most);
        self.ranges.drain(..excess);
    }

    /// Where the last range ends.
    #[inline]
    pub fn end(&self) -> Option<u64> {
        self.ranges.back().map(|range| range.1)
    }

    /// The first part of `start .. end` that is in the set.
    pub fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|range| range.1 <= start);
        let range = self.ranges.get(index)?;
        let overlap = (range.0.max(start), range.1.min(end));
        (overlap.0 < overlap.1).then_some(overlap)
    }

    /// The range that holds `position`.
    pub fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|range| range.1 <= position);
        self.ranges.get(index).copied().filter(|range| range.0 <= position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn insertion_reports_what_is_new_and_merges_what_touches() {
        let mut set = RangeSet::default();
        let mut new = Vec::new();
        for (start, end) in [(10, 20), (30, 40), (15, 35), (40, 45), (0, 50)] {
            set.insert(start, end, |from, to, _| new.push((from, to)));
        }
        assert_eq!(new, [(10, 20), (30, 40), (20, 30), (40, 45), (0, 10), (45, 50)]);
        assert_eq!(set.ranges, [(0, 50)]);
    }

    proptest! {
        /// Against a plain array of flags.
        #[test]
        fn a_set_of_ranges_is_a_set(operations in prop::collection::vec((0u64..64, 0u64..16, any::<bool>()), 1..60)) {
            let (mut set, mut flags) = (RangeSet::default(), [false; 80]);
            for (start, len, remove) in operations {
                let held: Vec<u64> = (start..start + len).skip_while(|i| !flags[*i as usize]).collect();
                let first = held.iter().take_while(|i| flags[**i as usize]);
                let overlap = held.first().map(|from| (*from, *from + first.count() as u64));
                prop_assert_eq!(set.first_overlap(start, start + len), overlap);
                if remove {
                    set.remove_below(start);
                    flags[..start as usize].fill(false);
                } else {
                    let mut new = Vec::new();
                    let mut wholes = Vec::new();
                    let whole = set.insert(start, start + len, |from, to, whole| {
                        new.push((from, to));
                        wholes.push(whole);
                    });
                    prop_assert!(wholes.iter().all(|other| *other == whole));
                    prop_assert!(len == 0 || set.containing(start) == Some(whole));
                    prop_assert!(new.iter().all(|part| part.0 < part.1), "{:?}", new);
                    let expected: Vec<_> = (start..start + len).filter(|i| !flags[*i as usize]).collect();
                    prop_assert_eq!(new.iter().flat_map(|part| part.0..part.1).collect::<Vec<_>>(), expected);
                    flags[start as usize..(start + len) as usize].fill(true);
                }
                for (position, flag) in flags.iter().enumerate() {
                    prop_assert_eq!(set.containing(position as u64).is_some(), *flag);
                }
                prop_assert_eq!(set.end(), flags.iter().rposition(|flag| *flag).map(|last| last as u64 + 1));
                let ranges: Vec<_> = set.ranges.iter().collect();
                prop_assert!(ranges.iter().all(|range| range.0 < range.1));
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
