//! Outcomes of packets whose ends are outside of the simulation.

use std::collections::VecDeque;

use super::index::LinkId;
use crate::ecn::Ecn;
use crate::units::{Duration, Instant};

/// The direction of a packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the sender to the receiver.
    Forward,
    /// From the receiver to the sender.
    Reverse,
}

/// An event of a packet that its owner sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When. An arrival may be in the future.
    pub at: Instant,
    /// The packet.
    pub token: u32,
    /// The event.
    pub event: OutcomeEvent,
}

/// The events of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeEvent {
    /// It comes to the end of its path.
    Arrived {
        /// Its queueing delay on the path.
        queueing: Duration,
        /// Whether some of its bits are wrong.
        is_corrupted: bool,
        /// Its ECN field.
        ecn: Ecn,
    },
    /// A link made a copy, which has outcomes of its own.
    Copied,
    /// A queue dropped it, or a link lost it.
    Gone {
        /// Whether a queue before the first shared link dropped it.
        is_access_drop: bool,
    },
    /// It enters a link. Reported with a capture only.
    Enters {
        /// The link.
        link: LinkId,
        /// Its ECN field.
        ecn: Ecn,
    },
    /// It comes out of a link. Reported with a capture only.
    Leaves {
        /// The link.
        link: LinkId,
        /// Its ECN field.
        ecn: Ecn,
    },
}

/// The outcomes that the owner has not taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes(VecDeque<Outcome>);

impl Outcomes {
    #[cold]
    pub(super) fn add(&mut self, at: Instant, token: u32, event: OutcomeEvent) {
        self.0.push_back(Outcome { at, token, event });
    }

    pub(super) fn take(&mut self) -> Option<Outcome> {
        self.0.pop_front()
    }
}
