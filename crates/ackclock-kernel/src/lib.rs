//! Linux TCP in virtual time: the kernel's stack at both ends of a simulated network.
//!
//! Each host is a guest: User-Mode Linux in time-travel mode. This process is the clock and the network of both
//! guests. A guest runs only when the calendar permits it, so a run depends on its plan and seed alone. It needs no
//! privileges and reads no clock.
//!
//! On other systems the crate is empty.
#![cfg(target_os = "linux")]

mod algorithm;
mod backend;
mod calendar;
mod commands;
mod error;
pub mod exchange;
mod folder;
mod guest;
mod multipath;
mod netlink;
mod network;
pub mod queue;
mod readings;
mod run;
mod settings;
mod shared;
mod sys;

pub use backend::Image;
pub use error::KernelError;
pub use run::{KernelRun, check, run};
