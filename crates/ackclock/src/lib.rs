//! ackclock: a congestion-control laboratory.
//!
//! The core depends on nothing outside. Time, bytes, randomness and configuration come in as arguments;
//! results and samples go out. `ARCHITECTURE.md` has the map.

pub mod cc;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod engine;
pub mod exchange;
pub mod formula;
pub mod link;
pub mod meter;
pub mod metric;
pub mod model;
pub mod prefetch;
pub mod probe;
pub mod qdisc;
pub mod quantity;
pub mod rng;
pub mod rule;
pub mod scenario;
pub mod sim;
pub mod tcp;
pub mod units;
pub mod variation;

/// The version of the product.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
