//! Translated programs give the interpreter's results.

use proptest::prelude::*;

use super::super::interpreter;
use super::super::memory::{SOCKET, STACK};
use super::super::socket::SIZE;
use super::*;

const fn op(code: u8, dst: u8, src: u8, off: i16, imm: i64) -> Op {
    Op { code, dst, src, off, imm }
}

const EXIT: Op = op(0x95, 0, 0, 0, 0);

/// The result and the memory of a program, interpreted and translated.
fn both(ops: &[Op]) -> [(std::result::Result<u64, Fault>, Vec<u8>, u64); 2] {
    [false, true].map(|is_native| {
        let (mut memory, mut environment) = (Memory::new(&[]), Environment { now_ns: 5_000_000, random: 7 });
        let result = if is_native {
            Native::new(ops, memory.all().len()).unwrap().run(&mut memory, &mut environment)
        } else {
            interpreter::run(ops, &mut memory, &mut environment)
        };
        (result, memory.all().to_vec(), environment.random)
    })
}

/// Interesting numbers and any others.
fn numbers() -> impl Strategy<Value = i64> {
    let edges =
        [0, 1, -1, 2, 31, 32, 63, 64, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN, 0xffff_ffff];
    prop_oneof![proptest::sample::select(edges.to_vec()), any::<i64>(), -64..64_i64]
}

fn small_numbers() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i32>().prop_map(i64::from), proptest::sample::select(vec![0, 1, -1, 16, 32, 33, 64])]
}

/// An arithmetic operation on registers 0 to 9, with and without a constant, of 64 and 32 bits.
fn arithmetic() -> impl Strategy<Value = Op> {
    (0_u8..13, any::<bool>(), any::<bool>(), 0_u8..10, 0_u8..10, any::<bool>(), small_numbers()).prop_map(
        |(kind, is_wide, by_register, dst, src, is_signed, imm)| {
            let code = kind << 4 | u8::from(by_register) << 3 | if is_wide { 7 } else { 4 };
            let off = i16::from(is_signed && matches!(kind, 3 | 9));
            op(code, dst, src, off, imm)
        },
    )
}

/// `movsx`, and orders of bytes.
fn extension() -> impl Strategy<Value = Op> {
    (0_u8..10, 0_u8..10, proptest::sample::select(vec![16_i64, 32, 64]), 0_u8..5).prop_map(|(dst, src, bits, kind)| {
        match kind {
            0 => op(0xdc, dst, 0, 0, bits),
            1 => op(0xd4, dst, 0, 0, bits),
            2 => op(0xd7, dst, 0, 0, bits),
            3 => op(0xbf, dst, src, if bits == 64 { 8 } else { bits as i16 }, 0),
            _ => op(0xbc, dst, src, if bits == 16 { 16 } else { 8 }, 0),
        }
    })
}

/// A jump over the next instruction.
fn jump() -> impl Strategy<Value = Op> {
    let kinds = vec![0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0_u8];
    (proptest::sample::select(kinds), any::<bool>(), any::<bool>(), 0_u8..10, 0_u8..10, small_numbers()).prop_map(
        |(kind, is_wide, by_register, dst, src, imm)| {
            let class = if is_wide || kind == 0 { 5 } else { 6 };
            op(kind | u8::from(by_register) << 3 | class, dst, src, 1, imm)
        },
    )
}

/// Loads, stores and atomic operations on the stack, and loads from the socket.
fn access() -> impl Strategy<Value = Op> {
    let sizes = proptest::sample::select(vec![0x00, 0x08, 0x10, 0x18_u8]);
    let atomic = proptest::sample::select(vec![0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1_i64]);
    (0_u8..4, sizes, 0_u8..10, -64_i16..-8, any::<i32>(), atomic).prop_map(
        |(kind, size, register, off, imm, atomic)| match kind {
            0 => op(0x61 | size, register, 10, off, 0),
            1 => op(0x63 | size, 10, register, off, 0),
            2 => op(0x62 | size, 10, 0, off, imm.into()),
            _ if size & 8 == 0 && size & 0x10 == 0 => op(0xc3, 10, register, off, atomic),
            _ => op(0xdb, 10, register, off, atomic),
        },
    )
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![4 => arithmetic(), 1 => extension(), 2 => jump(), 3 => access()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any instructions leave the same registers, memory and result.
    #[test]
    fn a_translated_program_does_what_the_interpreted_one_does(
        values in proptest::collection::vec(numbers(), 10),
        body in proptest::collection::vec(any_op(), 1..60),
        kept in 0_u8..10,
    ) {
        let mut ops = Vec::new();
        for (register, value) in values.into_iter().enumerate() {
            ops.extend([op(0x18, register as u8, 0, 0, value), op(0, 0, 0, 0, 0)]);
        }
        ops.extend(&body);
        // What a jump at the end goes over; then all registers to the stack, and one to the caller.
        ops.push(op(0xb7, 3, 0, 0, 1));
        ops.extend((0..10).map(|register| op(0x7b, 10, register, -8 * (9 + i16::from(register)), 0)));
        ops.extend([op(0xbf, 0, kept, 0, 0), EXIT]);
        let [interpreted, translated] = both(&ops);
        prop_assert_eq!(interpreted, translated, "{:x?}", body);
    }
}

#[test]
fn functions_keep_their_registers_and_stacks() {
    let ops = [
        op(0xb7, 6, 0, 0, 3),
        op(0x7b, 10, 6, -8, 0),
        op(0x85, 0, 1, 0, Call::Function(3).to_imm()),
        op(0x79, 1, 10, -8, 0),
        op(0x0f, 0, 1, 0, 0),
        op(0x05, 0, 0, 3, 0),
        op(0xb7, 6, 0, 0, 100),
        op(0x7b, 10, 6, -8, 0),
        EXIT,
        op(0x0f, 0, 6, 0, 0),
        EXIT,
    ];
    let [interpreted, translated] = both(&ops);
    assert_eq!(interpreted.0, Ok(6));
    assert_eq!(interpreted, translated);
}

#[test]
fn functions_of_the_kernel_get_their_arguments_and_the_registers_stay() {
    let number = |name: &str| {
        let found = super::super::call::KNOWN.iter().position(|known| known.name == name).unwrap();
        Call::Kernel(found as u8).to_imm()
    };
    // Within a function of its own, whose stack is aligned otherwise.
    let ops = [
        op(0x85, 0, 1, 0, Call::Function(1).to_imm()),
        EXIT,
        op(0xb7, 2, 0, 0, 4),
        op(0x18, 1, 0, 0, SOCKET as i64),
        op(0, 0, 0, 0, 0),
        op(0x62, 1, 0, 0, 10),
        op(0x62, 1, 0, 16, -1),
        op(0x62, 1, 0, 32, 12),
        op(0x85, 0, 2, 0, number("tcp_slow_start")),
        op(0x0f, 0, 2, 0, 0),
        op(0xbf, 7, 0, 0, 0),
        op(0x85, 0, 0, 0, number("bpf_get_prandom_u32")),
        op(0x0f, 0, 7, 0, 0),
        EXIT,
    ];
    // The clamp of the window is the kernel's: only the translated program writes it, and the other one is refused.
    let [interpreted, translated] = both(&ops);
    assert!(matches!(interpreted.0, Err(Fault::Memory(_))));
    assert!(translated.0.is_ok());
    // Without the clamp, which is 0 then.
    let mut allowed = ops.to_vec();
    allowed[6] = op(0xb7, 3, 0, 0, 0);
    let [interpreted, translated] = both(&allowed);
    assert!(interpreted.0.is_ok());
    assert_eq!(interpreted, translated);
    // A pointer that is not the socket.
    allowed[3] = op(0x18, 1, 0, 0, STACK as i64);
    let [interpreted, translated] = both(&allowed);
    assert!(matches!(interpreted.0, Err(Fault::Call(_))));
    assert_eq!(interpreted, translated);
}

#[test]
fn what_leaves_the_memory_or_never_ends_is_stopped() {
    let faults = |ops: &[Op]| both(ops).map(|(result, ..)| result.unwrap_err());
    let [interpreted, translated] = faults(&[op(0x18, 2, 0, 0, 0x7fff_ffff), EXIT, op(0x79, 0, 2, 4, 0), EXIT]);
    assert_eq!(
        (&interpreted, interpreted.clone()),
        (&translated, Fault::Memory(BadAccess { address: 0x8000_0003, size: 8, writes: false }))
    );
    let [_, below] = faults(&[op(0x72, 1, 0, -1, 5), EXIT]);
    assert!(matches!(below, Fault::Memory(BadAccess { size: 1, writes: true, .. })));
    let forever = [op(0xb7, 0, 0, 0, 0), op(0x05, 0, 0, -2, 0)];
    assert_eq!(faults(&forever), [Fault::Endless, Fault::Endless]);
    let within = [op(0x85, 0, 1, 0, Call::Function(-1).to_imm()), EXIT];
    assert_eq!(faults(&within), [Fault::Depth, Fault::Depth]);
    // The last byte is there, the one behind it is not.
    let mut memory = Memory::new(&[]);
    let end = memory.all().len() as i64;
    let at =
        |address: i64, ops: &mut Vec<Op>| ops.extend([op(0x18, 1, 0, 0, address), EXIT, op(0x71, 0, 1, 0, 0), EXIT]);
    for (address, is_there) in [(end - 1, true), (end, false)] {
        let mut ops = Vec::new();
        at(address, &mut ops);
        let native = Native::new(&ops, end as usize).unwrap();
        assert_eq!(native.run(&mut memory, &mut Environment::default()).is_ok(), is_there);
    }
    assert!(SIZE < end as usize);
}

#[test]
fn what_is_no_instruction_is_refused_before_it_runs() {
    for ops in [vec![op(0xff, 0, 0, 0, 0), EXIT], vec![op(0x05, 0, 0, 9, 0)], vec![op(0xdb, 10, 0, -8, 0x30), EXIT]] {
        let error = Native::new(&ops, 8192).unwrap_err().to_string();
        assert!(error.starts_with("jit: it cannot be translated"), "{error}");
    }
}
