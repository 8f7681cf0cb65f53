//! What was seen at one place of a network, and its bytes as other tools read them.
//!
//! A [`Recording`] is collected by a run; the encoders are pure functions of it.

mod pcapng;
mod recording;
mod wire;

pub use pcapng::{Header, pcapng};
pub use recording::{Connection, Packet, Recording, Segment};
