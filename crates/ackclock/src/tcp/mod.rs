//! TCP without I/O: sender, receiver, loss recovery, RTT and RTO.

mod accecn;
mod buffer;
mod delivery;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod ranges;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod transport;

pub(crate) use delivery::{Delivery, LostTransmission};
pub(crate) use ranges::RangeSet;
pub use receiver::Receiver;
pub use rtt::Rtt;
pub use segment::{AccEcnOption, AckSegment, DataEcn, DataSegment, EcnFeedback, MAX_SACK_BLOCKS, SackBlocks};
pub(crate) use sender::{Controller, Pacer, Timers, WindowMean, window_quantum};
pub use sender::{Sender, SenderCounters, SenderInfo, Timer};
pub use transport::{
    ByteCounting, CutWindowName, DelayedAck, DelayedAckFor, EcnBeta, EcnMode, EcnRetransmissions, ExitGrowth,
    HalvingWord, InitialSsthresh, LimitedTransmitSends, LossRecovery, MarkAtOne, MaxWindow, MinRtoBounds, Pacing,
    PartialAck, PartialAckTimer, Profile, Protocol, RackRtt, ReadRate, ReceiveBuffer, Reduction, ReductionName,
    RepeatedTimeout, RttSamples, SackSender, SecondLoss, TIMESTAMPS_LEN, Transport, TransportKeys, Undo, Variations,
    WindowGrowth, WindowProbe,
};
