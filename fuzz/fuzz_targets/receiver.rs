//! Feeds the receiver with operations: `cargo fuzz run receiver`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::tcp::fuzz::fuzz_receiver(data));
