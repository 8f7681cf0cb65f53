//! Scores: estimates, values of runs, judgements and sentences, computed in the core.

pub mod estimates;
pub mod judged;
pub mod race;
pub mod runs;
