use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const VARIABLES: &[Variable] = &[
    Variable { name: "w", dimension: Some(Dimension::SEGMENTS) },
    Variable { name: "rtt", dimension: Some(Dimension::SECONDS) },
    Variable { name: "x", dimension: None },
];

/// The value of a formula at w = 10, rtt = 0.1 and x = 3, with the parameter a = 2.
fn value(text: &str) -> Result<f64, String> {
    let parameters = BTreeMap::from([("a".to_owned(), 2.0)]);
    let mut compiler = Compiler::new(VARIABLES, &parameters, &[]);
    let mut program = compiler.formula(text, Dimension::SEGMENTS).map_err(|error| error.to_string())?;
    let mut registers = compiler.place(&mut [&mut program]);
    registers[..3].copy_from_slice(&[10.0, 0.1, 3.0]);
    let value = program.run(&mut registers);
    if value.is_finite() { Ok(value) } else { Err(program.fault(&registers, VARIABLES).0) }
}

#[test]
fn operators_bind_as_in_arithmetic() {
    let expected = [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 3 - 2", 5.0),
        ("x / a / 2", 0.75),
        ("2 ^ 3 ^ 2", 512.0),
        ("-a ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("-x * 2", -6.0),
        ("1 + 1 < 3 and 2 >= 2", 1.0),
        ("not x == 3 or 0", 0.0),
        ("x != 3", 0.0),
        ("x > 2", 1.0),
        ("x <= 2", 0.0),
        (".5e1 + 1E-1", 5.1),
    ];
    for (text, expected) in expected {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn functions_are_those_of_libm() {
    let expected = [
        ("min(x, 2, 5)", 2.0),
        ("max(x, 2, 5)", 5.0),
        ("pow(x, 2.5)", libm::pow(3.0, 2.5)),
        ("exp(x)", libm::exp(3.0)),
        ("log(x)", libm::log(3.0)),
        ("sqrt(x)", 3f64.sqrt()),
        ("cbrt(x)", libm::cbrt(3.0)),
        ("abs(-x)", 3.0),
        ("floor(x / 2)", 1.0),
        ("if(x > 2, w, 1 / 0)", 10.0),
    ];
    for (text, expected) in expected {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn an_error_points_at_the_character() {
    let expected = [
        ("a / ww", "character 5: unknown variable `ww`; did you mean \"w\"?"),
        ("1 +", "character 4: expected a number, a name or `(`, found the end"),
        ("(1 + 2", "character 7: expected `)`, found the end"),
        ("1 $ 2", "character 3: '$' has no meaning in a formula"),
        ("1 2", "character 3: expected an operator or the end, found `2`"),
        ("1 < x < 3", "character 7: comparisons do not chain; write a < b and b < c"),
        ("mix(1, 2)", "character 1: unknown function `mix`; did you mean \"min\"?"),
        ("min(1)", "character 1: `min` takes at least 2 values, not 1"),
        ("exp(1, 2)", "character 1: `exp` takes 1 values, not 2"),
        ("exp + 1", "character 1: `exp` is a function; write exp(...)"),
        ("1e999", "character 1: this is not a finite number"),
        ("é", "character 1: 'é' has no meaning in a formula"),
    ];
    for (text, expected) in expected {
        assert_eq!(value(text), Err(expected.to_owned()), "{text}");
    }
    let error = FormulaError::new("a / ww", 4..6, "unknown");
    assert_eq!(error.pointer(), "a / ww\n    ^^");
}

#[test]
fn units_are_checked_where_they_are_known() {
    assert_eq!(value("if(rtt > 50 ms, w, 0)"), Ok(10.0));
    assert_eq!(value("w * rtt / 1 s"), Ok(1.0));
    assert_eq!(value("a * rtt + x"), Ok(3.2));
    let expected = [
        ("w + rtt", "character 5: this is seconds, and what it goes with is segments"),
        ("if(w > 5 ms, 1, 2)", "character 8: this is seconds, and what it goes with is segments"),
        ("max(10 Mbit/s, rtt)", "character 16: this is seconds, and what it goes with is data / seconds"),
        ("rtt * rtt", "character 1: this is seconds^2, and the formula gives segments"),
    ];
    for (text, expected) in expected {
        assert_eq!(value(text), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_is_not_finite_is_explained() {
    let expected = [
        ("1 + 2 / (x - 3)", "`2 / (x - 3)` (character 5) divides by zero; x = 3"),
        ("log(0 * w)", "`log(0 * w)` (character 1) is the logarithm of a number that is not above 0; w = 10"),
        ("sqrt(-x)", "`sqrt(-x)` (character 1) is the square root of a negative number; x = 3"),
        ("exp(w ^ 5)", "`exp(w ^ 5)` (character 1) is too large; w = 10"),
        ("pow(-x, 0.5)", "`pow(-x, 0.5)` (character 1) is too large, or a broken power of a negative number; x = 3"),
    ];
    for (text, expected) in expected {
        assert_eq!(value(text), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn texts_have_limits() {
    let long = "1+".repeat(MAX_LEN);
    assert_eq!(value(&long), Err("character 1: the text has 4000 bytes; at most 2000".to_owned()));
    let deep = format!("{}1{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(value(&deep), Err("character 65: more than 64 formulas within each other".to_owned()));
    let many = format!("x{}", "+x".repeat(600));
    assert!(value(&many).unwrap_err().ends_with("more than 512 operations"));
    assert_eq!(value(&format!("1{}", "+1".repeat(900))), Ok(901.0));
}

#[test]
fn assignments_are_made_in_their_order() {
    let parameters = BTreeMap::from([("a".to_owned(), 2.0)]);
    let mut compiler = Compiler::new(VARIABLES, &parameters, &[]);
    compiler.states("y = a * 2; z = 0;").unwrap();
    let mut list = compiler.assignments("y = y + w; z = y * 2").unwrap();
    let mut result = compiler.formula("y + z", Dimension::SEGMENTS).unwrap();
    let mistake = |text: &str| compiler.clone().assignments(text).unwrap_err().to_string();
    assert_eq!(mistake("yy = 1"), "character 1: `yy` is not a state; did you mean \"y\"?");
    assert_eq!(mistake("w = 1"), "character 1: `w` is not a state; use one of y, z");
    assert_eq!(mistake("y = 1 z = 2"), "character 7: expected an operator, `;` or the end, found `z`");
    let state = |text: &str| compiler.clone().states(text).unwrap_err().to_string();
    assert_eq!(state("v = w"), "character 5: an initial value is made of numbers and parameters alone");
    assert_eq!(state("w = 1"), "character 1: `w` is a variable of every rule; take another name");
    assert_eq!(state("a = 1"), "character 1: `a` is a parameter; take another name");
    assert_eq!(state("y = 1"), "character 1: `y` is a state already; take another name");
    assert_eq!(state("if = 1"), "character 1: `if` is a word of formulas; take another name");
    let mut registers = compiler.place(&mut [&mut list, &mut result]);
    registers[0] = 10.0;
    assert_eq!(list.run(&mut registers), 0.0);
    assert_eq!(result.run(&mut registers), 42.0);
}

proptest! {
    #[test]
    fn no_text_breaks_the_compiler(text in "[-+*/^()<>=,;. a-dw0-9\u{e9}]{0,60}") {
        let _ = value(&text);
    }

    #[test]
    fn no_formula_of_words_breaks_it(words in prop::collection::vec(
        prop::sample::select(vec!["w", "rtt", "x", "a", "(", ")", "+", "-", "/", "^", "min(", ",", "if(", "1", "2 ms", "<", "not", "and"]),
        0..30,
    )) {
        let _ = value(&words.join(" "));
    }
}
