//! Marks: the effect of a receiver's feedback on the window, and the answer to it (RFC 3168 §6.1.2, RFC 9768).

use super::{Sender, State};
use crate::cc::{CongestionKind, Restart};
use crate::tcp::accecn::{KnownMarks, NewMarks};
use crate::tcp::scoreboard::Delivered;
use crate::tcp::segment::{AckSegment, EcnFeedback};
use crate::transport::{EcnMode, MarkAtOne, Reduction, Timer};
use crate::units::Instant;

/// The sender's state of congestion that marks need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// The last congestion event.
    last: Option<Cut>,
    /// The next new segment tells the receiver that the window was reduced.
    cwr_due: bool,
    /// The marks that AccECN has reported so far.
    known: KnownMarks,
    /// The newest echo of a timestamp.
    last_echo: Instant,
    /// Marks in a row at a window of one segment.
    marks_at_one: u32,
}

/// The marks that an ACK reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// It echoes one.
    pub(super) ece: bool,
    /// Newly reported packets with a mark, if the receiver counts them.
    pub(super) packets: u32,
    /// Their payload bytes.
    pub(super) bytes: u32,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
struct Cut {
    kind: CongestionKind,
    /// The end of the data sent by then.
    sent: u64,
    /// Later losses have been repaired without another one.
    repairs: bool,
}

impl Sender {
    /// True if new data are ECN-capable.
    #[inline]
    pub(super) fn has_ecn(&self) -> bool {
        self.transport.ecn != EcnMode::Off
    }

    /// The marks that an ACK reports.
    #[inline]
    pub(super) fn on_feedback(
        &mut self,
        now: Instant,
        ack: &AckSegment,
        delivered: &Delivered,
        is_safe: bool,
    ) -> Marks {
        match (self.transport.ecn, ack.ecn.read()) {
            (EcnMode::Classic, EcnFeedback::Classic { ece }) => {
                if self.on_echo(now, ece) {
                    self.begin_reduction_for_mark(delivered.segments, is_safe);
                }
                Marks { ece, ..Marks::default() }
            }
            // RFC 8257 §3.3: "If the ECE flag is set, update the bytes marked", by all that the ACK delivers.
            (EcnMode::Dctcp, EcnFeedback::Classic { ece }) => {
                let packets = if ece { delivered.segments } else { 0 };
                let bytes = if ece { u32::try_from(delivered.bytes).unwrap_or(u32::MAX) } else { 0 };
                self.counters.ce_reported += u64::from(packets);
                if self.on_echo(now, ece) {
                    self.begin_reduction_for_mark(delivered.segments, is_safe);
                }
                Marks { ece, packets, bytes }
            }
            (EcnMode::AccEcn, EcnFeedback::AccEcn { ace, option }) => {
                let is_newer = self.transport.timestamps && ack.echo > self.ecn.last_echo;
                self.ecn.last_echo = self.ecn.last_echo.max(ack.echo);
                // RFC 9768 §3.2.2.2: "it first checks whether it has already been superseded (...) by another ACK in which
                // case it ignores the ECN feedback."
                if delivered.bytes == 0 && !is_newer {
                    return Marks::default();
                }
                let NewMarks { packets, bytes } =
                    self.ecn.known.learn(ace, option, delivered.segments, self.transport.mss);
                self.counters.ce_reported += u64::from(packets);
                if self.on_echo(now, packets > 0) {
                    self.begin_reduction_for_mark(delivered.segments, is_safe);
                }
                Marks { ece: packets > 0, packets, bytes }
            }
            _ => Marks::default(),
        }
    }

    /// Processes an ACK with or without an echo. Returns true for a congestion event.
    #[inline]
    fn on_echo(&mut self, now: Instant, echoes: bool) -> bool {
        if !echoes {
            self.ecn.marks_at_one = 0;
            return false;
        }
        // RFC 3168 §6.1.2: "the TCP sender's congestion window should be reduced only once in response to a series of
        // dropped and/or CE packets from a single window of data."
        if matches!(self.state, State::FastRecovery { .. }) || self.was_sent_before_reduction() {
            return false;
        }
        let cwnd = self.cc.cwnd();
        self.end_doubt();
        self.signal(now, CongestionKind::Ecn, Restart::Reduced);
        // RFC 3168 §6.1.2: "the sending TCP MUST reset the retransmit timer on receiving the ECN-Echo packet when
        // the congestion window is one. The sending TCP will then be able to send a new packet only when the
        // retransmit timer expires." With more in flight the ACKs of that do the same.
        let mark_at_one = self.transport.mark_at_one;
        let waits = mark_at_one != MarkAtOne::Never && self.cc.responds_to_ecn();
        if cwnd < 2.0 && self.board.outstanding() == 0 && waits {
            if cwnd <= 1.0 && mark_at_one == MarkAtOne::BackOff {
                (0..self.ecn.marks_at_one).for_each(|_| self.rtt.back_off());
                self.ecn.marks_at_one += 1;
            }
            self.timers.set(Timer::DelayedStart, now + self.rtt.rto());
        }
        true
    }

    /// A mark has reduced the window. The ACK that echoes it delivers this many segments.
    fn begin_reduction_for_mark(&mut self, delivered: u32, is_safe: bool) {
        let is_proportional = self.transport.prr == Reduction::Proportional;
        self.reduces_for_mark =
            self.reduces && is_proportional && self.state == State::Open && self.cc.responds_to_ecn();
        if self.reduces_for_mark {
            self.begin_reduction();
            self.reduce(delivered, is_safe);
        }
    }

    /// A reduction for a mark ends when the segment with CWR is acknowledged.
    #[inline]
    pub(super) fn end_reduction_for_mark(&mut self) {
        if self.reduces_for_mark && !self.was_sent_before_reduction() {
            self.reduces_for_mark = false;
        }
    }

    /// A congestion event was signalled.
    #[inline]
    pub(super) fn note_reduction(&mut self, kind: CongestionKind) {
        self.ecn.last = Some(Cut { kind, sent: self.snd_nxt, repairs: false });
        // RFC 9768 §3.1.5: a host in AccECN mode "MUST NOT set CWR to indicate that it has received and responded to
        // indications of congestion."
        self.ecn.cwr_due = matches!(self.transport.ecn, EcnMode::Classic | EcnMode::Dctcp);
    }

    /// Whether the departing segment is the first new one after a reduction of any cause.
    ///
    /// RFC 3168 §6.1.2: the first new data packet after the window reduction carries CWR.
    #[inline]
    pub(super) fn take_cwr(&mut self) -> bool {
        self.has_ecn() && std::mem::take(&mut self.ecn.cwr_due)
    }

    /// True while the window of data in which the window was last cut, for a mark, has not been acknowledged.
    pub(super) fn has_cut_for_mark(&self) -> bool {
        let signalled = |last: Cut| last.kind == CongestionKind::Ecn && self.snd_una < last.sent;
        self.ecn.last.is_some_and(signalled) && self.cc.responds_to_ecn()
    }

    /// How slow start begins again: a timeout after the repair of losses is a new event.
    pub(super) fn slow_start(&self) -> Restart {
        let repairs = self.ecn.last.is_some_and(|last| last.repairs);
        if self.has_cut_for_mark() && !repairs { Restart::SlowStartAgain } else { Restart::SlowStart }
    }

    /// Ends the effect of a mark's reduction on the repair of losses. Returns true if there was one.
    pub(super) fn take_cut_for_mark(&mut self) -> bool {
        let taken = self.has_cut_for_mark();
        if let Some(last) = &mut self.ecn.last {
            last.repairs = taken;
        }
        taken
    }

    /// True if all acknowledged data were sent before the last reduction. The segment after it carries CWR, so an
    /// echo beyond it is a new one.
    fn was_sent_before_reduction(&self) -> bool {
        self.ecn.last.is_some_and(|last| self.snd_una <= last.sent)
    }
}
