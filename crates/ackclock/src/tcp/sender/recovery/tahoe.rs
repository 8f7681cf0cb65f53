//! Tahoe: fast retransmit, then slow start over everything that was in flight.
//!
//! Reference: RFC 5681 without fast recovery, and Jacobson 1988.

use super::strategy::Strategy;

/// Tahoe has no state.
#[derive(Debug)]
pub(in crate::tcp::sender) struct Tahoe;

impl Strategy for Tahoe {
    fn restarts(&self) -> bool {
        true
    }
}
