//! The engine: total order of events, the clock, named random streams.

mod events;
mod luck;

pub use events::{ComponentId, EventQueue};
pub use luck::{Luck, Stream};
