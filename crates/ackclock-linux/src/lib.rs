//! The emulator runs a plan in real time, with the TCP of the running kernel at both ends.
//!
//! Two unnamed network namespaces, one for senders and one for receivers, contain a TUN device each. The emulator
//! passes a packet from one device through the links and queues of the plan to the other. The links are the
//! simulator's, stepped by the clock. Only file descriptors of this process hold namespaces and devices, so they end
//! with the process.
//!
//! On other systems the crate is empty.
#![cfg(target_os = "linux")]

mod algorithm;
mod application;
mod backend;
mod emulation;
mod error;
mod fidelity;
mod forwarder;
mod host;
mod program;
mod sys;

pub use ackclock_wire::Tap;
pub use emulation::{Emulation, Options, run};
pub use error::EmulationError;
pub use fidelity::Fidelity;
pub use program::Programs;
pub use sys::enter_user_namespace;
