//! Rule text, compiled for the kernel: the windows and the arithmetic of the simulator, and the rejected features.

use ackclock::cc::{Cc, CcSpec, CongestionControl, RuleSource, RuleText};
use ackclock_bpf::{BpfController, BpfFactory, BpfObject, compile_rule};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::bytes;
use crate::events::{self, Event, Path, context};

fn rule(line: &str) -> RuleText {
    RuleSource::from_line(line).unwrap_or_else(|error| panic!("{line}: {error}")).into()
}

fn program(rule: &RuleText) -> Result<BpfFactory, String> {
    let object = compile_rule(&bytes("rule"), rule).map_err(|error| error.to_string())?;
    let object = BpfObject::parse(&object).map_err(|error| error.to_string())?;
    BpfFactory::new(&object).map_err(|error| error.to_string())
}

fn refused(line: &str) -> String {
    program(&rule(line)).map(|_| ()).unwrap_err()
}

/// A rule in both forms, fed the same events.
struct Both {
    program: BpfController,
    rule: Cc,
    path: Path,
}

impl Both {
    fn new(line: &str, initial_window: f64) -> Both {
        let rule = rule(line);
        let program = program(&rule).unwrap_or_else(|error| panic!("{line}: {error}"));
        let context = context(initial_window);
        let program = program.controller(context);
        Both { program, rule: CcSpec::Rule(rule).build(context), path: Path::default() }
    }

    /// Runs an event on both, and returns both windows unless the rule has failed.
    fn happens(&mut self, event: Event) -> Option<(f64, f64)> {
        self.path.happens(event, &mut |at| {
            at.on(&mut self.program);
            at.on(&mut self.rule);
        });
        assert_eq!(self.program.fault(), None);
        assert!(self.program.cwnd() >= 1.0);
        self.rule.fault().is_none().then(|| (self.program.cwnd(), self.rule.cwnd()))
    }

    /// The windows are the same until the rule fails, or within a segment if the rule contains a power.
    fn agree(line: &str, initial_window: f64, events: &[Event]) -> Result<(), TestCaseError> {
        let mut both = Both::new(line, initial_window);
        for event in events {
            let Some((program, rule)) = both.happens(*event) else { break };
            if rule > events::LARGEST {
                break;
            }
            let most = if line.contains('^') { 1.0 } else { 0.0 };
            prop_assert!((program - rule.floor()).abs() <= most, "{event:?} of {line}: {program}, rule {rule}");
        }
        Ok(())
    }
}

/// A formula without numbers near 2^-1022 and without a negative zero, which the program has not.
fn flushed(formula: &str) -> String {
    format!("({formula} + 1e-200 - 1e-200)")
}

/// Formulas of the states `u`, `r`, `t`, `x` and `y`, which have no dimension, so that all go together.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["u", "x", "y", "r", "t", "cuts"]).prop_map(str::to_owned),
        2 => (1_u32..400).prop_map(|number| format!("{}", f64::from(number) / 16.0)),
        1 => (0.001..100.0_f64).prop_map(|number| format!("{number}")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let infix = prop::sample::select(vec!["+", "-", "*", "<", "<=", "==", "!=", ">", "and", "or"]);
        let of_two = prop::sample::select(vec!["min", "max"]);
        let of_one = prop::sample::select(vec!["sqrt", "abs", "floor", "-", "not "]);
        prop_oneof![
            5 => (inner.clone(), infix, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} / {})", flushed(&b))),
            1 => (of_two, inner.clone(), inner.clone()).prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
            2 => (of_one, inner.clone()).prop_map(|(name, a)| format!("({name}({a}))")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("if({a}, {b}, {c})")),
            1 => (inner, prop::sample::select(vec![-2, 0, 1, 2, 3, 7])).prop_map(|(a, power)| format!("({a} ^ {power})")),
        ]
    })
}

/// A rule whose window mostly stays in the range of the events for any values of its formulas.
fn line() -> impl Strategy<Value = String> {
    let formulas = (formula(), formula(), formula(), formula(), formula(), formula());
    (formulas, prop::bool::weighted(0.9), 0.0..4.0_f64).prop_map(|((grow, cut, x, y, z, late), is_bounded, start)| {
        let (grow, cut) = if is_bounded {
            (format!("max(0, min({grow}, 2))"), format!("max(2, min({cut}, u))"))
        } else {
            // Below ssthresh windows are whole in the kernel, as in any slow start.
            (format!("max(0, {grow})"), format!("max(2, {cut})"))
        };
        let (x, y, z) = (flushed(&x), flushed(&y), flushed(&z));
        format!(
            "grow = {grow}; cut = {cut}; state x = {start}; state y = 1; state u = 10; state r = 0; state t = 0; \
             on_ack r = rtt; on_ack t = since_cut; on_ack u = w; on_ack y = min({y}, 1000); on_grow u = w; \
             on_grow x = max({x}, -50); on_cut u = w; on_cut r = queue_delay + srtt; on_cut y = min({z}, 100); \
             on_restart x = w; on_floor x = w / 2; on_timeout y = {late}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_rule_gives_the_windows_of_the_simulator(line in line(), initial in 2_u32..60, events in events::some()) {
        Both::agree(&line, initial.into(), &events)?;
    }
}

/// The rules of a page of the documentation, with numbers for the letters that they leave open.
fn documented() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/rules.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split('`').nth(1));
    // The program in the kernel leaves the end of slow start to Linux.
    let rules = rows.filter(|text| text.starts_with("grow = ") && !text.contains("exit_slow_start"));
    let rules: Vec<_> = rules.collect();
    assert_eq!(rules.len(), 6);
    let numbered = |rule: &&str| {
        let letters = [("a", 1.5), ("b", 0.5), ("k", 1.0), ("l", 0.0)];
        let used =
            letters.iter().filter(|(name, _)| rule.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name));
        used.fold((*rule).to_owned(), |rule, (name, value)| format!("{rule}; {name} = {value}"))
    };
    let starter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ackclock/starters/rule/my-cc.rule");
    let starter = std::fs::read_to_string(starter).unwrap();
    rules.iter().map(numbered).chain([starter]).collect()
}

#[test]
fn the_rules_of_the_documentation_give_the_windows_of_the_simulator() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for line in documented() {
        for _ in 0..8 {
            let events = events::some().new_tree(&mut runner).unwrap().current();
            // Below, the floors of the two are not the same: two segments for the one, one for the other.
            let far = [Event::Acks(900), Event::Loss]
                .into_iter()
                .chain(events.into_iter().filter(|event| !matches!(event, Event::Loss | Event::Timeout)));
            Both::agree(&line, 40.0, &far.collect::<Vec<_>>()).unwrap();
        }
    }
}

/// Two numbers whose sums, products and quotients are all normal doubles.
fn numbers() -> impl Strategy<Value = (f64, f64)> {
    let digits = prop_oneof![
        any::<u64>(),
        // Few ones, so that results lie half way between two numbers.
        (0_u32..52, 0_u32..52, any::<bool>())
            .prop_map(|(a, b, ones)| 1 << a | 1 << b | if ones { 0xf_ffff << 32 } else { 0 }),
    ];
    let number = move |digits: u64, exponent: i32, negative: bool| {
        let bits = digits & ((1 << 52) - 1) | ((1023 + exponent) as u64) << 52;
        if negative { -f64::from_bits(bits) } else { f64::from_bits(bits) }
    };
    let one = (digits.clone(), -300_i32..300, any::<bool>());
    let other = (digits, prop_oneof![-70_i32..70, -3_i32..3], any::<bool>());
    (one, other).prop_map(move |((a, exponent, a_sign), (b, apart, b_sign))| {
        (number(a, exponent, a_sign), number(b, (exponent + apart).clamp(-300, 300), b_sign))
    })
}

/// The bits of the window after a cut that encodes conditions.
fn conditions(states: &[(&str, f64)], numbers: &[(&str, f64)], conditions: &[&str]) -> u32 {
    let bits = conditions.iter().enumerate().map(|(bit, condition)| format!("if({condition}, {}, 0)", 1 << bit));
    let mut source = RuleSource { grow: "0".into(), ..RuleSource::default() };
    source.cut = format!("2 + {}", bits.collect::<Vec<_>>().join(" + "));
    source.state = states.iter().map(|(name, _)| format!("{name} = given_{name};")).collect();
    source.parameters = states.iter().map(|(name, value)| (format!("given_{name}"), *value)).collect();
    source.parameters.extend(numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    let mut program = program(&source.into()).unwrap().controller(context(4_000.0));
    Path::default().happens(Event::Loss, &mut |at| at.on(&mut program));
    program.cwnd() as u32 - 2
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn arithmetic_is_that_of_the_processor_to_the_last_digit((x, y) in numbers()) {
        let results = [("s", x + y), ("d", x - y), ("p", x * y), ("q", x / y), ("r", x.abs().sqrt()), ("f", x.floor())];
        // What is below 2^-1022, or too large, is another matter.
        prop_assume!(results.iter().all(|(_, value)| *value == 0.0 || value.is_normal()));
        let expected = [
            "x + y == s", "x - y == d", "x * y == p", "x / y == q", "sqrt(abs(x)) == r", "floor(x) == f",
        ];
        prop_assert_eq!(conditions(&[("x", x), ("y", y)], &results, &expected), 0b11_1111);
        let order = ["x < y", "x <= y", "x > y", "x == y", "min(x, y) == x", "max(x, y) == x"];
        let of_two = [x < y, x <= y, x > y, x == y, x.min(y) == x, x.max(y) == x];
        let bits = of_two.iter().enumerate().map(|(bit, is_true)| u32::from(*is_true) << bit).sum::<u32>();
        prop_assert_eq!(conditions(&[("x", x), ("y", y)], &[], &order), bits);
    }
}

#[test]
fn what_is_no_number_is_as_in_ieee_754() {
    let states = [("x", 1e300), ("z", 0.0), ("n", -1.0)];
    let all_true = [
        // Infinities.
        "x * x > x",
        "n / z < -x",
        "1 / (x * x) == 0",
        "x * x == 1 / z",
        // No numbers: neither less nor equal, true, and not counted by min and max.
        "z / z != z / z",
        "not (sqrt(n) < 0) and not (sqrt(n) >= 0)",
        "if(z / z, 1, 0)",
        "min(z / z, 7) == 7 and max(7, x * x - x * x) == 7",
        // Too small to be anything.
        "1 / x / x == 0",
        "-z == z and sqrt(z) == 0",
    ];
    assert_eq!(conditions(&states, &[], &all_true), 0b11_1111_1111);
}

#[test]
fn a_cut_that_cannot_be_leaves_half_and_growth_that_cannot_be_none() {
    let mut both = Both::new(
        "grow = if(x > 1, 1 / z, 1); cut = if(x > 1, w - 99, w / 2); \
         state x = 0; state z = 0; on_cut x = x + 1",
        40.0,
    );
    assert_eq!(both.happens(Event::Loss), Some((20.0, 20.0)));
    assert_eq!(both.happens(Event::Stretch(3)), Some((23.0, 23.0)));
    // The simulator ends the run.
    assert_eq!(both.happens(Event::Loss), None);
    assert_eq!(both.program.cwnd(), 11.0);
    assert_eq!(both.happens(Event::Stretch(3)), None);
    assert_eq!(both.program.cwnd(), 11.0);
}

#[test]
fn an_assignment_that_cannot_be_ends_its_list() {
    // x stays 1, and y is not set.
    let line = "grow = 0; cut = 10 + x + y; state x = 1; state y = 0; state z = 0; \
                on_ack x = 1 / z; on_ack y = 5";
    let mut both = Both::new(line, 40.0);
    both.happens(Event::Stretch(3));
    both.happens(Event::Loss);
    assert_eq!(both.program.cwnd(), 11.0);
}

#[test]
fn what_the_program_has_not_is_named_with_its_place() {
    let has = "it has + - * /, whole powers up to 16, sqrt, min, max, abs, floor, if, comparisons, and, or, not";
    for (line, expected) in [
        ("grow = 1 / w; cut = w * exp(-w)", format!("cut: character 5 of `w * exp(-w)`: the program in the kernel has no exp; {has}")),
        ("grow = log(w); cut = w / 2", format!("grow: character 1 of `log(w)`: the program in the kernel has no log; {has}")),
        ("grow = w ^ 0.5; cut = w / 2", format!("grow: character 1 of `w ^ 0.5`: the program in the kernel has no such power; {has}")),
        ("grow = w ^ x; cut = w / 2; state x = 2", format!("grow: character 1 of `w ^ x`: the program in the kernel has no such power; {has}")),
        ("grow = 1 / w ^ 17; cut = w / 2", format!("grow: character 5 of `1 / w ^ 17`: the program in the kernel has no such power; {has}")),
        (
            "grow = 1; cut = if(ce, w, w / 2)",
            "cut: character 4 of `if(ce, w, w / 2)`: the program in the kernel has no `ce`; it has w, acked, ssthresh, srtt, \
             rtt, min_rtt, queue_delay, in_flight, mss, time, since_cut and cuts"
                .to_owned(),
        ),
        (
            "grow = 1; cut = w / 2 + my_acked + acked; state my_acked = 0",
            "cut: character 20 of `w / 2 + my_acked + acked`: the program in the kernel does not know \
             `acked` at this time; keep it in a state".to_owned(),
        ),
        (
            "pacing = 2 * w * mss / srtt",
            "pacing: the program in the kernel has no such text; it has grow, cut, state, on_ack, on_grow, on_cut, \
             on_restart, on_floor, on_timeout"
                .to_owned(),
        ),
        ("grow = a / ww; a = 1", "grow: character 5 of `a / ww`: unknown variable `ww`; did you mean \"w\"?".to_owned()),
    ] {
        assert_eq!(refused(line), expected);
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let states = |count: u32| (0..count).map(|number| format!("; state x{number} = 0")).collect::<String>();
    assert!(program(&rule(&format!("grow = cuts{}", states(8)))).is_ok());
    assert_eq!(
        refused(&format!("grow = cuts{}", states(9))),
        "state: it needs 10 states, with one for `cuts`; the kernel has room for 9"
    );
    let sum = |count: u32| (0..count).map(|number| format!("+ w * {number}.5")).collect::<String>();
    assert!(refused(&format!("grow = 1 {}", sum(70))).contains("no room for more operations or constants"));
    // Each pair of brackets keeps a value until all those behind it are there.
    let nested = format!("state x = 1; grow = {}x{}", "(x - 1) * (".repeat(30), ")".repeat(30));
    assert!(refused(&nested).contains("no room for as many intermediate results"), "{}", refused(&nested));
    let powers = |count: usize| format!("cut = w {}", "+ w ^ 15".repeat(count));
    assert!(program(&rule(&powers(60))).is_ok());
    assert!(refused(&powers(90)).contains("no room for more operations or constants"));
}

#[test]
fn another_program_cannot_run_rules() {
    let error = compile_rule(&bytes("aimd"), &RuleText::default()).unwrap_err();
    assert_eq!(error.to_string(), "it is not the program that runs rules");
    assert!(compile_rule(b"", &RuleText::default()).is_err());
}
