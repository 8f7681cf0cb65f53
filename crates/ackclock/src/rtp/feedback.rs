//! Feedback packets of RFC 8888 (CCFB), as lists of numbers.

use crate::ecn::Ecn;
use crate::units::{Duration, Instant};

/// RFC 8888 §3.1: the arrival time offset counts 1/1024 s.
const OFFSETS_PER_SEC: u64 = 1024;
/// The offset that stands for more than 8189/1024 s (RFC 8888 §3.1). 0x1FFF means that no time is available.
const LARGEST_OFFSET: u64 = 0x1ffe;
/// RFC 8888 §3.1: the report timestamp has the middle 32 bits of an NTP timestamp.
const TIMESTAMPS_PER_SEC: u64 = 1 << 16;
const NANOS_PER_SEC: u64 = 1_000_000_000;
/// RTCP header, SSRC of the sender of the packet, SSRC and range of the reports, report timestamp.
const FIXED_LEN: u32 = 8 + 8 + 4;

/// An arrival, as its receiver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The packet number.
    pub(super) number: u64,
    /// When it arrived.
    pub(super) at: Instant,
    /// Its ECN field.
    pub(super) ecn: Ecn,
}

/// Writes a feedback packet at `now` into `list`: first its timestamp, then an entry for each arrival. An entry has
/// the number of the packet, and its offset and ECN field in one number.
pub(super) fn write(now: Instant, arrivals: impl Iterator<Item = Arrival>, list: &mut Vec<(u64, u64)>) {
    let stamp = u128::from(now.as_nanos()) * u128::from(TIMESTAMPS_PER_SEC) / u128::from(NANOS_PER_SEC);
    list.clear();
    list.push((stamp as u64, 0));
    list.extend(arrivals.map(|arrival| {
        let ago = u128::from(now.since(arrival.at).as_nanos()) * u128::from(OFFSETS_PER_SEC);
        let offset = ((ago / u128::from(NANOS_PER_SEC)) as u64).min(LARGEST_OFFSET);
        (arrival.number, offset << 2 | u64::from(arrival.ecn.bits()))
    }));
}

/// The arrivals of a feedback packet, with times of its resolution, and how long the receiver has had each. A packet
/// without a timestamp has none.
pub(super) fn read(list: &[(u64, u64)]) -> impl Iterator<Item = (Arrival, Duration)> {
    let (stamp, entries) = list.split_first().map_or((0, list), |((stamp, _), entries)| (*stamp, entries));
    let sent_ns = (u128::from(stamp) * u128::from(NANOS_PER_SEC) / u128::from(TIMESTAMPS_PER_SEC)) as u64;
    entries.iter().map(move |(number, value)| {
        let held = (value >> 2) * NANOS_PER_SEC / OFFSETS_PER_SEC;
        let at = Instant::from_nanos(sent_ns.saturating_sub(held));
        (Arrival { number: *number, at, ecn: Ecn::from_bits((value & 0b11) as u8) }, Duration::from_nanos(held))
    })
}

/// The ranges `start .. end` of packet numbers that a feedback packet reports, the newest first.
pub fn reported(list: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (number, _) in list.iter().skip(1) {
        match ranges.last_mut() {
            Some((_, end)) if *end == *number => *end += 1,
            _ => ranges.push((*number, number + 1)),
        }
    }
    ranges.reverse();
    ranges
}

/// Bytes of RTCP that report packets from `first` to `last`: 16 bits each, padded to words.
pub(super) fn len(first: u64, last: u64) -> u32 {
    let reports = (last + 1).saturating_sub(first) as u32;
    FIXED_LEN + 2 * reports.next_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_resolution_of_the_report() {
        let now = Instant::from_nanos(10_000_000_000);
        let ago = |micros: u64| Instant::from_nanos(now.as_nanos() - 1_000 * micros);
        let arrivals = [(7, 0, Ecn::Ect0), (9, 1_500, Ecn::Ce), (10, 9_000_000, Ecn::NotEct)];
        let arrivals = arrivals.map(|(number, micros, ecn)| Arrival { number, at: ago(micros), ecn });
        let mut list = vec![(1, 1)];
        write(now, arrivals.into_iter(), &mut list);
        // 10 s are 655 360 / 65 536 s. 1.5 ms are 1.536 / 1024 s, rounded down. 9 s exceed the largest offset.
        assert_eq!(list, [(655_360, 0), (7, 0b10), (9, 1 << 2 | 0b11), (10, 0x1ffe << 2)]);
        let back: Vec<_> = read(&list).collect();
        let held = Duration::from_nanos(976_562);
        let late = Arrival { number: 9, at: Instant::from_nanos(now.as_nanos() - held.as_nanos()), ecn: Ecn::Ce };
        assert_eq!(back[..2], [(arrivals[0], Duration::ZERO), (late, held)]);
        assert_eq!(read(&[]).count(), 0);
    }

    #[test]
    fn reports_take_sixteen_bits_in_words_of_thirty_two() {
        assert_eq!([len(5, 5), len(5, 6), len(5, 7)], [24, 24, 28]);
    }
}
