//! Contract suites: the properties that every rule, algorithm, queue, link and run must have.
//!
//! Each suite drives its subject with random operations from named streams, the same in every run. It reports the
//! violated promise and the case. Everything registered is checked. You can also check your own algorithm:
//!
//! ```
//! use ackclock::cc::Windowed;
//! use ackclock::contract::{Violation, check_cc, check_rule};
//! use ackclock::rule::Rule;
//!
//! #[derive(Clone, Debug)]
//! struct Gentle;
//!
//! impl Rule for Gentle {
//!     fn grow(&mut self, w: f64, acked: f64) -> f64 {
//!         w + 0.5 * acked / w
//!     }
//!     fn cut(&mut self, w: f64) -> f64 {
//!         0.8 * w
//!     }
//! }
//!
//! # fn main() -> Result<(), Violation> {
//! check_rule("gentle", || Gentle)?;
//! check_cc("gentle", |context| Windowed::new(Gentle, context))?;
//! # Ok(())
//! # }
//! ```

/// Fails the case if a promise is violated. Incomparable values (NaN) violate it.
macro_rules! ensure {
    ($promise:expr, $($message:tt)+) => {
        let kept: bool = $promise;
        if !kept {
            return Err(format!($($message)+));
        }
    };
}

mod backing_off;
mod cc;
mod diagnosis;
mod draw;
mod item;
mod journal;
mod link;
mod network;
mod parts;
mod promise;
mod queue;
mod random_queue;
mod rule;
mod run;
mod takeover;
mod traffic;

pub use cc::check_cc;
pub use diagnosis::{Finding, Step, diagnose};
pub use item::{Item, Told};
pub use link::check_link;
pub use network::random_plan;
pub use promise::Promise;
pub use queue::check_queue;
pub use random_queue::{queue_kinds, random_queues};
pub use rule::check_rule;
pub use run::check_run;
pub use takeover::check_takeover;

use draw::Draw;

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject}, case {case}: {broken}")]
pub struct Violation {
    /// The checked subject.
    pub subject: String,
    /// The number of the random case, which is the same in every run.
    pub case: u64,
    /// The promise, and the observed behaviour.
    pub broken: String,
}

/// Checks the cases `0 .. cases`, each with its own random numbers.
fn for_each_case(
    subject: &str,
    cases: u64,
    mut check: impl FnMut(&mut Draw) -> Result<(), String>,
) -> Result<(), Violation> {
    for case in 0..cases {
        let mut draw = Draw::new(subject, case);
        check(&mut draw).map_err(|broken| Violation { subject: subject.to_owned(), case, broken })?;
    }
    Ok(())
}
