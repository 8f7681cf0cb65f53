//! The name of this backend, the features that it supports, and its kernel.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ackclock_wire::Backend;

/// This backend in messages.
pub const BACKEND: Backend = Backend {
    name: "kernel",
    subject: "the kernel in virtual time",
    quic: "the kernel has TCP only",
    simulates: true,
    has_settings: true,
};

/// The kernel of the guests.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file.
    pub kernel: PathBuf,
    /// The folder with the compiled objects of our algorithms.
    pub objects: PathBuf,
    /// The compiled modules of users, by the text of their source.
    pub modules: BTreeMap<String, PathBuf>,
    /// Bytes of each captured packet that are kept.
    pub snaplen: usize,
}
