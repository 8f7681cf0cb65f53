//! The entries of fuzzers: any bytes at all are operations, and a naive model says what must come of them.

mod receiver;
mod scoreboard;

pub use super::sender::fuzz::fuzz_rack;
pub use receiver::fuzz_receiver;
pub use scoreboard::fuzz_scoreboard;

/// Reads operations off bytes; nothing more comes when they are used up.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        self.byte().map(u64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_receiver_reassembles_any_segments(data in prop::collection::vec(any::<u8>(), 0..300)) {
            fuzz_receiver(&data);
        }

        #[test]
        fn rack_finds_the_losses_of_its_pseudo_code(data in prop::collection::vec(any::<u8>(), 0..200)) {
            fuzz_rack(&data);
        }

        #[test]
        fn a_scoreboard_counts_as_its_definition_does(data in prop::collection::vec(any::<u8>(), 0..300)) {
            fuzz_scoreboard(&data);
        }
    }
}
