//! The traffic of a flow in a plan: the writes of its application.

use super::distribution::Distribution;
use crate::units::{Duration, Rate};

/// The writes of an application.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Unlimited data.
    Bulk,
    /// This many bytes at the start.
    Transfer {
        /// Payload bytes, at least one.
        bytes: u64,
    },
    /// One segment after the other, evenly spaced.
    RateLimited {
        /// Payload bits per second.
        rate: Rate,
    },
    /// Responses to a client that requests, receives and pauses.
    Web(Box<WebPlan>),
    /// Pages that a browser loads.
    Page(Box<PagePlan>),
    /// Chunks of media that a client requests at a bit rate of its choice.
    Abr(Box<AbrPlan>),
    /// Keystrokes or chunks of media, one after the other.
    Interactive(Box<InteractivePlan>),
    /// A video call.
    Video(Box<VideoPlan>),
    /// A slot of a group of arrivals, which gives it one transfer at a time.
    Slot,
}

impl Traffic {
    /// For lookahead: nothing but arriving data makes its receiver send.
    pub(super) fn receiver_only_answers(&self) -> bool {
        match self {
            Traffic::Bulk
            | Traffic::Transfer { .. }
            | Traffic::RateLimited { .. }
            | Traffic::Interactive(_)
            | Traffic::Video(_)
            | Traffic::Slot => true,
            // Its client asks.
            Traffic::Web(_) | Traffic::Page(_) | Traffic::Abr(_) => false,
        }
    }

    /// For lookahead: nothing but ACKs, its timers and its application's make its sender send, and nothing depends on its end.
    pub(super) fn sender_reacts_only_to_acks(&self) -> bool {
        match self {
            Traffic::Bulk
            | Traffic::Transfer { .. }
            | Traffic::RateLimited { .. }
            | Traffic::Interactive(_)
            | Traffic::Video(_) => true,
            // A request may arrive, or the slot may be used again.
            Traffic::Web(_) | Traffic::Page(_) | Traffic::Abr(_) | Traffic::Slot => false,
        }
    }

    /// Whether a client plays it.
    pub fn is_played(&self) -> bool {
        matches!(self, Traffic::Abr(_)) || self.has_deadlines()
    }

    /// Whether its chunks or frames have deadlines.
    pub fn has_deadlines(&self) -> bool {
        match self {
            Traffic::Video(_) => true,
            Traffic::Interactive(plan) => plan.deadline.is_some(),
            _ => false,
        }
    }

    /// Its name in a scenario, where it consists of transfers.
    pub fn transfers(&self) -> Option<&'static str> {
        match self {
            Traffic::Transfer { .. } => Some("transfer"),
            Traffic::Web(_) => Some("web"),
            Traffic::Page(_) => Some("page"),
            Traffic::Abr(_) => Some("abr"),
            Traffic::Interactive(plan) => Some(if plan.deadline.is_some() { "chunks" } else { "interactive" }),
            Traffic::Video(_) => Some("video"),
            Traffic::Slot => Some("arrivals"),
            Traffic::Bulk | Traffic::RateLimited { .. } => None,
        }
    }
}

/// A client at the receiver that requests one response after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebPlan {
    /// Time between a response and the next request.
    pub think: Distribution,
    /// Payload of a request, which is one packet.
    pub request: u32,
    /// Payload of a response.
    pub response: Distribution,
}

/// A browser at the receiver that loads one page after the other over one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PagePlan {
    /// Payload of the HTML document.
    pub document: Distribution,
    /// Number of objects, at least one.
    pub objects: u32,
    /// Payload of an object.
    pub object: Distribution,
    /// Time between a complete page and the next request.
    pub think: Distribution,
    /// Payload of a request, which is one packet.
    pub request: u32,
}

/// A client at the receiver that streams media with an adaptive bit rate.
#[derive(Clone, Debug, PartialEq)]
pub struct AbrPlan {
    /// The bit rates in ascending order, at least one. Rates count payload.
    pub ladder: Vec<Rate>,
    /// How long a chunk plays.
    pub chunk: Duration,
    /// The most media in the buffer, at least two chunks.
    pub buffer: Duration,
    /// The media in the buffer at which playback begins and resumes, at most `buffer` less a chunk.
    pub startup: Duration,
    /// How the client chooses the bit rate.
    pub adaptation: Adaptation,
    /// Payload of a request, which is one packet.
    pub request: u32,
}

/// How a client chooses the bit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// By the buffer level: BBA-0 (Huang et al. 2014).
    Bba0 {
        /// Up to this level, the lowest bit rate.
        reservoir: Duration,
        /// The range of levels above it in which the bit rate increases, above zero.
        cushion: Duration,
    },
    /// By the throughput of the last chunks.
    Throughput,
    /// By the buffer level and the utility of bit rates: BOLA (Spiteri et al. 2016).
    Bola,
}

/// Keystrokes of an interactive user, or chunks of media for a client that plays them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InteractivePlan {
    /// Time between two writes.
    pub every: Distribution,
    /// Payload of a write.
    pub size: Distribution,
    /// Time after which a chunk of media is late. Keystrokes have none.
    pub deadline: Option<Duration>,
}

/// A video call: the encoder of RFC 8593 §5, and the deadline of the player.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoPlan {
    /// Mean time between frames.
    pub interval: Duration,
    /// The smallest rate of the encoder: R_min. Rates count payload.
    pub min_rate: Rate,
    /// The largest rate of the encoder: R_max.
    pub max_rate: Rate,
    /// The rate before the first feedback.
    pub start_rate: Rate,
    /// The only rates of the encoder in ascending order, or none for all.
    pub steps: Vec<Rate>,
    /// The least time between two changes of the rate: tau_v.
    pub reaction: Duration,
    /// Frames of a burst, its key frame included: K_d, at least two.
    pub burst_frames: u32,
    /// Size of a key frame in mean frames: K_B / B0.
    pub key_size: f64,
    /// Time between periodic key frames, or none.
    pub key_interval: Option<Duration>,
    /// Scale of the Laplacian deviation of frame intervals, in parts of the mean: SCALING_t.
    pub interval_variation: f64,
    /// Scale of the Laplacian deviation of frame sizes, in parts of the mean: SCALING_B.
    pub size_variation: f64,
    /// Time after which a frame is late.
    pub deadline: Duration,
}

impl VideoPlan {
    /// The rate of the encoder for this target.
    pub fn permitted(&self, target: Rate) -> Rate {
        let rate = target.clamp(self.min_rate, self.max_rate);
        let below = self.steps.iter().rev().find(|step| **step <= rate);
        below.or(self.steps.first()).copied().unwrap_or(rate)
    }
}
