//! The facts of an ACK.

use crate::cc::{Ack, RateSample};

/// The draft's RS.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// RS.delivery_rate.
    pub(super) delivery_rate: f64,
    /// RS.delivered.
    pub(super) delivered: f64,
    pub(super) prior_delivered: u64,
    pub(super) newly_acked: u64,
    pub(super) tx_in_flight: u64,
    pub(super) lost: u64,
    /// Marked bytes of RS.delivered.
    pub(super) delivered_ce: u64,
    pub(super) is_app_limited: bool,
    /// RS.rtt in seconds, infinite before the first measurement.
    pub(super) rtt: f64,
}

impl Sample {
    /// The sample of an ACK, which the algorithm itself may have held down.
    pub(super) fn new(rate: &RateSample, ack: &Ack, held_down: bool) -> Self {
        let rtt = ack.path.latest_rtt;
        Sample {
            delivery_rate: rate.delivered as f64 / rate.interval.as_secs_f64(),
            delivered: rate.delivered as f64,
            prior_delivered: rate.prior_delivered,
            newly_acked: rate.newly_acked,
            tx_in_flight: rate.tx_in_flight,
            lost: rate.lost,
            delivered_ce: rate.delivered_ce,
            is_app_limited: rate.app_limited || held_down,
            rtt: if rtt.is_zero() { f64::INFINITY } else { rtt.as_secs_f64() },
        }
    }
}
