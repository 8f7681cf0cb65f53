//! Loading into the running kernel; says why it is skipped where that cannot be.

#![cfg(target_os = "linux")]

use std::io::Write;

use ackclock_bpf::{BpfObject, kernel};

fn object(name: &str) -> BpfObject {
    let path = format!("{}/../../python/ackclock/kernel/objects/{name}.bpf.o", env!("CARGO_MANIFEST_DIR"));
    BpfObject::parse(&std::fs::read(path).unwrap()).unwrap()
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
