//! The beginning and the end of a connection: SYN, the ACK of its answer, and FIN. They have no payload.
//!
//! Reference: RFC 9293 §3.5 and §3.6, RFC 6298 for the timer. Without the transport key `handshake` a connection is open when it
//! starts, and does not end.
//!
//! The last data carry FIN if they leave after the application has written and closed, as in Linux. FIN is alone if all
//! data have left by then.
//!
//! Deviations: the ACK of the handshake is sent alone. The receiver sends no FIN. A block that reports FIN informs RACK alone.

use super::Sender;
use crate::cc::{CongestionKind, Restart};
use crate::tcp::segment::{AckSegment, DataEcn, DataSegment, EcnFeedback};
use crate::transport::Timer;
use crate::units::Instant;

/// The progress of the handshake and of the close.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    /// There is something to do, or to wait for.
    is_busy: bool,
    stage: Stage,
    /// The next segment, before all data.
    due: Option<Control>,
    fin: Fin,
}

/// The handshake, or the open connection. Their times exclude each other, so they share memory.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// SYN is not answered.
    Opening(Syn),
    /// The last data that the application has written could leave from this time on. After FIN left alone, this is the
    /// time of its last departure.
    Open { at: Instant },
}

impl Default for Stage {
    fn default() -> Self {
        Stage::Open { at: Instant::ZERO }
    }
}

/// A SYN without an answer.
#[derive(Clone, Copy, Debug)]
struct Syn {
    first_sent_at: Instant,
    sent_at: Instant,
    transmissions: u32,
}

/// A segment without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Syn,
    Ack,
    Fin,
}

/// The end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fin {
    #[default]
    None,
    /// FIN follows the last data.
    Wanted,
    /// It left alone.
    Sent,
    /// It left alone, and then again.
    SentAgain,
    /// A block reports it, while data before it are missing.
    Reported,
    /// The last data carry it.
    WithData,
    Acknowledged,
}

impl Connection {
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// FIN has left in a segment of its own, and is not acknowledged.
    #[inline]
    pub(super) fn has_fin_segment_out(&self) -> bool {
        matches!(self.fin, Fin::Sent | Fin::SentAgain | Fin::Reported)
    }

    /// FIN has left and is not acknowledged.
    fn has_fin_out(&self) -> bool {
        self.has_fin_segment_out() || self.fin == Fin::WithData
    }

    /// The application writes.
    #[inline]
    pub(super) fn note_write(&mut self, now: Instant) {
        if let Stage::Open { at } = &mut self.stage {
            *at = now;
        }
    }

    /// SYN, until it is answered.
    fn syn(&self) -> Option<Syn> {
        match self.stage {
            Stage::Opening(syn) => Some(syn),
            Stage::Open { .. } => None,
        }
    }
}

impl Sender {
    /// The handshake begins.
    pub(super) fn connect(&mut self, now: Instant) {
        let stage = Stage::Opening(Syn { first_sent_at: now, sent_at: now, transmissions: 0 });
        self.connection = Connection { is_busy: true, stage, due: Some(Control::Syn), ..Connection::default() };
    }

    /// The application stops writing. FIN follows the written data.
    pub fn close(&mut self) {
        if self.transport.handshake && self.connection.fin == Fin::None {
            self.connection.fin = Fin::Wanted;
            self.connection.is_busy = true;
        }
    }

    /// New data, with FIN if they are the last.
    #[cold]
    pub(super) fn add_fin(&mut self, segment: DataSegment) -> DataSegment {
        if self.connection.fin == Fin::Wanted
            && self.written == Some(self.snd_nxt)
            && matches!(self.connection.stage, Stage::Open { at } if segment.sent_at > at)
        {
            self.connection.fin = Fin::WithData;
        }
        self.repeat_fin(segment)
    }

    /// Data, with FIN if they are the last and carried it when they first left.
    #[cold]
    pub(super) fn repeat_fin(&self, segment: DataSegment) -> DataSegment {
        let is_last = self.written == Some(segment.seq + u64::from(segment.len));
        let has_fin = is_last && self.connection.fin == Fin::WithData;
        DataSegment { ecn: segment.ecn.with_fin(has_fin), ..segment }
    }

    /// FIN, if it is the next segment and pacing lets it go. The window has room for it. RFC 5681 §3.1 limits sequence
    /// numbers, and FIN has one.
    #[cold]
    pub(super) fn poll_fin(&mut self, now: Instant) -> Option<DataSegment> {
        if self.connection.fin != Fin::Wanted || self.written != Some(self.snd_nxt) {
            return None;
        }
        if self.pacing_rate().is_some() && self.pacer.holds(now, 1) {
            self.timers.set(Timer::Pacing, self.pacer.next_send_at());
            return None;
        }
        Some(self.send_control(now, Control::Fin))
    }

    /// The next segment without payload that precedes all data. The second value is false if data may not leave yet.
    #[cold]
    pub(super) fn poll_control(&mut self, now: Instant) -> (Option<DataSegment>, bool) {
        let segment = self.connection.due.take().map(|control| self.send_control(now, control));
        (segment, self.connection.syn().is_none())
    }

    fn send_control(&mut self, now: Instant, control: Control) -> DataSegment {
        let (ecn, is_again) = match control {
            Control::Ack => (DataEcn::default(), false),
            Control::Syn => {
                let first = Syn { first_sent_at: now, sent_at: now, transmissions: 0 };
                let before = self.connection.syn().filter(|syn| syn.transmissions > 0).unwrap_or(first);
                let transmissions = before.transmissions + 1;
                self.connection.stage = Stage::Opening(Syn { sent_at: now, transmissions, ..before });
                (DataEcn::SYN_FLAG, transmissions > 1)
            }
            Control::Fin => {
                let is_again = matches!(self.connection.fin, Fin::Sent | Fin::SentAgain);
                self.connection.fin = if is_again { Fin::SentAgain } else { Fin::Sent };
                self.connection.stage = Stage::Open { at: now };
                (DataEcn::FIN_FLAG, is_again)
            }
        };
        self.counters.segments += 1;
        self.counters.retransmits += u64::from(is_again);
        self.last_sent_at = now;
        if control != Control::Ack && !self.timers.runs(Timer::Retransmission) {
            self.restart_retransmission_timer(now);
        }
        DataSegment { seq: self.snd_nxt, len: 0, sent_at: now, ecn }
    }

    /// The timer expires. Returns true if it belongs to a segment without payload.
    pub(super) fn on_control_timeout(&mut self, now: Instant) -> bool {
        let syn = self.connection.syn();
        let control = match self.connection.fin {
            _ if syn.is_some() => Control::Syn,
            Fin::Sent | Fin::SentAgain if self.board.outstanding() == 0 => Control::Fin,
            _ => return false,
        };
        self.counters.timeouts += 1;
        if syn.is_none_or(|syn| syn.transmissions > self.transport.syn_linear_timeouts) {
            self.rtt.back_off();
        }
        self.connection.due = Some(control);
        self.restart_retransmission_timer(now);
        true
    }

    /// An ACK arrives. Returns true if it acknowledges only the SYN.
    #[cold]
    pub(super) fn on_control_ack(&mut self, now: Instant, ack: &AckSegment) -> bool {
        if let Some(syn) = self.connection.syn() {
            if ack.ecn == EcnFeedback::SynAck {
                self.on_established(now, syn, ack.echo);
            }
            return true;
        }
        if ack.ecn == EcnFeedback::SynAck {
            // RFC 9293 §3.10.7.4: what was acknowledged before is acknowledged again.
            self.connection.due = Some(Control::Ack);
            return true;
        }
        let end = self.snd_nxt + 1;
        if self.connection.has_fin_out() {
            if ack.ack == end {
                self.connection = Connection { fin: Fin::Acknowledged, ..Connection::default() };
                self.on_ack(now, &ack.without_fin(self.snd_nxt));
                self.timers.stop(Timer::Retransmission);
                return true;
            }
            if ack.sack.iter(ack.ack).any(|block| block.1 == end) {
                self.on_fin_reported(now, end);
                self.on_ack(now, &ack.without_fin(self.snd_nxt));
                return true;
            }
        }
        // Once data were acknowledged, copies of the answer to the SYN are old.
        self.connection.is_busy = ack.ack == 0 || self.connection.fin != Fin::None;
        false
    }

    /// A block reports FIN, for the first time or not. A copy cannot have arrived within the smallest RTT.
    fn on_fin_reported(&mut self, now: Instant, end: u64) {
        if let (fin @ (Fin::Sent | Fin::SentAgain), Stage::Open { at }) = (self.connection.fin, self.connection.stage) {
            self.connection.fin = Fin::Reported;
            if fin == Fin::Sent || now.since(at) >= self.rtt.min() {
                self.strategy.on_fin(&self.board, now, at, end);
            }
        }
    }

    /// After an ACK: the timer of FIN runs as long as that is all there is to acknowledge.
    pub(super) fn watch_fin(&mut self, now: Instant) {
        let is_out = matches!(self.connection.fin, Fin::Sent | Fin::SentAgain) && self.board.outstanding() == 0;
        if is_out && !self.timers.runs(Timer::Retransmission) {
            self.restart_retransmission_timer(now);
        }
    }

    /// The handshake took more than one SYN, and gives no measurement.
    pub fn on_ambiguous_handshake(&mut self) {
        self.rtt.after_lost_syn();
    }

    /// The answer to the SYN arrives, with the timestamp of the transmission that it answers.
    fn on_established(&mut self, now: Instant, syn: Syn, echo: Instant) {
        let has_echo = self.transport.timestamps;
        let answered_at = if has_echo { echo } else { syn.sent_at };
        let is_first = syn.transmissions == 1 || has_echo && echo == syn.first_sent_at;
        self.connection.stage = Stage::Open { at: now };
        self.connection.due = Some(Control::Ack);
        self.timers.stop(Timer::Retransmission);
        // RFC 6298 appendix A: "when using timestamps, TCP will be able to take an RTT sample even in the presence of a spurious
        // retransmission".
        if syn.transmissions == 1 || has_echo {
            self.on_handshake(now, now.since(answered_at));
        } else {
            self.on_ambiguous_handshake();
        }
        if !is_first && syn.transmissions > 1 + self.transport.syn_retransmits_allowed {
            // RFC 5681 §3.1: "if the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly
            // transmitted SYN MUST be one segment".
            self.signal(now, CongestionKind::Timeout, Restart::SlowStartAgain);
        }
        self.after_event(now);
    }
}
