//! CUBIC against RFC 9438 §5, and against Reno where it means to be Reno's equal.

use super::*;
use ackclock::cc::Cubic;

/// One packet in this number is lost. A cycle then takes about a hundred round trips.
const PERIOD: u64 = 100_000;

/// RFC 9438 §4.7: with a single flow "Fast Convergence SHOULD be disabled". Equation and model omit it.
fn alone() -> Cubic {
    Cubic { fast_convergence: false, ..Cubic::default() }
}

fn mean_of_the_closed_form(period: u64) -> f64 {
    let Cubic { c, remaining, .. } = alone();
    closed_form::cubic_periodic_loss_window(c, remaining, RTT_SECS, 1.0 / period as f64)
}

/// The window before each cut: a concave cycle from `remaining` to 1 has the mean (3 + remaining) / 4.
fn peak_of_the_closed_form(period: u64) -> f64 {
    mean_of_the_closed_form(period) * 4.0 / (3.0 + alone().remaining)
}

/// Every 1/p-th packet is lost. The first loss is in slow start, where the loss of packet n + 1 leaves a peak of n +
/// 2.
fn losses_from(first_peak: f64, period: u64, cycles: u64) -> LossPlan {
    let first = first_peak as u64 - 1;
    LossPlan::losing((0..cycles).map(|cycle| first + cycle * period).collect())
}

/// Windows cycle by cycle, without packets. After a cut at `x`, the window is constant for the round trip of
/// recovery. It then follows the curve until 1/p packets are sent.
struct Cycles {
    cubic: Cubic,
    period: u64,
    peak: f64,
    time: f64,
    integral: f64,
}

impl Cycles {
    fn next(&mut self) {
        let Cubic { c, remaining, .. } = self.cubic;
        let (w_max, low) = (self.peak, remaining * self.peak);
        let k = libm::cbrt((w_max - low) / c);
        let sum = |t: f64| w_max * t + c * ((t - k).powi(4) - k.powi(4)) / 4.0;
        // Packets are windows over round trips.
        let packets = |t: f64| low + sum(t) / RTT_SECS;
        let (mut early, mut late) = (0.0, 10.0 * k);
        while late - early > 1e-9 {
            let middle = 0.5 * (early + late);
            *(if packets(middle) < self.period as f64 { &mut early } else { &mut late }) = middle;
        }
        self.time += RTT_SECS + early;
        self.integral += low * RTT_SECS + sum(early);
        self.peak = w_max + c * (early - k).powi(3);
    }
}

fn mean_from(cubic: Cubic, first_peak: f64, secs: f64) -> f64 {
    mean_of(cubic, first_peak, PERIOD, secs)
}

fn mean_of(cubic: Cubic, first_peak: f64, period: u64, secs: f64) -> f64 {
    // More losses than the run has packets for; a window is at most a third beyond the mean.
    let cycles = (1.4 * mean_of_the_closed_form(period) * secs / RTT_SECS) as u64 / period + 20;
    let result = common::run(&ample(CcSpec::Cubic(cubic), losses_from(first_peak, period, cycles), secs));
    assert_eq!(only_flow(&result).timeouts, 0);
    only_flow(&result).cwnd_mean_segments.unwrap()
}

/// The form leaves out the round trip in recovery, one of a hundred.
#[test]
fn periodic_loss_follows_the_closed_form_from_its_own_peak() {
    let (peak, expected) = (peak_of_the_closed_form(PERIOD), mean_of_the_closed_form(PERIOD));
    assert_within(-0.01, mean_from(alone(), peak, 400.0), expected, 0.002, "from the peak of the form");
    // A peak a little below the last one makes the next plateau 15 % lower.
    assert_within(-0.15, mean_from(Cubic::default(), peak, 400.0), expected, -0.05, "with fast convergence");
}

/// The mean window of many cycles, from the peak of the closed form.
fn mean_of_the_cycles(period: u64) -> f64 {
    let peak = peak_of_the_closed_form(period);
    let mut cycles = Cycles { cubic: alone(), period, peak, time: 0.0, integral: 0.0 };
    (0..200).for_each(|_| cycles.next());
    cycles.integral / cycles.time
}

/// The reduction of the closed form by the round trip of recovery, to the first order. The closed form omits this
/// round trip. A cycle from `low` to the peak P takes K seconds. It sends 1/p packets, `low` P of them in recovery. P
/// is proportional to the packets of the curve to the power of 3/4. It is therefore lower by 3/4 `low` P p. The cycle
/// has K / RTT round trips and one more. In this one, the window is `low` P instead of the mean of the curve.
fn recovery_term(period: u64) -> f64 {
    let (Cubic { c, remaining: low, .. }, peak) = (alone(), peak_of_the_closed_form(period));
    let lower = 1.0 - 0.75 * low * peak / period as f64;
    let rounds = libm::cbrt((1.0 - low) * peak * lower / c) / RTT_SECS;
    let mean_of_the_curve = (3.0 + low) / 4.0;
    lower * (low + rounds * mean_of_the_curve) / ((1.0 + rounds) * mean_of_the_curve) - 1.0
}

/// RFC 9438 §5 without the Reno-friendly region and the round trip of recovery. This round trip is negligible where a
/// cycle has a hundred of them. It amounts to 5 % at p = 1e-2, where a cycle has seventeen. With this term,
/// simulation and closed form agree within 2 % at every loss rate. The rest at p = 1e-2 comes from windows of four to
/// six segments, because the sender sends only whole segments.
#[test]
fn the_response_function_holds_from_one_loss_in_a_hundred_packets_to_one_in_a_hundred_thousand() {
    for period in [100, 300, 1_000, 3_000, 10_000, 30_000, PERIOD] {
        let cubic = Cubic { reno_friendly: false, ..alone() };
        let secs = if period < 10_000 { 200.0 } else { 400.0 };
        let mean = mean_of(cubic, peak_of_the_closed_form(period), period, secs);
        assert_within(-0.05, mean, mean_of_the_cycles(period), 0.05, &format!("cycles, every {period}th packet"));
        let expected = mean_of_the_closed_form(period);
        let with_recovery = expected * (1.0 + recovery_term(period));
        assert_within(-0.02, mean, with_recovery, 0.02, &format!("closed form and recovery, every {period}th packet"));
        if recovery_term(period) > -0.04 {
            assert_within(-0.05, mean, expected, 0.05, &format!("closed form, every {period}th packet"));
        }
    }
    assert!(recovery_term(100) < -0.04 && recovery_term(300) > -0.04 && recovery_term(PERIOD) > -0.01);
}

/// A peak x at a relative distance e from the closed form approaches it by e^3 per cycle. The curve is flat there.
/// After n cycles its distance is still about 1/sqrt(n). The assignment of a packet to a round trip contributes one
/// in a hundred.
#[test]
fn periodic_loss_follows_the_cycles_from_any_peak() {
    let secs = 400.0;
    for part in [0.5, 0.8, 1.5] {
        let peak = part * peak_of_the_closed_form(PERIOD);
        let mut cycles = Cycles { cubic: alone(), period: PERIOD, peak, time: 0.0, integral: 0.0 };
        let mut integral_at = |time: f64| {
            while cycles.time < time {
                cycles.next();
            }
            (cycles.integral, cycles.time)
        };
        // From the first cut after the warm-up to the first after the end.
        let ((before, warmup), (after, end)) = (integral_at(secs / 5.0), integral_at(secs));
        let (mean, expected) = (mean_from(alone(), peak, secs), (after - before) / (end - warmup));
        assert_within(-0.01, mean, expected, 0.01, &format!("from {part} of the peak"));
        let (low, high) = if part < 1.0 { (-0.15, -0.1) } else { (0.1, 0.2) };
        assert_within(
            low,
            mean,
            mean_of_the_closed_form(PERIOD),
            high,
            &format!("closed form, from {part} of the peak"),
        );
    }
}

#[test]
fn where_it_means_to_be_friendly_it_has_the_mean_window_of_reno() {
    // Cycles of 80 round trips last a second, after which the curve has not caught up with Reno.
    let mean = |cc: CcSpec| {
        let mut plan = ample(cc, LossPlan::Periodic { period: 10_000, offset: 0 }, 200.0);
        for link in &mut plan.links {
            link.delay = link.delay / 10;
        }
        only_flow(&common::run(&plan)).cwnd_mean_segments.unwrap()
    };
    let cubic = mean(by_name("cubic"));
    // RFC 9438 §4.3: the increase 3 (1 - 0.7) / (1 + 0.7) for a decrease to 0.7.
    assert_within(-0.001, cubic, mean(aimd(9.0 / 17.0, 0.7)), 0.001, "AIMD(9/17, 0.7)");
    // A round trip in recovery, in which nothing grows, is one of 82 for Reno and one of 93 for CUBIC; and it leaves
    // 0.5 and 0.7 of the window.
    assert_within(-0.01, cubic, mean(by_name("aimd")), 0.01, "AIMD(1, 0.5)");
    assert_within(-0.02, cubic, closed_form::periodic_loss_window(1.0, 0.5, 1e-4), 0.0, "closed form of Reno");
}
