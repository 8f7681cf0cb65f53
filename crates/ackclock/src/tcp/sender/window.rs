//! The peer's window, and the probes of one that is closed.
//!
//! Reference: RFC 9293 §3.8.6.1 (zero-window probing) and §3.8.6.2.1 (the sender's avoidance of silly windows).
//!
//! Deviations: the override timeout of silly window avoidance is the timer of probes, which begins at the RTO. A window that
//! is closed while data are outstanding needs no probe: their retransmissions are.

use super::Sender;
use crate::tcp::segment::{AckSegment, DataEcn, DataSegment, EcnFeedback};
use crate::transport::{Timer, WindowProbe};
use crate::units::{Duration, Instant};

/// The longest time between two probes: the bound of retransmission timeouts.
const LONGEST: Duration = Duration::from_secs(60);
/// Doublings after which it is reached from any timeout.
const MAX_DOUBLINGS: u32 = 36;

/// The state of the peer's window other than its right edge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// The window that was advertised last.
    last: Option<u64>,
    /// Max(SND.WND), an estimate of the peer's buffer.
    largest: u64,
    /// Probes since it was open.
    probes: u32,
    /// The timer has gone off, and the probe has not left yet.
    is_due: bool,
    /// The end of the octet that the last probe carried. It counts as sent once it is acknowledged.
    probe_end: u64,
}

impl PeerWindow {
    /// A peer with a buffer of this size.
    pub(super) fn of(buffer: Option<u64>) -> Self {
        PeerWindow { last: buffer, largest: buffer.unwrap_or(0), ..PeerWindow::default() }
    }

    /// Probes without an effect.
    pub(super) fn probes(&self) -> u32 {
        self.probes
    }
}

impl Sender {
    /// The window that the peer advertised last.
    pub fn peer_window(&self) -> Option<u64> {
        self.peer_window.last
    }

    /// The highest acknowledgement that may come: the octet of a probe may have been taken.
    pub fn acceptable_ack(&self) -> u64 {
        self.snd_nxt.max(self.peer_window.probe_end)
    }

    /// The peer can accept bytes below `edge`, regardless of its advertisements. Without this call its window is the
    /// buffer of the transport, or unlimited.
    pub fn set_window_edge(&mut self, edge: u64) {
        self.window_edge = edge;
        self.peer_window = PeerWindow::default();
    }

    /// An acknowledgement of `ack` advertises a window. Returns false if it is unchanged.
    pub fn take_window(&mut self, now: Instant, ack: u64, window: u64) -> bool {
        // RFC 9293 §3.8.6: "act on the window information from segments that carry the highest acknowledgment number (that is,
        // segments with an acknowledgment number equal to or greater than the highest previously received)."
        if ack < self.snd_una {
            return false;
        }
        self.window_edge = ack + window;
        self.peer_window.largest = self.peer_window.largest.max(window);
        if self.timers.runs(Timer::Persist) && self.next_len().is_some() {
            self.timers.stop(Timer::Persist);
            (self.peer_window.probes, self.peer_window.is_due) = (0, false);
            self.resume_if_idle(now);
        }
        self.peer_window.last.replace(window) != Some(window)
    }

    /// An acknowledgement advertises a window. Returns true if it contains no other news.
    #[cold]
    pub(super) fn is_window_update(&mut self, now: Instant, ack: &AckSegment, window: u64) -> bool {
        self.take_window(now, ack.ack, window)
            && ack.ack == self.snd_una
            && ack.sack.is_empty()
            && matches!(ack.ecn.read(), EcnFeedback::None | EcnFeedback::Classic { ece: false })
    }

    /// Processes an acknowledgement beyond the sent data. Returns true if it covers the octet of a probe, which then
    /// counts as sent.
    #[cold]
    pub(super) fn takes_probe(&mut self, ack: u64) -> bool {
        let is_probe = ack == self.acceptable_ack();
        if is_probe {
            self.snd_nxt += 1;
        }
        is_probe
    }

    /// Payload bytes of the next segment of `len` bytes where the window does not admit all of it.
    #[cold]
    pub(super) fn part_of_window(&self) -> Option<u64> {
        let usable = self.window_edge.saturating_sub(self.snd_nxt);
        // §3.8.6.2.1: "(3) or if at least a fraction Fs of the maximum window can be sent", and "Fs is a fraction whose
        // recommended value is 1/2".
        let largest = self.peer_window.largest;
        (usable > 0 && largest > 0 && 2 * usable >= largest).then_some(usable)
    }

    /// No data may be sent. Returns the probe if the peer's window forbids it and a probe is due.
    #[cold]
    pub(super) fn wait_for_window(&mut self, now: Instant) -> Option<DataSegment> {
        if self.board.outstanding() > 0 || self.written == Some(self.snd_nxt) {
            return None;
        }
        if std::mem::take(&mut self.peer_window.is_due) {
            self.peer_window.probes += 1;
            self.start_persist_timer(now);
            return Some(self.send_window_probe(now));
        }
        if !self.timers.runs(Timer::Persist) {
            self.start_persist_timer(now);
        }
        None
    }

    /// The timer of probes goes off.
    pub(super) fn on_persist_timer(&mut self) {
        self.peer_window.is_due = true;
    }

    /// RFC 9293 §3.8.6.1: the first zero-window probe is due after a retransmission timeout. The intervals between
    /// later probes grow exponentially.
    fn start_persist_timer(&mut self, now: Instant) {
        let doublings = self.peer_window.probes.min(MAX_DOUBLINGS);
        let interval = Duration::from_nanos(self.rtt.rto().as_nanos().saturating_mul(1 << doublings)).min(LONGEST);
        self.start_timer(Timer::Persist, now, interval);
    }

    /// Sends a window probe: the peer's window was closed, or too small to use, until the persist timer expired.
    fn send_window_probe(&mut self, now: Instant) -> DataSegment {
        let usable = self.window_edge.saturating_sub(self.snd_nxt);
        if usable > 0 {
            // §3.8.6.2.1: "(4) or if the override timeout occurs."
            self.timers.stop(Timer::Persist);
            self.peer_window.probes = 0;
            return self.send_new(now, usable as u32);
        }
        self.counters.segments += 1;
        if self.transport.window_probe == WindowProbe::Empty {
            return DataSegment { seq: self.snd_una, len: 0, sent_at: now, ecn: DataEcn::PROBE_FLAG };
        }
        // §3.8.6.1: "at least one octet of new data (if available)". It is no part of what is in flight, and the same again is no
        // retransmission.
        self.peer_window.probe_end = self.snd_nxt + 1;
        self.counters.payload_bytes += 1;
        // RFC 3168 §6.1.6: "the TCP data sender MUST NOT set either an ECT codepoint or the CWR bit on window probe data packets."
        DataSegment { seq: self.snd_nxt, len: 1, sent_at: now, ecn: DataEcn::default() }
    }
}
