//! Another algorithm for a connection in progress, as by the socket option `TCP_CONGESTION`.
//!
//! Reference: Linux's `tcp_set_congestion_control`. The sender keeps its window, its recovery and its estimates. The
//! undo of the old algorithm's actions is discarded (`tcp_init_congestion_control` clears `prior_ssthresh`).

use super::Sender;
use super::recovery::Frto;
use crate::cc::{Cc, Recovery};
use crate::transport::Controller;
use crate::units::Instant;

impl Sender {
    /// `cc` decides from now on. A recovery in progress continues, as if it had begun now for `cc`.
    pub(crate) fn set_cc(&mut self, now: Instant, cc: Cc) {
        self.cc = Controller::new(cc);
        self.needs_rate_samples = self.cc.needs_rate_samples();
        self.board.keep_delivery(now, self.needs_rate_samples);
        self.end_doubt();
        self.frto = Frto::Off;
        let was_reducing = self.is_reducing();
        self.reduces = self.may_reduce();
        self.reduces_for_mark &= self.reduces;
        if self.state.is_fast_recovery() {
            let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
            self.cc.on_recovery_enter(&recovery);
            if self.reduces && !was_reducing {
                self.begin_reduction();
                self.reduce(0, false);
            }
        }
        self.after_event(now);
    }
}
