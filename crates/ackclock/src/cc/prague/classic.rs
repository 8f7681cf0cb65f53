//! Detection of a classic queue that marks ECT(1), by the delay that such a queue builds.
//!
//! Reference: B. Briscoe and A. S. Ahmed, TCP Prague Fall-back on Detection of a Classic ECN AQM (arXiv 1911.00710).

use crate::cc::PathView;

/// The variation of the RTT of a shallow queue, in microseconds.
const REFERENCE_VARIATION_US: f64 = 750.0;
/// The depth of one.
const REFERENCE_DEPTH_US: f64 = 2000.0;
/// The weights of both.
const WEIGHT: f64 = 0.5;
/// An L4S queue has a score up to this.
const L4S: f64 = 8.0;
/// A classic queue has a score from this on.
const CLASSIC: f64 = L4S + 1.0;
/// The largest score, so that a change of the path shows in time.
const LARGEST: f64 = CLASSIC + L4S;
/// The estimate of a certainly classic queue, which makes the flow as fast as Reno.
const LEAST_ALPHA: f64 = 0.625;
/// The largest exponent of the gain of the smoothed RTT.
const MOST_SHIFT: f64 = 18.0;

/// The score of a path, and the smoothed RTTs behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassicEcn {
    score: f64,
    srtt_us: Option<f64>,
    variation_us: f64,
    shift: f64,
}

impl ClassicEcn {
    pub(super) fn new() -> Self {
        ClassicEcn { score: 0.0, srtt_us: None, variation_us: 1.0, shift: MOST_SHIFT }
    }

    pub(super) fn score(&self) -> f64 {
        self.score
    }

    /// An ACK measures the RTT. The averages last for many round trips, in which the window changes.
    pub(super) fn measure(&mut self, path: &PathView) {
        if path.latest_rtt.is_zero() {
            return;
        }
        let rtt_us = path.latest_rtt.as_secs_f64() * 1e6;
        let Some(srtt_us) = &mut self.srtt_us else {
            self.srtt_us = Some(rtt_us);
            return;
        };
        let error = rtt_us - *srtt_us;
        *srtt_us += error * libm::exp2(-self.shift);
        self.variation_us += (error.abs() - self.variation_us) * libm::exp2(-self.shift - 1.0);
    }

    /// A mark has set ssthresh, which determines the gains.
    pub(super) fn scale(&mut self, ssthresh: f64) {
        let log = libm::floor(libm::log2(ssthresh.max(1.0)));
        self.shift = (log + libm::floor(log / 2.0) + 1.0).min(MOST_SHIFT);
    }

    /// A round trip ends.
    pub(super) fn end_round(&mut self, path: &PathView) {
        let Some(srtt_us) = self.srtt_us else { return };
        let depth_us = srtt_us - path.min_rtt.as_secs_f64() * 1e6;
        let by_variation = libm::log2(self.variation_us.max(1.0) / REFERENCE_VARIATION_US);
        let by_depth = libm::log2((depth_us / REFERENCE_DEPTH_US).max(1.0));
        self.score = (self.score + WEIGHT * (by_variation + by_depth)).clamp(0.0, LARGEST);
    }

    /// The least estimate of marks with which the flow coexists with classic ones.
    pub(super) fn least_alpha(&self) -> f64 {
        LEAST_ALPHA * (self.score.min(CLASSIC) - L4S).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn after(rounds: u32, rtts_ms: &[u64]) -> ClassicEcn {
        let mut classic = ClassicEcn::new();
        classic.scale(16.0);
        for _ in 0..rounds {
            for rtt in rtts_ms {
                let latest_rtt = Duration::from_millis(*rtt);
                let path = PathView { latest_rtt, min_rtt: Duration::from_millis(10), ..PathView::default() };
                classic.measure(&path);
                classic.end_round(&path);
            }
        }
        classic
    }

    #[test]
    fn a_deep_queue_is_classic_and_a_shallow_one_is_not() {
        let deep = after(200, &[20, 30, 40, 30]);
        assert_eq!((deep.score(), deep.least_alpha()), (LARGEST, LEAST_ALPHA));
        let shallow = after(200, &[10, 11, 10, 11]);
        assert_eq!((shallow.score(), shallow.least_alpha()), (0.0, 0.0));
    }

    #[test]
    fn a_larger_threshold_smooths_over_more_round_trips() {
        let mut classic = ClassicEcn::new();
        for (ssthresh, shift) in [(1.0, 1.0), (16.0, 7.0), (100.0, 10.0), (1e9, MOST_SHIFT)] {
            classic.scale(ssthresh);
            assert_eq!(classic.shift, shift);
        }
    }
}
