//! Segments: data in one direction, acknowledgements in the other.

use crate::transport::Transport;
use crate::units::Instant;

/// SACK blocks in one ACK. Timestamps leave space for three (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A segment of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSegment {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// The sender's clock, which the receiver echoes (RFC 7323).
    pub sent_at: Instant,
    /// The flags of the header.
    pub ecn: DataEcn,
}

/// Flags of a data segment, in one byte, so that a later copy does not stall on the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataEcn(u8);

impl DataEcn {
    const ECT: u8 = 1;
    const CWR: u8 = 2;
    const SYN: u8 = 4;
    const FIN: u8 = 8;
    const PROBE: u8 = 16;
    const PSH: u8 = 32;

    /// The flag of the segment that opens a connection.
    pub const SYN_FLAG: DataEcn = DataEcn(Self::SYN);

    /// The flag of the segment that ends a connection.
    pub const FIN_FLAG: DataEcn = DataEcn(Self::FIN);

    /// The flag of a window probe without data. Its number on the wire is one below its `seq`.
    pub const PROBE_FLAG: DataEcn = DataEcn(Self::PROBE);

    /// Whether the segment opens a connection.
    pub fn syn(self) -> bool {
        self.0 & Self::SYN != 0
    }

    /// Whether it ends it.
    pub fn fin(self) -> bool {
        self.0 & Self::FIN != 0
    }

    /// Whether it asks for the receiver's window and has no data.
    pub fn probe(self) -> bool {
        self.0 & Self::PROBE != 0
    }

    /// Whether the sender pushes the data: it may have no more for now.
    #[inline]
    pub fn psh(self) -> bool {
        self.0 & Self::PSH != 0
    }

    /// The same flags, with PSH or not.
    #[inline]
    #[must_use]
    pub fn with_psh(self, psh: bool) -> Self {
        DataEcn((self.0 & !Self::PSH) | (u8::from(psh) * Self::PSH))
    }

    /// The same flags, with FIN or not.
    #[must_use]
    pub fn with_fin(self, fin: bool) -> Self {
        DataEcn((self.0 & !Self::FIN) | (u8::from(fin) * Self::FIN))
    }

    /// The ECN flags of data: whether they are ECN-capable, and whether the sender has reduced its window.
    #[inline]
    pub fn new(ect: bool, cwr: bool) -> Self {
        DataEcn((u8::from(ect) * Self::ECT) | (u8::from(cwr) * Self::CWR))
    }

    /// Whether the packet is ECN-capable: a router may mark it.
    #[inline]
    pub fn ect(self) -> bool {
        self.0 & Self::ECT != 0
    }

    /// RFC 3168's CWR: the sender has reduced its window.
    #[inline]
    pub fn cwr(self) -> bool {
        self.0 & Self::CWR != 0
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSegment {
    /// The next byte expected.
    pub ack: u64,
    /// The data received above it.
    pub sack: SackBlocks,
    /// The echoed clock of the sender.
    pub echo: Instant,
    /// The marks that it reports.
    pub ecn: PackedFeedback,
}

/// The marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// Nothing: ECN was not agreed on.
    #[default]
    None,
    /// Nothing yet: it is the answer to a SYN.
    SynAck,
    /// RFC 3168's ECN-Echo: a data packet arrived with a mark, and the sender has not yet reported its response.
    Classic {
        /// The flag.
        ece: bool,
    },
    /// RFC 9768.
    AccEcn {
        /// Packets that came with a mark, modulo 8, plus 5.
        ace: u8,
        /// The counters of the AccECN option, if the ACK has it.
        option: Option<AccEcnOption>,
    },
}

/// [`EcnFeedback`] in two words, which processors copy and compare at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedFeedback {
    /// The variant, above it the flag ECE or the field ACE, and on top the counter e1b.
    head: u64,
    /// The counter e0b, and above it ceb.
    counters: u64,
}

impl PackedFeedback {
    const SYN_ACK: u64 = 1;
    const CLASSIC: u64 = 2;
    const ACC_ECN: u64 = 3;
    const WITH_OPTION: u64 = 4;
    const VARIANT_BITS: u32 = 8;
    const HALF: u32 = 32;

    /// The feedback.
    #[inline]
    pub fn read(self) -> EcnFeedback {
        let field = (self.head >> Self::VARIANT_BITS) as u8;
        match self.head & ((1 << Self::VARIANT_BITS) - 1) {
            Self::SYN_ACK => EcnFeedback::SynAck,
            Self::CLASSIC => EcnFeedback::Classic { ece: field != 0 },
            Self::ACC_ECN => EcnFeedback::AccEcn { ace: field, option: None },
            Self::WITH_OPTION => {
                let (e0b, ceb) = (self.counters as u32, (self.counters >> Self::HALF) as u32);
                let option = AccEcnOption::new(e0b, ceb, (self.head >> Self::HALF) as u32);
                EcnFeedback::AccEcn { ace: field, option: Some(option) }
            }
            _ => EcnFeedback::None,
        }
    }

    /// The counters of the AccECN option, if the ACK has it.
    #[inline]
    pub fn option(self) -> Option<AccEcnOption> {
        match self.read() {
            EcnFeedback::AccEcn { option, .. } => option,
            _ => None,
        }
    }
}

impl From<EcnFeedback> for PackedFeedback {
    #[inline]
    fn from(feedback: EcnFeedback) -> Self {
        let (variant, field, option) = match feedback {
            EcnFeedback::None => return PackedFeedback::default(),
            EcnFeedback::SynAck => (Self::SYN_ACK, 0, None),
            EcnFeedback::Classic { ece } => (Self::CLASSIC, u8::from(ece), None),
            EcnFeedback::AccEcn { ace, option: None } => (Self::ACC_ECN, ace, None),
            EcnFeedback::AccEcn { ace, option } => (Self::WITH_OPTION, ace, option),
        };
        let [e0b, ceb, e1b] = option.map_or([0; 3], |option| [option.e0b(), option.ceb(), option.e1b()].map(u64::from));
        PackedFeedback {
            head: variant | u64::from(field) << Self::VARIANT_BITS | e1b << Self::HALF,
            counters: e0b | ceb << Self::HALF,
        }
    }
}

impl PartialEq<EcnFeedback> for PackedFeedback {
    fn eq(&self, other: &EcnFeedback) -> bool {
        *self == PackedFeedback::from(*other)
    }
}

/// The counters of the AccECN option (RFC 9768 §3.2.3), each modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    e0b: u32,
    ceb: u32,
    e1b: u32,
}

impl AccEcnOption {
    /// RFC 9768 §3.2.1: "s.e0b = s.e1b = 1 and s.ceb = 0".
    pub const INITIAL: AccEcnOption = AccEcnOption::new(1, 0, 1);

    /// The counters of payload bytes that came as ECT(0), with a mark, and as ECT(1).
    pub const fn new(e0b: u32, ceb: u32, e1b: u32) -> Self {
        const BITS: u32 = (1 << 24) - 1;
        AccEcnOption { e0b: e0b & BITS, ceb: ceb & BITS, e1b: e1b & BITS }
    }

    /// Payload bytes that came as ECT(0), plus 1.
    pub fn e0b(self) -> u32 {
        self.e0b
    }

    /// Payload bytes that came with a mark.
    #[inline]
    pub fn ceb(self) -> u32 {
        self.ceb
    }

    /// Payload bytes that came as ECT(1), plus 1.
    pub fn e1b(self) -> u32 {
        self.e1b
    }

    /// The kind of the option, and its counters. §3.2.3.3 omits a constant counter at the end.
    pub fn fields(self) -> (u8, impl ExactSizeIterator<Item = [u8; 3]>) {
        let AccEcnOption { e0b, ceb, e1b } = self;
        let (kind, fields, len) = match (e0b == Self::INITIAL.e0b, e1b == Self::INITIAL.e1b) {
            // §3.2.3: kind 172 has the order of ECT(0), CE, ECT(1), and kind 174 the opposite.
            (_, true) => (172, [e0b, ceb, e1b], 2),
            (true, false) => (174, [e1b, ceb, e0b], 2),
            (false, false) => (172, [e0b, ceb, e1b], 3),
        };
        let bytes = |counter: u32| {
            let [_, high, middle, low] = counter.to_be_bytes();
            [high, middle, low]
        };
        (kind, fields.map(bytes).into_iter().take(len))
    }

    /// Bytes in a header, padded to whole words.
    pub fn len_on_wire(self) -> u32 {
        (2 + 3 * self.fields().1.len() as u32).next_multiple_of(4)
    }
}

/// Up to three blocks above the cumulative acknowledgement, the most recent first. A D-SACK block may precede them,
/// which reports duplicate data (RFC 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// The number of blocks, and above it the value of [`AckSegment::window`]: one more than the window, or 0 for
    /// none. Processors copy one word without waiting for the last store, and an acknowledgement fits a cache line.
    count_and_window: u64,
    /// Distance of the start from the acknowledgement, negative below it, and length.
    blocks: [(i32, u32); MAX_SACK_BLOCKS],
}

impl AckSegment {
    /// The advertised window in bytes, or none if the receiver has no buffer and thus no limit.
    #[inline]
    pub fn window(&self) -> Option<u64> {
        (self.sack.count_and_window >> SackBlocks::COUNT_BITS).checked_sub(1)
    }

    /// True if it has SACK blocks, or advertises a window.
    #[inline]
    pub fn has_options(&self) -> bool {
        self.sack.count_and_window != 0
    }

    /// The effective window. `max_window` limits the advertised one.
    pub fn advertised(&self, transport: &Transport) -> Option<u64> {
        let window = self.window().unwrap_or(u64::MAX);
        transport.largest_window().map(|largest| window.min(largest))
    }

    /// The same without the byte of FIN, which is at `fin`.
    #[must_use]
    pub fn without_fin(&self, fin: u64) -> Self {
        let window = self.sack.count_and_window & !SackBlocks::COUNT;
        let sack = SackBlocks { count_and_window: window, ..SackBlocks::default() };
        self.between(sack, self.ack.min(fin), 0, fin)
    }

    /// The news of an ACK that comes behind the ACK of `una`: its blocks above.
    #[must_use]
    pub fn after(&self, una: u64) -> Self {
        let old = self.between(SackBlocks::default(), una, una, u64::MAX);
        AckSegment { ecn: EcnFeedback::None.into(), ..old }
    }

    /// The same with another acknowledgement, and with the parts of the blocks from `first` up to `end`.
    fn between(&self, mut sack: SackBlocks, ack: u64, first: u64, end: u64) -> Self {
        for block in self.sack.iter(self.ack).filter(|block| block.0 < end && block.1 > first) {
            sack.push(ack, block.0.max(first), block.1.min(end));
        }
        AckSegment { ack, sack, ..*self }
    }

    /// Returns the segment with an advertised window in bytes.
    #[must_use]
    pub fn with_window(mut self, window: u64) -> Self {
        let word = &mut self.sack.count_and_window;
        *word = *word & SackBlocks::COUNT | (window + 1) << SackBlocks::COUNT_BITS;
        self
    }
}

impl SackBlocks {
    const COUNT_BITS: u32 = 8;
    const COUNT: u64 = (1 << Self::COUNT_BITS) - 1;

    /// Adds a block from a header. `ack` is the acknowledgement that it belongs to.
    ///
    /// A block beyond the third, or one that begins 2 GiB or more away from `ack`, is left out.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let distance = i32::try_from(start.wrapping_sub(ack).cast_signed()).ok();
        let len = end.checked_sub(start).and_then(|len| u32::try_from(len).ok());
        let place = self.len();
        if let (Some(distance), Some(len), Some(block)) = (distance, len, self.blocks.get_mut(place)) {
            *block = (distance, len);
            self.count_and_window += 1;
        }
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        (self.count_and_window & Self::COUNT) as usize
    }

    /// True without blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count_and_window & Self::COUNT == 0
    }

    /// The blocks as `start .. end`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        self.blocks[..self.len()].iter().map(move |(distance, len)| {
            let start = ack.wrapping_add_signed(i64::from(*distance));
            (start, start + u64::from(*len))
        })
    }

    /// The duplicate data, if the first block is a D-SACK block. `ack` is the acknowledgement of the blocks.
    ///
    /// RFC 2883 §5: a SACK block below the cumulative ACK reports a segment that was received more than once. So does a
    /// block inside the second block.
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let mut blocks = self.iter(ack);
        let (start, end) = blocks.next()?;
        let is_twice = end <= ack || blocks.next().is_some_and(|second| second.0 <= start && end <= second.1);
        is_twice.then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_they_were_given() {
        let mut sack = SackBlocks::default();
        sack.push(100, 300, 400);
        sack.push(100, 150, 200);
        assert_eq!(sack.iter(100).collect::<Vec<_>>(), [(300, 400), (150, 200)]);
        sack.push(100, 50, 60);
        assert_eq!(sack.iter(100).last(), Some((50, 60)));
        sack.push(100, 500, 600);
        assert_eq!(sack.len(), 3, "a fourth block is left out");
    }

    #[test]
    fn a_window_goes_with_any_blocks() {
        let ack =
            AckSegment { ack: 100, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::None.into() };
        assert_eq!((ack.window(), ack.with_window(0).window(), ack.with_window(7).window()), (None, Some(0), Some(7)));
        let mut sack = SackBlocks::default();
        sack.push(100, 300, 400);
        let ack = AckSegment { sack, ..ack }.with_window(1 << 40).with_window(1 << 30);
        assert_eq!((ack.window(), ack.sack.len()), (Some(1 << 30), 1));
        assert_eq!(ack.sack.iter(100).collect::<Vec<_>>(), [(300, 400)]);
        assert!(ack.ack == 100 && AckSegment { sack: SackBlocks::default(), ..ack }.with_window(5).sack.is_empty());
        assert!(size_of::<AckSegment>() <= 64, "a cache line");
    }

    #[test]
    fn packed_feedback_reads_as_it_was() {
        let option = AccEcnOption::new(1, 0xff_ffff, 0xab_cdef);
        let feedback = [
            EcnFeedback::None,
            EcnFeedback::SynAck,
            EcnFeedback::Classic { ece: false },
            EcnFeedback::Classic { ece: true },
            EcnFeedback::AccEcn { ace: 7, option: None },
            EcnFeedback::AccEcn { ace: 5, option: Some(option) },
            EcnFeedback::AccEcn { ace: 0, option: Some(AccEcnOption::new(0, 0, 0)) },
        ];
        for (place, one) in feedback.into_iter().enumerate() {
            let packed = PackedFeedback::from(one);
            assert_eq!(packed.read(), one);
            let equal = feedback.map(|other| packed == other).into_iter().position(|equal| equal);
            assert_eq!((equal, packed.option().is_some()), (Some(place), place >= 5), "{one:?}");
        }
    }

    #[test]
    fn a_block_far_from_the_acknowledgement_is_left_out() {
        let (ack, far) = (1 << 40, 1 << 31);
        let mut sack = SackBlocks::default();
        sack.push(ack, ack + far, ack + far + 1);
        sack.push(ack, ack - far - 1, ack - far);
        assert!(sack.is_empty());
        sack.push(ack, ack + far - 1, ack + far);
        sack.push(ack, ack - far, ack);
        assert_eq!(sack.iter(ack).collect::<Vec<_>>(), [(ack + far - 1, ack + far), (ack - far, ack)]);
    }

    #[test]
    fn the_first_block_is_a_duplicate_below_the_acknowledgement_or_within_the_second() {
        let duplicate = |blocks: &[(u64, u64)]| {
            let mut sack = SackBlocks::default();
            blocks.iter().for_each(|(start, end)| sack.push(4000, *start, *end));
            sack.duplicate(4000)
        };
        // RFC 2883 §4.1, examples 1 to 3.
        assert_eq!(duplicate(&[(3000, 3500)]), Some((3000, 3500)));
        assert_eq!(duplicate(&[(3000, 3500), (4500, 5000)]), Some((3000, 3500)));
        assert_eq!(duplicate(&[(5000, 5500), (4500, 5500)]), Some((5000, 5500)));
        assert_eq!(duplicate(&[(3500, 4000)]), Some((3500, 4000)));
        for none in [&[][..], &[(4500, 5000)], &[(5000, 5500), (6000, 6500)], &[(4500, 5500), (5000, 5500)]] {
            assert_eq!(duplicate(none), None, "{none:?}");
        }
    }
}
