//! Runs programs in interpreter and translation, which have to agree: `cargo fuzz run engines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_bpf::fuzz::fuzz_engines(data));
