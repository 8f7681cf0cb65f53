//! The keys of traffic: data of an application, or datagrams without congestion control.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::{Sizes, Times};
use super::mistakes::Misfits;
use super::streaming::{self, AdaptationKeys, default_buffer, default_ladder};
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
    /// A browser at the receiver that loads pages over one connection. It requests the HTML document, then all objects
    /// together, and pauses before the next page.
    Page {
        /// Number of objects of a page after the HTML document, at least 1 and at most 10000.
        #[serde(default = "default_objects")]
        objects: u32,
        /// Payload of the HTML document.
        #[serde(default = "default_html")]
        html: Sizes,
        /// Payload of each object.
        #[serde(default = "default_object")]
        object: Sizes,
        /// Time between a complete page and the next request.
        think: Times,
        /// Payload of a request, which is one packet. A second request asks for all objects.
        #[serde(default = "default_request")]
        request: Size,
    },
    /// Streaming with an adaptive bit rate: a client at the receiver that requests chunks of media, buffers and plays
    /// them.
    Abr {
        /// The bit rates in ascending order, in payload. By default 10 bit rates from 235 kbit/s to 5.8 Mbit/s.
        #[serde(default = "default_ladder")]
        ladder: Vec<Rate>,
        /// Time that a chunk plays.
        #[serde(default = "default_chunk")]
        chunk: Duration,
        /// Largest amount of media in the buffer, at least two chunks. Requests pause if it has no room for a chunk.
        #[serde(default = "default_buffer")]
        buffer: Duration,
        /// Media in the buffer with which playback begins, and resumes after a stall. By default a chunk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        startup: Option<Duration>,
        /// How the client chooses the bit rate.
        #[serde(default)]
        #[schemars(with = "Shorthand<AdaptationKeys>", transform = without_default)]
        adaptation: AdaptationKeys,
        /// Payload of a request, which is one packet.
        #[serde(default = "default_request")]
        request: Size,
    },
    /// A video call: an encoder (RFC 8593) whose rate the transport sets, and a player with a deadline.
    Video {
        /// Mean number of frames per second, at least 1 and at most 1000.
        #[serde(default = "default_frame_rate")]
        frame_rate: f64,
        /// Smallest rate of the encoder, in payload.
        #[serde(default = "default_min_rate")]
        min_rate: Rate,
        /// Largest rate of the encoder, in payload.
        #[serde(default = "default_max_rate")]
        max_rate: Rate,
        /// Rate of the encoder before the first feedback.
        #[serde(default = "default_start_rate")]
        start_rate: Rate,
        /// The only rates of the encoder, in ascending order. Without them, it has all rates.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<Rate>,
        /// Least time between two changes of the rate (RFC 8593: tau_v).
        #[serde(default = "default_reaction")]
        reaction: Duration,
        /// Frames of a burst: a key frame and the smaller frames after it (RFC 8593: K_d). At least 2 and at most 1000.
        #[serde(default = "default_burst_frames")]
        burst_frames: u32,
        /// Size of a key frame in mean frames (RFC 8593: K_B / B0), at least 1 and at most `burst_frames`.
        #[serde(default = "default_key_size")]
        key_size: f64,
        /// Time between key frames. Without it, only the start, losses and abrupt changes of the rate cause key frames.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key_interval: Option<Duration>,
        /// Scale of random frame intervals (RFC 8593: SCALING_t), at least 0 and at most 1.
        #[serde(default = "default_variation")]
        interval_variation: f64,
        /// Scale of random frame sizes (RFC 8593: SCALING_B), at least 0 and at most 1.
        #[serde(default = "default_variation")]
        size_variation: f64,
        /// Delay beyond which a frame is late.
        #[serde(default = "default_deadline")]
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

/// The median desktop page in October 2024 (HTTP Archive, Web Almanac 2024): 71 requests, 18 kB of HTML, 2652 kB.
fn default_objects() -> u32 {
    70
}

fn default_html() -> Sizes {
    Sizes::Fixed(Size(18_000))
}

/// The rest of its bytes over the rest of its requests.
fn default_object() -> Sizes {
    Sizes::Fixed(Size(38_000))
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

/// RFC 8593, table 1. So are the next defaults.
fn default_frame_rate() -> f64 {
    30.0
}

fn default_min_rate() -> Rate {
    Rate::from_bps(150_000).expect("invariant: a rate above zero")
}

fn default_max_rate() -> Rate {
    Rate::from_bps(1_500_000).expect("invariant: a rate above zero")
}

fn default_reaction() -> Duration {
    Duration::from_millis(200)
}

fn default_burst_frames() -> u32 {
    8
}

/// 13.5 kB, where a mean frame has 4.17 kB.
fn default_key_size() -> f64 {
    3.24
}

fn default_variation() -> f64 {
    0.15
}

/// WebRTC's.
fn default_start_rate() -> Rate {
    Rate::from_bps(300_000).expect("invariant: a rate above zero")
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
            TrafficKeys::Page { objects, html, object, think, request } => {
                let problem = || Problem::OutOfRange {
                    value: objects.to_string(),
                    expected: "at least 1 and at most 10000".to_owned(),
                };
                at("objects", (1..=10_000).contains(objects).then_some(()).ok_or_else(problem))?;
                at("html", html.check())?;
                at("object", object.check())?;
                at("think", think.check())?;
                at("request", within(*request, 1, LARGEST_PACKET))
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
            TrafficKeys::Abr { ladder, chunk, buffer, startup, adaptation, request } => {
                at("request", within(*request, 1, LARGEST_PACKET))?;
                streaming::check(ladder, *chunk, *buffer, startup.unwrap_or(*chunk), *adaptation)
            }
            TrafficKeys::Video { .. } => self.check_video(),
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
    /// Checks the keys of a video call.
    fn check_video(&self) -> Result<(), (String, Problem)> {
        let TrafficKeys::Video { frame_rate, min_rate, max_rate, start_rate, steps, burst_frames, key_size, .. } = self
        else {
            return Ok(());
        };
        let TrafficKeys::Video { key_interval, interval_variation, size_variation, deadline, .. } = self else {
            return Ok(());
        };
        let fails = |key: &str, value: String, expected: &str| {
            Err((key.to_owned(), Problem::OutOfRange { value, expected: expected.to_owned() }))
        };
        if !(1.0..=1000.0).contains(frame_rate) {
            return fails("frame_rate", frame_rate.to_string(), "at least 1 and at most 1000");
        }
        if min_rate > max_rate {
            return fails("min_rate", min_rate.to_string(), &format!("at most max_rate ({max_rate})"));
        }
        if !(min_rate..=max_rate).contains(&start_rate) {
            let expected = format!("at least min_rate ({min_rate}) and at most max_rate ({max_rate})");
            return fails("start_rate", start_rate.to_string(), &expected);
        }
        if !steps.is_sorted_by(|one, other| one < other) {
            return fails("steps", "the list".to_owned(), "in ascending order");
        }
        if !(2..=1000).contains(burst_frames) {
            return fails("burst_frames", burst_frames.to_string(), "at least 2 and at most 1000");
        }
        if !(1.0..=f64::from(*burst_frames)).contains(key_size) {
            return fails(
                "key_size",
                key_size.to_string(),
                &format!("at least 1 and at most burst_frames ({burst_frames})"),
            );
        }
        for (key, variation) in [("interval_variation", interval_variation), ("size_variation", size_variation)] {
            if !(0.0..=1.0).contains(variation) {
                return fails(key, variation.to_string(), "at least 0 and at most 1");
            }
        }
        let times = [("key_interval", *key_interval), ("deadline", Some(*deadline))];
        for (key, time) in times.into_iter().filter_map(|(key, time)| Some((key, time?))) {
            positive(time).map_err(|problem| (key.to_owned(), problem))?;
        }
        Ok(())
    }

    /// Whether all of its data have to arrive, so that the transport has to retransmit.
    pub fn needs_retransmissions(&self) -> bool {
        matches!(
            self,
            TrafficKeys::Transfer { .. }
                | TrafficKeys::Arrivals { .. }
                | TrafficKeys::Web { .. }
                | TrafficKeys::Page { .. }
                | TrafficKeys::Abr { .. }
                | TrafficKeys::Interactive { .. }
                | TrafficKeys::Chunks { .. }
        )
    }

    /// The `kind` in a scenario.
    pub fn kind(&self) -> &'static str {
        match self {
            TrafficKeys::Bulk => "bulk",
            TrafficKeys::Transfer { .. } => "transfer",
            TrafficKeys::RateLimited { .. } => "rate-limited",
            TrafficKeys::Arrivals { .. } => "arrivals",
            TrafficKeys::Web { .. } => "web",
            TrafficKeys::Page { .. } => "page",
            TrafficKeys::Abr { .. } => "abr",
            TrafficKeys::Interactive { .. } => "interactive",
            TrafficKeys::Chunks { .. } => "chunks",
            TrafficKeys::Video { .. } => "video",
            TrafficKeys::Cbr { .. } => "cbr",
            TrafficKeys::Population { .. } => "population",
            TrafficKeys::OnOff { .. } => "on-off",
            TrafficKeys::Rtp { .. } => "rtp",
        }
    }

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
            TrafficKeys::Page { html, object, think, .. } => {
                random("think times", think.distribution().is_random(), think.to_string());
                random("documents", html.distribution().is_random(), html.to_string());
                random("objects", object.distribution().is_random(), object.to_string());
            }
            TrafficKeys::Interactive { every, size } => {
                random("keystrokes", every.distribution().is_random(), every.to_string());
                random("sizes", size.distribution().is_random(), size.to_string());
            }
            TrafficKeys::Chunks { size, .. } => random("sizes", size.distribution().is_random(), size.to_string()),
            TrafficKeys::Video { interval_variation, size_variation, .. } => {
                random("frame intervals", *interval_variation > 0.0, "Laplace".to_owned());
                random("frame sizes", *size_variation > 0.0, "Laplace".to_owned());
            }
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
            | TrafficKeys::Abr { .. }
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
            TrafficKeys::Page { objects, html, object, think, .. } => {
                write!(f, "pages of {html} and {objects} objects of {object}, think time {think}")
            }
            TrafficKeys::Abr { ladder, chunk, buffer, adaptation, .. } => {
                let (least, most) = (ladder.first(), ladder.last());
                let range = least.zip(most).map_or_else(String::new, |(least, most)| format!("{least} to {most}, "));
                write!(f, "abr, {range}chunks of {chunk}, buffer of {buffer}, {adaptation}")
            }
            TrafficKeys::Video { frame_rate, min_rate, max_rate, deadline, .. } => {
                write!(f, "video, {min_rate} to {max_rate}, {frame_rate} frames per second, deadline {deadline}")
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
