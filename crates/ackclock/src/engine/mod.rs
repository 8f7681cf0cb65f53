//! The engine: the total order of events.

mod events;
mod wheel;

pub use events::{ComponentId, EventQueue};
