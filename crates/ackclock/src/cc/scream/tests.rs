//! The formulas of SCReAM with hand-computed values.

use super::*;
use crate::cc::tests::ms;
use crate::cc::{PathView, Restart};

/// SCReAM with this window, packets of 1000 bytes and a smoothed RTT of 50 ms, before its first congestion event.
fn scream(window: f64, parameters: &Scream) -> ScreamController {
    let mut cc = parameters.controller(CcContext { mss: 1000, packet_bytes: 1040, ..CcContext::new(10.0) });
    (cc.window, cc.rtt) = (window, 0.05);
    cc
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// An ACK of so many packets, with a smoothed RTT of 50 ms.
fn ack(millis: u64, delivered: u32) -> Ack {
    let path = PathView { mss: 1000, srtt: ms(50), latest_rtt: ms(50), ..PathView::default() };
    Ack { now: at(millis), newly_delivered: delivered, path, ..Ack::of(f64::from(delivered)) }
}

fn frame(bytes: u64, waiting: Duration) -> MediaFrame {
    let rate = |kbps: u64| Rate::from_bps(1000 * kbps).unwrap();
    MediaFrame { now: at(0), bytes, waiting, interval: ms(20), least: rate(100), most: rate(2000) }
}

#[test]
fn losses_and_classic_marks_reduce_by_their_factors_once_per_interval() {
    for (is_loss, left) in [(true, 14_000.0), (false, 16_000.0)] {
        let mut cc = scream(20_000.0, &Scream::default());
        for now in [100, 124, 125] {
            (cc.has_lost, cc.is_marked) = (is_loss, !is_loss);
            cc.reduce(at(now), 1.0);
            let expected = if now == 125 { left * left / 20_000.0 } else { left };
            assert_eq!(cc.window, expected, "{now}");
        }
    }
    let mut small = scream(3_100.0, &Scream::default());
    small.has_lost = true;
    small.reduce(at(100), 1.0);
    assert_eq!((small.window, small.inflection.window), (3_000.0, 3_100.0));
}

/// All packets of four updates are marked, then none.
#[test]
fn the_marked_fraction_rises_fast_and_falls_slowly() {
    let mut cc = scream(20_000.0, &Scream::default());
    for number in 0..4 {
        (cc.marks.delivered, cc.marks.marked) = (10, 10);
        cc.update_marks(at(10 * number));
    }
    let risen = 1.0 - 0.875f64.powi(4);
    assert!((cc.marks.alpha - risen).abs() < 1e-12);
    cc.marks.delivered = 10;
    // 9 ms after the last update, and 10 ms.
    cc.update_marks(at(39));
    assert!((cc.marks.alpha - risen).abs() < 1e-12);
    cc.update_marks(at(40));
    assert!((cc.marks.alpha - risen * 127.0 / 128.0).abs() < 1e-12);
}

#[test]
fn marks_of_l4s_reduce_in_proportion() {
    let l4s = Scream { l4s: true, ..Scream::default() };
    // alpha/2 of 0.25, over twice the virtual RTT: 0.125. A short queue takes a quarter near the last event.
    for (delay, near, factor) in [(0.015, 0.1, 0.875), (0.0149, 0.1, 0.968_75), (0.0149, 1.0, 0.875)] {
        let mut cc = scream(20_000.0, &l4s);
        (cc.marks.alpha, cc.delay.now, cc.is_marked) = (0.5, delay, true);
        cc.flight.most_before = 20_000;
        cc.reduce(at(100), near);
        assert_eq!(cc.window, 20_000.0 * factor, "{delay} {near}");
    }
    // After a long time the flight of the last round trip is the window.
    let mut cc = scream(20_000.0, &l4s);
    (cc.is_marked, cc.flight.most_before) = (true, 8_000);
    cc.reduce(at(100), 1.0);
    assert_eq!(cc.window, 8_000.0);
    assert_eq!((cc.codepoint(), l4s.needs_ecn()), (Ecn::Ect1, EcnNeed::Counts));
}

/// 45 ms are half of the way to a target of 60 ms. The reduction is a quarter, over two virtual RTTs.
#[test]
fn delay_above_half_of_its_target_reduces_as_marks_do() {
    for (average, factor) in [(0.03, 1.0), (0.045, 0.875), (0.06, 0.75), (0.2, 0.75)] {
        let mut cc = scream(20_000.0, &Scream::default());
        cc.delay.average = average;
        cc.reduce(at(100), 1.0);
        assert!((cc.window - 20_000.0 * factor).abs() < 1e-9, "{average}: {}", cc.window);
    }
    // A rate of the encoder far below the acknowledged one leaves a quarter of the backoff.
    let mut cc = scream(20_000.0, &Scream::default());
    (cc.delay.average, cc.target, cc.acked_rate.bps) = (0.06, Some(7e5), 1e6);
    cc.reduce(at(100), 1.0);
    assert_eq!(cc.window, 20_000.0 * 0.9375);
}

#[test]
fn the_average_delay_rises_slowly_and_falls_at_once() {
    let mut cc = scream(20_000.0, &Scream::default());
    for (now, delay, average) in [(0, 0.08, 0.02), (24, 0.08, 0.02), (25, 0.08, 0.035), (50, 0.01, 0.01)] {
        cc.delay.now = delay;
        cc.update_delay(at(now));
        assert!((cc.delay.average - average).abs() < 1e-12, "{now}: {}", cc.delay.average);
    }
}

/// 10 000 bytes of a window of 10 000 are 1000 bytes of additive increase, and a fifth more.
#[test]
fn the_window_grows_by_a_packet_and_by_a_part_of_itself_per_round_trip() {
    for (detected, near, window) in [
        (None, 1.0, 11_200.0),
        // 2.5 s of 5 s have passed.
        (Some(0), 1.0, 11_100.0),
        // Near the last congestion event: a quarter, and a tenth of the fifth.
        (None, 0.1, 10_255.0),
    ] {
        let mut cc = scream(10_000.0, &Scream::default());
        (cc.flight.most, cc.acked.bytes, cc.detected_at) = (10_000, 10_000, detected.map(at));
        cc.increase(at(2_500), near);
        assert!((cc.window - window).abs() < 1e-9, "{}", cc.window);
    }
    // Marked bytes do not count, nor does a window beyond 1.5 flights and a packet.
    for (marked, most) in [(10_000, 10_000), (0, 6_000)] {
        let mut cc = scream(10_000.0, &Scream::default());
        (cc.flight.most, cc.acked) = (most, Acked { bytes: 10_000, marked_bytes: marked });
        cc.increase(at(2_500), 1.0);
        assert_eq!(cc.window, 10_000.0);
    }
    // At the largest rate of the encoder, the window stays.
    let mut cc = scream(10_000.0, &Scream::default());
    (cc.flight.most, cc.acked.bytes, cc.target) = (10_000, 10_000, Some(2e6));
    cc.encoder = Some(Encoder { least: 1e5, most: 2e6, interval: 0.02, waiting: 0.0, excess: 0.0 });
    cc.increase(at(2_500), 1.0);
    assert_eq!(cc.window, 10_000.0);
    let mut cc = scream(10_000.0, &Scream::default());
    for (inflection, distance) in [(9_000.0, 64.0 / 81.0), (12_000.0, 1.0), (9_900.0, 0.1)] {
        cc.inflection.window = inflection;
        assert!((cc.distance() - distance).abs() < 1e-12, "{inflection}");
    }
}

/// 10 000 bytes per 50 ms are 1.6 Mbit/s, less overhead and a sixth.
#[test]
fn the_rate_is_a_window_per_round_trip_less_reserves() {
    let mut cc = scream(10_000.0, &Scream::default());
    cc.set_target();
    let full = 1_600_000.0 / 1.02;
    assert!((cc.target.unwrap() - full / 1.2).abs() < 1.0);
    // A frame that waits for 25 ms of its 20: the error of 1 adds a sixteenth.
    cc.on_frame(&frame(100, ms(25)));
    assert!((cc.target.unwrap() - full / (1.2 + 0.0625)).abs() < 1.0);
    // A frame of twice the nominal size adds a 64th of 1.
    let nominal = cc.target.unwrap() * 0.02 / 8.0;
    cc.on_frame(&frame((2.0 * nominal).round() as u64, ms(5)));
    assert!((cc.target.unwrap() - full / (1.2 + 0.0625 + 1.0 / 64.0)).abs() < 200.0);
    // 5000 bytes are five packets: a tenth less.
    cc.window = 5_000.0;
    let before = cc.target.unwrap();
    cc.set_target();
    assert!((cc.target.unwrap() / before - 0.45).abs() < 1e-6);
    cc.window = 1e6;
    cc.set_target();
    assert_eq!(cc.target_rate(), Rate::from_bps(2_000_000));
}

#[test]
fn packets_are_paced_above_the_rate_and_more_at_the_largest_rate() {
    let mut cc = scream(10_000.0, &Scream::default());
    // Without an encoder, a window per RTT.
    cc.set_target();
    assert_eq!((cc.pacing_rate(), cc.cwnd()), (Rate::from_bps(1_664_000), 10.0));
    cc.on_frame(&frame(1000, ms(0)));
    for (target, factor) in [(20_000.0, 2.5), (1e6, 1.0), (1.6e6, 1.0), (1.8e6, 2.0), (2e6, 4.0)] {
        cc.target = Some(target);
        let rate = cc.pacing_rate().unwrap().as_bps() as f64;
        assert!((rate / (1.5 * 1.04 * target * factor) - 1.0).abs() < 1e-5, "{target}: {rate}");
    }
    assert_eq!(cc.cwnd(), 30.0);
}

#[test]
fn reports_give_one_way_delays_and_acks_give_round_trips() {
    let report = |sent, arrived, is_marked| PacketReport {
        number: 0,
        bytes: 1000,
        sent_at: at(sent),
        arrived_at: at(arrived),
        is_marked,
    };
    let mut cc = scream(10_000.0, &Scream::default());
    cc.on_reports(at(60), &[report(10, 30, false), report(12, 47, true)]);
    assert_eq!((cc.acked.bytes, cc.acked.marked_bytes, cc.delay.now), (2000, 1000, 0.0));
    cc.on_reports(at(70), &[report(20, 60, false)]);
    assert!((cc.delay.now - 0.005).abs() < 1e-9);
    let mut over_tcp = scream(10_000.0, &Scream::default());
    over_tcp.on_ack(&ack(50, 1));
    let late = PathView { latest_rtt: ms(58), ..ack(60, 1).path };
    over_tcp.on_ack(&Ack { path: late, ..ack(60, 1) });
    assert!((over_tcp.delay.now - 0.008).abs() < 1e-9);
}

#[test]
fn a_timeout_counts_as_a_loss() {
    let mut cc = scream(20_000.0, &Scream::default());
    let congestion = Congestion {
        now: at(500),
        kind: CongestionKind::Timeout,
        restart: Restart::SlowStart,
        flight_size: 0,
        path: PathView::default(),
    };
    cc.on_congestion(&congestion);
    assert_eq!((cc.window, cc.has_lost), (14_000.0, false));
    assert!(cc.target.is_some());
}

#[test]
fn parameters_out_of_range_are_named() {
    let scream = Scream::default();
    for (wrong, key) in [
        (Scream { qdelay_target: Duration::ZERO, ..scream.clone() }, "qdelay_target"),
        (Scream { loss_beta: 0.0, ..scream.clone() }, "loss_beta"),
        (Scream { ecn_beta: 1.5, ..scream.clone() }, "ecn_beta"),
        (Scream { increase: f64::NAN, ..scream.clone() }, "increase"),
        (Scream { virtual_rtt: Duration::from_secs(2), ..scream.clone() }, "virtual_rtt"),
        (Scream { post_congestion_rtts: 0, ..scream.clone() }, "post_congestion_rtts"),
        (Scream { min_window: 0, ..scream.clone() }, "min_window"),
    ] {
        assert_eq!(wrong.check().unwrap_err().key(), key);
    }
}
