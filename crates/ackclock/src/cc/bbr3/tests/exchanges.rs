//! Hand-computed exchanges from the draft, with segments of 1000 bytes and a round-trip time of 100 ms.

use super::*;
use crate::cc::{RateSample, TimeoutSsthresh};
use crate::units::Duration;
use machine::{AckPhase, ProbeBw, State};

const SMSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

/// An algorithm with hand-written events.
struct Driven {
    cc: Bbr3Controller,
    now: Instant,
    delivered: u64,
}

/// An ACK: the delivered bytes, their interval, and the bytes in flight.
#[derive(Clone, Copy)]
struct Told {
    bytes: u64,
    rate: f64,
    in_flight: u64,
    begins_round: bool,
    tx_in_flight: u64,
    lost: u64,
    rtt: Duration,
}

/// An ACK of a round trip's data at a rate in bytes per second, which begins a round.
fn round(rate: f64) -> Told {
    let bytes = (rate * 0.1) as u64;
    Told { bytes, rate, in_flight: bytes, begins_round: true, tx_in_flight: bytes, lost: 0, rtt: RTT }
}

impl Driven {
    fn new() -> Self {
        let context = CcContext {
            mss: SMSS as u32,
            packet_bytes: SMSS as u32,
            timeout_ssthresh: TimeoutSsthresh::Standard,
            ..CcContext::new(10.0)
        };
        let mut driven =
            Driven { cc: Bbr3::default().controller(context), now: Instant::from_nanos(1_000_000_000), delivered: 0 };
        let path = PathView { in_flight: 1, in_flight_bytes: SMSS, mss: SMSS as u32, ..PathView::default() };
        driven.cc.on_sent(&Sent { now: driven.now, bytes: SMSS as u32, retransmission: false, idle_for: None, path });
        driven
    }

    fn bbr(&self) -> &Bbr {
        &self.cc.0
    }

    fn state(&self) -> State {
        self.bbr().machine.state
    }

    /// Pacing rate in bytes per second, which are bytes on the wire here.
    fn pacing(&self) -> f64 {
        self.bbr().control.pacing_rate
    }

    fn path(&self, told: &Told) -> PathView {
        PathView {
            in_flight: (told.in_flight / SMSS) as u32,
            in_flight_bytes: told.in_flight,
            mss: SMSS as u32,
            srtt: RTT,
            latest_rtt: told.rtt,
            min_rtt: RTT,
        }
    }

    fn ack_after(&mut self, time: Duration, told: Told) {
        self.now += time;
        let prior = if told.begins_round { self.delivered } else { 0 };
        self.delivered += told.bytes;
        let delivered = self.delivered - prior;
        let rate = RateSample {
            delivered,
            interval: Duration::from_secs_f64_round(delivered as f64 / told.rate),
            prior_delivered: prior,
            newly_acked: told.bytes,
            tx_in_flight: told.tx_in_flight,
            lost: told.lost,
            newly_ce: 0,
            delivered_ce: 0,
            app_limited: false,
        };
        let path = self.path(&told);
        let ack = Ack { now: self.now, rate: Some(rate), path, cwnd_limited: false, ..Ack::of(1.0) };
        self.cc.on_ack(&ack);
    }

    fn ack(&mut self, told: Told) {
        self.ack_after(RTT, told);
    }

    fn lose(&mut self, tx_in_flight: u64, lost: u64) {
        let path = self.path(&Told { in_flight: tx_in_flight, ..round(1000.0) });
        let (now, bytes, retransmission, app_limited) = (self.now, SMSS as u32, false, false);
        self.cc.on_loss(&Loss { now, bytes, retransmission, tx_in_flight, lost, app_limited, path });
    }

    /// After Startup and Drain: 245 kB/s, a product of 24.5 kB.
    fn cruising() -> Self {
        let mut driven = Driven::new();
        for rate in [100e3, 200e3, 240e3, 240e3, 245e3] {
            driven.ack(round(rate));
        }
        driven.ack(Told { in_flight: 24_500, ..round(245e3) });
        assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Cruise));
        driven
    }

    /// In the REFILL that comes when the wall clock says so.
    fn refilling() -> Self {
        let mut driven = Driven::cruising();
        let wait = driven.bbr().machine.bw_probe_wait;
        driven.ack_after(wait + Duration::from_nanos(1), Told { begins_round: false, ..round(245e3) });
        assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Refill));
        driven
    }

    fn probing() -> Self {
        let mut driven = Driven::refilling();
        driven.ack(round(245e3));
        assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Up));
        driven
    }
}

fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{value}, expected {expected}");
}

/// "Pacing Rate", "Computing BBR.max_inflight", "Exiting Acceleration Based on Bandwidth Plateau".
#[test]
fn the_end_of_startup() {
    let mut driven = Driven::new();
    // 2.77 * 10 segments in a millisecond, and in 100 ms once the first RTT is known.
    assert_near(driven.pacing(), 27.7e6);
    driven.ack(round(100e3));
    // 2.77 * 0.99 * 100 kB/s is less: "or doing so increases the pacing rate".
    assert_near(driven.pacing(), 277e3);
    // 2 * 10 kB, and 10 kB more that came when nothing was expected; the window grows by what was acknowledged.
    assert_near(driven.bbr().control.max_inflight, 30e3);
    assert_near(driven.cc.cwnd(), 20.0);
    driven.ack(round(200e3));
    assert_near(driven.pacing(), 2.77 * 0.99 * 200e3);
    // 2 * 20 kB, and 20 kB: the interval began anew, as 10 kB were expected in 100 ms and 10 kB had come.
    assert_near(driven.bbr().control.max_inflight, 60e3);
    assert_near(driven.cc.cwnd(), 40.0);
    // 240 / 200 is less than 1.25, and so is 245 / 200: three rounds.
    for (rate, count) in [(240e3, 1), (240e3, 2)] {
        driven.ack(round(rate));
        assert_eq!((driven.bbr().machine.full_bw_count, driven.state()), (count, State::Startup));
    }
    assert_eq!(driven.cc.ssthresh(), f64::INFINITY);
    driven.ack(Told { in_flight: 49_000, ..round(245e3) });
    assert_eq!((driven.bbr().machine.full_bw_count, driven.state()), (3, State::Drain));
    assert_near(driven.pacing(), 0.5 * 0.99 * 245e3);
    // 2 ms of that are less than two segments.
    assert_eq!(driven.cc.send_quantum(), 2000);
}

#[test]
fn growth_by_a_quarter_begins_the_count_again() {
    let mut driven = Driven::new();
    for (rate, count) in [(100e3, 0), (124e3, 1), (124.9e3, 2), (125e3, 0), (156e3, 1), (156.25e3, 0)] {
        driven.ack(round(rate));
        assert_eq!(driven.bbr().machine.full_bw_count, count, "{rate}");
    }
    assert_eq!(driven.state(), State::Startup);
}

/// "Drain".
#[test]
fn drain() {
    let mut driven = Driven::new();
    for rate in [100e3, 200e3, 240e3, 240e3] {
        driven.ack(round(rate));
    }
    driven.ack(Told { in_flight: 49_000, ..round(245e3) });
    // The product is 24 500 bytes; a byte more is too much.
    driven.ack(Told { in_flight: 24_501, ..round(245e3) });
    assert_eq!(driven.state(), State::Drain);
    let mut by_rounds = Driven { cc: driven.cc.clone(), ..driven };
    driven.ack(Told { in_flight: 24_500, ..round(245e3) });
    // There is headroom, too: DOWN is left with the same ACK.
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Cruise));
    assert_near(driven.pacing(), 0.99 * 245e3);
    assert_eq!(driven.bbr().machine.cycle_stamp, driven.now);
    // "BBR.round_count > BBR.drain_start_round + 3": the fourth round after the one in which Drain began.
    for expected in [State::Drain, State::Drain, State::ProbeBw(ProbeBw::Down)] {
        by_rounds.ack(Told { in_flight: 40_000, ..round(245e3) });
        assert_eq!(by_rounds.state(), expected);
    }
    assert_near(by_rounds.pacing(), 0.9 * 0.99 * 245e3);
}

/// "Time Scale for Bandwidth Probing", "ProbeBW Algorithm Details".
#[test]
fn the_four_phases() {
    let mut driven = Driven::cruising();
    let wait = driven.bbr().machine.bw_probe_wait;
    assert!(wait >= Duration::from_secs(2) && wait < Duration::from_secs(3), "{wait:?}");
    // "Now() > BBR.cycle_stamp + interval".
    driven.ack_after(wait, Told { begins_round: false, ..round(245e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Cruise));
    driven.ack_after(Duration::from_nanos(1), Told { begins_round: false, ..round(245e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Refill));
    assert_eq!(driven.bbr().machine.ack_phase, AckPhase::Refilling);
    assert_near(driven.pacing(), 0.99 * 245e3);
    driven.ack(Told { begins_round: false, ..round(245e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Refill), "no round is over");
    driven.ack(round(245e3));
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Up));
    assert!(driven.bbr().machine.is_bw_probe_sample);
    assert_near(driven.pacing(), 1.25 * 0.99 * 245e3);
    // 2.25 products and 2 SMSS, beside what came together.
    let Bbr { model, control, .. } = driven.bbr();
    assert_near(control.max_inflight, 2.25 * 24_500.0 + model.extra_acked + 2000.0);
    for count in [1, 2] {
        driven.ack(round(300e3));
        assert_eq!((driven.state(), driven.bbr().machine.full_bw_count), (State::ProbeBw(ProbeBw::Up), count));
    }
    // 300 / 245 is less than 1.25.
    driven.ack(Told { in_flight: 60_000, ..round(300e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Down));
    assert_near(driven.pacing(), 0.9 * 0.99 * 300e3);
    driven.ack(Told { in_flight: 30_001, ..round(300e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Down));
    driven.ack(Told { in_flight: 30_000, ..round(300e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Cruise));
}

/// "Bandwidth Probing and Coexistence with Reno/CUBIC": as many round trips as the product has segments, 24.5.
#[test]
fn a_probe_is_due_after_as_many_rounds_as_reno_needs() {
    let mut driven = Driven::cruising();
    let first = driven.bbr().machine.rounds_since_probe_up;
    assert!(first <= 1);
    let mut rounds = first;
    // The wall clock stands still, nearly.
    while driven.state() == State::ProbeBw(ProbeBw::Cruise) {
        driven.ack_after(Duration::from_micros(1), Told { bytes: 1000, ..round(245e3) });
        rounds += 1;
    }
    assert_eq!((driven.state(), rounds), (State::ProbeBw(ProbeBw::Refill), 25));
}

/// "BBR.max_bw Max Filter": the current cycle and the one before.
#[test]
fn the_bandwidth_of_two_cycles_ago_is_forgotten() {
    let mut driven = Driven::probing();
    let cycle = |driven: &mut Driven, rate: f64| {
        while driven.state() != State::ProbeBw(ProbeBw::Down) {
            driven.ack(Told { in_flight: 60_000, ..round(rate) });
        }
        // The round after UP ends the cycle; then cruise, and probe again.
        let until = [State::ProbeBw(ProbeBw::Cruise), State::ProbeBw(ProbeBw::Up)];
        for state in until {
            while driven.state() != state {
                driven.ack(Told { in_flight: 1000, ..round(rate) });
            }
        }
    };
    cycle(&mut driven, 245e3);
    cycle(&mut driven, 100e3);
    assert_near(driven.bbr().model.max_bw, 245e3);
    cycle(&mut driven, 100e3);
    assert_near(driven.bbr().model.max_bw, 100e3);
}

/// "ProbeRTT Logic".
#[test]
fn probe_rtt() {
    let mut driven = Driven::cruising();
    let stamp = driven.bbr().model.probe_rtt_min_stamp;
    assert_eq!(stamp, Instant::from_nanos(1_100_000_000), "the first of equal samples");
    let longer = Told { rtt: Duration::from_millis(130), begins_round: false, ..round(245e3) };
    let in_flight = |in_flight| Told { in_flight, ..longer };
    let left = (stamp + Duration::from_secs(5)).since(driven.now);
    driven.ack_after(left, longer);
    assert_ne!(driven.state(), State::ProbeRtt, "\"Now() > BBR.probe_rtt_min_stamp + BBR.ProbeRTTInterval\"");
    let window = driven.bbr().control.cwnd;
    driven.ack_after(Duration::from_nanos(1), in_flight(24_000));
    assert_eq!(driven.state(), State::ProbeRtt);
    assert_near(driven.bbr().control.cwnd, 0.5 * 24_500.0);
    assert_near(driven.bbr().control.prior_cwnd, window);
    assert_near(driven.bbr().model.min_rtt, 0.1);
    // 12 250 bytes may be in flight, from then on for 200 ms and a round.
    driven.ack_after(Duration::from_millis(50), in_flight(12_251));
    driven.ack_after(Duration::from_millis(50), in_flight(12_250));
    let at = driven.now;
    driven.ack_after(Duration::from_millis(201), in_flight(12_000));
    assert_eq!(driven.state(), State::ProbeRtt, "no round is over");
    driven.ack_after(Duration::from_millis(1), Told { begins_round: true, ..in_flight(12_000) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Cruise));
    assert!(driven.now.since(at) > Duration::from_millis(200));
    assert_eq!(driven.bbr().model.probe_rtt_min_stamp, driven.now);
    assert!(driven.bbr().control.cwnd >= window.min(driven.bbr().control.max_inflight));
}

/// "BBR.min_rtt Min Filter": ten seconds.
#[test]
fn a_longer_delay_is_believed_after_ten_seconds() {
    let mut driven = Driven::cruising();
    let first = driven.bbr().model.min_rtt_stamp;
    while driven.now < first + Duration::from_secs(10) {
        assert_near(driven.bbr().model.min_rtt, 0.1);
        driven.ack(Told { rtt: Duration::from_millis(150), in_flight: 5000, ..round(245e3) });
    }
    driven.ack(Told { rtt: Duration::from_millis(150), in_flight: 5000, ..round(245e3) });
    assert_near(driven.bbr().model.min_rtt, 0.15);
}

/// "Probing for Bandwidth In ProbeBW": 2 % and InflightAtLoss().
#[test]
fn losses_of_two_percent() {
    let mut driven = Driven::probing();
    // 2000 of 100 000 bytes are 2 %, and not more.
    driven.lose(100_000, 2000);
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Up));
    driven.lose(100_000, 3000);
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Down));
    // Before the packet 99 000 were in flight and 2000 lost: (0.02 * 99 000 - 2000) / 0.98 = -20.41.
    let at_loss = 99_000.0 - 20.0 / 0.98;
    assert_near(driven.bbr().model.inflight_longterm, at_loss);
    assert_near(driven.bbr().inflight_with_headroom(), 0.85 * at_loss);
    assert!(driven.bbr().machine.prev_probe_too_high);
    // "only react once per bw probe".
    driven.lose(50_000, 9000);
    assert_near(driven.bbr().model.inflight_longterm, at_loss);
}

/// The same where less was in flight: "not react more dramatically than CUBIC's 0.7x".
#[test]
fn the_bound_is_at_least_beta_of_the_target() {
    let mut driven = Driven::probing();
    driven.lose(10_000, 3000);
    assert_near(driven.bbr().model.inflight_longterm, 0.7 * 24_500.0);
}

/// "Precautionary Bandwidth Probing".
#[test]
fn the_probe_after_one_that_went_too_high_ends_at_the_bound_and_the_next_does_not() {
    let mut driven = Driven::probing();
    driven.lose(30_000, 3000);
    let bound = driven.bbr().model.inflight_longterm;
    for state in [State::ProbeBw(ProbeBw::Cruise), State::ProbeBw(ProbeBw::Up)] {
        while driven.state() != state {
            driven.ack(Told { in_flight: 10_000, tx_in_flight: 10_000, ..round(245e3) });
        }
    }
    driven.ack_after(RTT, Told { in_flight: bound as u64, begins_round: false, tx_in_flight: 10_000, ..round(245e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Up), "a byte less than the bound");
    driven.ack_after(
        RTT,
        Told { in_flight: bound as u64 + 1, begins_round: false, tx_in_flight: 10_000, ..round(245e3) },
    );
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Down));
    assert!(driven.bbr().machine.prev_probe_precautionary && !driven.bbr().machine.prev_probe_too_high);
    // After a round without losses it probes again at once.
    driven.ack(Told { in_flight: 40_000, tx_in_flight: 10_000, ..round(245e3) });
    assert_eq!(driven.state(), State::ProbeBw(ProbeBw::Refill));
    assert!(!driven.bbr().machine.prev_probe_precautionary);
}

/// "When not Probing for Bandwidth".
#[test]
fn losses_while_cruising() {
    let mut driven = Driven::cruising();
    let window = driven.bbr().control.cwnd;
    driven.lose(24_000, 1000);
    // The round of the loss begins after the ACK that shows it; nothing happens before its end.
    driven.ack_after(Duration::ZERO, Told { begins_round: false, bytes: 1000, ..round(245e3) });
    assert_eq!(driven.bbr().model.bw_shortterm, f64::INFINITY);
    driven.ack(Told { bytes: 12_000, ..round(120e3) });
    let Model { bw_shortterm, inflight_shortterm, bw, inflight_latest, .. } = driven.bbr().model;
    // 0.7 * 245 is more than what came in the round; but for the 1000 bytes that came at 245 kB/s with the loss.
    assert_near(bw_shortterm, 245e3);
    assert_near(bw, 245e3);
    assert!(inflight_shortterm >= 0.7 * window, "{inflight_shortterm}, {inflight_latest}");
    // The next round sees 120 kB/s alone.
    driven.lose(24_000, 1000);
    driven.ack(Told { bytes: 12_000, ..round(120e3) });
    driven.ack(Told { bytes: 12_000, ..round(120e3) });
    assert_near(driven.bbr().model.bw_shortterm, 0.7 * 245e3);
    assert_near(driven.pacing(), 0.99 * 0.7 * 245e3);
    assert_near(driven.bbr().model.max_bw, 245e3);
}

/// "ProbeBW_UP": the bound grows by 1, 2, 4 segments in a round trip.
#[test]
fn the_slope_of_the_bound_doubles() {
    let mut driven = Driven::probing();
    let bbr = &mut *driven.cc.0;
    bbr.model.inflight_longterm = bbr.control.cwnd;
    let window = bbr.control.cwnd;
    assert_eq!(bbr.machine.bw_probe_up_rounds, 1);
    for (rounds, part) in [(2, 2.0), (3, 4.0), (4, 8.0)] {
        let bbr = &mut *driven.cc.0;
        bbr.control.cwnd = window;
        bbr.model.inflight_longterm = window;
        bbr.machine.bw_probe_up_acked = 0.0;
        bbr.machine.reset_full_bw();
        bbr.cwnd_limited_until = u64::MAX;
        let per_increase = bbr.machine.probe_up_acked_per_inc;
        driven.ack(Told { bytes: (3.0 * per_increase) as u64 + 1, tx_in_flight: 1000, ..round(245e3) });
        let bbr = driven.bbr();
        assert_near(bbr.model.inflight_longterm, window + 3000.0);
        assert_eq!(bbr.machine.bw_probe_up_rounds, rounds);
        assert_near(bbr.machine.probe_up_acked_per_inc, window / part);
    }
}

/// "Modulating cwnd in Loss Recovery".
#[test]
fn a_timeout_leaves_one_segment_and_recovery_restores_the_window() {
    let mut driven = Driven::cruising();
    let window = driven.cc.cwnd();
    let path = driven.path(&round(245e3));
    let (now, kind, restart) = (driven.now, crate::cc::CongestionKind::Timeout, Restart::SlowStart);
    driven.cc.on_congestion(&Congestion { now, kind, restart, flight_size: 24, path });
    assert_eq!(driven.cc.cwnd(), 1.0);
    let told = Told { bytes: 1000, begins_round: false, ..round(245e3) };
    let in_loss = Ack { now, path, state: CaState::Loss, ..Ack::of(1.0) };
    driven.cc.on_ack(&in_loss);
    assert_eq!(driven.cc.cwnd(), 1.0);
    driven.ack(told);
    assert!(driven.cc.cwnd() >= window.min(driven.bbr().control.max_inflight / 1000.0), "{}", driven.cc.cwnd());
}

#[test]
fn other_seeds_wait_otherwise() {
    let wait = |seed| {
        let context = CcContext { seed, ..CcContext::new(10.0) };
        let mut bbr = Bbr::new(Bbr3::default(), context);
        bbr.start_probe_bw_down(Instant::ZERO);
        bbr.machine.bw_probe_wait
    };
    assert_eq!(wait(1), wait(1));
    assert_ne!(wait(1), wait(2));
    let mean = (0..1000).map(|seed| wait(seed).as_secs_f64()).sum::<f64>() / 1000.0;
    // Six standard errors of numbers in 2 to 3.
    assert!((mean - 2.5).abs() < 6.0 * (1.0f64 / 12.0 / 1000.0).sqrt(), "{mean}");
}
