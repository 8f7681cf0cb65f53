//! ackclock: a congestion-control laboratory.
//!
//! The core has no side effects. Time, bytes, randomness and configuration come in as arguments. Results and samples
//! go out. `ARCHITECTURE.md` has the map.
//!
//! # An algorithm of one's own
//!
//! Implement [`cc::CongestionControl`], whose methods are the events of a sender, and give it to flows with a
//! [`cc::Algorithm`]. `contract::check_cc` tries it on random connections.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! use ackclock::cc::{Ack, Algorithm, CcContext, Congestion, CongestionControl, Departures, Restart};
//! use ackclock_scenario::Scenario;
//!
//! /// Slow start, one segment per round trip, and seven tenths of the window at a loss.
//! #[derive(Debug)]
//! struct Gentle {
//!     cwnd: f64,
//!     ssthresh: f64,
//! }
//!
//! impl CongestionControl for Gentle {
//!     fn cwnd(&self) -> f64 {
//!         self.cwnd
//!     }
//!     fn ssthresh(&self) -> f64 {
//!         self.ssthresh
//!     }
//!     fn on_ack(&mut self, ack: &Ack) {
//!         if ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery && !ack.ece {
//!             self.cwnd += if self.cwnd < self.ssthresh { ack.acked } else { ack.acked / self.cwnd };
//!         }
//!     }
//!     fn on_congestion(&mut self, congestion: &Congestion) {
//!         match congestion.restart {
//!             // The window was cut before in this window of data.
//!             Restart::SlowStartAgain | Restart::OneSegment => self.cwnd = 1.0,
//!             Restart::SlowStart => (self.ssthresh, self.cwnd) = ((0.7 * self.cwnd).max(2.0), 1.0),
//!             Restart::Reduced => {
//!                 self.ssthresh = (0.7 * self.cwnd).max(2.0);
//!                 self.cwnd = self.ssthresh;
//!             }
//!         }
//!     }
//!     fn departures(&self) -> Departures {
//!         Departures::None
//!     }
//!     fn needs_rate_samples(&self) -> bool {
//!         false
//!     }
//! }
//!
//! let text = "
//! schema = 1
//! duration = '20 s'
//! topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms', queue = { kind = 'drop-tail', limit = '1 BDP' } }
//! flows = [{ name = 'test', count = 2, cc = 'aimd' }]
//! ";
//! let mut plan = Scenario::from_toml::<&str>(text, "example.toml", &[]).unwrap().plan(None, 0);
//! let gentle = |context: CcContext| Gentle { cwnd: context.initial_window, ssthresh: context.initial_ssthresh };
//! let algorithm = Arc::new(Algorithm::new("gentle", gentle));
//! for flow in &mut plan.flows {
//!     flow.cc = algorithm.clone();
//! }
//! let result = ackclock::sim::run(&plan, &AtomicBool::new(false)).unwrap();
//! assert_eq!(&*result.flows[0].cc, "gentle");
//! assert!(result.links[0].utilization.unwrap() > 0.9);
//! ```
//!
//! # Features and versions
//!
//! `contract`, on by default, contains the checks that algorithms, rules, queues and links must pass, without further
//! dependencies.
//!
//! From 1.0 on, public items follow semantic versioning. A minor version may then add fields to event structs and
//! methods with defaults to traits. Before 1.0 a minor version may change them, and CHANGES.md says how.

pub mod capture;
pub mod cc;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod ecn;
pub mod engine;
pub mod exchange;
pub mod formula;
pub mod link;
pub mod meter;
pub mod metric;
pub mod model;
pub mod open_loop;
pub mod prefetch;
pub mod probe;
pub mod qdisc;
pub mod quantity;
pub mod quic;
pub mod rng;
pub mod rtp;
pub mod rule;
pub mod score;
pub mod sim;
pub mod tcp;
pub mod transport;
pub mod units;
pub mod variation;

/// The version of the product.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
