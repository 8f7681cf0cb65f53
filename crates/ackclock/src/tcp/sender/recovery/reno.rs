//! Reno: fast recovery until the first ACK of new data.
//!
//! Reference: RFC 5681 §3.2.

use super::strategy::Strategy;
use crate::transport::{ExitGrowth, SecondLoss, Transport};

/// Reno, with the options of a connection.
#[derive(Debug)]
pub(in crate::tcp::sender) struct Reno {
    forgets: bool,
    grows_at_exit: bool,
}

impl Reno {
    pub(super) fn new(transport: &Transport) -> Self {
        Reno {
            forgets: transport.second_loss == SecondLoss::Standard,
            grows_at_exit: transport.exit_growth == ExitGrowth::OneAck,
        }
    }
}

impl Strategy for Reno {
    fn inflates(&self) -> bool {
        true
    }

    /// Reno forgets the window it just cut for: a second loss in it is a second event (Fall & Floyd 1996).
    fn forgets_at_start(&self) -> bool {
        self.forgets
    }

    fn grows_at_exit(&self) -> bool {
        self.grows_at_exit
    }
}
