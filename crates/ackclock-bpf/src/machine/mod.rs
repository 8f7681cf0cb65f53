//! A machine for compiled congestion controls: eBPF in user space, with a socket of the simulator.

mod call;
mod controller;
mod fault;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod interpreter;
mod memory;
#[cfg(target_arch = "x86_64")]
mod native;
#[cfg(not(target_arch = "x86_64"))]
mod no_native;
mod socket;
mod verify;
#[cfg(not(target_arch = "x86_64"))]
use no_native as native;

use std::collections::BTreeMap;

use crate::error::{Result, wrong};
use crate::insn::{CALL, Insn, PSEUDO_CALL, PSEUDO_KFUNC_CALL};
use crate::object_file::{BpfObject, Program, Reference};
use call::{Call, Environment, KNOWN};
use fault::Fault;
use interpreter::Op;
use memory::{Memory, Section, section_address};
use native::Native;
use socket::Simulator;

pub use controller::{BpfController, BpfFactory, try_out};
pub(crate) use socket::{ENUMERATORS, SOCKETS};
pub(crate) use verify::verify as check;

/// Values of variables outside of an object.
pub(crate) const EXTERNS: [(&str, u64); 1] = [("CONFIG_HZ", 1000)];

/// A program that the kernel may call.
#[derive(Debug)]
struct Code {
    ops: Box<[Op]>,
    /// The same for the processor.
    native: Option<Native>,
}

impl Code {
    /// Runs the program with the arguments in `memory`, and returns its result.
    #[inline]
    fn run(&self, memory: &mut Memory, environment: &mut Environment) -> std::result::Result<u64, Fault> {
        match &self.native {
            Some(native) => native.run(memory, environment),
            None => interpreter::run(&self.ops, memory, environment),
        }
    }
}

/// A congestion control, ready to run.
#[derive(Debug)]
struct Machine {
    name: String,
    init: Option<Code>,
    ssthresh: Option<Code>,
    cong_avoid: Option<Code>,
    cong_control: Option<Code>,
    set_state: Option<Code>,
    cwnd_event: Option<Code>,
    in_ack_event: Option<Code>,
    pkts_acked: Option<Code>,
    undo_cwnd: Option<Code>,
    sections: Box<[Section]>,
}

impl Machine {
    /// Prepares the congestion control of an object, translated to the processor's code if `is_native`.
    fn new(object: &BpfObject, is_native: bool) -> Result<Machine> {
        let operations = object.choose(None)?;
        let mut sections: Vec<Section> = object
            .data
            .iter()
            .map(|data| Section { content: data.content.clone().into(), is_writable: data.is_writable })
            .collect();
        // Variables outside of the object follow its own.
        let values = EXTERNS.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
        sections.push(Section { content: values, is_writable: false });
        let programs = object.programs(operations, &Simulator)?;
        let size = Memory::new(&sections).all().len();
        let mut found = BTreeMap::new();
        for (member, program) in &programs {
            let ops = decode(object, program, &sections)?;
            let native = if is_native { Some(Native::new(&ops, size)?) } else { None };
            found.insert(member.as_str(), Code { ops: ops.into(), native });
        }
        let mut code = |member: &str| found.remove(member);
        Ok(Machine {
            name: operations.name.clone(),
            init: code("init"),
            ssthresh: code("ssthresh"),
            cong_avoid: code("cong_avoid"),
            cong_control: code("cong_control"),
            set_state: code("set_state"),
            cwnd_event: code("cwnd_event"),
            in_ack_event: code("in_ack_event"),
            pkts_acked: code("pkts_acked"),
            undo_cwnd: code("undo_cwnd"),
            sections: sections.into(),
        })
    }
}

/// The operations of a program, which is checked first.
fn decode(object: &BpfObject, program: &Program, sections: &[Section]) -> Result<Vec<Op>> {
    verify::verify(program)?;
    decode_with(program, |reference| address(object, program, reference, sections))
}

/// The operations of a checked program. `address_of` resolves the references of its instructions.
fn decode_with(program: &Program, address_of: impl Fn(&Reference) -> Result<u64>) -> Result<Vec<Op>> {
    let mut ops = Vec::with_capacity(program.insns.len());
    let mut second_half = false;
    for (at, insn) in program.insns.iter().enumerate() {
        let Insn { code, dst, src, off, imm } = *insn;
        let mut op = Op { code, dst, src, off, imm: imm.into() };
        if std::mem::take(&mut second_half) {
            ops.push(op);
            continue;
        }
        if insn.is_wide() {
            second_half = true;
            let high = program.insns.get(at + 1).map_or(0, |next| next.imm);
            op.imm = i64::from(high) << 32 | i64::from(imm as u32);
            if let Some(reference) = program.references.get(&at) {
                op.imm = address_of(reference)? as i64;
            } else if src != 0 {
                return Err(wrong!("its program {} loads an address that the simulator does not know", program.name));
            }
        }
        if code == CALL {
            op.imm = match (src, program.references.get(&at)) {
                (PSEUDO_CALL, _) => Call::Function(imm),
                (PSEUDO_KFUNC_CALL, Some(Reference::Kfunc(name))) => Call::Kernel(kfunc(program, name)?),
                (0, None) => Call::Kernel(helper(program, imm)?),
                _ => return Err(wrong!("its program {} calls a place that the simulator does not know", program.name)),
            }
            .to_imm();
        }
        ops.push(op);
    }
    Ok(ops)
}

fn address(object: &BpfObject, program: &Program, reference: &Reference, sections: &[Section]) -> Result<u64> {
    let section = |number: usize| section_address(sections, number);
    match reference {
        Reference::Data { section: number, offset } if *number < object.data.len() => {
            Ok(section(*number).wrapping_add(*offset))
        }
        Reference::Extern(name) => {
            let known = EXTERNS.iter().position(|(other, _)| other == name);
            let number = known.ok_or_else(|| wrong!("it uses the variable {name}, which the simulator has not"))?;
            Ok(section(object.data.len()) + 8 * number as u64)
        }
        // Maps are handed to functions of the kernel only.
        Reference::Map(_) => Ok(0),
        _ => Err(wrong!("its program {} takes an address that the simulator does not know", program.name)),
    }
}

fn kfunc(program: &Program, name: &str) -> Result<u8> {
    let found = KNOWN.iter().position(|known| known.helper == 0 && known.name == name);
    found.map(|number| number as u8).ok_or_else(|| {
        wrong!("its program {} calls {name}, which the simulator has not; it has {}", program.name, kfuncs())
    })
}

fn helper(program: &Program, number: i32) -> Result<u8> {
    let found = KNOWN.iter().position(|known| known.helper == number && number != 0);
    found.map(|number| number as u8).ok_or_else(|| {
        let name = HELPERS.iter().find(|(other, _)| *other == number).map_or("", |(_, name)| name);
        wrong!("its program {} calls helper {number}{name}, which the simulator has not", program.name)
    })
}

/// Names of helpers that the simulator has not, for messages.
const HELPERS: [(i32, &str); 8] = [
    (1, " (bpf_map_lookup_elem)"),
    (2, " (bpf_map_update_elem)"),
    (3, " (bpf_map_delete_elem)"),
    (14, " (bpf_get_current_pid_tgid)"),
    (46, " (bpf_get_socket_cookie)"),
    (130, " (bpf_ringbuf_output)"),
    (131, " (bpf_ringbuf_reserve)"),
    (181, " (bpf_loop)"),
];

fn kfuncs() -> String {
    let names: Vec<_> = KNOWN.iter().filter(|known| known.helper == 0).map(|known| known.name).collect();
    names.join(", ")
}
