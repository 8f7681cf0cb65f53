//! The rules of a connection that have names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::EcnNeed;

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
    /// RFC 8257 (DCTCP): each ACK says whether the packets that it covers were marked.
    Dctcp,
    /// RFC 9768 (AccECN): the receiver tells how many packets and bytes were marked.
    AccEcn,
    /// QUIC: ACK frames count the packets that came as ECN-capable and those that were marked (RFC 9000 §13.4). RTP:
    /// feedback reports the ECN field of each packet (RFC 8888).
    Counts,
}

impl EcnMode {
    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            EcnMode::Off => "off",
            EcnMode::Classic => "classic",
            EcnMode::Dctcp => "dctcp",
            EcnMode::AccEcn => "accecn",
            EcnMode::Counts => "counts",
        }
    }

    /// The feedback of a connection whose handshake agreed on RFC 3168.
    pub fn of_rfc3168(self) -> EcnMode {
        match self {
            EcnMode::Dctcp => EcnMode::Dctcp,
            _ => EcnMode::Classic,
        }
    }

    /// Whether the feedback tells how many packets were marked.
    pub fn counts_marks(self) -> bool {
        matches!(self, EcnMode::Dctcp | EcnMode::AccEcn | EcnMode::Counts)
    }

    /// The mode of a flow whose algorithm has this need of feedback. As in Linux, an algorithm that needs ECN has it
    /// although the setting is off.
    pub fn with_need(self, need: EcnNeed, protocol: Protocol) -> EcnMode {
        match (self, need, protocol) {
            (EcnMode::Off, EcnNeed::PerAck | EcnNeed::Counts, Protocol::Quic | Protocol::Rtp) => EcnMode::Counts,
            (EcnMode::Off, EcnNeed::PerAck, Protocol::Tcp) => EcnMode::Dctcp,
            (EcnMode::Off, EcnNeed::Counts, Protocol::Tcp) => EcnMode::AccEcn,
            _ => self,
        }
    }
}

/// The transport protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// QUIC, with the loss detection and the events of RFC 9002.
    Quic,
    /// RTP over UDP for media, with the feedback of RFC 8888. Nothing is sent again.
    Rtp,
}

impl Protocol {
    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Quic => "quic",
            Protocol::Rtp => "rtp",
        }
    }
}

macro_rules! variation {
    (
        $(#[$doc:meta])*
        $name:ident { $(#[$default_doc:meta])* $default:ident $(, $(#[$other_doc:meta])* $other:ident)+ }
    ) => {
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
    /// Evidence that a recovery was spurious.
    Undo {
        /// Nothing.
        None,
        /// Timestamps: the Eifel detection algorithm (RFC 3522).
        Eifel,
        /// D-SACK blocks (RFC 3708).
        Dsack,
        /// Timestamps and D-SACK blocks, whichever do first.
        Both,
        /// The same, with D-SACK blocks counted as in Linux.
        Counted,
        /// QUIC: acknowledgements of all packets that were taken for lost.
        LateAcks
    }
}

impl Undo {
    /// True if timestamps show it.
    pub fn by_timestamps(self) -> bool {
        matches!(self, Undo::Eifel | Undo::Both | Undo::Counted)
    }

    /// True if D-SACK blocks show it.
    pub fn by_duplicates(self) -> bool {
        matches!(self, Undo::Dsack | Undo::Both | Undo::Counted)
    }
}

variation! {
    /// Reduction of the flight size to the window that a loss leaves.
    Reduction {
        /// At once: nothing leaves until as much has arrived.
        AtOnce,
        /// Proportional Rate Reduction (RFC 9937).
        Proportional,
        /// A segment leaves for every second one that arrives (Linux up to 3.1).
        Halving
    }
}

variation! {
    /// ACKs that let the window grow.
    WindowGrowth {
        /// ACKs of a window that was used (RFC 7661).
        WhenUsed,
        /// All of them.
        Always,
        /// ACKs of a window that was used. In slow start it suffices that more than half was used (Linux).
        HalfUsed
    }
}

variation! {
    /// Probe of a closed window.
    WindowProbe {
        /// An octet of new data (RFC 9293 §3.8.6.1).
        Octet,
        /// An old segment without data (Linux).
        Empty
    }
}

variation! {
    /// The pacing of algorithms that set no rate.
    Pacing {
        /// None: ACKs clock the segments.
        Off,
        /// Linux's gains: 2 windows per round trip below half of ssthresh, else 1.2.
        Linux,
        /// RFC 9002 §7.7: 1.25 windows per round trip.
        Quic
    }
}

variation! {
    /// The round-trip time that RACK adds to its reordering window.
    RackRtt {
        /// Of the delivered segment that was sent last (RFC 8985 §6.2).
        Newest,
        /// Of the last segment that the ACK covers cumulatively, if there is one. Linux processes it after SACK blocks.
        Cumulative
    }
}

variation! {
    /// Whether the ACK that ends a fast recovery lets the window grow.
    ExitGrowth {
        /// It does not: RFC 5681 §3.2 sets the window to ssthresh.
        None,
        /// It does for Reno and NewReno, as any other ACK.
        OneAck,
        /// It does for every sender, as in Linux.
        Always
    }
}

variation! {
    /// Meaning of three duplicate ACKs before all data sent before the last loss is acknowledged.
    SecondLoss {
        /// A loss to Reno, but not during RTO recovery (RFC 5681). Nothing to the others (RFC 6582 §3.2, RFC 6675
        /// §5.1).
        Standard,
        /// Nothing, to Reno neither: RFC 6582 §3.2, step 2.
        Careful,
        /// A loss if all of it is acknowledged, though nothing beyond (RFC 3782 §8).
        LessCareful,
        /// A loss if the last ACK covered at most four segments (RFC 6582 §4.1).
        AckHeuristic,
        /// A loss if the last ACK echoed the last time at which the acknowledged data were sent (RFC 6582 §4.2).
        TimestampHeuristic,
        /// A loss (Fall and Floyd 1996, before ns-2's `bugFix_`).
        Always
    }
}

variation! {
    /// Effect of a partial ACK on NewReno's window.
    PartialAck {
        /// The window shrinks by the acknowledged data, less one segment (RFC 6582 §3.2, step 5).
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
        /// ACKs of new data in order (RFC 5681 §4.2).
        NewData,
        /// Also ACKs of a copy of the segment that came last in order.
        LastSegment,
        /// Also ACKs of segments that fill part of a gap.
        Gaps
    }
}

variation! {
    /// The SACK sender's count of data in flight, and its memory.
    SackSender {
        /// By the scoreboard, which lasts (RFC 6675).
        Scoreboard,
        /// By duplicate ACKs: one segment each, and two per partial ACK. Every hole is retransmitted once. Outside of
        /// recovery blocks are forgotten (Fall and Floyd 1996).
        DuplicateAcks,
        /// As duplicate-acks, but a partial ACK sends the next two missing segments, regardless of the window. Only the
        /// first partial ACK restarts the timer (ns-2's `partial_ack_`).
        PairOnPartialAck,
        /// By the scoreboard, where the highest SACKed segment decides which are lost (Mathis and Mahdavi 1996).
        Fack
    }
}

variation! {
    /// Effect of a second timeout of a segment on ssthresh.
    RepeatedTimeout {
        /// ssthresh stays (RFC 5681 §3.1).
        Hold,
        /// ssthresh stays, and so it does at a timeout in fast recovery, which has cut it already (Linux).
        HoldInRecovery,
        /// ssthresh is cut once more.
        Cut,
        /// ssthresh becomes one segment, below the two of RFC 5681 §3.1. The paper jasem-efficiency-fairness has it
        /// under "Status of the exponential back-off".
        One
    }
}

variation! {
    /// Effect of marks on the timer at a window of one segment.
    MarkAtOne {
        /// It begins again (RFC 3168 §6.1.2).
        Reset,
        /// It begins again, and backs off with every further mark.
        BackOff,
        /// None: marks leave two segments at least (Linux).
        Never
    }
}

variation! {
    /// The quantity that `min_rto` bounds.
    MinRtoBounds {
        /// The timeout (RFC 6298 §2.4).
        Timeout,
        /// Its part beyond the smoothed round-trip time, as in Linux.
        Variation
    }
}

variation! {
    /// Data that limited transmit sends.
    LimitedTransmitSends {
        /// New data, and none while a timeout is being repaired (RFC 3042).
        NewData,
        /// The next segment, even if it was sent before.
        Next
    }
}

variation! {
    /// Segments that are timed for the RTT estimate when timestamps are off.
    RttSamples {
        /// Once per round trip the newest segment that an ACK or a SACK block reports (RFC 6298 §3). It was sent only
        /// once.
        EachRound,
        /// The first segment sent once that an ACK or a SACK block reports, by each ACK, also with timestamps (Linux).
        EachAck,
        /// One new segment at a time, until an ACK covers it, regardless of SACK blocks. A loss or a timeout abandons
        /// it (4.4BSD).
        TimedSegment
    }
}

variation! {
    /// Retransmissions with ECN.
    EcnRetransmissions {
        /// They are not ECN-capable and carry no CWR (RFC 3168 §6.1.2 and §6.1.5).
        Plain,
        /// They are treated like new segments.
        LikeNew
    }
}
