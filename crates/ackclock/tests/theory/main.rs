//! Packets against theory: one long flow, where a formula or a small model predicts the result.
//!
//! The tolerances follow from the theory. `docs/reference/synchronous-model.md` describes the conventions.

mod bbr;
#[path = "../common/mod.rs"]
mod common;
mod cubic;
mod ideal_pipe;
mod renewal;
mod rng;

use ackclock::cc::{CcSpec, algorithms};
use ackclock::model::{Horizon, Peak, Setup, closed_form, long_run};
use ackclock::rule::aild::Aild;
use ackclock::rule::linear::Aimd;
use ackclock::sim::{FlowResult, LossPlan, Plan, RunResult};
use ackclock::units::Duration;
use common::Dumbbell;
use ideal_pipe::IdealPipe;
use rng::Draws;

const GENTLENESS: [f64; 4] = [0.5, 0.65, 0.8, 0.875];
const RTT_SECS: f64 = 0.1;

fn aimd(increase: f64, remaining: f64) -> CcSpec {
    CcSpec::Aimd(Aimd { increase, remaining })
}

fn by_name(name: &str) -> CcSpec {
    CcSpec::by_name(name).unwrap()
}

/// One flow with a round trip of 100 ms on a link that it cannot fill.
fn ample(cc: CcSpec, loss: LossPlan, secs: f64) -> Plan {
    let mut dumbbell = Dumbbell::new(1_000_000_000, Duration::from_secs_f64_round(RTT_SECS), 20_000, 1);
    dumbbell.loss = loss;
    dumbbell.duration = Duration::from_secs_f64_round(secs);
    dumbbell.warmup = Duration::from_secs_f64_round(secs / 5.0);
    dumbbell.flows[0].1.cc = cc;
    let mut plan = dumbbell.plan();
    plan.sampling.interval = None;
    plan
}

fn only_flow(result: &RunResult) -> &FlowResult {
    &result.flows[0]
}

fn assert_within(low: f64, value: f64, expected: f64, high: f64, what: &str) {
    let off = value / expected - 1.0;
    println!("{what}: {value:.5}, theory {expected:.5}, {:+.3} %", 100.0 * off);
    assert!(off >= low && off <= high, "{what}: {value}, theory {expected}, {:+.3} %", 100.0 * off);
}

#[test]
fn utilisation_against_buffer_follows_the_closed_form() {
    let (rate, rtt) = (60_000_000, Duration::from_millis(40));
    let bdp = Dumbbell::bdp_packets(rate, rtt);
    for remaining in GENTLENESS {
        for buffer in [0.02, 0.1, 0.25, 0.5, 1.0] {
            let mut dumbbell = Dumbbell::new(rate, rtt, (buffer * bdp).round() as u32, 1);
            dumbbell.flows[0].1.cc = aimd(1.0, remaining);
            // Slow start and what it left behind are over by then; thirty sawteeth follow, or more.
            dumbbell.warmup = Duration::from_secs(50);
            dumbbell.duration = Duration::from_secs(250);
            let utilization = dumbbell.run().summary.utilization.unwrap();
            let expected = closed_form::drop_tail_utilization(remaining, buffer);
            assert_within(-0.010, utilization, expected, 0.005, &format!("b {remaining}, buffer {buffer} BDP"));
        }
    }
}

/// The formula omits the round trip in recovery. It also omits the round trip with bunched ACKs of the first new
/// window. They amount to 1 % of a cycle of a hundred round trips, and 5 % of one of twenty-five.
#[test]
fn periodic_loss_follows_the_closed_form_where_cycles_are_long() {
    let cases = [
        (aimd(1.0, 0.5), 10_000),
        (aimd(1.0, 0.65), 10_000),
        (aimd(1.0, 0.8), 10_000),
        (aimd(1.0, 0.875), 10_000),
        (aimd(0.5, 0.5), 10_000),
        (aimd(0.2, 0.875), 10_000),
        (aimd(2.0, 0.5), 30_000),
        (by_name("aimd-fc"), 10_000),
        (by_name("aimd-fc+"), 10_000),
    ];
    for (cc, period) in cases {
        let increase = if let CcSpec::Aimd(aimd) = &cc { aimd.increase } else { 1.0 };
        let remaining = closed_form::remaining(&cc).unwrap();
        let result = common::run(&ample(cc.clone(), LossPlan::Periodic { period, offset: 0 }, 1500.0));
        let expected = closed_form::periodic_loss_window(increase, remaining, 1.0 / period as f64);
        let mean = only_flow(&result).cwnd_mean_segments.unwrap();
        assert_within(-0.02, mean, expected, 0.02, &format!("{cc:?}, every {period}th packet"));
        assert_eq!(only_flow(&result).timeouts, 0);
    }
}

/// Between two losses, AILD gains a segment per window of ACKs outside recovery: `a (1/(p W) - 1)`. A loss takes
/// `beta / W`. Both are equal at `W = 1/p - beta/a`.
#[test]
fn periodic_loss_follows_the_closed_form_of_aild() {
    for (increase, removed_per_loss_ratio, period) in [(1.0, 100.0, 300), (1.0, 50.0, 200), (2.0, 100.0, 400)] {
        let cc = CcSpec::Aild(Aild { increase, removed_per_loss_ratio });
        let loss = LossPlan::Periodic { period, offset: 0 };
        let mean = only_flow(&common::run(&ample(cc.clone(), loss, 1000.0))).cwnd_mean_segments.unwrap();
        let expected = period as f64 - removed_per_loss_ratio / increase;
        assert_within(-0.02, mean, expected, 0.005, &format!("{cc:?}, every {period}th packet"));
    }
}

#[test]
fn periodic_loss_follows_the_ideal_pipe_where_cycles_are_short() {
    const PERIOD: u64 = 1_000;
    for (increase, remaining) in [(1.0, 0.5), (1.0, 0.65), (1.0, 0.8), (1.0, 0.875), (2.0, 0.5), (0.2, 0.875)] {
        let loss = LossPlan::Periodic { period: PERIOD, offset: 0 };
        let result = common::run(&ample(aimd(increase, remaining), loss, 1000.0));
        let mean = only_flow(&result).cwnd_mean_segments.unwrap();
        let pipe = IdealPipe::new(increase, remaining, |number| number.is_multiple_of(PERIOD));
        let expected = pipe.mean_window(2_000.0, 10_000.0);
        assert_within(-0.002, mean, expected, 0.002, &format!("a {increase}, b {remaining}"));
    }
}

/// Also compares with the closed form for periodic loss. Bernoulli loss exceeds it by a known factor where timeouts
/// are rare.
#[test]
fn bernoulli_loss_follows_the_renewal_model() {
    const SEEDS: u64 = 4;
    for (remaining, excess) in [(0.5, 1.069), (0.65, 1.045), (0.8, 1.027), (0.875, 1.015)] {
        let ideal = |p| closed_form::periodic_loss_window(1.0, remaining, p);
        for p in [3e-4, 1e-3, 3e-3, 1e-2] {
            let what = format!("b {remaining}, loss {p}");
            // A thousand cuts each.
            let secs = 1_000.0 / p / ideal(p) * RTT_SECS;
            let plan = ample(aimd(1.0, remaining), LossPlan::Bernoulli { probability: p }, secs);
            let (mut to_model, mut to_form) = (Vec::new(), Vec::new());
            for seed in 1..=SEEDS {
                let result = common::run(&Plan { seed, ..plan.clone() });
                // The loss rate that was drawn, which takes most of the noise away.
                let link = &result.links[0];
                let realised = link.losses as f64 / link.forwarded as f64;
                let mean = only_flow(&result).cwnd_mean_segments.unwrap();
                to_model.push(mean / renewal::mean_window(remaining, realised, 200_000, &mut Draws::new(seed)));
                to_form.push(mean / ideal(realised));
            }
            let (off, standard_error) = mean_and_standard_error(&to_model);
            assert!(standard_error < 0.008, "{what}: standard error {standard_error}");
            assert_within(-0.02, off, 1.0, 0.02, &what);
            if p <= 1e-3 {
                assert_within(
                    -0.04,
                    mean_and_standard_error(&to_form).0,
                    excess,
                    0.04,
                    &format!("{what}, closed form"),
                );
            }
        }
    }
}

fn mean_and_standard_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// The loss of each packet is drawn once and given to both, so that little is left to chance.
#[test]
fn bernoulli_loss_follows_the_ideal_pipe() {
    for p in [1e-3, 3e-3, 1e-2] {
        for remaining in GENTLENESS {
            let secs = 3_000.0 / p / closed_form::periodic_loss_window(1.0, remaining, p) * RTT_SECS;
            let mut draws = Draws::new(1);
            let lost: Vec<u64> = (0..4_000)
                .scan(0, |number, _| {
                    *number += draws.geometric(p);
                    Some(*number)
                })
                .collect();
            let result = common::run(&ample(aimd(1.0, remaining), LossPlan::losing(lost.clone()), secs));
            let pipe = IdealPipe::new(1.0, remaining, |number| lost.binary_search(&number).is_ok());
            let expected = pipe.mean_window(0.2 * secs / RTT_SECS, secs / RTT_SECS);
            let mean = only_flow(&result).cwnd_mean_segments.unwrap();
            assert_within(-0.005, mean, expected, 0.005, &format!("b {remaining}, loss {p}"));
        }
    }
}

/// One flow on a slow link with a large buffer, sampled more often than ACKs come.
fn every_ack(cc: CcSpec, loss: LossPlan, limit: u32, secs: u64) -> RunResult {
    let mut dumbbell = Dumbbell::new(10_000_000, Duration::from_secs_f64_round(RTT_SECS), limit, 1);
    dumbbell.loss = loss;
    dumbbell.duration = Duration::from_secs(secs);
    dumbbell.warmup = Duration::ZERO;
    dumbbell.flows[0].1.cc = cc;
    let mut plan = dumbbell.plan();
    // A packet takes 1.2 ms.
    plan.sampling.interval = Some(Duration::from_micros(500));
    common::run(&plan)
}

/// The rule object of the synchronous model predicts the next TCP window at every step.
#[test]
fn tcp_walks_exactly_as_the_rule_of_the_model_does() {
    for info in algorithms() {
        let Some(mut rule) = info.defaults.rule() else { continue };
        let result = every_ack(info.defaults.clone(), LossPlan::Periodic { period: 150, offset: 100 }, 20_000, 30);
        assert_eq!(only_flow(&result).timeouts, 0, "{}", info.name);
        let samples = &result.samples.flows;
        let mut cuts = 0;
        for (number, pair) in samples.cwnd_segments.windows(2).enumerate() {
            let (before, after) = (pair[0], pair[1]);
            let slow_start = before < samples.ssthresh_segments[number];
            if after < before {
                if slow_start {
                    rule.restart(before);
                }
                let expected = rule.cut(before).max(2.0);
                assert_eq!(after, expected, "{}: cut {cuts} at {before}", info.name);
                cuts += 1;
            } else if after > before {
                let expected = if slow_start { before + 1.0 } else { rule.grow(before, 1.0) };
                assert_eq!(after, expected, "{}: growth from {before}", info.name);
            }
        }
        assert!(cuts > 20, "{}: {cuts} cuts", info.name);
    }
}

/// With drop-tail the model's `X_goal` is the pipe and the buffer, and one flow saws as one user does.
#[test]
fn one_flow_saws_between_the_windows_of_the_model() {
    let bdp = Dumbbell::bdp_packets(10_000_000, Duration::from_secs_f64_round(RTT_SECS));
    let limit = 100;
    // One packet is in transmission at the bottleneck, and a tenth on each access link, ten times as fast.
    let x_goal = bdp + 1.2 + f64::from(limit);
    for name in ["aimd", "aimd-fc", "aimd-fc+"] {
        let cc = by_name(name);
        let samples = every_ack(cc.clone(), LossPlan::None, limit, 300).samples.flows;
        let settled = samples.time_ns.iter().position(|time| *time > 100_000_000_000).unwrap();
        let cuts: Vec<_> = samples.cwnd_segments[settled..].windows(2).filter(|pair| pair[1] < pair[0]).collect();
        assert!(cuts.len() > 5, "{name}: {} cuts", cuts.len());
        let model = long_run(Setup { peak: Peak::Exact, ..Setup::alike(&cc, &[10.0], x_goal) }, Horizon::Cycles(64));
        let remaining = model.unwrap().remaining.unwrap();
        for pair in cuts {
            assert_within(-0.01, pair[1] / pair[0], remaining, 0.01, &format!("{name}, window left"));
            // Up to a segment more until the queue overflows, and one until that is found a round trip later.
            assert!(pair[0] > x_goal && pair[0] < x_goal + 2.0, "{name}: peak {}, X_goal {x_goal}", pair[0]);
        }
    }
}
