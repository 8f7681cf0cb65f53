//! Captures made elsewhere: files of pcap and pcapng, also compressed by gzip, and the TCP connections in them.
//!
//! A file may claim anything. Memory is bounded by its length, and the claims by [`MAX_CONNECTIONS`], [`MAX_PACKETS`] and
//! [`MAX_DECOMPRESSED`].

mod clock;
mod connections;
mod copies;
mod decode;
mod error;
mod file;
mod fuzz;
mod input;
mod left_out;
mod packets;

pub use clock::ClockStep;
pub use error::{MAX_DECOMPRESSED, NoCapture};
pub use file::{Capture, Described, MAX_PACKETS, NoView, Seen, Summary};
pub use fuzz::fuzz_capture;
pub use left_out::MAX_CONNECTIONS;
