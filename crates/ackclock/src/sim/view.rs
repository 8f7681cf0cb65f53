//! The visible state of a run between two steps, and the reasons that prevent a change.

use super::index::FlowId;
use super::packet::Kind as PacketKind;
use crate::link::LinkCounters;
use crate::transport::{SenderCounters, SenderInfo};
use crate::units::{Duration, Instant, Rate};

/// The result of `Simulation::step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The run reached the given time.
    Paused,
    /// The run reached its end.
    Ended,
}

/// A TCP flow between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowView {
    /// Window, timers and flight size.
    pub sender: SenderInfo,
    /// Counters of the sender since the start of the run.
    pub counters: SenderCounters,
    /// Payload received in order, bytes.
    pub delivered_bytes: u64,
    /// When all data was acknowledged, for a finite flow.
    pub finished: Option<Instant>,
}

/// A link between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// Bits per second of a link whose rate does not vary.
    pub rate: Option<Rate>,
    /// Propagation.
    pub delay: Duration,
    /// Packets in the queue.
    pub backlog_packets: u32,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// Counters since the start of the run.
    pub counters: LinkCounters,
}

/// A packet at a link between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// The flow, if it is one of [`Plan::flows`](super::Plan::flows).
    pub flow: Option<FlowId>,
    /// The contents.
    pub kind: PacketKind,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// Whether its ECN field says that congestion was experienced.
    pub marked: bool,
    /// The arrival time at the far end of the link, or none while it is queued.
    pub arrives: Option<Instant>,
}

/// Why a link or a flow cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The last step was interrupted.
    #[error("the last step was interrupted: finish it by another one to the same time")]
    Interrupted,
    /// A station of a channel.
    #[error("the link is a station of a channel, which sets its rate and its delay")]
    Station,
    /// A pure delay.
    #[error("the link has no rate")]
    PureDelay,
    /// A queue that would hold nothing.
    #[error("a queue holds at least one packet")]
    NoRoom,
    /// A queue of the kernel.
    #[error("a queue of the kernel is part of the scenario from the start, and needs --backend kernel")]
    NeedsKernel,
    /// No probability.
    #[error("a probability is from 0 to 1")]
    NoProbability,
    /// Losses by another model than each packet on its own.
    #[error("the link loses packets by another model")]
    LosesOtherwise,
    /// A rate that varies by itself.
    #[error("the rate of the link varies by itself")]
    Varies,
    /// A flow that starts by itself, or was begun before.
    #[error("the flow has begun already, or begins by itself")]
    Begun,
    /// A flow that was never begun.
    #[error("the flow has not begun")]
    NotBegun,
}
