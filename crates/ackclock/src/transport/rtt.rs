//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! If the least RTO bounds the variation, the variation is computed as in Linux. It rises at once with the mean
//! deviation and falls once a round trip. A falling RTT counts for an eighth, and the RTO may reach 120 s. Round-trip
//! times are in whole microseconds then.

use super::keys::Transport;
use super::rules::MinRtoBounds;
use crate::units::{Duration, Instant};

/// RFC 6298 §2.5: "A maximum value MAY be placed on RTO provided it is at least 60 seconds."
const MAX_RTO: Duration = Duration::from_secs(60);
/// The same in Linux.
const LINUX_MAX_RTO: Duration = Duration::from_secs(120);
/// The clock granularity G of RFC 6298 §2.3. The simulated clock is finer. Linux ticks at this interval.
const GRANULARITY: Duration = Duration::from_millis(1);

/// The estimator and its back-off.
#[derive(Clone, Debug)]
pub struct Rtt {
    min_rto: Duration,
    max_rto: Duration,
    /// The least margin of the timeout beyond the smoothed RTT.
    min_variation: Duration,
    /// The margin beyond the smoothed RTT, as in Linux.
    variation: Option<LinuxVariation>,
    /// A round trip has ended since the estimate last moved.
    round_ended: bool,
    initial_rto: Duration,
    estimate: Option<Estimate>,
    /// In a box, as hardly any clock has ticks.
    ticks: Option<Box<TickEstimate>>,
    backoff: u32,
    /// The retransmission timeout that all this comes to.
    rto: Duration,
    latest: Duration,
    min: Duration,
    sum_ns: u64,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Duration,
    rttvar: Duration,
}

/// The part of the timeout beyond the smoothed RTT, as Linux computes it.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxVariation {
    /// Four times the mean deviation.
    deviation: Duration,
    /// The most that this was in the current round trip, and the least RTO at least.
    most: Duration,
    /// The margin in the present timeout.
    margin: Duration,
}

impl LinuxVariation {
    /// The first measurement is `rtt`.
    fn first(rtt: Duration, least: Duration) -> Self {
        let margin = (rtt * 2).max(least);
        LinuxVariation { deviation: rtt * 2, most: margin, margin }
    }

    /// A measurement of `rtt` at this SRTT, which ends a round trip or does not.
    fn update(&mut self, srtt: Duration, rtt: Duration, least: Duration, round_ended: bool) {
        /// Of a deviation that a falling RTT makes larger, this part counts.
        const FALLING: u64 = 8;
        let (mean, is_falling) = (self.deviation / 4, rtt < srtt);
        let deviation = if is_falling { srtt - rtt } else { rtt - srtt };
        self.deviation = if deviation < mean {
            self.deviation - (mean - deviation)
        } else {
            self.deviation + (deviation - mean) / if is_falling { FALLING } else { 1 }
        };
        self.most = self.most.max(self.deviation);
        self.margin = self.margin.max(self.most);
        if round_ended {
            self.margin = self.margin - (self.margin - self.most) / 4;
            self.most = least;
        }
    }
}

/// The estimator of a clock with coarse ticks, in whole numbers. RFC 6298 §2.3 refers to it as implemented in
/// 4.3BSD-Reno (Jacobson 1988, appendix A).
#[derive(Clone, Copy, Debug)]
struct TickEstimate {
    tick: Duration,
    /// How far the clock is ahead of time.
    offset: Duration,
    /// Eighths of a tick, or 0 before the first measurement.
    srtt: i64,
    /// Quarters of a tick.
    rttvar: i64,
}

impl TickEstimate {
    fn update(&mut self, now: Instant, rtt: Duration) {
        let ticks_at = |nanos: u64| ((nanos + self.offset.as_nanos()) / self.tick.as_nanos()) as i64;
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos());
        let measured = (ticks_at(now.as_nanos()) - ticks_at(sent)).max(1);
        if self.srtt == 0 {
            self.srtt = measured << 3;
            self.rttvar = measured << 1;
            return;
        }
        let error = measured - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
    }

    fn rto(&self) -> Duration {
        let ticks = ((self.rttvar << 3) + self.srtt) >> 3;
        // A timer of one tick may expire at once.
        self.tick * ticks.max(2) as u64
    }
}

impl Rtt {
    /// No measurement yet.
    pub fn new(transport: &Transport) -> Self {
        let (tick, offset) = (transport.clock_tick, transport.clock_offset);
        let is_linux = transport.min_rto_bounds == MinRtoBounds::Variation;
        let mut rtt = Rtt {
            min_rto: transport.min_rto,
            max_rto: if is_linux { LINUX_MAX_RTO } else { MAX_RTO },
            min_variation: if is_linux { GRANULARITY.max(transport.min_rto) } else { GRANULARITY },
            variation: is_linux.then(LinuxVariation::default),
            round_ended: false,
            initial_rto: transport.initial_rto,
            estimate: None,
            ticks: (!tick.is_zero()).then(|| Box::new(TickEstimate { tick, offset, srtt: 0, rttvar: 0 })),
            backoff: 0,
            rto: Duration::ZERO,
            latest: Duration::ZERO,
            min: Duration::ZERO,
            sum_ns: 0,
            count: 0,
        };
        rtt.set_rto();
        rtt
    }

    /// A round-trip time as the sender's clock measures it: in whole microseconds under Linux (`tcp_mstamp`).
    #[inline]
    fn measured(&self, rtt: Duration) -> Duration {
        if self.variation.is_some() { Duration::from_micros(rtt.as_nanos() / 1_000) } else { rtt }
    }

    /// Notes a round-trip time that is not to move the estimate.
    #[inline]
    pub fn observe(&mut self, rtt: Duration) {
        let rtt = self.measured(rtt);
        self.latest = rtt;
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.sum_ns += rtt.as_nanos();
        self.count += 1;
    }

    /// The data outstanding at the beginning of the last round trip are acknowledged.
    #[inline]
    pub fn end_round(&mut self) {
        self.round_ended = true;
    }

    /// Moves the estimate by a measurement at `now` and ends the back-off.
    pub fn update(&mut self, now: Instant, rtt: Duration) {
        self.backoff = 0;
        if let Some(ticks) = &mut self.ticks {
            ticks.update(now, rtt);
        }
        let rtt = self.measured(rtt);
        let round_ended = std::mem::take(&mut self.round_ended);
        if let Some(variation) = &mut self.variation {
            match self.estimate {
                None => *variation = LinuxVariation::first(rtt, self.min_variation),
                Some(Estimate { srtt, .. }) => variation.update(srtt, rtt, self.min_variation, round_ended),
            }
        }
        self.estimate = Some(match self.estimate {
            // RFC 6298 §2.2: "SRTT <- R, RTTVAR <- R/2".
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            Some(Estimate { srtt, rttvar }) => {
                let deviation = if srtt > rtt { srtt - rtt } else { rtt - srtt };
                // RFC 6298 §2.3: "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|" with beta = 1/4,
                // then "SRTT <- (1 - alpha) * SRTT + alpha * R'" with alpha = 1/8.
                Estimate { srtt: (srtt * 7 + rtt) / 8, rttvar: (rttvar * 3 + deviation) / 4 }
            }
        });
        self.set_rto();
    }

    /// The timer expired. RFC 6298 §5.5: "The host MUST set RTO <- RTO * 2 ("back off the timer")."
    pub fn back_off(&mut self) {
        self.backoff += 1;
        self.set_rto();
    }

    /// The connection is open, and there was no measurement, as the SYN was sent again.
    ///
    /// RFC 6298 §5.7: the timer expired for a SYN, and the RTO is less than 3 seconds. Data transmission then begins
    /// with an RTO of 3 seconds.
    pub fn after_lost_syn(&mut self) {
        const AFTER_LOST_SYN: Duration = Duration::from_secs(3);
        self.initial_rto = self.initial_rto.max(AFTER_LOST_SYN);
        self.end_backoff();
    }

    /// Data got through: the next timeout is not backed off.
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
        self.set_rto();
    }

    /// The retransmission timeout, back-off included.
    #[inline]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    fn set_rto(&mut self) {
        let base = match (self.estimate, &self.ticks) {
            (None, _) => self.initial_rto,
            (Some(_), Some(ticks)) => ticks.rto(),
            (Some(Estimate { srtt, rttvar }), None) => {
                srtt + self.variation.map_or(self.min_variation.max(rttvar * 4), |variation| variation.margin)
            }
        };
        let base = base.max(self.min_rto).min(self.max_rto);
        // Beyond 32 doublings every base of a least RTO that is above 30 ns has met the maximum.
        let factor = 1u64 << self.backoff.min(32);
        self.rto = Duration::from_nanos(base.as_nanos().saturating_mul(factor)).min(self.max_rto);
    }

    /// Smoothed RTT, zero before the first measurement.
    #[inline]
    pub fn srtt(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |estimate| estimate.srtt)
    }

    /// RTT variation, zero before the first measurement.
    pub fn rttvar(&self) -> Duration {
        match (self.estimate, self.variation) {
            (None, _) => Duration::ZERO,
            (Some(_), Some(variation)) => variation.deviation / 4,
            (Some(estimate), None) => estimate.rttvar,
        }
    }

    /// Doublings of the timeout since the last measurement.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The last measured round-trip time, zero before the first.
    #[inline]
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// The smallest measured round-trip time, zero before the first.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min
    }

    /// Sum in nanoseconds and number of the round-trip times seen.
    #[inline]
    pub fn totals(&self) -> (u64, u64) {
        (self.sum_ns, self.count)
    }

    /// The latest round-trip time, if one was seen since there were so many.
    #[inline]
    pub fn seen_since(&self, count: u64) -> Option<Duration> {
        (self.count > count).then_some(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt_of(min_rto: Duration) -> Rtt {
        Rtt::new(&Transport { min_rto, ..Transport::default() })
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_estimate_follows_rfc_6298() {
        let mut rtt = rtt_of(ms(200));
        assert_eq!(rtt.rto(), ms(1000));
        // First: srtt 100, rttvar 50, RTO 100 + 4 x 50 = 300.
        rtt.update(Instant::ZERO, ms(100));
        assert_eq!((rtt.srtt(), rtt.rto()), (ms(100), ms(300)));
        // Then 180: rttvar 3/4 x 50 + 80/4 = 57.5, srtt 7/8 x 100 + 180/8 = 110, RTO 110 + 230 = 340.
        rtt.update(Instant::ZERO, ms(180));
        assert_eq!((rtt.srtt(), rtt.rto()), (ms(110), ms(340)));
        // Then 30, below srtt: rttvar 3/4 x 57.5 + 80/4 = 63.125, srtt 7/8 x 110 + 30/8 = 100.
        rtt.update(Instant::ZERO, ms(30));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (ms(100), Duration::from_micros(63_125)));
    }

    #[test]
    fn what_is_observed_is_summed_up_and_moves_no_estimate() {
        let mut rtt = rtt_of(ms(200));
        for millis in [30, 10, 20] {
            rtt.observe(ms(millis));
        }
        assert_eq!((rtt.latest(), rtt.min()), (ms(20), ms(10)));
        assert_eq!(rtt.totals(), (60_000_000, 3));
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Duration::ZERO, Duration::ZERO, ms(1000)));
    }

    #[test]
    fn linux_measures_in_microseconds() {
        let measured = Duration::from_nanos(20_123_987);
        for (min_rto_bounds, seen) in
            [(MinRtoBounds::Timeout, measured), (MinRtoBounds::Variation, Duration::from_micros(20_123))]
        {
            let mut rtt = Rtt::new(&Transport { min_rto_bounds, ..Transport::default() });
            rtt.observe(measured);
            rtt.update(Instant::ZERO, measured);
            assert_eq!((rtt.latest(), rtt.min(), rtt.srtt()), (seen, seen, seen));
        }
    }

    #[test]
    fn the_timeout_has_a_floor_a_ceiling_and_doubles_until_a_measurement() {
        let mut rtt = rtt_of(ms(200));
        for _ in 0..40 {
            rtt.update(Instant::ZERO, ms(10));
        }
        assert_eq!(rtt.rto(), ms(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!((rtt.rto(), rtt.backoff()), (ms(800), 2));
        rtt.end_backoff();
        assert_eq!((rtt.rto(), rtt.backoff()), (ms(200), 0));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Duration::from_secs(60));
        rtt.update(Instant::ZERO, ms(10));
        assert_eq!(rtt.rto(), ms(200));
    }

    #[test]
    fn in_linux_the_floor_is_one_of_what_is_beyond_the_smoothed_rtt() {
        let mut rtt =
            Rtt::new(&Transport { min_rto: ms(200), min_rto_bounds: MinRtoBounds::Variation, ..Transport::default() });
        rtt.update(Instant::ZERO, ms(10));
        assert_eq!(rtt.rto(), ms(210));
        // srtt 7/8 x 10 + 410/8 = 60, rttvar 3/4 x 5 + 400/4 = 103.75.
        rtt.update(Instant::ZERO, ms(410));
        assert_eq!((rtt.rto(), rtt.rttvar()), (ms(60 + 415), Duration::from_micros(103_750)));
    }

    fn linux() -> Rtt {
        Rtt::new(&Transport { min_rto: ms(200), min_rto_bounds: MinRtoBounds::Variation, ..Transport::default() })
    }

    #[test]
    fn in_linux_the_variation_falls_once_a_round_trip_to_the_most_that_it_was_in_one() {
        let mut rtt = linux();
        let margin = |rtt: &Rtt| rtt.rto() - rtt.srtt();
        rtt.update(Instant::ZERO, ms(400));
        assert_eq!(margin(&rtt), ms(800));
        // Four times the deviation falls by a quarter with each: 600, 450, 337.5, 253.125, 189.84375 ms.
        for _ in 0..4 {
            rtt.update(Instant::ZERO, ms(400));
        }
        assert_eq!((margin(&rtt), rtt.rttvar()), (ms(800), Duration::from_nanos(63_281_250)));
        // The first round trip had the 800 ms of its beginning, the second one the least RTO: 800 - 600 / 4.
        rtt.end_round();
        rtt.update(Instant::ZERO, ms(400));
        assert_eq!(margin(&rtt), ms(800));
        rtt.end_round();
        rtt.update(Instant::ZERO, ms(400));
        assert_eq!(margin(&rtt), ms(650));
        rtt.update(Instant::ZERO, ms(400));
        assert_eq!(margin(&rtt), ms(650), "in the middle of a round trip");
    }

    #[test]
    fn in_linux_a_falling_rtt_counts_for_an_eighth_and_a_rising_one_in_full() {
        let after = |millis| {
            let mut rtt = linux();
            rtt.update(Instant::ZERO, ms(80));
            rtt.update(Instant::ZERO, ms(millis));
            rtt.rttvar()
        };
        // A mean deviation of 40 ms, of 72 ms 32 more, and a quarter of that.
        assert_eq!(after(8), Duration::from_micros(40_000 + 32_000 / 4 / 8));
        assert_eq!(after(152), Duration::from_micros(40_000 + 32_000 / 4));
        assert_eq!(after(60), Duration::from_micros(40_000 - 20_000 / 4), "less than the mean deviation");
    }

    #[test]
    fn in_linux_the_timeout_reaches_two_minutes() {
        let mut rtt = linux();
        (0..10).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Duration::from_secs(120));
    }

    #[test]
    fn a_coarse_clock_counts_whole_ticks() {
        let transport = Transport { min_rto: ms(0), clock_tick: ms(100), ..Transport::default() };
        let mut rtt = Rtt::new(&transport);
        // 40 ms across no edge of the clock count as one tick: srtt 1, rttvar 1/2, RTO 3 ticks.
        rtt.update(Instant::ZERO + ms(150), ms(40));
        assert_eq!(rtt.rto(), ms(300));
        // From 190 ms to 410 ms the clock moves three ticks. srtt 1 + 2/8; rttvar 2/4 + 2/4; RTO 5 ticks.
        rtt.update(Instant::ZERO + ms(410), ms(220));
        assert_eq!(rtt.rto(), ms(500));
        // One tick, as srtt in whole ticks: srtt stays; rttvar 4/4 - 1/4. RTO 4 x 3/4 + 10/8 ticks.
        rtt.update(Instant::ZERO + ms(910), ms(100));
        assert_eq!(rtt.rto(), ms(400));
    }

    #[test]
    fn a_coarse_clock_may_be_ahead() {
        let rto_after = |clock_offset, now| {
            let clock_tick = ms(100);
            let transport = Transport { min_rto: ms(0), clock_tick, clock_offset, ..Transport::default() };
            let mut rtt = Rtt::new(&transport);
            rtt.update(Instant::ZERO + now, ms(280));
            rtt.rto()
        };
        // A clock that is 20 ms ahead ticks at 80, 180, 280 and 380 ms. From 110 to 390 ms: two ticks, or three.
        assert_eq!((rto_after(ms(0), ms(390)), rto_after(ms(20), ms(390))), (ms(600), ms(900)));
        // From 85 to 365 ms: three ticks, or two. The RTO is three times as many.
        assert_eq!((rto_after(ms(0), ms(365)), rto_after(ms(20), ms(365))), (ms(900), ms(600)));
    }
}
