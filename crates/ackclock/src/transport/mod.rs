//! Parts of a sender and a receiver that do not depend on the protocol, and the configuration of a connection.
//!
//! `keys` is the table of `[transport]`, and `table` explains its rows. `rules` and `values` are the types of keys,
//! `scope` the protocols that read them, and `problems` finds mistakes. `settings` computes sizes of packets
//! and settings of algorithms.
//!
//! `rtt`, `timers`, `wheel`, `pacer`, `delivery` and `controller` are parts of every sender. `ranges` is a set of
//! ranges of numbers. `numbered` is the part that the senders of QUIC and RTP share, and `sent` contains their packets.

mod controller;
mod counters;
mod delivery;
mod info;
mod keys;
pub(crate) mod numbered;
mod pacer;
mod problems;
mod profile;
mod ranges;
mod rtt;
mod rules;
mod scope;
mod sent;
mod settings;
mod table;
mod timers;
mod values;
mod wheel;

pub(crate) use controller::Controller;
pub use counters::SenderCounters;
pub(crate) use counters::WindowMean;
pub(crate) use delivery::{Delivery, LostTransmission};
pub use info::SenderInfo;
pub use keys::{Transport, TransportKeys};
pub use numbered::NumberedSender;
pub(crate) use pacer::{Pacer, window_quantum};
pub use profile::Profile;
pub(crate) use ranges::RangeSet;
pub use rtt::Rtt;
pub use rules::{
    DelayedAckFor, EcnMode, EcnRetransmissions, ExitGrowth, LimitedTransmitSends, LossRecovery, MarkAtOne,
    MinRtoBounds, Pacing, PartialAck, PartialAckTimer, Protocol, RackRtt, Reduction, RepeatedTimeout, RttSamples,
    SackSender, SecondLoss, Undo, WindowGrowth, WindowProbe,
};
pub use scope::Scope;
pub(crate) use sent::{Counting, Decided, Frame, NewlyAcked};
pub use settings::TIMESTAMPS_LEN;
pub use timers::Timer;
pub(crate) use timers::Timers;
pub use values::{
    ByteCounting, CutWindowName, DelayedAck, EcnBeta, HalvingWord, InitialSsthresh, MaxWindow, ReadRate, ReceiveBuffer,
    ReductionName,
};
pub(crate) use wheel::expiry;
