//! Feeds the scoreboard with operations: `cargo fuzz run scoreboard`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock::tcp::fuzz::fuzz_scoreboard(data));
