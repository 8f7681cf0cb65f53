//! Runs eBPF instructions (RFC 9669) and checks every memory access.

use super::call::{Call, Environment};
use super::fault::{Fault, MOST};
use super::memory::{FRAME, FRAMES, Memory, STACK};

/// An instruction with all that is known of it before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// The code of RFC 9669.
    pub code: u8,
    /// The register that gets the result.
    pub dst: u8,
    /// The other register.
    pub src: u8,
    /// A distance of a jump, or from an address.
    pub off: i16,
    /// A constant: all 64 bits of `ld_imm64`, or for a call the input of [`Call::from_imm`].
    pub imm: i64,
}

impl Op {
    /// The distance of a jump. A 32-bit jump stores it in the constant.
    pub fn distance(&self) -> isize {
        if self.code == 0x06 { self.imm as isize } else { self.off as isize }
    }
}

/// The state of a function that continues when the called function returns.
#[derive(Clone, Copy)]
struct Frame {
    pc: usize,
    /// Registers 6 to 9 belong to the caller.
    saved: [u64; 4],
}

/// Runs a program with the arguments in `memory`, and returns its result.
///
/// # Errors
/// The fault that ended it.
pub fn run(ops: &[Op], memory: &mut Memory, environment: &mut Environment) -> Result<u64, Fault> {
    let mut registers = [0_u64; 16];
    registers[1] = super::memory::CONTEXT;
    registers[10] = STACK + FRAME as u64;
    let mut frames: Vec<Frame> = Vec::new();
    let mut pc = 0;
    for _ in 0..MOST {
        let op = ops.get(pc).ok_or(Fault::Instruction)?;
        pc += 1;
        let (dst, src) = (usize::from(op.dst & 15), usize::from(op.src & 15));
        match op.code {
            // The most frequent instructions come first. Each continues from its own place.
            0xbf if op.off == 0 => registers[dst] = registers[src],
            0xb7 => registers[dst] = op.imm as u64,
            0x0f => registers[dst] = registers[dst].wrapping_add(registers[src]),
            0x07 => registers[dst] = registers[dst].wrapping_add(op.imm as u64),
            0x67 => registers[dst] = registers[dst].wrapping_shl(op.imm as u32),
            0x77 => registers[dst] = registers[dst].wrapping_shr(op.imm as u32),
            0x61 => registers[dst] = memory.load(registers[src].wrapping_add_signed(op.off.into()), 4)?,
            0x79 => registers[dst] = memory.load(registers[src].wrapping_add_signed(op.off.into()), 8)?,
            0x63 => memory.store(registers[dst].wrapping_add_signed(op.off.into()), 4, registers[src])?,
            0x7b => memory.store(registers[dst].wrapping_add_signed(op.off.into()), 8, registers[src])?,
            crate::insn::LD_IMM64 => {
                registers[dst] = op.imm as u64;
                pc += 1;
            }
            crate::insn::CALL => match Call::from_imm(op.imm) {
                Call::Function(distance) => {
                    if frames.len() == FRAMES - 1 {
                        return Err(Fault::Depth);
                    }
                    frames.push(Frame { pc, saved: [registers[6], registers[7], registers[8], registers[9]] });
                    registers[10] += FRAME as u64;
                    pc = pc.checked_add_signed(distance as isize).ok_or(Fault::Instruction)?;
                }
                call => {
                    let [_, a, b, c, d, e, ..] = registers;
                    registers[0] = call.run([a, b, c, d, e], memory, environment)?;
                }
            },
            crate::insn::EXIT => {
                let Some(Frame { pc: next, saved }) = frames.pop() else { return Ok(registers[0]) };
                registers[6..10].copy_from_slice(&saved);
                registers[10] -= FRAME as u64;
                pc = next;
            }
            _ => pc = step(op, memory, &mut registers, pc)?,
        }
    }
    Err(Fault::Endless)
}

/// Runs any other instruction, and returns the place of the next one.
#[inline]
fn step(op: &Op, memory: &mut Memory, registers: &mut [u64; 16], pc: usize) -> Result<usize, Fault> {
    let (dst, src) = (usize::from(op.dst & 15), usize::from(op.src & 15));
    match op.code & 7 {
        0x07 => registers[dst] = alu64(op, registers[dst], registers[src])?,
        0x04 => registers[dst] = alu32(op, registers[dst], registers[src])?,
        0x01 => registers[dst] = load(op, memory, registers[src])?,
        0x02 => memory.store(registers[dst].wrapping_add_signed(op.off.into()), size(op.code), op.imm as u64)?,
        0x03 => store(op, memory, registers)?,
        0x05 | 0x06 if jumps(op, registers[dst], registers[src])? => {
            return pc.checked_add_signed(op.distance()).ok_or(Fault::Instruction);
        }
        0x05 | 0x06 => {}
        _ => return Err(Fault::Instruction),
    }
    Ok(pc)
}

/// Bytes of an access, by the code.
#[inline]
pub fn size(code: u8) -> usize {
    match code & 0x18 {
        0x00 => 4,
        0x08 => 2,
        0x10 => 1,
        _ => 8,
    }
}

#[inline]
fn load(op: &Op, memory: &Memory, base: u64) -> Result<u64, Fault> {
    let (address, size) = (base.wrapping_add_signed(op.off.into()), size(op.code));
    let value = memory.load(address, size)?;
    match op.code & 0xe0 {
        0x60 => Ok(value),
        // With the sign.
        0x80 => Ok(((value << (64 - 8 * size)) as i64 >> (64 - 8 * size)) as u64),
        _ => Err(Fault::Instruction),
    }
}

#[inline]
fn store(op: &Op, memory: &mut Memory, registers: &mut [u64; 16]) -> Result<(), Fault> {
    let (dst, src) = (usize::from(op.dst & 15), usize::from(op.src & 15));
    let (address, size) = (registers[dst].wrapping_add_signed(op.off.into()), size(op.code));
    if op.code & 0xe0 == 0x60 {
        return Ok(memory.store(address, size, registers[src])?);
    }
    // Atomic operations. No other code runs at the same time.
    if op.code & 0xe0 != 0xc0 || size < 4 {
        return Err(Fault::Instruction);
    }
    let old = memory.load(address, size)?;
    let new = match op.imm & !1 {
        0x00 => old.wrapping_add(registers[src]),
        0x40 => old | registers[src],
        0x50 => old & registers[src],
        0xa0 => old ^ registers[src],
        0xe0 => registers[src],
        0xf0 => {
            let expected = if size == 4 { registers[0] & 0xffff_ffff } else { registers[0] };
            registers[0] = old;
            if old == expected { registers[src] } else { old }
        }
        _ => return Err(Fault::Instruction),
    };
    memory.store(address, size, new)?;
    if op.imm & 1 == 1 && op.imm & !1 != 0xf0 {
        registers[src] = old;
    }
    Ok(())
}

#[inline]
fn alu64(op: &Op, left: u64, register: u64) -> Result<u64, Fault> {
    let right = if op.code & 8 == 8 { register } else { op.imm as u64 };
    Ok(match op.code & 0xf0 {
        0x00 => left.wrapping_add(right),
        0x10 => left.wrapping_sub(right),
        0x20 => left.wrapping_mul(right),
        0x30 if op.off == 1 => {
            (left as i64).checked_div(right as i64).unwrap_or(if right == 0 { 0 } else { i64::MIN }) as u64
        }
        0x30 => left.checked_div(right).unwrap_or(0),
        0x40 => left | right,
        0x50 => left & right,
        0x60 => left.wrapping_shl(right as u32),
        0x70 => left.wrapping_shr(right as u32),
        0x80 => left.wrapping_neg(),
        0x90 if op.off == 1 => {
            (left as i64).checked_rem(right as i64).unwrap_or(if right == 0 { left as i64 } else { 0 }) as u64
        }
        0x90 => left.checked_rem(right).unwrap_or(left),
        0xa0 => left ^ right,
        0xb0 => extended(op.off, right)?,
        0xc0 => (left as i64).wrapping_shr(right as u32) as u64,
        // bswap
        0xd0 => swapped(op.imm, left)?,
        _ => return Err(Fault::Instruction),
    })
}

#[inline]
fn alu32(op: &Op, left: u64, register: u64) -> Result<u64, Fault> {
    if op.code & 0xf0 == 0xd0 {
        return ordered(op, left);
    }
    let (left, right) = (left as u32, if op.code & 8 == 8 { register as u32 } else { op.imm as u32 });
    Ok(u64::from(match op.code & 0xf0 {
        0x00 => left.wrapping_add(right),
        0x10 => left.wrapping_sub(right),
        0x20 => left.wrapping_mul(right),
        0x30 if op.off == 1 => {
            (left as i32).checked_div(right as i32).unwrap_or(if right == 0 { 0 } else { i32::MIN }) as u32
        }
        0x30 => left.checked_div(right).unwrap_or(0),
        0x40 => left | right,
        0x50 => left & right,
        0x60 => left.wrapping_shl(right),
        0x70 => left.wrapping_shr(right),
        0x80 => left.wrapping_neg(),
        0x90 if op.off == 1 => {
            (left as i32).checked_rem(right as i32).unwrap_or(if right == 0 { left as i32 } else { 0 }) as u32
        }
        0x90 => left.checked_rem(right).unwrap_or(left),
        0xa0 => left ^ right,
        0xb0 => extended(op.off, right.into())? as u32,
        0xc0 => (left as i32).wrapping_shr(right) as u32,
        _ => return Err(Fault::Instruction),
    }))
}

/// `movsx`: the lower bits of a number with their sign.
#[inline]
fn extended(bits: i16, value: u64) -> Result<u64, Fault> {
    match bits {
        0 => Ok(value),
        8 => Ok(value as i8 as u64),
        16 => Ok(value as i16 as u64),
        32 => Ok(value as i32 as u64),
        _ => Err(Fault::Instruction),
    }
}

fn swapped(bits: i64, value: u64) -> Result<u64, Fault> {
    match bits {
        16 => Ok(u64::from((value as u16).swap_bytes())),
        32 => Ok(u64::from((value as u32).swap_bytes())),
        64 => Ok(value.swap_bytes()),
        _ => Err(Fault::Instruction),
    }
}

/// Converts a little-endian value to the requested byte order.
fn ordered(op: &Op, value: u64) -> Result<u64, Fault> {
    match (op.code & 8, op.imm) {
        (8, bits) => swapped(bits, value),
        (_, 16) => Ok(value & 0xffff),
        (_, 32) => Ok(value & 0xffff_ffff),
        (_, 64) => Ok(value),
        _ => Err(Fault::Instruction),
    }
}

#[inline]
fn jumps(op: &Op, left: u64, register: u64) -> Result<bool, Fault> {
    let mut right = if op.code & 8 == 8 { register } else { op.imm as u64 };
    let (mut left, mut signed) = (left, (left as i64, right as i64));
    if op.code & 7 == 6 {
        signed = (i64::from(left as i32), i64::from(right as i32));
        (left, right) = (u64::from(left as u32), u64::from(right as u32));
    }
    Ok(match op.code & 0xf0 {
        0x00 => true,
        0x10 => left == right,
        0x20 => left > right,
        0x30 => left >= right,
        0x40 => left & right != 0,
        0x50 => left != right,
        0x60 => signed.0 > signed.1,
        0x70 => signed.0 >= signed.1,
        0xa0 => left < right,
        0xb0 => left <= right,
        0xc0 => signed.0 < signed.1,
        0xd0 => signed.0 <= signed.1,
        _ => return Err(Fault::Instruction),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn op(code: u8, dst: u8, src: u8, off: i16, imm: i64) -> Op {
        Op { code, dst, src, off, imm }
    }

    const EXIT: Op = op(0x95, 0, 0, 0, 0);

    fn result(ops: &[Op]) -> Result<u64, Fault> {
        run(ops, &mut Memory::new(&[]), &mut Environment::default())
    }

    /// Computes r0 = left, then r0 = r0 OP right.
    fn of_two(code: u8, off: i16, left: u64, right: u64) -> u64 {
        let ops =
            [op(0x18, 0, 0, 0, left as i64), EXIT, op(0x18, 1, 0, 0, right as i64), EXIT, op(code, 0, 1, off, 0), EXIT];
        result(&ops).unwrap()
    }

    #[test]
    fn arithmetic_is_that_of_rfc_9669() {
        // RFC 9669 4.1: division by zero gives 0, and a remainder by zero what was there.
        assert_eq!((of_two(0x3f, 0, 7, 0), of_two(0x9f, 0, 7, 0)), (0, 7));
        assert_eq!((of_two(0x3f, 1, -7_i64 as u64, 2) as i64, of_two(0x9f, 1, -7_i64 as u64, 2) as i64), (-3, -1));
        assert_eq!(of_two(0x3f, 1, i64::MIN as u64, u64::MAX), i64::MIN as u64);
        assert_eq!(of_two(0x9c, 0, 0x1_0000_0007, 0), 7);
        // Of 32 bits: the upper half is zero.
        assert_eq!(of_two(0x1c, 0, 1, 2), 0xffff_ffff);
        assert_eq!(of_two(0xcf, 0, -8_i64 as u64, 65) as i64, -4);
        assert_eq!(of_two(0xbf, 8, 0, 0x80) as i64, -128);
        assert_eq!(of_two(0xbc, 8, 0, 0x80), 0xffff_ff80);
        let swapped = [op(0x18, 0, 0, 0, 0x0102_0304_0506_0708), EXIT, op(0xdc, 0, 0, 0, 32), EXIT];
        assert_eq!(result(&swapped), Ok(0x0807_0605));
    }

    #[test]
    fn jumps_compare_with_and_without_a_sign() {
        // r0 = -1; if r0 OP 1 goto +1; r0 = 5; exit
        let jump = |code| result(&[op(0xb7, 0, 0, 0, -1), op(code, 0, 0, 1, 1), op(0xb7, 0, 0, 0, 5), EXIT]).unwrap();
        assert_eq!((jump(0x25), jump(0x65), jump(0xa5), jump(0xc5)), (u64::MAX, 5, 5, u64::MAX));
        assert_eq!((jump(0x26), jump(0x66)), (u64::MAX, 5));
    }

    #[test]
    fn a_function_has_a_stack_of_its_own_and_gives_registers_back() {
        let ops = [
            op(0xb7, 6, 0, 0, 3),
            op(0x7b, 10, 6, -8, 0),
            op(0x85, 0, 1, 0, Call::Function(3).to_imm()),
            op(0x79, 1, 10, -8, 0),
            op(0x0f, 0, 1, 0, 0),
            op(0x05, 0, 0, 3, 0),
            // The function: overwrites what it may.
            op(0xb7, 6, 0, 0, 100),
            op(0x7b, 10, 6, -8, 0),
            op(0x95, 0, 0, 0, 0),
            op(0x0f, 0, 6, 0, 0),
            EXIT,
        ];
        assert_eq!(result(&ops), Ok(6));
    }

    #[test]
    fn what_a_program_may_not_do_ends_it() {
        let forever = [op(0x05, 0, 0, -1, 0)];
        assert_eq!(result(&forever), Err(Fault::Endless));
        assert_eq!(result(&[op(0x05, 0, 0, 9, 0)]), Err(Fault::Instruction));
        assert_eq!(result(&[op(0xff, 0, 0, 0, 0)]), Err(Fault::Instruction));
        assert_eq!(result(&[op(0x85, 0, 1, 0, Call::Function(-1).to_imm())]), Err(Fault::Depth));
        assert!(matches!(result(&[op(0x79, 0, 2, 0, 0)]), Err(Fault::Memory(_))));
        // r10 is the end of the stack, and the next function's is behind it; the last one ends with it.
        assert!(result(&[op(0x7a, 10, 0, -8, 1), op(0xb7, 0, 0, 0, 0), EXIT]).is_ok());
    }

    #[test]
    fn atomic_operations_give_what_was_there() {
        // *(r10-8) = 5; r1 = 3; r1 = fetch_add(r10-8, r1); r0 = *(r10-8) * 16 + r1
        let ops = [
            op(0x7a, 10, 0, -8, 5),
            op(0xb7, 1, 0, 0, 3),
            op(0xdb, 10, 1, -8, 1),
            op(0x79, 0, 10, -8, 0),
            op(0x67, 0, 0, 0, 4),
            op(0x0f, 0, 1, 0, 0),
            EXIT,
        ];
        assert_eq!(result(&ops), Ok(8 * 16 + 5));
    }
}
