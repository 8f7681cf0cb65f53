//! The document: every key of a scenario with its type, default and help.
//!
//! These types are the only place where a key is declared. The JSON Schema, the check for unknown keys,
//! the tables of the documentation and the parser all come from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::meter::Meter;
use super::network::{Link, Topology};
use super::replicates::Replicates;
use super::traffic::TrafficKeys;
use ackclock::cc::{CcSpec, EcnNeed, ForeignValue};
use ackclock::quantity::Interval;
use ackclock::quantity::Shorthand;
use ackclock::quantity::without_default;
use ackclock::rng::Rng;
use ackclock::sim::Stack;
use ackclock::transport::{EcnMode, LossRecovery, TransportKeys};
use ackclock::units::Duration;

/// A scenario: a network, the flows on it, and how long they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "ackclock scenario")]
pub struct Document {
    /// Version of the schema, 1 or 2. In files of version 2 the default profile of the transport is "linux".
    #[schemars(range(min = 1, max = 2))]
    pub schema: u32,
    /// Name of the scenario, up to 200 characters without control characters. Results do not depend on it.
    #[serde(default = "default_name")]
    pub name: String,
    /// Length of the run.
    pub duration: Duration,
    /// Time at the beginning of the run that metrics leave out.
    #[serde(default)]
    pub warmup: Duration,
    /// Seed of all random streams.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// A network by its shape. A scenario contains `topology` or `links`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// A network link by link, by name. A scenario contains `links` or `topology`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
    /// Channels that stations contend for, by name. A link whose `channel` names one is a station of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, Channel>,
    /// Meters by name, which colour the packets of groups of flows by a profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meters: BTreeMap<String, Meter>,
    /// Transport of all flows. Each flow may override every key.
    #[serde(default, skip_serializing)]
    pub transport: TransportKeys,
    /// Ranges within which replicates vary the network. By default all replicates use the same network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicates: Option<Replicates>,
    /// Settings of the kernel of both hosts, for `--backend kernel`. Other backends refuse them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelKeys>,
    /// Samples of flows and links over time.
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

/// Settings of the kernel of both hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KernelKeys {
    /// Values of sysctls below `net.ipv4` by name, such as `tcp_recovery = 0`. Other names below `net` are written in
    /// full and in quotes, such as `"net.core.default_qdisc" = "fq"`.
    pub sysctl: BTreeMap<String, ForeignValue>,
    /// Names of flows that are the subflows of one connection of Multipath TCP (RFC 8684). The first opens it, and its
    /// traffic is the traffic of the connection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mptcp: Vec<String>,
    /// Wall-clock time within which a guest answers, by default 60 s. A guest in an endless loop ends after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Flow {
    /// Name of the group. Default: `flow0`, `flow1` and so on. The flows of a group `test` with a count are `test.0`,
    /// `test.1` and so on.
    #[serde(default)]
    #[schemars(transform = without_default)]
    pub name: String,
    /// Number of flows: 1 to 1000000, of all groups together.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Congestion control: the name of an algorithm, or a table with its `kind` and parameters. All flows except
    /// datagrams require it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shorthand<CcSpec>", transform = without_default)]
    pub cc: Option<CcSpec>,
    /// Loss recovery.
    #[serde(default)]
    pub recovery: LossRecovery,
    /// Traffic of the application, or datagrams without congestion control.
    #[serde(default)]
    #[schemars(with = "Shorthand<TrafficKeys>")]
    pub traffic: TrafficKeys,
    /// Transport of the group: the backend's, or the simulated one with any backend. Datagrams are always simulated.
    #[serde(default, skip_serializing_if = "StackKey::is_default")]
    pub stack: StackKey,
    /// Whether the packets of the group are in profile. RIO drops such packets later than others.
    #[serde(default)]
    pub in_profile: bool,
    /// Name of the meter that decides from its link on whether packets are in profile. By default no meter does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<String>,
    /// Differentiated services codepoint (DSCP) of the packets of the group, ACKs included. EF is 46, CS1 is 8, and LE is 1.
    /// By default it is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 63))]
    pub dscp: Option<u8>,
    /// Name of the host of the group's senders, for queues that share by hosts. By default each flow has a host of its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_host: Option<String>,
    /// Name of the host of the group's receivers, for queues that share by hosts. By default each flow has a host of its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_host: Option<String>,
    /// Time at which the application starts.
    #[serde(default)]
    pub start: Draw,
    /// Time at which the application stops writing. By default it stops at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Base RTT of each flow. The difference from the RTT of the shared path is added at the source, in both
    /// directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Draw>,
    /// Names of the links that data crosses, in order. A network with one link does not need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<String>>,
    /// Names of the links that ACKs cross, in order. By default ACKs cross the links of the path in reverse order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_path: Option<Vec<String>>,
    /// Transport of this group.
    #[serde(flatten)]
    pub transport: TransportKeys,
}

fn default_count() -> u32 {
    1
}

/// The transport of a group of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StackKey {
    /// The transport of the backend: simulated, or the TCP of a kernel.
    #[default]
    Backend,
    /// The simulated transport with any backend.
    Simulated,
}

impl StackKey {
    fn is_default(&self) -> bool {
        *self == StackKey::Backend
    }
}

impl From<StackKey> for Stack {
    fn from(key: StackKey) -> Stack {
        match key {
            StackKey::Backend => Stack::Backend,
            StackKey::Simulated => Stack::Simulated,
        }
    }
}

impl Flow {
    /// Whether it is TCP.
    pub fn is_tcp(&self) -> bool {
        self.traffic.datagram().is_none()
    }

    /// Whether each of its flows is there for itself: no slots of arrivals, no datagrams.
    pub fn is_persistent(&self) -> bool {
        self.is_tcp() && !matches!(self.traffic, TrafficKeys::Arrivals { .. })
    }

    /// Its feedback on marks: the setting, or the need of its algorithm.
    pub fn ecn(&self) -> EcnMode {
        let need = self.cc.as_ref().map_or(EcnNeed::None, CcSpec::needs_ecn);
        self.transport.ecn.with_need(need, self.transport.protocol)
    }

    /// Bytes of its largest packets on the wire.
    pub fn packet_bytes(&self) -> u64 {
        self.traffic.datagram().map_or(self.transport.data_packet_bytes(), |packet| packet.0)
    }
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
    /// Lower and upper bound of the draw.
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

/// Samples of flows and links over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingKeys {
    /// Time between two samples, "auto" for a thousandth of the run, or "none". A run has at most 10000000 rows of samples.
    pub interval: Interval,
    /// Number of flows that are sampled, in the order of declaration. Counters are kept for all flows.
    pub flows: u32,
    /// Whether to record every packet at every link, every change of a window and every expired timer of a sender. A
    /// run has at most 50000000 such rows.
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
