//! QUIC without I/O: a sender of one stream and its receiver, with the loss detection of RFC 9002.
//!
//! Reference: RFC 9002 (recovery and the events of congestion control), RFC 9000 §13 (acknowledgements, ECN) and §19.3 (ACK
//! frames), draft-ietf-quic-ack-frequency (thresholds of the receiver). What does not depend on the transport is `tcp`'s: the
//! RTT estimator, timers, pacing, delivery-rate samples, the algorithm as a sender has it.
//!
//! Deviations: a connection is open when it starts, in the space of application data, and does not end; windows count packets of
//! a full frame, as those of TCP count segments; a frame that is sent again keeps its bytes; data packets tell which ACKs have
//! come without a frame of their own (RFC 9000 §13.2.4), whose bytes are not counted.

mod ecn;
mod packet;
mod receiver;
mod sender;
mod sent;
mod stream;

pub use packet::{AckPacket, DataPacket, EcnCounts, Packet};
pub use receiver::{MAX_RANGES, Receiver};
pub use sender::Sender;
#[cfg(any(test, feature = "fuzz"))]
pub use sender::fuzz::fuzz_quic;
