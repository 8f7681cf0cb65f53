//! The decisions of a loss recovery strategy. The defaults follow RFC 5681.

use super::State;
use crate::tcp::scoreboard::{DUP_THRESH, Delivered, Scoreboard};
use crate::tcp::segment::AckSegment;
use crate::transport::Rtt;
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
    /// The retransmissions so far.
    pub(in crate::tcp::sender) retransmits: u64,
}

/// The strategy's first classification of an ACK.
#[derive(Clone, Copy, Debug, Default)]
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

/// The next segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp::sender) enum Next {
    /// New data.
    New {
        /// Bytes of payload.
        len: u32,
    },
    /// The segment at this index again, and then those after it.
    Again(u64),
    /// The segment at this index again, although lost segments before it have not been sent again: RFC 6675's rescue retransmission.
    Rescue(u64),
}

/// The reorderings that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp::sender) struct Reorderings {
    /// How many ACKs showed one.
    pub(in crate::tcp::sender) times: u32,
    /// The largest distance in full segments from a late segment to the end of the earlier arrivals, at least three.
    pub(in crate::tcp::sender) degree: u32,
}

impl Default for Reorderings {
    fn default() -> Self {
        Reorderings { times: 0, degree: DUP_THRESH }
    }
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

    /// A block reports FIN, which left at `sent_at` behind all data and ends at `end`.
    fn on_fin(&mut self, _board: &Scoreboard, _now: Instant, _sent_at: Instant, _end: u64) {}

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
