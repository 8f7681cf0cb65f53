//! The impairments of a link, as a plan has them.

use crate::link::{
    AckThinning, Aggregation, BitErrors, Bleaching, Chance, ChannelState, DelayCourse, GilbertElliott, Impairments,
    Jitter, Loss, Outages, Script, Scripted,
};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The impairments of a link, by default none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpairmentsPlan {
    /// The additional delay over time.
    pub course: Option<DelayCourse>,
    /// Times in which nothing comes through.
    pub outages: Option<Outages>,
    /// Of the ACKs that the next ACK covers, one in this number is kept. 1 keeps all.
    pub ack_thinning: Option<u32>,
    /// Bursts in which packets leave: their period, and their largest number of packets.
    pub aggregation: Option<(Duration, u32)>,
    /// Extra delay of each packet, uniform in 0 .. `jitter`.
    pub jitter: Duration,
    /// Whether jitter may change the order of packets.
    pub jitter_reorders: bool,
    /// Packets held back, so that others overtake them.
    pub reordering: Option<ReorderingPlan>,
    /// The losses.
    pub loss: LossPlan,
    /// The packets whose ECN field is cleared.
    pub bleaching: Bleaching,
    /// Probability that a packet arrives twice.
    pub duplication: f64,
    /// Probability that a packet arrives with wrong bits.
    pub corruption: f64,
}

/// Packets held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingPlan {
    /// Probability that a packet is.
    pub probability: f64,
    /// Time for which such a packet is held back.
    pub delay: Duration,
}

impl ImpairmentsPlan {
    /// The purpose of the random numbers by which packets are lost.
    pub(super) const LOSS: &'static str = "loss";

    /// Whether packets may overtake one another.
    pub fn reorders(&self) -> bool {
        let Self { course, jitter, jitter_reorders, reordering, loss, .. } = self;
        reordering.is_some()
            || *jitter_reorders && !jitter.is_zero()
            || loss.reorders()
            || course.as_ref().is_some_and(DelayCourse::reorders)
    }

    /// Whether packets that arrive may be out of order, doubled or corrupted.
    pub fn may_alter_arrivals(&self) -> bool {
        self.reorders() || self.duplication > 0.0 || self.corruption > 0.0
    }

    /// Whether packets come out as far apart as they were sent.
    pub fn keeps_gaps(&self) -> bool {
        self.jitter.is_zero()
            && !self.reorders()
            && self.duplication == 0.0
            && self.course.is_none()
            && self.aggregation.is_none()
    }

    /// The impairments of a link, if it has any. Each draws from the `stream` of its name.
    pub fn build(&self, stream: impl Fn(&str) -> Rng) -> Option<Impairments> {
        let chance =
            |probability: f64, name: &str| (probability > 0.0).then(|| Chance { probability, stream: stream(name) });
        let jitter = if self.jitter_reorders { Jitter::free } else { Jitter::in_order };
        let impairments = Impairments {
            course: self.course.clone(),
            outages: self.outages.clone(),
            not_before: Instant::ZERO,
            ack_thinning: self.ack_thinning.map(AckThinning::new),
            aggregation: self.aggregation.map(|(every, most)| Aggregation::new(every, most)),
            jitter: (!self.jitter.is_zero()).then(|| jitter(self.jitter, stream("jitter"))),
            reordering: self.reordering.and_then(|plan| Some((chance(plan.probability, "reordering")?, plan.delay))),
            loss: self.loss.build(|| stream(Self::LOSS)),
            bleaching: self.bleaching,
            duplication: chance(self.duplication, "duplication"),
            corruption: chance(self.corruption, "corruption"),
        };
        impairments.does_anything().then_some(impairments)
    }
}

/// Losses that are not the queue's.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossPlan {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost with this probability.
    Bernoulli {
        /// In 0 ..= 1.
        probability: f64,
    },
    /// Each bit is wrong with this probability, and a packet with a wrong bit is lost.
    BitErrors {
        /// In 0 ..= 1.
        probability: f64,
    },
    /// Packets are lost in bursts: a channel is good or bad for some packets at a time.
    GilbertElliott {
        /// The state in which little is lost.
        good: ChannelState,
        /// The state in which much is lost.
        bad: ChannelState,
    },
    /// Every `period`-th packet is lost, the first being number `period - offset`.
    Periodic {
        /// At least 1.
        period: u64,
        /// Less than `period`.
        offset: u64,
    },
    /// Given packets.
    Scripted(Script),
}

impl LossPlan {
    /// Loses the packets with these numbers, which ascend.
    pub fn losing(packets: Vec<u64>) -> Self {
        LossPlan::Scripted(Script { lost: packets, ..Script::default() })
    }

    fn reorders(&self) -> bool {
        match self {
            LossPlan::Scripted(script) => !script.late.is_empty(),
            LossPlan::None
            | LossPlan::Bernoulli { .. }
            | LossPlan::BitErrors { .. }
            | LossPlan::GilbertElliott { .. }
            | LossPlan::Periodic { .. } => false,
        }
    }

    /// The loss process. A random one draws from `stream`.
    pub fn build(&self, stream: impl FnOnce() -> Rng) -> Loss {
        match self {
            LossPlan::None => Loss::None,
            LossPlan::Bernoulli { probability } => Loss::Bernoulli { probability: *probability, stream: stream() },
            LossPlan::BitErrors { probability } => Loss::BitErrors(BitErrors::new(*probability, stream())),
            LossPlan::GilbertElliott { good, bad } => Loss::GilbertElliott(GilbertElliott::new(*good, *bad, stream())),
            LossPlan::Periodic { period, offset } => Loss::Periodic { period: *period, count: *offset },
            LossPlan::Scripted(script) => Loss::Scripted(Scripted::new(script.clone())),
        }
    }
}
