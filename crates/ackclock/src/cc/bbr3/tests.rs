//! The draft's test cases, and exchanges worked out from its text.

mod cases;
mod exchanges;

use super::*;

#[test]
fn parameters_have_bounds() {
    let check = |change: fn(&mut Bbr3)| {
        let mut parameters = Bbr3::default();
        change(&mut parameters);
        parameters.check().is_ok()
    };
    let kept: [fn(&mut Bbr3); 4] =
        [|_| {}, |it| it.headroom = 0.0, |it| it.startup_pacing_gain = 10.0, |it| it.up_pacing_gain = 10.0];
    assert!(kept.into_iter().all(check));
    let refused: [fn(&mut Bbr3); 14] = [
        |it| it.loss_thresh = 0.0,
        |it| it.loss_thresh = 1.0,
        |it| it.beta = 0.0,
        |it| it.beta = 1.0,
        |it| it.headroom = -0.1,
        |it| it.headroom = 1.0,
        |it| it.startup_pacing_gain = 1.0,
        |it| it.startup_pacing_gain = 10.1,
        |it| it.drain_pacing_gain = 0.0,
        |it| it.drain_pacing_gain = 1.0,
        |it| it.down_pacing_gain = 0.0,
        |it| it.down_pacing_gain = 1.0,
        |it| it.up_pacing_gain = 1.0,
        |it| it.up_pacing_gain = 10.1,
    ];
    assert!(!refused.into_iter().any(check));
}

#[test]
fn the_window_limits_for_a_round() {
    let mut bbr = Bbr::new(Bbr3::default(), CcContext::new(10.0));
    bbr.delivered = 3000;
    bbr.in_flight_bytes = 2000;
    bbr.note_cwnd_limited();
    for (delivered, limited) in [(4999, true), (5000, false)] {
        bbr.delivered = delivered;
        assert_eq!(bbr.is_cwnd_limited(), limited);
    }
}

#[test]
fn the_reader_sees_bits_per_second() {
    let mut bbr = Bbr::new(Bbr3::default(), CcContext::new(10.0));
    (bbr.model.max_bw, bbr.model.bw) = (125_000.0, 100_000.0);
    let mut seen = Vec::new();
    Bbr3Controller(Box::new(bbr)).probe(&mut |name, value| seen.push((name.to_owned(), value)));
    assert_eq!(seen[1..3], [("max_bw_bps".to_owned(), 1e6), ("bw_bps".to_owned(), 8e5)]);
}

#[test]
fn a_segment_that_leaves_no_room_for_another_is_limited_by_the_window() {
    let limited = |beyond: u64| {
        let mut controller = Bbr3Controller(Box::new(Bbr::new(Bbr3::default(), CcContext::new(10.0))));
        let smss = controller.0.smss as u64;
        controller.0.control.cwnd = (10 * smss) as f64;
        let path = PathView { in_flight_bytes: 9 * smss + beyond, ..PathView::default() };
        controller.on_sent(&Sent {
            now: Instant::ZERO,
            bytes: smss as u32,
            retransmission: false,
            idle_for: None,
            path,
        });
        controller.0.is_cwnd_limited()
    };
    assert!(!limited(0) && limited(1));
}
