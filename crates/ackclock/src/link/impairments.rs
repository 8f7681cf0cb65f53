//! Impairments of packets after transmission: jitter, reordering, loss, duplication, corruption.
//!
//! Each impairment draws from its own stream, once for every sent packet, regardless of the others. Adding or
//! changing one therefore never shifts the draws of another.

use super::aggregation::{AckThinning, Aggregation};
use super::bleaching::Bleaching;
use super::course::{DelayCourse, Outages};
use super::fate::Fate;
use super::loss::Loss;
use crate::qdisc::Queued;
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The impairments of packets after transmission.
#[derive(Clone, Debug)]
pub struct Impairments {
    /// The additional delay of the link over time.
    pub course: Option<DelayCourse>,
    /// Times in which nothing comes through.
    pub outages: Option<Outages>,
    /// Nothing arrives before: set when the delay of the link becomes shorter.
    pub not_before: Instant,
    /// ACKs that are left out.
    pub ack_thinning: Option<AckThinning>,
    /// Bursts in which packets leave.
    pub aggregation: Option<Aggregation>,
    /// Extra delay of every packet.
    pub jitter: Option<Jitter>,
    /// Extra delay of some packets, which others overtake.
    pub reordering: Option<(Chance, Duration)>,
    /// The losses.
    pub loss: Loss,
    /// The packets whose ECN field is cleared.
    pub bleaching: Bleaching,
    /// The probability that a packet arrives twice.
    pub duplication: Option<Chance>,
    /// The probability that a packet arrives with bit errors.
    pub corruption: Option<Chance>,
}

/// Something that happens to a packet with this probability.
#[derive(Clone, Debug)]
pub struct Chance {
    /// In 0 ..= 1.
    pub probability: f64,
    /// Where its random numbers come from.
    pub stream: Rng,
}

impl Chance {
    fn happens(&mut self) -> bool {
        self.stream.next_f64() < self.probability
    }
}

/// Extra delay, uniform in 0 .. `most`.
#[derive(Clone, Debug)]
pub struct Jitter {
    most: Duration,
    stream: Rng,
    /// The latest arrival so far, where the order is kept.
    last: Option<Instant>,
}

impl Jitter {
    /// Jitter that keeps the order of packets: none arrives before the one that was sent before it.
    pub fn in_order(most: Duration, stream: Rng) -> Self {
        Jitter { most, stream, last: Some(Instant::ZERO) }
    }

    /// Jitter that delays every packet on its own, so that some overtake others.
    pub fn free(most: Duration, stream: Rng) -> Self {
        Jitter { most, stream, last: None }
    }

    fn delay(&mut self, at: Instant) -> Instant {
        let at = at + self.most.mul_f64_floor(self.stream.next_f64());
        match &mut self.last {
            None => at,
            Some(last) => {
                *last = at.max(*last);
                *last
            }
        }
    }
}

/// The outcome of a packet on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impaired {
    /// When it comes to the far end, or would.
    pub at: Instant,
    pub lost: bool,
    pub marked: bool,
    pub bleached: Bleaching,
    pub doubled: bool,
    pub corrupted: bool,
}

impl Impairments {
    /// One that does nothing to packets.
    pub fn none() -> Self {
        Impairments {
            course: None,
            outages: None,
            not_before: Instant::ZERO,
            ack_thinning: None,
            aggregation: None,
            jitter: None,
            reordering: None,
            loss: Loss::None,
            bleaching: Bleaching::None,
            duplication: None,
            corruption: None,
        }
    }

    /// Whether anything can happen to a packet.
    pub fn does_anything(&self) -> bool {
        let Impairments { course, outages, not_before: _, ack_thinning, aggregation, .. } = self;
        let Impairments { jitter, reordering, loss, bleaching, duplication, corruption, .. } = self;
        course.is_some()
            || outages.is_some()
            || ack_thinning.is_some()
            || aggregation.is_some()
            || jitter.is_some()
            || reordering.is_some()
            || !matches!(loss, Loss::None)
            || *bleaching != Bleaching::None
            || duplication.is_some()
            || corruption.is_some()
    }

    /// Whether packets may overtake one another.
    pub(super) fn reorders(&self) -> bool {
        self.reordering.is_some()
            || self.loss.reorders()
            || self.course.as_ref().is_some_and(DelayCourse::reorders)
            || self.jitter.as_ref().is_some_and(|jitter| jitter.last.is_none())
    }

    /// A packet has left the transmitter of a link of this delay.
    pub(super) fn apply(&mut self, entered: Instant, delay: Duration, item: &impl Queued) -> Impaired {
        let is_left_out = self.ack_thinning.as_mut().is_some_and(|thinning| thinning.leaves_out(entered, item));
        let entered = match &mut self.aggregation {
            Some(aggregation) => aggregation.leave(entered, is_left_out),
            None => entered,
        };
        let is_out = self.outages.as_ref().is_some_and(|outages| outages.loses(entered));
        let at = entered + delay + self.course.as_ref().map_or(Duration::ZERO, |course| course.extra(entered));
        let at = at.max(self.not_before);
        let mut at = match &mut self.jitter {
            Some(jitter) => jitter.delay(at),
            None => at,
        };
        if let Some((chance, delay)) = &mut self.reordering
            && chance.happens()
        {
            at += *delay;
        }
        let (lost, marked) = match self.loss.fate(item.wire_len()) {
            Fate::Lost => (true, false),
            Fate::Arrives { late_by, marked } => {
                at += late_by;
                (false, marked)
            }
        };
        let happens = |chance: &mut Option<Chance>| chance.as_mut().is_some_and(Chance::happens);
        let lost = lost || is_out || is_left_out;
        let (doubled, corrupted) = (happens(&mut self.duplication), happens(&mut self.corruption));
        Impaired { at, lost, marked, bleached: self.bleaching, doubled, corrupted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Item;
    use crate::rng::RngStreams;

    fn stream(purpose: &str) -> Rng {
        RngStreams::new(1, 0).stream("link", purpose)
    }

    fn chance(purpose: &str) -> Chance {
        Chance { probability: 0.2, stream: stream(purpose) }
    }

    fn loss() -> Loss {
        Loss::Bernoulli { probability: 0.2, stream: stream("loss") }
    }

    fn everything() -> Impairments {
        Impairments {
            jitter: Some(Jitter::free(Duration::from_millis(1), stream("jitter"))),
            reordering: Some((chance("reordering"), Duration::from_secs(1))),
            loss: loss(),
            duplication: Some(chance("duplication")),
            corruption: Some(chance("corruption")),
            ..Impairments::none()
        }
    }

    fn outcomes(mut impairments: Impairments) -> Vec<Impaired> {
        let item = Item { bytes: 1500, ..Item::default() };
        (0..1000)
            .map(|millis| impairments.apply(Instant::ZERO + Duration::from_millis(millis), Duration::ZERO, &item))
            .collect()
    }

    #[test]
    fn every_impairment_alone_meets_the_packets_that_it_meets_among_the_others() {
        let together = outcomes(everything());
        let alone = [
            Impairments { loss: loss(), ..Impairments::none() },
            Impairments { duplication: Some(chance("duplication")), ..Impairments::none() },
            Impairments { corruption: Some(chance("corruption")), ..Impairments::none() },
            Impairments { reordering: Some((chance("reordering"), Duration::from_secs(1))), ..Impairments::none() },
            Impairments {
                jitter: Some(Jitter::free(Duration::from_millis(1), stream("jitter"))),
                ..Impairments::none()
            },
        ];
        let late = |packet: &Impaired, millis: usize| packet.at.as_nanos() - 1_000_000 * millis as u64;
        let [lost, doubled, corrupted, held_back, jittered] = alone.map(outcomes);
        for (millis, passage) in together.iter().enumerate() {
            assert_eq!(passage.lost, lost[millis].lost);
            assert_eq!(passage.doubled, doubled[millis].doubled);
            assert_eq!(passage.corrupted, corrupted[millis].corrupted);
            assert_eq!(late(passage, millis), late(&held_back[millis], millis) + late(&jittered[millis], millis));
        }
        let met = |happened: fn(&Impaired) -> bool| together.iter().filter(|packet| happened(packet)).count();
        // A fifth of a thousand, within four standard errors: 4 sqrt(1000 x .2 x .8) = 51.
        for count in [met(|passage| passage.lost), met(|passage| passage.doubled), met(|passage| passage.corrupted)] {
            assert!(count.abs_diff(200) < 51, "{count}");
        }
    }

    #[test]
    fn jitter_in_order_delays_what_follows_a_late_packet() {
        let most = Duration::from_millis(20);
        let free = outcomes(Impairments { jitter: Some(Jitter::free(most, stream("jitter"))), ..Impairments::none() });
        let in_order =
            outcomes(Impairments { jitter: Some(Jitter::in_order(most, stream("jitter"))), ..Impairments::none() });
        assert!(!free.is_sorted_by_key(|packet| packet.at));
        // The draws are the same, and no packet overtakes its predecessor.
        let mut last = Instant::ZERO;
        for (free, in_order) in free.iter().zip(&in_order) {
            last = last.max(free.at);
            assert_eq!(in_order.at, last);
        }
    }
}
