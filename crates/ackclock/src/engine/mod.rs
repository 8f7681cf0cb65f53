//! The engine: the total order of events, and memory in time.

mod events;
mod prefetch;

pub use events::{ComponentId, EventQueue};
pub use prefetch::prefetch;
