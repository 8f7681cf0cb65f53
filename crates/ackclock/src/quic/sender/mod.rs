//! The sender: the stream, acknowledgements, and reports of single packets to the algorithm.
//!
//! `transmit` contains the send decision. `recovery` contains the reaction to losses, marks, the probe timeout and
//! late acknowledgements.
//!
//! ```text
//!          a loss, or more marks                  a packet sent in the period is acknowledged
//!   open ─────────────────────────▶ recovery period ─────────────────────────────────────────▶ open
//! ```
//!
//! The probe timeout changes neither the window nor the data in flight. Two losses that are further apart than the
//! persistent congestion duration reduce the window to its minimum.

#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod recovery;
mod transmit;

use std::sync::Arc;

use self::recovery::{Episode, Repairs};
use super::ecn::EcnValidation;
use super::packet::AckPacket;
use super::stream::SendStream;
use crate::cc::{Cc, PacketsAcked, RttSample};
use crate::transport::numbered::Told;
use crate::transport::{Controller, Counting, EcnMode, NewlyAcked, NumberedSender, SenderInfo, Timer, Transport, Undo};
use crate::units::{Duration, Instant};

/// This many halvings reduce any window to the initial one.
const MOST_HALVINGS: u64 = 64;

/// A sender and its algorithm.
pub type Sender = NumberedSender<QuicState>;

/// The state of a sender that only QUIC has.
#[derive(Debug)]
pub struct QuicState {
    stream: SendStream,
    /// Probes that leave regardless of the window, and the number from which on they repeat data in flight.
    probes: u32,
    probe_from: u64,
    /// Losses and marks of packets below these numbers belong to an earlier recovery period. RFC 9002 §7.3.2: a period
    /// ends "when a packet sent during the recovery period is acknowledged".
    loss_end: u64,
    mark_end: u64,
    repairs: Repairs,
    episode: Option<Episode>,
    /// The first of the last losses between which nothing was acknowledged, and when it was sent.
    lost_since: Option<(u64, Instant)>,
    /// RFC 9002 §7.3.2: "a single packet can be sent prior to reduction".
    one_beyond: bool,
    ecn: EcnValidation,
    /// The receiver's packets below this number have arrived.
    acks_below: u64,
    /// Whether the algorithm observes single packets, and the lost packets that were not yet reported to it.
    sees_packets: bool,
    lost_packets: Vec<(u64, u32)>,
}

impl Sender {
    /// A connection that is open and has nothing to send yet.
    pub fn new(transport: impl Into<Arc<Transport>>, cc: Cc) -> Self {
        let (transport, mut cc) = (transport.into(), Controller::new(cc));
        let own = QuicState {
            stream: SendStream::new(),
            probes: 0,
            probe_from: 0,
            loss_end: 0,
            mark_end: 0,
            repairs: Repairs::default(),
            episode: None,
            lost_since: None,
            one_beyond: false,
            ecn: EcnValidation::new(transport.ecn == EcnMode::Counts),
            acks_below: 0,
            sees_packets: cc.sees_packets(),
            lost_packets: Vec::new(),
        };
        Self::with(transport, cc, own)
    }

    // ---- the application ----

    /// The application starts: from now on the window counts.
    pub fn open(&mut self, now: Instant) {
        let handshake_rtt = self.transport.handshake_rtt;
        if !handshake_rtt.is_zero() {
            self.tell_rtt(now, handshake_rtt, Duration::ZERO);
        }
        self.begin(now);
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.resume_if_idle(now, self.pto(), MOST_HALVINGS);
        if let Some(written) = &mut self.own.stream.written {
            *written += bytes;
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.own.stream.written = None;
    }

    /// The application stops: data that was never sent is discarded.
    pub fn stop_writing(&mut self) {
        self.own.stream.written = Some(self.own.stream.next);
    }

    /// The connection ends silently after the written data.
    pub fn close(&mut self) {}

    /// True if everything written was acknowledged.
    pub fn is_done(&self) -> bool {
        self.own.stream.written == Some(self.own.stream.una)
    }

    // ---- the network ----

    /// An ACK arrives, with these ranges `start .. end` of packet numbers, the newest first.
    pub fn on_ack(&mut self, now: Instant, ack: &AckPacket, ranges: &[(u64, u64)]) {
        self.own.acks_below = self.own.acks_below.max(ack.number + 1);
        let cwnd_limited = !self.underutilized;
        let before = self.sent.largest_acked();
        let late = self.own.episode.map_or(u64::MAX, |episode| episode.first);
        let (from, mut newly) = (Counting { growing: self.period_end(), late }, NewlyAcked::default());
        let stream = &mut self.own.stream;
        for range in ranges {
            self.sent.acknowledge(*range, from, &mut newly, |_, packet| {
                stream.deliver(packet.frame.offset, packet.frame.len);
            });
        }
        // RFC 9002 §A.7: "Nothing to do if there are no newly acked packets."
        let Some((largest, sent_at)) = newly.largest else { return };
        // RFC 9002 §5.1: "the largest acknowledged packet number is newly acknowledged".
        if largest == ack.largest {
            let latest = now.since(sent_at);
            self.tell_rtt(now, latest, ack.delay);
            self.take_rtt(now, latest, ack.delay);
        }
        let round_ended = self.end_round(now, &newly, largest);
        if largest >= self.period_end() {
            self.leave_recovery(now);
        }
        if newly.late_end > 0 {
            self.on_late(now, &newly);
        }
        let ce_count =
            if before.is_none_or(|before| largest > before) { self.on_counts(now, ack, largest, newly.ect) } else { 0 };
        let newly_lost = self.detect_losses(now);
        self.advance_repairs(largest + 1, newly_lost);
        // RFC 9002 §6.2.1: "The PTO backoff factor is reset when an acknowledgment is received".
        self.pto_count = 0;
        self.set_loss_timer();
        self.tell_packets_acked(now, &newly);
        let state = self.ca_state();
        self.tell_ack(now, &newly, Told { ce_count, newly_lost, round_ended, cwnd_limited, state });
    }

    /// Tells of newly acknowledged packets, where the algorithm wants to know.
    fn tell_packets_acked(&mut self, now: Instant, newly: &NewlyAcked) {
        if let Some((newest, newest_sent_at)) = newly.largest_in_flight.filter(|_| self.own.sees_packets) {
            let (bytes, settled) = (newly.bytes_in_flight, self.sent.undecided());
            let acked = PacketsAcked { now, newest, newest_sent_at, bytes, settled };
            self.cc.tell_packet(|cc| cc.on_packets_acked(&acked));
        }
    }

    /// Tells of a measurement, where the algorithm wants to know.
    fn tell_rtt(&mut self, now: Instant, rtt: Duration, ack_delay: Duration) {
        if self.own.sees_packets {
            self.cc.tell_packet(|cc| cc.on_rtt(&RttSample { now, rtt, ack_delay }));
        }
    }

    /// Another algorithm decides from now on. Actions of the old algorithm are not undone.
    pub(crate) fn set_cc(&mut self, now: Instant, cc: Cc) {
        self.own.episode = None;
        self.replace_cc(now, cc);
        self.own.sees_packets = self.cc.sees_packets();
    }

    /// The time is `now`. Due timers expire.
    pub fn on_deadline(&mut self, now: Instant) {
        if self.timers.fires(Timer::Reordering, now) {
            self.detect_losses(now);
            self.set_loss_timer();
            self.tell_losses(now);
            self.after_event(now);
        }
        if self.timers.fires(Timer::Probe, now) {
            self.on_probe_timeout();
            self.after_event(now);
        }
        // What it held back is polled for.
        self.timers.fires(Timer::Pacing, now);
    }

    // ---- what others may know ----

    /// Bytes acknowledged so far, without a gap.
    pub fn acknowledged(&self) -> u64 {
        self.own.stream.una
    }

    /// Bytes sent so far, each counted once.
    pub fn sent_once(&self) -> u64 {
        self.own.stream.next
    }

    /// The numbers of lost packets whose frames wait to be sent again, in order.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        self.own.stream.lost()
    }

    /// The state of the sender. Lost data wait for retransmission, the retransmission timeout is the probe timeout,
    /// and min RTT follows RFC 9002 §5.2.
    pub fn info(&self) -> SenderInfo {
        self.info_with(self.ca_state(), self.pto(), self.own.stream.lost_count() as u32)
    }

    fn undoes(&self) -> bool {
        self.transport.undo == Undo::LateAcks
    }
}

#[cfg(test)]
mod tests;
