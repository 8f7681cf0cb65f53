//! The packets observed at one place of a network, and their bytes in the formats of other tools.
//!
//! A run collects a [`Recording`]. The encoders are pure functions of it.

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
