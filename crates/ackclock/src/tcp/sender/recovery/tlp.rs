//! Tail loss probes: when ACKs are overdue, one segment asks for another.
//!
//! Reference: RFC 8985 §7, whose names are used.
//!
//! Deviations: `TLP.max_ack_delay` is the lower bound of the RTO, as in Linux. The PTO does not start if no probe may
//! leave at its end. The RTO is then not delayed.

use crate::cc::{CongestionKind, Recovery, Restart};
use crate::tcp::segment::{AckSegment, DataSegment};
use crate::tcp::sender::{Sender, State};
use crate::transport::{Timer, expiry};
use crate::units::{Duration, Instant};

/// RFC 8985 §7.2: "when there is no SRTT estimate available, the PTO SHOULD be 1 second".
const FIRST_PTO: Duration = Duration::from_secs(1);

/// The state of probes.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp::sender) struct Tlp {
    /// `TLP.end_seq`: the end of the sent data after the probe in flight.
    end_seq: Option<u64>,
    /// The probe is a retransmission.
    is_retransmission: bool,
    /// A round-trip time was measured since the last probe.
    has_sample: bool,
    /// The timer has gone off, and the probe has not left yet.
    is_due: bool,
    /// The timer must be set once the present event has let everything go.
    is_unset: bool,
}

impl Tlp {
    /// A probe in flight is a retransmission.
    pub(super) fn has_retransmitted(&self) -> bool {
        self.end_seq.is_some() && self.is_retransmission
    }

    /// A round-trip time was measured.
    #[inline]
    pub(in crate::tcp::sender) fn note_sample(&mut self) {
        self.has_sample = true;
    }

    /// A probe is in flight.
    #[inline]
    pub(in crate::tcp::sender) fn is_out(&self) -> bool {
        self.end_seq.is_some()
    }

    /// New data were sent, or acknowledged.
    #[inline]
    pub(in crate::tcp::sender) fn note_progress(&mut self) {
        self.is_unset = true;
    }

    /// The timer must be set. Call it once per event.
    #[inline]
    pub(in crate::tcp::sender) fn take_unset(&mut self) -> bool {
        std::mem::take(&mut self.is_unset)
    }

    /// A probe leaves next. Call it once per probe.
    pub(in crate::tcp::sender) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.is_due)
    }
}

impl Sender {
    /// New data were sent or acknowledged, and nothing more leaves now. An ACK is overdue from the end of the PTO on.
    pub(in crate::tcp::sender) fn schedule_probe(&mut self, now: Instant) {
        // RFC 8985 §7.2: "unless it is already in fast recovery, RTO recovery, or segments have been SACKed".
        let is_repaired = self.state != State::Open || self.board.outstanding() == 0 || self.board.sacked() > 0;
        // §7.3: "there is no other previous loss probe still in flight", and "the sender has obtained an RTT measurement since the last
        // loss probe transmission or the start of the connection".
        if is_repaired || self.tlp.is_out() || !self.tlp.has_sample {
            self.timers.stop(Timer::Probe);
            return;
        }
        let pto = match self.rtt.srtt() {
            Duration::ZERO => FIRST_PTO,
            // A FIN behind it is acknowledged at once.
            srtt if self.board.outstanding() == 1 && !self.connection.has_fin_segment_out() => {
                srtt * 2 + self.transport.min_rto
            }
            srtt => srtt * 2 + self.transport.timer_slack,
        };
        let rto_at = self.timers.deadline(Timer::Retransmission).unwrap_or(Instant::MAX);
        self.timers.set(Timer::Probe, expiry(now, pto, self.transport.timer_tick).min(rto_at));
    }

    /// The PTO is over.
    pub(in crate::tcp::sender) fn on_probe_timer(&mut self, now: Instant) {
        self.tlp.is_due = self.board.outstanding() > 0;
        self.retransmit_now |= self.tlp.is_due;
        // RFC 8985 §7.3: "regardless of whether a loss probe was sent, the sender MUST re-arm the RTO timer".
        if self.board.outstanding() > 0 {
            self.restart_retransmission_timer(now);
        }
    }

    /// The probe: new data or FIN if there are any, or the last segment again.
    pub(in crate::tcp::sender) fn send_probe(&mut self, now: Instant) -> Option<DataSegment> {
        let new = match self.next_new() {
            Some(len) => Some(self.send_new(now, len)),
            None => self.poll_fin(now),
        };
        let is_retransmission = new.is_none();
        let segment = match new {
            Some(segment) => segment,
            None => {
                let last = self.board.front_index().map(|_| self.board.end_index() - 1)?;
                self.retransmit(now, last, false)
            }
        };
        self.tlp = Tlp { end_seq: Some(self.snd_nxt), is_retransmission, ..Tlp::default() };
        self.timers.stop(Timer::Probe);
        Some(segment)
    }

    /// Recovery begins, so the result of a probe is not needed.
    pub(super) fn reset_probe(&mut self) {
        self.tlp = Tlp { has_sample: self.tlp.has_sample, ..Tlp::default() };
        self.timers.stop(Timer::Probe);
    }

    /// An ACK arrives, of new data or not.
    #[inline]
    pub(in crate::tcp::sender) fn after_ack_for_probes(&mut self, now: Instant, ack: &AckSegment, is_new: bool) {
        if self.tlp.is_out() {
            self.on_probe_ack(now, ack, is_new);
        }
        if is_new || self.board.sacked() > 0 {
            self.tlp.note_progress();
        }
    }

    /// An ACK arrives while a probe is in flight.
    #[cold]
    fn on_probe_ack(&mut self, now: Instant, ack: &AckSegment, is_new: bool) {
        let Some(end) = self.tlp.end_seq.filter(|end| ack.ack >= *end) else { return };
        let duplicate = ack.sack.duplicate(ack.ack);
        if !self.tlp.is_retransmission || duplicate.is_some_and(|(_, to)| to == end) {
            self.tlp.end_seq = None;
        } else if ack.ack > end {
            self.tlp.end_seq = None;
            self.respond_to_repair(now);
        } else if !is_new && ack.sack.is_empty() {
            // RFC 8985 §7.4.2, case 2: a receiver without D-SACK got the segment twice.
            self.tlp.end_seq = None;
        }
    }

    /// RFC 8985 §7.4.2: the probe has repaired a single loss. The sender should respond to congestion as in a fast
    /// recovery.
    fn respond_to_repair(&mut self, now: Instant) {
        if self.state != State::Open || self.has_cut_for_mark() {
            return;
        }
        self.end_doubt();
        self.signal(now, CongestionKind::Loss, Restart::Reduced);
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_recovery_enter(&recovery);
        self.cc.on_recovery_exit(&recovery);
        self.end_unvalidated(true);
    }
}
