//! What was seen at one place of a network, and its bytes as other tools read them.
//!
//! A [`Recording`] is collected by a run; the encoders are pure functions of it.

mod observed;
mod pcapng;
mod qlog;
mod recording;
mod sequence;
mod wire;

pub use observed::{Counts, Kind, NoFlow, Observed, Place, Range, Repair, TcpHeader, Vantage, observe, sequence};
pub use pcapng::{CapturedBytes, Header, pcapng, pcapng_of_bytes};
pub use qlog::{QlogVersion, qlog};
pub use recording::{Connection, Declared, Lost, Packet, Recording, Segment, SenderState};
pub use sequence::{Sequence, sequences};
