//! Why a run in virtual time did not come to its end.

use std::io;
use std::time::Duration;

use ackclock::sim::RunError;
use ackclock_wire::Refused;

/// Why a run in virtual time did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// It was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// The scenario contains a feature that the backend does not support.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The simulation of the other flows cannot continue.
    #[error(transparent)]
    Simulation(RunError),
    /// The guest's kernel has ended.
    #[error("the kernel of {host} ended{}", last_lines(.lines))]
    Ended {
        /// The host.
        host: &'static str,
        /// The last lines of its console.
        lines: Vec<String>,
    },
    /// The guest does not come to its next event.
    #[error(
        "the kernel of {host} computed for {} s without progress, as in an endless loop; kernel.timeout sets this limit{}",
        .limit.as_secs_f64(), last_lines(.lines)
    )]
    Stuck {
        /// The host.
        host: &'static str,
        /// How long it was given.
        limit: Duration,
        /// The last lines of its console.
        lines: Vec<String>,
    },
    /// The kernel refuses a module.
    #[error("{key}: {source_file}: {message}{}", last_lines(.lines))]
    Module {
        /// The key of the scenario.
        key: String,
        /// The source of the module.
        source_file: String,
        /// The error.
        message: String,
        /// The last lines of the guest's console.
        lines: Vec<String>,
    },
    /// The kernel denies a command.
    #[error("{flow}: the kernel denies {message}")]
    Denied {
        /// The flow.
        flow: String,
        /// The command, and the kernel's error.
        message: String,
    },
    /// The kernel denies a message of netlink.
    #[error("the kernel denies {message}")]
    Netlink {
        /// The purpose of the message, and the kernel's error.
        message: String,
    },
    /// A call of the system has failed.
    #[error("{tried}: {error}")]
    System {
        /// The attempted operation.
        tried: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

impl From<RunError> for KernelError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => KernelError::Interrupted,
            other => KernelError::Simulation(other),
        }
    }
}

fn last_lines(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("; its last lines:\n  {}", lines.join("\n  ")) }
}

/// Adds the attempted operation to an error.
pub(crate) trait Tried<T> {
    /// Returns the error with the attempted operation.
    fn tried(self, tried: &'static str) -> Result<T, KernelError>;
}

impl<T> Tried<T> for io::Result<T> {
    fn tried(self, tried: &'static str) -> Result<T, KernelError> {
        self.map_err(|error| KernelError::System { tried, error })
    }
}
