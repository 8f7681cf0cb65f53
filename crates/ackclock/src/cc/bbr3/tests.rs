//! The draft's test cases, and exchanges worked out from its text.

mod cases;
mod exchanges;

use super::*;
