//! The algorithm through which an agent sets the window of a flow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ackclock::cc::{Ack, Algorithm, CcContext, Congestion, CongestionControl, Departures};
use ackclock::units::Rate;

use super::observed::Scale;

/// The meaning of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The window is multiplied by two to the power of the action.
    Factor,
    /// The window in bandwidth-delay products.
    Window,
    /// The pacing rate as a share of the bottleneck rate. The window stays at its upper bound.
    Rate,
}

/// Action, name, unit, meaning, and the lowest and highest value.
type Row = (Action, &'static str, &'static str, &'static str, f64, f64);

/// Every [`Action`].
pub const ACTIONS: [Row; 3] = [
    (Action::Factor, "factor", "log2", "the window is multiplied by 2 to the power of the action", -1.0, 1.0),
    (Action::Window, "window", "BDP", "the window, at least one segment", 0.0, 4.0),
    (Action::Rate, "rate", "of the bottleneck's rate", "the pacing rate (at least 0.01, window of 16 BDP)", 0.0, 2.0),
];

/// The largest window in bandwidth-delay products, and in segments where those are small.
const MOST_BDP: f64 = 16.0;
const MOST_SEGMENTS: f64 = 64.0;
/// The smallest rate as a part of the bottleneck's.
const LEAST_RATE: f64 = 0.01;

/// The window and rate that an agent has set: bits of an `f64`, and bit/s, 0 for no rate. The run reads them, and
/// stays on one thread while it lasts.
#[derive(Debug)]
pub struct Setting {
    cwnd: AtomicU64,
    rate_bps: AtomicU64,
}

impl Setting {
    /// A window of `segments`, not paced.
    pub fn new(segments: f64) -> Arc<Self> {
        Arc::new(Setting { cwnd: AtomicU64::new(segments.to_bits()), rate_bps: AtomicU64::new(0) })
    }

    /// The window in segments.
    pub fn cwnd(&self) -> f64 {
        f64::from_bits(self.cwnd.load(Ordering::Relaxed))
    }

    /// The rate in bit/s, 0 for none.
    fn rate_bps(&self) -> u64 {
        self.rate_bps.load(Ordering::Relaxed)
    }

    /// Takes an action, a finite number, within its bounds.
    pub fn act(&self, action: Action, value: f64, scale: &Scale) {
        let (.., low, high) = ACTIONS[action as usize];
        let value = value.clamp(low, high);
        let most = (MOST_BDP * scale.bdp()).max(MOST_SEGMENTS);
        let cwnd = match action {
            Action::Factor => self.cwnd() * libm::exp2(value),
            Action::Window => value * scale.bdp(),
            Action::Rate => {
                let rate_bps = value.max(LEAST_RATE) * scale.rate_bps;
                self.rate_bps.store(rate_bps.max(1.0) as u64, Ordering::Relaxed);
                most
            }
        };
        self.cwnd.store(cwnd.clamp(1.0, most).to_bits(), Ordering::Relaxed);
    }

    /// The algorithm of one flow, which applies the agent's setting.
    pub fn algorithm(self: &Arc<Self>) -> Algorithm {
        let set = Arc::clone(self);
        Algorithm::new("agent", move |_: CcContext| Agent { set: Arc::clone(&set) })
    }
}

/// A window that events do not change.
#[derive(Debug)]
struct Agent {
    set: Arc<Setting>,
}

impl CongestionControl for Agent {
    fn cwnd(&self) -> f64 {
        self.set.cwnd()
    }

    /// At the least window: there is no slow start.
    fn ssthresh(&self) -> f64 {
        1.0
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps(self.set.rate_bps())
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _congestion: &Congestion) {}
}
