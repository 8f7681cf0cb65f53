//! Scores compare an algorithm with others and give confidence intervals (`docs/learn/how-algorithms-are-compared.md`).
//!
//! `values` reads the metrics from the document of a run. `estimate` and `bootstrap` estimate them over replicates. `board`
//! compares them with a reference, `regret` and `objective` with the best of a panel, and `rivals` with competing algorithms.
//! `verdict` writes the sentences. The results depend on the numbers alone, so every machine and language gives the same.

mod board;
mod bootstrap;
mod document;
mod environment;
mod estimate;
mod evaluation;
mod mersenne;
mod multiple;
mod objective;
mod overview;
mod race;
mod regret;
mod rivals;
mod runs;
mod suite;
mod sum;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod tiles;
mod under_test;
mod values;
mod verdict;

pub use board::{Board, EnvironmentResult, Score, scores};
pub use bootstrap::{Bootstrap, RESAMPLES, quantile, reflected_estimate};
pub use environment::{Better, Environment, Metric, WATCH, Watch, common, delay_score, goodput};
pub use estimate::{
    CONFIDENCE, Estimate, Judgement, against_stored, compared, estimate, paired_difference, student_t_quantile,
};
pub use evaluation::Evaluation;
pub use multiple::{holm, that_count};
pub use objective::{ALPHA, Best, Costs, Objective, SHARES, Scored, Stored, Weights, complete, least_difference};
pub use race::{Race, paired_bound};
pub use regret::{NoiseFloor, Regret, Table, noise_floor, regrets};
pub use rivals::{
    Algorithm, Band, Beside, Contender, FAIR, Neighbours, Rival, STARVED, Starved, band, harm, rest_of, rivals, starves,
};
pub use runs::{Failure, Notes, Plan, Results, Wanted};
pub use suite::{Suite, best_of, costs_of_best, worst_of};
pub use sum::{mean, sum};
pub use summary::{cell_text, counts};
pub use text::share_text;
pub use under_test::UnderTest;
pub use verdict::{SILENT, sentences, verdict, worst};
