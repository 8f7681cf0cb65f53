//! The response to marks, as in the branch v3 of google/bbr. The draft has none.

use super::Bbr;
use super::machine::State;
use super::sample::Sample;
use crate::cc::Ack;
use crate::cc::marked_fraction::{MarkedFraction, marked_packets};

/// Round trips of Startup with many marks that end it.
const STARTUP_FULL_MARKS_COUNT: u32 = 2;
/// Part of `inflight_longterm` that a probe adds first once marks have ended.
const REPROBE_GAIN: f64 = 0.5;

/// The marks of a flow.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// The minimum RTT was small enough once.
    is_eligible: bool,
    fraction: MarkedFraction,
    alpha: f64,
    /// Since the last round of losses began.
    in_round: bool,
    /// In the round before.
    in_last_round: bool,
    /// Since the last probe ended.
    in_cycle: bool,
    losses_in_cycle: bool,
    startup_rounds: u32,
}

impl Default for Marks {
    fn default() -> Self {
        Marks {
            is_eligible: false,
            fraction: MarkedFraction::default(),
            // A flow that starts at a busy queue responds at once.
            alpha: 1.0,
            in_round: false,
            in_last_round: false,
            in_cycle: false,
            losses_in_cycle: false,
            startup_rounds: 0,
        }
    }
}

impl Marks {
    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl Bbr {
    /// An ACK reports marks and losses.
    pub(super) fn note_marks(&mut self, ack: &Ack) {
        let Some(marks) = &mut self.marks else { return };
        marks.fraction.note(ack);
        marks.losses_in_cycle |= ack.newly_lost > 0;
        if marks.is_eligible && marked_packets(ack) > 0 {
            (marks.in_round, marks.in_cycle) = (true, true);
        }
    }

    /// A round trip ends: the moving average of the marked part.
    pub(super) fn update_ecn_alpha(&mut self) {
        let (round_start, min_rtt) = (self.model.round_start, self.model.min_rtt);
        let (parameters, state) = (&self.parameters, self.machine.state);
        let Some(marks) = self.marks.as_mut().filter(|_| round_start) else { return };
        let most = parameters.ecn_max_rtt;
        marks.is_eligible |= most.is_zero() || min_rtt <= most.as_secs_f64();
        let (delivered, marked) = marks.fraction.take();
        let ratio = marked as f64 / delivered as f64;
        marks.alpha += parameters.ecn_alpha_gain * (ratio - marks.alpha);
        let is_high = marks.is_eligible && state == State::Startup && ratio >= parameters.ecn_thresh;
        marks.startup_rounds = if is_high { marks.startup_rounds + 1 } else { 0 };
    }

    /// Too many marks end Startup.
    pub(super) fn check_startup_marks(&mut self) {
        let fills = self.marks.as_ref().is_some_and(|marks| marks.startup_rounds >= STARTUP_FULL_MARKS_COUNT);
        if fills && self.machine.state == State::Startup && !self.machine.full_bw_reached {
            self.end_startup();
        }
    }

    /// A round of losses or marks ends. Returns the bound of the flight if it had marks.
    pub(super) fn take_marks_of_round(&mut self) -> Option<f64> {
        let factor = self.parameters.ecn_factor;
        let marks = self.marks.as_mut()?;
        marks.in_last_round = std::mem::take(&mut marks.in_round);
        let kept = 1.0 - factor * marks.alpha;
        let bound = self.model.inflight_shortterm;
        let bound = if bound.is_infinite() { self.control.cwnd } else { bound };
        (marks.in_last_round && factor > 0.0).then_some(kept * bound)
    }

    /// Whether marks show that the flight was too large.
    pub(super) fn has_too_many_marks(&self, rs: &Sample) -> bool {
        let is_eligible = self.marks.as_ref().is_some_and(|marks| marks.is_eligible);
        is_eligible && rs.delivered_ce > 0 && rs.delivered_ce as f64 >= self.parameters.ecn_thresh * rs.delivered
    }

    /// A probe has ended.
    pub(super) fn begin_cycle_of_marks(&mut self) {
        if let Some(marks) = &mut self.marks {
            (marks.in_round, marks.in_last_round, marks.in_cycle, marks.losses_in_cycle) = (false, false, false, false);
        }
    }

    /// Marks have ended in a cycle without losses: the exponent of the growth in the next probe.
    pub(super) fn growth_after_marks(&self) -> Option<u32> {
        let marks = self.marks.as_ref()?;
        let have_ended = marks.in_cycle && !marks.in_round && !marks.in_last_round;
        if !have_ended || marks.losses_in_cycle || self.model.inflight_longterm.is_infinite() {
            return None;
        }
        let segments = REPROBE_GAIN * self.model.inflight_longterm / self.smss;
        Some(libm::log2(segments.max(1.0)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use crate::cc::bbr3::{Bbr, Bbr3};
    use crate::cc::{Ack, CcContext};
    use crate::units::Duration;

    fn bbr() -> Bbr {
        let mut bbr = Bbr::new(Bbr3 { ecn: true, ..Bbr3::default() }, CcContext::new(10.0));
        bbr.model.min_rtt = 0.001;
        bbr.model.round_start = true;
        bbr.update_ecn_alpha();
        bbr
    }

    fn ack(delivered: u32, marked: u32) -> Ack {
        Ack { newly_delivered: delivered, ce_count: marked, ece: marked > 0, ..Ack::of(0.0) }
    }

    #[test]
    fn a_round_trip_moves_the_estimate_by_a_sixteenth() {
        let mut bbr = bbr();
        assert_eq!(bbr.marks.as_ref().unwrap().alpha(), 15.0 / 16.0);
        bbr.note_marks(&ack(8, 4));
        bbr.update_ecn_alpha();
        assert_eq!(bbr.marks.as_ref().unwrap().alpha(), 15.0 / 16.0 - 7.0 / 256.0);
    }

    #[test]
    fn a_round_trip_with_marks_takes_a_third_of_the_estimate() {
        let mut bbr = bbr();
        assert_eq!(bbr.take_marks_of_round(), None);
        bbr.note_marks(&ack(8, 4));
        bbr.model.inflight_shortterm = 160.0;
        assert_eq!(bbr.take_marks_of_round(), Some(160.0 * (1.0 - 15.0 / 48.0)));
        assert_eq!(bbr.take_marks_of_round(), None, "the marks are taken");
    }

    #[test]
    fn two_round_trips_of_many_marks_end_startup() {
        let mut bbr = bbr();
        for ended in [false, true] {
            bbr.note_marks(&ack(8, 4));
            bbr.update_ecn_alpha();
            bbr.check_startup_marks();
            assert_eq!(bbr.machine.full_bw_reached, ended);
        }
    }

    #[test]
    fn the_next_probe_follows_when_marks_have_ended() {
        let mut bbr = bbr();
        bbr.model.inflight_longterm = 64.0 * 1460.0;
        bbr.note_marks(&ack(8, 1));
        assert_eq!(bbr.growth_after_marks(), None);
        bbr.take_marks_of_round();
        assert_eq!(bbr.growth_after_marks(), None);
        bbr.take_marks_of_round();
        // 2^5 segments, half of 64.
        assert_eq!(bbr.growth_after_marks(), Some(5));
        bbr.note_marks(&Ack { newly_lost: 1, ..ack(8, 0) });
        assert_eq!(bbr.growth_after_marks(), None);
    }

    #[test]
    fn marks_of_long_paths_do_not_count() {
        let far = Bbr3 { ecn: true, ecn_max_rtt: Duration::from_millis(5), ..Bbr3::default() };
        let mut bbr = Bbr::new(far, CcContext::new(10.0));
        bbr.model.min_rtt = 0.02;
        bbr.model.round_start = true;
        bbr.update_ecn_alpha();
        bbr.note_marks(&ack(8, 4));
        assert_eq!(bbr.take_marks_of_round(), None);
    }
}
