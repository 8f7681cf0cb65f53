//! Delivery-rate samples and the state of delivery when each segment was last sent.
//!
//! Reference: draft-ietf-ccwg-bbr §4.1 (from draft-cheng-iccrg-delivery-rate-estimation). Counted in bytes of payload.

use std::collections::VecDeque;

use crate::cc::{Loss, PathView, RateSample};
use crate::units::{Duration, Instant};

/// The state of delivery when a segment was last sent: the draft's P.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendStamp {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Bytes in flight, with the segment itself: P.tx_in_flight.
    tx_in_flight: u64,
    /// Bytes lost before: P.lost.
    lost: u64,
    /// Bytes known to have come with a mark before.
    delivered_ce: u64,
    app_limited: bool,
}

/// A transmission that is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTransmission {
    /// Its payload bytes.
    pub bytes: u32,
    /// True for data sent before.
    pub retransmission: bool,
    /// Bytes in flight when it was sent, with itself.
    pub tx_in_flight: u64,
    /// Bytes lost since then, with itself.
    pub lost: u64,
    /// True if the application, not the network, held the sender back then.
    pub app_limited: bool,
}

impl LostTransmission {
    /// The event of the algorithm.
    pub fn event(self, now: Instant, path: PathView) -> Loss {
        let LostTransmission { bytes, retransmission, tx_in_flight, lost, app_limited } = self;
        Loss { now, bytes, retransmission, tx_in_flight, lost, app_limited, path }
    }
}

/// The deliveries of an ACK: the part of its sample that later steps of the same ACK would change.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    interval: Duration,
    bytes: u64,
    lost: u64,
}

/// Counts deliveries, losses and delivery rates: the draft's C. It exists for algorithms that request it.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// Payload bytes known to be delivered, cumulatively or selectively.
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Payload bytes taken for lost, each transmission by itself.
    lost: u64,
    /// Payload bytes known to have come with a mark.
    delivered_ce: u64,
    /// Marked bytes that a sample has reported.
    sampled_ce: u64,
    /// Samples are limited by the application until this many bytes are delivered, or 0 if they are not.
    app_limited_until: u64,
    /// The stamps of each segment on the scoreboard.
    stamps: VecDeque<SendStamp>,
    /// The stamp of the newest segment that the present ACK delivers.
    newest: SendStamp,
    /// The deliveries of that ACK, until they are queried.
    arrived: Option<Arrived>,
    /// Losses not yet reported to the algorithm.
    unreported: VecDeque<LostTransmission>,
}

impl Delivery {
    /// Begins during a connection, with segments in flight that were sent at these times, of `bytes` in total.
    /// Earlier deliveries since then are unknown, so rate samples are too low for a round trip.
    pub fn amid(now: Instant, sent_at: impl Iterator<Item = Instant>, bytes: u64) -> Self {
        let stamp = |sent_at| SendStamp {
            delivered_at: sent_at,
            first_sent_at: sent_at,
            tx_in_flight: bytes,
            ..SendStamp::default()
        };
        Delivery { delivered_at: now, first_sent_at: now, stamps: sent_at.map(stamp).collect(), ..Delivery::default() }
    }

    /// A segment is sent for the first time. `idle` is true if no other data are in flight, and `tx_in_flight`
    /// includes it.
    pub fn on_sent(&mut self, now: Instant, idle: bool, tx_in_flight: u64) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let stamp = self.stamp(tx_in_flight);
        self.stamps.push_back(stamp);
    }

    /// The segment at `position` is sent again.
    pub fn on_sent_again(&mut self, position: usize, tx_in_flight: u64) {
        self.stamps[position] = self.stamp(tx_in_flight);
    }

    fn stamp(&self, tx_in_flight: u64) -> SendStamp {
        SendStamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            tx_in_flight,
            lost: self.lost,
            delivered_ce: self.delivered_ce,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// The segment at `position` is the newest one that the ACK at hand delivers so far.
    pub fn note_newest(&mut self, position: usize) {
        self.newest = self.stamps[position];
    }

    /// The first segment leaves the scoreboard. `is_newest` is true if it is the newest one that the present ACK
    /// delivers so far.
    #[inline(never)]
    pub fn on_acknowledged(&mut self, is_newest: bool) {
        let stamp = self.stamps.pop_front();
        if is_newest && let Some(stamp) = stamp {
            self.newest = stamp;
        }
    }

    /// The last transmission of the segment at `position`, of `bytes`, is taken for lost.
    pub fn on_lost(&mut self, position: usize, bytes: u32, retransmission: bool) {
        let stamp = self.stamps[position];
        self.lost += u64::from(bytes);
        self.unreported.push_back(LostTransmission {
            bytes,
            retransmission,
            tx_in_flight: stamp.tx_in_flight,
            lost: self.lost - stamp.lost,
            app_limited: stamp.app_limited,
        });
    }

    /// The next lost transmission that was not reported to the algorithm.
    pub fn next_unreported(&mut self) -> Option<LostTransmission> {
        self.unreported.pop_front()
    }

    /// The application has nothing more to send while `in_flight` bytes are in flight.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// `bytes` were delivered. The newest segment of them was sent at `sent_at`.
    pub fn on_delivered(&mut self, now: Instant, bytes: u64, sent_at: Instant) {
        self.delivered += bytes;
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let stamp = self.newest;
        let send = sent_at.since(stamp.first_sent_at);
        let ack = now.since(stamp.delivered_at);
        self.first_sent_at = sent_at;
        let interval = send.max(ack);
        self.arrived = (!interval.is_zero()).then(|| Arrived { interval, bytes, lost: self.lost - stamp.lost });
    }

    /// `bytes` were delivered a second time, which counts in Linux (`tcp_dsack_seen`).
    #[cold]
    pub fn on_duplicate(&mut self, now: Instant, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// The ACK at hand reports `bytes` more that came with a mark: the sample that it gives.
    pub fn take_sample(&mut self, bytes: u32) -> Option<RateSample> {
        self.delivered_ce += u64::from(bytes);
        let Arrived { interval, bytes: newly_acked, lost } = self.arrived.take()?;
        let newly_ce = self.delivered_ce - self.sampled_ce;
        self.sampled_ce = self.delivered_ce;
        let SendStamp { delivered: prior_delivered, tx_in_flight, delivered_ce, app_limited, .. } = self.newest;
        let delivered = self.delivered - prior_delivered;
        Some(RateSample {
            delivered,
            interval,
            prior_delivered,
            newly_acked,
            tx_in_flight,
            lost,
            newly_ce,
            delivered_ce: (self.delivered_ce - delivered_ce).min(delivered),
            app_limited,
        })
    }
}
