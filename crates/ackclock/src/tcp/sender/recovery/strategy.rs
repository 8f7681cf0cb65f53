//! Loss recovery strategies: the differences between them, chosen once when a connection begins.

use super::duplicate_acks::DuplicateAcks;
use super::fack::Fack;
use super::newreno::NewReno;
use super::rack::{Rack, Reorderings};
use super::reno::Reno;
use super::sack::Sack;
use super::tahoe::Tahoe;
use super::{Next, State};
use crate::tcp::scoreboard::{Delivered, Scoreboard};
use crate::tcp::segment::AckSegment;
use crate::transport::{LossRecovery, Rtt, SackSender, Transport};
use crate::units::Instant;

/// The strategy's view of its sender when an ACK arrives.
#[derive(Debug)]
pub(in crate::tcp::sender) struct View<'a> {
    pub(in crate::tcp::sender) board: &'a mut Scoreboard,
    pub(in crate::tcp::sender) rtt: &'a mut Rtt,
    pub(in crate::tcp::sender) state: State,
    /// SND.UNA, the ACK included.
    pub(in crate::tcp::sender) una: u64,
    /// The ACK advances it.
    pub(in crate::tcp::sender) is_new: bool,
    /// SND.NXT.
    pub(in crate::tcp::sender) next: u64,
    pub(in crate::tcp::sender) now: Instant,
}

/// The strategy's first classification of an ACK.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp::sender) struct News {
    /// It counts as a duplicate if it acknowledges nothing new while data are outstanding.
    pub(in crate::tcp::sender) may_be_duplicate: bool,
    /// Segments that it shows to be lost.
    pub(in crate::tcp::sender) lost: u32,
}

/// The meaning of a partial ACK in fast recovery. It does not acknowledge all data sent before the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp::sender) enum OnPartialAck {
    /// Recovery ends.
    Ends,
    /// Recovery continues.
    GoesOn,
    /// Recovery continues with the first unacknowledged segment.
    Retransmits {
        /// Segments by which the window is then wider than cwnd.
        inflation: i32,
    },
}

/// The segments that may be sent before new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp::sender) enum BeforeNew {
    /// This segment.
    Again(u64),
    /// Nothing: it is the turn of new data.
    Nothing,
    /// Nothing, and no new data either.
    Holds,
}

/// A strategy to detect and repair losses. The defaults follow RFC 5681.
pub(in crate::tcp::sender) trait Strategy {
    /// True if selectively acknowledged segments count as in flight until recovery begins.
    fn hides_sacked(&self) -> bool {
        false
    }

    /// The data in flight that recovery compares with the window, in segments.
    fn in_flight(&self, board: &Scoreboard) -> i64 {
        i64::from(board.pipe())
    }

    /// An ACK arrives. The scoreboard has already processed its cumulative acknowledgement.
    #[inline]
    fn on_ack(&mut self, _view: &mut View, _ack: &AckSegment, _delivered: &mut Delivered) -> News {
        News { may_be_duplicate: true, lost: 0 }
    }

    /// True if losses are detected by later deliveries and not by duplicate ACKs.
    fn detects_by_time(&self) -> bool {
        false
    }

    /// True if the end of a recovery begins the next one while a lost segment is missing.
    fn begins_again(&self) -> bool {
        false
    }

    /// The reorderings that were seen.
    fn reorderings(&self) -> Reorderings {
        Reorderings::default()
    }

    /// The segment at this byte, below the highest delivered one, arrived late although it was sent again.
    fn on_reordering(&mut self, _from: u64) {}

    /// When to look for losses again, if nothing arrives until then.
    fn settles_at(&self) -> Option<Instant> {
        None
    }

    /// The time has come. Returns the number of newly lost segments.
    fn on_settled(&mut self, _view: &mut View) -> u32 {
        0
    }

    /// True if a loss is known already, though fewer than three duplicate ACKs have come.
    fn knows_of_loss(&self, _board: &Scoreboard) -> bool {
        false
    }

    /// Whether all that was sent before the last loss, up to `recover`, counts as acknowledged.
    ///
    /// RFC 6582 §3.2: "check to see if the Cumulative Acknowledgment field covers more than recover".
    fn covers(&self, una: u64, recover: u64) -> bool {
        una > recover
    }

    /// True if a loss sends everything again in slow start, and there is no fast recovery.
    fn restarts(&self) -> bool {
        false
    }

    /// True if duplicate ACKs widen the window while losses are being repaired.
    fn inflates(&self) -> bool {
        false
    }

    /// True if duplicate ACKs outside of recovery make room for new segments by themselves, without limited transmit.
    fn makes_room(&self) -> bool {
        false
    }

    /// True if departures may follow arrivals in recovery (Proportional Rate Reduction).
    fn reduces(&self) -> bool {
        false
    }

    /// Recovery begins with the first segment, which ends at `first_end`.
    fn on_enter(&mut self, _board: &Scoreboard, _first_end: u64) {}

    /// True if a recovery forgets data sent before its loss at its start.
    fn forgets_at_start(&self) -> bool {
        false
    }

    /// True if it is not remembered from the end of the recovery on.
    fn forgets_at_end(&self) -> bool {
        false
    }

    /// True if an ACK of new data in recovery restarts the retransmission timer.
    fn restarts_timer(&self) -> bool {
        true
    }

    /// A partial ACK, of `acked` segments, at a window that is wider than cwnd by `inflation` segments.
    fn on_partial_ack(&mut self, _acked: u32, _inflation: i32) -> OnPartialAck {
        OnPartialAck::Ends
    }

    /// True if the ACK that ends recovery grows the window as any other.
    fn grows_at_exit(&self) -> bool {
        false
    }

    /// The retransmission timer expires.
    fn on_timeout(&mut self, _board: &mut Scoreboard) {}

    /// Declares segments lost after a timeout. Returns their number.
    fn lose_on_timeout(&mut self, board: &mut Scoreboard, _rtt: &Rtt, _now: Instant) -> u32 {
        board.lose_all()
    }

    /// Nothing that was taken for lost was.
    fn on_undo(&mut self) {}

    /// The segment at `index` has been sent again.
    fn on_sent_again(&mut self, _board: &Scoreboard, _index: u64, _sent_at: Instant) {}

    /// The first segment of a recovery, which leaves regardless of the window.
    fn first_again(&mut self, board: &Scoreboard) -> Option<u64> {
        board.front_index()
    }

    /// The segments that leave before new data while losses are being repaired.
    fn before_new(&mut self, board: &mut Scoreboard, _state: State) -> BeforeNew {
        board.next_lost().map_or(BeforeNew::Nothing, BeforeNew::Again)
    }

    /// The segment that leaves then without new data.
    fn after_new(&self, _board: &Scoreboard, _state: State, _una: u64) -> Option<Next> {
        None
    }

    /// A segment goes out that the window allows, in a recovery up to `point`.
    fn on_sent(&mut self, _next: Next, _point: u64) {}

    /// True if a segment leaves in recovery regardless of the window.
    fn owes(&self) -> bool {
        false
    }

    /// One of those goes out: the segment at this index again, or new data where there is none.
    fn take_owed(&mut self, _board: &Scoreboard) -> Option<u64> {
        None
    }
}

macro_rules! strategies {
    ($($strategy:ident),+) => {
        /// The strategy of a sender, dispatched without indirection.
        #[derive(Debug)]
        pub(in crate::tcp::sender) enum AnyStrategy {
            $($strategy($strategy),)+
        }

        macro_rules! dispatch {
            ($self_:expr, $strategy_:ident => $call:expr) => {
                match $self_ { $(AnyStrategy::$strategy($strategy_) => $call,)+ }
            };
        }
    };
}

strategies!(Tahoe, Reno, NewReno, Sack, Rack, Fack, DuplicateAcks);

impl AnyStrategy {
    /// The strategy of a connection.
    pub(in crate::tcp::sender) fn new(transport: &Transport) -> Self {
        match (transport.recovery, transport.sack_sender) {
            (LossRecovery::Tahoe, _) => AnyStrategy::Tahoe(Tahoe),
            (LossRecovery::NewReno, _) => AnyStrategy::NewReno(NewReno::new(transport)),
            (LossRecovery::Sack, SackSender::Scoreboard) if transport.peer_sack && transport.rack => {
                AnyStrategy::Rack(Rack::new(transport))
            }
            (LossRecovery::Sack, SackSender::Scoreboard) if transport.peer_sack => {
                AnyStrategy::Sack(Sack::new(transport))
            }
            (LossRecovery::Sack, SackSender::Fack) if transport.peer_sack => AnyStrategy::Fack(Fack::new(transport)),
            (LossRecovery::Sack, _) if transport.peer_sack => AnyStrategy::DuplicateAcks(DuplicateAcks::new(transport)),
            // Without blocks from the peer a SACK sender behaves as Reno.
            (LossRecovery::Reno | LossRecovery::Sack, _) => AnyStrategy::Reno(Reno::new(transport)),
        }
    }
}

impl Strategy for AnyStrategy {
    fn hides_sacked(&self) -> bool {
        dispatch!(self, strategy => strategy.hides_sacked())
    }
    fn in_flight(&self, board: &Scoreboard) -> i64 {
        dispatch!(self, strategy => strategy.in_flight(board))
    }
    #[inline]
    fn on_ack(&mut self, view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> News {
        dispatch!(self, strategy => strategy.on_ack(view, ack, delivered))
    }
    fn detects_by_time(&self) -> bool {
        dispatch!(self, strategy => strategy.detects_by_time())
    }
    fn begins_again(&self) -> bool {
        dispatch!(self, strategy => strategy.begins_again())
    }
    fn reorderings(&self) -> Reorderings {
        dispatch!(self, strategy => strategy.reorderings())
    }
    fn on_reordering(&mut self, from: u64) {
        dispatch!(self, strategy => strategy.on_reordering(from))
    }
    fn settles_at(&self) -> Option<Instant> {
        dispatch!(self, strategy => strategy.settles_at())
    }
    fn on_settled(&mut self, view: &mut View) -> u32 {
        dispatch!(self, strategy => strategy.on_settled(view))
    }
    fn knows_of_loss(&self, board: &Scoreboard) -> bool {
        dispatch!(self, strategy => strategy.knows_of_loss(board))
    }
    fn covers(&self, una: u64, recover: u64) -> bool {
        dispatch!(self, strategy => strategy.covers(una, recover))
    }
    fn restarts(&self) -> bool {
        dispatch!(self, strategy => strategy.restarts())
    }
    fn inflates(&self) -> bool {
        dispatch!(self, strategy => strategy.inflates())
    }
    fn makes_room(&self) -> bool {
        dispatch!(self, strategy => strategy.makes_room())
    }
    fn reduces(&self) -> bool {
        dispatch!(self, strategy => strategy.reduces())
    }
    fn on_enter(&mut self, board: &Scoreboard, first_end: u64) {
        dispatch!(self, strategy => strategy.on_enter(board, first_end))
    }
    fn forgets_at_start(&self) -> bool {
        dispatch!(self, strategy => strategy.forgets_at_start())
    }
    fn forgets_at_end(&self) -> bool {
        dispatch!(self, strategy => strategy.forgets_at_end())
    }
    fn restarts_timer(&self) -> bool {
        dispatch!(self, strategy => strategy.restarts_timer())
    }
    fn on_partial_ack(&mut self, acked: u32, inflation: i32) -> OnPartialAck {
        dispatch!(self, strategy => strategy.on_partial_ack(acked, inflation))
    }
    fn grows_at_exit(&self) -> bool {
        dispatch!(self, strategy => strategy.grows_at_exit())
    }
    fn on_timeout(&mut self, board: &mut Scoreboard) {
        dispatch!(self, strategy => strategy.on_timeout(board))
    }
    fn lose_on_timeout(&mut self, board: &mut Scoreboard, rtt: &Rtt, now: Instant) -> u32 {
        dispatch!(self, strategy => strategy.lose_on_timeout(board, rtt, now))
    }
    fn on_undo(&mut self) {
        dispatch!(self, strategy => strategy.on_undo())
    }
    fn on_sent_again(&mut self, board: &Scoreboard, index: u64, sent_at: Instant) {
        dispatch!(self, strategy => strategy.on_sent_again(board, index, sent_at))
    }
    fn first_again(&mut self, board: &Scoreboard) -> Option<u64> {
        dispatch!(self, strategy => strategy.first_again(board))
    }
    fn before_new(&mut self, board: &mut Scoreboard, state: State) -> BeforeNew {
        dispatch!(self, strategy => strategy.before_new(board, state))
    }
    fn after_new(&self, board: &Scoreboard, state: State, una: u64) -> Option<Next> {
        dispatch!(self, strategy => strategy.after_new(board, state, una))
    }
    fn on_sent(&mut self, next: Next, point: u64) {
        dispatch!(self, strategy => strategy.on_sent(next, point))
    }
    fn owes(&self) -> bool {
        dispatch!(self, strategy => strategy.owes())
    }
    fn take_owed(&mut self, board: &Scoreboard) -> Option<u64> {
        dispatch!(self, strategy => strategy.take_owed(board))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transport_names_the_strategy_and_a_peer_without_sack_gets_reno() {
        let strategy = |recovery, sack_sender, peer_sack| {
            AnyStrategy::new(&Transport { recovery, peer_sack, sack_sender, ..Transport::default() })
        };
        let rack = Transport { rack: true, ..Transport::default() };
        assert!(matches!(AnyStrategy::new(&rack), AnyStrategy::Rack(_)));
        assert!(matches!(AnyStrategy::new(&Transport { peer_sack: false, ..rack }), AnyStrategy::Reno(_)));
        let (board, count) = (SackSender::Scoreboard, SackSender::DuplicateAcks);
        assert!(matches!(strategy(LossRecovery::Tahoe, count, true), AnyStrategy::Tahoe(_)));
        assert!(matches!(strategy(LossRecovery::Reno, count, true), AnyStrategy::Reno(_)));
        assert!(matches!(strategy(LossRecovery::NewReno, board, false), AnyStrategy::NewReno(_)));
        assert!(matches!(strategy(LossRecovery::Sack, board, true), AnyStrategy::Sack(_)));
        assert!(matches!(strategy(LossRecovery::Sack, count, true), AnyStrategy::DuplicateAcks(_)));
        assert!(matches!(strategy(LossRecovery::Sack, SackSender::Fack, true), AnyStrategy::Fack(_)));
        for sack_sender in [board, count, SackSender::Fack] {
            assert!(matches!(strategy(LossRecovery::Sack, sack_sender, false), AnyStrategy::Reno(_)));
        }
    }
}
