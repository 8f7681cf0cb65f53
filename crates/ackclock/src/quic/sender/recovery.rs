//! Losses, marks, the probe timeout and late acknowledgements, and the reports to the algorithm.

use super::Sender;
use crate::cc::{CaState, CongestionKind, PacketLost, Restart};
use crate::quic::packet::AckPacket;
use crate::transport::numbered::{Cause, NewlyLost};
use crate::transport::{Decided, NewlyAcked, Timer};
use crate::units::{Duration, Instant};

/// RFC 9002 §6.2.4: "An endpoint MAY send up to two full-sized datagrams".
const PROBES: u32 = 2;

/// The progress of repairing lost data. TCP calls it loss recovery. It may outlast the recovery periods of RFC 9002,
/// which limit the reductions of a window. An algorithm that owns its window in recovery is in one repair, not in a
/// sequence of periods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repairs {
    /// A packet with this number or a larger one ends the repair of losses, if its ACK shows none. Each loss moves it on, as in
    /// Chromium, mvfst and s2n-quic.
    losses: Option<u64>,
    /// Persistent congestion is repaired when the stream is delivered up to here, as in TCP after a timeout.
    collapse: Option<u64>,
}

/// The losses of a congestion event, which later acknowledgements may show to be spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    /// The number of the first packet that was lost.
    pub(super) first: u64,
    /// Packets that were not acknowledged since.
    lost: u32,
}

impl Sender {
    /// Where the recovery period ends in which the window does not grow.
    pub(super) fn period_end(&self) -> u64 {
        match self.period {
            None => 0,
            Some(Cause::Marks) => self.own.mark_end,
            Some(Cause::Losses) => self.own.loss_end,
        }
    }

    /// How far the repair of losses is.
    pub(super) fn ca_state(&self) -> CaState {
        match self.own.repairs {
            Repairs { collapse: Some(_), .. } => CaState::Loss,
            Repairs { losses: Some(_), .. } => CaState::Recovery,
            _ => self.state_of_period(),
        }
    }

    /// An ACK acknowledges a packet with a larger number than all before, and reports marks. Returns their number.
    pub(super) fn on_counts(&mut self, now: Instant, ack: &AckPacket, largest: u64, newly_acked: u32) -> u32 {
        let marks = self.own.ecn.on_counts(ack.ecn, newly_acked);
        self.counters.ce_reported += u64::from(marks);
        if marks > 0 && self.own.sees_packets {
            self.cc.tell_packet(|cc| cc.on_marks(now, marks));
        }
        // RFC 9002 §7.1: "If a path has been validated to support ECN (...), QUIC treats a Congestion Experienced (CE) codepoint in the
        // IP header as a signal of congestion."
        if marks > 0 && largest >= self.own.loss_end.max(self.own.mark_end) {
            self.own.mark_end = self.sent.next_number();
            self.own.episode = None;
            self.signal(now, CongestionKind::Ecn, Restart::Reduced);
            if self.cc.responds_to_ecn() {
                self.period = Some(Cause::Marks);
                self.own.one_beyond = true;
            }
        }
        marks
    }

    /// Finds the lost packets after an acknowledgement or an expired timer. Returns their number.
    pub(super) fn detect_losses(&mut self, now: Instant) -> u32 {
        let (first_sample, mut spread) = (self.first_sample, Duration::ZERO);
        let lost = self.find_losses(now, |own, decided| match decided {
            Decided::Acknowledged => own.lost_since = None,
            Decided::Lost(number, packet) => {
                own.stream.lose(*number, packet.frame.offset, packet.frame.len);
                if own.sees_packets {
                    own.lost_packets.push((*number, packet.frame.len));
                }
                // RFC 9002 §7.6.2: "a prior RTT sample existed when these two packets were sent."
                if first_sample.is_some_and(|sample| packet.sent_at >= sample) {
                    let (_, since) = *own.lost_since.get_or_insert((*number, packet.sent_at));
                    spread = spread.max(packet.sent_at.since(since));
                }
            }
        });
        if lost.count > 0 {
            self.own.repairs.losses = Some(self.sent.next_number());
            // RFC 9002 §7.6.2: "the duration between the send times of these two packets exceeds the persistent congestion duration".
            let duration = self.pto_period() * u64::from(self.transport.persistent_congestion_threshold);
            let is_persistent = spread > duration;
            self.tell_lost_packets(now, is_persistent);
            self.on_lost(now, lost);
            if is_persistent {
                self.on_persistent_congestion(now);
            }
        }
        lost.count
    }

    /// An ACK has arrived whose packets are below `end`, and which shows this many losses. Updates the repairs.
    pub(super) fn advance_repairs(&mut self, end: u64, newly_lost: u32) {
        let Repairs { losses, collapse } = &mut self.own.repairs;
        if newly_lost == 0 && losses.is_some_and(|until| end > until) {
            *losses = None;
        }
        if collapse.is_some_and(|until| self.own.stream.una >= until) {
            *collapse = None;
        }
    }

    /// Tells of each lost packet, where the algorithm wants to know.
    fn tell_lost_packets(&mut self, now: Instant, persistent_congestion: bool) {
        for (number, bytes) in self.own.lost_packets.drain(..) {
            self.cc.tell_packet(|cc| cc.on_packet_lost(&PacketLost { now, number, bytes, persistent_congestion }));
        }
    }

    /// Packets with these numbers are lost. RFC 9002 §B.6: "No reaction if already in a recovery period."
    fn on_lost(&mut self, now: Instant, NewlyLost { count, first, last, .. }: NewlyLost) {
        let of_marks = if self.cc.responds_to_ecn() { self.own.mark_end } else { 0 };
        if last >= self.own.loss_end.max(of_marks) {
            self.signal(now, CongestionKind::Loss, Restart::Reduced);
            self.own.loss_end = self.sent.next_number();
            self.own.one_beyond = true;
            self.own.episode = self.undoes().then_some(Episode { first, lost: 0 });
            self.enter_recovery(now);
        } else if self.period == Some(Cause::Marks) {
            // The cut for the marks was the one for these losses, too.
            self.own.loss_end = self.own.mark_end;
            self.enter_recovery(now);
        }
        if let Some(episode) = &mut self.own.episode {
            episode.first = episode.first.min(first);
            episode.lost += count;
        }
    }

    /// RFC 9002 §7.6.2: "the sender's congestion window MUST be reduced to the minimum congestion window". By §B.8
    /// the loss has already set the slow-start threshold.
    fn on_persistent_congestion(&mut self, now: Instant) {
        self.signal(now, CongestionKind::Timeout, Restart::SlowStartAgain);
        self.leave_recovery(now);
        (self.own.loss_end, self.own.mark_end) = (0, 0);
        self.own.repairs = Repairs { losses: None, collapse: Some(self.own.stream.next) };
        (self.own.episode, self.own.lost_since, self.own.one_beyond) = (None, None, false);
        // RFC 9002 §5.2: "Endpoints SHOULD set the min_rtt to the newest RTT sample after persistent congestion is established."
        self.min_rtt = self.rtt.latest();
    }

    /// Packets were acknowledged that had been taken for lost: once all of a congestion event are, it is undone.
    pub(super) fn on_late(&mut self, now: Instant, newly: &NewlyAcked) {
        // RFC 9002 §7.6.2: "none of the packets sent between the send times of these two packets are acknowledged". What was
        // decided behind them is lost.
        if self.own.lost_since.is_some_and(|(first, _)| first < newly.late_end) {
            self.own.lost_since = self.sent.decided_sent_at(newly.late_end).map(|sent_at| (newly.late_end, sent_at));
        }
        let Some(episode) = &mut self.own.episode else { return };
        episode.lost = episode.lost.saturating_sub(newly.late);
        if episode.lost > 0 {
            return;
        }
        self.own.episode = None;
        self.own.repairs = Repairs::default();
        self.leave_recovery(now);
        self.counters.undos += 1;
        let recovery = self.recovery(now);
        self.cc.on_undo(&recovery);
    }

    /// RFC 9002 §A.8: sets the timer of losses by time, or else the probe timeout.
    #[inline]
    pub(super) fn set_loss_timer(&mut self) {
        // §6.2.1: "The PTO timer MUST NOT be set if a timer is set for time threshold loss detection".
        if self.sent.in_flight() == 0 || self.timers.runs(Timer::Reordering) {
            self.timers.stop(Timer::Probe);
            return;
        }
        self.timers.set(Timer::Probe, self.last_sent_at + self.pto());
    }

    /// RFC 9002 §7.5: "Probe packets MUST NOT be blocked by the congestion controller." The timeout alone is not a
    /// loss.
    pub(super) fn on_probe_timeout(&mut self) {
        self.counters.timeouts += 1;
        self.pto_count += 1;
        self.own.probes = PROBES;
        self.own.probe_from = 0;
        self.set_loss_timer();
    }
}
