//! Round-trip times that the sender measures.

use super::Sender;
use crate::tcp::scoreboard::SentSegment;
use crate::tcp::segment::AckSegment;
use crate::units::Instant;

impl Sender {
    /// An algorithm gets the RTT of the delivered segment that was sent last. The estimate for the timeout uses a
    /// timestamp of the first segment of a delayed ACK. Without timestamps it uses one sample per round trip. `first_once`
    /// is the time of the first segment that was sent once, which Linux uses.
    #[inline]
    pub(super) fn measure_rtt(
        &mut self,
        now: Instant,
        ack: &AckSegment,
        acked_bytes: u64,
        newest: &SentSegment,
        first_once: Option<Instant>,
    ) {
        // RFC 7323 §4.1: a TSecr value counts "only if the segment advances the left edge of the send window".
        let echoed = self.transport.timestamps && acked_bytes > 0;
        let latest = match newest.transmissions {
            1 => now.since(newest.sent_at),
            _ if echoed => now.since(ack.echo),
            _ => return,
        };
        self.rtt.observe(latest);
        self.tlp.note_sample();
        if let Some(sent_at) = first_once.filter(|_| self.times_each_ack) {
            self.rtt.update(now, now.since(sent_at));
        } else if echoed {
            self.rtt.update(now, now.since(ack.echo));
        } else if !self.transport.timestamps && self.sample_due && !self.times_one_segment {
            self.sample_due = false;
            self.rtt.update(now, latest);
        }
    }

    /// An ACK of new data measures the timed segment if it covers it.
    #[inline]
    pub(super) fn measure_timed(&mut self, now: Instant) {
        if let Some((end, sent_at)) = self.timed
            && self.snd_una >= end
        {
            self.timed = None;
            self.rtt.update(now, now.since(sent_at));
        }
    }
}
