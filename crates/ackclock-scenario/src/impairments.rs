//! The keys of the impairments of a link: jitter, reordering, loss, duplication, corruption.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delays::{DelayVaries, OutageTimes};
use super::mistakes::Misfits;
use ackclock::link::Bleaching;
use ackclock::quantity::Shorthand;
use ackclock::quantity::{Problem, without_default};
use ackclock::sim::{ChannelState, ImpairmentsPlan, LossPlan, ReorderingPlan, Script};
use ackclock::units::Duration;

/// The impairments of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Impairments {
    /// The delay over time. `delay` is its shortest value. By default it is constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_varies: Option<DelayVaries>,
    /// Times in which every packet is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<OutageTimes>,
    /// ACK thinning: one in so many pure ACKs of a flow is kept, of those that its next ACK covers. The others are lost.
    /// An ACK is also kept 10 ms after the last one. By default all are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ack_thinning: Option<u32>,
    /// Aggregation: packets wait, and leave in bursts. By default each leaves at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// Extra delay of each packet, uniform between 0 and this.
    pub jitter: Duration,
    /// Whether jitter may reorder packets. If false, packets arrive in the order in which they were sent.
    pub jitter_reorders: bool,
    /// Packets that are held back, so that others overtake them (reordering).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    /// Losses in transit.
    #[schemars(with = "Shorthand<Loss>")]
    pub loss: Loss,
    /// Packets whose ECN field the link clears, behind its queue. `ect1`: packets with ECT(1). `all`: all packets, also
    /// those with a mark.
    #[serde(skip_serializing_if = "is_no_bleaching")]
    pub bleaching: Bleaching,
    /// Probability that a packet arrives twice, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub duplication: f64,
    /// Probability that a packet arrives corrupted and its host discards it, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corruption: f64,
}

/// Packets that leave in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregation {
    /// Time between two bursts. Bursts leave at its multiples.
    pub every: Duration,
    /// Largest number of packets of a burst. Further packets wait for the next one.
    #[serde(default = "unlimited")]
    #[schemars(range(min = 1), transform = without_default)]
    pub packets: u32,
}

fn unlimited() -> u32 {
    u32::MAX
}

/// Packets that are held back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Probability that a packet is held back, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Time for which such a packet is held back.
    pub delay: Duration,
}

/// Losses that are not the queue's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost with the same probability, independently.
    Bernoulli {
        /// Probability that a packet is lost, 0 to 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: f64,
    },
    /// Each bit is wrong with the same probability, independently. A packet with a wrong bit is lost.
    BitErrors {
        /// Probability of a bit error, 0 to 1. Bits of header and framing count as well.
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: f64,
    },
    /// Packets are lost in bursts: the link is good or bad for some packets at a time.
    GilbertElliott {
        /// Probability that a good link is bad for the next packet, 0 to 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        p: f64,
        /// Probability that a bad link is good for the next packet, 0 to 1. A bad period lasts 1/r packets on average.
        #[schemars(range(min = 0.0, max = 1.0))]
        r: f64,
        /// Probability that a good link loses a packet, 0 to 1.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_good: f64,
        /// Probability that a bad link loses a packet, 0 to 1.
        #[serde(default = "certain")]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_bad: f64,
    },
    /// Every n-th packet is lost.
    Periodic {
        /// The link loses one packet in this number, at least 1.
        #[schemars(range(min = 1))]
        period: u64,
        /// Number of packets by which the first loss comes earlier. It must be below the period.
        #[serde(default)]
        offset: u64,
    },
    /// The packets with these numbers are lost, late, or marked.
    Scripted {
        /// Numbers of the packets that are lost at this link, from 1, ascending.
        #[serde(default)]
        packets: Vec<u64>,
        /// Numbers of the packets that arrive late, so that others overtake them.
        #[serde(default)]
        late_packets: Vec<u64>,
        /// Extra delay of `late_packets`.
        #[serde(default)]
        late_by: Duration,
        /// Numbers of the packets that are marked (RFC 3168) if they are ECN-capable.
        #[serde(default)]
        marked_packets: Vec<u64>,
    },
}

fn is_no_bleaching(bleaching: &Bleaching) -> bool {
    *bleaching == Bleaching::None
}

fn certain() -> f64 {
    1.0
}

impl Loss {
    /// The least and the greatest probability with which a packet is lost.
    fn odds(&self) -> (f64, f64) {
        match *self {
            Loss::Bernoulli { probability } | Loss::BitErrors { probability } => (probability, probability),
            Loss::GilbertElliott { p: 0.0, loss_good, .. } => (loss_good, loss_good),
            Loss::GilbertElliott { r: 0.0, loss_bad, .. } => (loss_bad, loss_bad),
            Loss::GilbertElliott { loss_good, loss_bad, .. } => (loss_good.min(loss_bad), loss_good.max(loss_bad)),
            Loss::Periodic { period: 1, .. } => (1.0, 1.0),
            Loss::None | Loss::Periodic { .. } | Loss::Scripted { .. } => (0.0, 0.0),
        }
    }

    /// Whether losses are random.
    pub fn is_random(&self) -> bool {
        let (least, most) = self.odds();
        most > 0.0 && least < 1.0
    }

    /// Whether nothing gets through.
    fn is_total(&self) -> bool {
        self.odds().0 >= 1.0
    }

    /// Problems that no range describes.
    ///
    /// # Errors
    /// An offset that is not below the period, or numbers of packets that do not ascend from 1.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            Loss::Periodic { period, offset } if offset >= period => {
                out_of_range(format!("an offset of {offset}"), &format!("below the period, {period}"))
            }
            Loss::Scripted { packets, late_packets, late_by: _, marked_packets } => {
                ascend(packets)?;
                ascend(late_packets)?;
                ascend(marked_packets)
            }
            _ => Ok(()),
        }
    }

    /// Whether packets are marked.
    pub fn marks(&self) -> bool {
        matches!(self, Loss::Scripted { marked_packets, .. } if !marked_packets.is_empty())
    }

    fn plan(&self) -> LossPlan {
        match self {
            Loss::None => LossPlan::None,
            Loss::Bernoulli { probability } => LossPlan::Bernoulli { probability: *probability },
            Loss::BitErrors { probability } => LossPlan::BitErrors { probability: *probability },
            Loss::GilbertElliott { p, r, loss_good, loss_bad } => LossPlan::GilbertElliott {
                good: ChannelState { loss: *loss_good, leave: *p },
                bad: ChannelState { loss: *loss_bad, leave: *r },
            },
            Loss::Periodic { period, offset } => LossPlan::Periodic { period: *period, offset: *offset },
            Loss::Scripted { packets, late_packets, late_by, marked_packets } => LossPlan::Scripted(Script {
                lost: packets.clone(),
                late: late_packets.clone(),
                late_by: *late_by,
                marked: marked_packets.clone(),
            }),
        }
    }
}

impl Impairments {
    /// Impairments of the link of this name that are probably a mistake.
    pub fn warnings(&self, link: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Loss::Bernoulli { probability } = self.loss
            && probability >= 1.0
        {
            warnings.push(format!("loss = 1 means 100 % loss on {link}; for one percent write 0.01 (or --loss 1%)"));
        } else if self.loss.is_total() {
            warnings.push(format!("{link} delivers nothing: it loses every packet"));
        }
        if self.corruption >= 1.0 {
            warnings
                .push(format!("corruption = 1 means that {link} corrupts every packet; for one percent write 0.01"));
        }
        if self.jitter_reorders && self.jitter.is_zero() {
            warnings.push(format!("{link} has jitter_reorders, but no jitter"));
        }
        warnings
    }

    /// The impairments of a link of this delay, as a plan has them.
    pub fn plan(&self, delay: Duration) -> ImpairmentsPlan {
        ImpairmentsPlan {
            course: self.delay_varies.as_ref().map(|varies| varies.course(delay)),
            outages: self.outages.as_ref().map(OutageTimes::outages),
            ack_thinning: self.ack_thinning,
            aggregation: self.aggregation.map(|Aggregation { every, packets }| (every, packets)),
            jitter: self.jitter,
            jitter_reorders: self.jitter_reorders,
            reordering: self.reordering.map(|Reordering { probability, delay }| ReorderingPlan { probability, delay }),
            loss: self.loss.plan(),
            bleaching: self.bleaching,
            duplication: self.duplication,
            corruption: self.corruption,
        }
    }
}

/// Checks the changes by the clock of a link of this delay.
pub fn check_times(place: &str, impairments: &Impairments, delay: Duration, misfits: &mut Misfits) {
    let varies = impairments.delay_varies.as_ref().map_or(Ok(()), |varies| varies.check(delay));
    let outages = impairments.outages.as_ref().map_or(Ok(()), OutageTimes::check);
    if impairments.aggregation.is_some_and(|aggregation| aggregation.every.is_zero()) {
        misfits.check(&format!("{place}.aggregation.every"), out_of_range("0 s", "above 0 s"));
    }
    for (key, result) in [("delay_varies", varies), ("outages", outages)] {
        if let Err((below, problem)) = result {
            misfits.check(&format!("{place}.{key}.{below}"), Err::<(), _>(problem));
        }
    }
}

fn ascend(packets: &[u64]) -> Result<(), Problem> {
    if packets.first() == Some(&0) {
        return out_of_range("packet 0", "at least 1");
    }
    match packets.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => out_of_range(format!("packet {}", pair[1]), &format!("above {}: ascending", pair[0])),
        None => Ok(()),
    }
}

fn out_of_range(value: impl ToString, expected: &str) -> Result<(), Problem> {
    Err(Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripted_losses_ascend_from_one() {
        assert_eq!(ascend(&[]), Ok(()));
        assert_eq!(ascend(&[1, 2, 9]), Ok(()));
        assert!(ascend(&[0, 2]).is_err());
        assert!(ascend(&[2, 2]).is_err());
    }
}
