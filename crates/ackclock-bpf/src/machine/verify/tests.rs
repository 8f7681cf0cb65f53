//! Programs that break one rule each.

use std::collections::BTreeMap;

use super::*;
use crate::object_file::Function;

const fn insn(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> Insn {
    Insn { code, dst, src, off, imm }
}

const LEAVE: Insn = insn(EXIT, 0, 0, 0, 0);
const HALF: Insn = insn(0, 0, 0, 0, 0);

/// A program whose functions begin at `starts`.
fn program(insns: &[Insn], starts: &[usize]) -> Program {
    let function = |start: &usize| Function { name: format!("at{start}"), start: *start, numbers_taken: None };
    Program {
        name: "ca".to_owned(),
        insns: insns.to_vec(),
        references: BTreeMap::new(),
        functions: starts.iter().map(function).collect(),
    }
}

fn refused(insns: &[Insn]) -> String {
    verify(&program(insns, &[0])).unwrap_err().0
}

#[test]
fn the_frame_pointer_is_no_destination() {
    for write in [
        insn(0x07, 10, 0, 0, -512),
        insn(0xbf, 10, 1, 0, 0),
        insn(0xb4, 10, 0, 0, 1),
        insn(0x79, 10, 1, 0, 0),
        insn(0xdb, 1, 10, 0, 0x01),
        insn(0xc3, 1, 10, 0, 0xe1),
    ] {
        assert_eq!(
            refused(&[write, LEAVE]),
            "its program ca: instruction 0 of at0: it writes to r10, which programs only read"
        );
    }
    let wide = refused(&[insn(LD_IMM64, 10, 0, 0, 1), HALF, LEAVE]);
    assert!(wide.contains("writes to r10"), "{wide}");
    // Stores through it, atomic ones without a fetched value, and comparisons read it.
    for read in
        [insn(0x7b, 10, 1, -8, 0), insn(0xdb, 10, 1, -8, 0x01), insn(0x7b, 1, 10, 0, 0), insn(0xdb, 1, 10, 0, 0)]
    {
        assert_eq!(verify(&program(&[read, LEAVE], &[0])), Ok(()));
    }
    assert_eq!(verify(&program(&[insn(0x1d, 10, 1, 0, 0), LEAVE], &[0])), Ok(()));
}

#[test]
fn jumps_end_at_whole_instructions_of_their_function() {
    let wide = [insn(LD_IMM64, 0, 0, 0, 1), HALF];
    let into_half = refused(&[insn(0x05, 0, 0, 1, 0), wide[0], wide[1], LEAVE]);
    assert!(into_half.ends_with("instruction 0 of at0: it jumps into half of ld_imm64"), "{into_half}");
    for (code, off, imm) in [(0x05, 1, 0), (0x05, -2, 0), (0x06, 0, 5), (0x15, 7, 0), (0x1e, -9, 0)] {
        let message = refused(&[insn(code, 0, 0, off, imm), LEAVE]);
        assert!(message.ends_with("it jumps out of its function"), "{message}");
    }
    // From one function into another.
    let both = program(&[insn(CALL, 0, PSEUDO_CALL, 0, 1), LEAVE, insn(0x15, 1, 0, -2, 0), LEAVE], &[0, 2]);
    assert!(verify(&both).unwrap_err().0.ends_with("instruction 0 of at2: it jumps out of its function"));
}

#[test]
fn calls_go_where_a_function_begins() {
    let call = |distance| [insn(CALL, 0, PSEUDO_CALL, 0, distance), LEAVE, insn(0xb7, 0, 0, 0, 1), LEAVE];
    assert_eq!(verify(&program(&call(1), &[0, 2])), Ok(()));
    for distance in [0, 2, 3, -2, i32::MIN, i32::MAX] {
        let message = verify(&program(&call(distance), &[0, 2])).unwrap_err().0;
        assert!(message.ends_with("it calls a place where no function begins"), "{message}");
    }
}

#[test]
fn a_function_ends_with_exit_or_a_jump() {
    let message = "the function does not end with exit or a jump";
    assert!(refused(&[insn(0xb7, 0, 0, 0, 1)]).ends_with(message));
    assert!(refused(&[insn(0x15, 0, 0, -1, 1)]).ends_with(message));
    assert!(refused(&[]).ends_with(message));
    assert!(refused(&[insn(LD_IMM64, 0, 0, 0, 1), insn(EXIT, 0, 0, 0, 0)]).contains("holds more than a constant"));
    assert!(refused(&[insn(LD_IMM64, 0, 0, 0, 1)]).ends_with("ld_imm64 has no second half"));
    let empty = program(&[insn(CALL, 0, PSEUDO_CALL, 0, 1), LEAVE, LEAVE], &[0, 2, 2]);
    assert!(verify(&empty).unwrap_err().0.ends_with(message));
    assert_eq!(verify(&program(&[LEAVE, insn(0x05, 0, 0, -2, 0)], &[0])), Ok(()));
}

#[test]
fn unknown_encodings_are_refused_by_name() {
    for (odd, name) in [
        (insn(0xb7, 0, 0, 8, 1), "mov of alu64"),
        (insn(0xbf, 0, 1, 24, 0), "mov of alu64"),
        (insn(0xbc, 0, 1, 32, 0), "mov of alu32"),
        (insn(0x0f, 0, 1, 1, 0), "add of alu64"),
        (insn(0x37, 0, 0, 2, 1), "div of alu64"),
        (insn(0x8f, 0, 1, 0, 0), "neg of alu64"),
        (insn(0xd7, 0, 0, 0, 8), "end of alu64"),
        (insn(0xdf, 0, 0, 0, 16), "end of alu64"),
        (insn(0x99, 0, 1, 0, 0), "memsx of ldx"),
        (insn(0xdb, 10, 1, -8, 0xe0), "atomic of stx"),
        (insn(0xd3, 10, 1, -8, 0), "atomic of stx"),
        (insn(0xe5, 0, 0, 0, 0), "may_goto of jmp"),
        (insn(0x0d, 0, 0, 0, 0), "ja of jmp"),
        (insn(0x8d, 0, 1, 0, 0), "call of jmp"),
        (insn(0x86, 0, 0, 0, 0), "call of jmp32"),
        (insn(CALL, 0, 5, 0, 0), "call of jmp"),
        (insn(0x20, 0, 0, 0, 0), "abs of ld"),
        (insn(0xff, 0, 0, 0, 0), "0xf0 of alu64"),
    ] {
        let message = refused(&[odd, LEAVE]);
        assert!(message.contains(&format!("instruction 0 of at0: {name} (code ")), "{message}");
    }
    assert!(refused(&[insn(0xbf, 11, 0, 0, 0), LEAVE]).ends_with("it uses register 11, but eBPF has r0 to r10"));
}
