//! From instructions of eBPF to instructions of x86-64.
//!
//! Each eBPF register has a register of the processor, the same as in the kernel's translation. Register r12 contains
//! the address of the memory, and r9 the state of the run. Registers r10 and r11 are free within an instruction.

use std::collections::BTreeSet;

use iced_x86::IcedError;
use iced_x86::code_asm::*;

use super::super::call::Call;
use super::super::interpreter::{Op, size};
use super::super::memory::{CONTEXT, FRAME, STACK};
use super::{Ending, State, call_function};
use crate::error::{Result, wrong};
use crate::insn::{CALL, EXIT, LD_IMM64};

/// The registers of eBPF, r0 to r10.
const WIDE: [AsmRegister64; 11] = [rax, rdi, rsi, rdx, rcx, r8, rbx, r13, r14, r15, rbp];
const HALF: [AsmRegister32; 11] = [eax, edi, esi, edx, ecx, r8d, ebx, r13d, r14d, r15d, ebp];
const SHORT: [AsmRegister16; 11] = [ax, di, si, dx, cx, r8w, bx, r13w, r14w, r15w, bp];
const BYTE: [AsmRegister8; 11] = [al, dil, sil, dl, cl, r8b, bl, r13b, r14b, r15b, bpl];

type Assembled = std::result::Result<(), IcedError>;

/// The register and the distance of a refused access.
type Address = Option<(usize, i32)>;

/// A program that is being translated.
struct Translation {
    code: CodeAssembler,
    /// The label of each instruction.
    labels: Vec<CodeLabel>,
    /// The first instructions of functions that are called.
    starts: BTreeSet<usize>,
    /// The early ends of a run, and the places of their code.
    endings: Vec<(CodeLabel, Ending, Address)>,
    /// The early ends that do not depend on an address.
    shared: Vec<(Ending, CodeLabel)>,
    /// Goes back to the caller of the program.
    out: CodeLabel,
    /// Bytes of the memory.
    size: usize,
    /// An instruction that there is not, or a jump to none, was met.
    is_wrong: bool,
}

/// The code of a program that runs with `size` bytes of memory.
pub fn translate(ops: &[Op], size: usize) -> Result<Vec<u8>> {
    let failed = |error: IcedError| wrong!("jit: it cannot be translated: {error}");
    let mut code = CodeAssembler::new(64).map_err(failed)?;
    let labels = ops.iter().map(|_| code.create_label()).collect();
    let out = code.create_label();
    let mut translation = Translation {
        code,
        labels,
        starts: starts(ops),
        endings: Vec::new(),
        shared: Vec::new(),
        out,
        size,
        is_wrong: false,
    };
    let assembled = translation.program(ops);
    if translation.is_wrong {
        return Err(wrong!("jit: it cannot be translated: an instruction is none of eBPF's, or jumps to none"));
    }
    assembled.and_then(|()| translation.code.assemble(0)).map_err(failed)
}

/// The first instructions of functions that are called.
fn starts(ops: &[Op]) -> BTreeSet<usize> {
    let target = |(at, op): (usize, &Op)| match (op.code, Call::from_imm(op.imm)) {
        (CALL, Call::Function(distance)) => (at + 1).checked_add_signed(distance as isize),
        _ => None,
    };
    ops.iter().enumerate().filter_map(target).collect()
}

impl Translation {
    fn program(&mut self, ops: &[Op]) -> Assembled {
        self.prologue()?;
        let mut is_second_half = false;
        for (at, op) in ops.iter().enumerate() {
            self.code.set_label(&mut self.labels[at])?;
            // An instruction may produce no code, and an instruction of the processor has one label.
            self.code.zero_bytes()?;
            if is_second_half {
                is_second_half = false;
                continue;
            }
            is_second_half = op.code == LD_IMM64;
            self.operation(at, op)?;
        }
        // Where a condition at the end does not hold.
        let end = self.ending(Ending::Instruction, None);
        self.code.jmp(end)?;
        self.early_endings()
    }

    /// Notes an instruction that there is not.
    fn unknown(&mut self) -> Assembled {
        self.is_wrong = true;
        Ok(())
    }

    /// Saves the caller's registers, sets the program's registers, and calls its first instruction.
    fn prologue(&mut self) -> Assembled {
        let first = self.target(0, -1);
        let a = &mut self.code;
        for register in [rbx, rbp, r12, r13, r14, r15] {
            a.push(register)?;
        }
        // A function begins with a stack that is 8 bytes off a multiple of 16.
        a.sub(rsp, 8)?;
        a.mov(r12, rdi)?;
        a.mov(r9, rsi)?;
        a.mov(qword_ptr(r9 + State::STACK), rsp)?;
        for register in HALF {
            a.xor(register, register)?;
        }
        a.mov(WIDE[1], CONTEXT)?;
        a.mov(WIDE[10], STACK + FRAME as u64)?;
        a.call(first)?;
        a.set_label(&mut self.out)?;
        a.add(rsp, 8)?;
        for register in [r15, r14, r13, r12, rbp, rbx] {
            a.pop(register)?;
        }
        a.ret()
    }

    /// A label for an early end of the run.
    fn ending(&mut self, ending: Ending, address: Address) -> CodeLabel {
        let known = self.shared.iter().find(|(other, _)| address.is_none() && *other == ending);
        if let Some((_, label)) = known {
            return *label;
        }
        let label = self.code.create_label();
        if address.is_none() {
            self.shared.push((ending, label));
        }
        self.endings.push((label, ending, address));
        label
    }

    fn early_endings(&mut self) -> Assembled {
        let a = &mut self.code;
        for (mut label, ending, address) in std::mem::take(&mut self.endings) {
            a.set_label(&mut label)?;
            a.zero_bytes()?;
            if let Some((register, distance)) = address {
                a.lea(r10, qword_ptr(WIDE[register] + distance))?;
                a.mov(qword_ptr(r9 + State::ADDRESS), r10)?;
            }
            // A function of the kernel has said why.
            if ending != Ending::Function {
                a.mov(qword_ptr(r9 + State::ENDING), ending.pack())?;
            }
            a.mov(rsp, qword_ptr(r9 + State::STACK))?;
            a.jmp(self.out)?;
        }
        Ok(())
    }

    fn operation(&mut self, at: usize, op: &Op) -> Assembled {
        let (dst, src) = (usize::from(op.dst), usize::from(op.src));
        match op.code {
            LD_IMM64 => self.code.mov(WIDE[dst], op.imm as u64),
            CALL => match Call::from_imm(op.imm) {
                Call::Function(distance) => self.function(at, distance as isize),
                Call::Kernel(number) => self.kernel_function(number),
            },
            EXIT => self.code.ret(),
            code => match code & 7 {
                0x07 => self.wide_arithmetic(op, dst, src),
                0x04 => self.half_arithmetic(op, dst, src),
                0x01 => self.load(op, dst, src),
                0x02 => self.store_constant(op, dst),
                0x03 => self.store(op, dst, src),
                0x05 | 0x06 => self.jump(at, op, dst, src),
                _ => self.unknown(),
            },
        }
    }

    /// The label of an instruction at a distance from the one after `at`.
    fn target(&mut self, at: usize, distance: isize) -> CodeLabel {
        let target = (at + 1).checked_add_signed(distance).and_then(|target| self.labels.get(target)).copied();
        self.is_wrong |= target.is_none();
        target.unwrap_or(self.out)
    }

    /// Charges the instructions that a backward jump or a call may run.
    fn charge(&mut self, instructions: usize) -> Assembled {
        let endless = self.ending(Ending::Endless, None);
        self.code.sub(qword_ptr(r9 + State::BUDGET), instructions as i32)?;
        self.code.jb(endless)
    }

    fn function(&mut self, at: usize, distance: isize) -> Assembled {
        let (target, depth) = (self.target(at, distance), self.ending(Ending::Depth, None));
        self.charge(self.function_size((at + 1).saturating_add_signed(distance)))?;
        let a = &mut self.code;
        a.sub(qword_ptr(r9 + State::DEPTH), 1)?;
        a.jb(depth)?;
        a.add(WIDE[10], FRAME as i32)?;
        // Registers of the caller. One of them occurs twice, which makes the number of words odd.
        let saved = [WIDE[6], WIDE[6], WIDE[7], WIDE[8], WIDE[9]];
        for register in saved {
            a.push(register)?;
        }
        a.call(target)?;
        for register in saved.into_iter().rev() {
            a.pop(register)?;
        }
        a.sub(WIDE[10], FRAME as i32)?;
        a.add(qword_ptr(r9 + State::DEPTH), 1)
    }

    /// Instructions of the function that begins at `start`.
    fn function_size(&self, start: usize) -> usize {
        let next = self.starts.range(start.saturating_add(1)..).next();
        next.copied().unwrap_or(self.labels.len()).saturating_sub(start)
    }

    fn kernel_function(&mut self, number: u8) -> Assembled {
        let failed = self.ending(Ending::Function, None);
        let a = &mut self.code;
        let saved = [r9, WIDE[5], WIDE[4], WIDE[3], WIDE[2], WIDE[1]];
        a.sub(rsp, 8)?;
        for register in saved {
            a.push(register)?;
        }
        // The arguments are now in their order from the top of the stack on.
        a.mov(rdi, r9)?;
        a.mov(esi, u32::from(number))?;
        a.mov(rdx, rsp)?;
        a.mov(r10, call_function as *const () as u64)?;
        a.call(r10)?;
        for register in saved.into_iter().rev() {
            a.pop(register)?;
        }
        a.add(rsp, 8)?;
        a.cmp(qword_ptr(r9 + State::ENDING), 0)?;
        a.jne(failed)
    }

    /// Puts the place of an access among the bytes of the memory into r10, if all of it is there.
    fn place(&mut self, register: usize, distance: i16, size: usize, writes: bool) -> Assembled {
        let distance = i32::from(distance);
        let refused = self.ending(Ending::Access { size, writes }, Some((register, distance)));
        self.code.lea(r10d, qword_ptr(WIDE[register] + distance))?;
        self.code.cmp(r10d, (self.size - size) as i32)?;
        self.code.ja(refused)
    }

    fn load(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let size = size(op.code);
        self.place(src, op.off, size, false)?;
        let (a, at) = (&mut self.code, r12 + r10);
        match (op.code & 0xe0, size) {
            (0x60, 1) => a.movzx(HALF[dst], byte_ptr(at)),
            (0x60, 2) => a.movzx(HALF[dst], word_ptr(at)),
            (0x60, 4) => a.mov(HALF[dst], dword_ptr(at)),
            (0x60 | 0x80, 8) => a.mov(WIDE[dst], qword_ptr(at)),
            (0x80, 1) => a.movsx(WIDE[dst], byte_ptr(at)),
            (0x80, 2) => a.movsx(WIDE[dst], word_ptr(at)),
            (0x80, 4) => a.movsxd(WIDE[dst], dword_ptr(at)),
            _ => self.unknown(),
        }
    }

    fn store_constant(&mut self, op: &Op, dst: usize) -> Assembled {
        let size = size(op.code);
        self.place(dst, op.off, size, true)?;
        let (a, at, value) = (&mut self.code, r12 + r10, op.imm as i32);
        match size {
            1 => a.mov(byte_ptr(at), i32::from(value as i8)),
            2 => a.mov(word_ptr(at), i32::from(value as i16)),
            4 => a.mov(dword_ptr(at), value),
            _ => a.mov(qword_ptr(at), value),
        }
    }

    fn store(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let size = size(op.code);
        self.place(dst, op.off, size, true)?;
        let (a, at) = (&mut self.code, r12 + r10);
        match (op.code & 0xe0, size) {
            (0x60, 1) => a.mov(byte_ptr(at), BYTE[src]),
            (0x60, 2) => a.mov(word_ptr(at), SHORT[src]),
            (0x60, 4) => a.mov(dword_ptr(at), HALF[src]),
            (0x60, 8) => a.mov(qword_ptr(at), WIDE[src]),
            (0xc0, 4) => self.atomic_half(op, src),
            (0xc0, 8) => self.atomic_wide(op, src),
            _ => self.unknown(),
        }
    }

    /// An atomic operation of 64 bits at r10. No other code runs at the same time.
    fn atomic_wide(&mut self, op: &Op, src: usize) -> Assembled {
        let (a, at, with) = (&mut self.code, r12 + r10, WIDE[src]);
        a.mov(r11, qword_ptr(at))?;
        match op.imm & !1 {
            0x00 => a.add(qword_ptr(at), with)?,
            0x40 => a.or(qword_ptr(at), with)?,
            0x50 => a.and(qword_ptr(at), with)?,
            0xa0 => a.xor(qword_ptr(at), with)?,
            0xe0 => a.mov(qword_ptr(at), with)?,
            0xf0 => {
                let mut differs = a.create_label();
                a.cmp(r11, rax)?;
                a.mov(rax, r11)?;
                a.jne(differs)?;
                a.mov(qword_ptr(at), with)?;
                a.set_label(&mut differs)?;
                return a.zero_bytes();
            }
            _ => return self.unknown(),
        }
        if op.imm & 1 == 1 { a.mov(with, r11) } else { Ok(()) }
    }

    /// Writes a 32-bit atomic operation, as [`atomic_wide`](Self::atomic_wide) does for 64 bits.
    fn atomic_half(&mut self, op: &Op, src: usize) -> Assembled {
        let (a, at, with) = (&mut self.code, r12 + r10, HALF[src]);
        a.mov(r11d, dword_ptr(at))?;
        match op.imm & !1 {
            0x00 => a.add(dword_ptr(at), with)?,
            0x40 => a.or(dword_ptr(at), with)?,
            0x50 => a.and(dword_ptr(at), with)?,
            0xa0 => a.xor(dword_ptr(at), with)?,
            0xe0 => a.mov(dword_ptr(at), with)?,
            0xf0 => {
                let mut differs = a.create_label();
                a.cmp(r11d, eax)?;
                a.mov(eax, r11d)?;
                a.jne(differs)?;
                a.mov(dword_ptr(at), with)?;
                a.set_label(&mut differs)?;
                return a.zero_bytes();
            }
            _ => return self.unknown(),
        }
        if op.imm & 1 == 1 { a.mov(with, r11d) } else { Ok(()) }
    }

    /// Loads the second operand into r11.
    fn operand(&mut self, op: &Op, src: usize) -> Assembled {
        if op.code & 8 == 8 { self.code.mov(r11, WIDE[src]) } else { self.code.mov(r11, op.imm) }
    }

    fn wide_arithmetic(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let (kind, left) = (op.code & 0xf0, WIDE[dst]);
        match kind {
            0x30 | 0x90 => return self.wide_division(op, dst, src),
            0x60 | 0x70 | 0xc0 => return self.wide_shift(op, dst, src),
            0x80 => return self.code.neg(left),
            0xd0 => return self.swap(op.imm, dst),
            0xb0 if op.off != 0 => return self.extend(op, dst, src),
            0xb0 if op.code & 8 == 8 => return self.code.mov(left, WIDE[src]),
            0xb0 => return self.code.mov(left, op.imm),
            _ => self.operand(op, src)?,
        }
        let a = &mut self.code;
        match kind {
            0x00 => a.add(left, r11),
            0x10 => a.sub(left, r11),
            0x20 => a.imul_2(left, r11),
            0x40 => a.or(left, r11),
            0x50 => a.and(left, r11),
            0xa0 => a.xor(left, r11),
            _ => self.unknown(),
        }
    }

    fn half_arithmetic(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let (kind, left) = (op.code & 0xf0, HALF[dst]);
        match kind {
            0x30 | 0x90 => return self.half_division(op, dst, src),
            0x60 | 0x70 | 0xc0 => return self.half_shift(op, dst, src),
            0x80 => return self.code.neg(left),
            0xd0 if op.code & 8 == 8 => return self.swap(op.imm, dst),
            0xd0 => return self.lower(op.imm, dst),
            0xb0 if op.off != 0 => {
                self.extend(op, dst, src)?;
                return self.code.mov(left, left);
            }
            0xb0 if op.code & 8 == 8 => return self.code.mov(left, HALF[src]),
            0xb0 => return self.code.mov(left, op.imm as i32),
            _ => self.operand(op, src)?,
        }
        let a = &mut self.code;
        match kind {
            0x00 => a.add(left, r11d),
            0x10 => a.sub(left, r11d),
            0x20 => a.imul_2(left, r11d),
            0x40 => a.or(left, r11d),
            0x50 => a.and(left, r11d),
            0xa0 => a.xor(left, r11d),
            _ => self.unknown(),
        }
    }

    /// The lower bits of a number with their sign.
    fn extend(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        self.operand(op, src)?;
        match op.off {
            8 => self.code.movsx(WIDE[dst], r11b),
            16 => self.code.movsx(WIDE[dst], r11w),
            32 => self.code.movsxd(WIDE[dst], r11d),
            _ => self.unknown(),
        }
    }

    fn swap(&mut self, bits: i64, dst: usize) -> Assembled {
        match bits {
            16 => {
                self.code.rol(SHORT[dst], 8)?;
                self.code.movzx(HALF[dst], SHORT[dst])
            }
            32 => self.code.bswap(HALF[dst]),
            64 => self.code.bswap(WIDE[dst]),
            _ => self.unknown(),
        }
    }

    /// The lower bits of a number, which are in our order of bytes already.
    fn lower(&mut self, bits: i64, dst: usize) -> Assembled {
        match bits {
            16 => self.code.movzx(HALF[dst], SHORT[dst]),
            32 => self.code.mov(HALF[dst], HALF[dst]),
            64 => Ok(()),
            _ => self.unknown(),
        }
    }

    fn wide_shift(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let (a, kind) = (&mut self.code, op.code & 0xf0);
        if op.code & 8 == 0 {
            let bits = op.imm as u32 & 63;
            return match kind {
                0x60 => a.shl(WIDE[dst], bits),
                0x70 => a.shr(WIDE[dst], bits),
                _ => a.sar(WIDE[dst], bits),
            };
        }
        // The processor takes the number of bits from rcx, which belongs to the program.
        a.mov(r10, WIDE[dst])?;
        a.mov(r11, rcx)?;
        a.mov(rcx, WIDE[src])?;
        match kind {
            0x60 => a.shl(r10, cl)?,
            0x70 => a.shr(r10, cl)?,
            _ => a.sar(r10, cl)?,
        }
        a.mov(rcx, r11)?;
        a.mov(WIDE[dst], r10)
    }

    fn half_shift(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        let (a, kind) = (&mut self.code, op.code & 0xf0);
        a.mov(r10d, HALF[dst])?;
        if op.code & 8 == 0 {
            let bits = op.imm as u32 & 31;
            match kind {
                0x60 => a.shl(r10d, bits)?,
                0x70 => a.shr(r10d, bits)?,
                _ => a.sar(r10d, bits)?,
            }
            return a.mov(HALF[dst], r10d);
        }
        a.mov(r11, rcx)?;
        a.mov(ecx, HALF[src])?;
        match kind {
            0x60 => a.shl(r10d, cl)?,
            0x70 => a.shr(r10d, cl)?,
            _ => a.sar(r10d, cl)?,
        }
        a.mov(rcx, r11)?;
        a.mov(HALF[dst], r10d)
    }

    /// RFC 9669 §4.1: division by 0 gives 0, and the remainder of a division by 0 is the dividend.
    fn wide_division(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        self.operand(op, src)?;
        let (a, left, is_rest) = (&mut self.code, WIDE[dst], op.code & 0xf0 == 0x90);
        let (mut by_zero, mut end) = (a.create_label(), a.create_label());
        a.test(r11, r11)?;
        a.je(by_zero)?;
        a.mov(r10, left)?;
        a.push(rax)?;
        a.push(rdx)?;
        a.mov(rax, r10)?;
        if op.off == 1 {
            // The processor cannot divide the smallest number by -1.
            let (mut other, mut done) = (a.create_label(), a.create_label());
            a.cmp(r11, -1)?;
            a.jne(other)?;
            a.neg(rax)?;
            a.xor(edx, edx)?;
            a.jmp(done)?;
            a.set_label(&mut other)?;
            a.cqo()?;
            a.idiv(r11)?;
            a.set_label(&mut done)?;
            a.zero_bytes()?;
        } else {
            a.xor(edx, edx)?;
            a.div(r11)?;
        }
        a.mov(r11, if is_rest { rdx } else { rax })?;
        a.pop(rdx)?;
        a.pop(rax)?;
        a.mov(left, r11)?;
        a.jmp(end)?;
        a.set_label(&mut by_zero)?;
        a.zero_bytes()?;
        if !is_rest {
            a.xor(HALF[dst], HALF[dst])?;
        }
        a.set_label(&mut end)?;
        a.zero_bytes()
    }

    /// Writes a 32-bit division, as [`wide_division`](Self::wide_division) does for 64 bits.
    fn half_division(&mut self, op: &Op, dst: usize, src: usize) -> Assembled {
        self.operand(op, src)?;
        let (a, left, is_rest) = (&mut self.code, HALF[dst], op.code & 0xf0 == 0x90);
        let (mut by_zero, mut end) = (a.create_label(), a.create_label());
        a.mov(r10d, left)?;
        a.test(r11d, r11d)?;
        a.je(by_zero)?;
        a.push(rax)?;
        a.push(rdx)?;
        if op.off == 1 {
            // A division of 64 bits supports the smallest number by -1.
            a.movsxd(rax, r10d)?;
            a.movsxd(r11, r11d)?;
            a.cqo()?;
            a.idiv(r11)?;
        } else {
            a.mov(eax, r10d)?;
            a.xor(edx, edx)?;
            a.div(r11d)?;
        }
        a.mov(r10d, if is_rest { edx } else { eax })?;
        a.pop(rdx)?;
        a.pop(rax)?;
        a.jmp(end)?;
        a.set_label(&mut by_zero)?;
        a.zero_bytes()?;
        if !is_rest {
            a.xor(r10d, r10d)?;
        }
        a.set_label(&mut end)?;
        a.mov(left, r10d)
    }

    fn jump(&mut self, at: usize, op: &Op, dst: usize, src: usize) -> Assembled {
        let target = self.target(at, op.distance());
        if op.distance() < 0 {
            self.charge(op.distance().unsigned_abs())?;
        }
        let kind = op.code & 0xf0;
        if kind == 0 {
            return self.code.jmp(target);
        }
        self.operand(op, src)?;
        let (a, is_half) = (&mut self.code, op.code & 7 == 6);
        match (kind == 0x40, is_half) {
            (true, true) => a.test(HALF[dst], r11d)?,
            (true, false) => a.test(WIDE[dst], r11)?,
            (false, true) => a.cmp(HALF[dst], r11d)?,
            (false, false) => a.cmp(WIDE[dst], r11)?,
        }
        match kind {
            0x10 => a.je(target),
            0x20 => a.ja(target),
            0x30 => a.jae(target),
            0x40 | 0x50 => a.jne(target),
            0x60 => a.jg(target),
            0x70 => a.jge(target),
            0xa0 => a.jb(target),
            0xb0 => a.jbe(target),
            0xc0 => a.jl(target),
            0xd0 => a.jle(target),
            _ => self.unknown(),
        }
    }
}
