//! Round trips and their delays, for algorithms that decide once per round trip.

use super::{Ack, CaState, Congestion, CongestionKind, Sent};
use crate::units::Duration;

/// A round trip in segments. It ends with the delivery of a segment that left after its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    /// Segments to be delivered until the end.
    left: u32,
}

impl RoundTrip {
    /// Begins a round trip with this number of segments in flight.
    pub(super) fn begin(&mut self, in_flight: u32) {
        self.left = in_flight.saturating_add(1);
    }

    /// Counts the segments of an ACK. Returns true if the round trip is over.
    pub(super) fn advance(&mut self, ack: &Ack) -> bool {
        self.pass(ack.newly_delivered)
    }

    /// Counts segments that have left the path. Returns true if the round trip is over.
    pub(super) fn pass(&mut self, segments: u32) -> bool {
        self.left = self.left.saturating_sub(segments);
        self.left == 0
    }
}

/// The RTT sample of an ACK, in microseconds. An ACK without new data has none.
pub(super) fn sample_us(ack: &Ack) -> Option<f64> {
    let has_sample = ack.newly_delivered > 0 && !ack.path.latest_rtt.is_zero();
    has_sample.then(|| in_us(ack.path.latest_rtt))
}

/// A time in microseconds.
pub(super) fn in_us(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// Finds delayed ACKs, whose RTT samples contain the receiver's timer.
///
/// A receiver that acknowledged several segments at once delays the ACK of a single segment. See D. A. Hayes, Timing
/// Enhancements to the FreeBSD Kernel to Support Delay and Rate Based TCP Mechanisms, 2010.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayedAcks {
    /// ACKs of several segments, without the delayed ACKs since then.
    seen: u32,
}

impl DelayedAcks {
    /// Counts an ACK without SACK blocks. Returns true if it was probably delayed.
    pub(super) fn is_delayed(&mut self, ack: &Ack) -> bool {
        /// More ACKs of several segments count no further.
        const MOST: u32 = 5;
        if ack.newly_delivered > 1 {
            self.seen = (self.seen + 1).min(MOST);
        }
        let is_delayed = ack.newly_delivered == 1 && self.seen > 0;
        self.seen -= u32::from(is_delayed);
        is_delayed
    }
}

/// The delays of a round trip without losses, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delays {
    /// The smallest RTT since the last idle time.
    pub(super) base: f64,
    /// The smallest RTT of the round trip.
    pub(super) least: f64,
    /// The mean RTT of the round trip.
    pub(super) mean: f64,
    /// RTT samples of the round trip.
    pub(super) samples: u32,
}

/// The delays of each round trip, as Vegas measures them. Measurement pauses while losses or marks are handled.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayMeter {
    base: f64,
    least: f64,
    sum: f64,
    samples: u32,
    trip: RoundTrip,
    state: CaState,
    is_paused: bool,
}

impl Default for DelayMeter {
    fn default() -> Self {
        let trip = RoundTrip::default();
        let state = CaState::Open;
        DelayMeter { base: f64::INFINITY, least: f64::INFINITY, sum: 0.0, samples: 0, trip, state, is_paused: false }
    }
}

impl DelayMeter {
    /// The smallest RTT since the last idle time, in microseconds. It is infinite before the first sample.
    pub(super) fn base_us(&self) -> f64 {
        self.base
    }

    /// True while losses or marks are handled.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Everything is measured again after an idle time.
    pub(super) fn on_sent(&mut self, sent: &Sent) {
        if sent.follows_idle() {
            *self = DelayMeter { state: self.state, ..DelayMeter::default() };
        }
    }

    /// Measurement pauses.
    pub(super) fn on_congestion(&mut self, congestion: &Congestion) {
        self.is_paused = true;
        self.state = match congestion.kind {
            CongestionKind::Loss => CaState::Recovery,
            CongestionKind::Ecn => CaState::Cwr,
            CongestionKind::Timeout => CaState::Loss,
        };
    }

    /// Measures an ACK. Returns the delays of the round trip that it ends.
    pub(super) fn observe(&mut self, ack: &Ack) -> Option<Delays> {
        if let Some(rtt) = sample_us(ack) {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if ack.state != self.state {
            self.state = ack.state;
            self.is_paused = ack.state != CaState::Open;
            self.begin(ack);
            return None;
        }
        if self.is_paused || !self.trip.advance(ack) {
            return None;
        }
        let mean = self.sum / f64::from(self.samples);
        let delays = Delays { base: self.base, least: self.least, mean, samples: self.samples };
        self.begin(ack);
        Some(delays)
    }

    fn begin(&mut self, ack: &Ack) {
        self.trip.begin(ack.path.in_flight);
        (self.least, self.sum, self.samples) = (f64::INFINITY, 0.0, 0);
    }
}

/// ACKs with delays, for tests.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::cc::{CongestionControl, PathView};

    /// An ACK of one segment that measures an RTT in milliseconds, with the segments in flight behind it.
    pub(in super::super) fn ack(rtt_ms: f64, in_flight: u32) -> Ack {
        let latest_rtt = Duration::from_nanos((rtt_ms * 1e6) as u64);
        let path =
            PathView { in_flight, mss: 1460, srtt: latest_rtt, latest_rtt, min_rtt: latest_rtt, ..PathView::default() };
        Ack { path, ..Ack::of(1.0) }
    }

    /// A round trip of a whole window, all of whose ACKs measure the same RTT.
    pub(in super::super) fn round(cc: &mut impl CongestionControl, rtt_ms: f64) {
        let flight = cc.cwnd() as u32;
        (0..flight).for_each(|_| cc.on_ack(&ack(rtt_ms, flight - 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::testing::ack;
    use super::*;
    use crate::cc::{PathView, Restart};
    use crate::units::Instant;

    #[test]
    fn as_many_acks_of_single_segments_are_delayed_as_acks_of_several_came() {
        let mut acks = DelayedAcks::default();
        let mut delayed = |newly_delivered| acks.is_delayed(&Ack { newly_delivered, ..ack(50.0, 3) });
        assert!(!delayed(1));
        assert!([2, 2, 3].into_iter().all(|count| !delayed(count)));
        assert_eq!((0..5).filter(|_| delayed(1)).count(), 3);
        // Five at most.
        (0..9).for_each(|_| _ = delayed(2));
        assert_eq!((0..9).filter(|_| delayed(1)).count(), 5);
    }

    #[test]
    fn a_round_trip_ends_behind_its_flight() {
        let mut meter = DelayMeter::default();
        // The first ACK ends a round trip of its own.
        assert_eq!(meter.observe(&ack(50.0, 3)).unwrap().samples, 1);
        let ended: Vec<_> = [60.0, 40.0, 70.0, 80.0].map(|rtt| meter.observe(&ack(rtt, 3))).to_vec();
        assert_eq!(ended[..3], [None; 3]);
        assert_eq!(ended[3], Some(Delays { base: 40_000.0, least: 40_000.0, mean: 62_500.0, samples: 4 }));
        assert_eq!(meter.base_us(), 40_000.0);
    }

    #[test]
    fn measurement_pauses_during_recovery_and_forgets_the_base_after_an_idle_time() {
        let mut meter = DelayMeter::default();
        meter.observe(&ack(50.0, 0));
        let (now, path) = (Instant::ZERO, PathView::default());
        let (kind, restart) = (CongestionKind::Loss, Restart::Reduced);
        meter.on_congestion(&Congestion { now, kind, restart, flight_size: 3, path });
        assert!(meter.is_paused());
        assert_eq!(meter.observe(&Ack { state: CaState::Recovery, ..ack(60.0, 0) }), None);
        // The ACK that ends recovery begins a round trip.
        assert_eq!(meter.observe(&ack(60.0, 0)), None);
        assert_eq!(
            meter.observe(&ack(70.0, 0)),
            Some(Delays { base: 50_000.0, least: 70_000.0, mean: 70_000.0, samples: 1 })
        );
        let path = PathView { in_flight: 1, ..path };
        meter.on_sent(&Sent { now, bytes: 1460, retransmission: false, idle_for: None, path });
        assert_eq!(meter.base_us(), f64::INFINITY);
    }
}
