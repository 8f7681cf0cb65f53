//! Rate halving: in fast recovery one segment leaves for two that arrive, until the window that the loss left governs.
//!
//! Reference: Mathis, Semke and Mahdavi 1999, "The Rate-Halving Algorithm for TCP Congestion Control", as in Linux up
//! to 3.1. The bound follows ns-2's `Agent/TCP/Linux`.

use crate::tcp::sender::Sender;

/// The permitted data in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::sender) struct Halving {
    /// None before the first ACK of a recovery.
    most: Option<i64>,
}

impl Halving {
    /// Permits one more segment than an ACK leaves in flight.
    fn on_ack(&mut self, in_flight: i64) {
        let room = in_flight + 1;
        self.most = Some(self.most.map_or(room, |most| most.min(room)));
    }

    /// A segment left: the next two that arrive let another go.
    fn on_sent(&mut self, in_flight: i64) {
        self.most = self.most.map(|most| most.min((in_flight - 1).max(1)));
    }
}

impl Sender {
    /// An ACK arrives that begins or continues a recovery.
    pub(super) fn halve(&mut self) {
        self.halving.on_ack(self.in_flight_for_window() - i64::from(self.inflation));
    }

    /// A segment leaves in recovery.
    #[cold]
    pub(in crate::tcp::sender) fn note_halving(&mut self) {
        self.halving.on_sent(self.in_flight_for_window() - i64::from(self.inflation));
    }

    /// The window.
    pub(super) fn halved_window(&self) -> i64 {
        self.halving.most.unwrap_or(0).max(self.cc.least_in_recovery())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_leaves_for_two_that_arrive() {
        let mut halving = Halving::default();
        // Ten were in flight, and one of them is lost: the ACK that shows it lets one go.
        let mut in_flight = 8;
        let mut sent = Vec::new();
        for _ in 0..7 {
            halving.on_ack(in_flight);
            let leaves = in_flight < halving.most.unwrap();
            if leaves {
                in_flight += 1;
                halving.on_sent(in_flight);
            }
            sent.push(leaves);
            in_flight -= 1;
        }
        assert_eq!(sent, [true, false, true, false, true, false, true]);
        assert_eq!(in_flight, 5);
    }

    #[test]
    fn it_is_never_below_one() {
        let mut halving = Halving::default();
        halving.on_ack(0);
        halving.on_sent(1);
        assert_eq!(halving.most, Some(1));
    }
}
