//! What a connection is configured with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// RFC 6298 §2.1: "Until a round-trip time (RTT) measurement has been made for a segment sent between the
/// sender and receiver, the sender SHOULD set RTO <- 1 second".
const INITIAL_RTO: Duration = Duration::from_secs(1);

/// Bytes of the TCP option that carries timestamps, padded (RFC 7323 appendix A).
pub const TIMESTAMPS_LEN: u32 = 12;

/// The transport of one flow, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Payload bytes in a full segment.
    pub mss: u32,
    /// Bytes of TCP and IP header on every packet.
    pub header: u32,
    /// Bytes that the link layer adds to every packet.
    pub framing: u32,
    /// Segments that the receiver's window allows; `None` for no bound.
    pub max_window: Option<u32>,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// The retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// What the clock of round-trip times and timeouts counts in; zero for the simulated clock itself.
    pub clock_tick: Duration,
    /// How much earlier than at a whole number of ticks that clock ticks.
    pub clock_offset: Duration,
    /// Round-trip time that the connection's set-up measured before the start; zero if it measured none.
    pub handshake_rtt: Duration,
    /// Longest delay of an ACK; `None` for an ACK per packet.
    pub delayed_ack: Option<Duration>,
    /// Segments that one ACK or timeout sends at most; `None` for no bound.
    pub max_burst: Option<u32>,
    /// RFC 3042: new data on the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// RFC 7323: an RTT measurement with every ACK.
    pub timestamps: bool,
    /// RFC 3465: growth counts acknowledged segments (at most two an ACK) and not ACKs.
    pub byte_counting: bool,
    /// RFC 5681 §4.1: the window falls back to the initial one after an idle RTO.
    pub idle_restart: bool,
    /// How losses are found and repaired.
    pub recovery: LossRecovery,
    /// Whether the receiver sends SACK blocks; a SACK sender without them behaves as Reno.
    pub peer_sack: bool,
    /// RFC 2883: its first block says what has come twice (D-SACK).
    pub dsack: bool,
    /// What shows that a recovery was spurious, so that it is undone as far as the algorithm does.
    pub undo: Undo,
    /// Whether routers may mark packets instead of dropping them, and how the receiver tells.
    pub ecn: EcnMode,
    /// Where the sender leaves the rules of the RFCs.
    pub variations: Variations,
}

impl Transport {
    /// Bytes on the wire of a data segment beyond its payload: headers, timestamps, framing.
    pub fn data_overhead(&self) -> u32 {
        self.header + self.framing + if self.timestamps { TIMESTAMPS_LEN } else { 0 }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Transport {
            mss: 1460,
            header: 40,
            framing: 0,
            max_window: None,
            min_rto: Duration::from_millis(200),
            initial_rto: INITIAL_RTO,
            clock_tick: Duration::ZERO,
            clock_offset: Duration::ZERO,
            handshake_rtt: Duration::ZERO,
            delayed_ack: None,
            max_burst: None,
            limited_transmit: true,
            timestamps: false,
            byte_counting: false,
            idle_restart: true,
            recovery: LossRecovery::Sack,
            peer_sack: true,
            dsack: false,
            undo: Undo::None,
            ecn: EcnMode::Off,
            variations: Variations::default(),
        }
    }
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossRecovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// RFC 5681: fast recovery until the first new ACK.
    Reno,
    /// RFC 6582: fast recovery until everything sent before it is acknowledged.
    NewReno,
    /// RFC 6675: recovery from a scoreboard.
    #[default]
    Sack,
}

impl LossRecovery {
    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            LossRecovery::Tahoe => "tahoe",
            LossRecovery::Reno => "reno",
            LossRecovery::NewReno => "newreno",
            LossRecovery::Sack => "sack",
        }
    }
}

/// Explicit congestion notification: both ends agreed on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes one bit until the sender says that it has reduced its window.
    Classic,
    /// RFC 9768 (AccECN): the receiver tells how many packets and bytes were marked.
    AccEcn,
}

impl EcnMode {
    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            EcnMode::Off => "off",
            EcnMode::Classic => "classic",
            EcnMode::AccEcn => "accecn",
        }
    }
}

/// Rules of the sender and the receiver that older simulators have differently; the defaults are those of the RFCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variations {
    /// Which ACKs let the window grow.
    pub window_growth: WindowGrowth,
    /// Whether the ACK that ends a fast recovery of Reno or NewReno lets the window grow.
    pub exit_growth: ExitGrowth,
    /// What three duplicate ACKs mean before everything is acknowledged that was sent before the last loss.
    pub second_loss: SecondLoss,
    /// What a partial ACK does to NewReno's window.
    pub partial_ack: PartialAck,
    /// Which partial ACKs restart NewReno's timer.
    pub partial_ack_timer: PartialAckTimer,
    /// How the SACK sender counts what is in flight, and what it remembers.
    pub sack_sender: SackSender,
    /// What a timeout of a segment does that has timed out before.
    pub repeated_timeout: RepeatedTimeout,
    /// What limited transmit sends.
    pub limited_transmit_sends: LimitedTransmitSends,
    /// What marks do to the timer at a window of one segment.
    pub mark_at_one: MarkAtOne,
    /// Which segments' ACKs the receiver may delay.
    pub delayed_ack_for: DelayedAckFor,
    /// What ECN makes of segments that are sent again.
    pub ecn_retransmissions: EcnRetransmissions,
    /// Which segments are timed for the RTT estimate, without timestamps.
    pub rtt_samples: RttSamples,
}

macro_rules! variation {
    ($(#[$doc:meta])* $name:ident { $(#[$default_doc:meta])* $default:ident $(, $(#[$other_doc:meta])* $other:ident)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$default_doc])*
            #[default]
            $default,
            $($(#[$other_doc])* $other,)+
        }
    };
}

variation! {
    /// What shows that a recovery was spurious.
    Undo {
        /// Nothing.
        None,
        /// Timestamps: the Eifel detection algorithm (RFC 3522).
        Eifel,
        /// D-SACK blocks (RFC 3708).
        Dsack,
        /// Timestamps and D-SACK blocks, whichever do first.
        Both
    }
}

impl Undo {
    /// True if timestamps show it.
    pub fn by_timestamps(self) -> bool {
        matches!(self, Undo::Eifel | Undo::Both)
    }

    /// True if D-SACK blocks show it.
    pub fn by_duplicates(self) -> bool {
        matches!(self, Undo::Dsack | Undo::Both)
    }
}

variation! {
    /// Which ACKs let the window grow.
    WindowGrowth {
        /// Those of a window that was used (RFC 7661).
        WhenUsed,
        /// All of them.
        Always
    }
}

variation! {
    /// Whether the ACK that ends a fast recovery of Reno or NewReno lets the window grow.
    ExitGrowth {
        /// It does not: RFC 5681 §3.2 sets the window to ssthresh.
        None,
        /// It does, as any other ACK.
        OneAck
    }
}

variation! {
    /// What three duplicate ACKs mean before everything is acknowledged that was sent before the last loss.
    SecondLoss {
        /// To Reno a loss, but not while a timeout is repaired (RFC 5681); to the others nothing (RFC 6582 §3.2,
        /// RFC 6675 §5.1).
        Standard,
        /// Nothing, to Reno neither: RFC 6582 §3.2, step 2.
        Careful,
        /// A loss if all of it is acknowledged, though nothing beyond (RFC 3782 §8).
        LessCareful,
        /// A loss if the last ACK covered at most four segments (RFC 6582 §4.1).
        AckHeuristic,
        /// A loss if the last ACK echoed the last time that what it covers was sent (RFC 6582 §4.2).
        TimestampHeuristic,
        /// A loss (Fall and Floyd 1996, before ns-2's `bugFix_`).
        Always
    }
}

variation! {
    /// What a partial ACK does to NewReno's window.
    PartialAck {
        /// The window loses what was acknowledged, less one (RFC 6582 §3.2, step 5).
        Deflate,
        /// The window falls back to cwnd.
        Reset
    }
}

variation! {
    /// Which partial ACKs restart NewReno's timer.
    PartialAckTimer {
        /// The first one of a recovery: the Impatient variant, which RFC 6582 §3.2, step 5 recommends.
        First,
        /// Each one: the Slow-but-Steady variant.
        Each
    }
}

variation! {
    /// Which segments' ACKs the receiver may delay.
    DelayedAckFor {
        /// Those of new data in order (RFC 5681 §4.2).
        NewData,
        /// Those, and of a copy of the segment that came last in order.
        LastSegment,
        /// Those, and of segments that fill part of a gap.
        Gaps
    }
}

variation! {
    /// How the SACK sender counts what is in flight, and what it remembers.
    SackSender {
        /// By the scoreboard, which lasts (RFC 6675).
        Scoreboard,
        /// By duplicate ACKs, one each and two a partial ACK; every hole is sent again once, and outside of
        /// recovery blocks are forgotten (Fall and Floyd 1996).
        DuplicateAcks,
        /// As duplicate-acks, but a partial ACK sends the next two segments that are missing, whatever the window says,
        /// and only the first one restarts the timer (ns-2's `partial_ack_`).
        PairOnPartialAck
    }
}

variation! {
    /// What a timeout of a segment does that has timed out before.
    RepeatedTimeout {
        /// ssthresh stays (RFC 5681 §3.1).
        Hold,
        /// ssthresh is cut once more.
        Cut,
        /// ssthresh becomes one segment, below the two of RFC 5681 §3.1. jasem-efficiency-fairness, "Status of the
        /// exponential back-off": "the ssthresh will set to 1 packet (Braden, 1989)".
        One
    }
}

variation! {
    /// What marks do to the timer at a window of one segment.
    MarkAtOne {
        /// It begins again (RFC 3168 §6.1.2).
        Reset,
        /// It begins again, and backs off with every further mark.
        BackOff
    }
}

variation! {
    /// What limited transmit sends.
    LimitedTransmitSends {
        /// New data, and none while a timeout is being repaired (RFC 3042).
        NewData,
        /// What comes next, even if that was sent before.
        Next
    }
}

variation! {
    /// Which segments are timed for the RTT estimate, without timestamps.
    RttSamples {
        /// Once a round trip the newest that an ACK reports, by a block, too, and that was sent once (RFC 6298 §3).
        EachRound,
        /// One new one at a time, until an ACK covers it, whatever blocks report; a loss or a timeout gives it up (4.4BSD).
        TimedSegment
    }
}

variation! {
    /// What ECN makes of segments that are sent again.
    EcnRetransmissions {
        /// They are not ECN-capable and carry no CWR (RFC 3168 §6.1.2 and §6.1.5).
        Plain,
        /// The same as of new ones.
        LikeNew
    }
}
