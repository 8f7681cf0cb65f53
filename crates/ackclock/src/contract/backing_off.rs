//! Whether an algorithm backs off. A congestion event reduces the window, and a full queue does not lose most of the
//! sent data.

use std::sync::Arc;

use super::journal::{Answer, Event};
use super::network;
use crate::cc::{Ack, Algorithm, CaState, Congestion, CongestionControl, CongestionKind, PathView, Restart};
use crate::sim;
use crate::units::{Duration, Instant};

/// ACKs before the congestion event, in slow start.
const GROWTHS: [usize; 3] = [0, 20, 90];
/// A window of two segments or less need not shrink (RFC 5681, equation 4).
const SMALL: f64 = 2.0;
const MIN_RTT: Duration = Duration::from_millis(20);
/// The permitted loss of two flows behind a queue of two bandwidth-delay products, as a share of the sent segments.
/// The built-in algorithms lose 0.1 to 6 %. A window that grows by the acknowledged data and does not shrink loses 45
/// %.
const LOST_MOST: f64 = 0.25;

/// Connections that meet their first congestion in slow start, in a full queue.
pub(super) fn scripts() -> impl Iterator<Item = Vec<Event>> {
    let of = |kind| GROWTHS.into_iter().map(move |acks| script(acks, kind));
    of(CongestionKind::Loss).chain(of(CongestionKind::Timeout))
}

/// True if the first congestion event of a connection leaves as much as there was, or more.
///
/// Code that paces reduces its rate, and code that owns recovery reduces its window from ACK to ACK. Both are judged
/// only by their losses in a network.
pub(super) fn keeps_its_window(cc: &mut dyn CongestionControl, events: &[Event]) -> bool {
    let is_signal = |event: &Event| matches!(event, Event::Congestion(congestion) if matches!(congestion.kind, CongestionKind::Loss | CongestionKind::Timeout));
    let Some(at) = events.iter().position(is_signal) else { return false };
    events[..at].iter().for_each(|event| event.tell(cc));
    let before = Answer::of(cc);
    events[at].tell(cc);
    let after = Answer::of(cc);
    let is_free = after.pacing_rate.is_some() || cc.owns_recovery();
    before.cwnd > SMALL && after.cwnd >= before.cwnd && !is_free
}

/// The share of segments that two flows of an algorithm lose in a small congested network, if too high.
pub(super) fn lost_too_much(algorithm: Arc<Algorithm>) -> Option<f64> {
    let result = sim::run(&network::crowded(&algorithm), &Default::default()).ok()?;
    result.summary.loss_rate.filter(|lost| *lost > LOST_MOST)
}

fn script(acks: usize, kind: CongestionKind) -> Vec<Event> {
    let mut now = Instant::ZERO;
    let path = |in_flight: usize| PathView {
        in_flight: in_flight as u32,
        in_flight_bytes: in_flight as u64 * 1460,
        mss: 1460,
        srtt: MIN_RTT * 3,
        latest_rtt: MIN_RTT * 3,
        min_rtt: MIN_RTT,
    };
    let mut events = Vec::with_capacity(acks + 1);
    for number in 0..acks {
        now += MIN_RTT / 10;
        let path = path(10 + number);
        events.push(Event::Ack(Ack {
            now,
            acked: 1.0,
            newly_delivered: 1,
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
        }));
    }
    now += MIN_RTT;
    let restart = if kind == CongestionKind::Timeout { Restart::SlowStart } else { Restart::Reduced };
    let flight_size = 10 + acks as u32;
    events.push(Event::Congestion(Congestion { now, kind, restart, flight_size, path: path(10 + acks) }));
    events
}
