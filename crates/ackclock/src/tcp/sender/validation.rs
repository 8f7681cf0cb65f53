//! Whether the congestion window was recently used. An unused window is not an estimate of the path.
//!
//! Reference: RFC 7661 §4, whose names are used.
//!
//! Deviations: a sample covers a round, from the first ACK of one to the first ACK of the next. The unfinished sample
//! counts with its present value. A mark is answered like a loss, without the term R. Only `max_burst` and `pacing`
//! limit bursts (§4.4.2: SHOULD).

use std::collections::VecDeque;

use super::Sender;
use crate::units::{Duration, Instant};

/// §4.4: "The NVP SHOULD NOT exceed five minutes."
const NVP: Duration = Duration::from_secs(300);
/// §4.2: "the pipeACK Sampling Period as Max(3*RTT, 1 second)".
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);

/// The state of the window's use.
#[derive(Clone, Debug, Default)]
pub(super) struct Validation {
    /// Samples of the period, in segments, the largest in front: each is followed by smaller ones that are newer.
    samples: VecDeque<(Instant, f64)>,
    /// The acknowledged data at the beginning of the present sample, and its last ACK.
    current: Option<(u64, Instant)>,
    /// pipeACK is not undefined.
    is_defined: bool,
    /// Since when the phase is not validated.
    since: Option<Instant>,
    /// A recovery that began in that phase.
    loss: Option<Overuse>,
}

/// A loss in the non-validated phase.
#[derive(Clone, Copy, Debug)]
struct Overuse {
    /// Max(pipeACK, LossFlightSize), in segments.
    used: f64,
    /// R: segments sent again in the recovery, each counted once.
    retransmitted: u32,
}

impl Validation {
    /// `acked` bytes are acknowledged, by the first ACK of a round or another one.
    fn on_ack(&mut self, now: Instant, acked: u64, mss: f64, round_ended: bool) {
        match &mut self.current {
            Some((_, last)) if !round_ended => *last = now,
            Some((from, last)) => {
                let sample = (acked - *from) as f64 / mss;
                (*from, *last) = (acked, now);
                self.is_defined = true;
                while self.samples.back().is_some_and(|(_, smaller)| *smaller <= sample) {
                    self.samples.pop_back();
                }
                self.samples.push_back((now, sample));
            }
            None if round_ended => self.current = Some((acked, now)),
            None => {}
        }
    }

    /// pipeACK in segments, or none if it is undefined.
    fn pipe_ack(&mut self, now: Instant, period: Duration, acked: u64, mss: f64) -> Option<f64> {
        if !self.is_defined {
            return None;
        }
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.samples.pop_front();
        }
        let whole = self.samples.front().map_or(0.0, |(_, sample)| *sample);
        let running = self.current.filter(|(_, last)| now.since(*last) <= period);
        Some(whole.max(running.map_or(0.0, |(from, _)| (acked - from) as f64 / mss)))
    }

    /// The time at which pipeACK fell below `half` of the window, if it has by now. Its last value is still among the
    /// samples.
    fn fell_below(&self, now: Instant, period: Duration, half: f64) -> Instant {
        let large = self.samples.iter().rev().find(|(_, sample)| *sample >= half);
        large.map_or(now, |(at, _)| (*at + period).min(now))
    }

    /// Loss recovery is over, or a timeout begins: pipeACK is undefined.
    fn forget(&mut self) {
        *self = Validation::default();
    }

    /// A segment leaves for the second time.
    pub(super) fn on_retransmission(&mut self) {
        self.loss.iter_mut().for_each(|loss| loss.retransmitted += 1);
    }
}

impl Sender {
    /// True where the window may not grow unless all of it is used.
    pub(super) fn is_unvalidated(&self) -> bool {
        self.validation.as_ref().is_some_and(|validation| validation.since.is_some())
    }

    /// An ACK of any kind has arrived. Updates the phase.
    #[inline]
    pub(super) fn sample_use(&mut self, now: Instant, is_new: bool, round_ended: bool) {
        // §4.2: "The pipeACK variable MUST NOT be updated during TCP Fast Recovery."
        if self.validation.is_some() && is_new && !self.state.is_fast_recovery() {
            self.sample(now, round_ended);
        }
    }

    #[cold]
    fn sample(&mut self, now: Instant, round_ended: bool) {
        let mss = f64::from(self.transport.mss);
        if let Some(validation) = &mut self.validation {
            validation.on_ack(now, self.snd_una, mss, round_ended);
        }
        self.validate(now);
    }

    /// Updates the phase at `now`, and the window at the end of the non-validated period.
    pub(super) fn validate(&mut self, now: Instant) {
        let (half, mss) = (self.cc.cwnd() / 2.0, f64::from(self.transport.mss));
        let period = (self.rtt.srtt() * 3).max(SHORTEST_PERIOD);
        let Some(validation) = &mut self.validation else { return };
        let fell = validation.fell_below(now, period, half);
        let pipe_ack = validation.pipe_ack(now, period, self.snd_una, mss);
        // §4.3: "Validated phase: pipeACK >=(1/2)*cwnd, or pipeACK is undefined".
        let since = validation.since;
        let is_validated = pipe_ack.is_none_or(|pipe_ack| pipe_ack >= half);
        validation.since = if is_validated { None } else { Some(since.unwrap_or(fell)) };
        // §4.5.2: "take into account how many units of the NVP have passed and make one reduction (defined in Section 4.4.3) for
        // each NVP."
        let Some(mut begun) = since.or(validation.since) else { return };
        let mut reductions = 0;
        while now.since(begun) > NVP {
            begun += NVP;
            reductions += 1;
        }
        if reductions > 0 {
            validation.since = validation.since.map(|_| begun);
            // 64 halvings reduce any window to the initial one.
            (0..reductions.min(64)).for_each(|_| self.cc.on_resume(now));
        }
    }

    /// Responds to congestion. A loss begins a recovery. §4.4.1: "cwnd = (Max(pipeACK,LossFlightSize))/2".
    pub(super) fn respond_unvalidated(&mut self, now: Instant, begins_recovery: bool) {
        let (mss, period) = (f64::from(self.transport.mss), (self.rtt.srtt() * 3).max(SHORTEST_PERIOD));
        let flight = f64::from(self.board.outstanding());
        let Some(validation) = &mut self.validation else { return };
        if validation.since.is_none() {
            return;
        }
        let used = validation.pipe_ack(now, period, self.snd_una, mss).unwrap_or(0.0).max(flight);
        validation.forget();
        if begins_recovery {
            validation.loss = Some(Overuse { used, retransmitted: 0 });
        }
        self.cc.on_limit(used / 2.0);
    }

    /// Recovery is over, or is given up. §4.4.1: `cwnd = (Max(pipeACK, LossFlightSize) - R)/2`, and pipeACK becomes
    /// undefined again.
    pub(super) fn end_unvalidated(&mut self, is_complete: bool) {
        let Some(validation) = &mut self.validation else { return };
        let loss = validation.loss;
        validation.forget();
        if let Some(Overuse { used, retransmitted }) = loss.filter(|_| is_complete) {
            self.cc.on_limit((used - f64::from(retransmitted)) / 2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn the_largest_sample_of_the_period_counts_and_the_one_being_taken() {
        let mut it = Validation::default();
        let period = Duration::from_secs(1);
        let acks = |it: &mut Validation, millis, acked, round_ended| {
            it.on_ack(at(millis), acked, 1.0, round_ended);
            it.pipe_ack(at(millis), period, acked, 1.0)
        };
        // The first ACK begins a sample, which the first one of the next round ends.
        assert_eq!(acks(&mut it, 100, 1, true), None);
        assert_eq!(acks(&mut it, 110, 4, false), None);
        assert_eq!(acks(&mut it, 200, 6, true), Some(5.0));
        assert_eq!(acks(&mut it, 300, 9, true), Some(5.0));
        assert_eq!(acks(&mut it, 310, 16, false), Some(7.0), "7 since the round began");
        assert_eq!(acks(&mut it, 400, 17, true), Some(8.0));
        assert_eq!(acks(&mut it, 500, 19, true), Some(8.0));
        // The 8 of 400 ms last until 1400 ms, and then there are the 2 of 500 ms.
        assert_eq!(it.pipe_ack(at(1400), period, 19, 1.0), Some(8.0));
        assert_eq!(it.fell_below(at(1500), period, 4.0), at(1400));
        assert_eq!(it.pipe_ack(at(1401), period, 19, 1.0), Some(2.0));
        assert_eq!(it.pipe_ack(at(1501), period, 19, 1.0), Some(0.0));
        it.forget();
        assert_eq!(it.pipe_ack(at(1501), period, 19, 1.0), None);
    }
}
