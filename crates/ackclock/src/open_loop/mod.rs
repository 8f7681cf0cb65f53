//! A queue alone: open-loop arrivals in front of a transmitter of constant rate.
//!
//! [`Traffic`] makes arrivals, and [`serve`] returns their events. [`json`] answers a request with counts, sojourn times
//! and the state of the queue over time.

mod answer;
mod request;
mod server;
mod traffic;

pub use answer::{Answer, Samples, Sojourn, Source};
pub use request::{Recorded, Request, RequestError, json};
pub use server::{Arrival, Event, Outcome, serve};
pub use traffic::Traffic;
