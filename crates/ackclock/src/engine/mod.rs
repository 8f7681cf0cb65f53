//! The engine: the total order of events.

mod events;
mod key;
mod wheel;

pub use events::EventQueue;
pub use key::ComponentId;
