//! The controller of PIE: its drop probability, and its decisions about arrivals.

use super::{PieParameters, PieVariant};
use crate::qdisc::contract::Verdict;
use crate::qdisc::ticks::Ticks;
use crate::qdisc::{Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// RFC 8033 appendix B: no early drop before the accumulated probability is this, and one for certain from here on.
const ACCUMULATED: (f64, f64) = (0.85, 8.5);
/// RFC 8033 appendix B: the largest increase of a probability that is high already.
const HIGH: f64 = 0.1;
const LARGEST_INCREASE: f64 = 0.02;
/// The probability below which a short delay prevents early drops (RFC 8033 §4.1).
const LOW: f64 = 0.2;
/// The delay from which Linux adds to the probability.
const LONG: Duration = Duration::from_millis(250);
/// Linux counts probabilities in units of 2^-56 in 64 bits.
const OVERFLOW: f64 = 256.0;

/// Constants of RFC 8034, appendix A.1.2.
mod docsis {
    use crate::units::Duration;

    pub const BURST_RESET: Duration = Duration::from_secs(1);
    pub const MIN_PACKET: f64 = 64.0;
    pub const LATENCY_LOW: Duration = Duration::from_millis(5);
    pub const LATENCY_HIGH: Duration = Duration::from_millis(200);
}

/// The state of a queue.
#[derive(Clone, Debug)]
pub(in crate::qdisc) struct Controller {
    ticks: Ticks,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    /// The drop probability. It adds up over the arrivals since the last drop.
    probability: f64,
    accumulated: f64,
    /// The current delay and that at the last update.
    delay: Duration,
    old_delay: Duration,
    /// The rest of a burst without early drops, and the last departure, which shortens it in Linux.
    burst: Duration,
    departed_at: Option<Instant>,
    activity: Activity,
    /// For how long a quiescent queue has been quiet.
    quiet: Duration,
}

/// The activity of DOCSIS-PIE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Activity {
    #[default]
    Inactive,
    Quiescent,
    Active,
}

/// RFC 8033 §4.2, and RFC 8034 appendix A.2 above 0.1: the part of an adjustment that is applied.
fn scale(probability: f64, variant: PieVariant) -> f64 {
    match probability {
        p if p < 0.000_001 => 1.0 / 2048.0,
        p if p < 0.000_01 => 1.0 / 512.0,
        p if p < 0.000_1 => 1.0 / 128.0,
        p if p < 0.001 => 1.0 / 32.0,
        p if p < 0.01 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ if variant != PieVariant::Docsis => 1.0,
        p if p < 1.0 => 2.0,
        p if p < 10.0 => 8.0,
        _ => 32.0,
    }
}

impl Controller {
    /// The state of a queue that has been empty.
    pub(in crate::qdisc) fn new(parameters: &PieParameters) -> Self {
        let burst = match parameters.variant {
            PieVariant::Docsis => Duration::ZERO,
            _ => parameters.max_burst,
        };
        let state = State { burst, ..State::default() };
        Controller { ticks: Ticks::new(parameters.t_update), state }
    }

    /// Shows its state.
    pub(in crate::qdisc) fn show(&self, parameters: &PieParameters, see: &mut dyn FnMut(&str, f64)) {
        see("target_ms", parameters.target.as_secs_f64() * 1e3);
        see("probability", self.state.probability);
        see("delay_ms", self.state.delay.as_secs_f64() * 1e3);
        see("burst_ms", self.state.burst.as_secs_f64() * 1e3);
    }

    /// The drop probability.
    #[cfg(test)]
    pub(in crate::qdisc) fn probability(&self) -> f64 {
        self.state.probability
    }

    /// Performs the updates that are due, with the backlog since the last call.
    #[inline]
    pub(in crate::qdisc) fn catch_up(&mut self, parameters: &PieParameters, now: Instant, backlog: u64) {
        while self.ticks.take(now).is_some() {
            let before = self.state;
            self.state.update(parameters, backlog);
            if self.state == before {
                // Further updates change nothing.
                self.ticks.take_all(now);
            }
        }
    }

    /// The decision about an arrival that fits. `backlog` is in bytes, and tells whether it is below a third of the limit.
    #[inline]
    pub(in crate::qdisc) fn judge(
        &mut self,
        parameters: &PieParameters,
        item: &impl Queued,
        backlog: (u64, bool),
        stream: &mut Rng,
    ) -> Verdict {
        let chosen = match parameters.variant {
            PieVariant::Rfc => self.chooses_plainly(parameters, backlog.0, stream),
            PieVariant::Linux => self.chooses_by_sum(parameters, backlog.0, stream),
            PieVariant::Docsis => self.chooses_by_size(parameters, item.wire_len(), backlog, stream),
        };
        let may_mark = parameters.ecn && item.ecn().is_capable();
        match chosen {
            false => Verdict::Queued,
            true if may_mark && parameters.marks_at(self.state.probability) => Verdict::Marked(Reason::Early),
            true => {
                self.state.accumulated = 0.0;
                Verdict::Dropped(Reason::Early)
            }
        }
    }

    /// An arrival did not fit.
    pub(in crate::qdisc) fn overflow(&mut self, parameters: &PieParameters) {
        // The basic algorithm accumulates nothing.
        if parameters.variant != PieVariant::Rfc {
            self.state.accumulated = 0.0;
        }
    }

    /// An item departs that came at `since`, and leaves this backlog.
    #[inline]
    pub(in crate::qdisc) fn depart(&mut self, parameters: &PieParameters, now: Instant, since: Instant, backlog: u64) {
        match parameters.variant {
            PieVariant::Rfc => self.state.delay = if backlog == 0 { Duration::ZERO } else { now.since(since) },
            PieVariant::Linux => {
                self.state.delay = if backlog == 0 { Duration::ZERO } else { now.since(since) };
                let passed = self.state.departed_at.map_or(Duration::ZERO, |before| now.since(before));
                self.state.burst = self.state.burst.saturating_sub(passed);
                self.state.departed_at = Some(now);
            }
            // The backlog gives the latency.
            PieVariant::Docsis => {}
        }
    }

    /// RFC 8033, appendix A.
    fn chooses_plainly(&mut self, parameters: &PieParameters, backlog: u64, stream: &mut Rng) -> bool {
        let state = &mut self.state;
        let half = parameters.target / 2;
        if state.probability == 0.0 && state.delay < half && state.old_delay < half {
            state.burst = parameters.max_burst;
        }
        if !self.state.burst.is_zero()
            || self.state.is_short(self.state.old_delay, parameters)
            || backlog <= 2 * u64::from(parameters.mean_packet)
        {
            return false;
        }
        stream.next_f64() < self.state.probability
    }

    /// Linux: as in RFC 8033, appendix B, with probabilities that add up.
    fn chooses_by_sum(&mut self, parameters: &PieParameters, backlog: u64, stream: &mut Rng) -> bool {
        let is_bursting = !self.state.burst.is_zero();
        if is_bursting
            || self.state.is_short(self.state.delay, parameters)
            || backlog < 2 * u64::from(parameters.mean_packet)
        {
            return false;
        }
        let probability = self.state.probability;
        self.state.accumulated = if probability == 0.0 { 0.0 } else { self.state.accumulated + probability };
        let chosen = self.is_due(probability, stream);
        if chosen {
            self.state.accumulated = 0.0;
        }
        chosen
    }

    /// RFC 8034, appendix A.3: large packets are dropped more often.
    fn chooses_by_size(
        &mut self,
        parameters: &PieParameters,
        len: u32,
        (backlog, is_below_third): (u64, bool),
        stream: &mut Rng,
    ) -> bool {
        if !self.state.burst.is_zero() {
            return false;
        }
        if self.state.probability == 0.0 {
            self.state.accumulated = 0.0;
        }
        if self.state.activity == Activity::Inactive {
            if is_below_third {
                return false;
            }
            self.state.activity = Activity::Quiescent;
        }
        let size = f64::from(len) / f64::from(parameters.mean_packet);
        let probability = (self.state.probability * size).min(ACCUMULATED.0);
        self.state.accumulated += probability;
        if self.state.is_short(self.state.old_delay, parameters) || backlog <= 2 * u64::from(parameters.mean_packet) {
            return false;
        }
        let chosen = self.is_due(probability, stream);
        if chosen {
            self.state.accumulated = 0.0;
            if self.state.activity == Activity::Quiescent {
                self.state.activity = Activity::Active;
                self.state.burst = parameters.max_burst;
            }
        }
        chosen
    }

    /// Whether an arrival is chosen, from its probability and the accumulated one.
    fn is_due(&mut self, probability: f64, stream: &mut Rng) -> bool {
        let (least, most) = ACCUMULATED;
        self.state.accumulated >= most || self.state.accumulated >= least && stream.next_f64() < probability
    }
}

impl State {
    /// An update, with the backlog in bytes.
    fn update(&mut self, parameters: &PieParameters, backlog: u64) {
        if parameters.variant == PieVariant::Docsis {
            self.delay = parameters.latency_of(backlog);
        }
        let old_delay = self.old_delay;
        match parameters.variant {
            PieVariant::Rfc => self.adjust_plainly(parameters),
            PieVariant::Linux => self.adjust_as_linux(parameters, backlog),
            PieVariant::Docsis => self.adjust_as_docsis(parameters),
        }
        self.old_delay = self.delay;
        if parameters.variant == PieVariant::Docsis {
            self.change_activity(parameters, old_delay);
        }
    }

    /// The scaled adjustment of the probability (RFC 8033 §4.2).
    fn adjustment(&self, parameters: &PieParameters) -> f64 {
        let above = |delay: Duration, other: Duration| delay.as_secs_f64() - other.as_secs_f64();
        let error = above(self.delay, parameters.target);
        let trend = above(self.delay, self.old_delay);
        (parameters.alpha * error + parameters.beta * trend) * scale(self.probability, parameters.variant)
    }

    /// The adjustment with the bound of RFC 8033, appendix B.
    fn bounded_adjustment(&self, parameters: &PieParameters) -> f64 {
        let adjustment = self.adjustment(parameters);
        if self.probability >= HIGH { adjustment.min(LARGEST_INCREASE) } else { adjustment }
    }

    fn adjust_plainly(&mut self, parameters: &PieParameters) {
        self.probability += self.adjustment(parameters);
        if self.delay.is_zero() && self.old_delay.is_zero() {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(parameters.t_update);
    }

    /// The probability has no upper bound below [`OVERFLOW`], so it winds up in a long overload.
    fn adjust_as_linux(&mut self, parameters: &PieParameters, backlog: u64) {
        let more = if self.delay > LONG { LARGEST_INCREASE } else { 0.0 };
        let adjusted = (self.probability + self.bounded_adjustment(parameters) + more).max(0.0);
        self.probability = if adjusted < OVERFLOW { adjusted } else { 1.0 };
        if self.delay.is_zero() && self.old_delay.is_zero() && backlog == 0 {
            self.probability -= self.probability / 64.0;
        }
        let half = parameters.target / 2;
        if self.probability == 0.0 && self.delay < half && self.old_delay < half {
            (self.burst, self.accumulated, self.departed_at) = (parameters.max_burst, 0.0, None);
        }
    }

    fn adjust_as_docsis(&mut self, parameters: &PieParameters) {
        if !self.burst.is_zero() {
            self.probability = 0.0;
            self.burst = self.burst.saturating_sub(parameters.t_update);
            return;
        }
        self.probability += self.bounded_adjustment(parameters);
        if self.delay < docsis::LATENCY_LOW && self.old_delay < docsis::LATENCY_LOW {
            self.probability *= 0.98;
        } else if self.delay > docsis::LATENCY_HIGH {
            self.probability += LARGEST_INCREASE;
        }
        let most = ACCUMULATED.0 * f64::from(parameters.mean_packet) / docsis::MIN_PACKET;
        self.probability = self.probability.clamp(0.0, most);
    }

    /// RFC 8034, appendix A.2: the end of an update.
    fn change_activity(&mut self, parameters: &PieParameters, old_delay: Duration) {
        let half = parameters.target / 2;
        let is_quiet = self.delay < half && old_delay < half && self.probability == 0.0 && self.burst.is_zero();
        match self.activity {
            Activity::Active if is_quiet => {
                self.activity = Activity::Quiescent;
                self.quiet = Duration::ZERO;
            }
            Activity::Quiescent => {
                self.quiet = if is_quiet { self.quiet + parameters.t_update } else { Duration::ZERO };
                if self.quiet > docsis::BURST_RESET {
                    self.quiet = Duration::ZERO;
                    self.activity = Activity::Inactive;
                }
            }
            _ => {}
        }
    }

    /// Whether a delay prevents early drops (RFC 8033 §4.1).
    fn is_short(&self, delay: Duration, parameters: &PieParameters) -> bool {
        delay < parameters.target / 2 && self.probability < LOW
    }
}
