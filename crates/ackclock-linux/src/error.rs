//! Why an emulation did not come to its end.

use std::io;

use ackclock_wire::Refused;

/// Why an emulation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// It was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// The scenario contains a feature that the emulator does not support.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// This user may not make network namespaces.
    #[error(
        "the emulator needs network namespaces, and this user may not make them ({0}); run it as root, or with `unshare -Ur`"
    )]
    NoNamespaces(io::Error),
    /// There are no TUN devices.
    #[error("/dev/net/tun: {0}; the emulator needs it (modprobe tun; in a container, --device /dev/net/tun)")]
    NoTun(io::Error),
    /// The clock of the host is too coarse.
    #[error("the clock of this host has steps of {0} ns, and the emulator needs a microsecond or less")]
    CoarseClock(u64),
    /// A setting of the kernel cannot be made.
    #[error("/proc/sys/net/{name}: cannot be set to {value}: {error}")]
    Setting {
        /// The setting.
        name: String,
        /// The value.
        value: String,
        /// Why.
        error: io::Error,
    },
    /// A program could not be started.
    #[error("{command}: cannot be started: {error}")]
    Program {
        /// The command.
        command: String,
        /// Why.
        error: io::Error,
    },
    /// Some other call of the system.
    #[error("{what}: {error}")]
    System {
        /// The attempted operation.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

/// Adds the attempted operation to an error.
pub(crate) trait Tried<T> {
    /// Returns the error with the attempted operation.
    fn tried(self, what: &'static str) -> Result<T, EmulationError>;
}

impl<T> Tried<T> for io::Result<T> {
    fn tried(self, what: &'static str) -> Result<T, EmulationError> {
        self.map_err(|error| EmulationError::System { what, error })
    }
}
