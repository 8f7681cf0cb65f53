//! Feeds the reader of scenarios: `cargo fuzz run scenario`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_scenario::fuzz(data));
