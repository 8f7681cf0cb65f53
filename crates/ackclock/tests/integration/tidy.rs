//! Style as a test: which module may use which, how long a file may be, what every algorithm must have.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the core with the modules it may use. `ARCHITECTURE.md` shows the same map.
const ALLOWED: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("rng", &[]),
    ("metric", &[]),
    ("probe", &[]),
    ("prefetch", &[]),
    ("rule", &["units"]),
    ("engine", &["units"]),
    ("meter", &["units"]),
    ("quantity", &["units", "rule"]),
    ("qdisc", &["units", "rng", "quantity"]),
    ("variation", &["units", "rng"]),
    ("link", &["units", "rng", "qdisc", "variation"]),
    ("cc", &["units", "rule"]),
    ("model", &["units", "rule", "cc", "metric"]),
    ("tcp", &["units", "prefetch", "cc"]),
    ("exchange", &["units", "cc", "tcp"]),
    (
        "sim",
        &["units", "rng", "metric", "probe", "prefetch", "engine", "meter", "qdisc", "variation", "link", "cc", "tcp"],
    ),
    ("contract", &["units", "rng", "rule", "cc", "tcp", "meter", "qdisc", "variation", "link", "sim"]),
    ("scenario", &["units", "rng", "rule", "cc", "tcp", "meter", "quantity", "qdisc", "variation", "link", "sim"]),
];

/// Beyond this a file holds more than one concept, or its tests want a file of their own.
const MAX_LINES: usize = 650;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
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

/// The top-level modules that a source text names behind `crate::`, tests left out.
fn used_modules(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1).map(first_word).collect::<Vec<_>>())
        .collect()
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let src = root().join("crates/ackclock/src");
    let mut seen = Vec::new();
    for file in rust_files(&src) {
        let relative = file.strip_prefix(&src).unwrap();
        let module = first_word(&relative.to_string_lossy());
        if module == "lib" || relative.ends_with("tests.rs") {
            continue;
        }
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("{}: add the module to the map of allowed uses", relative.display()));
        seen.push(module.clone());
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            let known = ALLOWED.iter().any(|(name, _)| *name == used);
            assert!(
                !known || used == module || allowed.contains(&used.as_str()),
                "{}: `{module}` may not use `{used}`",
                relative.display()
            );
        }
    }
    for (name, _) in ALLOWED {
        assert!(seen.iter().any(|module| module == name), "the map names `{name}`, which is not there");
    }
}

#[test]
fn a_file_can_be_read_in_one_sitting() {
    for file in rust_files(&root().join("crates")) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", file.display());
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
fn the_map_reads_what_it_should() {
    let text = "use crate::units::Rate;\n// crate::sim is not used\nlet x = crate::cc::Cc::new(crate::rule::f());\n\
                #[cfg(test)]\nuse crate::sim::Plan;";
    assert_eq!(used_modules(text), ["units", "cc", "rule"]);
}
