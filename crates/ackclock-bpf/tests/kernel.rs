//! Loads programs into the running kernel, or prints the reason for skipping.

#![cfg(target_os = "linux")]

use std::io::Write;

use ackclock::cc::{RuleSource, RuleText};
use ackclock_bpf::{BpfObject, compile_rule, kernel};

fn path(name: &str) -> String {
    format!("{}/../../python/ackclock/kernel/objects/{name}.bpf.o", env!("CARGO_MANIFEST_DIR"))
}

fn object(name: &str) -> BpfObject {
    BpfObject::parse(&std::fs::read(path(name)).unwrap()).unwrap()
}

/// A name that no other test has, also of another run of them at the same time.
fn name(letter: char) -> String {
    format!("t{letter}{}", std::process::id())
}

/// Why the kernel takes no programs from here, if it does not.
fn reason() -> Option<String> {
    match kernel::attach(&object("aimd"), &name('r'), "") {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Says so even where the output of tests that pass is not shown.
fn skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: loading into the kernel: {reason}");
}

fn is_there(name: &str) -> bool {
    kernel::list().unwrap().iter().any(|loaded| loaded.name == name)
}

#[test]
fn every_algorithm_passes_the_verifier_and_leaves_with_its_link() {
    if let Some(reason) = reason() {
        skipped(&reason);
        return;
    }
    for (index, algorithm) in
        ["aimd", "aiad", "mimd", "miad", "aimd_fc", "aimd_fc_plus", "new_aimd", "mr_aimd"].into_iter().enumerate()
    {
        let name = name(char::from(b'a' + index as u8));
        let link = kernel::attach(&object(algorithm), &name, "").unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert!(is_there(&name), "{algorithm}");
        drop(link);
        assert!(!is_there(&name), "{algorithm}");
    }
}

/// Formulas that use all that there is, more than once.
fn large_rule() -> RuleText {
    let all = "min(w, ssthresh) / (1 + cuts) * (x + y ^ 7) - sqrt(abs(x)) * floor(y / z) + \
               if(x < y and not y == 3 or r > 0.01, x * y, max(x - y, z))";
    let mut source = RuleSource { grow: format!("{all} + acked"), cut: all.to_owned(), ..RuleSource::default() };
    source.state = "x = 1; y = 2; z = 3; r = 0; s = 0; t = 0; m = 0; f = 0".to_owned();
    source.on_ack =
        "r = queue_delay; s = srtt / (rtt + min_rtt); t = time + since_cut; m = mss; f = in_flight".to_owned();
    let update = "x = x * y - z / x + 1; y = max(min(y * z - x, 100), -100); z = z / (x + y); ".repeat(8);
    source.on_grow.clone_from(&update);
    source.on_cut.clone_from(&update);
    source.on_restart = "x = w; y = floor(w / 2)".to_owned();
    source.on_timeout = "x = cuts".to_owned();
    source.into()
}

#[test]
fn rules_pass_the_verifier() {
    if let Some(reason) = reason() {
        skipped(&reason);
        return;
    }
    let program = std::fs::read(path("rule")).unwrap();
    for (letter, rule) in [('i', RuleText::default()), ('j', large_rule())] {
        let object = BpfObject::parse(&compile_rule(&program, &rule).unwrap()).unwrap();
        let link = kernel::attach(&object, &name(letter), "").unwrap();
        assert!(is_there(&name(letter)));
        drop(link);
    }
}

#[test]
fn what_is_loaded_stays_until_it_is_unloaded_and_says_what_it_is() {
    if let Some(reason) = reason() {
        skipped(&reason);
        return;
    }
    let name = name('z');
    kernel::load(&object("new_aimd"), &name, "increase=2").unwrap();
    let loaded = kernel::list().unwrap().into_iter().find(|loaded| loaded.name == name);
    let again = kernel::load(&object("new_aimd"), &name, "");
    kernel::unload(&name).unwrap();
    assert_eq!(loaded.unwrap().about.as_deref(), Some("increase=2"));
    assert!(again.unwrap_err().to_string().contains("already has a congestion control called"));
    assert!(!is_there(&name));
    assert!(kernel::unload(&name).unwrap_err().to_string().contains("was loaded"));
}

#[test]
fn names_are_those_that_the_kernel_takes() {
    let wrong = |name: &str| kernel::check_name(name).unwrap_err().to_string();
    assert_eq!(wrong("a_name_too_long_"), "the name \"a_name_too_long_\" has 16 characters; the kernel takes 1 to 15");
    assert_eq!(wrong("new-aimd"), "the name \"new-aimd\" has a '-'; the kernel takes letters, digits and _");
    assert!(wrong("").contains("0 characters"));
    assert!(wrong("reno").contains("already has"));
}
