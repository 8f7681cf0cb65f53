//! RACK: a segment is lost once one that was sent later has been delivered and the reordering window has passed.
//!
//! Reference: RFC 8985 §6, whose names are used. `tlp` is its other half.
//!
//! Possible losses are in two orders of time. Segments that were sent once are in the order of their numbers, on the
//! scoreboard. Retransmissions are in a separate list. Both searches begin at the front and end at the first segment
//! that is not due. Each transmission is thus examined once.
//!
//! Deviations: `min_RTT` is the smallest one of the connection, and not of a window of time. A retransmission that is invalid
//! (§6.2, step 2) leaves its ACK to the newest segment that was sent once. Where several ACKs are due, one reordering is noticed.

use std::collections::VecDeque;

use super::State;
use super::again::{Again, LostQueue};
use super::strategy::{BeforeNew, News, OnPartialAck, Reorderings, Strategy, View};
use crate::tcp::scoreboard::{DUP_THRESH, Delivered, Scoreboard, SentSegment};
use crate::tcp::segment::AckSegment;
use crate::transport::{RackRtt, Rtt, Transport, Undo};
use crate::units::{Duration, Instant};

/// RFC 8985 §6.2, step 4: the number of recoveries after which a wider reordering window is reset.
const REO_WND_PERSIST: u32 = 16;

/// RACK-based recovery.
#[derive(Debug)]
pub(in crate::tcp::sender) struct Rack {
    mss: u64,
    /// Selectively acknowledged segments make no room until recovery begins: limited transmit is off.
    hides_sacked: bool,
    /// An older timestamp of the ACK shows that the original segment arrived.
    heeds_timestamps: bool,
    /// Whether the RTT is of the last segment that is acknowledged cumulatively.
    takes_cumulative: bool,
    /// RACK.segment.
    latest: Option<Latest>,
    reordering: Reordering,
    /// Segments that D-SACK blocks reported, if they are compared with the retransmissions.
    duplicates: Option<u32>,
    /// Retransmissions in the order of their times, then of their ends. Those that are no longer in flight are
    /// skipped.
    again: VecDeque<Again>,
    /// No segment below this index that was sent once may be lost.
    edge: u64,
    /// When all that may be lost is.
    settles_at: Option<Instant>,
    queue: LostQueue,
}

/// The segment that was sent last of those delivered.
#[derive(Clone, Copy, Debug)]
struct Latest {
    sent_at: Instant,
    end: u64,
    rtt: Duration,
    /// Segments from this index on were sent later for the first time.
    before: u64,
}

impl Latest {
    /// RFC 8985 §6.2: `RACK_sent_after`.
    fn was_sent_after(&self, sent_at: Instant, end: u64) -> bool {
        (self.sent_at, self.end) > (sent_at, end)
    }
}

/// The detected reordering, and its window.
#[derive(Clone, Copy, Debug)]
struct Reordering {
    fack: u64,
    seen: Reorderings,
    /// RACK.dsack_round.
    dsack_round: Option<u64>,
    mult: u32,
    persist: u32,
}

impl Default for Reordering {
    fn default() -> Self {
        Reordering { fack: 0, seen: Reorderings::default(), dsack_round: None, mult: 1, persist: 0 }
    }
}

impl Reordering {
    /// RFC 8985 §6.2, step 3.
    #[inline]
    fn detect(&mut self, delivered: &Delivered, fack: u64, mss: u64) {
        if let Some((end, start, _)) = delivered.lowest_once
            && end < self.fack
        {
            self.see(start, mss);
        }
        self.fack = self.fack.max(fack);
    }

    /// The segment that begins here came after the one that ends at `fack`.
    #[cold]
    fn see(&mut self, start: u64, mss: u64) {
        let distance = self.fack.saturating_sub(start).div_ceil(mss).min(u64::from(u32::MAX)) as u32;
        self.seen = Reorderings { times: self.seen.times.saturating_add(1), degree: self.seen.degree.max(distance) };
    }

    /// RFC 8985 §6.2, step 4, the multiple.
    #[inline]
    fn adapt(&mut self, view: &View, has_dsack: bool) {
        if self.dsack_round.is_some_and(|round| view.una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && has_dsack {
            self.dsack_round = Some(view.next);
            self.mult += 1;
            self.persist = REO_WND_PERSIST;
        } else if view.state.is_ended_by(view.una) {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
            }
        }
    }

    /// The window.
    fn window(&self, min_rtt: Duration, srtt: Duration, is_recovering: bool, sacked: u32) -> Duration {
        if self.seen.times == 0 && (is_recovering || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        // The first ACK of all is no part of SRTT yet.
        let most = if srtt.is_zero() { min_rtt } else { srtt };
        (min_rtt * u64::from(self.mult) / 4).min(most)
    }
}

impl Rack {
    pub(super) fn new(transport: &Transport) -> Self {
        Rack {
            mss: u64::from(transport.mss),
            hides_sacked: !transport.limited_transmit,
            heeds_timestamps: transport.timestamps && transport.rack_timestamps,
            takes_cumulative: transport.rack_rtt == RackRtt::Cumulative,
            latest: None,
            reordering: Reordering::default(),
            duplicates: (transport.undo == Undo::Counted).then_some(0),
            again: VecDeque::new(),
            edge: 0,
            settles_at: None,
            queue: LostQueue::default(),
        }
    }

    /// Whether a D-SACK block widens the reordering window. In Linux (`tcp_dsack_seen`) it does only after reordering,
    /// and the duplicates must not exceed the retransmissions.
    #[cold]
    fn heeds(&mut self, (start, end): (u64, u64), retransmits: u64) -> bool {
        let Some(duplicates) = &mut self.duplicates else { return true };
        *duplicates = duplicates.saturating_add((end - start).div_ceil(self.mss) as u32);
        u64::from(*duplicates) <= retransmits && self.reordering.seen.times > 0
    }

    /// RFC 8985 §6.2, step 2.
    #[inline]
    fn update(&mut self, view: &View, ack: &AckSegment, delivered: &Delivered, min_rtt: Duration) {
        let Some(newest) = &delivered.newest else { return };
        let rtt = view.now.since(newest.sent_at);
        let is_invalid =
            newest.transmissions > 1 && (self.heeds_timestamps && ack.echo < newest.sent_at || rtt < min_rtt);
        let (sent_at, end, before) = if !is_invalid && newest.transmissions > 1 {
            (newest.sent_at, newest.end(), self.sent_before(newest.sent_at))
        } else if let Some((sent_at, end)) = delivered.newest_once {
            (sent_at, end, view.board.index_of(end))
        } else {
            return;
        };
        let rtt = view.now.since(self.cumulative(view.now, delivered, min_rtt).unwrap_or(sent_at));
        match &mut self.latest {
            Some(latest) if latest.was_sent_after(sent_at, end) => latest.rtt = rtt,
            latest => *latest = Some(Latest { sent_at, end, rtt, before }),
        }
    }

    /// When the last segment was sent that is newly acknowledged cumulatively, in place of the newest one. None for a
    /// retransmission whose ACK may be of the original.
    fn cumulative(&self, now: Instant, delivered: &Delivered, min_rtt: Duration) -> Option<Instant> {
        let (sent_at, is_again) = delivered.last_unsacked.filter(|_| self.takes_cumulative)?;
        (!is_again || now.since(sent_at) >= min_rtt).then_some(sent_at)
    }

    /// Segments from this index on were sent first after a retransmission at `sent_at`.
    fn sent_before(&self, sent_at: Instant) -> u64 {
        let position = self.again.partition_point(|again| again.sent_at < sent_at);
        let found = self.again.get(position).filter(|again| again.sent_at == sent_at);
        found.map_or_else(|| self.latest.map_or(0, |latest| latest.before), |again| again.end_index)
    }

    /// RFC 8985 §6.2, step 5: returns how many segments are newly lost.
    fn detect(&mut self, board: &mut Scoreboard, now: Instant, window: Duration) -> u32 {
        self.settles_at = None;
        let Some(latest) = self.latest else { return 0 };
        let settle = latest.rtt + window;
        let mut lost = self.search_again(board, now, &latest, settle);
        let Some(first) = board.front_index() else { return lost };
        self.edge = self.edge.max(first);
        while self.edge < latest.before.min(board.end_index()) {
            let segment = board.at(self.edge);
            if board.is_waiting_once(self.edge) {
                if !latest.was_sent_after(segment.sent_at, segment.end()) {
                    break;
                }
                if segment.sent_at + settle > now {
                    self.wait_for_first(board, &latest, settle);
                    break;
                }
                lost += board.lose(self.edge);
                self.queue.push(self.edge);
            }
            self.edge += 1;
        }
        lost
    }

    /// The same for retransmissions.
    fn search_again(&mut self, board: &mut Scoreboard, now: Instant, latest: &Latest, settle: Duration) -> u32 {
        let mut lost = 0;
        while let Some(again) = self.again.front().copied() {
            if board.was_last_sent(again.index, again.sent_at) {
                if !latest.was_sent_after(again.sent_at, board.at(again.index).end()) {
                    break;
                }
                if again.sent_at + settle > now {
                    self.wait_for_again(board, latest, settle);
                    break;
                }
                lost += board.lose(again.index);
                self.queue.push(again.index);
            }
            self.again.pop_front();
        }
        lost
    }

    /// RFC 8985 §6.2: the timer expires when RACK would declare the segments within the reordering window lost. The
    /// segment at the edge may be lost then.
    fn wait_for_first(&mut self, board: &Scoreboard, latest: &Latest, settle: Duration) {
        let may_be_lost = |segment: &SentSegment| latest.was_sent_after(segment.sent_at, segment.end());
        let last = board.last_waiting_once(self.edge, latest.before, may_be_lost);
        // After an undo, the segment at the edge may have left again after the later ones.
        self.wait(board.at(self.edge).sent_at.max(board.at(last).sent_at) + settle);
    }

    /// The same where the first retransmission of the list may be.
    fn wait_for_again(&mut self, board: &Scoreboard, latest: &Latest, settle: Duration) {
        let end = self.again.partition_point(|again| again.sent_at <= latest.sent_at);
        let last = self.again.range(..end).rev().find(|again| {
            board.was_last_sent(again.index, again.sent_at)
                && latest.was_sent_after(again.sent_at, board.at(again.index).end())
        });
        if let Some(last) = last {
            self.wait(last.sent_at + settle);
        }
    }

    fn wait(&mut self, until: Instant) {
        self.settles_at = Some(self.settles_at.map_or(until, |other| other.max(until)));
    }
}

/// The smallest RTT, including the present ACK.
fn min_rtt(rtt: &Rtt, now: Instant, delivered: &Delivered) -> Duration {
    match (rtt.min(), delivered.newest_once) {
        (known, None) => known,
        (Duration::ZERO, Some((sent_at, _))) => now.since(sent_at),
        (known, Some((sent_at, _))) => known.min(now.since(sent_at)),
    }
}

impl Strategy for Rack {
    fn hides_sacked(&self) -> bool {
        self.hides_sacked
    }

    #[inline]
    fn on_ack(&mut self, view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> News {
        let before = delivered.segments;
        let mut has_dsack = false;
        if !ack.sack.is_empty() {
            has_dsack = ack.sack.duplicate(ack.ack).is_some_and(|block| self.heeds(block, view.retransmits));
            view.board.acknowledge_selectively(ack.ack, &ack.sack, delivered);
        }
        let min_rtt = min_rtt(view.rtt, view.now, delivered);
        self.update(view, ack, delivered, min_rtt);
        self.reordering.detect(delivered, view.board.highest_delivered(view.una), self.mss);
        self.reordering.adapt(view, has_dsack);
        let is_recovering = view.state != State::Open && !view.state.is_ended_by(view.una);
        let window = self.reordering.window(min_rtt, view.rtt.srtt(), is_recovering, view.board.sacked());
        let lost = self.detect(view.board, view.now, window);
        News { may_be_duplicate: delivered.segments > before, lost }
    }

    fn detects_by_time(&self) -> bool {
        true
    }

    /// In Linux a recovery begins whenever there is a lost segment, even if its copy is in flight.
    fn begins_again(&self) -> bool {
        true
    }

    fn reorderings(&self) -> Reorderings {
        self.reordering.seen
    }

    fn on_fin(&mut self, board: &Scoreboard, now: Instant, sent_at: Instant, end: u64) {
        let fin = Latest { sent_at, end, rtt: now.since(sent_at), before: board.end_index() };
        self.latest = self.latest.filter(|latest| latest.was_sent_after(sent_at, end)).or(Some(fin));
    }

    /// RFC 8985 §6.2, step 3 has segments that were not sent again alone. In Linux it is reordering as well where timestamps or D-SACK
    /// show that the original came, and not its copy.
    fn on_reordering(&mut self, from: u64) {
        if from < self.reordering.fack {
            self.reordering.see(from, self.mss);
        }
    }

    fn settles_at(&self) -> Option<Instant> {
        self.settles_at
    }

    fn on_settled(&mut self, view: &mut View) -> u32 {
        let is_recovering = view.state != State::Open;
        let window = self.reordering.window(view.rtt.min(), view.rtt.srtt(), is_recovering, view.board.sacked());
        self.detect(view.board, view.now, window)
    }

    /// Losses detected by time are lost regardless of earlier transmissions.
    fn covers(&self, _una: u64, _recover: u64) -> bool {
        true
    }

    fn makes_room(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn on_partial_ack(&mut self, _acked: u32, _inflation: i32) -> OnPartialAck {
        OnPartialAck::GoesOn
    }

    /// RFC 8985 §6.3.
    fn lose_on_timeout(&mut self, board: &mut Scoreboard, rtt: &Rtt, now: Instant) -> u32 {
        let window = self.reordering.window(rtt.min(), rtt.srtt(), true, board.sacked());
        let settle = self.latest.map(|latest| latest.rtt + window);
        let Some(first) = board.front_index() else { return 0 };
        self.queue = LostQueue::from(first);
        self.settles_at = None;
        let mut lost = 0;
        for index in first..board.end_index() {
            let segment = board.at(index);
            let is_due = settle.is_some_and(|settle| segment.sent_at + settle <= now);
            if !segment.sacked && (index == first || is_due || segment.lost && !segment.retransmitted) {
                lost += board.lose(index);
                self.queue.push(index);
            }
        }
        lost
    }

    fn on_undo(&mut self) {
        self.queue = LostQueue::default();
        self.edge = 0;
    }

    fn on_sent_again(&mut self, board: &Scoreboard, index: u64, sent_at: Instant) {
        let same = self.again.back().filter(|last| last.sent_at == sent_at);
        let end_index = same.map_or_else(|| board.end_index(), |last| last.end_index);
        let is_later = |again: &&Again| again.sent_at == sent_at && again.index > index;
        let position = self.again.len() - self.again.iter().rev().take_while(is_later).count();
        self.again.insert(position, Again { index, sent_at, end: board.at(index).end(), end_index });
    }

    fn first_again(&mut self, board: &Scoreboard) -> Option<u64> {
        self.queue.next(board)
    }

    fn before_new(&mut self, board: &mut Scoreboard, _state: State) -> BeforeNew {
        self.queue.next(board).map_or(BeforeNew::Nothing, BeforeNew::Again)
    }
}
