//! QUIC without I/O: a sender of one stream and its receiver, with the loss detection of RFC 9002.
//!
//! References: RFC 9002 for recovery and congestion events, RFC 9000 §13 for acknowledgements and ECN, and §19.3 for
//! ACK frames. Thresholds of the receiver follow draft-ietf-quic-ack-frequency. `transport::numbered` is the common part
//! of the senders of QUIC and RTP.
//!
//! Deviations: a connection is open when it starts, in the space of application data, and does not end. Windows count
//! packets of a full frame, as TCP's count segments. A frame that is sent again keeps its bytes. Data packets report
//! arrived ACKs without a frame (RFC 9000 §13.2.4), so no bytes are counted for it.

mod ecn;
mod packet;
mod receiver;
mod sender;
mod stream;

pub use packet::{AckPacket, DataPacket, EcnCounts, Packet};
pub use receiver::{MAX_RANGES, Receiver};
pub use sender::Sender;
#[cfg(any(test, feature = "fuzz"))]
pub use sender::fuzz::fuzz_quic;
