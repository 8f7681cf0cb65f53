//! Follows the data of a connection and their ACKs.

use std::collections::BTreeMap;

use super::counts::{Counts, Kind};
use super::found::Found;
use super::header::{Numbers, TcpHeader, is_before};
use crate::transport::RangeSet;
use crate::units::{Duration, Instant};

/// The RTT while there is no sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(200);
/// A silence before a timeout is at least as long.
const LEAST_SILENCE: Duration = Duration::from_millis(200);
/// Without an RTT, data that fill a gap within this time were reordered (as in Wireshark).
const OUT_OF_ORDER: Duration = Duration::from_millis(3);
/// Shares of the least RTT. An earlier ACK belongs to an earlier transmission, and data that fill a gap earlier were
/// reordered.
const TOO_SOON: f64 = 0.9;
const SAME_FLIGHT: f64 = 0.8;

/// Transmissions that a connection may have beyond one for each packet.
const MAX_EXTRA: usize = 1 << 22;

/// Segments in a row that are not acknowledged cumulatively, all but the last of an MSS.
///
/// Several segments in a piece were sent once, together. A piece is split before one of them is treated differently.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    /// Its last transmission.
    last: usize,
    sent: u32,
    sacked: bool,
    /// It was not captured, but later data were.
    missing: bool,
}

/// Segments as they were sent once, together.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    /// The place of the first one in the order of transmissions, from 1.
    number: u64,
    time: Instant,
    clock: Option<u32>,
    /// The kind of a retransmission, and the transmission before it.
    repair: Option<(Kind, Option<usize>)>,
    lost: bool,
    spurious: bool,
}

/// The state of a connection in the making.
pub(super) struct Tracker {
    mss: u32,
    scale: Option<u8>,
    numbers: Numbers,
    /// The next byte to be acknowledged, and the next one to be sent.
    una: u64,
    max: u64,
    pieces: BTreeMap<u64, Piece>,
    sacked: RangeSet,
    in_flight: u64,
    delivered: u64,
    transmissions: Vec<Transmission>,
    /// Segments transmitted.
    sent: u64,
    /// The last retransmissions, by their first bytes.
    repairs: BTreeMap<u64, usize>,
    /// The ends of the sent data at the beginning of a recovery and of a timeout.
    recover: u64,
    restarted: u64,
    /// The last packet of either direction, and ACKs that repeat the last one.
    heard: Instant,
    duplicates: u64,
    window: Option<(u64, u16)>,
    /// Since when the receiver's window is full.
    full_since: Option<Instant>,
    least_rtt: Option<Duration>,
    last_rtt: Option<Duration>,
    max_transmissions: usize,
    found: Found,
}

/// A side of a segment.
#[derive(Clone, Copy)]
enum Side {
    Beginning,
    End,
}

/// The segments that an ACK newly acknowledges.
#[derive(Default)]
struct News {
    bytes: u64,
    /// The last of those that were sent once.
    newest: Option<Instant>,
    /// One was sent more than once.
    ambiguous: bool,
    /// Retransmissions among their last transmissions.
    repaired: Vec<usize>,
}

impl Tracker {
    /// Creates the tracker of a connection with `packets` packets.
    pub(super) fn new(mss: u32, scale: Option<u8>, numbers: Numbers, start: Instant, packets: usize) -> Self {
        let found = Found {
            start,
            end: start,
            last_acked: start,
            acked_bytes: 0,
            mss,
            counts: Counts::default(),
            losses: Vec::new(),
            in_flight: vec![(start, 0)],
            rtt: Vec::new(),
            delivered: vec![(start, 0)],
            repairs: Vec::new(),
            receiver_limited: scale.map(|_| Duration::ZERO),
        };
        Tracker {
            mss,
            scale,
            numbers,
            una: Numbers::FIRST,
            max: Numbers::FIRST,
            pieces: BTreeMap::new(),
            sacked: RangeSet::default(),
            in_flight: 0,
            delivered: 0,
            transmissions: Vec::new(),
            sent: 0,
            repairs: BTreeMap::new(),
            recover: 0,
            restarted: 0,
            heard: start,
            duplicates: 0,
            window: None,
            full_since: None,
            least_rtt: None,
            last_rtt: None,
            max_transmissions: packets.saturating_add(MAX_EXTRA),
            found,
        }
    }

    /// Takes the next packet, as the sender sees it.
    pub(super) fn take(&mut self, header: &TcpHeader) {
        if header.forward {
            if header.len > 0 && !header.syn {
                self.on_data(header);
            }
        } else if let Some(ack) = header.ack.filter(|_| !header.syn && header.time >= self.found.start) {
            // An earlier one is of data before those that were seen.
            self.on_ack(header, self.numbers.unwrap(ack, self.una));
        }
        self.heard = header.time;
        if self.found.in_flight.last().is_none_or(|(_, bytes)| *bytes != self.in_flight) {
            self.found.in_flight.push((header.time, self.in_flight));
        }
        self.look_at_window(header);
    }

    fn on_data(&mut self, header: &TcpHeader) {
        let start = self.numbers.unwrap(header.seq, self.max);
        let end = start + u64::from(header.len);
        // A byte that is acknowledged already keeps a connection alive, or asks for its window.
        let is_probe = header.len == 1 && end <= self.una;
        if start < Numbers::FIRST || is_probe {
            return;
        }
        if start > self.max {
            self.add_missing(start, header);
        }
        let mut from = start;
        while from < end.min(self.max) && !self.is_exhausted() {
            let to = end.min(from + u64::from(self.mss));
            if !self.fills_in_order(from, header.time) {
                self.send_again(from, to, header);
            }
            from = to;
        }
        if from < end && from >= self.max {
            self.send(from, end, header, false);
        }
    }

    /// Whether the capture claims more than can be followed.
    pub(super) fn is_exhausted(&self) -> bool {
        self.transmissions.len() >= self.max_transmissions
    }

    /// Data before this byte left the sender and were not seen.
    fn add_missing(&mut self, start: u64, header: &TcpHeader) {
        if self.max < start {
            self.send(self.max, start, header, true);
        }
    }

    /// New data.
    fn send(&mut self, from: u64, to: u64, header: &TcpHeader, missing: bool) {
        let last = self.transmit(header, None, self.segments(from, to));
        self.pieces.insert(from, Piece { end: to, last, sent: 1, sacked: false, missing });
        self.in_flight += to - from;
        self.max = self.max.max(to);
    }

    fn transmit(&mut self, header: &TcpHeader, repair: Option<(Kind, Option<usize>)>, segments: u64) -> usize {
        let clock = header.timestamps.map(|(clock, _)| clock);
        let number = self.sent + 1;
        self.sent += segments;
        self.transmissions.push(Transmission {
            number,
            time: header.time,
            clock,
            repair,
            lost: false,
            spurious: false,
        });
        self.transmissions.len() - 1
    }

    /// Segments in a piece.
    fn segments(&self, start: u64, end: u64) -> u64 {
        (end - start).div_ceil(u64::from(self.mss))
    }

    /// Splits the piece with this byte at the beginning of its segment, or at the end.
    fn split(&mut self, at: u64, side: Side) {
        let Some((start, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        let (start, mss) = (*start, u64::from(self.mss));
        let segments = match side {
            Side::Beginning => (at - start) / mss,
            Side::End => (at - start).div_ceil(mss),
        };
        let place = start + segments * mss;
        if segments == 0 || place >= piece.end {
            return;
        }
        let after = Piece { last: self.transmissions.len(), ..*piece };
        let sent = self.transmissions[piece.last];
        piece.end = place;
        self.transmissions.push(Transmission { number: sent.number + segments, ..sent });
        self.pieces.insert(place, after);
    }

    /// Splits a record of several segments, so that the bytes of the range are separate.
    fn split_segment(&mut self, from: u64, to: u64) {
        self.split(from, Side::Beginning);
        self.split(from + 1, Side::End);
        self.split(to, Side::End);
    }

    /// Whether a segment that was not seen comes now, too soon for a retransmission.
    fn fills_in_order(&mut self, from: u64, now: Instant) -> bool {
        let flight = self.least_rtt.map_or(OUT_OF_ORDER, |rtt| rtt.mul_f64_floor(SAME_FLIGHT));
        let is_missing = self.pieces.range(..=from).next_back().is_some_and(|(_, piece)| piece.missing);
        if !is_missing {
            return false;
        }
        self.split_segment(from, from + 1);
        let Some(piece) = self.pieces.get_mut(&from).filter(|piece| piece.missing) else { return false };
        let is_late = now.since(self.transmissions[piece.last].time) < flight;
        if is_late {
            piece.missing = false;
            self.found.counts.reordered += 1;
        }
        is_late
    }

    fn send_again(&mut self, from: u64, to: u64, header: &TcpHeader) {
        let kind = self.kind(from, to, header.time);
        self.found.counts.add(kind);
        match kind {
            Kind::Timeout => (self.restarted, self.recover) = (self.max, self.max),
            Kind::Fast if self.una >= self.recover => {
                self.found.counts.recoveries += 1;
                self.recover = self.max;
            }
            _ => {}
        }
        // The repeated segments, mostly one.
        self.split_segment(from, to);
        let first = self.pieces.range(..=from).next_back().filter(|(_, piece)| piece.end > from);
        let first = first.map_or(from, |(start, _)| *start);
        let before = self.pieces.range(first..to).find(|(_, piece)| !piece.sacked).map(|(_, piece)| piece.last);
        let index = self.transmit(header, Some((kind, before)), 1);
        self.repairs.insert(from, index);
        if before.is_none() {
            // All of it was acknowledged before.
            self.transmissions[index].spurious = true;
        }
        for (_, piece) in self.pieces.range_mut(first..to).filter(|(_, piece)| !piece.sacked) {
            self.transmissions[piece.last].lost = true;
            (piece.last, piece.missing) = (index, false);
            piece.sent += 1;
        }
    }

    fn kind(&self, from: u64, to: u64, now: Instant) -> Kind {
        let (silence, rtt) = (now.since(self.heard), self.last_rtt.unwrap_or(UNKNOWN_RTT));
        let has_news = self.duplicates > 0 || self.sacked.end().is_some_and(|end| end > from);
        match () {
            () if from == self.una && silence >= rtt.max(LEAST_SILENCE) => Kind::Timeout,
            () if from < self.restarted && self.una < self.restarted => Kind::AfterTimeout,
            () if has_news || self.una < self.recover => Kind::Fast,
            () if to >= self.max && silence >= rtt => Kind::Probe,
            () => Kind::Other,
        }
    }

    fn on_ack(&mut self, header: &TcpHeader, ack: u64) {
        // The ACK covers data that the capture lacks.
        if ack > self.max && ack < self.max + (1 << 30) {
            self.add_missing(ack, header);
        }
        if ack < self.una || ack > self.max {
            return;
        }
        let blocks = header.sack.map(|(start, end)| (self.numbers.unwrap(start, ack), self.numbers.unwrap(end, ack)));
        let (moves, has_data) = (ack > self.una, self.max > self.una);
        self.look_for_duplicates(&blocks, ack);
        let mut news = News::default();
        if moves {
            self.look_at_echo(header);
            self.acknowledge(ack, &mut news);
        }
        for (start, end) in blocks.into_iter().filter(|(start, end)| start < end && *start >= ack) {
            self.acknowledge_selectively(start.max(self.una), end.min(self.max), &mut news);
        }
        let repeats = !moves && has_data && header.is_pure_ack() && self.is_same_window(header, news.bytes > 0);
        self.duplicates = if moves { 0 } else { self.duplicates + u64::from(repeats) };
        self.found.counts.duplicate_acks += u64::from(repeats);
        self.learn(header.time, &news);
        if moves {
            self.found.last_acked = header.time;
        }
    }

    /// RFC 5681 §2: a duplicate ACK does not change the window, unless it has news in its SACK blocks.
    fn is_same_window(&self, header: &TcpHeader, has_news: bool) -> bool {
        has_news || self.window.is_some_and(|(_, window)| window == header.window)
    }

    /// Everything before `ack` has arrived.
    fn acknowledge(&mut self, ack: u64, news: &mut News) {
        self.split(ack, Side::Beginning);
        while let Some(entry) = self.pieces.first_entry().filter(|entry| entry.get().end <= ack) {
            let (start, piece) = entry.remove_entry();
            if piece.missing {
                self.found.counts.not_captured += self.segments(start, piece.end);
            }
            if !piece.sacked {
                self.deliver(start, &piece, news);
            }
        }
        self.found.acked_bytes += ack - self.una;
        self.una = ack;
        self.sacked.remove_below(ack);
    }

    fn acknowledge_selectively(&mut self, start: u64, end: u64, news: &mut News) {
        let mut sacked = std::mem::take(&mut self.sacked);
        let mut parts = Vec::new();
        sacked.insert(start, end, |from, to, whole| parts.push((from, to, whole)));
        self.sacked = sacked;
        for (from, to, whole) in parts {
            self.split(whole.0, Side::End);
            self.split(whole.1, Side::Beginning);
            let first = self.pieces.range(..=from).next_back().map_or(from, |(start, _)| *start);
            let is_covered = |start: u64, piece: &Piece| whole.0 <= start && piece.end <= whole.1 && !piece.sacked;
            let pieces = self.pieces.range(first..to).filter(|(start, piece)| is_covered(**start, piece));
            let covered: Vec<u64> = pieces.map(|(start, _)| *start).collect();
            for start in covered {
                let Some(piece) = self.pieces.get_mut(&start) else { continue };
                piece.sacked = true;
                let piece = *piece;
                self.deliver(start, &piece, news);
            }
        }
    }

    /// A segment has arrived.
    fn deliver(&mut self, start: u64, piece: &Piece, news: &mut News) {
        self.in_flight -= piece.end - start;
        self.delivered += piece.end - start;
        news.bytes += piece.end - start;
        if piece.sent > 1 {
            news.ambiguous = true;
            news.repaired.push(piece.last);
        } else if !piece.missing {
            news.newest = news.newest.max(Some(self.transmissions[piece.last].time));
        }
    }

    /// Updates RTT and delivery by the newly acknowledged segments.
    fn learn(&mut self, now: Instant, news: &News) {
        if news.bytes == 0 {
            return;
        }
        self.found.delivered.push((now, self.delivered));
        for index in &news.repaired {
            // Its own ACK takes longer (RFC 8985 §6.2 has the same rule, with the least RTT).
            let took = now.since(self.transmissions[*index].time);
            if self.least_rtt.is_some_and(|least| took < least.mul_f64_floor(TOO_SOON)) {
                self.forgive(*index);
            }
        }
        // Karn: not if a segment was sent more than once.
        if let Some(sent) = news.newest.filter(|_| !news.ambiguous) {
            let rtt = now.since(sent);
            self.found.rtt.push((now, rtt));
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.last_rtt = Some(rtt);
        }
    }

    /// RFC 2883: a first block that is below the ACK, or within the second, reports a segment that came twice.
    fn look_for_duplicates(&mut self, blocks: &[(u64, u64); 4], ack: u64) {
        let [first, second, ..] = *blocks;
        let is_within = second.0 < second.1 && second.0 <= first.0 && first.1 <= second.1;
        if first.0 >= first.1 || !(first.1 <= ack || is_within) {
            return;
        }
        let repeated: Vec<usize> = self.repairs.range(first.0..first.1).map(|(_, index)| *index).collect();
        repeated.into_iter().for_each(|index| self.forgive(index));
    }

    /// RFC 3522: if the ACK of the first segment's retransmission echoes an older clock, it belongs to an earlier
    /// transmission.
    fn look_at_echo(&mut self, header: &TcpHeader) {
        let Some((_, piece)) = self.pieces.first_key_value().filter(|(_, piece)| !piece.sacked && piece.sent > 1)
        else {
            return;
        };
        let (index, clock) = (piece.last, self.transmissions[piece.last].clock);
        if let (Some((_, echo)), Some(clock)) = (header.timestamps, clock)
            && is_before(echo, clock)
        {
            self.forgive(index);
        }
    }

    /// A retransmission was spurious: the transmission before it was not lost.
    fn forgive(&mut self, index: usize) {
        let repair = &mut self.transmissions[index];
        repair.spurious = true;
        if let Some((_, Some(before))) = repair.repair {
            self.transmissions[before].lost = false;
        }
    }

    /// Notes the receiver's window, and for how long it is full.
    fn look_at_window(&mut self, header: &TcpHeader) {
        let Some(scale) = self.scale else {
            if !header.forward {
                self.window = Some((u64::MAX, header.window));
            }
            return;
        };
        if !header.forward {
            // The window of a SYN is never scaled (RFC 7323 §2.2).
            let bytes = u64::from(header.window) << if header.syn { 0 } else { scale };
            self.window = Some((bytes, header.window));
        }
        let outstanding = self.max - self.una;
        let is_full =
            self.window.is_some_and(|(window, _)| outstanding > 0 && outstanding + u64::from(self.mss) > window);
        match (is_full, self.full_since) {
            (true, None) => self.full_since = Some(header.time),
            (false, Some(since)) => {
                self.full_since = None;
                self.add_full(header.time.since(since));
            }
            _ => {}
        }
    }

    fn add_full(&mut self, time: Duration) {
        if let Some(limited) = &mut self.found.receiver_limited {
            *limited += time;
        }
    }

    /// The capture ends.
    pub(super) fn finish(mut self, end: Instant) -> Found {
        if let Some(since) = self.full_since {
            self.add_full(end.max(since).since(since));
        }
        self.found.losses = self.transmissions.iter().filter(|sent| sent.lost).map(|sent| sent.number).collect();
        self.found.losses.sort_unstable();
        let repairs =
            self.transmissions.iter().filter_map(|sent| sent.repair.map(|(kind, _)| (sent.time, kind, sent.spurious)));
        self.found.repairs = repairs.collect();
        let counts = &mut self.found.counts;
        counts.segments = self.sent;
        counts.lost = self.found.losses.len() as u64;
        counts.spurious = self.transmissions.iter().filter(|sent| sent.spurious).count() as u64;
        self.found.end = end.max(self.heard);
        self.found
    }
}
