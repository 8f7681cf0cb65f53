//! The document: every key of a scenario with its type, default and help.
//!
//! These types are the only place where a key is declared. The JSON Schema, the check for unknown keys,
//! the tables of the documentation and the reading all come from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::meter::Meter;
use super::network::{Link, Topology};
use super::shorthand::Shorthand;
use super::traffic::TrafficKeys;
use crate::cc::{CcSpec, ExitWindow, FirstCut, TimeoutSsthresh};
use crate::quantity::without_default;
use crate::quantity::{Interval, SendJitter, Size};
use crate::rng::Rng;
use crate::tcp::{
    DelayedAckFor, EcnMode, EcnRetransmissions, ExitGrowth, LimitedTransmitSends, LossRecovery, MarkAtOne, PartialAck,
    PartialAckTimer, RepeatedTimeout, RttSamples, SackSender, SecondLoss, Transport, WindowGrowth,
};
use crate::units::Duration;

/// A scenario: a network, the flows on it, and how long they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "ackclock scenario")]
pub struct Document {
    /// Version of the schema: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Name of the scenario, up to 200 characters, none of them a control character; results do not depend on it.
    #[serde(default = "default_name")]
    pub name: String,
    /// Length of the run.
    pub duration: Duration,
    /// What is left out of every metric at the beginning.
    #[serde(default)]
    pub warmup: Duration,
    /// Root of all random streams.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// A network by its shape; or write `links`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// A network link by link, by name; or write a `topology`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
    /// Channels that stations contend for, by name; a link is a station of the one that its `channel` names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, Channel>,
    /// Meters by name, which hold groups of flows to a profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meters: BTreeMap<String, Meter>,
    /// Transport of all flows; each flow may override every key.
    #[serde(default, skip_serializing)]
    pub transport: TransportKeys,
    /// What is written down over time.
    #[serde(default)]
    pub sampling: SamplingKeys,
    /// Groups of equal flows.
    #[schemars(length(min = 1))]
    pub flows: Vec<Flow>,
}

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_seed() -> u64 {
    1
}

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Flow {
    /// Name of the group, `flow0`, `flow1`, ... by default. Single flows of a group with a count are called `test.0`, `test.1`, ...
    #[serde(default)]
    #[schemars(transform = without_default)]
    pub name: String,
    /// How many flows: 1 to 1000000, of all groups together.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Congestion control: the name of an algorithm, or a table with its `kind` and parameters. Every flow but those of datagrams has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shorthand<CcSpec>", transform = without_default)]
    pub cc: Option<CcSpec>,
    /// How losses are found and repaired.
    #[serde(default)]
    pub recovery: LossRecovery,
    /// What the application writes, or what is sent without any control.
    #[serde(default)]
    #[schemars(with = "Shorthand<TrafficKeys>")]
    pub traffic: TrafficKeys,
    /// Whether its packets are in profile: RIO drops them later than others.
    #[serde(default)]
    pub in_profile: bool,
    /// Name of the meter that says so from its link on; by default none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<String>,
    /// When the application starts.
    #[serde(default)]
    pub start: Draw,
    /// When the application stops writing; by default at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Base RTT of each flow; what the shared path leaves is added to the two directions of the source's side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Draw>,
    /// Names of the links that data crosses, in order. Not needed where there is one link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<String>>,
    /// Names of the links that ACKs cross, in order; by default the reverse of the path, backwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_path: Option<Vec<String>>,
    /// Transport of this group.
    #[serde(flatten)]
    pub transport: TransportKeys,
}

fn default_count() -> u32 {
    1
}

/// A length of time, the same for all flows of a group or drawn for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Draw {
    /// The same for all.
    Fixed(Duration),
    /// Drawn for each flow.
    Uniform(Uniform),
}

/// Uniform between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Lower and upper bound.
    pub uniform: [Duration; 2],
}

impl Default for Draw {
    fn default() -> Self {
        Draw::Fixed(Duration::ZERO)
    }
}

impl Draw {
    /// The smallest possible value.
    pub fn min(&self) -> Duration {
        match self {
            Draw::Fixed(length) => *length,
            Draw::Uniform(Uniform { uniform: [min, _] }) => *min,
        }
    }

    /// The largest possible value.
    pub fn max(&self) -> Duration {
        match self {
            Draw::Fixed(length) => *length,
            Draw::Uniform(Uniform { uniform: [_, max] }) => *max,
        }
    }

    /// The expected value.
    pub fn mean(&self) -> Duration {
        (self.min() + self.max()) / 2
    }

    /// True if it is random.
    pub fn is_random(&self) -> bool {
        self.min() != self.max()
    }

    /// A value, rounded down to whole nanoseconds.
    pub fn draw(&self, stream: &mut Rng) -> Duration {
        self.min() + (self.max() - self.min()).mul_f64_floor(stream.next_f64())
    }
}

/// Sizes and timers of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct TransportKeys {
    /// Whose rules hold where a key is not written: those of the RFCs, or those of ns-2.
    pub profile: Profile,
    /// Payload of a full segment.
    pub mss: Size,
    /// TCP and IP header of every packet.
    pub header: Size,
    /// What the link layer adds to every packet (Ethernet: 38 B).
    pub framing: Size,
    /// Window at the start, in segments: 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub initial_window: u32,
    /// Segments that the receiver's window allows, 1 to 16777216, or "none".
    pub max_window: MaxWindow,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// The retransmission timeout before the first measurement (RFC 6298 §2.1).
    pub initial_rto: Duration,
    /// What the sender's clock counts round-trip times and timeouts in; "0 s" for exact times.
    pub clock_tick: Duration,
    /// How much earlier than at whole numbers of ticks that clock ticks; ns-2 draws it for each sender.
    pub clock_offset: Duration,
    /// Round-trip time that the connection's set-up measured before the start; "0 s" for none.
    pub handshake_rtt: Duration,
    /// Whether ACKs wait for a second segment, and for how long at most (true: 100 ms).
    pub delayed_ack: DelayedAck,
    /// Which segments' ACKs wait: those of new data in order (RFC 5681 §4.2), of a copy of the last segment, too, or of all that fill part of a gap, too.
    pub delayed_ack_for: DelayedAckFor,
    /// Segments that one ACK or timeout sends at most, 1 to 16777216, or "none" (RFC 6582 §3.2, step 3); a retransmission that goes out at once does not count.
    pub max_burst: MaxWindow,
    /// RFC 3042: new data on the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// RFC 7323: an RTT measurement with every ACK.
    pub timestamps: bool,
    /// RFC 3465: growth counts acknowledged segments, at most two an ACK, and not ACKs.
    pub byte_counting: bool,
    /// RFC 5681: the window falls back to the initial one after an idle RTO.
    pub idle_restart: bool,
    /// What a retransmission timeout leaves as ssthresh; the standard is half the window, under CUBIC its own cut.
    pub timeout_ssthresh: TimeoutSsthresh,
    /// The slow-start threshold to begin with: none, or the receiver's window.
    pub initial_ssthresh: InitialSsthresh,
    /// What the first cut, and one in slow start, leaves of the window: what the law says, or half.
    pub first_cut: FirstCut,
    /// Which window is cut: cwnd with its fraction, what `max_window` leaves of it, or the whole segments of that, and whole ones remain.
    pub cut_window: CutWindowName,
    /// Which ACKs let the window grow: those of a window that was used (RFC 7661), or always all.
    pub window_growth: WindowGrowth,
    /// Whether the ACK that ends a fast recovery of Reno or NewReno lets the window grow (RFC 5681 §3.2: none).
    pub exit_growth: ExitGrowth,
    /// What three duplicate ACKs mean before everything is acknowledged that was sent before the last loss: by the standard a loss to Reno (RFC 5681) and nothing to others (RFC 6582); careful: nothing; less-careful: a loss if all but what came later is acknowledged; by the heuristics of RFC 6582 §4.1 and §4.2; always a loss.
    pub second_loss: SecondLoss,
    /// What a partial ACK does to NewReno's window: deflate it (RFC 6582 §3.2), or reset it to cwnd.
    pub partial_ack: PartialAck,
    /// Which partial ACKs restart NewReno's timer: the first one ("Impatient", RFC 6582 §3.2), or each ("Slow-but-Steady").
    pub partial_ack_timer: PartialAckTimer,
    /// What bounds the window when recovery ends: ssthresh, or one segment more than is in flight, too (RFC 6582 §3.2, step 3).
    pub exit_window: ExitWindow,
    /// How the SACK sender counts what is in flight: by its scoreboard (RFC 6675), or by duplicate ACKs (Fall and Floyd 1996), maybe with two segments on a partial ACK.
    pub sack_sender: SackSender,
    /// What a second timeout of a segment does to ssthresh: hold it (RFC 5681 §3.1), cut it again, or set it to one segment, below the two of RFC 5681 (jasem-efficiency-fairness, "Status of the exponential back-off").
    pub repeated_timeout: RepeatedTimeout,
    /// What limited transmit sends: new data (RFC 3042), or what comes next, even while a timeout is repaired.
    pub limited_transmit_sends: LimitedTransmitSends,
    /// What a mark does to the timer at a window of one segment: reset it (RFC 3168 §6.1.2), or back off, too, with every further mark.
    pub mark_at_one: MarkAtOne,
    /// What ECN makes of segments that are sent again: plain ones that cannot be marked (RFC 3168), or the same as of new ones.
    pub ecn_retransmissions: EcnRetransmissions,
    /// Which segments are timed for the RTT estimate, without timestamps: once a round trip the newest that an ACK reports (RFC 6298 §3), or one at a time until an ACK covers it, whatever blocks report (4.4BSD).
    pub rtt_samples: RttSamples,
    /// Whether the receiver sends SACK blocks; a SACK sender without them behaves as Reno.
    pub peer_sack: bool,
    /// Explicit congestion notification, so that queues that mark need not drop: off, classic (RFC 3168), or with accurate
    /// feedback, accecn (RFC 9768).
    pub ecn: EcnMode,
    /// Extra delay of each packet at its sender, uniform between 0 and this; "1 packet" is one transmission at the bottleneck.
    pub send_jitter: SendJitter,
}

/// RFC 2581 and the papers: two segments.
const INITIAL_WINDOW: u32 = 2;
/// As long as an ACK waits where the scenario only says that it does; the default of ns-2.
const DELAYED_ACK: Duration = Duration::from_millis(100);

impl Default for TransportKeys {
    fn default() -> Self {
        let transport = Transport::default();
        TransportKeys {
            profile: Profile::default(),
            mss: Size(u64::from(transport.mss)),
            header: Size(u64::from(transport.header)),
            framing: Size(u64::from(transport.framing)),
            initial_window: INITIAL_WINDOW,
            max_window: transport.max_window.map_or(MaxWindow::Word(NoneWord::None), MaxWindow::Segments),
            min_rto: transport.min_rto,
            initial_rto: transport.initial_rto,
            clock_tick: transport.clock_tick,
            clock_offset: transport.clock_offset,
            handshake_rtt: transport.handshake_rtt,
            delayed_ack: transport.delayed_ack.map_or(DelayedAck::Switch(false), DelayedAck::Longest),
            delayed_ack_for: transport.variations.delayed_ack_for,
            max_burst: transport.max_burst.map_or(MaxWindow::Word(NoneWord::None), MaxWindow::Segments),
            limited_transmit: transport.limited_transmit,
            timestamps: transport.timestamps,
            byte_counting: transport.byte_counting,
            idle_restart: transport.idle_restart,
            timeout_ssthresh: TimeoutSsthresh::default(),
            initial_ssthresh: InitialSsthresh::default(),
            first_cut: FirstCut::default(),
            cut_window: CutWindowName::default(),
            window_growth: transport.variations.window_growth,
            exit_growth: transport.variations.exit_growth,
            second_loss: transport.variations.second_loss,
            partial_ack: transport.variations.partial_ack,
            partial_ack_timer: transport.variations.partial_ack_timer,
            exit_window: ExitWindow::default(),
            sack_sender: transport.variations.sack_sender,
            repeated_timeout: transport.variations.repeated_timeout,
            limited_transmit_sends: transport.variations.limited_transmit_sends,
            mark_at_one: transport.variations.mark_at_one,
            ecn_retransmissions: transport.variations.ecn_retransmissions,
            rtt_samples: transport.variations.rtt_samples,
            peer_sack: transport.peer_sack,
            ecn: transport.ecn,
            send_jitter: SendJitter::Time(Duration::ZERO),
        }
    }
}

/// A set of defaults for the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// Those of the RFCs.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
    /// Those of ns-2, as its validation suites set them.
    #[serde(rename = "ns-2")]
    Ns2,
}

impl Profile {
    /// The keys it sets, with their values as text.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Profile::Rfc => &[],
            Profile::Ns2 => &[
                ("initial_rto", "3 s"),
                ("clock_tick", "10 ms"),
                ("initial_ssthresh", "max-window"),
                ("first_cut", "half"),
                ("cut_window", "whole"),
                ("window_growth", "always"),
                ("exit_growth", "one-ack"),
                ("second_loss", "careful"),
                ("sack_sender", "duplicate-acks"),
                ("repeated_timeout", "cut"),
                ("limited_transmit_sends", "next"),
                ("mark_at_one", "back-off"),
                ("delayed_ack_for", "last-segment"),
                ("ecn_retransmissions", "like-new"),
                ("rtt_samples", "timed-segment"),
            ],
        }
    }
}

/// The slow-start threshold to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// None.
    #[default]
    Unbounded,
    /// The receiver's window.
    MaxWindow,
}

/// Which window is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutWindowName {
    /// cwnd with its fraction.
    #[default]
    Exact,
    /// What the receiver's window leaves of it.
    Capped,
    /// Whole segments of what the receiver's window leaves of it.
    Whole,
}

/// A bound of the window, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaxWindow {
    /// So many segments.
    Segments(#[schemars(range(min = 1, max = 16_777_216))] u32),
    /// No bound.
    Word(NoneWord),
}

impl MaxWindow {
    /// The bound.
    pub fn segments(self) -> Option<u32> {
        match self {
            MaxWindow::Segments(segments) => Some(segments),
            MaxWindow::Word(NoneWord::None) => None,
        }
    }
}

/// The word "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoneWord {
    /// None.
    None,
}

/// Whether ACKs are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DelayedAck {
    /// Not at all, or for 100 ms at most.
    Switch(bool),
    /// For so long at most.
    Longest(Duration),
}

impl DelayedAck {
    /// The longest delay.
    pub fn longest(self) -> Option<Duration> {
        match self {
            DelayedAck::Switch(false) => None,
            DelayedAck::Switch(true) => Some(DELAYED_ACK),
            DelayedAck::Longest(longest) => Some(longest),
        }
    }
}

impl TransportKeys {
    /// Bytes of a full data packet on the wire.
    pub fn data_packet_bytes(&self) -> u64 {
        self.mss.0 + self.header.0 + self.framing.0
    }

    /// Bytes of an ACK on the wire.
    pub fn ack_packet_bytes(&self) -> u64 {
        self.header.0 + self.framing.0
    }
}

/// What is written down over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingKeys {
    /// Time between two samples, "auto" for a thousandth of the run, or "none". A run has at most 10000000 rows of samples.
    pub interval: Interval,
    /// How many flows are sampled, in the order of declaration; counters are kept for all.
    pub flows: u32,
    /// Whether every packet is written down at every link, every change of a window, and every timer of a sender that goes off; at most 50000000 rows.
    pub packets: bool,
}

impl Default for SamplingKeys {
    fn default() -> Self {
        SamplingKeys { interval: Interval::Auto, flows: 64, packets: false }
    }
}
impl Document {
    /// Time between two samples, if there are any.
    pub fn sampling_interval(&self) -> Option<Duration> {
        /// Samples of a run whose interval is "auto".
        const AUTO: u64 = 1_000;
        match self.sampling.interval {
            Interval::Auto => Some((self.duration / AUTO).max(Duration::from_nanos(1))),
            Interval::None => None,
            Interval::Every(interval) => Some(interval),
        }
    }
}
