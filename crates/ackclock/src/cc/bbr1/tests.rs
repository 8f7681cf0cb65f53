//! Compares states and windows with the descriptions of BBRv1, with generated ACKs and on a path.

use super::*;
use crate::cc::tests::{Application, Path, mbit, ms};
use crate::cc::{Cc, CcSpec};

/// 12 Mbit/s are 1000 packets per second. With 100 ms, the BDP is 100 packets.
fn path(limit: usize) -> Path {
    Path::new("bbr1", mbit(12.0), ms(100), limit)
}

fn bbr(path: &Path) -> &Bbr {
    let Cc::Bbr1(controller) = path.cc() else { panic!("another algorithm") };
    &controller.0
}

fn until(path: &mut Path, mode: Mode) {
    path.run_until(&format!("{mode:?}"), |path| bbr(path).mode == mode);
}

fn assert_within(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() <= part, "{value}, expected {expected}");
}

/// With 1000 segments a second and 100 ms.
fn known() -> Bbr {
    let mut bbr = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    bbr.model.update_bw(&Sample { bw: 1000.0, ..Sample::of_a_timeout() });
    bbr.model.min_rtt = Some(ms(100));
    bbr.model.full_bw_reached = true;
    bbr.mode = Mode::ProbeBw;
    bbr.cycle_idx = 2;
    bbr.set_pacing_rate(1.0);
    bbr
}

#[test]
fn windows_and_bursts_by_hand() {
    let mut bbr = known();
    // 990 packets a second: 1412 bytes of payload in 1/1024 s, which is less than two segments.
    assert_eq!((bbr.wire_rate.as_bps(), bbr.tso_segs()), (11_880_000, 2.0));
    // 100 and three bursts; 125 and 6 make 131, and an even number; 2 more in the first phase.
    assert_eq!((bbr.inflight(1000.0, 1.0), bbr.inflight(1000.0, 1.25)), (106.0, 132.0));
    bbr.cycle_idx = 0;
    assert_eq!(bbr.inflight(1000.0, 1.0), 108.0);
    // 100.1 is rounded up before.
    assert_eq!(bbr.inflight(1001.0, 1.0), 110.0);
    // Below 1.2 Mbit/s a burst is a segment: 90 packets a second are 1.08 Mbit/s. Nine, and three bursts, make 12.
    bbr.cycle_idx = 2;
    bbr.set_rate(90.0);
    assert_eq!((bbr.tso_segs(), bbr.inflight(90.0, 1.0)), (1.0, 12.0));
    // 12 Gbit/s send 1426 kB of payload in 1/1024 s: a burst is 65 215 bytes, 44 segments.
    bbr.set_rate(1e6);
    assert_eq!(bbr.tso_segs(), 44.0);
}

#[test]
fn the_round_trip_of_the_handshake_is_the_first_minimum() {
    let mut bbr = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    let handshake = PathView { srtt: ms(14), min_rtt: ms(14), ..PathView::default() };
    bbr.begin(Instant::ZERO, &handshake);
    assert_eq!(bbr.model.min_rtt, Some(ms(14)));
    let mut without = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    without.begin(Instant::ZERO, &PathView::default());
    assert_eq!(without.model.min_rtt, None);
}

#[test]
fn bursts_have_a_bound_of_their_own() {
    let mut bbr = known();
    bbr.parameters.max_tso_segs = 1;
    // One segment leaves at a time: 100 and 3 make 103, and an even number.
    assert_eq!((bbr.tso_segs(), bbr.inflight(1000.0, 1.0)), (1.0, 104.0));
    // Segments of 100 bytes: 465 of them are the bytes of a burst.
    let context = CcContext { mss: 100, packet_bytes: 140, ..CcContext::new(10.0) };
    let mut bbr = Bbr::new(Bbr1::default(), context);
    bbr.set_rate(1e7);
    assert_eq!(bbr.tso_segs(), 127.0);
    for max_tso_segs in [0, 128] {
        assert!(Bbr1 { max_tso_segs, ..Bbr1::default() }.check().is_err());
    }
}

#[test]
fn phases_end_as_described() {
    let mut bbr = known();
    let at = |millis| Instant::ZERO + ms(millis);
    let rs = |prior_in_flight, losses| Sample { prior_in_flight, losses, ..Sample::of_a_timeout() };
    bbr.cycle_mstamp = at(0);
    bbr.cycle_idx = 0;
    // 1.25 products, three bursts, two: 134. A burst is still to come.
    let ends = |bbr: &Bbr, millis, in_flight, losses| bbr.is_next_cycle_phase(at(millis), &rs(in_flight, losses));
    assert!(!ends(&bbr, 101, 131.0, 0.0) && ends(&bbr, 101, 132.0, 0.0) && ends(&bbr, 101, 0.0, 1.0));
    assert!(!ends(&bbr, 100, 200.0, 9.0), "not before a min_rtt is over");
    bbr.cycle_idx = 1;
    assert!(!ends(&bbr, 100, 107.0, 0.0) && ends(&bbr, 101, 107.0, 0.0) && ends(&bbr, 1, 106.0, 0.0));
    bbr.cycle_idx = 2;
    assert!(!ends(&bbr, 100, 0.0, 1.0) && ends(&bbr, 101, 0.0, 0.0));
}

#[test]
fn probing_begins_in_any_phase_but_that_of_draining() {
    let first = |seed| {
        let mut bbr = Bbr::new(Bbr1::default(), CcContext { seed, ..CcContext::new(10.0) });
        bbr.probe_bw(Instant::ZERO);
        bbr.cycle_idx
    };
    let mut phases: Vec<_> = (0..200).map(first).collect();
    phases.sort_unstable();
    phases.dedup();
    assert_eq!(phases, [0, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn startup_drain_and_the_gain_cycle() {
    let mut path = path(400);
    let mut most = 0.0f64;
    path.run_until("Drain", |path| {
        most = most.max(bbr(path).pacing_gain());
        bbr(path).mode == Mode::Drain
    });
    assert_eq!(most, 2.885);
    assert_within(bbr(&path).model.max_bw(), 1000.0, 0.02);
    assert_within(bbr(&path).pacing_gain(), 0.347, 0.01);
    assert!(path.backlog() > 50, "{}", path.backlog());
    until(&mut path, Mode::ProbeBw);
    assert!(path.backlog() < 15, "{}", path.backlog());
    let mut gains: Vec<f64> = Vec::new();
    let mut phases = vec![bbr(&path).cycle_idx];
    let end = path.now + Duration::from_secs(3);
    path.run_until("three seconds", |path| {
        let phase = bbr(path).cycle_idx;
        if phases.last() != Some(&phase) {
            phases.push(phase);
            gains.push(bbr(path).pacing_gain());
        }
        path.now >= end
    });
    assert!(phases.windows(2).all(|two| two[1] == (two[0] + 1) % 8), "{phases:?}");
    let first = phases[1..].iter().position(|phase| *phase == 0).unwrap();
    assert_eq!(gains[first..first + 8], PACING_GAINS);
    assert!(path.lost == 0 && bbr(&path).cwnd <= 222.0, "two products, ACKs that come together, bursts");
}

#[test]
fn probe_rtt_comes_after_ten_seconds_with_four_segments() {
    let mut path = path(400);
    until(&mut path, Mode::ProbeBw);
    let stamp = bbr(&path).model.min_rtt_stamp;
    until(&mut path, Mode::ProbeRtt);
    assert!(path.now.since(stamp) > Duration::from_secs(10) && path.now.since(stamp) < Duration::from_secs(11));
    let before = bbr(&path).prior_cwnd;
    assert_eq!(bbr(&path).cwnd, 4.0);
    let mut low_at = None;
    path.run_until("its end", |path| {
        if low_at.is_none() && bbr(path).in_flight() <= 4.0 {
            low_at = Some(path.now);
        }
        bbr(path).mode != Mode::ProbeRtt
    });
    let held = path.now.since(low_at.unwrap());
    assert!(held > ms(200) && held < ms(410), "{held:?}");
    assert_eq!(bbr(&path).mode, Mode::ProbeBw);
    assert!(bbr(&path).cwnd >= 0.9 * before);
    // The samples of ProbeRTT do not lower the bandwidth.
    assert_within(bbr(&path).model.max_bw(), 1000.0, 0.02);
}

/// ProbeRTT began at 10.0007 s. Linux waits until the jiffy after the 200th.
#[test]
fn linux_counts_the_time_in_probe_rtt_in_jiffies() {
    let at = |micros| Instant::ZERO + Duration::from_micros(micros);
    for (arithmetic, last_held, first_over) in
        [(Arithmetic::Exact, 10_200_700, 10_200_701), (Arithmetic::Linux, 10_200_999, 10_201_000)]
    {
        let mut bbr = Bbr::new(Bbr1::default(), CcContext { arithmetic, ..CcContext::new(10.0) });
        bbr.model.min_rtt = Some(ms(100));
        bbr.mode = Mode::ProbeRtt;
        bbr.update_min_rtt(at(10_000_700));
        for (micros, mode) in [(last_held, Mode::ProbeRtt), (first_over, Mode::Startup)] {
            bbr.check_probe_rtt_done(at(micros));
            assert_eq!(bbr.mode, mode, "{arithmetic:?}, {micros} us");
        }
    }
}

#[test]
fn a_flow_that_pauses_needs_no_probe_rtt() {
    let mut path = path(400);
    until(&mut path, Mode::ProbeBw);
    path.set_application(Application::Pauses);
    path.run_until("silence", |path| bbr(path).in_flight() == 0.0);
    path.now += Duration::from_secs(11);
    path.set_application(Application::Greedy);
    assert!(bbr(&path).idle_restart);
    assert_within(bbr(&path).pacing_rate, 0.99 * bbr(&path).bw(), 1e-9);
    let end = path.now + ms(500);
    path.run_until("half a second", |path| {
        assert_eq!(bbr(path).mode, Mode::ProbeBw);
        path.now >= end
    });
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut path = path(400);
    until(&mut path, Mode::ProbeBw);
    path.run_for(ms(300));
    let window = bbr(&path).cwnd;
    path.lose_each = path.sent + 1;
    path.run_until("recovery", |path| bbr(path).packet_conservation);
    let it = bbr(&path);
    // The retransmission has left since.
    assert!((it.cwnd - it.in_flight()).abs() <= 1.0 && it.cwnd < window, "{} of {window}", it.cwnd);
    assert_eq!(it.prior_cwnd, window);
    path.run_until("its end", |path| bbr(path).prev_state != CaState::Recovery);
    assert!(bbr(&path).cwnd >= window.min(bbr(&path).inflight(bbr(&path).bw(), 2.0)));
}

#[test]
fn a_timeout_leaves_one_segment() {
    let mut path = path(400);
    until(&mut path, Mode::ProbeBw);
    path.run_for(ms(300));
    let window = bbr(&path).cwnd;
    path.delay = Duration::from_secs(3);
    path.run_until("timeout", |path| bbr(path).prev_state == CaState::Loss);
    assert_eq!((bbr(&path).cwnd, bbr(&path).prior_cwnd), (1.0, window));
    path.delay = ms(100);
    path.run_until("repair", |path| bbr(path).prev_state == CaState::Open);
    assert!(bbr(&path).cwnd > 0.8 * window, "{}", bbr(&path).cwnd);
}

/// Two intervals with a fifth of the packets lost, or more, and the same rate.
#[test]
fn a_policer_is_found_and_kept_for_48_round_trips() {
    let keeps = |long_term| {
        let spec = CcSpec::Bbr1(Bbr1 { long_term, ..Bbr1::default() });
        let mut path = Path::with(spec, mbit(48.0), ms(40), 400, |transport| transport);
        until(&mut path, Mode::ProbeBw);
        path.policer = Some((30_000.0, mbit(12.0)));
        let end = path.now + Duration::from_secs(20);
        let mut found = None;
        path.run_until("twenty seconds", |path| {
            if found.is_none() && bbr(path).long_term.bw_in_use().is_some() {
                let mut first = bbr(path).clone();
                first.cycle_idx = 0;
                found = Some((first.bw(), first.pacing_gain()));
            }
            found.is_some() || path.now >= end
        });
        found
    };
    let (bw, gain) = keeps(true).expect("a policer is found");
    assert_within(bw, 1000.0, 0.15);
    assert_eq!(gain, 1.0);
    assert_eq!(keeps(false), None);
}

#[test]
fn the_long_term_bandwidth_by_hand() {
    let mut model = Model::default();
    let mut long_term = LongTerm::default();
    let lossy = Sample { bw: 1000.0, acked: 1.0, ..Sample::of_a_timeout() };
    let mut now = Instant::ZERO;
    let mut round = |model: &mut Model, long_term: &mut LongTerm, delivered: u64, lost: u64| {
        now += ms(100);
        model.delivered += delivered * 1000;
        model.lost += lost * 1000;
        model.round_start = true;
        long_term.sample(now, &lossy, model, 1000.0, true)
    };
    // The interval begins with the first, which does not count: 240 segments and 60 losses in 0.3 s, and 20 %.
    for _ in 0..4 {
        round(&mut model, &mut long_term, 80, 20);
    }
    assert_eq!((long_term.bw, long_term.is_sampling), (Some(800.0), true));
    // 16 of 84 are 19.05 %, and 50/256 are 19.53 %: too few.
    for _ in 0..16 {
        round(&mut model, &mut long_term, 84, 16);
    }
    assert_eq!(long_term.bw_in_use(), None);
    // The next interval has 900 segments a second: within an eighth.
    for _ in 0..30 {
        round(&mut model, &mut long_term, 90, 25);
        if long_term.bw_in_use().is_some() {
            break;
        }
    }
    let bw = long_term.bw_in_use().expect("two intervals agree");
    assert!((800.0..=900.0).contains(&bw), "{bw}");
    let kept = (1..).find(|_| round(&mut model, &mut long_term, 90, 0)).unwrap();
    assert_eq!((kept, long_term.bw_in_use()), (48, None));
}

#[test]
fn recovery_sends_what_is_delivered_for_a_round_and_gives_the_window_back() {
    let mut bbr = known();
    let segments = |bbr: &Bbr, count: f64| (count * bbr.mss) as u64;
    let rs = |acked, losses| Sample { acked, losses, ..Sample::of_a_timeout() };
    bbr.cwnd = 200.0;
    bbr.save_cwnd();
    // What is in flight, and one for each that was delivered.
    bbr.path.in_flight_bytes = segments(&bbr, 60.0);
    assert!(bbr.recovers(&rs(2.0, 3.0), CaState::Recovery));
    assert_eq!(bbr.cwnd, 62.0);
    // Losses are taken off, down to the same.
    bbr.path.in_flight_bytes = segments(&bbr, 50.0);
    assert!(bbr.recovers(&rs(1.0, 5.0), CaState::Recovery));
    assert_eq!(bbr.cwnd, 57.0);
    bbr.path.in_flight_bytes = segments(&bbr, 60.0);
    assert!(bbr.recovers(&rs(3.0, 1.0), CaState::Recovery));
    assert_eq!(bbr.cwnd, 63.0);
    // A round later losses alone matter, and at the end the window is that of before.
    bbr.packet_conservation = false;
    assert!(!bbr.recovers(&rs(1.0, 2.0), CaState::Recovery));
    assert_eq!(bbr.cwnd, 61.0);
    assert!(!bbr.recovers(&rs(1.0, 0.0), CaState::Open));
    assert_eq!(bbr.cwnd, 200.0);
    bbr.cwnd = 100.0;
    assert!(!bbr.recovers(&rs(1.0, 0.0), CaState::Open));
    assert_eq!(bbr.cwnd, 100.0, "once");
}

#[test]
fn a_window_above_its_target_grows_in_startup_by_the_first_segments_alone() {
    let mut bbr = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    let acked = Sample { acked: 2.0, losses: 0.0, ..Sample::of_a_timeout() };
    bbr.model.update_bw(&Sample { bw: 1000.0, ..Sample::of_a_timeout() });
    bbr.model.min_rtt = Some(ms(10));
    bbr.cwnd = 200.0;
    bbr.model.delivered = (9.0 * bbr.mss) as u64;
    bbr.set_cwnd(&acked, CaState::Open);
    assert_eq!(bbr.cwnd, 202.0);
    bbr.model.delivered = (10.0 * bbr.mss) as u64;
    bbr.set_cwnd(&acked, CaState::Open);
    assert_eq!(bbr.cwnd, 202.0);
}

#[test]
fn the_first_round_trip_time_sets_the_rate() {
    let mut bbr = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    let at = |millis| Instant::ZERO + ms(millis);
    let rate = |segs_per_sec: f64| 2.885 * 0.99 * segs_per_sec;
    assert_within(bbr.pacing_rate, rate(10_000.0), 1e-9);
    let mut path = bbr.path;
    path.srtt = Duration::ZERO;
    bbr.begin(at(5), &path);
    assert_within(bbr.pacing_rate, rate(10_000.0), 1e-9);
    path.srtt = ms(50);
    bbr.begin(at(6), &path);
    assert_within(bbr.pacing_rate, rate(200.0), 1e-9);
    path.srtt = ms(100);
    bbr.begin(at(7), &path);
    assert_within(bbr.pacing_rate, rate(200.0), 1e-9);
    assert_eq!(bbr.cycle_mstamp, at(5));
}

#[test]
fn aggregation_counts_once_the_bandwidth_is_known() {
    let mut bbr = known();
    for _ in 0..2 {
        let bw = bbr.bw();
        bbr.model.update_ack_aggregation(Instant::ZERO, 20.0, bw, 200.0);
    }
    assert!(bbr.aggregation_cwnd() >= 20.0);
    bbr.model.full_bw_reached = false;
    assert_eq!(bbr.aggregation_cwnd(), 0.0);
    bbr.model.full_bw_reached = true;
    bbr.parameters.aggregation = false;
    assert_eq!(bbr.aggregation_cwnd(), 0.0);
}

#[test]
fn what_is_not_known_changes_nothing() {
    // No bandwidth, no rate.
    let mut bbr = Bbr::new(Bbr1::default(), CcContext::new(10.0));
    bbr.model.full_bw_reached = true;
    let before = bbr.pacing_rate;
    bbr.set_pacing_rate(1.0);
    assert_eq!(bbr.pacing_rate, before);
    // Phases are those of ProbeBW.
    let mut bbr = known();
    bbr.mode = Mode::ProbeRtt;
    bbr.update_cycle_phase(Instant::ZERO + Duration::from_secs(1), &Sample::of_a_timeout());
    assert_eq!(bbr.cycle_idx, 2);
    bbr.mode = Mode::ProbeBw;
    bbr.update_cycle_phase(Instant::ZERO + Duration::from_secs(1), &Sample::of_a_timeout());
    assert_eq!(bbr.cycle_idx, 3);
    // 102 segments a second are 1.19 Mbit/s of payload, and 103 are 1.203 Mbit/s.
    bbr.set_rate(102.0);
    assert_eq!(bbr.tso_segs(), 1.0);
    bbr.set_rate(103.0);
    assert_eq!(bbr.tso_segs(), 2.0);
}

#[test]
fn the_transport_and_the_reader_see_what_it_knows() {
    let mut bbr = known();
    bbr.cwnd = 120.0;
    let mut controller = Bbr1Controller(Box::new(bbr));
    assert_eq!((controller.ssthresh(), controller.send_quantum()), (120.0, 2 * 1460));
    let mut seen = Vec::new();
    controller.probe(&mut |name, value| seen.push((name.to_owned(), value)));
    let state = f64::from(Mode::ProbeBw as u8);
    let expected =
        [("bbr_state", state), ("max_bw_bps", 11.68e6), ("bw_bps", 11.68e6), ("min_rtt_s", 0.1), ("pacing_gain", 1.0)];
    assert_eq!(seen, expected.map(|(name, value)| (name.to_owned(), value)));
    controller.0.model.full_bw_reached = false;
    assert_eq!(controller.ssthresh(), f64::INFINITY);
    let path = controller.0.path;
    for _ in 0..2 {
        controller.on_loss(&Loss {
            now: Instant::ZERO,
            bytes: 1460,
            retransmission: false,
            tx_in_flight: 0,
            lost: 0,
            app_limited: false,
            path,
        });
    }
    assert_eq!((controller.0.losses, controller.0.model.lost), (2.0, 2 * 1460));
}
