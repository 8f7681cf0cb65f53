//! Duplicate packets of a capture: from several interfaces of a host, a mirror port, or duplication on the path.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use ackclock::capture::TcpHeader;
use ackclock::units::Instant;

use crate::decode::Segment;

/// Packets that are remembered.
const REMEMBERED: usize = 1 << 16;
/// Copies with the same IPv4 identification arrive within the time for which a router may hold a packet.
const WITH_ID_NS: u64 = 1_000_000_000;
/// Copies at another interface arrive within the time that a host takes to forward a packet.
const ELSEWHERE_NS: u64 = 10_000_000;
/// Copies with data at the same interface arrive sooner than any retransmission.
const SAME_PLACE_NS: u64 = 100_000;

/// Packets that were seen lately.
#[derive(Default)]
pub(crate) struct Copies {
    /// Time and place, by a digest of the parts that copies share.
    seen: BTreeMap<u64, (u64, (u32, u8))>,
    order: VecDeque<(u64, u64)>,
}

impl Copies {
    /// Whether this packet was seen already. Only the first copy is remembered.
    pub(crate) fn is_copy(&mut self, segment: &Segment) -> bool {
        let header = &segment.header;
        let (digest, now) = (digest(segment), header.time.as_nanos());
        if let Some((time, place)) = self.seen.get(&digest) {
            let carries = header.len > 0 || header.syn || header.ends;
            let bound = match () {
                () if segment.ip_id != 0 => WITH_ID_NS,
                () if *place != segment.place => ELSEWHERE_NS,
                () if carries => SAME_PLACE_NS,
                // Duplicate ACKs are alike.
                () => 0,
            };
            if bound > 0 && now.abs_diff(*time) <= bound {
                return true;
            }
        }
        self.seen.insert(digest, (now, segment.place));
        self.order.push_back((digest, now));
        if self.order.len() > REMEMBERED
            && let Some((digest, time)) = self.order.pop_front()
            && self.seen.get(&digest).is_some_and(|(latest, _)| *latest == time)
        {
            self.seen.remove(&digest);
        }
        false
    }
}

/// A digest of ends, TCP header and identification. Link headers, hop limits and checksums differ between copies.
fn digest(segment: &Segment) -> u64 {
    let TcpHeader {
        time: Instant { .. },
        forward: _,
        seq,
        ack,
        len,
        syn,
        ends,
        window,
        mss,
        window_scale,
        timestamps,
        sack,
    } = segment.header;
    let mut hasher = DefaultHasher::new();
    (segment.from, segment.to, segment.ip_id).hash(&mut hasher);
    (seq, ack, len, syn, ends, window, mss, window_scale, timestamps, sack).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(us: u64, ip_id: u16, len: u32, interface: u32) -> Segment {
        let end = |last, port| (std::net::IpAddr::from([10, 0, 0, last]), port);
        let header =
            TcpHeader { time: Instant::from_nanos(1000 * us), seq: 7, ack: Some(1), len, ..TcpHeader::default() };
        Segment { from: end(1, 5000), to: end(2, 80), header, ip_id, place: (interface, 0) }
    }

    fn are_copies(first: &Segment, second: &Segment) -> bool {
        let mut copies = Copies::default();
        assert!(!copies.is_copy(first));
        copies.is_copy(second)
    }

    #[test]
    fn the_identification_tells_copies_from_retransmissions() {
        assert!(are_copies(&segment(0, 5, 1000, 0), &segment(5, 5, 1000, 0)));
        assert!(are_copies(&segment(0, 5, 0, 0), &segment(900_000, 5, 0, 1)));
        assert!(!are_copies(&segment(0, 5, 1000, 0), &segment(5, 6, 1000, 0)));
        assert!(!are_copies(&segment(0, 5, 1000, 0), &segment(1_100_000, 5, 1000, 0)));
    }

    #[test]
    fn without_one_place_and_time_tell() {
        assert!(are_copies(&segment(0, 0, 1000, 0), &segment(5, 0, 1000, 0)));
        assert!(!are_copies(&segment(0, 0, 1000, 0), &segment(200, 0, 1000, 0)));
        assert!(are_copies(&segment(0, 0, 1000, 0), &segment(200, 0, 1000, 1)));
        // Duplicate ACKs at one place are alike, and no copies.
        assert!(!are_copies(&segment(0, 0, 0, 0), &segment(5, 0, 0, 0)));
        assert!(are_copies(&segment(0, 0, 0, 0), &segment(5, 0, 0, 1)));
    }

    #[test]
    fn only_so_many_packets_are_remembered() {
        let mut copies = Copies::default();
        for number in 0..2 * REMEMBERED as u32 {
            let mut each = segment(u64::from(number), 5, 1000, 0);
            each.header.seq = number;
            assert!(!copies.is_copy(&each));
        }
        assert_eq!((copies.seen.len(), copies.order.len()), (REMEMBERED, REMEMBERED));
    }
}
