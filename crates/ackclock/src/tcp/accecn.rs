//! Accurate ECN feedback: the counters of the receiver, and their evaluation by the sender.
//!
//! Reference: RFC 9768, with the algorithms of its appendix A.1 and A.2.
//!
//! Deviations: every ACK has the option, where §3.2.3.3 asks for it only when a counter has changed. Connections begin
//! open, so nothing tests whether the path lets the option through (§3.2.3.2).

use super::segment::{AccEcnOption, DataSegment, EcnFeedback};
use crate::ecn::Ecn;

/// RFC 9768 §3.2.1: "s.cep = 5, s.e0b = s.e1b = 1 and s.ceb = 0", and the same at the receiver.
const INITIAL_CEP: u32 = 5;
const INITIAL_EB: u32 = 1;
/// RFC 9768 appendix A.2.1: the ACE field has three bits.
const DIVACE: u32 = 8;
/// RFC 9768 appendix A.1: fields of the option have 24 bits.
const DIVOPT: u32 = 1 << 24;
/// RFC 9768 appendix A.2.2.
const SAFETY_FACTOR: u32 = 2;

/// The counters of arrivals by their ECN fields: r.cep, r.ceb, r.e0b and r.e1b.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedMarks {
    cep: u32,
    e0b: u32,
    ceb: u32,
    e1b: u32,
    last_was_marked: bool,
}

impl Default for ReceivedMarks {
    fn default() -> Self {
        ReceivedMarks { cep: INITIAL_CEP, e0b: INITIAL_EB, ceb: 0, e1b: INITIAL_EB, last_was_marked: false }
    }
}

impl ReceivedMarks {
    /// Data arrive. Returns true if they must be acknowledged at once.
    ///
    /// RFC 9768 §3.2.2.5.1: an ACK should be sent whenever a marked data packet arrives after an unmarked one. Two
    /// marks also make an ACK due, because every second segment does.
    pub(super) fn note(&mut self, segment: &DataSegment, ecn: Ecn) -> bool {
        let counter = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(&mut self.e0b),
            Ecn::Ect1 => Some(&mut self.e1b),
            Ecn::Ce => Some(&mut self.ceb),
        };
        if let Some(counter) = counter {
            *counter = counter.wrapping_add(segment.len);
        }
        let marked = ecn == Ecn::Ce;
        self.cep = self.cep.wrapping_add(u32::from(marked));
        let changes = marked && !self.last_was_marked;
        self.last_was_marked = marked;
        changes
    }

    /// The feedback of an ACK.
    pub(super) fn feedback(&self) -> EcnFeedback {
        let option = AccEcnOption::new(self.e0b, self.ceb, self.e1b);
        EcnFeedback::AccEcn { ace: (self.cep % DIVACE) as u8, option: Some(option) }
    }
}

/// The sender's copies of the counters: s.cep and s.ceb.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownMarks {
    cep: u32,
    ceb: u32,
    /// Marked packets that were learned of since the last option.
    since_option: u32,
}

impl Default for KnownMarks {
    fn default() -> Self {
        KnownMarks { cep: INITIAL_CEP, ceb: 0, since_option: 0 }
    }
}

/// The new information of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NewMarks {
    /// Packets that came with a mark.
    pub(super) packets: u32,
    /// Their payload bytes, taken for full segments where an ACK has no option.
    pub(super) bytes: u32,
}

impl KnownMarks {
    /// Processes the feedback of an ACK with news that newly acknowledges this many segments of at most `mss` bytes.
    /// Returns the additional marks.
    pub(super) fn learn(&mut self, ace: u8, option: Option<AccEcnOption>, newly_acked: u32, mss: u32) -> NewMarks {
        let bytes = option.map(|option| (option.ceb() + DIVOPT - self.ceb % DIVOPT) % DIVOPT);
        // A counter that goes back: the ACK was overtaken, and its news are SACK blocks that no other had room for.
        if bytes.is_some_and(|bytes| bytes >= DIVOPT / 2) {
            return NewMarks::default();
        }
        let least = (u32::from(ace) + DIVACE - self.cep % DIVACE) % DIVACE;
        // As many as there may be, if the field went round while ACKs were missing.
        let most = if newly_acked > least { newly_acked - (newly_acked - least) % DIVACE } else { least };
        let new = match bytes {
            None => NewMarks { packets: most, bytes: mss.saturating_mul(most) },
            Some(bytes) => {
                self.ceb = self.ceb.wrapping_add(bytes);
                // Without an option on the ACK before, some of the bytes are of packets that are known already.
                let bytes = bytes.saturating_sub(mss.saturating_mul(self.since_option));
                let fits = bytes <= mss.saturating_mul(least);
                let packets = if fits && bytes < (mss / SAFETY_FACTOR).saturating_mul(most) {
                    least
                } else {
                    most.max(least + missing_rounds(bytes, mss, least) * DIVACE)
                };
                NewMarks { packets, bytes }
            }
        };
        self.cep = self.cep.wrapping_add(new.packets);
        self.since_option = if option.is_some() { 0 } else { self.since_option.saturating_add(new.packets) };
        new
    }
}

/// The least number of wraps of the field for which this many bytes fit into marked packets. Each contains at most
/// `mss`. Marks above a hole are reported before their data are acknowledged.
fn missing_rounds(bytes: u32, mss: u32, least: u32) -> u32 {
    let (bytes, mss) = (u64::from(bytes), u64::from(mss.max(1)));
    (bytes.saturating_sub(mss * u64::from(least))).div_ceil(mss * u64::from(DIVACE)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::segment::DataEcn;
    use crate::units::Instant;

    const MSS: u32 = 1460;

    /// Full segments that were marked.
    fn full(packets: u32) -> NewMarks {
        NewMarks { packets, bytes: packets * MSS }
    }

    /// A sender that knows of two marks, of 1460 bytes each.
    fn learn(ace: u8, ceb: Option<u32>, newly_acked: u32) -> u32 {
        let mut known = KnownMarks::default();
        let option = |ceb| Some(AccEcnOption::new(1, ceb, 1));
        assert_eq!(known.learn(7, option(2 * MSS), 2, MSS), NewMarks { packets: 2, bytes: 2 * MSS });
        known.learn(ace, ceb.and_then(|ceb| option(2 * MSS + ceb)), newly_acked, MSS).packets
    }

    #[test]
    fn the_receiver_counts_modulo_the_width_of_the_fields() {
        let mut marks = ReceivedMarks::default();
        let segment = DataSegment { seq: 0, len: 1000, sent_at: Instant::ZERO, ecn: DataEcn::new(true, false) };
        assert_eq!(marks.feedback(), EcnFeedback::AccEcn { ace: 5, option: Some(AccEcnOption::new(1, 0, 1)) });
        assert!(!marks.note(&segment, Ecn::Ect0), "nothing is marked");
        assert!(marks.note(&segment, Ecn::Ce), "the first mark is news");
        assert!(!marks.note(&segment, Ecn::Ce), "the second is not");
        assert_eq!(marks.feedback(), EcnFeedback::AccEcn { ace: 7, option: Some(AccEcnOption::new(1001, 2000, 1)) });
        marks.note(&segment, Ecn::Ce);
        marks.note(&DataSegment { ecn: DataEcn::default(), ..segment }, Ecn::NotEct);
        for _ in 0..16_777 {
            marks.note(&segment, Ecn::Ce);
        }
        // 16 780 000 bytes modulo 2^24.
        let option = AccEcnOption::new(1001, 2784, 1);
        assert_eq!(marks.feedback(), EcnFeedback::AccEcn { ace: 1, option: Some(option) });
    }

    #[test]
    fn the_option_has_the_counters_that_changed() {
        let fields = |option: AccEcnOption| {
            let (kind, fields) = option.fields();
            let fields: Vec<_> = fields.map(|[high, middle, low]| u32::from_be_bytes([0, high, middle, low])).collect();
            (kind, fields, option.len_on_wire())
        };
        let mut marks = ReceivedMarks::default();
        let segment = DataSegment { seq: 0, len: 1000, sent_at: Instant::ZERO, ecn: DataEcn::new(true, false) };
        let option = |marks: &ReceivedMarks| match marks.feedback() {
            EcnFeedback::AccEcn { option: Some(option), .. } => option,
            other => panic!("{other:?}"),
        };
        assert_eq!(fields(option(&marks)), (172, vec![1, 0], 8));
        marks.note(&segment, Ecn::Ect1);
        marks.note(&segment, Ecn::Ce);
        assert_eq!(fields(option(&marks)), (174, vec![1001, 1000], 8));
        marks.note(&segment, Ecn::Ect0);
        assert_eq!(fields(option(&marks)), (172, vec![1001, 1000, 1001], 12));
    }

    #[test]
    fn the_least_increment_counts_where_the_field_cannot_have_gone_round() {
        assert_eq!(learn(7, None, 1), 0);
        assert_eq!(learn(0, None, 1), 1);
        assert_eq!(learn(6, None, 7), 7);
        assert_eq!(learn(6, None, 3), 7, "the field is right, and what was acknowledged is not all that came");
    }

    /// RFC 9768 appendix A.2.1: of nine segments two are marked, of ten it may be ten.
    #[test]
    fn without_the_option_the_field_is_taken_to_have_gone_round_where_it_can() {
        assert_eq!(learn(1, None, 9), 2);
        assert_eq!(learn(1, None, 10), 10);
        assert_eq!(learn(7, None, 20), 16);
    }

    /// The examples of RFC 9768 appendix A.2.2.
    #[test]
    fn the_option_tells_whether_the_field_has_gone_round() {
        assert_eq!(learn(7, Some(1460), 8), 8);
        assert_eq!(learn(1, Some(1460), 10), 2);
        assert_eq!(learn(6, Some(10_200), 15), 7);
        assert_eq!(learn(6, Some(15 * MSS), 15), 15);
        // Behind a hole: 17 marks, and one segment acknowledged.
        assert_eq!(learn(0, Some(17 * MSS), 1), 17);
    }

    #[test]
    fn bytes_of_packets_that_are_known_do_not_count_again() {
        let mut known = KnownMarks::default();
        let option = |marks: u32| Some(AccEcnOption::new(1, marks * MSS, 1));
        assert_eq!(known.learn(0, None, 3, MSS), full(3));
        assert_eq!(known.learn(1, None, 1, MSS), full(1));
        assert_eq!(known.learn(1, option(4), 8, MSS), full(0));
        assert_eq!(known.learn(1, option(12), 8, MSS), full(8));
    }

    #[test]
    fn what_was_overtaken_is_not_asked() {
        let mut known = KnownMarks::default();
        let option = |marks: u32| Some(AccEcnOption::new(1, marks * MSS, 1));
        assert_eq!(known.learn(0, option(3), 3, MSS), full(3));
        assert_eq!(known.learn(6, option(1), 1, MSS), full(0));
        assert_eq!(known.learn(1, option(4), 1, MSS), full(1));
    }

    #[test]
    fn bytes_wrap_at_the_width_of_the_field() {
        let mut known = KnownMarks::default();
        let option = |ceb: u64| Some(AccEcnOption::new(1, (ceb % u64::from(DIVOPT)) as u32, 1));
        // Ten segments a time, all marked, beyond 2^24 bytes.
        for turn in 1..=2000_u64 {
            let ace = ((5 + 10 * turn) % 8) as u8;
            assert_eq!(known.learn(ace, option(10 * turn * u64::from(MSS)), 10, MSS), full(10));
        }
    }
}
