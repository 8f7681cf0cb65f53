//! Changes compiled objects, reads them, and runs them in both engines: `cargo fuzz run objects`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_bpf::fuzz::fuzz_object(data));
