//! The buffer of a receiver, the application that reads from it, and the window that it leaves.
//!
//! Reference: RFC 9293 §3.8.6, and §3.8.6.2.2 for the avoidance of silly windows. The names are the RFC's.
//!
//! Deviations: every advance of the window that a read allows is announced at once, by an ACK of its own.

use crate::transport::Transport;
use crate::units::{Duration, Instant};

/// Data that have arrived in order and wait for the application.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// RCV.BUFF, in bytes.
    size: u64,
    /// The window advances by this much at least.
    step: u64,
    /// Bytes that the application has read.
    read: u64,
    /// RCV.NXT + RCV.WND as advertised last.
    edge: u64,
    reader: Reader,
}

/// How the application reads.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// It looks once in each interval, and takes a chunk at most.
    ByItself { chunk: u64, interval: Duration, next_at: Instant },
    /// It calls.
    ByHand,
}

impl Buffer {
    /// The buffer of a connection, if it has one.
    pub(super) fn new(transport: &Transport) -> Option<Self> {
        let size = transport.receive_buffer?;
        let mss = u64::from(transport.mss);
        // §3.8.6.2.2: "min( Fr * RCV.BUFF, Eff.snd.MSS )", "where Fr is a fraction whose recommended value is 1/2".
        let step = mss.min(size / 2).max(1);
        let (chunk, interval) = match (transport.read_rate, transport.read_every) {
            (None, every) => (u64::MAX, every),
            (Some(rate), Duration::ZERO) => (mss, rate.transmission(mss).0),
            (Some(rate), every) => (rate.bytes_in_floor(every).max(1), every),
        };
        let reader = Reader::ByItself { chunk, interval, next_at: Instant::ZERO };
        Some(Buffer { size, step, read: 0, edge: size, reader })
    }

    /// From now on the application calls [`read`](Self::read).
    pub(super) fn read_by_hand(&mut self) {
        self.reader = Reader::ByHand;
    }

    /// The end of the part of data up to `end` that the window admits.
    pub(super) fn admitted(&self, end: u64) -> u64 {
        end.min(self.edge)
    }

    /// Data have arrived in order up to `next`, or time has passed. The application reads the data that it may read
    /// by now.
    pub(super) fn read_due(&mut self, now: Instant, next: u64) {
        let Reader::ByItself { chunk, interval, next_at } = &mut self.reader else { return };
        while self.read < next && *next_at <= now {
            *next_at = now + *interval;
            self.read += (next - self.read).min(*chunk);
        }
    }

    /// When the application reads again, if something is there for it.
    pub(super) fn next_read(&self, next: u64) -> Option<Instant> {
        match self.reader {
            Reader::ByItself { next_at, .. } if self.read < next => Some(next_at),
            _ => None,
        }
    }

    /// The application reads `bytes`.
    pub(super) fn read(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// True if the application has read everything below `next`.
    pub(super) fn is_empty(&self, next: u64) -> bool {
        self.read == next
    }

    /// True if the window may advance.
    pub(super) fn advances(&self) -> bool {
        // §3.8.6.2.2: "keep RCV.NXT+RCV.WND fixed until the reduction satisfies: RCV.BUFF - RCV.USER - RCV.WND >= min( Fr *
        // RCV.BUFF, Eff.snd.MSS )".
        self.read + self.size >= self.edge + self.step
    }

    /// RCV.WND, to be advertised with an acknowledgement of `next`.
    pub(super) fn window(&mut self, next: u64) -> u64 {
        if self.advances() {
            // "When the inequality is satisfied, RCV.WND is set to RCV.BUFF-RCV.USER."
            self.edge = self.read + self.size;
        }
        self.edge - next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn buffer(read_rate: Option<u64>, every_ms: u64) -> Buffer {
        let transport = Transport {
            mss: 1000,
            receive_buffer: Some(4000),
            read_rate: read_rate.and_then(Rate::from_bps),
            read_every: Duration::from_millis(every_ms),
            ..Transport::default()
        };
        Buffer::new(&transport).unwrap()
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn without_a_size_there_is_no_buffer() {
        assert!(Buffer::new(&Transport::default()).is_none());
    }

    #[test]
    fn an_application_that_reads_at_once_leaves_the_window_open() {
        let mut it = buffer(None, 0);
        it.read_due(at(0), 1000);
        assert_eq!((it.window(1000), it.next_read(1000)), (4000, None));
    }

    #[test]
    fn a_rate_is_a_segment_at_a_time_and_a_chunk_what_it_gives_in_an_interval() {
        // 1000 bytes take 100 ms at 80 kbit/s.
        let mut it = buffer(Some(80_000), 0);
        it.read_due(at(0), 3000);
        assert_eq!((it.window(3000), it.next_read(3000)), (2000, Some(at(100))));
        it.read_due(at(99), 3000);
        assert!(!it.advances());
        it.read_due(at(100), 3000);
        assert_eq!((it.window(3000), it.next_read(3000)), (3000, Some(at(200))));
        it.read_due(at(200), 3000);
        assert_eq!((it.window(3000), it.next_read(3000)), (4000, None));
        // A pause is over: what comes is read at once.
        it.read_due(at(500), 4000);
        assert_eq!((it.window(4000), it.next_read(4000)), (4000, None));
        let mut chunks = buffer(Some(80_000), 250);
        chunks.read_due(at(0), 4000);
        assert_eq!((chunks.window(4000), chunks.next_read(4000)), (2500, Some(at(250))));
        let mut all = buffer(None, 250);
        all.read_due(at(0), 1000);
        all.read_due(at(0), 4000);
        assert_eq!((all.window(4000), all.next_read(4000)), (1000, Some(at(250))));
        all.read_due(at(250), 4000);
        assert_eq!((all.window(4000), all.next_read(4000)), (4000, None));
    }

    #[test]
    fn the_window_advances_by_a_segment_or_half_of_the_buffer() {
        let mut it = buffer(None, 0);
        it.read_by_hand();
        assert_eq!((it.window(4000), it.next_read(4000), it.admitted(4500)), (0, None, 4000));
        it.read(999);
        assert!(!it.advances());
        assert_eq!(it.window(4000), 0);
        it.read(1);
        assert_eq!((it.advances(), it.window(4000), it.admitted(4500)), (true, 1000, 4500));
        let transport = Transport { mss: 1000, receive_buffer: Some(600), ..Transport::default() };
        let mut small = Buffer::new(&transport).unwrap();
        small.read_by_hand();
        assert_eq!(small.window(600), 0);
        small.read(299);
        assert!(!small.advances());
        small.read(1);
        assert_eq!(small.window(600), 300);
    }
}
