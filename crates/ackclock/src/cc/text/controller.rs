//! A rule given as text inside TCP: the variables of clock and path, and pacing.

use super::compiled::{
    ACKED, DELIVERY_RATE, IN_FLIGHT, LIMITED, LOST, MIN_RTT, MSS, QUEUE_DELAY, RTT, SINCE_CUT, SRTT, SSTHRESH, TIME, W,
};
use super::rule::TextRule;
use super::source::EXIT_SLOW_START;
use crate::cc::{
    Ack, CcContext, Congestion, CongestionControl, CongestionKind, Departures, PathView, Recovery, Restart, Sent,
    Windowed,
};
use crate::rule::Rule;
use crate::units::{Instant, Rate};

/// The window below which growth does not lead.
const MIN_WINDOW: f64 = 1.0;
const TIMES: u64 = 1 << TIME | 1 << SINCE_CUT;
const ROUND_TRIPS: u64 = 1 << RTT | 1 << SRTT | 1 << MIN_RTT | 1 << QUEUE_DELAY;
const REST_OF_PATH: u64 = 1 << IN_FLIGHT | 1 << MSS | 1 << SSTHRESH;
const OF_AN_ACK: u64 = 1 << LOST | 1 << LIMITED | 1 << ACKED | 1 << W | 1 << DELIVERY_RATE;

/// A rule given as text with slow start, floors and timeouts as every window rule has them.
#[derive(Clone, Debug)]
pub struct TextController(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    windowed: Windowed<TextRule>,
    /// The first event.
    began: Option<Instant>,
    last_cut: Option<Instant>,
    pacing: Option<Rate>,
    /// The state before the last congestion event, for rules that support an undo.
    before_event: Option<Box<Windowed<TextRule>>>,
}

impl TextController {
    pub(super) fn new(rule: TextRule, context: CcContext) -> Self {
        let whole_window = context.whole_window && rule.compiled.pacing.is_none();
        let windowed = Windowed::new(rule, CcContext { whole_window, ..context });
        TextController(Box::new(Inner { windowed, began: None, last_cut: None, pacing: None, before_event: None }))
    }
}

impl Inner {
    /// Writes the variables of time and path that a rule can read.
    #[inline]
    fn observe(&mut self, now: Instant, path: &PathView) {
        let TextRule { compiled, registers, .. } = &mut self.windowed.rule;
        if !compiled.uses_any(TIMES | ROUND_TRIPS | REST_OF_PATH) {
            return;
        }
        let began = *self.began.get_or_insert(now);
        if compiled.uses_any(TIMES) {
            registers[TIME] = now.since(began).as_secs_f64();
            registers[SINCE_CUT] = now.since(self.last_cut.unwrap_or(began)).as_secs_f64();
        }
        if compiled.uses_any(ROUND_TRIPS) {
            registers[RTT] = path.latest_rtt.as_secs_f64();
            registers[SRTT] = path.srtt.as_secs_f64();
            registers[MIN_RTT] = path.min_rtt.as_secs_f64();
            registers[QUEUE_DELAY] = path.latest_rtt.saturating_sub(path.min_rtt).as_secs_f64();
        }
        if compiled.uses_any(REST_OF_PATH) {
            registers[IN_FLIGHT] = f64::from(path.in_flight);
            registers[MSS] = f64::from(path.mss);
            registers[SSTHRESH] = self.windowed.window.ssthresh();
        }
    }

    #[inline]
    fn observe_ack(&mut self, ack: &Ack) {
        self.observe(ack.now, &ack.path);
        let cwnd = self.windowed.window.cwnd();
        let TextRule { compiled, registers, .. } = &mut self.windowed.rule;
        if compiled.uses_any(OF_AN_ACK) {
            registers[W] = cwnd;
            registers[ACKED] = ack.acked;
            registers[LOST] = f64::from(ack.newly_lost);
            registers[LIMITED] = f64::from(ack.cwnd_limited);
            if let Some(rate) = ack.rate.and_then(|sample| sample.rate()) {
                registers[DELIVERY_RATE] = rate.as_bps() as f64;
            }
        }
    }

    /// Ends slow start where the rule's condition for it is true.
    #[inline]
    fn may_exit_slow_start(&mut self) {
        if self.windowed.rule.compiled.exit_slow_start.is_some()
            && self.windowed.window.cwnd() < self.windowed.window.ssthresh()
        {
            self.windowed.rule.registers[W] = self.windowed.window.cwnd();
            let is_over = self.windowed.rule.value(EXIT_SLOW_START, |rule| rule.exit_slow_start.as_ref());
            if is_over.is_some_and(|truth| truth != 0.0) {
                self.windowed.exit_slow_start();
            }
        }
    }

    /// The rate of a rule that paces, once a round-trip time is known.
    #[inline]
    fn pace(&mut self, path: &PathView) {
        if self.windowed.rule.compiled.pacing.is_some() && !path.latest_rtt.is_zero() {
            let cwnd = self.windowed.window.cwnd();
            self.pacing = self.windowed.rule.pacing(cwnd).and_then(|rate| Rate::from_bps(rate as u64));
        }
    }
}

impl CongestionControl for TextController {
    #[inline]
    fn cwnd(&self) -> f64 {
        if self.0.windowed.rule.fault.is_some() { f64::NAN } else { self.0.windowed.window.cwnd() }
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.0.windowed.ssthresh()
    }

    fn fault(&self) -> Option<&str> {
        self.0.windowed.rule.fault()
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.0.windowed.pacing_rate().or(self.0.pacing)
    }

    fn congestion_may_raise(&self) -> bool {
        self.0.windowed.congestion_may_raise()
    }

    fn responds_to_ecn(&self) -> bool {
        self.0.windowed.responds_to_ecn()
    }

    fn departures(&self) -> Departures {
        let is_deaf = self.0.windowed.rule.compiled.on_send.is_empty();
        if is_deaf { Departures::None } else { Departures::All }
    }

    fn needs_rate_samples(&self) -> bool {
        self.0.windowed.rule.compiled.uses_any(1 << DELIVERY_RATE)
    }

    fn on_sent(&mut self, sent: &Sent) {
        if self.departures() == Departures::All {
            self.0.observe(sent.now, &sent.path);
            let cwnd = self.0.windowed.window.cwnd();
            let rule = &mut self.0.windowed.rule;
            rule.registers[W] = cwnd;
            rule.assign("on_send", |rule| &rule.on_send);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        let inner = &mut *self.0;
        inner.observe_ack(ack);
        inner.windowed.on_ack(ack);
        inner.may_exit_slow_start();
        if inner.windowed.window.cwnd() < MIN_WINDOW {
            inner.windowed.window.avoid(MIN_WINDOW);
        }
        inner.pace(&ack.path);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let inner = &mut *self.0;
        inner.observe(congestion.now, &congestion.path);
        if inner.windowed.rule.compiled.on_undo.is_some() {
            // What was cut in this window of data is not cut again.
            if congestion.restart != Restart::SlowStartAgain {
                inner.before_event = (congestion.kind != CongestionKind::Ecn).then(|| Box::new(inner.windowed.clone()));
            }
        }
        inner.windowed.on_congestion(congestion);
        if !inner.windowed.window.may_undo() {
            inner.before_event = None;
        }
        if inner.windowed.rule.compiled.uses_any(TIMES) {
            inner.last_cut = Some(congestion.now);
        }
        inner.pace(&congestion.path);
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.0.observe(recovery.now, &recovery.path);
        self.0.windowed.on_recovery_exit(recovery);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        self.0.windowed.probe(report);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        let inner = &mut *self.0;
        if inner.windowed.rule.compiled.on_undo.is_none() {
            return inner.windowed.on_undo(recovery);
        }
        let Some(before) = inner.before_event.take() else { return };
        // RFC 9438 §4.9.2 restores the values "if the current cwnd is lower than cwnd_prior". A window of one is not, and has lost its
        // ssthresh all the same.
        if inner.windowed.window.cwnd() >= before.window.cwnd() {
            inner.windowed.window.raise_ssthresh(before.window.ssthresh());
        } else {
            inner.windowed = *before;
            inner.observe(recovery.now, &recovery.path);
            let TextRule { registers, .. } = &mut inner.windowed.rule;
            registers[W] = inner.windowed.window.cwnd();
            inner.windowed.rule.assign("on_undo", |rule| rule.on_undo.as_ref().unwrap_or(&rule.on_send));
        }
    }

    fn on_limit(&mut self, segments: f64) {
        let Inner { windowed, .. } = &mut *self.0;
        windowed.on_limit(segments);
        windowed.rule.registers[W] = windowed.window.cwnd();
    }

    fn on_resume(&mut self, now: Instant) {
        let Inner { windowed, .. } = &mut *self.0;
        let before = windowed.window.cwnd();
        windowed.on_resume(now);
        let left = windowed.window.cwnd();
        if left < before {
            windowed.rule.registers[W] = left;
            windowed.rule.assign("on_resume", |rule| &rule.on_resume);
        }
    }
}
