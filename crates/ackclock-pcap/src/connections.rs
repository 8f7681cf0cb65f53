//! The TCP connections of a file.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ackclock::capture::TcpHeader;

use crate::copies::Copies;
use crate::decode::Segment;
use crate::left_out::{LeftOut, MAX_CONNECTIONS};

/// The tolerance of sequence numbers in bytes. Gaps of captures are mostly smaller, and it is a small part of all
/// numbers.
const FAR: u32 = 1 << 24;
/// Bytes from the first one in flight to the last: the largest window (RFC 7323 §2.3).
const MAX_WINDOW: u32 = 1 << 30;

/// An address and a port.
pub(crate) type Endpoint = (IpAddr, u16);

/// A connection of a file.
pub(crate) struct Connection {
    /// In the order of addresses.
    pub(crate) ends: [Endpoint; 2],
    pub(crate) packets: u64,
    /// Payload from each end.
    pub(crate) bytes: [u64; 2],
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// The sequence number of its SYN, from the end that opens it.
    syn: Option<u32>,
    numbers: Numbers,
    /// Numbers of the last packet that does not fit.
    stray: Option<Stray>,
}

impl Connection {
    /// The end that sends more.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.bytes[1] > self.bytes[0])
    }

    fn new(ends: [Endpoint; 2], header: &TcpHeader, syn: Option<u32>) -> Self {
        let time_ns = header.time.as_nanos();
        let (numbers, stray) = (Numbers::default(), None);
        Connection { ends, packets: 0, bytes: [0; 2], first_ns: time_ns, last_ns: time_ns, syn, numbers, stray }
    }

    /// Assigns a segment that is not a first SYN to this connection or another.
    fn judge(&mut self, header: &TcpHeader, side: usize) -> Verdict {
        let fits = self.numbers.fit(header, side);
        if fits == (true, true) || header.ends && header.len == 0 {
            self.stray = None;
            return Verdict::Own;
        }
        if header.syn {
            return Verdict::Another;
        }
        match self.stray.take().filter(|stray| stray.numbers.fit(header, side) == (true, true)) {
            // The bytes of both directions have other numbers than before.
            Some(stray) if stray.is_all_new => Verdict::Another,
            // Packets of one direction are missing.
            Some(stray) => {
                self.numbers.0[stray.side] = stray.numbers.0[stray.side];
                Verdict::Own
            }
            None => {
                let mut numbers = Numbers::default();
                numbers.take(header, side);
                self.stray = Some(Stray { side, numbers, is_all_new: fits == (false, false) });
                Verdict::Stray
            }
        }
    }
}

enum Verdict {
    Own,
    /// The first one of another connection between the same ends.
    Another,
    Stray,
}

/// A packet that does not fit.
struct Stray {
    side: usize,
    numbers: Numbers,
    /// Whether neither its sequence number nor its ACK fits.
    is_all_new: bool,
}

/// The first byte that may be in flight and the byte after the last one, for each direction.
#[derive(Clone, Copy, Default)]
struct Numbers([Option<(u32, u32)>; 2]);

impl Numbers {
    /// Whether the sequence number of a segment from this side fits, and its acknowledgement number.
    fn fit(&self, header: &TcpHeader, side: usize) -> (bool, bool) {
        (self.is_near(side, header.seq), header.ack.is_none_or(|ack| self.is_near(1 - side, ack)))
    }

    fn is_near(&self, side: usize, number: u32) -> bool {
        self.0[side].is_none_or(|(low, next)| {
            let from = low.wrapping_sub(FAR);
            number.wrapping_sub(from) <= next.wrapping_sub(from) + FAR
        })
    }

    fn take(&mut self, header: &TcpHeader, side: usize) {
        let end = header.seq.wrapping_add(header.len).wrapping_add(u32::from(header.syn));
        let (low, next) = self.0[side].unwrap_or((header.seq, end));
        let next = if is_after(end, next) { end } else { next };
        let low = if next.wrapping_sub(low) > MAX_WINDOW { next.wrapping_sub(MAX_WINDOW) } else { low };
        self.0[side] = Some((low, next));
        if let Some(ack) = header.ack {
            let (low, next) = self.0[1 - side].unwrap_or((ack, ack));
            let low = if is_after(ack, low) { ack } else { low };
            self.0[1 - side] = Some((low, if is_after(low, next) { low } else { next }));
        }
    }
}

fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// The connections of a file, as they come in it.
#[derive(Default)]
pub(crate) struct Connections {
    pub(crate) all: Vec<Connection>,
    /// The latest connection of each pair of endpoints.
    latest: BTreeMap<[Endpoint; 2], usize>,
    copies: Copies,
}

impl Connections {
    /// The connection of a segment, and the end that sent it.
    ///
    /// A new connection between the same ends begins with its own SYN. It also begins if two packets have numbers far
    /// from the earlier ones in both directions.
    pub(crate) fn take(&mut self, segment: &Segment) -> Result<(usize, usize), LeftOut> {
        if self.copies.is_copy(segment) {
            return Err(LeftOut::Copy);
        }
        let (from, to, header) = (segment.from, segment.to, &segment.header);
        let side = usize::from(from > to);
        let ends = if side == 0 { [from, to] } else { [to, from] };
        let opens = header.syn && header.ack.is_none();
        let index = match self.latest.get(&ends).copied() {
            Some(index) if opens && self.all[index].syn == Some(header.seq) => index,
            Some(index) if !opens => match self.all[index].judge(header, side) {
                Verdict::Own => index,
                Verdict::Another => self.begin(ends, header, None)?,
                Verdict::Stray => return Err(LeftOut::Stray),
            },
            _ => self.begin(ends, header, opens.then_some(header.seq))?,
        };
        let connection = &mut self.all[index];
        if connection.numbers.fit(header, side) == (true, true) {
            connection.numbers.take(header, side);
        }
        connection.packets += 1;
        connection.bytes[side] += u64::from(header.len);
        let time_ns = header.time.as_nanos();
        (connection.first_ns, connection.last_ns) = (connection.first_ns.min(time_ns), connection.last_ns.max(time_ns));
        Ok((index, side))
    }

    fn begin(&mut self, ends: [Endpoint; 2], header: &TcpHeader, syn: Option<u32>) -> Result<usize, LeftOut> {
        if self.all.len() >= MAX_CONNECTIONS {
            return Err(LeftOut::Connection);
        }
        self.all.push(Connection::new(ends, header, syn));
        self.latest.insert(ends, self.all.len() - 1);
        Ok(self.all.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use ackclock::units::Instant;

    use super::*;

    const DATA: bool = true;
    const ACK: bool = false;

    /// Packets 1 ms apart: direction, sequence number, acknowledgement number, payload.
    fn sort(packets: &[(bool, u32, u32, u32)]) -> (Vec<u64>, Vec<LeftOut>) {
        let (mut connections, mut left_out) = (Connections::default(), Vec::new());
        for (ms, (is_data, seq, ack, len)) in (0..).zip(packets) {
            let ends = [(IpAddr::from([10, 0, 0, 1]), 5000), (IpAddr::from([10, 0, 0, 2]), 80)];
            let [from, to] = if *is_data { ends } else { [ends[1], ends[0]] };
            let time = Instant::from_nanos(1_000_000 * ms);
            let header = TcpHeader { time, seq: *seq, ack: Some(*ack), len: *len, ..TcpHeader::default() };
            left_out.extend(connections.take(&Segment { from, to, header, ip_id: 0, place: (0, 0) }).err());
        }
        (connections.all.iter().map(|connection| connection.packets).collect(), left_out)
    }

    #[test]
    fn a_wrong_sequence_number_is_left_out() {
        let packets = [(DATA, 1000, 1, 100), (DATA, 1100 + (1 << 30), 1, 100), (ACK, 1, 1200, 0), (DATA, 1200, 1, 100)];
        assert_eq!(sort(&packets), (vec![3], vec![LeftOut::Stray]));
    }

    #[test]
    fn numbers_far_away_in_both_directions_are_another_connection() {
        let first = [(DATA, 1000, 1, 100), (ACK, 1, 1100, 0)];
        let second = [(DATA, 3_000_000_000, 2_000_000_000, 100), (ACK, 2_000_000_000, 3_000_000_100, 0)];
        let third = [(DATA, 3_000_000_100, 2_000_000_000, 100)];
        assert_eq!(sort(&[&first[..], &second, &third].concat()), (vec![2, 2], vec![LeftOut::Stray]));
    }

    #[test]
    fn a_gap_in_one_direction_is_the_same_connection() {
        let packets =
            [(DATA, 1000, 1, 100), (DATA, 500_000_000, 1, 100), (DATA, 500_000_100, 1, 100), (ACK, 1, 500_000_200, 0)];
        assert_eq!(sort(&packets), (vec![3], vec![LeftOut::Stray]));
    }

    #[test]
    fn a_repeated_segment_far_behind_the_last_one_fits() {
        // 400 MB in flight, and the first segment again.
        let mut packets: Vec<_> = (0..40).map(|number| (DATA, number * 10_000_000, 1, 10_000_000)).collect();
        packets.push((DATA, 0, 1, 1000));
        assert_eq!(sort(&packets), (vec![41], vec![]));
    }

    #[test]
    fn connections_are_bounded() {
        let mut connections = Connections::default();
        for number in 0..=MAX_CONNECTIONS as u32 {
            let [_, a, b, c] = number.to_be_bytes();
            let (from, to) = ((IpAddr::from([10, a, b, c]), 1), (IpAddr::from([11, 0, 0, 0]), 2));
            let taken = connections.take(&Segment { from, to, header: TcpHeader::default(), ip_id: 0, place: (0, 0) });
            assert_eq!(taken.err(), (number == MAX_CONNECTIONS as u32).then_some(LeftOut::Connection));
        }
    }
}
