//! The engine: total order of events, the clock, named random streams.

mod luck;

pub use luck::{Luck, Stream};
