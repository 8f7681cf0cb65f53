//! The keys of traffic: data of an application, or datagrams without congestion control.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::{Sizes, Times};
use super::mistakes::Misfits;
use super::tree::{Node, Origin};
use super::variation::Varies;
use ackclock::quantity::Problem;
use ackclock::quantity::Shorthand;
use ackclock::quantity::Size;
use ackclock::quantity::without_default;
use ackclock::transport::TransportKeys;
use ackclock::units::{Duration, Rate};
use ackclock::variation::VariationPlan;

/// Data of an application, or datagrams without congestion control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficKeys {
    /// Always more than the window allows.
    #[default]
    Bulk,
    /// A number of bytes, all of them at the start.
    Transfer {
        /// Payload.
        size: Size,
    },
    /// One segment after the other, evenly spaced.
    RateLimited {
        /// Payload per unit of time.
        rate: Rate,
    },
    /// Transfers that arrive as a Poisson process, independently of earlier transfers. The group's count bounds the
    /// number of simultaneous transfers.
    Arrivals {
        /// Mean time between two arrivals of the whole group. A run may expect at most 10000000 arrivals.
        every: Duration,
        /// A second mean time between arrivals, which alternates with the first.
        #[serde(skip_serializing_if = "Option::is_none")]
        alternating: Option<Alternating>,
        /// Payload of each transfer.
        size: Sizes,
    },
    /// A client at the receiver that requests something, gets all of it, and pauses before it requests again.
    Web {
        /// Time between a response and the next request.
        think: Times,
        /// Payload of a request, which is one packet.
        #[serde(default = "default_request")]
        request: Size,
        /// Payload of a response.
        response: Sizes,
    },
    /// Keystrokes: small writes, one after the other, on a connection that stays open.
    Interactive {
        /// Time between two keystrokes.
        every: Times,
        /// Payload of a keystroke.
        #[serde(default = "default_keystroke")]
        size: Sizes,
    },
    /// Chunks of media at even intervals on a connection that stays open, for a client that plays them.
    Chunks {
        /// Payload of a chunk.
        size: Sizes,
        /// Time between two chunks, and the time that a chunk plays.
        #[serde(default = "default_chunk")]
        interval: Duration,
        /// Time after which a chunk is late. The first chunk is played then.
        #[serde(default = "default_chunk")]
        deadline: Duration,
    },
    /// Datagrams at a constant rate, without any response to loss.
    Cbr {
        /// Rate, in bits on the wire.
        rate: Rate,
        /// Size of each packet, in bytes on the wire.
        #[serde(default = "default_packet")]
        packet: Size,
        /// Time between two packets: constant, or random with the same mean (a Poisson process).
        #[serde(default)]
        spacing: SpacingName,
        /// A varying rate that is subtracted from `rate` and thus left to other flows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Shorthand<Varies>", transform = without_default)]
        leaves: Option<Varies>,
    },
    /// Datagrams from a population of sources. The number of active sources varies up to the group's count. Under fair
    /// queueing it leaves other flows a given rate.
    Population {
        /// The shared rate, in bits on the wire.
        capacity: Rate,
        /// Size of each packet, in bytes on the wire.
        #[serde(default = "default_packet")]
        packet: Size,
        /// Number of flows that compete with the population.
        #[schemars(range(min = 1))]
        beside: u32,
        /// The rate that is left to the competing flows.
        #[schemars(with = "Shorthand<Varies>")]
        leaves: Varies,
    },
    /// Datagrams in bursts at a constant rate, with pauses. A burst comes first.
    OnOff {
        /// Rate during a burst, in bits on the wire.
        rate: Rate,
        /// Size of each packet, in bytes on the wire.
        #[serde(default = "default_packet")]
        packet: Size,
        /// Length of a burst.
        on: Times,
        /// Length of a pause.
        off: Times,
    },
    /// Frames of datagrams at even intervals, each of use only if it comes in time.
    Rtp {
        /// Rate, in bits on the wire.
        rate: Rate,
        /// The largest datagram on the wire. A larger frame is sent as several datagrams.
        #[serde(default = "default_frame_packet")]
        packet: Size,
        /// Time between two frames.
        #[serde(default = "default_interval")]
        interval: Duration,
        /// Delay beyond which a packet is late.
        #[serde(default = "default_deadline")]
        deadline: Duration,
    },
}

/// Another mean time between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alternating {
    /// The other mean time between two arrivals.
    pub every: Duration,
    /// Time for which each mean applies before the other one does.
    pub interval: Duration,
}

/// Time between two packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpacingName {
    /// Always the same.
    #[default]
    Even,
    /// Exponential.
    Exponential,
}

/// The packet size of ns-2's examples.
fn default_packet() -> Size {
    Size(1_000)
}

/// The largest packet in an Ethernet frame.
fn default_frame_packet() -> Size {
    Size(1_500)
}

fn default_request() -> Size {
    Size(300)
}

/// A character.
fn default_keystroke() -> Sizes {
    Sizes::Fixed(Size(1))
}

/// Segments of two seconds are common in HTTP streaming.
fn default_chunk() -> Duration {
    Duration::from_secs(2)
}

/// 50 frames a second, as voice codecs have.
fn default_interval() -> Duration {
    Duration::from_millis(20)
}

/// ITU-T G.114: a one-way delay of up to 150 ms is acceptable to most users.
fn default_deadline() -> Duration {
    Duration::from_millis(150)
}

impl TrafficKeys {
    /// The size of a datagram on the wire, for traffic that consists of them.
    pub fn datagram(&self) -> Option<Size> {
        match self {
            TrafficKeys::Cbr { packet, .. }
            | TrafficKeys::Population { packet, .. }
            | TrafficKeys::OnOff { packet, .. }
            | TrafficKeys::Rtp { packet, .. } => Some(*packet),
            _ => None,
        }
    }

    /// The rate that datagrams with `leaves` leave to others. An error names the key that does not fit, and the
    /// problem.
    pub fn leaves(&self) -> Option<Result<VariationPlan, (&'static str, Problem)>> {
        match self {
            TrafficKeys::Cbr { rate, leaves: Some(leaves), .. } => Some(leaves.plan(*rate)),
            TrafficKeys::Population { capacity, leaves, .. } => Some(leaves.plan(*capacity)),
            _ => None,
        }
    }

    /// Checks the keys without knowledge of the network. An error names the key and the problem.
    ///
    /// # Errors
    /// The first key that is out of its range.
    pub fn check(&self) -> Result<(), (String, Problem)> {
        let at = |key: &str, result: Result<(), Problem>| result.map_err(|problem| (key.to_owned(), problem));
        if let Some(leaves) = self.leaves() {
            leaves.map_err(|(key, problem)| (format!("leaves.{key}"), problem))?;
        }
        if let Some(packet) = self.datagram() {
            at("packet", within(packet, 1, LARGEST_PACKET))?;
        }
        match self {
            TrafficKeys::Bulk
            | TrafficKeys::RateLimited { .. }
            | TrafficKeys::Cbr { .. }
            | TrafficKeys::Population { .. } => Ok(()),
            TrafficKeys::Transfer { size } => at("size", within(*size, 1, u64::MAX)),
            TrafficKeys::Arrivals { every, alternating, size } => {
                at("every", positive(*every))?;
                if let Some(Alternating { every, interval }) = alternating {
                    at("alternating.every", positive(*every))?;
                    at("alternating.interval", positive(*interval))?;
                }
                at("size", size.check())
            }
            TrafficKeys::Web { think, request, response } => {
                at("think", think.check())?;
                at("request", within(*request, 1, LARGEST_PACKET))?;
                at("response", response.check())
            }
            TrafficKeys::Interactive { every, size } => {
                at("every", every.check().and_then(|()| positive(every.mean())))?;
                at("size", size.check())
            }
            TrafficKeys::Chunks { size, interval, deadline } => {
                at("size", size.check())?;
                at("interval", positive(*interval))?;
                at("deadline", positive(*deadline))
            }
            TrafficKeys::OnOff { on, off, .. } => {
                at("on", on.check().and_then(|()| positive(on.mean())))?;
                at("off", off.check())
            }
            TrafficKeys::Rtp { rate, packet, interval, deadline } => {
                at("interval", positive(*interval))?;
                at("interval", short_frame(*rate, *packet, *interval))?;
                at("deadline", positive(*deadline))
            }
        }
    }
}

impl TrafficKeys {
    /// The random part, and its distribution.
    pub fn random_inputs(&self) -> Vec<(&'static str, String)> {
        let mut inputs = Vec::new();
        let mut random = |what, is_random: bool, how: String| {
            if is_random {
                inputs.push((what, how));
            }
        };
        match self {
            TrafficKeys::Arrivals { size, .. } => {
                random("arrivals", true, "Poisson".to_owned());
                random("sizes", size.distribution().is_random(), size.to_string());
            }
            TrafficKeys::Web { think, response, .. } => {
                random("think times", think.distribution().is_random(), think.to_string());
                random("answers", response.distribution().is_random(), response.to_string());
            }
            TrafficKeys::Interactive { every, size } => {
                random("keystrokes", every.distribution().is_random(), every.to_string());
                random("sizes", size.distribution().is_random(), size.to_string());
            }
            TrafficKeys::Chunks { size, .. } => random("sizes", size.distribution().is_random(), size.to_string()),
            TrafficKeys::Cbr { spacing, leaves, .. } => {
                random("packets", *spacing == SpacingName::Exponential, "Poisson".to_owned());
                if let Some(leaves) = leaves {
                    random("what is left", leaves.is_random(), leaves.name().to_owned());
                }
            }
            TrafficKeys::Population { leaves, .. } => {
                random("what is left", leaves.is_random(), leaves.name().to_owned());
            }
            TrafficKeys::OnOff { on, off, .. } => {
                random("bursts", on.distribution().is_random(), on.to_string());
                random("pauses", off.distribution().is_random(), off.to_string());
            }
            TrafficKeys::Bulk
            | TrafficKeys::Transfer { .. }
            | TrafficKeys::RateLimited { .. }
            | TrafficKeys::Rtp { .. } => {}
        }
        inputs
    }
}

impl fmt::Display for TrafficKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrafficKeys::Bulk => f.write_str("bulk"),
            TrafficKeys::Transfer { size } => write!(f, "transfer of {} B", size.0),
            TrafficKeys::RateLimited { rate } => write!(f, "rate-limited, {rate}"),
            TrafficKeys::Arrivals { every, alternating, size } => {
                write!(f, "arrivals every {every}")?;
                if let Some(Alternating { every, interval }) = alternating {
                    write!(f, " or {every} for {interval} each")?;
                }
                write!(f, " of {size}")
            }
            TrafficKeys::Web { think, response, .. } => write!(f, "web, answers of {response}, think time {think}"),
            TrafficKeys::Interactive { every, size } => write!(f, "interactive, keystrokes of {size}, every {every}"),
            TrafficKeys::Chunks { size, interval, deadline } => {
                write!(f, "chunks of {size} every {interval}, deadline {deadline}")
            }
            TrafficKeys::Cbr { rate, packet, spacing, leaves } => {
                let random = if *spacing == SpacingName::Exponential { ", exponential spacing" } else { "" };
                let leaves = leaves.as_ref().map_or_else(String::new, |leaves| format!(", leaves {}", leaves.name()));
                write!(f, "cbr, {rate} in packets of {packet}{random}{leaves}")
            }
            TrafficKeys::Population { capacity, packet, beside, leaves } => {
                let leaves = leaves.name();
                write!(
                    f,
                    "population of sources in packets of {packet}, leaves {leaves} of {capacity} to {beside} flows"
                )
            }
            TrafficKeys::OnOff { rate, packet, on, off } => {
                write!(f, "on-off, {rate} in packets of {packet}, on {on}, off {off}")
            }
            TrafficKeys::Rtp { rate, interval, deadline, .. } => {
                write!(f, "rtp, {rate} in frames every {interval}, deadline {deadline}")
            }
        }
    }
}

/// The largest packet of IP.
const LARGEST_PACKET: u64 = 65_535;

fn within(size: Size, min: u64, max: u64) -> Result<(), Problem> {
    let expected = match size.0 {
        bytes if bytes < min => format!("at least {min} B"),
        bytes if bytes > max => format!("at most {max} B"),
        _ => return Ok(()),
    };
    Err(Problem::OutOfRange { value: size.to_string(), expected })
}

fn positive(length: Duration) -> Result<(), Problem> {
    if length.is_zero() {
        return Err(Problem::OutOfRange { value: length.to_string(), expected: "above zero".to_owned() });
    }
    Ok(())
}

/// A frame is sent at once and queued as a whole.
fn short_frame(rate: Rate, packet: Size, interval: Duration) -> Result<(), Problem> {
    const MOST_DATAGRAMS: u64 = 1_000_000;
    let datagrams = rate.bytes_in_floor(interval) / packet.0.max(1);
    if datagrams > MOST_DATAGRAMS {
        let value = format!("a frame of {datagrams} datagrams");
        return Err(Problem::OutOfRange { value, expected: format!("at most {MOST_DATAGRAMS} datagrams") });
    }
    Ok(())
}

/// True for a flow of a tree whose traffic consists of datagrams.
pub fn is_datagrams(flow: &Node) -> bool {
    let kind = flow.get("traffic").and_then(|traffic| traffic.get("kind")).and_then(Node::as_text);
    kind.is_some_and(|kind| ["cbr", "population", "on-off", "rtp"].contains(&kind))
}

/// The keys of a flow that only TCP has.
pub fn keys_of_tcp() -> impl Iterator<Item = &'static str> {
    ["cc", "recovery", "reverse_path"].into_iter().chain(TransportKeys::SCOPES.iter().map(|(key, _)| *key))
}

/// Adds the keys of flows of datagrams that these cannot have.
pub fn check_keys(root: &Node, misfits: &mut Misfits) {
    let flows = root.get("flows").map(Node::items).unwrap_or_default();
    for (index, flow) in flows.iter().enumerate().filter(|(_, flow)| is_datagrams(flow)) {
        let written = |key: &&str| flow.get(key).is_some_and(|node| node.origin != Origin::Default);
        for key in keys_of_tcp().filter(written) {
            misfits.push(vec!["flows".to_owned(), index.to_string(), key.to_owned()], Problem::NotOfDatagrams);
        }
    }
}
