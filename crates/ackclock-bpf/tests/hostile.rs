//! Crafted objects and programs, read and run in child processes with limits on memory and time.
#![cfg(unix)]
// How long inputs are generated is a matter of the clock, and no result depends on it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::process::Command;
use std::time::{Duration, Instant};

use ackclock_bpf::{BpfFactory, BpfObject, fuzz};

/// Kilobytes of address space that a child may have.
const MEMORY: u32 = 2_000_000;
/// Seconds that all inputs of a child may take, and the most that it may wait for its processor.
const SECONDS: u64 = 8;
const PATIENCE: u64 = 60;
/// Tells a child which inputs to generate.
const KIND: &str = "ACKCLOCK_HOSTILE";

const AIMD: &[u8] = include_bytes!("../../../python/ackclock/kernel/objects/aimd.bpf.o");

/// Runs `child` of this file under limits. A signal, a panic or an endless child fails the test.
fn in_a_child(kind: &str) {
    let this = std::env::current_exe().unwrap();
    let limits = format!("ulimit -v {MEMORY} -c 0; exec timeout {PATIENCE} \"$0\" child --exact --ignored");
    let output = Command::new("sh").arg("-c").arg(limits).arg(this).env(KIND, kind).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// Bytes by xorshift64*.
fn bytes(state: &mut u64, count: usize) -> Vec<u8> {
    let next = |_| {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..count).map(next).collect()
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let Ok(kind) = std::env::var(KIND) else { return };
    let (start, mut state, mut inputs) = (Instant::now(), 0x9e37_79b9_7f4a_7c15_u64, 0);
    while start.elapsed() < Duration::from_secs(SECONDS) && inputs < 30_000 {
        inputs += 1;
        match kind.as_str() {
            "objects" => fuzz::fuzz_object(&bytes(&mut state, 1 + 13 * (inputs % 9))),
            _ => fuzz::fuzz_engines(&bytes(&mut state, 8 + inputs % 700)),
        }
    }
    assert!(inputs > 50, "{inputs} inputs");
}

#[test]
fn changed_objects_take_neither_memory_nor_the_process() {
    in_a_child("objects");
}

#[test]
fn programs_run_alike_in_both_engines() {
    in_a_child("engines");
}

/// The place of the first section header whose name is `name`, and its fields for offset and size.
fn header(object: &[u8], name: &str) -> (usize, u64, u64) {
    let word = |at: usize| u64::from_le_bytes(object[at..at + 8].try_into().unwrap());
    let half = |at: usize| u32::from_le_bytes(object[at..at + 4].try_into().unwrap()) as usize;
    let (headers, count) = (word(0x28) as usize, usize::from(object[0x3c]));
    let names = word(headers + 64 * usize::from(object[0x3e]) + 0x18) as usize;
    let at = (0..count).map(|number| headers + 64 * number).find(|at| {
        let text = &object[names + half(*at)..];
        text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest[0] == 0)
    });
    let at = at.unwrap();
    (at, word(at + 0x18), word(at + 0x20))
}

fn refused(object: &[u8]) -> String {
    match BpfObject::parse(object) {
        Err(error) => error.to_string(),
        Ok(object) => {
            assert_eq!(BpfFactory::new(&object).unwrap_err(), BpfFactory::native(&object).unwrap_err());
            BpfFactory::new(&object).unwrap_err().to_string()
        }
    }
}

#[test]
fn a_program_that_moves_its_stack_is_refused_by_both_engines() {
    let mut object = AIMD.to_vec();
    let (_, start, size) = header(&object, "struct_ops");
    assert!(size >= 16);
    // r10 += -512
    object[start as usize..][..8].copy_from_slice(&[0x07, 0x0a, 0, 0, 0x00, 0xfe, 0xff, 0xff]);
    let message = refused(&object);
    assert!(message.ends_with("it writes to r10, which programs only read"), "{message}");
}

#[test]
fn an_object_is_refused_for_the_memory_that_it_would_take() {
    let mut object = AIMD.to_vec();
    let (at, ..) = header(&object, ".rodata");
    // Not in the file (SHT_NOBITS), and 16 MiB.
    object[at + 4..at + 8].copy_from_slice(&8_u32.to_le_bytes());
    object[at + 0x20..at + 0x28].copy_from_slice(&(16_u64 << 20).to_le_bytes());
    let message = refused(&object);
    assert!(message.starts_with("its global variables take more than 1048576 bytes"), "{message}");
    let mut object = AIMD.to_vec();
    object.resize(5 << 20, 0);
    assert_eq!(refused(&object), "it has 5242880 bytes, but at most 4194304 are read");
}
