//! The engine: the total order of events.

mod events;

pub use events::{ComponentId, EventQueue};
