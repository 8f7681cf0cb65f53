//! Feeds RACK with losses and delays of segments and ACKs: `cargo fuzz run rack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::tcp::fuzz::fuzz_rack(data));
