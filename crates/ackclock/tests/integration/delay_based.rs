//! Delay-based algorithms that share a bottleneck: fairness, newcomers, and competition with Reno.

use ackclock::sim::RunResult;
use ackclock_scenario::Scenario;

use crate::common::run;

/// A dumbbell of 10 Mbit/s and 40 ms, whose queue has so many packets.
fn dumbbell(queue: u32, (warmup, duration): (u32, u32), flows: &str) -> RunResult {
    let text = format!(
        "schema = 1\nduration = '{duration} s'\nwarmup = '{warmup} s'\nsampling.interval = '10 ms'\n\
         [topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\ndelay = '20 ms'\n\
         queue = {{ kind = 'drop-tail', limit = '{queue} packets' }}\n{flows}"
    );
    run(&Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}")).plan(None, 0))
}

fn flow(name: &str, cc: &str, rest: &str) -> String {
    format!("[[flows]]\nname = '{name}'\ncc = {cc}\nrecovery = 'sack'\n{rest}\n")
}

/// The part of all goodput that a flow gets.
fn share(result: &RunResult, name: &str) -> f64 {
    let all: f64 = result.flows.iter().map(|flow| flow.goodput_bps).sum();
    result.flows.iter().find(|flow| *flow.name == *name).unwrap().goodput_bps / all
}

/// The part of the time in which the only Copa flow has a smaller δ than by default. The time is in seconds.
fn competes(result: &RunResult, (from, to): (u64, u64)) -> f64 {
    let flows = &result.samples.flows;
    let (_, deltas) = flows.reported.iter().find(|(name, _)| name == "delta").unwrap();
    let is_inside = |at: &u64| (from..to).contains(&(at / 1_000_000_000));
    let inside: Vec<_> = flows.time_ns.iter().zip(deltas).filter(|(at, _)| is_inside(at)).collect();
    let of_copa = inside.iter().filter(|(_, delta)| delta.is_finite()).count();
    inside.iter().filter(|(_, delta)| **delta < 0.5).count() as f64 / of_copa as f64
}

#[test]
fn copa_flows_share_equally_and_keep_the_queue_short() {
    let copa = "{ kind = 'copa', competitive = false }";
    let flows = flow("first", copa, "") + &flow("late", copa, "start = '10 s'");
    let result = dumbbell(1000, (30, 90), &flows);
    let (late, delay) = (share(&result, "late"), result.summary.queue_delay_mean_s.unwrap());
    assert!((0.45..0.55).contains(&late), "{late}");
    // 2 * 1.25/δ are 5 packets, or 6 ms.
    assert!((0.0045..0.0075).contains(&delay), "{delay} s");
}

/// A BDP of 33 packets is too small for the competitive mode behind a deep buffer.
#[test]
fn a_copa_flow_alone_behind_a_deep_buffer_needs_the_default_mode() {
    let delay =
        |copa: &str, queue| dumbbell(queue, (20, 80), &flow("copa", copa, "")).summary.queue_delay_mean_s.unwrap();
    let fixed = "{ kind = 'copa', competitive = false }";
    for (queue, least, most) in [(33, 0.003, 0.01), (133, 0.02, 0.08), (1000, 0.2, 0.6)] {
        let (with, without) = (delay("'copa'", queue), delay(fixed, queue));
        assert!((least..most).contains(&with), "{queue}: {with} s");
        // 1.25/δ are 2.5 packets, or 3 ms.
        assert!((0.0025..0.0036).contains(&without), "{queue}: {without} s");
    }
}

/// Both behind a buffer of one BDP and behind two.
#[test]
fn copa_competes_with_reno_and_returns_to_the_default_mode() {
    for (queue, most_after) in [(33, 0.2), (66, 0.5)] {
        let reno = flow("reno", "'reno'", "start = '5 s'\nstop = '65 s'");
        let against_reno = |copa: &str, end| dumbbell(queue, (10, end), &(flow("copa", copa, "") + &reno));
        let (with, without) = ("'copa'", "{ kind = 'copa', competitive = false }");
        let share_of = |copa| share(&against_reno(copa, 65), "copa");
        assert!((0.35..0.65).contains(&share_of(with)), "{queue}: {}", share_of(with));
        assert!(share_of(without) < 0.15, "{queue}: {}", share_of(without));
        let result = against_reno(with, 120);
        let (during, after) = (competes(&result, (10, 65)), competes(&result, (80, 120)));
        assert!(during > 0.75 && after < most_after, "{queue}: {during}, {after}");
    }
}

#[test]
fn a_newcomer_has_an_advantage_with_ledbat_and_none_with_ledbat_plus_plus() {
    let late = |cc: &str| {
        let flows = flow("first", cc, "") + &flow("late", cc, "start = '20 s'");
        share(&dumbbell(1000, (60, 180), &flows), "late")
    };
    let (ledbat, plus_plus) = (late("'ledbat'"), late("'ledbat++'"));
    assert!(ledbat > 0.9, "{ledbat}");
    assert!((0.4..0.6).contains(&plus_plus), "{plus_plus}");
}

/// The queue of 66 packets holds 80 ms, more than the target of LEDBAT++ and less than LEDBAT's.
#[test]
fn ledbat_plus_plus_yields_to_reno() {
    let background = |cc: &str, queue| {
        let flows = flow("background", cc, "") + &flow("reno", "'reno'", "start = '10 s'");
        share(&dumbbell(queue, (30, 120), &flows), "background")
    };
    for (queue, most) in [(66, 0.1), (200, 0.02)] {
        let share = background("'ledbat++'", queue);
        assert!(share < most, "{queue}: {share}");
    }
    let ledbat = background("'ledbat'", 66);
    assert!(ledbat > 0.4, "{ledbat}");
}
