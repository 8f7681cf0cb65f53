//! my-cc: additive increase, multiplicative decrease, with a decrease that depends on the queueing delay.
//! Windows are in segments, times in seconds.

mod ackclock_cc;

use ackclock_cc::{Ack, Algorithm, Congestion, Parameter, Window};

/// The state of a flow.
pub struct MyCc {
    gain: f64,
    remaining: f64,
    long_delay: f64,
}

impl Algorithm for MyCc {
    const NAME: &'static std::ffi::CStr = c"my-cc";
    const PARAMETERS: &'static [Parameter] = &[
        // Segments that the window gains in a round trip.
        Parameter::new(c"gain", 1.0, 0.2, 5.0),
        // What a cut leaves of the window where the queue is long.
        Parameter::new(c"remaining", 0.5, 0.2, 0.8),
        // The queueing delay from which a queue is long.
        Parameter::new(c"long_delay", 0.01, 0.001, 0.1),
    ];

    fn start(_window: &mut Window, parameters: &[f64]) -> Self {
        MyCc { gain: parameters[0], remaining: parameters[1], long_delay: parameters[2] }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.may_grow == 0 {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.cwnd += ack.acked;
        } else {
            window.cwnd += self.gain * ack.acked / window.cwnd;
        }
    }

    /// A loss or a mark: once per window of data.
    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        let is_long = congestion.path.rtt - congestion.path.min_rtt > self.long_delay;
        let left = window.cwnd * if is_long { self.remaining } else { 0.8 };
        window.ssthresh = left.max(2.0);
        window.cwnd = window.ssthresh;
    }
}

ackclock_cc::export!(MyCc);
