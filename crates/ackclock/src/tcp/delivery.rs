//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).

use super::scoreboard::SentSegment;
use crate::cc::RateSample;
use crate::units::Instant;

/// The state of delivery when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendStamp {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    app_limited: bool,
}

/// Counts what was delivered, and how fast.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliverySampler {
    /// Payload bytes known to be delivered, cumulatively or selectively.
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Samples are limited by the application until this many bytes are delivered; 0 where they are not.
    app_limited_until: u64,
}

impl DeliverySampler {
    /// The stamp of a segment sent now; `idle` if nothing else is in flight.
    #[inline]
    pub fn stamp(&mut self, now: Instant, idle: bool) -> SendStamp {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendStamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// The application has nothing more to send while `in_flight_bytes` are under way.
    pub fn note_app_limited(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered + in_flight_bytes).max(1);
    }

    /// `bytes` were delivered, `newest` being the segment of them that was sent last.
    #[inline]
    pub fn on_delivered(&mut self, now: Instant, bytes: u64, newest: &SentSegment) -> Option<RateSample> {
        self.delivered += bytes;
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let stamp = newest.stamp;
        let send = newest.sent_at.since(stamp.first_sent_at);
        let ack = now.since(stamp.delivered_at);
        self.first_sent_at = newest.sent_at;
        let interval = send.max(ack);
        (!interval.is_zero()).then(|| RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            app_limited: stamp.app_limited,
        })
    }
}
