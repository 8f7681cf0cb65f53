//! Feeds the reader of rules: `cargo fuzz run rule`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::cc::fuzz(data));
