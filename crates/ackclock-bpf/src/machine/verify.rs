//! The check of a program before an engine runs it: encodings, registers, and targets of jumps and calls.
//!
//! Interpreter and translation run only programs that pass, so that both support the same encodings. Reference: RFC 9669.

use crate::error::{Result, wrong};
use crate::insn::{CALL, EXIT, Insn, LD_IMM64, PSEUDO_CALL, PSEUDO_KFUNC_CALL};
use crate::object_file::Program;

/// The frame pointer, which programs only read.
const FRAME_POINTER: u8 = 10;
/// Operations of `0xc3` and `0xdb`, by the constant. An odd constant fetches the old value.
const ATOMIC: [i32; 10] = [0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, CMPXCHG - 0x10, CMPXCHG];
const CMPXCHG: i32 = 0xf1;

const CLASSES: [&str; 8] = ["ld", "ldx", "st", "stx", "alu32", "jmp", "jmp32", "alu64"];
const ARITHMETIC: [&str; 16] =
    ["add", "sub", "mul", "div", "or", "and", "lsh", "rsh", "neg", "mod", "xor", "mov", "arsh", "end", "0xe0", "0xf0"];
const JUMPS: [&str; 16] = [
    "ja", "jeq", "jgt", "jge", "jset", "jne", "jsgt", "jsge", "call", "exit", "jlt", "jle", "jslt", "jsle", "may_goto",
    "0xf0",
];
const MODES: [&str; 8] = ["imm", "abs", "ind", "mem", "memsx", "0xa0", "atomic", "0xe0"];

/// Checks a program with all functions that it calls.
///
/// # Errors
/// The first instruction that breaks a rule, by its function, number and name.
pub fn verify(program: &Program) -> Result<()> {
    let ends = program.functions.iter().skip(1).map(|function| function.start).chain([program.insns.len()]);
    let halves = second_halves(&program.insns);
    for (function, end) in program.functions.iter().zip(ends) {
        let checked = Checked { insns: &program.insns, halves: &halves, start: function.start, end };
        checked.all(program).map_err(|(at, what)| {
            let place = at - function.start;
            wrong!("its program {}: instruction {place} of {}: {what}", program.name, function.name)
        })?;
    }
    Ok(())
}

/// True at each second half of `ld_imm64`.
fn second_halves(insns: &[Insn]) -> Vec<bool> {
    let mut halves = vec![false; insns.len()];
    for at in 1..insns.len() {
        halves[at] = insns[at - 1].is_wide() && !halves[at - 1];
    }
    halves
}

/// A function that is being checked, with the instructions of its program.
struct Checked<'a> {
    insns: &'a [Insn],
    halves: &'a [bool],
    start: usize,
    end: usize,
}

/// The instruction that breaks a rule, and the rule.
type Broken = (usize, String);

impl Checked<'_> {
    fn all(&self, program: &Program) -> std::result::Result<(), Broken> {
        for at in self.start..self.end {
            let check = if self.halves[at] { self.half(at) } else { self.one(at, program) };
            check.map_err(|what| (at, what))?;
        }
        let last = self.end.saturating_sub(1).max(self.start);
        match self.insns.get(last) {
            Some(insn) if self.end > self.start && !self.halves[last] && ends(insn) => Ok(()),
            _ => Err((last, "the function does not end with exit or a jump".to_owned())),
        }
    }

    fn half(&self, at: usize) -> std::result::Result<(), String> {
        let Insn { code, dst, src, off, .. } = self.insns[at];
        if at == self.start || (code, dst, src, off) != (0, 0, 0, 0) {
            return Err("the second half of ld_imm64 holds more than a constant".to_owned());
        }
        Ok(())
    }

    fn one(&self, at: usize, program: &Program) -> std::result::Result<(), String> {
        let insn = &self.insns[at];
        let Insn { code, dst, src, .. } = *insn;
        if dst > FRAME_POINTER || src > FRAME_POINTER {
            return Err(format!("it uses register {}, but eBPF has r0 to r10", dst.max(src)));
        }
        if !is_known(insn) {
            return Err(format!("{} is an encoding that the simulator does not support", shown(insn)));
        }
        if written(insn) == Some(FRAME_POINTER) {
            return Err("it writes to r10, which programs only read".to_owned());
        }
        if code == LD_IMM64 && at + 1 >= self.end {
            return Err("ld_imm64 has no second half".to_owned());
        }
        let target = |distance: i64| usize::try_from(at as i64 + 1 + distance).ok();
        if code == CALL && src == PSEUDO_CALL {
            let target = target(insn.imm.into());
            if !target.is_some_and(|target| {
                program.functions.binary_search_by_key(&target, |function| function.start).is_ok()
            }) {
                return Err("it calls a place where no function begins".to_owned());
            }
        } else if let Some(distance) = distance(insn) {
            let target = target(distance).filter(|target| (self.start..self.end).contains(target));
            match target {
                None => return Err("it jumps out of its function".to_owned()),
                Some(target) if self.halves[target] => return Err("it jumps into half of ld_imm64".to_owned()),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// True for an instruction after which the next one does not run.
fn ends(insn: &Insn) -> bool {
    matches!(insn.code, EXIT | 0x05 | 0x06)
}

/// The distance of a jump from the next instruction. `gotol` stores it in the constant.
fn distance(insn: &Insn) -> Option<i64> {
    match insn.code {
        CALL | EXIT => None,
        0x06 => Some(insn.imm.into()),
        code if matches!(code & 7, 5 | 6) => Some(insn.off.into()),
        _ => None,
    }
}

/// The register that an instruction writes, but for r0 of calls and of `cmpxchg`.
fn written(insn: &Insn) -> Option<u8> {
    match insn.code & 7 {
        0x00 | 0x01 | 0x04 | 0x07 => Some(insn.dst),
        0x03 if insn.code & 0xe0 == 0xc0 && insn.imm & 1 == 1 && insn.imm != CMPXCHG => Some(insn.src),
        _ => None,
    }
}

/// True for an encoding of RFC 9669 whose unused fields are zero.
fn is_known(insn: &Insn) -> bool {
    let Insn { code, dst, src, off, imm } = *insn;
    let (by_register, is_wide) = (code & 8 != 0, code & 7 == 7);
    // Either the register or the constant is used.
    let has_one_operand = if by_register { imm == 0 } else { src == 0 };
    match (code & 7, code & 0xf0) {
        (0x00, _) => code == LD_IMM64 && off == 0,
        (0x01, _) => imm == 0 && (code & 0xe0 == 0x60 || code & 0xe0 == 0x80 && code & 0x18 != 0x18),
        (0x02, _) => code & 0xe0 == 0x60 && src == 0,
        (0x03, _) if code & 0xe0 == 0xc0 => matches!(code & 0x18, 0x00 | 0x18) && ATOMIC.contains(&imm),
        (0x03, _) => code & 0xe0 == 0x60 && imm == 0,
        (0x04 | 0x07, 0x30 | 0x90) => has_one_operand && matches!(off, 0 | 1),
        (0x04 | 0x07, 0x80) => !by_register && (src, off, imm) == (0, 0, 0),
        (0x04 | 0x07, 0xb0) => {
            has_one_operand && (off == 0 || by_register && (matches!(off, 8 | 16) || is_wide && off == 32))
        }
        (0x04 | 0x07, 0xd0) => !(is_wide && by_register) && (src, off) == (0, 0) && matches!(imm, 16 | 32 | 64),
        (0x04 | 0x07, kind) => kind < 0xe0 && has_one_operand && off == 0,
        (_, 0x00) => (dst, src) == (0, 0) && (code == 0x05 && imm == 0 || code == 0x06 && off == 0),
        (_, 0x80) => code == CALL && (dst, off) == (0, 0) && src <= PSEUDO_KFUNC_CALL,
        (_, 0x90) => code == EXIT && (dst, src, off, imm) == (0, 0, 0, 0),
        (_, kind) => kind < 0xe0 && has_one_operand,
    }
}

/// The name of an instruction with its fields, for messages.
fn shown(insn: &Insn) -> String {
    let Insn { code, dst, src, off, imm } = *insn;
    let class = usize::from(code & 7);
    let name = match class {
        0..=3 => MODES[usize::from(code >> 5)],
        4 | 7 => ARITHMETIC[usize::from(code >> 4)],
        _ => JUMPS[usize::from(code >> 4)],
    };
    format!("{name} of {} (code {code:#04x}, r{dst}, r{src}, offset {off}, constant {imm})", CLASSES[class])
}

#[cfg(test)]
mod tests;
