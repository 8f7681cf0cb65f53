//! The formulas of GCC with hand-computed values, and a queue that grows.

use super::*;
use crate::cc::tests::ms;
use crate::cc::{PathView, Restart};

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

fn gcc() -> GccController {
    Gcc::default().controller(CcContext { mss: 1200, packet_bytes: 1240, ..CcContext::new(10.0) })
}

/// A packet of 1200 bytes, by its times in milliseconds.
fn report(sent: f64, arrived: f64) -> PacketReport {
    let time = |millis: f64| at((millis * 1000.0) as u64);
    PacketReport { number: 0, bytes: 1200, sent_at: time(sent), arrived_at: time(arrived), is_marked: false }
}

/// Groups begin at 0, 30, 60 and 90 ms. The last packet of the second one is 4 ms late.
#[test]
fn packets_of_a_burst_are_one_group() {
    let mut groups = Groups::default();
    let times = [(0.0, 20.0), (5.0, 25.0), (30.0, 51.0), (34.0, 58.0), (60.0, 84.0), (90.0, 114.0)];
    let variations: Vec<_> =
        times.iter().filter_map(|(sent, arrived)| groups.add(&report(*sent, *arrived), ms(5))).collect();
    // (58 - 25) - (34 - 5) = 4, and (84 - 58) - (60 - 34) = 0.
    assert_eq!((variations, groups.count), (vec![4.0, 0.0], 2));
    // 26 ms are the shortest of 29 and 26.
    assert!((groups.rate() - 1e3 / 26.0).abs() < 1e-9);
    // A packet that was sent before the group, and one that arrives in a burst with it.
    assert_eq!(groups.add(&report(80.0, 116.0), ms(5)), None);
    assert_eq!(groups.add(&report(100.0, 117.0), ms(5)), None);
    assert_eq!(groups.current.map(|group| (group.sent_at, group.arrived_at)), Some((at(100_000), at(117_000))));
}

#[test]
fn the_filter_is_a_scalar_kalman_filter() {
    let mut filter = Filter { gradient: 0.0, error: 0.1, variance: 50.0 };
    filter.add(10.0, 30.0, 0.01);
    // k = 0.101 / 50.101, and the variance is 0.99 * 50 + 0.01 * 100.
    assert!((filter.gradient - 10.0 * 0.101 / 50.101).abs() < 1e-12);
    assert!((filter.error - 0.101 * 50.0 / 50.101).abs() < 1e-12);
    assert!((filter.variance - 50.5).abs() < 1e-12);
    // A residual beyond three deviations counts as three, and half the group rate forgets twice.
    let mut outlier = Filter { gradient: 0.0, error: 0.1, variance: 4.0 };
    outlier.add(100.0, 15.0, 0.01);
    assert!((outlier.variance - (0.9801 * 4.0 + 0.0199 * 36.0)).abs() < 1e-12);
    let mut quiet = Filter { gradient: 0.0, error: 0.1, variance: 1.0 };
    quiet.add(0.0, 30.0, 0.01);
    assert_eq!(quiet.variance, 1.0);
}

#[test]
fn overuse_needs_a_time_above_the_threshold_and_a_gradient_that_does_not_fall() {
    let parameters = Gcc::default();
    let mut detector = gcc().detector;
    // The first group counts for half of its interval of 16 ms, which is less than 10 ms.
    for (number, gradient, signal) in [
        (0, 13.0, Signal::Normal),
        (1, 14.0, Signal::Overuse),
        (2, 5.0, Signal::Normal),
        (3, -13.0, Signal::Underuse),
        (4, 0.0, Signal::Normal),
        (5, 20.0, Signal::Normal),
        (6, 19.0, Signal::Normal),
        (7, 19.5, Signal::Overuse),
    ] {
        detector.threshold = 12.5;
        detector.add(at(16_000 * number), gradient, 16.0, &parameters);
        assert_eq!(detector.signal, signal, "{number}");
    }
}

#[test]
fn the_threshold_follows_the_gradient_within_its_bounds() {
    let parameters = Gcc::default();
    let mut detector = gcc().detector;
    detector.adapt(at(0), 20.0, &parameters);
    assert_eq!(detector.threshold, 12.5);
    // 10 ms * 0.01 * 7.5, then 10 ms * 0.00018 * (5 - 13.25).
    detector.adapt(at(10_000), 20.0, &parameters);
    assert!((detector.threshold - 13.25).abs() < 1e-12);
    detector.adapt(at(20_000), 5.0, &parameters);
    assert!((detector.threshold - (13.25 - 0.0018 * 8.25)).abs() < 1e-12);
    // An excess above 15 ms is ignored, and 6 ms is the least.
    let before = detector.threshold;
    detector.adapt(at(30_000), before + 15.1, &parameters);
    assert_eq!(detector.threshold, before);
    (0..200_000).for_each(|number| detector.adapt(at(40_000 + 10_000 * number), 0.0, &parameters));
    assert_eq!(detector.threshold, 6.0);
}

#[test]
fn the_states_follow_the_table_of_the_draft() {
    use Signal::{Normal, Overuse, Underuse};
    use State::{Decrease, Hold, Increase};
    let mut cc = gcc();
    for (signal, next) in [
        (Overuse, [Decrease, Decrease, Decrease]),
        (Normal, [Increase, Increase, Hold]),
        (Underuse, [Hold, Hold, Hold]),
    ] {
        cc.detector.signal = signal;
        let states = [Hold, Increase, Decrease].map(|state| {
            cc.state = state;
            cc.next_state()
        });
        assert_eq!(states, next, "{signal:?}");
    }
}

#[test]
fn the_rate_grows_by_a_factor_and_near_convergence_by_half_a_packet() {
    let mut cc = gcc();
    (cc.rate, cc.rtt) = (500_000.0, 0.1);
    cc.increase(500_000.0, 1.0);
    assert_eq!(cc.rate, 540_000.0);
    // 1.5 times the received rate is the most, but does not reduce the estimate.
    cc.increase(300_000.0, 1.0);
    assert_eq!(cc.rate, 540_000.0);
    // 720 kbit/s are 24 000 bits per frame: three packets of 8000 bits. 0.1 s is half of the response time.
    (cc.rate, cc.maximum) = (720_000.0, Some((700_000.0, 100.0 * 100.0)));
    cc.increase(700_000.0, 0.1);
    assert_eq!(cc.rate, 722_000.0);
    // The factor holds below the range and above it, where the mean is also forgotten.
    cc.increase(699_000.0, 1.0);
    assert!((cc.rate - 722_000.0 * 1.08).abs() < 1e-6 && cc.maximum.is_some());
    cc.increase(701_000.0, 1.0);
    assert!((cc.rate - 722_000.0 * 1.08 * 1.08).abs() < 1e-6 && cc.maximum.is_none());
}

#[test]
fn a_decrease_leaves_a_part_of_the_received_rate() {
    let mut cc = gcc();
    (cc.rate, cc.rtt) = (1_000_000.0, 0.05);
    cc.decrease(at(1_000_000), 900_000.0);
    assert_eq!((cc.rate, cc.maximum), (765_000.0, Some((900_000.0, 45_000.0 * 45_000.0))));
    // Again after an RTT, and never upwards.
    cc.decrease(at(1_049_999), 700_000.0);
    assert_eq!(cc.rate, 765_000.0);
    cc.decrease(at(1_050_000), 800_000.0);
    let (mean, variance) = cc.maximum.unwrap();
    assert_eq!((cc.rate, mean), (680_000.0, 895_000.0));
    assert!((variance - (0.95 * 45_000.0f64.powi(2) + 0.05 * 1e10)).abs() < 1e-3);
    cc.decrease(at(2_000_000), 2_000_000.0);
    assert_eq!(cc.rate, 680_000.0);
}

/// Acknowledges and loses so many packets.
fn ack(millis: u64, delivered: u32, lost: u32) -> Ack {
    let path = PathView { mss: 1200, srtt: ms(50), latest_rtt: ms(50), ..PathView::default() };
    let now = Instant::ZERO + ms(millis);
    Ack { now, newly_delivered: delivered, newly_lost: lost, path, ..Ack::of(0.0) }
}

#[test]
fn losses_above_a_tenth_reduce_in_proportion() {
    for (delivered, lost, factor) in [(80, 20, 0.9), (90, 10, 1.0), (98, 2, 1.0), (99, 1, 1.05)] {
        let mut cc = gcc();
        (cc.losses.rate, cc.rate) = (500_000.0, 1e6);
        cc.count_losses(&ack(0, 0, 0));
        cc.count_losses(&ack(499, delivered, 0));
        assert_eq!(cc.losses.rate, 500_000.0);
        cc.count_losses(&ack(500, 0, lost));
        assert!((cc.losses.rate - 500_000.0 * factor).abs() < 1e-6, "{lost}: {}", cc.losses.rate);
    }
    // The delay-based rate bounds it.
    let mut cc = gcc();
    (cc.losses.rate, cc.rate) = (500_000.0, 400_000.0);
    cc.count_losses(&ack(0, 0, 0));
    cc.count_losses(&ack(500, 10, 0));
    assert_eq!((cc.losses.rate, cc.target()), (400_000.0, 400_000.0));
}

/// A packet of 1200 bytes every 10 ms is 960 kbit/s. From 1 s on, each is 1 ms later than the one before.
#[test]
fn a_growing_queue_reduces_the_rate() {
    let mut cc = gcc();
    cc.rate = 960_000.0;
    cc.losses.rate = 960_000.0;
    let mut late = 0.0;
    for number in 0..200u32 {
        let sent = 10.0 * f64::from(number);
        late += if number >= 100 { 1.0 } else { 0.0 };
        cc.on_reports(at(0), &[report(sent, sent + 20.0 + late)]);
        let now = (sent + 50.0 + late) as u64;
        cc.on_ack(&ack(now, 1, 0));
        if number == 99 {
            assert!(cc.rate > 960_000.0 && cc.state == State::Increase, "{}", cc.rate);
        }
    }
    // 11 ms per packet are 873 kbit/s.
    assert!(cc.target() < 0.86 * 873_000.0, "{}", cc.target());
    assert_eq!(cc.target_rate(), Rate::from_bps(cc.target() as u64));
}

#[test]
fn the_received_rate_is_that_of_half_a_second() {
    let mut received = Received::default();
    for number in 0..=50 {
        received.add(at(10_000 * number), 1000);
        assert_eq!(received.rate().is_some(), number == 50);
    }
    // 51 packets within 500 ms, the first one included.
    assert_eq!(received.rate(), Some(51.0 * 8_000.0 / 0.5));
    received.add(at(10_000_000), 500);
    assert_eq!(received.rate(), Some(8_000.0));
}

#[test]
fn packets_are_paced_faster_with_an_encoder_and_silence_halves_the_rate() {
    let mut cc = gcc();
    assert_eq!((cc.pacing_rate(), cc.target_rate()), (Rate::from_bps(310_000), None));
    let rate = Rate::from_bps(1_000_000).unwrap();
    let least = Rate::from_bps(200_000).unwrap();
    cc.on_frame(&MediaFrame { now: at(0), bytes: 1, waiting: ms(0), interval: ms(33), least, most: rate });
    assert_eq!(cc.pacing_rate(), Rate::from_bps(775_000));
    let congestion =
        |kind| Congestion { now: at(0), kind, restart: Restart::SlowStart, flight_size: 0, path: PathView::default() };
    cc.on_congestion(&congestion(CongestionKind::Loss));
    assert_eq!(cc.target(), 300_000.0);
    cc.on_congestion(&congestion(CongestionKind::Timeout));
    assert_eq!(cc.target(), 200_000.0);
}

#[test]
fn parameters_out_of_range_are_named() {
    let gcc = Gcc::default();
    let rate = Rate::from_bps(4_999).unwrap();
    for (wrong, key) in [
        (Gcc { start_rate: rate, ..gcc.clone() }, "start_rate"),
        (Gcc { beta: 1.0, ..gcc.clone() }, "beta"),
        (Gcc { eta: 1.0, ..gcc.clone() }, "eta"),
        (Gcc { burst_time: Duration::ZERO, ..gcc.clone() }, "burst_time"),
        (Gcc { threshold: ms(5), ..gcc.clone() }, "threshold"),
        (Gcc { overuse_time: ms(1001), ..gcc.clone() }, "overuse_time"),
        (Gcc { k_up: -0.1, ..gcc.clone() }, "k_up"),
        (Gcc { k_down: 1.1, ..gcc.clone() }, "k_down"),
        (Gcc { chi: 0.0, ..gcc.clone() }, "chi"),
        (Gcc { groups: 0, ..gcc.clone() }, "groups"),
    ] {
        assert_eq!(wrong.check().unwrap_err().key(), key);
    }
}
