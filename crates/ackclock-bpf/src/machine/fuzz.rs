//! Runs arbitrary bytes as a program: programs that pass the check give the same results in both engines.

use std::collections::BTreeMap;

use super::call::{Environment, KNOWN};
use super::fault::Fault;
use super::interpreter::{self, Op};
use super::memory::{Memory, SOCKET, Section, section_address};
use super::native::Native;
use super::{decode_with, verify};
use crate::insn::{CALL, EXIT, Insn, LD_IMM64, PSEUDO_CALL};
use crate::object_file::{Function, Program, Reference};

/// Bytes of an instruction in the input.
const WORD: usize = 8;
/// Instructions of a function.
const LENGTH: usize = 24;

/// Runs a program of up to four functions in interpreter and translation.
///
/// # Panics
/// Where they differ in result, memory or fault, though every access stays in its region.
pub fn fuzz_engines(data: &[u8]) {
    let Some(program) = program(data) else { return };
    let sections = [Section { content: Box::new([7; 64]), is_writable: true }];
    let Ok(ops) = decoded(&program, &sections) else { return };
    let translated = run(&sections, |memory, environment| {
        let native = Native::new(&ops, memory.all().len()).expect("invariant: both engines take the same encodings");
        native.run(memory, environment)
    });
    let interpreted = run(&sections, |memory, environment| interpreter::run(&ops, memory, environment));
    // The translation checks only the bounds of all memory, and counts otherwise.
    if !matches!(interpreted.0, Err(Fault::Memory(_) | Fault::Endless)) {
        assert_eq!(interpreted, translated, "{:x?}", program.insns);
    }
}

fn decoded(program: &Program, sections: &[Section]) -> crate::Result<Vec<Op>> {
    verify::verify(program)?;
    decode_with(program, |_| Ok(section_address(sections, 0)))
}

/// The result, the memory and the random state that a run leaves.
fn run(
    sections: &[Section],
    engine: impl FnOnce(&mut Memory, &mut Environment) -> Result<u64, Fault>,
) -> (Result<u64, Fault>, Vec<u8>, u64) {
    let (mut memory, mut environment) = (Memory::new(sections), Environment { now_ns: 5_000_000, random: 7 });
    memory.set_arguments([SOCKET, 3, 4]);
    let result = engine(&mut memory, &mut environment);
    (result, memory.all().to_vec(), environment.random)
}

/// Reads a program: mostly sound instructions, and some odd ones.
fn program(data: &[u8]) -> Option<Program> {
    let (words, rest) = data.as_chunks::<WORD>();
    let count = 1 + usize::from(*rest.first().unwrap_or(&0)) % 4;
    let length = (words.len() / count).min(LENGTH);
    if length == 0 {
        return None;
    }
    let mut program =
        Program { name: "fuzz".into(), insns: Vec::new(), references: BTreeMap::new(), functions: Vec::new() };
    let mut calls = Vec::new();
    for number in 0..count {
        let start = program.insns.len();
        program.functions.push(Function { name: format!("f{number}"), start, numbers_taken: None });
        for word in &words[number * length..][..length] {
            one(*word, &mut program, &mut calls);
        }
        program.insns.push(Insn { code: EXIT, ..Insn::default() });
    }
    for (at, chosen) in calls {
        let start = program.functions[chosen % count].start;
        program.insns[at].imm = start as i32 - at as i32 - 1;
    }
    Some(program)
}

fn one(word: [u8; WORD], program: &mut Program, calls: &mut Vec<(usize, usize)>) {
    let at = program.insns.len();
    let [kind, code, registers, off, i0, i1, i2, i3] = word;
    let imm = i32::from_le_bytes([i0, i1, i2, i3]);
    let (dst, src) = ((registers & 15) % 11, (registers >> 4) % 11);
    let (off, small) = (i16::from(off as i8), i16::from(off as i8 % 12));
    let by_register = code & 8 != 0;
    let operand = |code, off| {
        let (src, imm) = if by_register { (src, 0) } else { (0, imm) };
        Insn { code, dst, src, off, imm }
    };
    let size = code & 0x18;
    let stack = -8 * (1 + off.rem_euclid(64));
    let insn = match kind % 16 {
        0..=4 => operand(code & 0xf8 | if kind & 16 == 0 { 4 } else { 7 }, if off == 1 { 1 } else { 0 }),
        5 => Insn {
            code: if kind & 16 == 0 { 0xbf } else { 0xbc },
            dst,
            src,
            off: [8, 16, 32][off as usize % 3],
            imm: 0,
        },
        6 => Insn {
            code: [0xd4, 0xdc, 0xd7][usize::from(code % 3)],
            dst,
            src: 0,
            off: 0,
            imm: [16, 32, 64][imm as usize % 3],
        },
        7 => operand(code & 0xf8 | if kind & 16 == 0 { 5 } else { 6 }, small),
        8 => Insn { code: 0x61 | size, dst, src: 10, off: stack, imm: 0 },
        9 => Insn { code: 0x63 | size, dst: 10, src, off: stack, imm: 0 },
        10 => Insn { code: 0x62 | size, dst: 10, src: 0, off: stack, imm },
        11 => Insn { code: if by_register { 0xdb } else { 0xc3 }, dst: 10, src, off: stack, imm: imm & 0xf1 },
        12 => {
            program.references.insert(at, Reference::Data { section: 0, offset: 0 });
            program.insns.push(Insn { code: LD_IMM64, dst, ..Insn::default() });
            Insn::default()
        }
        13 if kind & 16 == 0 => {
            calls.push((at, usize::from(code)));
            Insn { code: CALL, src: PSEUDO_CALL, ..Insn::default() }
        }
        13 => {
            let helpers: Vec<_> = KNOWN.iter().filter(|known| known.helper != 0).collect();
            Insn { code: CALL, imm: helpers[usize::from(code) % helpers.len()].helper, ..Insn::default() }
        }
        // Any address, and any instruction at all.
        14 => Insn { code: 0x61 | size | code & 2, dst, src, off, imm: 0 },
        _ => Insn { code, dst, src, off, imm },
    };
    program.insns.push(insn);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_engines_agree_on_programs_that_pass_the_check(data in prop::collection::vec(any::<u8>(), 8..600)) {
            fuzz_engines(&data);
        }
    }

    #[test]
    fn most_generated_programs_pass_the_check() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let sound = (0..400).filter(|_| {
            let strategy = prop::collection::vec(any::<u8>(), 8..80);
            let data = strategy.new_tree(&mut runner).unwrap().current();
            program(&data).is_some_and(|program| verify::verify(&program).is_ok())
        });
        assert!(sound.count() > 40);
    }
}
