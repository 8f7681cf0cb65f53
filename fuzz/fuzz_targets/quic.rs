//! Connections of QUIC over paths that lose, delay and mark: `cargo fuzz run quic`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::quic::fuzz_quic(data));
