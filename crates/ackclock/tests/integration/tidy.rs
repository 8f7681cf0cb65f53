//! Style as a test: imports, forbidden calls in the core, lengths of files and functions, parts of every algorithm.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a crate, each with the modules that it may use.
type Map = &'static [(&'static str, &'static [&'static str])];

/// Each crate with the crates of this repository that it depends on, tests left out.
const CRATES: Map = &[
    ("ackclock", &[]),
    ("ackclock-input", &[]),
    ("ackclock-scenario", &["ackclock"]),
    ("ackclock-pcap", &["ackclock", "ackclock-input"]),
    ("ackclock-bpf", &["ackclock", "ackclock-input"]),
    ("ackclock-wire", &["ackclock", "ackclock-bpf", "ackclock-input"]),
    ("ackclock-linux", &["ackclock", "ackclock-bpf", "ackclock-scenario", "ackclock-wire"]),
    ("ackclock-kernel", &["ackclock", "ackclock-bpf", "ackclock-wire"]),
    (
        "ackclock-python",
        &[
            "ackclock",
            "ackclock-bpf",
            "ackclock-input",
            "ackclock-kernel",
            "ackclock-linux",
            "ackclock-pcap",
            "ackclock-scenario",
        ],
    ),
    ("ackclock-wasm", &["ackclock", "ackclock-scenario"]),
    ("ackclock-wasm-score", &["ackclock"]),
    ("ackclock-s2n", &["ackclock"]),
];

/// The binding of Python.
const BINDING: Map = &[
    ("error", &[]),
    ("cancel", &[]),
    ("model", &[]),
    ("queue", &["error"]),
    ("table", &[]),
    ("exchange", &["error"]),
    ("catalog", &["error"]),
    ("capture_file", &["catalog"]),
    ("foreign", &["error"]),
    ("run", &["error", "catalog", "foreign", "table"]),
    ("emulator", &["error", "run"]),
    ("scenario", &["error", "cancel", "catalog", "foreign", "run", "emulator"]),
    ("episode", &["error", "scenario"]),
    ("score", &["catalog"]),
];

/// The core. `ARCHITECTURE.md` shows the same map.
const CORE: Map = &[
    ("units", &[]),
    ("rng", &[]),
    ("metric", &[]),
    ("ecn", &[]),
    ("probe", &[]),
    ("prefetch", &[]),
    ("rule", &["units"]),
    ("engine", &["units"]),
    ("meter", &["units"]),
    ("quantity", &["units", "rule"]),
    ("formula", &["quantity"]),
    ("qdisc", &["units", "ecn", "rng", "quantity"]),
    ("variation", &["units", "rng"]),
    ("link", &["units", "ecn", "rng", "qdisc", "variation"]),
    ("cc", &["units", "ecn", "rng", "rule", "formula"]),
    ("model", &["units", "rule", "cc", "metric"]),
    ("transport", &["units", "quantity", "prefetch", "cc"]),
    ("tcp", &["units", "ecn", "quantity", "prefetch", "cc", "transport"]),
    ("quic", &["units", "ecn", "cc", "transport"]),
    ("rtp", &["units", "ecn", "cc", "transport", "quic"]),
    ("capture", &["units", "qdisc", "cc", "transport", "tcp", "rtp"]),
    ("exchange", &["units", "ecn", "cc", "transport", "tcp"]),
    (
        "sim",
        &[
            "units",
            "ecn",
            "rng",
            "metric",
            "probe",
            "prefetch",
            "engine",
            "meter",
            "qdisc",
            "variation",
            "link",
            "cc",
            "transport",
            "tcp",
            "quic",
            "rtp",
            "capture",
        ],
    ),
    ("open_loop", &["units", "rng", "quantity", "qdisc", "link", "sim"]),
    ("score", &["metric", "sim"]),
    ("contract", &["units", "rng", "rule", "cc", "transport", "tcp", "meter", "qdisc", "variation", "link", "sim"]),
];

/// Beyond this a file holds more than one concept, or its tests want a file of their own.
const MAX_LINES: usize = 650;
/// The same of a function outside tests.
const MAX_FUNCTION_LINES: usize = 80;

/// Calls that the core must not make. It asks the outside for nothing, and gives the same result on every machine.
const FORBIDDEN: &[(&str, &str)] = &[
    ("std::time", "the core reads no clock; use units::Instant and units::Duration"),
    ("std::fs", "the core reads no files"),
    ("std::env", "the core reads no environment"),
    ("std::net", "the core sends nothing"),
    ("std::thread", "the core starts no threads"),
    ("println!", "the core prints nothing"),
    ("eprintln!", "the core prints nothing"),
    ("dbg!", "the core prints nothing"),
    ("HashMap", "its order would leak into results; use a Vec or a BTreeMap"),
    ("HashSet", "its order would leak into results; use a Vec or a BTreeSet"),
    (".powi(", "of unspecified precision; multiply, or use libm::pow"),
    (".log(", "platform dependent; use libm::log"),
    (".powf(", "platform dependent; use libm::pow"),
    (".exp()", "platform dependent; use libm::exp"),
    (".exp2()", "platform dependent; use libm::exp2"),
    (".ln()", "platform dependent; use libm::log"),
    (".ln_1p()", "platform dependent; use libm::log1p"),
    (".exp_m1()", "platform dependent; use libm::expm1"),
    (".log2()", "platform dependent; use libm::log2"),
    (".log10()", "platform dependent; use libm::log10"),
    (".cbrt()", "platform dependent; use libm::cbrt"),
    (".sin()", "platform dependent; use libm::sin"),
    (".cos()", "platform dependent; use libm::cos"),
    (".tan()", "platform dependent; use libm::tan"),
    (".tanh()", "platform dependent; use libm::tanh"),
    ("f64::powf", "platform dependent; use libm::pow"),
    ("f64::exp", "platform dependent; use libm::exp"),
    ("f64::ln", "platform dependent; use libm::log"),
    ("f64::cbrt", "platform dependent; use libm::cbrt"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Whitespace at the beginning of a line.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The number of lines of an item that begins with the first one. It ends at its closing brace or semicolon, where
/// rustfmt puts them.
fn item_len(lines: &[&str]) -> usize {
    let margin = indent(lines[0]);
    let ends = |line: &&str| {
        let outdented = line.strip_prefix(margin).filter(|rest| !rest.starts_with(' '));
        outdented.is_some_and(|rest| rest.starts_with('}') || rest.ends_with([';', '}']))
    };
    lines.iter().position(ends).map_or(lines.len(), |last| last + 1)
}

/// A source text without the items after `#[cfg(test)]`.
fn without_tests(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        if lines[at].trim() == "#[cfg(test)]" {
            let attributes = lines[at..].iter().take_while(|line| line.trim_start().starts_with("#[")).count();
            at += attributes;
            at += lines.get(at..).filter(|rest| !rest.is_empty()).map_or(0, item_len);
        } else {
            kept.push(lines[at]);
            at += 1;
        }
    }
    kept
}

/// The same without lines that are comments.
pub fn code(text: &str) -> Vec<&str> {
    without_tests(text).into_iter().filter(|line| !line.trim_start().starts_with("//")).collect()
}

/// The top-level modules that a source text names after `crate::`, tests left out.
fn used_modules(text: &str) -> Vec<String> {
    let lines = code(text);
    lines.iter().flat_map(|line| line.split("crate::").skip(1).map(first_word).collect::<Vec<_>>()).collect()
}

/// The functions of a source text with the number of their lines, tests left out.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines = without_tests(text);
    let name = |line: &str| {
        let mut words = line.trim_start().split(' ');
        let qualifiers = ["pub", "pub(super)", "pub(crate)", "const", "unsafe", "async"];
        let is_function = words.find(|word| !qualifiers.contains(word)) == Some("fn");
        is_function.then(|| first_word(words.next().unwrap_or_default()))
    };
    let named = lines.iter().enumerate().filter_map(|(at, line)| Some((at, name(line)?)));
    named.map(|(at, name)| (name, item_len(&lines[at..]))).collect()
}

/// The forbidden calls of a source text, each with its reason.
fn forbidden(text: &str) -> Vec<&'static (&'static str, &'static str)> {
    let lines = code(text);
    FORBIDDEN.iter().filter(|(call, _)| lines.iter().any(|line| line.contains(call))).collect()
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn modules_use_only_what_lies_below_them() {
    for (name, map) in [("ackclock", CORE), ("ackclock-python", BINDING)] {
        let src = root().join("crates").join(name).join("src");
        let mut seen = Vec::new();
        for file in rust_files(&src) {
            let relative = file.strip_prefix(&src).unwrap();
            let module = first_word(&relative.to_string_lossy());
            if module == "lib" || relative.ends_with("tests.rs") {
                continue;
            }
            let (_, allowed) = map
                .iter()
                .find(|(name, _)| *name == module)
                .unwrap_or_else(|| panic!("{}: add the module to the map of allowed uses", file.display()));
            seen.push(module.clone());
            for used in used_modules(&fs::read_to_string(&file).unwrap()) {
                let known = map.iter().any(|(name, _)| *name == used);
                assert!(
                    !known || used == module || allowed.contains(&used.as_str()),
                    "{}: `{module}` may not use `{used}`",
                    file.display()
                );
            }
        }
        for (module, _) in map {
            assert!(seen.iter().any(|other| other == module), "the map of {name} names `{module}`, which is not there");
        }
    }
}

#[test]
fn crates_depend_only_on_what_the_map_says() {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = folders.map(|folder| (name_of(&folder), dependencies(&folder))).collect();
    let mut expected: Vec<_> =
        CRATES.iter().map(|(name, used)| (name.to_string(), used.iter().map(ToString::to_string).collect())).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_maps_go_one_way() {
    for map in [CRATES, BINDING, CORE] {
        for (at, (name, used)) in map.iter().enumerate() {
            let is_above = |module: &&str| map[..at].iter().any(|(above, _)| above == module);
            assert!(used.iter().all(is_above), "{name}");
        }
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

/// The crates of this repository in the dependencies of a crate on any system, sorted.
fn dependencies(folder: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let is_counted = |heading: &str| heading.ends_with("dependencies]") && !heading.ends_with("dev-dependencies]");
    let (mut counts, mut own) = (false, Vec::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            counts = is_counted(line);
        } else if counts && line.starts_with("ackclock") {
            own.extend(line.split([' ', '.', '=']).next().map(str::to_owned));
        }
    }
    own.sort();
    own
}

#[test]
fn a_file_can_be_read_in_one_sitting() {
    for file in rust_files(&root().join("crates")) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", file.display());
    }
}

#[test]
fn a_function_can_be_seen_at_a_glance() {
    let mut too_long = Vec::new();
    for file in rust_files(&root().join("crates")) {
        if file.components().any(|folder| ["tests", "benches"].iter().any(|name| folder.as_os_str() == *name)) {
            continue;
        }
        let functions = functions(&fs::read_to_string(&file).unwrap()).into_iter();
        let long = functions.filter(|(_, lines)| *lines > MAX_FUNCTION_LINES);
        too_long.extend(long.map(|(name, lines)| format!("{}: `{name}` has {lines} lines", file.display())));
    }
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
}

#[test]
fn the_core_asks_the_outside_for_nothing() {
    let sources = ["crates/ackclock/src", "crates/ackclock-scenario/src"];
    for file in sources.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        if let Some((call, why)) = forbidden(&fs::read_to_string(&file).unwrap()).first() {
            assert!(file.ends_with("tests.rs"), "{}: `{call}`: {why}", file.display());
        }
    }
}

#[test]
fn every_algorithm_has_a_page() {
    for info in ackclock::cc::algorithms() {
        let page = root().join(format!("docs/algorithms/{}.md", info.name));
        let text = fs::read_to_string(&page).unwrap_or_else(|_| panic!("{} is missing", page.display()));
        for section in ["Reference", "Equations", "Deviations", "Validation"] {
            assert!(text.contains(section), "{} says nothing of \"{section}\"", page.display());
        }
    }
}

#[test]
fn what_the_profile_of_ns2_sets_is_explained() {
    let text = fs::read_to_string(root().join("docs/validation/ns2-packets.md")).unwrap();
    for (key, value) in ackclock::transport::Profile::Ns2.settings() {
        let row = text.lines().find_map(|line| line.strip_prefix(&format!("| `{key}` | ")));
        let row = row.unwrap_or_else(|| panic!("docs/validation/ns2-packets.md has no row of `{key}`"));
        let value = value.as_str().unwrap();
        let starts = row.trim_start_matches('`').starts_with(value);
        assert!(starts, "docs/validation/ns2-packets.md has another value of `{key}` than \"{value}\": {row}");
    }
}

/// Items for tests at the beginning, in the middle and at the end of a file.
const SAMPLE: &str = r#"use crate::units::Rate;
// crate::sim is not used, nor is HashMap
#[cfg(test)]
mod tests;
#[cfg(test)]
use crate::score::{
    One, Two,
};
let x = crate::cc::Cc::new(crate::rule::f());

impl Some {
    #[cfg(test)]
    #[must_use]
    pub fn of(
        x: f64,
    ) -> f64 {
        { crate::sim::f("}").powf(x) }
    }

    pub(super) const fn second(&self) -> u32 {
        let y = 1;
        y
    }
    fn third();
    fn fourth(
        self,
    ) -> u32;
}

fn fifth(x: f64) -> f64 { crate::qdisc::f(x) }

#[cfg(test)]
mod more {
    use std::fs;
    fn sixth() {
    }
}

fn seventh() {
    crate::link::f();
}
"#;

#[test]
fn what_is_read_of_a_file_is_all_but_its_tests() {
    assert_eq!(used_modules(SAMPLE), ["units", "cc", "rule", "qdisc", "link"]);
    let named: Vec<_> = functions(SAMPLE);
    let expected = [("second", 4), ("third", 1), ("fourth", 3), ("fifth", 1), ("seventh", 3)];
    assert_eq!(named, expected.map(|(name, lines)| (name.to_owned(), lines)));
    // The text after CUBIC's first item for tests is read.
    let cubic = fs::read_to_string(root().join("crates/ackclock/src/cc/cubic.rs")).unwrap();
    assert!(functions(&cubic).iter().any(|(name, _)| name == "on_congestion"));
}

#[test]
fn forbidden_calls_are_found_outside_tests_alone() {
    assert_eq!(forbidden(SAMPLE), Vec::<&(&str, &str)>::new());
    for found in FORBIDDEN {
        let text = SAMPLE.replace("let y = 1;", &format!("let y = x{}1;", found.0));
        assert!(forbidden(&text).contains(&found), "{}", found.0);
    }
}
