//! The emulator: a plan of a scenario runs in real time, with the TCP of the running kernel at both ends.
//!
//! Two network namespaces without a name, of senders and of receivers, have a TUN device each. What leaves the one host is
//! read from its device, goes through the links and queues of the plan, which are those of the simulator stepped by the
//! clock, and is written to the device of the other host. Namespaces and devices are held by file descriptors of this
//! process alone, so that nothing is left of them when it ends, however it ends.
//!
//! On other systems the crate is empty.
#![cfg(target_os = "linux")]

mod account;
mod algorithm;
mod application;
mod emulation;
mod error;
mod fidelity;
mod forwarder;
mod host;
mod network;
mod packet;
mod program;
mod result;
mod support;
mod sys;
mod tap;

pub use emulation::{Emulation, Options, run};
pub use error::EmulationError;
pub use fidelity::Fidelity;
pub use program::Programs;
pub use support::check;
pub use sys::enter_user_namespace;
pub use tap::Tap;
