//! Quantities with units: integer nanoseconds, bits per second, bytes.
//!
//! This module parses and prints quantities, so that scenarios, error messages and reports spell them in the same
//! way. Names of functions state their rounding.

mod quantity;
mod rate;
mod time;

pub use quantity::{ParseQuantityError, parse_bytes, parse_duration, parse_rate, with_a_point};
pub use rate::Rate;
pub use time::{Duration, Instant};

/// A number as messages show it: with an exponent where it would have a great many digits.
pub fn show_number(number: f64) -> String {
    let size = number.abs();
    if size >= 1e16 || (size > 0.0 && size < 1e-6) { format!("{number:e}") } else { number.to_string() }
}

/// Nanoseconds in a second.
pub const NANOS_PER_SEC: u64 = 1_000_000_000;
