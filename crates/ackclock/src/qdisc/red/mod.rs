//! RED: early drops, or marks, with a probability that rises with the average queue.
//!
//! Reference: Floyd & Jacobson 1993, Random Early Detection Gateways for Congestion Avoidance. The gentle mode
//! follows Floyd 2000, and the adaptive mode Floyd, Gummadi & Shenker 2001. Details follow ns-2 2.35
//! (`queue/red.cc`), or Linux (`include/net/red.h`) where a parameter selects it. RFC 7567 §4.3 leaves the choice of
//! parameters open.
//!
//! ```text
//! at each arrival      avg <- (1 - w) avg + w q              q: the backlog, without the packet in transmission
//! after idle time t    avg <- (1 - w)^floor(t r) avg before  r: packets of mean size that a second could carry
//! min <= avg < max     p_b = max_p (avg - min) / (max - min)
//! gentle, avg < 2 max  p_b = max_p + (1 - max_p) (avg - max) / max
//! beyond               p_b = 1: a forced drop, or a mark if the queue is set to mark
//! then                 p_a from p_b and the packets since the last drop, so that gaps are uniform
//! ```
//!
//! Deviations: none from the papers. From ns-2: the adaptive mode moves the gentle slope with `max_p`. The bytes
//! since the last drop are divided by the mean size without rounding. From Linux: averages are not fixed-point
//! numbers, and idle time decays by the exponential that Linux tabulates.

mod keys;

pub use keys::{Preset, RedKeys};

use super::contract::{Verdict, all_queued_in, with_prefix};
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The parameters of RED, resolved.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RedParameters {
    /// The unit of the queue length.
    pub mode: RedMode,
    /// Average from which packets are dropped, in the unit of the mode.
    pub min: f64,
    /// The average at which the probability is `max_p`, in the unit of the mode. It is not below `min`.
    pub max: f64,
    /// Probability at `max`, above 0 and at most 1.
    pub max_p: f64,
    /// Share of the newest arrival in the average, above 0 and at most 1.
    pub weight: f64,
    /// Whether the probability rises from `max_p` to 1 between `max` and twice that, and not at once.
    pub gentle: bool,
    /// Bytes of a packet of mean size.
    pub mean_packet: u32,
    /// Packets of mean size that the link carries in a second, to convert idle time.
    pub packets_per_second: f64,
    /// Whether a large packet is dropped more often than a small one.
    pub drop_by_size: bool,
    /// How the gaps between drops are drawn.
    pub gaps: Gaps,
    /// Whether no packet is dropped early that finds at most one unit waiting, as in ns-2.
    pub spares_short: bool,
    /// Lower bound of `max_p` in adaptive mode. None if it is fixed.
    pub adaptive: Option<f64>,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Early drops with a probability p_b of at least this stay drops.
    pub mark_below: f64,
    /// Whether forced drops stay drops.
    pub hard_drop: bool,
}

/// The unit in which RED measures a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedMode {
    /// Packets of any size.
    #[default]
    Packets,
    /// Bytes.
    Bytes,
}

/// The distribution of the gaps between drops. With a constant p_b, each makes them uniform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
    /// A random number per packet. Gaps are 1 to 1/p - 1 packets (Floyd & Jacobson 1993, figure 2).
    Plain,
    /// A random number per packet. Gaps are 1/p to 2/p packets (ns-2's `wait_`).
    #[default]
    Wait,
    /// A random number per drop. Gaps are 1 to 1/p packets (Linux).
    Once,
}

/// Floyd, Gummadi & Shenker 2001, section 4: how often `max_p` adapts, and its bounds.
const INTERVAL: Duration = Duration::from_millis(500);
const TOP: f64 = 0.5;
/// The largest increase, and the part that remains after a decrease.
const ALPHA: f64 = 0.01;
const BETA: f64 = 0.9;
/// The target is the part of min .. max between this and its mirror image.
const TARGET: f64 = 0.4;

/// A FIFO with a limit that drops early.
#[derive(Clone, Debug)]
pub struct Red<T> {
    fifo: DropTail<T>,
    detector: Detector,
}

/// The average queue, and its decisions.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    parameters: RedParameters,
    average: f64,
    /// The current `max_p`.
    max_p: f64,
    /// p_b from `min` to `max`, and from there on.
    ramps: [Ramp; 2],
    adapted_at: Instant,
    /// The arrivals since the last drop, or since the average rose above `min`. None below it.
    since: Option<Since>,
    stream: Rng,
}

/// p_b as a line over the average.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    slope: f64,
    offset: f64,
}

impl Ramp {
    /// The line through (x, y) and (x + run, y + rise).
    fn new((x, y): (f64, f64), run: f64, rise: f64) -> Self {
        let slope = rise / run;
        Ramp { slope, offset: y - slope * x }
    }
}

#[derive(Clone, Copy, Debug)]
struct Since {
    /// Packets, or packets of mean size where the size matters.
    count: f64,
    /// In [0, 1): the share of the gap, where it is drawn once.
    drawn: f64,
}

impl<T: Queued> Red<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: RedParameters, stream: Rng) -> Self {
        Red { fifo: DropTail::new(limit), detector: Detector::new(parameters, stream) }
    }

    /// The average queue, in the unit of the mode.
    pub fn average(&self) -> f64 {
        self.detector.average
    }

    /// The decision about an item that arrives now.
    #[inline]
    fn judge(&mut self, now: Instant, item: &T) -> Verdict {
        // Signed: processors turn those into floating point in one step.
        let backlog = match self.detector.parameters.mode {
            RedMode::Packets => i64::from(self.fifo.backlog_packets()),
            RedMode::Bytes => self.fifo.backlog_bytes() as i64,
        } as f64;
        match self.detector.signal(now, backlog, item) {
            Some((_, true)) | None if !self.fifo.fits(item) => Verdict::Dropped(Reason::Full),
            Some((reason, true)) => Verdict::Marked(reason),
            Some((reason, false)) => Verdict::Dropped(reason),
            None => Verdict::Queued,
        }
    }
}

impl Detector {
    /// The state of an empty queue.
    pub(super) fn new(parameters: RedParameters, stream: Rng) -> Self {
        Detector {
            max_p: parameters.max_p,
            ramps: ramps(&parameters, parameters.max_p),
            parameters,
            average: 0.0,
            adapted_at: Instant::ZERO,
            since: None,
            stream,
        }
    }

    /// Shows its state under names with a prefix. The average is in the unit of the mode.
    pub(super) fn show(&self, prefix: &str, see: &mut dyn FnMut(&str, f64)) {
        let mut see = with_prefix(prefix, see);
        let average = match self.parameters.mode {
            RedMode::Packets => "average_packets",
            RedMode::Bytes => "average_bytes",
        };
        see(average, self.average);
        see("max_p", self.max_p);
        see("probability", if self.average < self.parameters.min { 0.0 } else { self.probability().min(1.0) });
    }

    /// An arrival finds this backlog, in the unit of the mode.
    #[inline]
    pub(super) fn observe(&mut self, backlog: f64) {
        let weight = self.parameters.weight;
        self.average = self.average * (1.0 - weight) + weight * backlog;
    }

    /// An item finds this backlog: why it is chosen, if it is, and whether it is to be marked.
    #[inline]
    pub(super) fn signal(&mut self, now: Instant, backlog: f64, item: &impl Queued) -> Option<(Reason, bool)> {
        if self.is_above(now, backlog) { self.early(item) } else { None }
    }

    /// An arrival finds this backlog: whether it may be chosen.
    #[inline]
    pub(super) fn is_above(&mut self, now: Instant, backlog: f64) -> bool {
        self.observe(backlog);
        if self.parameters.adaptive.is_some() {
            self.adapt(now);
        }
        let is_above = self.average >= self.parameters.min && !(self.parameters.spares_short && backlog <= 1.0);
        if !is_above {
            self.since = None;
        }
        is_above
    }

    /// The reason to choose an item above `min`, and whether to mark it.
    #[inline]
    pub(super) fn early(&mut self, item: &impl Queued) -> Option<(Reason, bool)> {
        let probability = self.probability();
        if probability >= 1.0 {
            self.since = Some(Since { count: 0.0, drawn: self.draw_once() });
            return Some((Reason::Forced, self.marks(item) && !self.parameters.hard_drop));
        }
        let by_size = self.parameters.drop_by_size;
        let size = if by_size { f64::from(item.wire_len()) / f64::from(self.parameters.mean_packet) } else { 1.0 };
        let Some(since) = &mut self.since else {
            // The average has just risen above `min`: counting begins.
            self.since = Some(Since { count: size, drawn: self.draw_once() });
            return None;
        };
        since.count += size;
        let expected = probability * since.count;
        let chosen = match self.parameters.gaps {
            // The number was drawn when the gap began.
            Gaps::Once => expected >= since.drawn,
            // Floyd & Jacobson 1993, section 7: p_a <- p_b / (1 - count p_b).
            Gaps::Plain => expected >= 1.0 || self.stream.next_f64() * (1.0 - expected) < probability * size,
            // Nothing for 1/p packets, then uniform over as many.
            Gaps::Wait if expected < 1.0 => false,
            Gaps::Wait => expected >= 2.0 || self.stream.next_f64() * (2.0 - expected) < probability * size,
        };
        if !chosen {
            return None;
        }
        self.since = Some(Since { count: 0.0, drawn: self.draw_once() });
        Some((Reason::Early, self.marks(item) && probability < self.parameters.mark_below))
    }

    /// Whether the item could be marked instead of dropped.
    fn marks(&self, item: &impl Queued) -> bool {
        self.parameters.ecn && item.ecn().is_capable()
    }

    /// The number for a gap that is drawn once.
    fn draw_once(&mut self) -> f64 {
        if self.parameters.gaps == Gaps::Once { self.stream.next_f64() } else { 0.0 }
    }

    /// p_b, for an average of at least `min`.
    #[inline]
    fn probability(&self) -> f64 {
        let Ramp { slope, offset } = self.ramps[usize::from(self.average >= self.parameters.max)];
        (slope * self.average + offset).min(1.0)
    }

    /// The packets that could have been sent in the idle time from `since` to `now`.
    #[inline]
    pub(super) fn decay(&mut self, idle: Duration) {
        let packets = idle.as_secs_f64() * self.parameters.packets_per_second;
        if packets >= 1.0 && self.average > 0.0 {
            self.average *= power(1.0 - self.parameters.weight, packets as i64);
        }
    }

    /// Floyd, Gummadi & Shenker 2001, figure 1.
    fn adapt(&mut self, now: Instant) {
        let Some(bottom) = self.parameters.adaptive else { return };
        if now <= self.adapted_at + INTERVAL {
            return;
        }
        let RedParameters { min, max, .. } = self.parameters;
        let part = TARGET * (max - min);
        if self.average > max - part && self.max_p < TOP {
            self.max_p += ALPHA.min(self.max_p / 4.0);
        } else if self.average < min + part && self.max_p > bottom {
            self.max_p *= BETA;
        } else {
            return;
        }
        self.adapted_at = now;
        self.ramps = ramps(&self.parameters, self.max_p);
    }
}

/// `base` to the power of `exponent`, by squares.
#[inline]
fn power(mut base: f64, mut exponent: i64) -> f64 {
    let mut power = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    power
}

/// p_b with this `max_p`: from `min` to `max`, and from there to twice `max`, where it is 1.
fn ramps(parameters: &RedParameters, max_p: f64) -> [Ramp; 2] {
    let RedParameters { min, max, gentle, .. } = *parameters;
    let beyond = if gentle { Ramp::new((max, max_p), max, 1.0 - max_p) } else { Ramp { slope: 0.0, offset: 1.0 } };
    [Ramp::new((min, 0.0), max - min, max_p), beyond]
}

impl<T: Queued> Qdisc<T> for Red<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(item) = self.judge(now, &item).carry_out(now, item, sink) {
            self.fifo.push(now, item);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.fifo.pop()
    }

    fn bypass(&mut self, now: Instant, idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        self.detector.decay(idle);
        self.judge(now, &item).carry_out(now, item, sink)
    }

    fn idled(&mut self, idle: Duration) {
        self.detector.decay(idle);
    }

    all_queued_in!(fifo);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.detector.show("", see);
    }
}

#[cfg(test)]
mod tests;
