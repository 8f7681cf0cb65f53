//! The scripts of `tests/exchange`, one per rule of an RFC.

use std::fs;
use std::path::{Path, PathBuf};

use ackclock::exchange::{Outcome, Report};
use ackclock::transport::Profile;

fn run(text: &str) -> Report {
    ackclock::exchange::run(text, Profile::Rfc)
}

fn scripts() -> Vec<(PathBuf, String)> {
    scripts_of("exchange")
}

fn scripts_of(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "pkt")).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has scripts", folder.display());
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_script_passes_and_leaves_nothing_over() {
    let mut wrong = Vec::new();
    for (path, text) in scripts().into_iter().chain(scripts_of("packetdrill")) {
        let report = run(&text);
        if !report.passed() || !report.notes.is_empty() {
            wrong.push(format!("{}: {:#?}", path.display(), report));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each script runs twice with equal results. It ends, or stops at a line that a rule of the profile decides
/// differently. The RFC scripts pass. QUIC and RTP have no segments to exchange.
#[test]
fn every_script_runs_under_every_profile() {
    let has_segments = |profile: &Profile| !matches!(profile, Profile::Quic | Profile::Rtp);
    for (name, profile) in Profile::ALL.iter().filter(|(_, profile)| has_segments(profile)) {
        let mut passed = 0;
        let scripts = scripts();
        for (path, text) in &scripts {
            let text = format!("--profile={name}\n{text}");
            let report = run(&text);
            assert!(!matches!(report.outcome, Outcome::Unreadable(_)), "{name}, {}: {report:#?}", path.display());
            assert_eq!(run(&text), report, "{name}, {}", path.display());
            passed += usize::from(report.passed());
        }
        let least = if *profile == Profile::Rfc { scripts.len() } else { 1 };
        assert!(passed >= least, "{passed} of {} under {name}", scripts.len());
    }
}

#[test]
fn every_script_quotes_its_rule() {
    for (path, text) in scripts() {
        // What has no RFC says whose rule it is.
        let is_quoted =
            text.starts_with("// RFC ") && text.contains('"') || text.starts_with("// ns-2's Agent/TCP/Linux");
        assert!(is_quoted, "{}: the sentence of the RFC", path.display());
    }
}

/// A segment that a script expects is one that it checks.
#[test]
fn every_script_fails_if_what_it_expects_is_changed() {
    for (path, text) in scripts() {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in
            lines.iter().enumerate().filter(|(_, line)| line.contains(" > ") && line.contains(" ack "))
        {
            let changed = line.replacen(" ack ", " ack 9", 1);
            let mut lines = lines.clone();
            lines[number] = &changed;
            let outcome = run(&lines.join("\n")).outcome;
            assert!(matches!(outcome, Outcome::Failed(_)), "{}: {changed}: {outcome:?}", path.display());
        }
    }
}
