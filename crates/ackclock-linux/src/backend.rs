//! The name of this backend, and the features that it supports.

use ackclock_wire::Backend;

/// This backend in messages.
pub const BACKEND: Backend = Backend {
    name: "linux",
    subject: "the emulator",
    quic: "the emulator has the kernel's TCP; a pair of programs (--exec, --serve) may use QUIC",
    simulates: false,
    has_settings: false,
};
