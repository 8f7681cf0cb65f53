//! The draft's appendix "BBR Example Test Cases", in its order. A comment begins with the title of the case.

use super::*;
use crate::cc::tests::{Application, MSS, Path, mbit, ms, with_timestamps};
use crate::cc::{Bbr3, Cc, CcSpec};
use crate::units::Duration;
use machine::{ProbeBw, State};

const DOWN: State = State::ProbeBw(ProbeBw::Down);
const CRUISE: State = State::ProbeBw(ProbeBw::Cruise);
const REFILL: State = State::ProbeBw(ProbeBw::Refill);
const UP: State = State::ProbeBw(ProbeBw::Up);

/// 10 Mbit/s and 40 ms: a BDP of 34 packets. The buffer holds four times as many.
const RATE: f64 = 10.0;
const DEEP: usize = 136;
const SHALLOW: usize = 17;

fn path(limit: usize) -> Path {
    Path::new("bbr3", mbit(RATE), ms(40), limit)
}

fn bbr(path: &Path) -> &Bbr {
    let Cc::Bbr3(controller) = path.cc() else { panic!("another algorithm") };
    &controller.0
}

fn state(path: &Path) -> State {
    bbr(path).machine.state
}

fn until(path: &mut Path, expected: State) {
    path.run_until(&format!("{expected:?}"), |path| state(path) == expected);
}

/// Runs until the state changes, and returns the new state.
fn next_state(path: &mut Path) -> State {
    let before = state(path);
    path.run_until("transition", |path| state(path) != before);
    state(path)
}

/// A rate on the wire in Mbit/s as payload bytes a second.
fn payload(rate: f64) -> f64 {
    rate * 1e6 / 8.0 * MSS as f64 / 1500.0
}

fn assert_within(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() <= part, "{value}, expected {expected}");
}

/// Exiting STARTUP on Bandwidth Plateau.
#[test]
fn startup_ends_when_the_rate_has_not_grown_for_three_rounds() {
    let mut path = path(DEEP);
    let (mut counts, mut rounds) = (vec![0], vec![0]);
    path.run_until("end of Startup", |path| {
        let Machine { full_bw_count, state, .. } = bbr(path).machine;
        if state == State::Startup && *counts.last().unwrap() != full_bw_count {
            counts.push(full_bw_count);
            rounds.push(bbr(path).model.round_count);
        }
        state != State::Startup
    });
    // The third round begins as Startup ends.
    assert_eq!(counts, [0, 1, 2]);
    assert_eq!(bbr(&path).machine.full_bw_count, 3);
    assert_eq!(bbr(&path).model.round_count - rounds[1], 2, "consecutive rounds: {rounds:?}");
    assert!(bbr(&path).machine.full_bw_now && bbr(&path).machine.full_bw_reached);
    assert_eq!(state(&path), State::Drain);
    assert_within(bbr(&path).model.max_bw, payload(RATE), 0.02);
    assert_eq!(path.lost, 0);
}

/// Exiting STARTUP on Loss When Application-Limited.
#[test]
fn startup_ends_for_losses_also_when_the_application_limits_the_flow() {
    let mut path = path(DEEP);
    // A third of the rate, of which one packet of twelve is lost: eight in a round trip of 100 packets.
    path.delay = ms(400);
    path.set_application(Application::Every(ms(4)));
    path.run_for(Duration::from_secs(2));
    assert_eq!(state(&path), State::Startup);
    path.lose_each = 12;
    let lost_before = path.lost;
    path.run_until("end of Startup", |path| state(path) != State::Startup);
    assert_eq!(state(&path), State::Drain);
    let Machine { full_bw_count, full_bw_now, full_bw_reached, .. } = bbr(&path).machine;
    assert!(full_bw_now && full_bw_reached && full_bw_count < 3, "{full_bw_count}");
    assert!(path.lost - lost_before >= 6);
    let model = &bbr(&path).model;
    assert!(model.inflight_longterm >= bbr(&path).bdp() && model.inflight_longterm.is_finite());
}

/// Exiting DRAIN Based on Inflight.
#[test]
fn drain_ends_when_no_more_than_the_product_is_in_flight() {
    let mut path = path(DEEP);
    until(&mut path, State::Drain);
    assert_eq!(bbr(&path).pacing_gain(), 0.5);
    let first = bbr(&path).inflight();
    assert!(first > bbr(&path).inflight_at(bbr(&path).model.bw, 1.0));
    let start = path.now;
    path.run_until("end of Drain", |path| {
        let bbr = bbr(path);
        let is_drained = bbr.inflight() <= bbr.inflight_at(bbr.model.bw, 1.0);
        // A segment more may be sent after the ACK.
        assert!(bbr.machine.state != State::Drain || !is_drained || path.now == start);
        bbr.machine.state != State::Drain
    });
    assert!(matches!(state(&path), State::ProbeBw(_)));
    assert!(path.backlog() <= 2, "the queue is drained: {}", path.backlog());
}

/// Exiting DRAIN Based on Time.
#[test]
fn drain_ends_after_three_rounds_in_any_case() {
    let mut path = path(DEEP);
    until(&mut path, State::Drain);
    // The rate falls far below what Drain sends: what waits already leaves at the old rate, and then the queue stays.
    path.rate = mbit(0.1 * RATE);
    let (start, mut rounds) = (bbr(&path).machine.drain_start_round, Vec::new());
    path.run_until("end of Drain", |path| {
        rounds.push(bbr(path).model.round_count - start);
        state(path) != State::Drain
    });
    assert_eq!(rounds.last(), Some(&4), "more than three rounds");
    assert!(bbr(&path).inflight() > bbr(&path).inflight_at(bbr(&path).model.bw, 1.0));
    assert!(matches!(state(&path), State::ProbeBw(_)));
}

/// Exiting PROBE_UP on Bandwidth Plateau.
#[test]
fn up_ends_when_the_rate_has_not_grown_for_three_rounds() {
    let mut path = path(DEEP);
    until(&mut path, UP);
    let start = bbr(&path).model.round_count;
    assert_eq!((bbr(&path).pacing_gain(), bbr(&path).cwnd_gain()), (1.25, 2.25));
    assert_eq!(next_state(&mut path), DOWN);
    let Machine { full_bw_count, full_bw_now, prev_probe_too_high, .. } = bbr(&path).machine;
    assert_eq!((full_bw_count, full_bw_now, prev_probe_too_high), (3, true, false));
    assert_eq!(bbr(&path).model.round_count - start, 3);
    assert_eq!(path.lost, 0);
}

/// Exiting PROBE_UP on Loss When Application-Limited.
#[test]
fn up_ends_for_losses_also_when_the_application_limits_the_flow() {
    let mut path = path(DEEP);
    // A flow that the network limits has found a bound.
    until(&mut path, UP);
    path.set_application(Application::Every(ms(2)));
    path.run_for(ms(200));
    assert_eq!(state(&path), UP, "a flow that the application limits does not see a plateau");
    path.lose_each = 10;
    // There is no queue: DOWN may end with the same ACK.
    assert!(matches!(next_state(&mut path), DOWN | CRUISE));
    assert!(bbr(&path).machine.prev_probe_too_high);
    assert!(!bbr(&path).machine.full_bw_now);
    // "if (!RS.is_app_limited)": a flight that the application limited is no bound.
    assert_eq!(bbr(&path).model.inflight_longterm, f64::INFINITY);
}

/// Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss.
#[test]
fn neither_startup_nor_up_ends_while_the_application_limits_the_flow() {
    let mut startup = path(DEEP);
    startup.set_application(Application::Every(ms(3)));
    startup.run_for(Duration::from_secs(4));
    assert_eq!(state(&startup), State::Startup);
    let mut up = path(DEEP);
    until(&mut up, UP);
    up.set_application(Application::Every(ms(3)));
    // Up to the next ProbeRTT, which is due five seconds after the last small RTT.
    up.run_for(Duration::from_secs(2));
    assert_eq!(state(&up), UP);
}

/// Exiting PROBE_DOWN on Inflight.
#[test]
fn down_ends_when_there_is_headroom_and_no_queue() {
    let mut path = path(SHALLOW);
    path.run_until("a bound", |path| state(path) == UP && bbr(path).model.inflight_longterm.is_finite());
    until(&mut path, DOWN);
    assert_eq!(bbr(&path).pacing_gain(), 0.9);
    let may_cruise = |bbr: &Bbr| {
        bbr.inflight() <= bbr.inflight_with_headroom() && bbr.inflight() <= bbr.inflight_at(bbr.model.max_bw, 1.0)
    };
    assert!(!may_cruise(bbr(&path)));
    assert_eq!(next_state(&mut path), CRUISE);
    assert!(bbr(&path).inflight() <= bbr(&path).inflight_with_headroom() + MSS as f64);
    // In the next ACKs nothing else happens: only both conditions had been missing.
    assert!(bbr(&path).inflight_with_headroom() < bbr(&path).model.inflight_longterm);
}

/// Exiting PROBE_DOWN After Max Time.
#[test]
fn down_ends_in_a_probe_when_its_time_is_over() {
    let mut path = path(DEEP);
    until(&mut path, UP);
    until(&mut path, DOWN);
    // The rate falls by more than DOWN yields: the queue grows.
    path.rate = mbit(0.85 * RATE);
    let start = path.now;
    assert_eq!(next_state(&mut path), REFILL);
    let wait = bbr(&path).machine.bw_probe_wait;
    let rounds = bbr(&path).machine.rounds_since_probe_up;
    let is_reno_time = rounds as f64 >= (bbr(&path).target_inflight() / MSS as f64).min(63.0);
    assert!(path.now.since(start) > wait || is_reno_time, "{:?} of {wait:?}", path.now.since(start));
    assert!(path.now.since(start) > Duration::from_secs(1));
}

/// Entering and Exiting PROBE_RTT.
#[test]
fn probe_rtt_comes_after_five_seconds_and_goes_on_for_200_ms_and_a_round() {
    let mut path = path(DEEP);
    until(&mut path, CRUISE);
    path.run_until("ProbeRTT", |path| state(path) == State::ProbeRtt);
    let (entered, stamp) = (path.now, bbr(&path).model.probe_rtt_min_stamp);
    assert_eq!(bbr(&path).cwnd_gain(), 0.5);
    // The stamp is new: the delay that expired is replaced by the sample at hand.
    assert_eq!(stamp, entered);
    let (bdp, window) = (bbr(&path).bdp(), bbr(&path).control.cwnd);
    assert_within(window, 0.5 * bdp, 1e-9);
    let mut drained_at = None;
    path.run_until("end of ProbeRTT", |path| {
        if drained_at.is_none() && bbr(path).inflight() <= bbr(path).probe_rtt_cwnd() {
            drained_at = Some(path.now);
        }
        state(path) != State::ProbeRtt
    });
    let held = path.now.since(drained_at.unwrap());
    assert!(held > ms(200) && held < ms(300), "{held:?}");
    assert_eq!(state(&path), CRUISE);
    assert!(bbr(&path).control.cwnd > 1.9 * bdp, "the window is restored");
    assert_within(bbr(&path).model.min_rtt, 0.0412, 0.01);
    let goodput = path.goodput_over(Duration::from_secs(2));
    assert!(goodput > 0.9 * 8.0 * payload(RATE), "{goodput}");
}

/// Skipping PROBE_RTT Due to Application-Limited Sending.
#[test]
fn a_pause_is_as_good_as_probe_rtt() {
    let mut path = path(DEEP);
    until(&mut path, CRUISE);
    path.set_application(Application::Pauses);
    // A timer for nothing may be left, no more.
    path.run_until("silence", |path| bbr(path).inflight() == 0.0);
    path.now += Duration::from_secs(6);
    path.set_application(Application::Greedy);
    assert!(bbr(&path).machine.idle_restart);
    // "paces packets at exactly BBR.bw", less the margin.
    assert_within(bbr(&path).control.pacing_rate, 0.99 * bbr(&path).model.bw, 1e-9);
    let mut states = Vec::new();
    let end = path.now + ms(500);
    path.run_until("half a second", |path| {
        states.push(state(path));
        path.now >= end
    });
    assert!(!states.contains(&State::ProbeRtt));
    assert!(!bbr(&path).machine.idle_restart);
    // The delay was measured again.
    assert!(path.now.since(bbr(&path).model.probe_rtt_min_stamp) < ms(600));
}

/// Achieving Expected STARTUP Bandwidth on a Link With Aggregation.
#[test]
fn startup_finds_the_rate_where_acks_come_together() {
    let mut path = path(DEEP);
    path.ack_grid = ms(20);
    let (mut most_extra, mut widest) = (0.0f64, 0.0f64);
    path.run_until("end of Startup", |path| {
        let Bbr { model, control, .. } = bbr(path);
        most_extra = most_extra.max(model.extra_acked);
        widest = widest.max(control.cwnd / bbr(path).bdp());
        state(path) != State::Startup
    });
    // The ACKs of 20 ms come at once: 24 kB, of which none was expected that soon.
    assert!(most_extra > 0.8 * 0.02 * payload(RATE), "{most_extra}");
    assert!(widest > 2.0, "{widest}");
    assert!(bbr(&path).machine.full_bw_reached);
    // A segment that leaves with the first ACK of a bunch counts the rest of it: four bunches in three intervals, at most.
    let max_bw = bbr(&path).model.max_bw;
    assert!(max_bw > 0.98 * payload(RATE) && max_bw < 4.0 / 3.0 * payload(RATE), "{max_bw}");
}

/// Achieving Expected Cruise Bandwidth on a Link With Aggregation.
#[test]
fn cruise_keeps_the_link_busy_where_acks_come_together() {
    let mut path = path(DEEP);
    until(&mut path, CRUISE);
    assert!(bbr(&path).model.extra_acked < 4.0 * MSS as f64);
    path.ack_grid = ms(60);
    let start = bbr(&path).model.round_count;
    let mut seen = Vec::new();
    path.run_until("ten rounds", |path| {
        seen.push(bbr(path).model.extra_acked);
        bbr(path).model.round_count > start + 10
    });
    let Bbr { model, control, .. } = bbr(&path);
    let most = seen.iter().copied().fold(0.0, f64::max);
    assert!(most > 0.05 * payload(RATE), "{most}");
    // "BBR.max_inflight": the aggregate is added to the product.
    let wanted = (2.0 * bbr(&path).bdp() + model.extra_acked).max(3.0 * control.send_quantum);
    assert_within(control.max_inflight, wanted, 0.2);
    let goodput = path.goodput_over(Duration::from_secs(3));
    assert!(goodput > 0.85 * 8.0 * payload(RATE), "{goodput}");
}

/// Correctly Managing Sub-Packet BDPs.
#[test]
fn four_segments_are_the_least_window() {
    // 1 Mbit/s and 4 ms: a third of a packet.
    let mut path = Path::new("bbr3", mbit(1.0), ms(4), 50);
    path.run_until("ProbeBW", |path| matches!(state(path), State::ProbeBw(_)));
    path.run_for(Duration::from_secs(1));
    assert!(bbr(&path).bdp() < 2.0 * MSS as f64);
    let end = path.now + Duration::from_secs(8);
    path.run_until("eight seconds", |path| {
        assert!(bbr(path).control.cwnd >= 4.0 * MSS as f64);
        path.now >= end
    });
    assert_within(bbr(&path).model.bw, payload(1.0), 0.05);
    let goodput = path.goodput_over(Duration::from_secs(3));
    assert!(goodput > 0.95 * 8.0 * payload(1.0), "{goodput}");
}

/// Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached.
#[test]
fn ten_times_the_rate_is_found_in_some_round_trips_of_probing() {
    // In the shallow buffer there is a bound on what is in flight.
    let mut path = path(SHALLOW);
    path.run_until("a bound", |path| state(path) == CRUISE && bbr(path).model.inflight_longterm.is_finite());
    path.rate = mbit(10.0 * RATE);
    path.limit = 10 * SHALLOW;
    let mut slopes = Vec::new();
    let mut probing = 0;
    let mut round = bbr(&path).model.round_count;
    path.run_until("the new rate", |path| {
        let Bbr { model, machine, .. } = bbr(path);
        if machine.state == UP && slopes.last() != Some(&machine.bw_probe_up_rounds) {
            slopes.push(machine.bw_probe_up_rounds);
        }
        probing += u32::from(machine.state == UP && model.round_count != round);
        round = model.round_count;
        model.max_bw > 0.9 * payload(10.0 * RATE)
    });
    // From 34 packets to 340, of which one UP phase does all: growth by 1, 2, 4 ... segments in a round trip.
    assert!(slopes.windows(4).any(|steps| steps == [1, 2, 3, 4]), "{slopes:?}");
    assert!(probing <= 30, "{probing} round trips in UP");
}

/// Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down.
#[test]
fn a_tenth_of_the_rate_is_found_by_losses_and_in_two_cycles() {
    let mut path = Path::new("bbr3", mbit(100.0), ms(40), 170);
    until(&mut path, CRUISE);
    path.rate = mbit(10.0);
    path.limit = 17;
    let start = path.now;
    path.run_until("a bound on the rate", |path| bbr(path).model.bw_shortterm < 0.5 * payload(100.0));
    assert!(path.now.since(start) < Duration::from_secs(1), "{:?}", path.now.since(start));
    path.run_until("the new rate", |path| bbr(path).model.max_bw < 1.1 * payload(10.0));
    assert!(path.now.since(start) < Duration::from_secs(20), "{:?}", path.now.since(start));
    assert_within(bbr(&path).model.max_bw, payload(10.0), 0.1);
}

/// Handling Token Bucket Policers.
#[test]
fn a_policer_is_obeyed_after_its_burst() {
    let mut path = Path::new("bbr3", mbit(100.0), ms(40), 400);
    until(&mut path, CRUISE);
    path.policer = Some((100_000.0, mbit(10.0)));
    path.run_until("losses", |path| bbr(path).model.inflight_shortterm.is_finite());
    assert!(bbr(&path).model.bw_shortterm < payload(100.0));
    path.run_for(Duration::from_secs(30));
    let (sent, lost, end) = (path.sent, path.lost, path.now + Duration::from_secs(20));
    // The excess of each probe above the policer's rate, in segments.
    let (mut excess, mut before, mut probes) = (0.0, state(&path), 0);
    path.run_until("the end", |path| {
        let now = state(path);
        if now == UP && before != UP {
            // A probe lasts from the round of REFILL to the round of UP whose ACKs show the first losses; the round after that is
            // in flight when they come. In each of the three no more leaves than BBRProbeBW_UP's gain of 1.25 times max_bw.
            let round = 0.04;
            excess += 3.0 * round * (1.25 * bbr(path).model.max_bw - payload(10.0)).max(0.0) / MSS as f64;
            probes += 1;
        }
        before = now;
        path.now >= end
    });
    let (lost, sent) = ((path.lost - lost) as f64, (path.sent - sent) as f64);
    // Only what is above the policer's rate is lost, and BBR.bw_shortterm keeps what is between probes below it.
    assert!(probes >= 5 && lost <= excess, "{lost} of {sent} are lost, {excess} in {probes} probes");
    let goodput = (sent - lost) / 20.0 * MSS as f64;
    assert!(goodput > 0.7 * payload(10.0), "{goodput}");
}

fn short_and_long_term(path: &Path) -> [f64; 3] {
    let model = &bbr(path).model;
    [model.bw_shortterm, model.inflight_shortterm, model.inflight_longterm]
}

fn saved(path: &Path) -> [f64; 3] {
    let model = &bbr(path).model;
    [model.undo_bw_shortterm, model.undo_inflight_shortterm, model.undo_inflight_longterm]
}

/// Handling Spurious Fast Recovery.
#[test]
fn a_spurious_fast_recovery_is_undone() {
    let mut path = path(DEEP);
    until(&mut path, UP);
    path.run_for(ms(60));
    let before = short_and_long_term(&path);
    // Four packets of about fifty in flight are taken for lost: more than 2 %.
    path.late = (4, ms(15));
    path.run_until("end of UP", |path| state(path) != UP);
    assert!(bbr(&path).in_loss_recovery && bbr(&path).machine.prev_probe_too_high);
    assert!(bbr(&path).model.inflight_longterm.is_finite());
    assert_eq!(saved(&path), before);
    let window = bbr(&path).control.prior_cwnd;
    path.run_until("undo", |path| short_and_long_term(path) == before);
    // "returning to ProbeBW by starting a refill phase to restart the bandwidth probe".
    assert_eq!((state(&path), bbr(&path).model.undo_state), (REFILL, None));
    assert!(bbr(&path).control.cwnd >= window.min(bbr(&path).control.max_inflight));
    assert_eq!(next_state(&mut path), UP);
    assert_eq!(path.lost, 0);
}

/// The same while cruising: without the undo the round with the loss would bound the rate.
#[test]
fn a_spurious_fast_recovery_bounds_nothing() {
    let mut path = path(DEEP);
    until(&mut path, CRUISE);
    path.run_for(ms(100));
    path.late = (1, ms(15));
    path.run_until("recovery", |path| bbr(path).in_loss_recovery);
    path.run_for(ms(200));
    assert_eq!(short_and_long_term(&path), [f64::INFINITY; 3]);
    // It does for a packet that is lost.
    path.run_until("cruising", |path| state(path) == CRUISE);
    path.lose_each = path.sent + 1;
    path.run_until("a bound", |path| bbr(path).model.bw_shortterm.is_finite());
}

/// Handling Spurious RTO Recovery.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut path = Path::with(CcSpec::Bbr3(Bbr3::default()), mbit(RATE), ms(40), DEEP, with_timestamps);
    until(&mut path, UP);
    path.run_for(ms(60));
    let window = bbr(&path).control.cwnd;
    // Everything is late from now on for a moment: the route is longer by far.
    path.delay = ms(1200);
    path.run_for(ms(1));
    path.run_until("timeout", |path| bbr(path).in_loss_recovery);
    assert_eq!(bbr(&path).control.cwnd, MSS as f64);
    assert!(bbr(&path).control.prior_cwnd >= window);
    assert_eq!(saved(&path), [f64::INFINITY; 3]);
    // All that it had sent was lost at once, which ended UP.
    assert!(bbr(&path).machine.prev_probe_too_high && state(&path) != UP);
    path.run_until("repair", |path| !bbr(path).in_loss_recovery);
    assert_eq!(short_and_long_term(&path), [f64::INFINITY; 3]);
    assert!(bbr(&path).control.cwnd >= window.min(bbr(&path).control.max_inflight));
    assert!(matches!(state(&path), REFILL | UP), "{:?}", state(&path));
}

/// Entering and Exiting PROBE_RTT During STARTUP.
#[test]
fn probe_rtt_in_startup_goes_back_to_startup() {
    let mut path = path(DEEP);
    path.set_application(Application::Every(ms(5)));
    // Its RTT grows, so that the first one is the smallest.
    path.run_for(ms(500));
    path.delay = ms(60);
    until(&mut path, State::ProbeRtt);
    assert!(!bbr(&path).machine.full_bw_reached);
    assert_eq!(next_state(&mut path), State::Startup);
    assert_eq!(bbr(&path).pacing_gain(), 2.77);
    path.set_application(Application::Greedy);
    until(&mut path, CRUISE);
    assert_within(bbr(&path).model.max_bw, payload(RATE), 0.02);
}

/// Handling Loss During PROBE_UP After inflight_longterm is Set.
#[test]
fn a_loss_in_up_lowers_the_bound_and_ends_it() {
    let mut path = path(SHALLOW);
    path.run_until("a bound", |path| state(path) == CRUISE && bbr(path).model.inflight_longterm.is_finite());
    // The buffer grows, the bound with it, and then losses come.
    path.limit = DEEP;
    path.run_until("UP without precaution", |path| {
        let Machine { state, is_bw_probe_sample, prev_probe_too_high, .. } = bbr(path).machine;
        state == UP && is_bw_probe_sample && !prev_probe_too_high
    });
    path.run_for(ms(50));
    let before = bbr(&path).model.inflight_longterm;
    let least = bbr(&path).target_inflight() * 0.7;
    path.lose_each = 4;
    assert_eq!(next_state(&mut path), DOWN);
    let Bbr { machine, model, .. } = bbr(&path);
    assert!(machine.prev_probe_too_high && !machine.full_bw_now && !machine.is_bw_probe_sample);
    assert!(model.inflight_longterm < before && model.inflight_longterm >= 0.99 * least, "{}", model.inflight_longterm);
}

/// Handling Application-Limited Sending During PROBE_REFILL.
#[test]
fn what_the_application_limits_in_refill_is_no_measure_of_the_path() {
    let mut path = path(DEEP);
    until(&mut path, REFILL);
    let max_bw = bbr(&path).model.max_bw;
    path.set_application(Application::Every(ms(10)));
    let mut rates = Vec::new();
    path.run_until("UP", |path| {
        rates.push(bbr(path).model.max_bw);
        state(path) != REFILL
    });
    assert_eq!(state(&path), UP);
    assert!(rates.iter().all(|rate| *rate >= max_bw));
    path.run_for(ms(300));
    assert_eq!((state(&path), bbr(&path).model.max_bw >= max_bw), (UP, true));
    path.set_application(Application::Greedy);
    assert_eq!(next_state(&mut path), DOWN);
    assert_within(bbr(&path).model.max_bw, payload(RATE), 0.02);
}
