//! CO-RE: the offsets in a program, from the types that it was compiled against to those where it runs.
//!
//! Reference: the kernel's `Documentation/bpf/llvm_reloc.rst` and `btf.rst` (the section `.BTF.ext`).

use crate::btf::{Btf, Kind, read_u32};
use crate::error::{Result, wrong};
use crate::insn::Insn;

/// Structs without a name within each other.
const DEEPEST: u32 = 16;

/// The request of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    ByteOffset,
    ByteSize,
    Exists,
    Signed,
    LShift,
    RShift,
    TypeIdLocal,
    TypeIdTarget,
    TypeExists,
    TypeSize,
    EnumExists,
    EnumValue,
    TypeMatches,
}

impl Question {
    const ALL: [Question; 13] = [
        Question::ByteOffset,
        Question::ByteSize,
        Question::Exists,
        Question::Signed,
        Question::LShift,
        Question::RShift,
        Question::TypeIdLocal,
        Question::TypeIdTarget,
        Question::TypeExists,
        Question::TypeSize,
        Question::EnumExists,
        Question::EnumValue,
        Question::TypeMatches,
    ];
}

/// A record of `.BTF.ext`.
#[derive(Clone, Debug)]
pub struct Record {
    /// The instruction in its section.
    pub insn: usize,
    ty: u32,
    access: String,
    question: Question,
}

/// A step from a struct to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member by name.
    Member(String),
    /// An element of an array.
    Index(u32),
}

/// Where something is in a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From the start of the struct.
    pub bit_offset: u32,
    /// The bits of a bit field, or 0 for another member.
    pub bits: u32,
    /// The size of its type in bytes.
    pub size: u32,
    /// True for an integer with a sign.
    pub is_signed: bool,
}

/// Structs within a socket, whose names do not tell fields apart.
const NESTED: [&str; 4] = ["inet_conn", "icsk_inet", "sk", "__sk_common"];

/// The name of a field with the structs around it, and the number of an element, for targets without BTF.
pub(crate) fn path(steps: &[Step]) -> Option<(String, Option<u32>)> {
    let mut name = String::new();
    let mut index = None;
    for step in steps {
        match step {
            Step::Member(part) if name.is_empty() && NESTED.contains(&part.as_str()) => {}
            Step::Member(part) if name.is_empty() => name.clone_from(part),
            Step::Member(part) => name = format!("{name}.{part}"),
            Step::Index(number) if index.is_none() => index = Some(*number),
            Step::Index(_) => return None,
        }
    }
    Some((name, index))
}

/// The types where a program is to run.
pub trait Target {
    /// How messages call it.
    const NAME: &'static str;

    /// Where a member is.
    fn place(&self, structure: &str, steps: &[Step]) -> Option<Place>;

    /// True for a struct that is the program's own, which stays as it was compiled.
    fn is_own(&self, _structure: &str, _size: u32) -> bool {
        false
    }

    /// The number of a type, and its size.
    fn type_of(&self, kind: Kind, name: &str) -> Option<(u32, u32)>;

    /// The value of an enumerator.
    fn enumerator(&self, of: &str, name: &str) -> Option<u64>;
}

impl Target for Btf {
    const NAME: &'static str = "the running kernel";

    fn place(&self, structure: &str, steps: &[Step]) -> Option<Place> {
        let start = self.find(Kind::Struct, structure).or_else(|| self.find(Kind::Union, structure))?;
        let mut place = Place { bit_offset: 0, bits: 0, size: self.size(start), is_signed: false };
        let mut ty = start;
        for step in steps {
            let plain = self.plain(ty);
            (ty, place.bits) = match step {
                Step::Member(name) => {
                    let (bit_offset, bits, member) = self.member(plain, name, DEEPEST)?;
                    place.bit_offset = place.bit_offset.checked_add(bit_offset)?;
                    (member, bits)
                }
                Step::Index(index) if self.kind(plain) == Kind::Array => {
                    let (element, _) = self.array(plain);
                    place.bit_offset =
                        place.bit_offset.checked_add(index.checked_mul(8)?.checked_mul(self.size(element))?)?;
                    (element, 0)
                }
                Step::Index(_) => return None,
            };
        }
        (place.size, place.is_signed) = (self.size(ty), self.is_signed(ty));
        Some(place)
    }

    fn type_of(&self, kind: Kind, name: &str) -> Option<(u32, u32)> {
        self.find(kind, name).map(|ty| (ty, self.size(ty)))
    }

    fn enumerator(&self, of: &str, name: &str) -> Option<u64> {
        let found = self.find(Kind::Enum, of).or_else(|| self.find(Kind::Enum64, of))?;
        self.enumerators(found).find(|(other, _)| *other == name).map(|(_, value)| value)
    }
}

impl Btf {
    /// A member by name, which may be in an anonymous struct or union: offset and size in bits, and type.
    fn member(&self, structure: u32, name: &str, depth: u32) -> Option<(u32, u32, u32)> {
        let depth = depth.checked_sub(1)?;
        self.members(structure).find_map(|member| {
            if member.name == name {
                return Some((member.bit_offset, member.bits, member.ty));
            }
            let inner = Some(self.plain(member.ty)).filter(|_| member.name.is_empty())?;
            let (offset, bits, ty) = self.member(inner, name, depth)?;
            Some((member.bit_offset.checked_add(offset)?, bits, ty))
        })
    }
}

/// The records of each section of programs.
///
/// # Errors
/// A section of another format.
pub fn records(data: &[u8], btf: &Btf) -> Result<Vec<(String, Vec<Record>)>> {
    read_records(data, btf).ok_or_else(|| wrong!("its section .BTF.ext cannot be read"))
}

fn read_records(data: &[u8], btf: &Btf) -> Option<Vec<(String, Vec<Record>)>> {
    let header = read_u32(data, 4)? as usize;
    if header < 32 {
        return Some(Vec::new());
    }
    let (mut at, len) = (header + read_u32(data, 24)? as usize, read_u32(data, 28)? as usize);
    let end = at.checked_add(len)?;
    let mut sections = Vec::new();
    if len == 0 {
        return Some(sections);
    }
    let size = read_u32(data, at)? as usize;
    at += 4;
    while at < end && size >= 16 {
        let (section, count) = (read_u32(data, at)?, read_u32(data, at + 4)? as usize);
        at += 8;
        let mut records = Vec::with_capacity(count.min(data.len() / size));
        for _ in 0..count {
            let question = *Question::ALL.get(read_u32(data, at + 12)? as usize)?;
            let access = btf.string(read_u32(data, at + 8)?).to_owned();
            records.push(Record {
                insn: read_u32(data, at)? as usize / 8,
                ty: read_u32(data, at + 4)?,
                access,
                question,
            });
            at += size;
        }
        sections.push((btf.string(section).to_owned(), records));
    }
    Some(sections)
}

/// Resolves the records of a section for a target.
///
/// # Errors
/// A field that the target lacks, unless the program tests for its existence.
pub fn relocate<T: Target>(insns: &mut [Insn], records: &[Record], local: &Btf, target: &T) -> Result<()> {
    for record in records {
        let value = answer(record, records, local, target)?;
        patch(insns, record, value)?;
    }
    Ok(())
}

fn answer<T: Target>(record: &Record, all: &[Record], local: &Btf, target: &T) -> Result<u64> {
    let kind = local.kind(record.ty);
    // The part after three underscores distinguishes variants of a type with one name in the kernel.
    let name = local.name(record.ty);
    let name = name.split_once("___").map_or(name, |(name, _)| name);
    match record.question {
        Question::TypeIdLocal => Ok(u64::from(record.ty)),
        Question::TypeIdTarget => Ok(target.type_of(kind, name).map_or(0, |(ty, _)| u64::from(ty))),
        Question::TypeExists | Question::TypeMatches => Ok(u64::from(target.type_of(kind, name).is_some())),
        Question::TypeSize => Ok(target.type_of(kind, name).map_or(0, |(_, size)| u64::from(size))),
        Question::EnumExists | Question::EnumValue => {
            let index = record.access.parse::<usize>().unwrap_or(usize::MAX);
            let (wanted, _) = local.enumerators(record.ty).nth(index).unwrap_or_default();
            let found = target.enumerator(name, wanted.split_once("___").map_or(wanted, |(name, _)| name));
            match (record.question, found) {
                (Question::EnumExists, found) => Ok(u64::from(found.is_some())),
                (_, Some(value)) => Ok(value),
                (_, None) => Err(wrong!("it uses {wanted} of enum {name}, which {} has not", T::NAME)),
            }
        }
        _ => of_a_field(record, all, local, target, name),
    }
}

fn of_a_field<T: Target>(record: &Record, all: &[Record], local: &Btf, target: &T, name: &str) -> Result<u64> {
    let same = |other: &&Record| other.ty == record.ty && other.access == record.access;
    let asks = |question| all.iter().filter(same).any(|other| other.question == question);
    let steps = steps(local, record).ok_or_else(|| wrong!("its relocations cannot be read"))?;
    let is_own = target.is_own(name, local.size(record.ty));
    let Some(place) = (if is_own { local.place(name, &steps) } else { target.place(name, &steps) }) else {
        // The program takes another way then.
        if asks(Question::Exists) {
            return Ok(0);
        }
        return Err(wrong!("it uses {name}.{}, which {} has not", shown(&steps), T::NAME));
    };
    let is_bits = is_bit_field(local, record);
    if is_bits && record.question == Question::ByteOffset && !asks(Question::LShift) {
        return Err(wrong!(
            "it reads the bit field {name}.{} where it was compiled, and not where it runs; use BPF_CORE_READ_BITFIELD",
            shown(&steps)
        ));
    }
    let (byte, size) = storage(&place);
    let bits = if place.bits == 0 { place.size.saturating_mul(8) } else { place.bits };
    let shift = |used: Option<u32>| {
        let shift = used.and_then(|used| 64_u32.checked_sub(used));
        shift.ok_or_else(|| wrong!("it reads {name}.{} as a bit field, which it is not", shown(&steps)))
    };
    Ok(u64::from(match record.question {
        Question::ByteOffset => byte,
        Question::ByteSize => size,
        Question::Exists => 1,
        Question::Signed => u32::from(place.is_signed),
        Question::LShift => shift((place.bit_offset % 8 + bits).checked_add(8 * (place.bit_offset / 8 - byte)))?,
        _ => shift(Some(bits))?,
    }))
}

/// The word that a bit field is read with: its offset and size in bytes.
fn storage(place: &Place) -> (u32, u32) {
    if place.bits == 0 {
        return (place.bit_offset / 8, place.size);
    }
    let mut size = place.size.max(1);
    loop {
        let byte = place.bit_offset / 8 / size * size;
        if place.bit_offset.saturating_add(place.bits) <= (byte + size).saturating_mul(8) || size >= 8 {
            return (byte, size);
        }
        size *= 2;
    }
}

/// The way from the type of a record to its field, by names.
fn steps(local: &Btf, record: &Record) -> Option<Vec<Step>> {
    let mut indices = record.access.split(':').map(str::parse::<usize>);
    let mut steps = Vec::new();
    // The first is the element of an array of such structs.
    if indices.next()?.ok()? != 0 {
        return None;
    }
    let mut ty = record.ty;
    for index in indices {
        let (index, plain) = (index.ok()?, local.plain(ty));
        ty = if local.kind(plain) == Kind::Array {
            steps.push(Step::Index(index as u32));
            local.array(plain).0
        } else {
            let member = local.member_at(plain, index)?;
            if !member.name.is_empty() {
                steps.push(Step::Member(member.name.to_owned()));
            }
            member.ty
        };
    }
    Some(steps)
}

fn is_bit_field(local: &Btf, record: &Record) -> bool {
    let mut ty = record.ty;
    let mut bits = 0;
    for index in record.access.split(':').skip(1).filter_map(|index| index.parse().ok()) {
        let plain = local.plain(ty);
        (ty, bits) = match local.member_at(plain, index) {
            Some(member) => (member.ty, member.bits),
            None => (local.array(plain).0, 0),
        };
    }
    bits != 0
}

fn shown(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Member(name) => text = if text.is_empty() { name.clone() } else { format!("{text}.{name}") },
            Step::Index(index) => text = format!("{text}[{index}]"),
        }
    }
    text
}

fn patch(insns: &mut [Insn], record: &Record, value: u64) -> Result<()> {
    let misplaced = || wrong!("its relocations cannot be read");
    let insn = insns.get_mut(record.insn).ok_or_else(misplaced)?;
    match insn.code & 7 {
        // Loads and stores of a place in memory.
        1..=3 => insn.off = i16::try_from(value).map_err(|_| misplaced())?,
        // ld_imm64
        0 => {
            insn.imm = value as i32;
            insns.get_mut(record.insn + 1).ok_or_else(misplaced)?.imm = (value >> 32) as i32;
        }
        _ => insn.imm = i32::try_from(value as i64).map_err(|_| misplaced())?,
    }
    Ok(())
}
