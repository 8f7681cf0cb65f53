//! Formulas over named numbers: text, compiled once into operations on a register file.
//!
//! ```text
//! statements = [ NAME "=" formula { ";" NAME "=" formula } [ ";" ] ]
//! formula    = and { "or" and }              and = not { "and" not }           not = [ "not" ] comparison
//! comparison = sum [ ( < <= > >= == != ) sum ]
//! sum        = product { ( + - ) product }   product = sign { ( * / ) sign }   sign = [ "-" ] power
//! power      = value [ "^" sign ]
//! value      = NUMBER [ UNIT ] | NAME | FUNCTION "(" formula { "," formula } ")" | "(" formula ")"
//! ```
//!
//! Truth is 1, and anything but 0 is true. A formula has no loops and calls only the functions here, so the number of
//! its operations bounds its time. Its length, depth and operations are limited.

mod compile;
mod dimension;
mod error;
mod operation;
mod program;
mod token;

pub use compile::{Compiler, MAX_LEN, is_reserved};
pub use dimension::Dimension;
pub use error::FormulaError;
pub use operation::{Code, Operation};
pub use program::{Fault, Program, Variable};

#[cfg(test)]
mod tests;
