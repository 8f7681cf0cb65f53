//! Feeds the interpreter of exchange scripts: `cargo fuzz run exchange`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::exchange::fuzz(data));
