//! Any text is a scenario, or there is a message: mutations of valid texts, as a fuzzer would make them.

use ackclock_scenario::fuzz;
use proptest::prelude::*;

const TEXTS: [&str; 3] = [
    include_str!("../../../../fuzz/corpus/scenario/dumbbell.toml"),
    include_str!("../../../../fuzz/corpus/scenario/links.toml"),
    include_str!("../../../../fuzz/corpus/scenario/varying.toml"),
];

/// Values that a careless or malicious user puts into a file.
const TOKENS: [&str; 34] = [
    "",
    "\"",
    "'",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "#",
    "\0",
    "\0flows.0.count=2",
    "\0topology.queue=drop-tail",
    "0",
    "-1",
    "1e308",
    "18446744073709551615",
    "nan",
    "true",
    "\"0 s\"",
    "\"100 days\"",
    "\"2400 h\"",
    "\"1e15 bit/s\"",
    "\"1000000 BDP\"",
    "\"1 packet\"",
    "{ uniform = [\"0 s\", \"1 s\"] }",
    "kind",
    "flows",
    "reverse",
    "é",
];

fn is_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Replaces `length` bytes at `at` (per thousand of the text) by a token.
fn splice(text: &str, at: usize, length: usize, token: &str) -> String {
    let start = is_boundary(text, text.len() * at / 1_000);
    let end = is_boundary(text, start + length).max(start);
    format!("{}{token}{}", &text[..start], &text[end..])
}

/// Replaces the value of a line, or drops it.
fn revalue(text: &str, line: usize, token: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let line = line % lines.len().max(1);
    let changed = lines.iter().enumerate().map(|(index, old)| match old.split_once('=') {
        Some((key, _)) if index == line => format!("{key}= {token}"),
        _ => (*old).to_owned(),
    });
    changed.collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spliced_texts_do_not_panic(
        text in prop::sample::select(&TEXTS[..]),
        splices in prop::collection::vec((0usize..1_000, 0usize..20, prop::sample::select(&TOKENS[..])), 1..4),
    ) {
        let mutated = splices.iter().fold(text.to_owned(), |text, (at, length, token)| splice(&text, *at, *length, token));
        fuzz(mutated.as_bytes());
    }

    #[test]
    fn other_values_do_not_panic(
        text in prop::sample::select(&TEXTS[..]),
        values in prop::collection::vec((0usize..100, prop::sample::select(&TOKENS[..])), 1..4),
    ) {
        let mutated = values.iter().fold(text.to_owned(), |text, (line, token)| revalue(&text, *line, token));
        fuzz(mutated.as_bytes());
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz(&bytes);
    }
}

#[test]
fn the_texts_themselves_are_scenarios() {
    for text in TEXTS {
        ackclock_scenario::Scenario::from_toml::<&str>(text, "corpus", &[]).unwrap();
    }
}
