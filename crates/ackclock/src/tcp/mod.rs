//! TCP without I/O: sender, receiver and loss recovery.

mod accecn;
mod buffer;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod receiver;
mod scoreboard;
mod segment;
mod sender;

pub use receiver::{FIRST_RECEIVE_MEMORY, MOST_RECEIVE_MEMORY, Receiver};
#[cfg(test)]
pub(crate) use scoreboard::SentSegment;
pub use segment::{
    AccEcnOption, AckSegment, DataEcn, DataSegment, EcnFeedback, MAX_SACK_BLOCKS, PackedFeedback, SackBlocks,
};
pub use sender::Sender;
