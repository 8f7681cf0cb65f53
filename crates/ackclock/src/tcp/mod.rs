//! TCP without I/O: sender, receiver, loss recovery, RTT and RTO.

mod transport;

pub use transport::{LossRecovery, Transport};
