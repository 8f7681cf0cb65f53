//! Rules given as text: the built-in algorithms written as rules, mistakes, limits and failures.

use ackclock::cc::{
    Ack, Algorithm, CaState, Cc, CcContext, CcSpec, Congestion, CongestionControl, CongestionKind, ExitWindow,
    PathView, Recovery, Restart, RuleSource, Sent, TimeoutSsthresh, Windowed,
};
use ackclock::model::{Setup, Synchronous};
use ackclock::rule::Rule;
use ackclock::sim::{self, Plan, RunError};
use ackclock::units::{Duration, Instant};
use ackclock_scenario::Scenario;

const EVENTS: usize = 20_000;

fn spec(json: &str) -> CcSpec {
    let spec: CcSpec = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    spec.check().unwrap_or_else(|error| panic!("{error}"));
    spec
}

fn rule(line: &str) -> CcSpec {
    let spec = CcSpec::Rule(RuleSource::from_line(line).unwrap_or_else(|error| panic!("{error}")).into());
    spec.check().unwrap_or_else(|error| panic!("{error}"));
    spec
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}

/// Sends random events to both. After each event, the windows and ssthresh agree within 1e-9.
fn agree(mut built_in: Cc, mut text: Cc) {
    let mut draw = Draw(7);
    let (mut now, mut in_recovery) = (Instant::ZERO, false);
    for number in 0..EVENTS {
        now += Duration::from_micros(draw.below(4_000));
        let srtt = Duration::from_micros(20_000 + draw.below(20_000));
        let in_flight = draw.below(30) as u32;
        let path = PathView {
            in_flight,
            in_flight_bytes: u64::from(in_flight) * 1460,
            mss: 1460,
            srtt,
            latest_rtt: srtt,
            min_rtt: Duration::from_millis(20),
        };
        let both: [&mut dyn CongestionControl; 2] = [&mut built_in, &mut text];
        let (choice, odds, other) = (draw.below(1_000), draw.below(100), draw.below(100));
        for cc in both {
            match choice {
                0..5 => {
                    let kind = match odds {
                        0..60 => CongestionKind::Loss,
                        60..80 => CongestionKind::Ecn,
                        _ => CongestionKind::Timeout,
                    };
                    let is_timeout = kind == CongestionKind::Timeout;
                    let restart = if is_timeout { Restart::SlowStart } else { Restart::Reduced };
                    in_recovery = !is_timeout;
                    cc.on_congestion(&Congestion { now, kind, restart, flight_size: in_flight, path });
                }
                5..20 => {
                    in_recovery = false;
                    cc.on_recovery_exit(&Recovery { now, flight_size: in_flight, path });
                }
                20..22 => cc.on_resume(now),
                22..25 => cc.on_undo(&Recovery { now, flight_size: in_flight, path }),
                25..40 => cc.on_sent(&Sent { now, bytes: 1460, retransmission: false, idle_for: None, path }),
                _ => cc.on_ack(&Ack {
                    now,
                    acked: [1.0, 1.0, 2.0, 0.0][odds as usize % 4],
                    newly_delivered: 1,
                    newly_lost: 0,
                    ce_count: 0,
                    ece: other < 2,
                    round_ended: other < 10,
                    cwnd_limited: odds < 90,
                    in_recovery,
                    reduced_window: None,
                    rate: None,
                    state: CaState::Open,
                    path,
                }),
            }
        }
        let windows = [built_in.cwnd(), text.cwnd()];
        let is_near = |[one, other]: [f64; 2]| one == other || (one - other).abs() <= 1e-9 * one;
        assert!(is_near(windows), "event {number}: {windows:?} {:?}", text.fault());
        assert!(is_near([built_in.ssthresh(), text.ssthresh()]), "event {number}");
    }
    assert!(built_in.ssthresh().is_finite(), "there was congestion");
}

fn agree_in(context: CcContext, built_in: &str, line: &str) {
    agree(spec(built_in).build(context), rule(line).build(context));
}

const MR_AIMD: &str = "grow = alpha / w; cut = w * b; b = 0.5; low = 0.05; fast = 0.5; slow = 0.005; state alpha = 1; \
     state held = 0; on_ack held = held or ce; on_grow alpha = alpha + acked * (if(held, slow, fast) / w); \
     on_cut alpha = max(alpha * b, low); on_timeout held = 0; on_mark held = held";

#[test]
fn the_algorithms_written_as_rules_give_the_same_windows() {
    let by_round = MR_AIMD.replace(
        "on_ack held = held or ce;",
        "state marked = 0; on_ack marked = marked or ce; on_ack held = if(round, marked, held or ce); \
         on_ack marked = if(round, 0, marked); on_timeout marked = 0;",
    );
    let pairs = [
        (r#"{"kind": "aimd", "increase": 1.5, "remaining": 0.7}"#, "grow = a / w; cut = b * w; a = 1.5; b = 0.7"),
        (r#"{"kind": "aiad", "increase": 1, "removed": 3}"#, "grow = 1 / w; cut = max(w - 3, 0)"),
        (r#"{"kind": "mimd", "increase": 0.01, "remaining": 0.5}"#, "grow = 0.01; cut = 0.5 * w"),
        (r#"{"kind": "miad", "increase": 0.01, "removed": 3}"#, "grow = 0.01; cut = max(w - 3, 0)"),
        (
            r#"{"kind": "aimd-fc"}"#,
            "grow = 1 / w; state dw = 0; on_restart dw = w; on_floor dw = w; on_cut dw = dw / 2 + (w - dw); cut = dw",
        ),
        (
            r#"{"kind": "aimd-fc+"}"#,
            "grow = 1 / w; kept = 0.5; state dw = 0; state after = 0; state gained = 0; on_restart dw = w; \
             on_restart after = w; on_floor after = w; on_cut gained = w - after; on_cut dw = dw / 2 + (w - dw); \
             on_cut after = dw + gained * kept; cut = after",
        ),
        (
            r#"{"kind": "new-aimd"}"#,
            "grow = 1 / w; state base = 0; on_restart base = w; on_cut base = base / 2; cut = w - base",
        ),
        (r#"{"kind": "mr-aimd"}"#, MR_AIMD),
        (r#"{"kind": "mr-aimd", "ecn_hold": "rtt"}"#, &by_round),
    ];
    for (built_in, line) in pairs {
        agree_in(CcContext::new(2.0), built_in, line);
        agree_in(CcContext { timeout_ssthresh: TimeoutSsthresh::Rule, ..CcContext::new(10.0) }, built_in, line);
    }
}

const CUBIC: &str = "c = 0.4; b = 0.7; alpha = 0.5294117647058825; state epoch = 0; state k = 0; state plateau = 0; \
     state w_max = -1; state prior = -1; state w_est = 0; state elapsed = 0; state used = 0; state last = 0; \
     state d = 0; state at = 0; state target = 0; \
     on_ack used = if(limited, used, 0); on_send last = if(in_flight <= 1, time, last); \
     on_grow plateau = if(epoch, plateau, max(w_max, w)); on_grow w_max = if(epoch, w_max, plateau); \
     on_grow k = if(epoch, k, cbrt((plateau - w) / c)); on_grow prior = if(prior < 0, w, prior); \
     on_grow w_est = if(epoch, w_est, w); on_grow elapsed = if(epoch, elapsed, 0); on_grow used = if(epoch, used, 0); \
     on_grow epoch = 1; on_grow elapsed = elapsed + if(used, time - last, 0); on_grow used = 1; on_grow last = time; \
     on_grow w_est = w_est + if(w_est >= prior, 1, alpha) * acked / w; \
     on_grow d = elapsed - k; on_grow at = c * d * d * d + plateau; \
     on_grow d = elapsed + srtt - k; on_grow target = min(max(c * d * d * d + plateau, w), 1.5 * w); \
     grow = if(at < w_est, max(w_est, w) - w, acked * (target - w) / w); \
     on_cut w_max = if(w < w_max, w * (1 + b) / 2, w); on_cut prior = w; on_cut epoch = 0; cut = b * w; \
     on_timeout w_max = -1; on_restart epoch = 0; on_resume epoch = 0; on_undo epoch = epoch";

#[test]
fn cubic_can_be_written_as_a_rule() {
    let context = CcContext { timeout_ssthresh: TimeoutSsthresh::Rule, ..CcContext::new(10.0) };
    let bursts = CcContext { exit_window: ExitWindow::Flight, ..context };
    for context in [context, bursts] {
        agree(spec(r#"{"kind": "cubic"}"#).build(context), rule(CUBIC).build(context));
    }
}

/// Bansal & Balakrishnan 2001: `w <- w + a / w^k` per round trip, `w <- w - b w^l`.
#[derive(Debug)]
struct Binomial {
    k: f64,
    l: f64,
}

impl Rule for Binomial {
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked / libm::pow(w, self.k + 1.0)
    }

    fn cut(&mut self, w: f64) -> f64 {
        w - 0.5 * libm::pow(w, self.l)
    }
}

#[test]
fn binomial_controls_can_be_written_as_rules() {
    for (k, l) in [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0)] {
        let context = CcContext::new(2.0);
        let line = format!("grow = 1 / w ^ (k + 1); cut = w - b * w ^ l; b = 0.5; k = {k}; l = {l}");
        let built_in = Cc::Custom(Box::new(Windowed::new(Binomial { k, l }, context)));
        agree(built_in, rule(&line).build(context));
    }
}

const NETWORK: &str = "schema = 1\nduration = '20 s'\nseed = 3\n[topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\n\
     delay = '10 ms'\n[[flows]]\nname = 'test'\ncount = 3\ncc = 'aimd'\n";

fn plan_with(cc: &str) -> Result<Plan, String> {
    let set = format!("flows.test.cc={cc}");
    let scenario = Scenario::from_toml(NETWORK, "x.toml", &[set]).map_err(|error| error.to_string())?;
    Ok(scenario.plan(None, 0))
}

#[test]
fn the_same_arithmetic_gives_the_same_run() {
    let pairs = [
        ("'aimd'", "{ kind = 'rule', grow = 'a / w', cut = 'b * w', a = 1, b = 0.5 }"),
        ("{ kind = 'aiad', removed = 3 }", "{ kind = 'rule', grow = '1 / w', cut = 'max(w - 3, 0)' }"),
        (
            "{ kind = 'mimd', increase = 0.01, remaining = 0.5 }",
            "{ kind = 'rule', grow = '0 / w + (1 + a - 1)', cut = '0.5 * w', a = 0.01 }",
        ),
    ];
    for (built_in, text) in pairs {
        let [one, mut other] =
            [built_in, text].map(|cc| sim::run(&plan_with(cc).unwrap(), &Default::default()).unwrap());
        other.flows.iter_mut().zip(&one.flows).for_each(|(flow, same)| flow.cc = same.cc.clone());
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{text}");
    }
}

#[test]
fn a_mistake_is_told_with_its_key_and_its_place() {
    let mistake = |cc: &str| plan_with(cc).unwrap_err();
    let error = mistake("{ kind = 'rule', grow = 'a / ww', a = 1 }");
    let shown = "flows.test.cc.grow: character 5 of `a / ww`: unknown variable `ww`; did you mean \"w\"?";
    assert!(error.contains(shown), "{error}");
    let expected = [
        (
            "{ kind = 'rule', cut = 'grow / 2' }",
            "character 1 of `grow / 2`: `grow` is a formula; formulas do not use each other",
        ),
        ("{ kind = 'rule', grow = 'srtt' }", "this is seconds, and the formula gives segments"),
        ("{ kind = 'rule', on_ack = 'x = 1' }", "`x` is not a state; there is none; declare it in `state`"),
        ("{ kind = 'rule', w = 1 }", "`w` is a variable of every rule; give the parameter another name"),
        (
            "{ kind = 'rule', a = 'x' }",
            "flows.test.cc.a: unknown key; use one of cut, exit_slow_start, file, grow, kind, on_ack,",
        ),
        ("{ kind = 'rule', grwo = 'a / w' }", "flows.test.cc.grwo: unknown key; did you mean \"grow\"?"),
        ("{ kind = 'rule', pacing = 'w' }", "this is segments, and the formula gives data / seconds"),
    ];
    for (cc, message) in expected {
        let error = mistake(cc);
        assert!(error.contains(message), "{cc}: {error}");
    }
    let huge = mistake(&format!("{{ kind = 'rule', grow = '{}1' }}", "1+".repeat(500_000)));
    assert!(huge.ends_with("the text has 1000001 bytes; at most 2000"));
    let commented = "# AIMD; of a kind\ngrow = a / w # per ACK\n\n cut = w / 2; a = 3\n";
    assert_eq!(RuleSource::from_line(commented), RuleSource::from_line("grow = a / w; cut = w / 2; a = 3"));
    let line = |line: &str| RuleSource::from_line(line).unwrap_err().to_string();
    assert_eq!(line("# one\ngrow = 1; b"), "character 17: expected NAME = FORMULA");
    assert_eq!(line("grow = 1; b"), "character 11: expected NAME = FORMULA");
    assert_eq!(line("a = 1; a = 2"), "character 8: `a` has a value already");
    assert!(line("a = w").starts_with("character 1: the parameter `a` is a number;"));
    assert!(line("on_tea x = 1").starts_with("character 1: `on_tea` is not an event;"));
    assert!(line(&"x".repeat(1_000_000)).contains("at most 16384"));
}

#[test]
fn a_rule_that_fails_ends_the_run_and_says_where() {
    let failure = |text: &str| match sim::run(&plan_with(text).unwrap(), &Default::default()) {
        Err(RunError::AlgorithmFailed { what, at, .. }) if at > Duration::ZERO => what,
        other => panic!("{text}: {other:?}"),
    };
    let what = failure("{ kind = 'rule', grow = '1 / (w - w)' }");
    assert!(what.starts_with("in `grow`, `1 / (w - w)` (character 1) divides by zero; w = "), "{what}");
    let what = failure("{ kind = 'rule', cut = 'w - 1000' }");
    assert!(what.starts_with("`cut` gives a window of -"), "{what}");
    let what = failure("{ kind = 'rule', state = 'x = 1', on_ack = 'x = x * 10' }");
    assert!(what.starts_with("in `on_ack`, `x * 10` (character 5) is too large; x = "), "{what}");
    let what = failure("{ kind = 'rule', pacing = '0 * w * mss / srtt' }");
    assert!(what.starts_with("`pacing` gives a rate of 0; w = "), "{what}");
}

#[test]
fn a_rule_may_pace_and_see_its_path() {
    let paced = "{ kind = 'rule', pacing = '2 * 8 * w * mss / srtt', cut = 'if(queue_delay > 5 ms, w / 2, w)' }";
    let result = sim::run(&plan_with(paced).unwrap(), &Default::default()).unwrap();
    assert!(result.flows.iter().all(|flow| &*flow.cc == "rule"), "{:?}", result.flows);
    let slow = "{ kind = 'rule', pacing = '1 Mbit/s' }";
    let result = sim::run(&plan_with(slow).unwrap(), &Default::default()).unwrap();
    let plain = sim::run(&plan_with("'rule'").unwrap(), &Default::default()).unwrap();
    assert!(format!("{result:?}") != format!("{plain:?}"), "a pace of 1 Mbit/s is felt");
}

#[test]
fn a_rule_may_end_slow_start_by_delay() {
    let run = |exit: &str| {
        let cc = format!("{{ kind = 'rule'{exit} }}");
        let network = ["flows.test.count=1", "topology.queue.limit=4 BDP"].map(str::to_owned);
        let sets = [network.as_slice(), &[format!("flows.test.cc={cc}")]].concat();
        let mut plan = Scenario::from_toml(NETWORK, "x.toml", &sets).unwrap().plan(None, 0);
        plan.sampling.interval = Some(Duration::from_millis(10));
        sim::run(&plan, &Default::default()).unwrap()
    };
    // A base RTT of 20 ms, so 17 segments fill the pipe and 21 add a quarter of it.
    let by_delay = run(", exit_slow_start = 'rtt > 1.25 * min_rtt'");
    let exit = by_delay.samples.flows.ssthresh_segments.iter().copied().find(|value| value.is_finite()).unwrap();
    assert!((21.0..=44.0).contains(&exit), "{exit}");
    let (plain, first) = (run(""), |result: &sim::RunResult| result.flows[0].lost);
    assert!(first(&by_delay) < first(&plain), "slow start overflows the queue without the condition");
    // A condition that is never true is none.
    let never = run(", exit_slow_start = 'w < 0'");
    assert_eq!(format!("{:?}", never.flows), format!("{:?}", plain.flows));
    let error = plan_with("{ kind = 'rule', exit_slow_start = 'rtt' }").unwrap_err();
    assert!(error.ends_with("this is seconds, and the formula gives a plain number"), "{error}");
    let line = RuleSource::from_line("exit_slow_start = rtt > 1.25 * min_rtt; grow = 1 / w").unwrap();
    assert_eq!(line.exit_slow_start, "rtt > 1.25 * min_rtt");
}

#[test]
fn states_are_in_the_samples() {
    let counting = "{ kind = 'rule', state = 'acks = 0; peak = 0', on_ack = 'acks = acks + 1; peak = max(peak, w)' }";
    let mut plan = plan_with(counting).unwrap();
    plan.sampling.interval = Some(Duration::from_secs(1));
    let samples = sim::run(&plan, &Default::default()).unwrap().samples.flows;
    let names: Vec<&str> = samples.reported.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["cc.acks", "cc.peak"]);
    let (acks, peaks) = (&samples.reported[0].1, &samples.reported[1].1);
    let last = samples.time_ns.len() - 1;
    assert!(acks[last] > 1000.0 && peaks[last] >= samples.cwnd_segments[last], "{} {}", acks[last], peaks[last]);
}

#[test]
fn a_rule_without_a_clock_runs_in_the_model() {
    let windows = |cc: &CcSpec| {
        let mut model = Synchronous::new(Setup::alike(cc, &[10.0, 50.0], 100.0)).unwrap();
        (0..200).for_each(|_| _ = model.advance());
        model.check_rules().unwrap();
        model.active_windows()
    };
    assert_eq!(windows(&rule("grow = 1 / w; cut = w / 2")), windows(&spec(r#"{"kind": "aimd"}"#)));
    assert_eq!(windows(&rule(MR_AIMD)), windows(&spec(r#"{"kind": "mr-aimd"}"#)));
    let clocked = Synchronous::new(Setup::alike(&rule("grow = srtt / 1 s * 1 segments"), &[1.0], 10.0));
    assert!(clocked.is_err(), "the model has no round-trip time");
    let mut failing = Synchronous::new(Setup::alike(&rule("grow = log(w - 12)"), &[11.0], 100.0)).unwrap();
    failing.advance();
    assert!(failing.check_rules().unwrap_err().to_string().contains("logarithm"));
}

#[test]
fn a_rule_has_a_name_and_keeps_its_text() {
    let algorithm = Algorithm::from(rule("grow = 2 / w; state x = 0"));
    assert_eq!(&**algorithm.name(), "rule");
    let json = serde_json::to_string(algorithm.spec().unwrap()).unwrap();
    assert_eq!(json, r#"{"kind":"rule","grow":"2 / w","cut":"w / 2","state":"x = 0"}"#);
    assert_eq!(serde_json::from_str::<CcSpec>(&json).unwrap(), *algorithm.spec().unwrap());
}
