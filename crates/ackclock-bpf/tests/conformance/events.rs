//! Events that a congestion control is fed: ACKs with their times, losses and timeouts.

use ackclock::cc::{
    Ack, CaState, CcContext, Congestion, CongestionControl, CongestionKind, CutWindow, PathView, Restart,
    TimeoutSsthresh,
};
use ackclock::units::{Duration, Instant};
use proptest::prelude::*;

/// The largest windows of a run. Multiplicative increases would exceed any bound.
pub const LARGEST: f64 = 20_000.0;

/// An event of a window.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// ACKs of one segment each.
    Acks(u16),
    /// An ACK that counts for some segments.
    Stretch(u8),
    Loss,
    Timeout,
}

/// A list of events. An ACK follows each timeout, because a second timeout before it is not reported.
pub fn some() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (1_u16..120).prop_map(|count| vec![Event::Acks(count)]),
        2 => (3_u8..20).prop_map(|count| vec![Event::Stretch(count)]),
        3 => Just(vec![Event::Loss]),
        1 => Just(vec![Event::Timeout, Event::Acks(1)]),
    ];
    proptest::collection::vec(event, 1..30).prop_map(|events| events.concat())
}

/// Settings as in Linux: ssthresh is whole, and a timeout sets it by the rule.
pub fn context(initial_window: f64) -> CcContext {
    CcContext {
        cut_window: CutWindow::Capped { max_window: f64::INFINITY },
        timeout_ssthresh: TimeoutSsthresh::Rule,
        ..CcContext::new(initial_window)
    }
}

/// An event as algorithms receive it.
pub enum At {
    Ack(Ack),
    Congestion(Congestion),
}

impl At {
    pub fn on(&self, controller: &mut impl CongestionControl) {
        match self {
            At::Ack(ack) => controller.on_ack(ack),
            At::Congestion(congestion) => controller.on_congestion(congestion),
        }
    }
}

/// Time and round-trip times, of whole microseconds.
#[derive(Debug)]
pub struct Path {
    now: Instant,
    view: PathView,
    acks: u64,
}

impl Default for Path {
    /// At a time that is not zero, as any time of the kernel.
    fn default() -> Self {
        Path { now: Instant::ZERO + Duration::from_secs(1), view: PathView::default(), acks: 0 }
    }
}

impl Path {
    /// Tells of an event.
    pub fn happens(&mut self, event: Event, tell: &mut dyn FnMut(&At)) {
        match event {
            Event::Acks(count) => (0..count).for_each(|_| tell(&At::Ack(self.ack(1)))),
            Event::Stretch(segments) => tell(&At::Ack(self.ack(segments.into()))),
            Event::Loss => tell(&At::Congestion(self.congestion(CongestionKind::Loss))),
            Event::Timeout => tell(&At::Congestion(self.congestion(CongestionKind::Timeout))),
        }
    }

    /// A congestion event at the time of the last ACK.
    pub fn congestion(&self, kind: CongestionKind) -> Congestion {
        let restart = if kind == CongestionKind::Timeout { Restart::SlowStart } else { Restart::Reduced };
        Congestion { now: self.now, kind, restart, flight_size: 10, path: self.view }
    }

    /// The next ACK.
    pub fn ack(&mut self, segments: u32) -> Ack {
        self.now += Duration::from_micros(1_003);
        self.acks += 1;
        // Up and down, as the ACKs come.
        let rtt = Duration::from_micros(40_000 + self.acks * 7_919 % 30_011);
        let min_rtt = if self.view.min_rtt.is_zero() { rtt } else { self.view.min_rtt.min(rtt) };
        let srtt = Duration::from_micros(40_000 + self.acks % 20_000);
        let in_flight = 10 + (self.acks % 13) as u32;
        let path = PathView { in_flight, in_flight_bytes: 14_600, mss: 1460, srtt, latest_rtt: rtt, min_rtt };
        self.view = path;
        Ack {
            now: self.now,
            acked: segments.into(),
            newly_delivered: segments,
            newly_lost: 0,
            ce_count: 0,
            ece: false,
            round_ended: false,
            cwnd_limited: true,
            in_recovery: false,
            reduced_window: None,
            rate: None,
            state: CaState::Open,
            path,
        }
    }
}
