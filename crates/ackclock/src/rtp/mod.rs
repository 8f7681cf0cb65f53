//! RTP over UDP without I/O: a sender of media frames, and a receiver with the feedback of RFC 8888.
//!
//! Packets are numbered, and nothing is sent again. Every packet belongs to one frame, and the last one of a frame has
//! the marker bit (RFC 3550 §5.1). `sender` applies the window and the pacing rate of the algorithm. `receiver`
//! reports arrivals, and `feedback` is the format of reports.
//!
//! Losses: RFC 8888 leaves their detection to the sender. The rules follow RFC 9002 §6.1, by number and by time.
//! Without feedback for several probe timeouts, all packets in flight are lost. `transport::numbered` is the part of
//! the sender that QUIC also has.
//!
//! Deviations: sequence numbers do not wrap. The feedback has no share of the session's bandwidth (RFC 3550 §6.2).

mod feedback;
mod receiver;
mod sender;

pub use feedback::reported;
pub use receiver::Receiver;
pub use sender::Sender;
