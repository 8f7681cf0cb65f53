//! The entry points of fuzzers: arbitrary bytes are operations, and a naive model predicts their results.

mod receiver;
mod scoreboard;

pub use super::sender::fuzz::fuzz_rack;
pub use receiver::fuzz_receiver;
pub use scoreboard::fuzz_scoreboard;

/// Reads operations from bytes, until they are used up.
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

    #[test]
    fn of_retransmissions_at_one_time_the_one_with_the_lower_end_was_sent_first() {
        fuzz_rack(&[
            48, 152, 0, 178, 209, 178, 178, 0, 0, 0, 0, 0, 0, 0, 0, 193, 0, 142, 206, 128, 149, 0, 0, 0, 0, 0, 205, 0,
            224, 0, 0, 142, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 144, 137, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 162, 149, 148, 145,
        ]);
    }

    #[test]
    fn of_what_an_ack_delivers_that_was_sent_at_one_time_the_highest_end_is_the_newest() {
        fuzz_rack(&[
            0, 146, 140, 197, 0, 0, 224, 140, 224, 0, 0, 191, 0, 224, 147, 0, 205, 140, 0, 0, 0, 196, 224, 224, 0, 0,
            155, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 133, 134, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 164, 158, 0, 157, 0, 0, 149, 0,
        ]);
    }

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
