//! Exchange scripts against the kernel in virtual time.
//!
//! A guest has the sockets of the script. The segments of the script arrive at its device at exactly their times. The
//! guest's own segments are compared with the script.

mod calls;
mod host;
mod settings;
mod wire;
mod words;

use std::path::Path;

use ackclock::exchange::{Report, run_against};
use ackclock::transport::Profile;

use crate::error::KernelError;
use host::KernelHost;

/// Runs a script against the TCP of a kernel.
///
/// # Errors
/// The guest cannot start, or it ends.
pub fn run(text: &str, profile: Profile, kernel: &Path) -> Result<Report, KernelError> {
    let (report, host) = run_against(text, profile, |settings| KernelHost::start(kernel, settings))?;
    match host.and_then(|host| host.failure) {
        Some(failure) => Err(failure),
        None => Ok(report),
    }
}
