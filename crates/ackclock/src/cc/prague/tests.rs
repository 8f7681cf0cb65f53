use super::*;
use crate::cc::{PathView, Restart};

const NOW: Instant = Instant::ZERO;

fn context(window: f64) -> CcContext {
    CcContext { initial_ssthresh: 1.0, counts_marks: true, ..CcContext::new(window) }
}

/// In congestion avoidance at this window.
fn at(window: f64, prague: &Prague) -> PragueController {
    prague.controller(context(window))
}

/// RTT independence from the first round trip on.
fn soon() -> Prague {
    Prague { rtt_transition_delay: 0, ..Prague::default() }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn path(srtt: Duration) -> PathView {
    PathView { srtt, latest_rtt: srtt, min_rtt: srtt, in_flight: 100, ..PathView::default() }
}

fn congestion(now: Instant, kind: CongestionKind) -> Congestion {
    Congestion { now, kind, restart: Restart::Reduced, flight_size: 0, path: path(ms(10)) }
}

fn ack(now: Instant, delivered: u32, marked: u32, srtt: Duration) -> Ack {
    let (newly_delivered, ce_count, ece) = (delivered, marked, marked > 0);
    Ack { now, newly_delivered, ce_count, ece, path: path(srtt), ..Ack::of(1.0) }
}

#[test]
fn packets_are_ect1_where_feedback_counts_marks() {
    let cc = at(10.0, &Prague::default());
    assert_eq!((cc.codepoint(), cc.responds_to_ecn()), (Ecn::Ect1, false));
    let classic = Prague::default().controller(CcContext::new(10.0));
    assert_eq!((classic.codepoint(), classic.responds_to_ecn()), (Ecn::Ect0, true));
}

/// The draft: cwnd += (acked_sacked - ece_delta) * ai / cwnd, regardless of a reduction before.
#[test]
fn unmarked_packets_grow_the_window_also_after_a_mark() {
    let mut cc = at(10.0, &Prague::default());
    cc.on_congestion(&congestion(NOW, CongestionKind::Ecn));
    assert_eq!(cc.cwnd(), 5.0);
    cc.on_ack(&ack(NOW, 4, 1, ms(50)));
    assert_eq!(cc.cwnd(), 5.0 + 3.0 / 5.0);
    cc.on_ack(&ack(NOW, 2, 2, ms(50)));
    assert_eq!(cc.cwnd(), 5.6, "marked packets do not");
}

#[test]
fn marks_reduce_in_proportion_and_losses_halve() {
    let mut cc = at(100.0, &Prague { alpha_on_init: 0.2, ..Prague::default() });
    cc.on_congestion(&congestion(NOW, CongestionKind::Ecn));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (90.0, 90.0));
    cc.on_congestion(&congestion(NOW, CongestionKind::Loss));
    assert_eq!(cc.cwnd(), 45.0);
}

/// (10/25)^2 of a segment per round trip of 10 ms.
#[test]
fn a_short_round_trip_adds_the_square_of_its_part_of_the_target() {
    let grown = |prague: &Prague, srtt| {
        let mut cc = at(100.0, prague);
        cc.on_ack(&ack(NOW, 100, 0, srtt));
        cc.cwnd() - 100.0
    };
    assert!((grown(&soon(), ms(10)) - 0.16).abs() < 1e-9);
    assert_eq!(grown(&soon(), ms(25)), 1.0);
    assert_eq!(grown(&soon(), ms(80)), 1.0);
    assert_eq!(grown(&Prague::default(), ms(10)), 1.0, "the transition has not passed");
    assert_eq!(grown(&Prague { rtt_independence: false, ..soon() }, ms(10)), 1.0);
}

#[test]
fn reductions_are_a_virtual_round_trip_apart() {
    let reduced_at = |prague: &Prague, millis: u64| {
        let mut cc = at(100.0, &Prague { alpha_on_init: 0.2, ..prague.clone() });
        cc.on_congestion(&congestion(NOW, CongestionKind::Ecn));
        cc.on_congestion(&congestion(NOW + ms(millis), CongestionKind::Ecn));
        cc.cwnd()
    };
    assert_eq!(reduced_at(&soon(), 24), 90.0);
    assert_eq!(reduced_at(&soon(), 25), 81.0);
    assert_eq!(reduced_at(&Prague::default(), 10), 81.0);
}

#[test]
fn the_estimate_changes_once_per_virtual_round_trip_and_after_the_first_mark() {
    let mut cc = at(100.0, &soon());
    let round = |cc: &mut PragueController, millis, marked| {
        cc.on_ack(&Ack { round_ended: true, ..ack(NOW + ms(millis), 10, marked, ms(10)) });
        cc.alpha
    };
    assert_eq!(round(&mut cc, 10, 0), 1.0, "no queue has marked");
    assert_eq!(round(&mut cc, 20, 10), 1.0);
    assert_eq!(round(&mut cc, 30, 0), 1.0);
    // 10 of the 30 packets since 10 ms.
    assert_eq!(round(&mut cc, 40, 0), 1.0 + (10.0 / 30.0 - 1.0) / 16.0);
}

#[test]
fn packets_are_paced_over_the_round_trip_in_bursts_of_a_quarter_of_a_millisecond() {
    let mut cc = at(100.0, &Prague::default());
    assert_eq!(cc.pacing_rate(), None);
    cc.on_ack(&ack(NOW, 0, 0, ms(10)));
    // 100 packets of 1500 B in 10 ms are 120 Mbit/s, of which 250 µs are 2.5 packets.
    assert_eq!(cc.pacing_rate(), Rate::from_bps(120_000_000));
    assert_eq!(cc.send_quantum(), 2 * 1460);
    let mut start = Prague::default().controller(CcContext { counts_marks: true, ..CcContext::new(10.0) });
    start.on_ack(&ack(NOW, 0, 0, ms(10)));
    assert_eq!((start.pacing_rate(), start.send_quantum()), (Rate::from_bps(24_000_000), 1460));
}

#[test]
fn without_counts_it_is_reno() {
    let mut cc = Prague::default().controller(CcContext { initial_ssthresh: 1.0, ..CcContext::new(16.0) });
    cc.on_ack(&Ack { ece: true, round_ended: true, ..ack(NOW, 4, 0, ms(10)) });
    assert_eq!(cc.cwnd(), 16.0, "an echo stops growth");
    for left in [8.0, 4.0, 2.0, 2.0] {
        cc.on_congestion(&congestion(NOW, CongestionKind::Ecn));
        assert_eq!(cc.cwnd(), left);
    }
}

#[test]
fn a_classic_queue_makes_the_fallback_halve() {
    let alpha = |mode| {
        let prague = Prague { classic_ecn: mode, alpha_on_init: 0.1, ..Prague::default() };
        let mut cc = at(16.0, &prague);
        cc.on_congestion(&congestion(NOW, CongestionKind::Ecn));
        for round in 0..200_u64 {
            let rtt = ms([20, 30, 40, 30][round as usize % 4]);
            let path = PathView { latest_rtt: rtt, min_rtt: ms(10), ..path(rtt) };
            cc.on_ack(&Ack { round_ended: true, path, ..ack(NOW + ms(30 * round), 10, 0, rtt) });
        }
        cc.effective_alpha()
    };
    assert!(alpha(ClassicEcnMode::Off) < 0.01 && alpha(ClassicEcnMode::Detect) < 0.01);
    assert_eq!(alpha(ClassicEcnMode::Fallback), 0.625);
}

#[test]
fn parameters_out_of_range_are_named() {
    let wrong = Prague { rtt_target: Duration::ZERO, ..Prague::default() };
    assert_eq!(
        wrong.check().unwrap_err().to_string(),
        "`rtt_target` is 0, but must be above 0 and at most 10 (seconds)"
    );
}
