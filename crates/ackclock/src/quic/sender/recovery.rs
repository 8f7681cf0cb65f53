//! Losses, marks, the probe timeout and late acknowledgements, and the reports to the algorithm.

use super::{GRANULARITY, Sender};
use crate::cc::{CaState, Congestion, CongestionKind, PacketLost, Recovery, Restart};
use crate::quic::packet::AckPacket;
use crate::quic::sent::{Decided, NewlyAcked};
use crate::transport::Timer;
use crate::units::{Duration, Instant};

/// RFC 9002 §6.2.4: "An endpoint MAY send up to two full-sized datagrams".
const PROBES: u32 = 2;
/// The largest number of probe-timeout doublings. RFC 9002 leaves the bound to the idle timeout.
pub(super) const MOST_BACKOFF: u32 = 16;

/// Recovery periods, as packet numbers. Losses of earlier packets begin no other period. RFC 9002 §7.3.2: a period
/// ends "when a packet sent during the recovery period is acknowledged".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    /// The end for the last loss.
    loss_end: u64,
    /// The end for the last marks.
    mark_end: u64,
    state: Repair,
}

/// The reason for a recovery period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repair {
    /// There is none.
    #[default]
    None,
    Marks,
    Losses,
}

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
        match self.period.state {
            Repair::None => 0,
            Repair::Marks => self.period.mark_end,
            Repair::Losses => self.period.loss_end,
        }
    }

    pub(super) fn is_in_period(&self) -> bool {
        self.period.state != Repair::None
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.period.state == Repair::Losses
    }

    /// How far the repair of losses is.
    pub(super) fn ca_state(&self) -> CaState {
        match self.period.state {
            _ if self.repairs.collapse.is_some() => CaState::Loss,
            _ if self.repairs.losses.is_some() => CaState::Recovery,
            Repair::Losses => CaState::Recovery,
            Repair::Marks => CaState::Cwr,
            Repair::None if self.pto_count > 0 => CaState::Loss,
            Repair::None if self.sent.has_gap() => CaState::Disorder,
            Repair::None => CaState::Open,
        }
    }

    /// An ACK acknowledges a packet with a larger number than all before, and reports marks. Returns their number.
    pub(super) fn on_counts(&mut self, now: Instant, ack: &AckPacket, largest: u64, newly_acked: u32) -> u32 {
        let marks = self.ecn.on_counts(ack.ecn, newly_acked);
        self.counters.ce_reported += u64::from(marks);
        if marks > 0 && self.sees_packets {
            self.cc.tell_packet(|cc| cc.on_marks(now, marks));
        }
        // RFC 9002 §7.1: "If a path has been validated to support ECN (...), QUIC treats a Congestion Experienced (CE) codepoint in the
        // IP header as a signal of congestion."
        if marks > 0 && largest >= self.period.loss_end.max(self.period.mark_end) {
            self.period.mark_end = self.sent.next_number();
            self.episode = None;
            self.signal(now, CongestionKind::Ecn, Restart::Reduced);
            if self.cc.responds_to_ecn() {
                self.period.state = Repair::Marks;
                self.one_beyond = true;
            }
        }
        marks
    }

    /// RFC 9002 §A.10: finds the lost packets after an acknowledgement or an expired timer. Returns their number.
    pub(super) fn detect_losses(&mut self, now: Instant) -> u32 {
        let loss_delay = self.loss_delay();
        let threshold = u64::from(self.transport.packet_threshold);
        let (stream, lost_since, first_sample) = (&mut self.stream, &mut self.lost_since, self.first_sample);
        let (sees_packets, lost_packets) = (self.sees_packets, &mut self.lost_packets);
        let (mut count, mut first, mut last) = (0, u64::MAX, 0);
        let mut spread = Duration::ZERO;
        let next = self.sent.detect_lost(now, loss_delay, threshold, |decided| match decided {
            Decided::Acknowledged => *lost_since = None,
            Decided::Lost(number, packet) => {
                stream.lose(number, packet.frame.offset, packet.frame.len);
                if sees_packets {
                    lost_packets.push((number, packet.frame.len));
                }
                count += 1;
                first = first.min(number);
                last = number;
                // RFC 9002 §7.6.2: "a prior RTT sample existed when these two packets were sent."
                if first_sample.is_some_and(|sample| packet.sent_at >= sample) {
                    let (_, since) = *lost_since.get_or_insert((number, packet.sent_at));
                    spread = spread.max(packet.sent_at.since(since));
                }
            }
        });
        match next {
            Some(at) => self.timers.set(Timer::Reordering, at),
            None => self.timers.stop(Timer::Reordering),
        }
        if count > 0 {
            self.losses += u64::from(count);
            self.repairs.losses = Some(self.sent.next_number());
            // RFC 9002 §7.6.2: "the duration between the send times of these two packets exceeds the persistent congestion duration".
            let duration = self.pto_period() * u64::from(self.transport.persistent_congestion_threshold);
            let is_persistent = spread > duration;
            self.tell_lost_packets(now, is_persistent);
            self.on_lost(now, count, first, last);
            if is_persistent {
                self.on_persistent_congestion(now);
            }
        }
        count
    }

    /// An ACK has arrived whose packets are below `end`, and which shows this many losses. Updates the repairs.
    pub(super) fn advance_repairs(&mut self, end: u64, newly_lost: u32) {
        let Repairs { losses, collapse } = &mut self.repairs;
        if newly_lost == 0 && losses.is_some_and(|until| end > until) {
            *losses = None;
        }
        if collapse.is_some_and(|until| self.stream.una >= until) {
            *collapse = None;
        }
    }

    /// Tells of each lost packet, where the algorithm wants to know.
    fn tell_lost_packets(&mut self, now: Instant, persistent_congestion: bool) {
        for (number, bytes) in self.lost_packets.drain(..) {
            self.cc.tell_packet(|cc| cc.on_packet_lost(&PacketLost { now, number, bytes, persistent_congestion }));
        }
    }

    /// RFC 9002 §6.1.2: "max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)".
    fn loss_delay(&self) -> Duration {
        let rtt = self.rtt.srtt().max(self.rtt.latest());
        rtt.mul_f64_floor(self.transport.time_threshold).max(GRANULARITY)
    }

    /// Packets with these numbers are lost. RFC 9002 §B.6: "No reaction if already in a recovery period."
    fn on_lost(&mut self, now: Instant, count: u32, first: u64, last: u64) {
        let of_marks = if self.cc.responds_to_ecn() { self.period.mark_end } else { 0 };
        if last >= self.period.loss_end.max(of_marks) {
            self.signal(now, CongestionKind::Loss, Restart::Reduced);
            self.period.loss_end = self.sent.next_number();
            self.one_beyond = true;
            self.episode = self.undoes().then_some(Episode { first, lost: 0 });
            self.begin_repair(now);
        } else if self.period.state == Repair::Marks {
            // The cut for the marks was the one for these losses, too.
            self.period.loss_end = self.period.mark_end;
            self.begin_repair(now);
        }
        if let Some(episode) = &mut self.episode {
            episode.first = episode.first.min(first);
            episode.lost += count;
        }
    }

    fn begin_repair(&mut self, now: Instant) {
        self.period.state = Repair::Losses;
        let recovery = self.recovery(now);
        self.cc.on_recovery_enter(&recovery);
    }

    /// A recovery period ends, if there is one.
    pub(super) fn leave_recovery(&mut self, now: Instant) {
        let repaired = std::mem::take(&mut self.period.state);
        if repaired == Repair::Losses {
            let recovery = self.recovery(now);
            self.cc.on_recovery_exit(&recovery);
        }
    }

    /// RFC 9002 §7.6.2: "the sender's congestion window MUST be reduced to the minimum congestion window". By §B.8
    /// the loss has already set the slow-start threshold.
    fn on_persistent_congestion(&mut self, now: Instant) {
        self.signal(now, CongestionKind::Timeout, Restart::SlowStartAgain);
        self.leave_recovery(now);
        self.period = Period::default();
        self.repairs = Repairs { losses: None, collapse: Some(self.stream.next) };
        (self.episode, self.lost_since, self.one_beyond) = (None, None, false);
        // RFC 9002 §5.2: "Endpoints SHOULD set the min_rtt to the newest RTT sample after persistent congestion is established."
        self.min_rtt = self.rtt.latest();
    }

    /// Packets were acknowledged that had been taken for lost: once all of a congestion event are, it is undone.
    pub(super) fn on_late(&mut self, now: Instant, newly: &NewlyAcked) {
        // RFC 9002 §7.6.2: "none of the packets sent between the send times of these two packets are acknowledged". What was
        // decided behind them is lost.
        if self.lost_since.is_some_and(|(first, _)| first < newly.late_end) {
            self.lost_since = self.sent.decided_sent_at(newly.late_end).map(|sent_at| (newly.late_end, sent_at));
        }
        let Some(episode) = &mut self.episode else { return };
        episode.lost = episode.lost.saturating_sub(newly.late);
        if episode.lost > 0 {
            return;
        }
        self.episode = None;
        self.repairs = Repairs::default();
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

    /// The probe timeout, including back-off. RFC 9002 §6.2.1: "When a PTO timer expires, the PTO backoff MUST be
    /// increased".
    #[inline]
    pub(super) fn pto(&self) -> Duration {
        self.pto_period() * (1 << self.pto_count.min(MOST_BACKOFF))
    }

    /// RFC 9002 §7.5: "Probe packets MUST NOT be blocked by the congestion controller." The timeout alone is not a
    /// loss.
    pub(super) fn on_probe_timeout(&mut self) {
        self.counters.timeouts += 1;
        self.pto_count += 1;
        self.probes = PROBES;
        self.probe_from = 0;
        self.set_loss_timer();
    }

    pub(super) fn recovery(&self, now: Instant) -> Recovery {
        Recovery { now, flight_size: self.sent.in_flight(), path: self.path() }
    }

    fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        self.counters.ecn_events += u64::from(kind == CongestionKind::Ecn);
        let congestion = Congestion { now, kind, restart, flight_size: self.sent.in_flight(), path: self.path() };
        self.cc.on_congestion(&congestion);
    }
}
