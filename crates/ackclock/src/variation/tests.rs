use super::*;
use crate::rng::RngStreams;

const END: Instant = Instant::from_nanos(3_600_000_000_000);

fn at(secs: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64_round(secs)
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).unwrap()
}

fn stream() -> Rng {
    RngStreams::new(1, 0).stream("link", "rate")
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn of(schedule: Schedule, most: u64) -> Variation {
    VariationPlan::Schedule(schedule).build(rate(most), END, stream)
}

fn of_walk(kind: WalkKind, min_bps: u64, max_bps: u64) -> Variation {
    let walk = Walk { kind, min_bps, max_bps, step: Duration::from_millis(1) };
    VariationPlan::Walk(walk).build(rate(max_bps), END, stream)
}

fn pieces(mut variation: Variation, count: usize) -> Vec<(u64, f64)> {
    (0..count)
        .map(|_| {
            let piece = variation.piece();
            variation.advance();
            (piece.rate_bps, piece.until.as_secs_f64())
        })
        .collect()
}

/// The mean over the first hour, in steps of a millisecond: 3.6 million draws.
fn mean(mut variation: Variation) -> f64 {
    variation.mean_bps(Instant::ZERO, END)
}

#[test]
fn a_square_starts_high_and_has_the_mean_of_its_rates() {
    let square = || of(Schedule::square(10_000_000, 5_000_000, secs(5)), 10_000_000);
    assert_eq!(pieces(square(), 3), [(10_000_000, 5.0), (5_000_000, 10.0), (10_000_000, 15.0)]);
    assert_eq!(square().mean_bps(at(0.0), at(20.0)), 7_500_000.0);
    // 2 s of 10, 5 s of 5, 1 s of 10.
    assert_eq!(square().mean_bps(at(3.0), at(11.0)), 55_000_000.0 / 8.0);
    assert_eq!(square().mean_bps(at(7.0), at(7.0)), 5_000_000.0);
}

#[test]
fn steps_end_with_the_last_or_begin_again() {
    let steps = vec![(1_000, secs(1)), (0, secs(2)), (500, secs(1)), (7, Duration::ZERO)];
    let once = of(Schedule::once(steps.clone()), 1_000);
    assert_eq!(pieces(once, 4), [(1_000, 1.0), (0, 3.0), (500, 4.0), (500, FAR.as_secs_f64())]);
    let again = of(Schedule::cycle(steps), 1_000);
    assert_eq!(pieces(again, 5), [(1_000, 1.0), (0, 3.0), (500, 4.0), (1_000, 5.0), (0, 7.0)]);
}

#[test]
fn no_piece_exceeds_the_highest_rate_and_the_complement_takes_the_rest() {
    let square = of(Schedule::square(10, 4, secs(1)), 8);
    assert_eq!(pieces(square.clone(), 3), [(8, 1.0), (4, 2.0), (8, 3.0)]);
    assert_eq!(pieces(square.clone().complement(), 3), [(0, 1.0), (4, 2.0), (0, 3.0)]);
    assert_eq!(pieces(square.clone().complement().complement(), 9), pieces(square, 9));
}

#[test]
fn ramps_have_the_mean_of_the_lines_that_they_follow() {
    // Up in halves: 0 to 8 has the means 2 and 6.
    assert_eq!(
        pieces(of(Schedule::triangle(0, 8, 2, secs(4)), 8), 5),
        [(2, 1.0), (6, 2.0), (6, 3.0), (2, 4.0), (2, 5.0)]
    );
    assert_eq!(
        pieces(of(Schedule::sawtooth(0, 8, 4, secs(4)), 8), 5),
        [(1, 1.0), (3, 2.0), (5, 3.0), (7, 4.0), (1, 5.0)]
    );
    // 7 s in 3 steps: no nanosecond is lost.
    let mut saw = of(Schedule::sawtooth(1_000, 7_000, 3, secs(7)), 7_000);
    assert_eq!(saw.seek(at(6.9)).until, at(7.0));
    assert!((saw.mean_bps(at(7.0), at(14.0)) - 4_000.0).abs() < 1e-3);
}

#[test]
fn a_trace_gives_its_opportunities_in_the_millisecond_that_ends_with_them() {
    let packet = 8 * 1504 * 1000;
    // Two in the third millisecond, one in the fourth, one in the sixth; then from the beginning.
    let millis = [3, 3, 4, 6];
    let trace = of(Schedule::opportunities(&millis, Duration::from_millis(1)), 3 * packet);
    let expected = [
        (0, 0.002),
        (2 * packet, 0.003),
        (packet, 0.004),
        (0, 0.005),
        (packet, 0.006),
        (0, 0.008),
        (2 * packet, 0.009),
    ];
    assert_eq!(pieces(trace.clone(), 7), expected);
    assert!((trace.clone().bits_between(at(0.0), at(0.012)) - 8.0 * 8.0 * 1504.0).abs() < 1e-6);
    // Over bins of 4 ms: three packets, and one in the 2 ms that are left.
    let coarse = of(Schedule::opportunities(&millis, Duration::from_millis(4)), 3 * packet);
    assert_eq!(pieces(coarse, 3), [(packet * 3 / 4, 0.004), (packet / 2, 0.006), (packet * 3 / 4, 0.010)]);
}

#[test]
fn opportunities_at_0_are_those_at_the_end_of_the_period_before() {
    // mahimahi adds the last time to its base at the wrap: 0, 1, 2 and 2, 3, 4 and 4, 5, 6 are delivered.
    let packet = 8 * 1504 * 1000;
    let trace = of(Schedule::opportunities(&[0, 1, 2], Duration::from_millis(1)), 2 * packet);
    let expected = [(packet, 0.001), (2 * packet, 0.002), (packet, 0.003), (2 * packet, 0.004)];
    assert_eq!(pieces(trace, 4), expected);
}

#[test]
fn random_rates_have_half_the_highest_as_their_mean() {
    // The mean of n uniform draws has the standard error high / sqrt(12 n).
    let high = 10_000_000.0;
    let error = high / (12.0 * 3.6e6_f64).sqrt();
    let mean = mean(of_walk(WalkKind::Anywhere, 0, 10_000_000));
    assert!((mean - high / 2.0).abs() < 4.0 * error, "{mean}");
}

#[test]
fn an_additive_walk_far_from_its_bound_has_delta_as_its_mean() {
    // m = (m + delta) / 2; consecutive rates have a correlation of 1/2, which triples the variance of the mean. The
    // variance v = E[(B + delta)^2] / 3 - delta^2 gives v = delta^2 / 2.
    let delta = 1_000_000.0;
    let error = delta * (0.5f64 * 3.0 / 3.6e6).sqrt();
    let mean = mean(of_walk(WalkKind::Additive { start: 1_000_000, delta: 1_000_000 }, 0, 1_000_000_000));
    assert!((mean - delta).abs() < 4.0 * error, "{mean}");
}

/// The mean of a walk as it is written in the paper, with numbers of its own.
fn simulated(mut next: impl FnMut(f64, f64) -> f64, start: f64, max: f64) -> f64 {
    let mut rngs = RngStreams::new(7, 7).stream("direct", "simulation");
    let (mut rate, mut sum, steps) = (start, 0.0, 3_600_000);
    for _ in 0..steps {
        sum += rate;
        rate = next(rate, rngs.next_f64()).clamp(0.0, max);
    }
    sum / f64::from(steps)
}

#[test]
fn clamped_walks_have_the_mean_of_a_direct_simulation() {
    let (start, max) = (1e6, 3e6);
    let near = |kind: WalkKind, direct: f64, tolerance: f64| {
        let mean = mean(of_walk(kind, 0, 3_000_000));
        assert!((mean - direct).abs() < tolerance * direct, "{kind:?}: {mean}, not {direct}");
    };
    let around = simulated(|rate, drawn| rate + 5e5 * (2.0 * drawn - 1.0), start, max);
    near(WalkKind::Around { start: 1_000_000, delta: 500_000 }, around, 0.03);
    let additive = simulated(|rate, rngs| (rate + 2.5e5) * rngs, start, max);
    near(WalkKind::Additive { start: 1_000_000, delta: 250_000 }, additive, 0.005);
    // A factor of 5/3 dies out: E ln(5/3 u) = ln(5/3) - 1 < 0. Beyond e it does not.
    let multiplicative = simulated(|rate, rngs| rate * 4.0 * rngs, start, max);
    near(WalkKind::Multiplicative { start: 1_000_000, factor: 4.0 }, multiplicative, 0.02);
}

#[test]
fn a_multiplicative_walk_below_e_dies_out_unless_something_holds_it() {
    let walk = |min| of_walk(WalkKind::Multiplicative { start: 1_000_000, factor: 5.0 / 3.0 }, min, 10_000_000);
    // 1000 steps with a mean logarithm of -.49 and a standard deviation of 1 each.
    assert_eq!(walk(0).seek(at(1.0)).rate_bps, 0);
    let held = mean(walk(100_000));
    assert!(held > 100_000.0 && held < 1_000_000.0, "{held}");
}

#[test]
fn on_and_off_times_have_their_means() {
    let mean_of = |millis| Duration::from_millis(millis);
    let on_off = OnOff { high_bps: 9_000_000, low_bps: 1_000_000, mean_high: mean_of(30), mean_low: mean_of(10) };
    let mut variation = VariationPlan::OnOff(on_off).build(rate(9_000_000), END, stream);
    // 90,000 cycles: the share of 3/4 has an error of sqrt(2) x 3/16 / 300.
    let mean = variation.mean_bps(Instant::ZERO, END);
    assert!((mean - 7_000_000.0).abs() < 4.0 * 8_000_000.0 * 0.000_884, "{mean}");
    let began_high = (0..1000).filter(|seed| {
        let rngs = || RngStreams::new(*seed, 0).stream("link", "rate");
        VariationPlan::OnOff(on_off).build(rate(9_000_000), END, rngs).piece().rate_bps == 9_000_000
    });
    // 750 of 1000, within four standard errors.
    assert!(began_high.count().abs_diff(750) < 55);
}

#[test]
fn a_wifi_station_visits_all_rates_alike_and_shares_the_air() {
    let wifi = |stations| {
        let plan = VariationPlan::Wifi(Wifi { max_bps: 65_000_000, stations });
        plan.build(rate(65_000_000), END, stream).mean_bps(Instant::ZERO, END) / 65e6
    };
    // 4.3 / 8; with two others half of the time: 1/4 + 1/2 x 1/2 + 1/4 x 1/3 = 7/12 of that.
    assert!((wifi(0) - 0.5375).abs() < 0.03, "{}", wifi(0));
    assert!((wifi(2) - 0.5375 * 7.0 / 12.0).abs() < 0.03, "{}", wifi(2));
}

#[test]
fn an_lte_link_moves_as_far_as_it_should_and_has_outages() {
    let lte = Lte { max_bps: 11_000_000, volatility: 0.2, mean_outage: secs(1) };
    let mut variation = VariationPlan::Lte(lte).build(rate(11_000_000), END, stream);
    let (mut squares, mut moves, mut outages, mut lasted) = (0.0, 0, 0, 0.0);
    let mut before = variation.piece();
    while variation.piece().until < END {
        let begin = variation.piece().until;
        variation.advance();
        let piece = variation.piece();
        let inside = |rate: u64| rate > 2_000_000 && rate < 9_000_000;
        if inside(before.rate_bps) {
            let step = (piece.rate_bps as f64 - before.rate_bps as f64) / 11e6;
            squares += step * step;
            moves += 1;
        }
        if piece.rate_bps == 0 {
            outages += 1;
            lasted += piece.until.since(begin).as_secs_f64();
        }
        before = piece;
    }
    // .2 per root of a second: .2^2 x .02 per step.
    let variance = squares / f64::from(moves);
    assert!((variance / 8e-4 - 1.0).abs() < 4.0 * (2.0 / f64::from(moves)).sqrt(), "{variance}");
    let mean = lasted / f64::from(outages);
    assert!(outages > 100 && (mean - 1.0).abs() < 4.0 / f64::from(outages).sqrt(), "{outages} of {mean} s");
}

#[test]
fn a_slot_of_a_satellite_begins_with_an_interruption() {
    let leo = Leo { min_bps: 50, max_bps: 200, slot: secs(15), interruption: Duration::from_millis(100) };
    let pieces = pieces(VariationPlan::Leo(leo).build(rate(200), END, stream), 400);
    let first = pieces[0].1;
    assert!(first <= 15.0);
    for (number, pair) in pieces[1..].chunks_exact(2).enumerate() {
        let begin = first + 15.0 * number as f64;
        assert_eq!(pair[0].0, 0);
        assert!((pair[0].1 - begin - 0.1).abs() < 1e-6 && (pair[1].1 - begin - 15.0).abs() < 1e-6);
        assert!((50..=200).contains(&pair[1].0));
    }
    let mean = pieces[1..].chunks_exact(2).map(|pair| pair[1].0 as f64).sum::<f64>() / 199.0;
    assert!((mean - 125.0).abs() < 4.0 * 150.0 / (12.0f64 * 199.0).sqrt(), "{mean}");
}

#[test]
fn the_same_stream_gives_the_same_pieces_however_one_looks_at_them() {
    let walk = || of_walk(WalkKind::Around { start: 5_000, delta: 1_000 }, 0, 10_000);
    let (mut slow, mut fast) = (walk(), walk());
    for millis in (0..1000).step_by(7) {
        let now = Instant::ZERO + Duration::from_millis(millis);
        for _ in 0..3 {
            assert_eq!(slow.clone().seek(now), fast.seek(now));
        }
        slow.seek(now);
    }
}

#[test]
fn behind_the_end_of_the_run_a_rate_stays() {
    let end = at(2.5);
    let plan = VariationPlan::Schedule(Schedule::square(8, 0, secs(1)));
    let mut square = plan.build(rate(8), end, stream);
    assert_eq!(square.seek(at(2.9)), Piece { rate_bps: 8, until: at(3.0) });
    assert_eq!(square.seek(at(3.5)), Piece { rate_bps: 8, until: FAR });
}

mod pace {
    use super::*;
    use proptest::prelude::*;

    fn pace(schedule: Schedule) -> VariableRateSerializer {
        VariableRateSerializer::new(of(schedule, 1_000_000_000_000))
    }

    #[test]
    fn a_packet_spans_pieces_of_different_rates() {
        // 1000 B are 8000 bits: 1 s at 2000 bit/s, nothing for 2 s, 1.5 s at 4000 bit/s.
        let steps = vec![(2_000, secs(1)), (0, secs(2)), (4_000, secs(10))];
        let mut pace = pace(Schedule::once(steps));
        assert_eq!(pace.send(Instant::ZERO, 1000), at(4.5));
        assert_eq!(pace.send(at(4.5), 1000), at(6.5));
        // A pause costs what would have passed.
        assert_eq!(pace.send(at(9.0), 1000), at(11.0));
    }

    #[test]
    fn a_packet_ends_with_its_piece_or_begins_with_the_next_one() {
        let mut pace = pace(Schedule::square(8_000, 4_000, secs(1)));
        assert_eq!(pace.send(Instant::ZERO, 1000), at(1.0));
        assert_eq!(pace.send(at(1.0), 500), at(2.0));
        assert_eq!(pace.send(at(2.0), 1000), at(3.0));
    }

    #[test]
    fn what_never_passes_takes_longer_than_any_run() {
        let mut pace = pace(Schedule::once(vec![(8_000, secs(1)), (0, secs(1))]));
        assert_eq!(pace.send(Instant::ZERO, 500), at(0.5));
        assert_eq!(pace.send(at(0.5), 1000), FAR);
        assert_eq!(pace.send(FAR, 1), FAR);
    }

    #[test]
    fn fractions_of_nanoseconds_are_carried_over_from_piece_to_piece() {
        // A byte at 24 bit/s takes a third of a second; at 48 bit/s a sixth. Two and four of them fill a second.
        let mut pace = pace(Schedule::square(24, 24, Duration::from_millis(1)));
        let times: Vec<u64> = (0..6).map(|_| pace.send(pace.free_at(), 1).as_nanos()).collect();
        assert_eq!(times, [333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333, 1_666_666_666, 2_000_000_000]);
    }

    proptest! {
        #[test]
        fn a_constant_rate_gives_the_times_of_a_plain_transmission(
            bps in 1_000u64..10_000_000_000,
            length in 1u64..10_000_000,
            packets in prop::collection::vec((1u32..9000, 0u64..2_000_000), 1..100),
        ) {
            let mut pace = pace(Schedule::square(bps, bps, Duration::from_nanos(length)));
            let (mut free_at, mut left_over) = (Instant::ZERO, 0);
            for (bytes, idle) in packets {
                let start = free_at + Duration::from_nanos(idle);
                if idle > 0 {
                    left_over = 0;
                }
                let (length, remainder) = rate(bps).transmission(u64::from(bytes));
                left_over += remainder;
                free_at = start + length;
                if left_over >= bps {
                    left_over -= bps;
                    free_at += Duration::from_nanos(1);
                }
                prop_assert_eq!(pace.send(start, bytes), free_at);
            }
        }

        #[test]
        fn no_more_bits_pass_than_the_integral_of_the_rate(
            steps in prop::collection::vec((0u64..100_000_000, 1u64..50_000_000), 1..20),
            packets in prop::collection::vec((1u32..3000, 0u64..3_000_000), 1..100),
        ) {
            let mut steps: Vec<_> = steps.iter().map(|(bps, nanos)| (*bps, Duration::from_nanos(*nanos))).collect();
            steps.push((1_000_000, secs(1)));
            let variation = of(Schedule::cycle(steps), 1_000_000_000);
            let mut pace = VariableRateSerializer::new(variation.clone());
            let (mut end, mut sent) = (Instant::ZERO, Vec::new());
            for (bytes, idle) in packets {
                let start = end + Duration::from_nanos(idle);
                end = pace.send(start, bytes);
                sent.push((start, end, 8.0 * f64::from(bytes)));
            }
            for first in 0..sent.len() {
                let bits: f64 = sent[first..].iter().map(|(_, _, bits)| bits).sum();
                let possible = variation.clone().bits_between(sent[first].0, end);
                // Ends are rounded down by less than a nanosecond: at 1 Gbit/s, a bit each.
                prop_assert!(bits <= possible + 2.0, "{} bits in the room of {}", bits, possible);
            }
            // And not less where the queue never runs empty.
            for (start, end, bits) in sent {
                let possible = variation.clone().bits_between(start, end);
                prop_assert!(possible <= bits + 1.0, "{} bits took the room of {}", bits, possible);
            }
        }
    }
}
