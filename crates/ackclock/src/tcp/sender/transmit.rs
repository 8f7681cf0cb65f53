//! The send decision: the next segment, and the permission to send it.

use super::Sender;
use super::recovery::{BeforeNew, Next, State};
use crate::cc::{IdleWindow, Sent, is_alone};
use crate::tcp::scoreboard::{DUP_THRESH, SentSegment};
use crate::tcp::segment::{DataEcn, DataSegment};
use crate::transport::{EcnRetransmissions, LimitedTransmitSends, Pacing, Timer, window_quantum};
use crate::units::{Instant, Rate};

/// This many halvings reduce any window to the initial one.
const MOST_HALVINGS: u64 = 64;

impl Sender {
    /// The next segment to send at `now`, if any may be sent.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataSegment> {
        let segment = if self.only_window_limits() { self.next_in_window(now) } else { self.next_departure(now) };
        if segment.is_none() && self.tlp.take_unset() {
            self.schedule_probe(now);
        }
        segment
    }

    /// The next segment, with every reason that holds it back or lets it go.
    #[inline(never)]
    pub(super) fn next_departure(&mut self, now: Instant) -> Option<DataSegment> {
        self.timers.stop(Timer::Pacing);
        if self.connection.is_busy() {
            let (control, is_open) = self.poll_control(now);
            if control.is_some() || !is_open {
                return control;
            }
        }
        if self.timers.runs(Timer::DelayedStart) {
            return None;
        }
        if self.retransmit_now {
            if self.frto.has_trial() {
                return self.send_trial(now);
            }
            self.retransmit_now = false;
            if self.tlp.take_due() {
                return self.send_probe(now);
            }
            if let Some(index) = self.strategy.first_again(&self.board) {
                return Some(self.retransmit(now, index, true));
            }
        }
        if self.state.is_fast_recovery() && self.strategy.owes() {
            return self.send_owed(now);
        }
        if self.in_flight_for_window() >= self.window() {
            if self.grows_half_used && self.has_unsent() {
                self.note_use(true);
            }
            return None;
        }
        let Some(next) = self.next_segment() else {
            if self.connection.is_busy()
                && let Some(fin) = self.poll_fin(now)
            {
                return Some(fin);
            }
            return if self.window_edge == u64::MAX { None } else { self.wait_for_window(now) };
        };
        let is_held = self.transport.max_burst == Some(self.burst);
        if self.pacing_rate().is_some() && (is_held || self.pacer.holds(now, self.len_of(next))) {
            self.timers.set(Timer::Pacing, self.pacer.next_send_at());
            return None;
        }
        if is_held {
            return None;
        }
        if matches!(next, Next::New { .. }) && self.defers(now) {
            self.note_use(true);
            return None;
        }
        self.burst += 1;
        Some(self.transmit(now, next))
    }

    /// The next segment, if there is any.
    #[inline]
    fn next_segment(&mut self) -> Option<Next> {
        if self.state == State::Open {
            return self.next_new().map(|len| Next::New { len });
        }
        if self.frto.is_trying() {
            return None;
        }
        match self.strategy.before_new(&mut self.board, self.state) {
            BeforeNew::Again(index) => return Some(Next::Again(index)),
            BeforeNew::Holds => return None,
            BeforeNew::Nothing => {}
        }
        match self.next_new() {
            Some(len) => Some(Next::New { len }),
            None => self.strategy.after_new(&self.board, self.state, self.snd_una),
        }
    }

    #[inline]
    fn len_of(&self, next: Next) -> u32 {
        match next {
            Next::New { len } => len,
            Next::Again(index) | Next::Rescue(index) => self.board.len_of(index),
        }
    }

    #[inline]
    fn transmit(&mut self, now: Instant, next: Next) -> DataSegment {
        if let State::FastRecovery { point, .. } = self.state {
            self.strategy.on_sent(next, point);
        }
        match next {
            Next::New { len } => self.send_new(now, len),
            Next::Again(index) => self.retransmit(now, index, true),
            Next::Rescue(index) => self.retransmit(now, index, false),
        }
    }

    /// The one place where a window in fractions becomes whole segments.
    #[inline]
    pub(super) fn window(&self) -> i64 {
        if self.is_reducing() {
            return self.reduced_window() + i64::from(self.inflation);
        }
        let limited_transmit = if self.dup_acks == 0 { 0 } else { self.limited_transmit() };
        (self.cc.whole_segments() + i64::from(self.inflation)).max(1) + limited_transmit
    }

    /// Segments that duplicate ACKs allow beyond the window.
    fn limited_transmit(&self) -> i64 {
        match self.state {
            // RFC 3042 §2: "Upon receiving the first and second duplicate ACKs ... send new data", with the
            // flight "no more than 2*SMSS" beyond cwnd. The SACK sender's pipe makes that room by itself.
            State::Open if self.transport.limited_transmit && !self.strategy.makes_room() => {
                i64::from(self.dup_acks.min(DUP_THRESH - 1))
            }
            State::Restarted { .. }
                if self.transport.limited_transmit
                    && self.transport.limited_transmit_sends == LimitedTransmitSends::Next
                    && self.dup_acks < DUP_THRESH =>
            {
                i64::from(self.dup_acks)
            }
            _ => 0,
        }
    }

    /// The data in flight that are compared with the window.
    #[inline]
    pub(super) fn in_flight_for_window(&self) -> i64 {
        match self.state {
            State::Open if self.hides_sacked => i64::from(self.board.outstanding()),
            State::FastRecovery { .. } => self.strategy.in_flight(&self.board),
            State::Open | State::Restarted { .. } => i64::from(self.board.pipe()),
        }
    }

    /// Sends a segment regardless of the window: a retransmission, or else new data.
    fn send_owed(&mut self, now: Instant) -> Option<DataSegment> {
        match self.strategy.take_owed(&self.board) {
            Some(index) => Some(self.retransmit(now, index, true)),
            None => {
                let len = self.next_new()?;
                Some(self.send_new(now, len))
            }
        }
    }

    /// Payload bytes of the next segment of new data, if there is one that may leave.
    #[inline]
    pub(super) fn next_new(&mut self) -> Option<u32> {
        if self.written == Some(self.snd_nxt) {
            self.board.note_app_limited();
            return None;
        }
        let len = self.next_len()?;
        if self.board.outstanding() >= self.most_outstanding {
            self.wants_too_much = true;
            return None;
        }
        Some(len)
    }

    /// Payload bytes of the next segment of new data that the receiver's window lets go.
    #[inline]
    pub(super) fn next_len(&self) -> Option<u32> {
        let mss = u64::from(self.transport.mss);
        let len = self.written.map_or(mss, |written| written - self.snd_nxt).min(mss);
        if let Some(max_window) = self.transport.max_window
            && self.snd_nxt + len > self.snd_una + u64::from(max_window) * mss
        {
            return None;
        }
        if self.snd_nxt + len > self.window_edge {
            return self.part_of_window().map(|part| part as u32);
        }
        Some(len as u32)
    }

    /// Sends new data, by one copy of the code for all rare callers.
    #[inline(never)]
    pub(super) fn send_new(&mut self, now: Instant, len: u32) -> DataSegment {
        let segment = self.send_new_in_place(now, len);
        if self.connection.is_busy() { self.add_fin(segment) } else { segment }
    }

    /// Sends new data.
    #[inline(always)]
    pub(super) fn send_new_in_place(&mut self, now: Instant, len: u32) -> DataSegment {
        self.board.push(self.snd_nxt, len, now);
        let ecn = DataEcn::new(self.has_ecn(), self.take_cwr());
        let mut segment = DataSegment { seq: self.snd_nxt, len, sent_at: now, ecn };
        self.snd_nxt += u64::from(len);
        if self.times_one_segment && self.timed.is_none() {
            self.timed = Some((self.snd_nxt, now));
        }
        self.note_sent(now, &segment, false);
        if self.grows_half_used {
            self.note_use(self.in_flight_for_window() >= self.window());
        }
        if self.probes {
            self.tlp.note_progress();
        }
        if self.pushes {
            segment.ecn = ecn.with_psh(self.ends_burst(now));
        }
        segment
    }

    pub(super) fn retransmit(&mut self, now: Instant, index: u64, advance: bool) -> DataSegment {
        let sent @ SentSegment { seq, len, .. } = self.board.retransmit(index, advance, now);
        if let Some(validation) = self.validation.as_mut().filter(|_| sent.transmissions == 2) {
            validation.on_retransmission();
        }
        if self.needs_rate_samples {
            self.tell_losses(now);
        }
        self.note_retransmission(now, &sent);
        if self.detects_by_time {
            self.strategy.on_sent_again(&self.board, index, now);
            // RFC 6675 §6: "a more careful variant that re-arms the RTO timer on each retransmission that is sent during recovery MAY be
            // used." In Linux it is each one of the first segment.
            if seq == self.snd_una {
                self.restart_retransmission_timer(now);
            }
        }
        // RFC 3168 §6.1.5: "ECN-capable TCP implementations MUST NOT set either ECT codepoint (ECT(0) or ECT(1)) in the
        // IP header for retransmitted data packets"; §6.1.2: "the CWR bit in the TCP header SHOULD NOT be set on
        // retransmitted packets."
        let ecn = match self.transport.ecn_retransmissions {
            EcnRetransmissions::Plain => DataEcn::default(),
            EcnRetransmissions::LikeNew => DataEcn::new(self.has_ecn(), self.take_cwr()),
        };
        let ends = self.pushes && self.written == Some(seq + u64::from(len));
        let segment = DataSegment { seq, len, sent_at: now, ecn: ecn.with_psh(ends) };
        self.note_sent(now, &segment, true);
        if self.connection.is_busy() { self.repeat_fin(segment) } else { segment }
    }

    #[inline(always)]
    fn note_sent(&mut self, now: Instant, segment: &DataSegment, retransmission: bool) {
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(segment.len);
        self.counters.retransmits += u64::from(retransmission);
        let last_sent_at = std::mem::replace(&mut self.last_sent_at, now);
        if self.is_reducing() {
            self.note_reduction_sent();
        }
        // RFC 6298 §5.1: "Every time a packet containing data is sent (including a retransmission), if the
        // timer is not running, start it".
        if !self.timers.runs(Timer::Retransmission) {
            self.restart_retransmission_timer(now);
        }
        if let Some(rate) = self.pacing_rate() {
            self.pace(now, segment.len, rate, retransmission);
        }
        if self.cc.learns_of_departure(self.board.pipe()) {
            self.tell_sent(now, segment.len, retransmission, last_sent_at);
        }
    }

    #[inline(never)]
    pub(super) fn pace(&mut self, now: Instant, len: u32, rate: Rate, retransmission: bool) {
        let (gap, _) = rate.transmission(u64::from(len + self.transport.data_overhead()));
        let quantum = if retransmission && self.pushes {
            // In Linux each retransmission is a packet of its own.
            u64::from(len)
        } else if self.cc.pacing_rate().is_some() {
            self.cc.send_quantum()
        } else {
            window_quantum(rate, self.transport.mss)
        };
        let catches_up = self.cc.pacing_rate().is_none() && self.transport.pacing == Pacing::Linux;
        self.pacer.on_sent(now, len, gap, quantum, catches_up);
    }

    /// The algorithm's rate, or else the rate of its window.
    #[inline]
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate().or(self.window_rate)
    }

    /// The window or the round trip is another one, and so the rate.
    pub(super) fn set_window_rate(&mut self) {
        let packet_bytes = self.transport.mss + self.transport.data_overhead();
        let (cwnd, ssthresh) = (self.cwnd(), self.cc.ssthresh());
        self.window_rate = self.transport.pacing.rate(cwnd, ssthresh, packet_bytes, self.rtt.srtt());
    }

    #[inline(never)]
    fn tell_sent(&mut self, now: Instant, bytes: u32, retransmission: bool, last_sent_at: Instant) {
        let path = self.path();
        // SYN has no payload.
        let follows_idle = is_alone(path.in_flight) && self.counters.payload_bytes > u64::from(bytes);
        let idle_for = follows_idle.then(|| now.since(last_sent_at));
        self.cc.on_sent(&Sent { now, bytes, retransmission, idle_for, path });
    }

    pub(super) fn resume_if_idle(&mut self, now: Instant) {
        if self.validation.is_some() {
            self.validate(now);
            self.after_event(now);
            return;
        }
        let idle = self.board.outstanding() == 0 && self.counters.segments > 0;
        // RFC 5681 §4.1: "if the TCP has not sent data in an interval exceeding the retransmission timeout".
        if idle && self.transport.idle_restart && now.since(self.last_sent_at) > self.rtt.rto() {
            let idle_for = now.since(self.last_sent_at);
            let times = match self.transport.idle_window {
                IdleWindow::Restart | IdleWindow::Validate => 1,
                IdleWindow::Halve => (idle_for.as_nanos() / self.rtt.rto().as_nanos().max(1)).min(MOST_HALVINGS),
            };
            (0..times).for_each(|_| self.cc.on_resume(now));
            self.after_event(now);
        }
    }
}
