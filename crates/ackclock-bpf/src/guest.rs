//! Compiled congestion controls in a guest: relocated to the structures of its kernel, as a record that its agent reads.
//! `guest/agent/shared.h` has the layout, and `guest/agent/algorithms.c` runs the programs.

use std::collections::BTreeMap;

use crate::btf::Kind;
use crate::error::{Result, wrong};
use crate::insn::{CALL, PSEUDO_CALL, PSEUDO_KFUNC_CALL};
use crate::machine::{ENUMERATORS, EXTERNS, SOCKETS, check};
use crate::object_file::{BpfObject, Program, Reference, Value};
use crate::relocate::{Place, Step, Target, path};

/// Bytes of a field in a report of the agent, and of its name there.
const FIELD: usize = 40;
const FIELD_NAME: usize = 24;
/// Characters of a name (`TCP_CA_NAME_MAX`).
const NAME: usize = 16;
/// The structures of a report.
const STRUCTURES: [&str; 3] = ["socket", "ack_sample", "rate_sample"];
/// Bytes of private state (`icsk_ca_priv`).
const PRIVATE: u32 = 104;

/// Operations that the agent offers, by their numbers.
const MEMBERS: [&str; 9] = [
    "init",
    "ssthresh",
    "cong_avoid",
    "cong_control",
    "set_state",
    "cwnd_event",
    "in_ack_event",
    "pkts_acked",
    "undo_cwnd",
];

/// Functions of the kernel that the agent offers, with the number of a helper and the agent's number.
const CALLS: [(&str, i32, u64); 13] = [
    ("tcp_slow_start", 0, 0),
    ("tcp_cong_avoid_ai", 0, 1),
    ("tcp_reno_cong_avoid", 0, 2),
    ("tcp_reno_ssthresh", 0, 3),
    ("tcp_reno_undo_cwnd", 0, 4),
    ("bpf_ktime_get_ns", 5, 5),
    ("bpf_ktime_get_boot_ns", 125, 5),
    ("bpf_jiffies64", 118, 6),
    ("bpf_get_prandom_u32", 7, 7),
    ("bpf_probe_read", 4, 8),
    ("bpf_probe_read_kernel", 113, 8),
    ("bpf_trace_printk", 6, 9),
    ("bpf_sk_storage_get", 107, 9),
];

/// The places of fields in the structures of a guest's kernel.
#[derive(Clone, Debug, Default)]
pub struct GuestTypes {
    /// The fields by structure and name. A structure as a whole has no name.
    fields: BTreeMap<(usize, String), Place>,
}

impl GuestTypes {
    /// Adds a field that the agent has reported.
    ///
    /// # Errors
    /// A report of another layout.
    pub fn add(&mut self, report: &[u8]) -> Result<()> {
        let number = |at: usize| report.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes);
        let (Some(structure), Some(bit_offset), Some(bits), Some(size)) =
            (number(FIELD_NAME), number(FIELD_NAME + 4), number(FIELD_NAME + 8), number(FIELD_NAME + 12))
        else {
            return Err(wrong!("the guest reports a field in {} bytes instead of {FIELD}", report.len()));
        };
        let name = report[..FIELD_NAME].split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let is_signed = matches!(name.as_str(), "rtt_us" | "interval_us" | "losses");
        self.fields.insert((structure as usize, name), Place { bit_offset, bits, size, is_signed });
        Ok(())
    }

    fn structure(name: &str) -> Option<usize> {
        if SOCKETS.contains(&name) { Some(0) } else { STRUCTURES.iter().position(|other| *other == name) }
    }
}

impl Target for GuestTypes {
    const NAME: &'static str = "the guest's kernel";

    fn place(&self, structure: &str, steps: &[Step]) -> Option<Place> {
        let (structure, (name, index)) = (Self::structure(structure)?, path(steps)?);
        let whole = *self.fields.get(&(structure, name))?;
        match index {
            None => Some(whole),
            Some(number) => {
                let bit_offset = whole.bit_offset.checked_add(number.checked_mul(64)?)?;
                Some(Place { bit_offset, size: 8, ..whole })
            }
        }
    }

    fn is_own(&self, structure: &str, size: u32) -> bool {
        Self::structure(structure).is_none() && size <= PRIVATE
    }

    fn type_of(&self, kind: Kind, name: &str) -> Option<(u32, u32)> {
        let whole = self.fields.get(&(Self::structure(name)?, String::new()))?;
        (kind == Kind::Struct).then_some((1, whole.size))
    }

    fn enumerator(&self, _of: &str, name: &str) -> Option<u64> {
        ENUMERATORS.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }
}

/// A congestion control as the record that registers it in a guest under this name.
///
/// # Errors
/// An operation, a field or a function that the guest does not offer.
pub fn record(object: &BpfObject, name: &str, types: &GuestTypes) -> Result<Vec<u8>> {
    let operations = object.choose(None)?;
    if !object.license.contains("GPL") {
        return Err(wrong!(
            "its licence is {:?}; the kernel takes those that are compatible with the GPL",
            object.license
        ));
    }
    let (mut data, mut places) = (Vec::new(), Vec::new());
    for section in &object.data {
        places.push(data.len() as u64);
        data.extend(&section.content);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    let externs = data.len() as u64;
    data.extend(EXTERNS.iter().flat_map(|(_, value)| value.to_le_bytes()));
    let programs = object.programs(operations, types)?;
    let flags = match operations.members.get("flags") {
        Some(Value::Bytes(bytes)) => {
            bytes.get(..4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
        }
        _ => 0,
    };
    let mut record = name.as_bytes().to_vec();
    record.resize(NAME, 0);
    for number in [flags, programs.len() as u32, data.len() as u32, 0] {
        record.extend(number.to_le_bytes());
    }
    record.extend(data);
    for (member, program) in &programs {
        let number = MEMBERS.iter().position(|other| other == member);
        let number = number.ok_or_else(|| wrong!("it has {member}, which the kernel in virtual time does not call"))?;
        check(program)?;
        add(&mut record, number, program, &places, externs)?;
    }
    Ok(record)
}

fn add(record: &mut Vec<u8>, member: usize, program: &Program, places: &[u64], externs: u64) -> Result<()> {
    let references = references(program, places, externs)?;
    for number in [member as u32, program.insns.len() as u32, references.len() as u32, 0] {
        record.extend(number.to_le_bytes());
    }
    record.extend(program.insns.iter().flat_map(|insn| insn.encode()));
    for (at, is_call, value) in references {
        record.extend((at as u32).to_le_bytes());
        record.extend(u32::from(is_call).to_le_bytes());
        record.extend(value.to_le_bytes());
    }
    Ok(())
}

/// The instructions that refer to something outside of the program: whether each is a call, and the value.
fn references(program: &Program, places: &[u64], externs: u64) -> Result<Vec<(usize, bool, u64)>> {
    let mut found = Vec::new();
    let mut second_half = false;
    for (at, insn) in program.insns.iter().enumerate() {
        let is_second = std::mem::take(&mut second_half);
        second_half = insn.is_wide() && !is_second;
        if is_second {
            continue;
        }
        let reference = program.references.get(&at);
        if insn.code == CALL && insn.src != PSEUDO_CALL {
            let called = match (insn.src, reference) {
                (PSEUDO_KFUNC_CALL, Some(Reference::Kfunc(name))) => {
                    CALLS.iter().find(|(other, helper, _)| *helper == 0 && other == name)
                }
                (0, None) => CALLS.iter().find(|(_, helper, _)| *helper == insn.imm && insn.imm != 0),
                _ => None,
            };
            let Some((_, _, value)) = called else {
                let what = match reference {
                    Some(Reference::Kfunc(name)) => name.clone(),
                    _ => format!("helper {}", insn.imm),
                };
                return Err(wrong!(
                    "its program {} calls {what}, which the kernel in virtual time does not offer",
                    program.name
                ));
            };
            found.push((at, true, *value));
        } else if insn.is_wide() && (reference.is_some() || insn.src != 0) {
            let place = match reference {
                Some(Reference::Data { section, offset }) => places.get(*section).map(|place| place + offset),
                Some(Reference::Extern(name)) => {
                    let known = EXTERNS.iter().position(|(other, _)| other == name);
                    known.map(|number| externs + 8 * number as u64)
                }
                _ => None,
            };
            let place = place.ok_or_else(|| {
                wrong!("its program {} takes an address that the kernel in virtual time does not offer", program.name)
            })?;
            found.push((at, false, place));
        }
    }
    Ok(found)
}
