//! The time-sequence plot of a connection in a capture made elsewhere.

use std::ops::Range;

use super::header::{Numbers, TcpHeader};
use super::{NoFlow, window_scale};
use crate::capture::Sequence;
use crate::units::Instant;

/// The plot of a connection: `headers` in the order of time, `within` counts from the first of them.
///
/// Times are the capture's, so ACKs are at the time of their capture. Packets contain no congestion window, and lost
/// transmissions look like others.
///
/// # Errors
/// If there are no data.
pub fn sequence(headers: &[TcpHeader], within: &Range<Instant>) -> Result<Sequence, NoFlow> {
    let first = headers.iter().find(|header| header.forward && header.len > 0).ok_or(NoFlow::NoData)?;
    let numbers = Numbers::new(headers, first);
    let origin = headers.first().map_or(Instant::ZERO, |header| header.time);
    let mut plot = Plot {
        numbers,
        scale: window_scale(headers),
        sent_to: Numbers::FIRST,
        acked: Numbers::FIRST,
        sequence: Sequence::default(),
    };
    for header in headers {
        let time = Instant::ZERO + header.time.since(origin);
        plot.take(header, time, within.contains(&time));
    }
    Ok(plot.sequence)
}

struct Plot {
    numbers: Numbers,
    scale: Option<u8>,
    sent_to: u64,
    acked: u64,
    sequence: Sequence,
}

impl Plot {
    fn take(&mut self, header: &TcpHeader, time: Instant, is_shown: bool) {
        if header.forward {
            if header.len > 0 && !header.syn {
                self.take_data(header, time, is_shown);
            }
        } else if let Some(ack) = header.ack.filter(|_| !header.syn) {
            self.take_ack(header, ack, time, is_shown);
        }
    }

    fn take_data(&mut self, header: &TcpHeader, time: Instant, is_shown: bool) {
        let start = self.numbers.unwrap(header.seq, self.sent_to);
        if start < Numbers::FIRST {
            return;
        }
        let end = start + u64::from(header.len);
        let resent = u8::from(start < self.sent_to);
        self.sent_to = self.sent_to.max(end);
        if is_shown {
            self.sequence.data.push((time.as_nanos(), offset(start), offset(end), resent));
        }
    }

    fn take_ack(&mut self, header: &TcpHeader, ack: u32, time: Instant, is_shown: bool) {
        let acked = self.numbers.unwrap(ack, self.acked);
        let moves = acked > self.acked;
        self.acked = self.acked.max(acked);
        if !is_shown {
            return;
        }
        if moves || self.sequence.acks.is_empty() {
            self.sequence.acks.push((time.as_nanos(), offset(self.acked)));
        }
        if let Some(scale) = self.scale.filter(|_| acked == self.acked) {
            let edge = self.acked + (u64::from(header.window) << scale);
            self.sequence.receiver_window.push((time.as_nanos(), offset(edge)));
        }
        for (start, end) in header.sack.into_iter().filter(|(start, end)| start != end) {
            let (start, end) = (self.numbers.unwrap(start, self.acked), self.numbers.unwrap(end, self.acked));
            if Numbers::FIRST <= start && start < end {
                self.sequence.sacks.push((time.as_nanos(), offset(start), offset(end)));
            }
        }
    }
}

/// The byte of the stream, from 0.
fn offset(number: u64) -> u64 {
    number.saturating_sub(Numbers::FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn header(millis: u64, forward: bool, seq: u32, len: u32, ack: u32) -> TcpHeader {
        let time = Instant::ZERO + Duration::from_millis(1000 + millis);
        TcpHeader { time, forward, seq, len, ack: (!forward).then_some(ack), window: 10, ..TcpHeader::default() }
    }

    #[test]
    fn data_acks_blocks_and_the_window_are_in_bytes_from_the_first_one() {
        let syn = TcpHeader { syn: true, ..header(0, true, 999, 0, 0) };
        let answer = TcpHeader { syn: true, window_scale: Some(2), ..header(1, false, 0, 0, 1000) };
        let syn = TcpHeader { window_scale: Some(7), ..syn };
        let blocks = TcpHeader { sack: [(1200, 1300), (0, 0), (0, 0), (0, 0)], ..header(4, false, 1, 0, 1100) };
        let headers = [
            syn,
            answer,
            header(2, true, 1000, 100, 0),
            header(3, true, 1200, 100, 0),
            blocks,
            header(5, true, 1100, 100, 0),
        ];
        let all = Instant::ZERO..Instant::MAX;
        let plot = sequence(&headers, &all).unwrap();
        let ms = 1_000_000;
        assert_eq!(plot.data, [(2 * ms, 0, 100, 0), (3 * ms, 200, 300, 0), (5 * ms, 100, 200, 1)]);
        assert_eq!((plot.acks, plot.sacks), (vec![(4 * ms, 100)], vec![(4 * ms, 200, 300)]));
        // 10 << 2 beyond the ACK.
        assert_eq!(plot.receiver_window, [(4 * ms, 140)]);
        let late = Instant::ZERO + Duration::from_millis(5)..Instant::MAX;
        assert_eq!(sequence(&headers, &late).unwrap().data, [(5 * ms, 100, 200, 1)]);
        assert_eq!(sequence(&headers[..2], &all), Err(NoFlow::NoData));
    }
}
