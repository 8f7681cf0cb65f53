//! A compiled object: its programs, its data, and the table of operations that it offers the kernel.

use std::collections::BTreeMap;

use ackclock_input::{INSTRUCTIONS, NAME, OBJECT, VARIABLES};
use object::elf::{R_BPF_64_32, SHF_ALLOC, STT_FUNC, STT_SECTION};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SymbolFlags,
};

use crate::btf::{Btf, Kind};
use crate::error::{Result, wrong};
use crate::insn::{CALL, Insn, PSEUDO_CALL};
use crate::relocate::{Record, Target, records, relocate};

const CONGESTION_OPS: &str = "tcp_congestion_ops";
/// Sections of data, tables of operations, members of a table, and variables that may be set.
const SECTIONS: usize = 64;
const TABLES: usize = 16;
const MEMBERS: usize = 128;
const SETTABLE: usize = 256;
/// Relocations of types in a section, and functions of a program, as the kernel takes.
const RECORDS: usize = 1 << 14;
const FUNCTIONS: usize = 256;
/// Bytes of a table of operations.
const TABLE: usize = 4096;

/// A reference of an instruction to something outside of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A place in a section of data.
    Data {
        /// The number of the section in [`BpfObject::data`].
        section: usize,
        /// From its start.
        offset: u64,
    },
    /// A function of the kernel.
    Kfunc(String),
    /// A variable whose value the loader provides, such as `CONFIG_HZ`.
    Extern(String),
    /// A map, by name.
    Map(String),
    /// Another function of the object: where it begins in `.text`.
    Function(usize),
}

/// Where a function is: section, first instruction and number of instructions.
type Place = (String, usize, usize);

/// A section with instructions.
#[derive(Clone, Debug, Default)]
struct Code {
    insns: Vec<Insn>,
    references: BTreeMap<usize, Reference>,
    records: Vec<Record>,
}

/// A section of global variables.
#[derive(Clone, Debug)]
pub struct Data {
    /// Such as `.rodata`.
    pub name: String,
    /// Initial values.
    pub content: Vec<u8>,
    /// True for variables that programs may set.
    pub is_writable: bool,
}

/// A program with the functions that it calls. Its references are unresolved.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name in the source.
    pub name: String,
    /// The instructions of the program, followed by the instructions of its functions.
    pub insns: Vec<Insn>,
    /// The references of instructions, by instruction number.
    pub references: BTreeMap<usize, Reference>,
    /// The functions, in their order.
    pub functions: Vec<Function>,
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// Its first instruction.
    pub start: usize,
    /// The number of whole-number parameters of a function that is visible to other files. Such a function is
    /// verified by itself.
    pub numbers_taken: Option<usize>,
}

/// The value of a member of the table of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A function, by the name of its program.
    Program(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// A table of operations: a congestion control.
#[derive(Clone, Debug)]
pub struct Operations {
    /// The name under which the kernel knows it.
    pub name: String,
    /// Members that are set.
    pub members: BTreeMap<String, Value>,
    /// True for a table that a link may hold.
    pub is_for_links: bool,
}

/// A global variable that the loader of the object may set.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The section, and where it is there.
    pub place: (usize, usize),
    /// Its size in bytes.
    pub size: usize,
    /// The type of its bytes.
    pub form: Form,
    /// The range of its value, if the source gives one.
    pub range: Option<(f64, f64)>,
}

/// The type of a variable's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number without a sign.
    Unsigned,
    /// A whole number with a sign.
    Signed,
    /// True or false.
    Bool,
    /// 32 bits before, and 32 behind the point (`fixed32`).
    Fixed,
}

/// A compiled object.
#[derive(Clone, Debug)]
pub struct BpfObject {
    /// Its types.
    pub btf: Btf,
    /// Its sections of global variables.
    pub data: Vec<Data>,
    /// The congestion controls of the object.
    pub operations: Vec<Operations>,
    /// Variables that may be set.
    pub variables: Vec<Variable>,
    /// The licence that it names.
    pub license: String,
    code: BTreeMap<String, Code>,
    /// Functions: section, first instruction and number of instructions.
    functions: BTreeMap<String, Place>,
    /// The names of functions by section and first instruction.
    beginnings: BTreeMap<(String, usize), String>,
}

impl BpfObject {
    /// Reads an object, as clang writes it for `-target bpf`.
    ///
    /// # Errors
    /// Another format, no BTF, no table of operations for congestion control.
    pub fn parse(data: &[u8]) -> Result<BpfObject> {
        if data.len() as u64 > OBJECT {
            return Err(wrong!("it has {} bytes, but at most {OBJECT} are read", data.len()));
        }
        let elf = ElfFile64::<Endianness>::parse(data)
            .map_err(|_| wrong!("it is not a 64-bit ELF object; expected what clang -target bpf writes"))?;
        if elf.architecture() != object::Architecture::Bpf || !elf.is_little_endian() {
            return Err(wrong!("it is not an eBPF object; compile with clang -O2 -g -target bpf"));
        }
        let section = |name: &str| elf.section_by_name(name).and_then(|section| section.data().ok());
        let btf = section(".BTF").ok_or_else(|| {
            wrong!("it has no BTF, or was stripped of it; compile with -g, and strip with llvm-strip -g at most")
        })?;
        let btf = Btf::parse(btf)?;
        let mut object = BpfObject {
            data: Vec::new(),
            operations: Vec::new(),
            variables: Vec::new(),
            license: section("license").map(text).unwrap_or_default(),
            code: BTreeMap::new(),
            functions: BTreeMap::new(),
            beginnings: BTreeMap::new(),
            btf,
        };
        let mut reader = Reader { elf: &elf, sections: BTreeMap::new() };
        reader.data(&mut object)?;
        reader.code(&mut object)?;
        for (name, records) in records(section(".BTF.ext").unwrap_or_default(), &object.btf)
            .or_else(|error| if section(".BTF.ext").is_none() { Ok(Vec::new()) } else { Err(error) })?
        {
            if let Some(code) = object.code.get_mut(&name) {
                if records.len() > RECORDS {
                    return Err(wrong!("its section {name} has more than {RECORDS} relocations of types"));
                }
                code.records = records;
            }
        }
        reader.operations(&mut object)?;
        reader.variables(&mut object)?;
        if object.operations.is_empty() {
            return Err(wrong!(
                "it contains no struct_ops of type {CONGESTION_OPS}, so it is not a congestion control"
            ));
        }
        Ok(object)
    }

    /// The table with a given name, or the first complete congestion control.
    ///
    /// # Errors
    /// No such table.
    pub fn choose(&self, name: Option<&str>) -> Result<&Operations> {
        let is_whole = |operations: &&Operations| {
            let has = |member: &str| operations.members.contains_key(member);
            has("ssthresh") && has("undo_cwnd") && (has("cong_avoid") || has("cong_control"))
        };
        match name {
            Some(name) => self.operations.iter().find(|operations| operations.name == name).ok_or_else(|| {
                let names: Vec<_> = self.operations.iter().map(|operations| operations.name.as_str()).collect();
                wrong!("it has no congestion control called {name}; it has {}", names.join(", "))
            }),
            None => self.operations.iter().find(is_whole).ok_or_else(|| {
                wrong!("its struct_ops lacks ssthresh, undo_cwnd, or cong_avoid, which the kernel asks of each")
            }),
        }
    }

    /// The numbers of the programs' code, for the target: relocated, with the functions that they call.
    ///
    /// # Errors
    /// A feature that the target does not support.
    pub fn programs<T: Target>(&self, operations: &Operations, target: &T) -> Result<BTreeMap<String, Program>> {
        let mut code = self.code.clone();
        for section in code.values_mut() {
            relocate(&mut section.insns, &section.records, &self.btf, target)?;
        }
        let (mut programs, mut room) = (BTreeMap::new(), INSTRUCTIONS);
        for (member, value) in &operations.members {
            if let Value::Program(name) = value {
                let program = self.link(&code, name, room)?;
                room -= program.insns.len();
                programs.insert(member.clone(), program);
            }
        }
        Ok(programs)
    }

    /// A function of at most `room` instructions, and behind it all that it calls.
    fn link(&self, code: &BTreeMap<String, Code>, name: &str, room: usize) -> Result<Program> {
        let missing = || wrong!("its program {name} is missing");
        let name = name.to_owned();
        let mut program =
            Program { name: name.clone(), insns: Vec::new(), references: BTreeMap::new(), functions: Vec::new() };
        let mut placed: BTreeMap<&Place, usize> = BTreeMap::new();
        let mut waiting = vec![self.functions.get_key_value(&name).ok_or_else(missing)?];
        let mut calls = Vec::new();
        while let Some((called_name, function)) = waiting.pop() {
            if placed.contains_key(function) {
                continue;
            }
            let (section, first, count) = function;
            let source = code.get(section).ok_or_else(missing)?;
            let start = program.insns.len();
            placed.insert(function, start);
            let end = first.checked_add(*count).ok_or_else(missing)?;
            let insns = source.insns.get(*first..end).ok_or_else(missing)?;
            if program.functions.len() == FUNCTIONS {
                return Err(wrong!("its program {name} calls more than {FUNCTIONS} functions"));
            }
            if insns.len() > room - start {
                return Err(wrong!(
                    "its programs have more than {INSTRUCTIONS} instructions with the functions that they call"
                ));
            }
            let numbers_taken = self.btf.numbers_taken(called_name);
            program.functions.push(Function { name: called_name.clone(), start, numbers_taken });
            program.insns.extend_from_slice(insns);
            for (at, reference) in source.references.range(*first..end) {
                program.references.insert(start + at - first, reference.clone());
            }
            for at in start..program.insns.len() {
                let insn = program.insns[at];
                if insn.code != CALL || insn.src != PSEUDO_CALL {
                    continue;
                }
                let (section, begins) = match program.references.remove(&at) {
                    Some(Reference::Function(begins)) => (".text", begins as i64),
                    _ => (section.as_str(), (first + at - start) as i64 + i64::from(insn.imm) + 1),
                };
                let begins = usize::try_from(begins).unwrap_or(usize::MAX);
                let called = self.beginnings.get(&(section.to_owned(), begins));
                let called = called.and_then(|called| self.functions.get_key_value(called));
                let called = called.ok_or_else(|| wrong!("its program {name} calls a function that is missing"))?;
                calls.push((at, called.1));
                waiting.push(called);
            }
        }
        for (at, called) in calls {
            let start = placed.get(called).ok_or_else(missing)?;
            program.insns[at].imm = *start as i32 - at as i32 - 1;
        }
        Ok(program)
    }
}

/// The data that are read from an ELF file.
struct Reader<'a> {
    elf: &'a ElfFile64<'a, Endianness>,
    /// Sections of data, as numbered in the object.
    sections: BTreeMap<usize, usize>,
}

impl Reader<'_> {
    fn data(&mut self, object: &mut BpfObject) -> Result<()> {
        let mut room = VARIABLES as u64;
        for section in self.elf.sections() {
            let name = section.name().unwrap_or_default();
            let is_data = [".rodata", ".data", ".bss"]
                .iter()
                .any(|kind| name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
            let is_loaded =
                matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & u64::from(SHF_ALLOC) != 0);
            if !is_data || !is_loaded || section.size() == 0 {
                continue;
            }
            room = room.checked_sub(section.size()).ok_or_else(|| {
                wrong!("its global variables take more than {VARIABLES} bytes, which each flow would have a copy of")
            })?;
            if object.data.len() == SECTIONS {
                return Err(wrong!("it has more than {SECTIONS} sections of global variables"));
            }
            let name = short(name)?;
            let mut content = section.data().unwrap_or_default().to_vec();
            content.resize(section.size() as usize, 0);
            self.sections.insert(section.index().0, object.data.len());
            let is_writable = !name.starts_with(".rodata");
            object.data.push(Data { name: name.to_owned(), content, is_writable });
        }
        Ok(())
    }

    fn code(&self, object: &mut BpfObject) -> Result<()> {
        let mut instructions = 0;
        for section in self.elf.sections() {
            let name = section.name().unwrap_or_default();
            if name != ".text" && !name.starts_with("struct_ops") {
                continue;
            }
            let (words, rest) = section.data().unwrap_or_default().as_chunks::<8>();
            if !rest.is_empty() {
                return Err(wrong!("its section {name} does not hold whole instructions"));
            }
            instructions += words.len();
            if instructions > INSTRUCTIONS {
                return Err(wrong!("it has more than {INSTRUCTIONS} instructions"));
            }
            let mut code = Code { insns: words.iter().map(|word| Insn::decode(*word)).collect(), ..Code::default() };
            for (at, relocation) in section.relocations() {
                let at = at as usize / 8;
                let insn = *code.insns.get(at).ok_or_else(|| wrong!("its relocations cannot be read"))?;
                let reference = self.reference(insn, &relocation)?;
                if matches!(reference, Reference::Kfunc(_)) {
                    code.insns[at].src = crate::insn::PSEUDO_KFUNC_CALL;
                }
                code.references.insert(at, reference);
            }
            object.code.insert(short(name)?.to_owned(), code);
        }
        for symbol in self.elf.symbols() {
            let (name, section) = (short(symbol.name().unwrap_or_default())?, symbol.section_index());
            let section = section.and_then(|index| self.elf.section_by_index(index).ok());
            let is_function = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == STT_FUNC);
            if let (true, Some(section)) = (is_function, section) {
                let place = (symbol.address() as usize / 8, symbol.size() as usize / 8);
                let section = short(section.name().unwrap_or_default())?.to_owned();
                object.beginnings.entry((section.clone(), place.0)).or_insert_with(|| name.to_owned());
                object.functions.insert(name.to_owned(), (section, place.0, place.1));
                if object.functions.len() > INSTRUCTIONS {
                    return Err(wrong!("it has more than {INSTRUCTIONS} functions"));
                }
            }
        }
        Ok(())
    }

    fn reference(&self, insn: Insn, relocation: &object::Relocation) -> Result<Reference> {
        let unreadable = || wrong!("its relocations cannot be read");
        let RelocationTarget::Symbol(symbol) = relocation.target() else { return Err(unreadable()) };
        let symbol = self.elf.symbol_by_index(symbol).map_err(|_| unreadable())?;
        let name = short(symbol.name().unwrap_or_default())?.to_owned();
        let is_call = matches!(relocation.flags(), RelocationFlags::Elf { r_type } if r_type == R_BPF_64_32);
        let Some(section) = symbol.section_index() else {
            return Ok(if is_call { Reference::Kfunc(name) } else { Reference::Extern(name) });
        };
        if is_call {
            let begins = (symbol.address() / 8) as i64 + i64::from(insn.imm) + 1;
            return Ok(Reference::Function(usize::try_from(begins).map_err(|_| unreadable())?));
        }
        if let Some(section) = self.sections.get(&section.0) {
            // A section's reference has the place in the instruction. A variable's symbol contains it.
            let is_section = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == STT_SECTION);
            let offset = if is_section { insn.imm as u32 as u64 } else { symbol.address() };
            return Ok(Reference::Data { section: *section, offset });
        }
        match self.elf.section_by_index(section).ok().and_then(|section| section.name().ok().map(str::to_owned)) {
            Some(of) if of == ".maps" => Ok(Reference::Map(name)),
            Some(of) => Err(wrong!("it takes the address of {name} in {of}, which is not supported")),
            None => Err(unreadable()),
        }
    }

    fn operations(&self, object: &mut BpfObject) -> Result<()> {
        for section in self.elf.sections() {
            let name = section.name().unwrap_or_default();
            let is_for_links = name == ".struct_ops.link";
            if name != ".struct_ops" && !is_for_links {
                continue;
            }
            let content = section.data().unwrap_or_default();
            let targets = self.functions_in(&section)?;
            let Some(datasec) = object.btf.find(Kind::Datasec, name) else { continue };
            for (variable, offset, _) in object.btf.variables(datasec) {
                let ty = object.btf.plain(object.btf.refers_to(variable));
                if object.btf.name(ty) != CONGESTION_OPS {
                    continue;
                }
                let at = self.address(object.btf.name(variable)).unwrap_or(u64::from(offset)) as usize;
                let size = object.btf.size(ty) as usize;
                if object.operations.len() == TABLES || size > TABLE || object.btf.members(ty).count() > MEMBERS {
                    return Err(wrong!(
                        "its section {name} has more than {TABLES} tables of {MEMBERS} members or {TABLE} bytes"
                    ));
                }
                let table = at.checked_add(size).and_then(|end| content.get(at..end));
                let table = table.ok_or_else(|| wrong!("its section {name} is too short"))?;
                let mut operations = Operations { name: String::new(), members: BTreeMap::new(), is_for_links };
                for member in object.btf.members(ty) {
                    let start = member.bit_offset as usize / 8;
                    let end = start.saturating_add(object.btf.size(member.ty) as usize);
                    let bytes = table.get(start..end).unwrap_or_default();
                    let value = match targets.get(&(at + start)) {
                        Some(function) => Value::Program(function.clone()),
                        None if bytes.iter().all(|byte| *byte == 0) => continue,
                        None => Value::Bytes(bytes.to_vec()),
                    };
                    match value {
                        Value::Bytes(bytes) if member.name == "name" => operations.name = text(&bytes),
                        value => _ = operations.members.insert(member.name.to_owned(), value),
                    }
                }
                object.operations.push(operations);
            }
        }
        Ok(())
    }

    /// The functions whose addresses a section of tables has, by their places.
    fn functions_in<'a>(&self, section: &impl ObjectSection<'a>) -> Result<BTreeMap<usize, String>> {
        let (mut found, functions) = (BTreeMap::new(), self.functions_by_address()?);
        for (at, relocation) in section.relocations() {
            if found.len() > TABLES * MEMBERS {
                return Err(wrong!("its tables of operations name more than {} functions", TABLES * MEMBERS));
            }
            let RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let symbol = self.elf.symbol_by_index(index).map_err(|_| wrong!("its relocations cannot be read"))?;
            let mut name = short(symbol.name().unwrap_or_default())?;
            if matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == STT_SECTION) {
                let place = section.data().unwrap_or_default().get(at as usize..).and_then(|rest| rest.get(..8));
                let place = place.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
                let section = symbol.section_index().map(|index| index.0);
                name = functions.get(&(section, place)).copied().unwrap_or_default();
            }
            found.insert(at as usize, name.to_owned());
        }
        Ok(found)
    }

    /// The names of functions by section and address.
    fn functions_by_address(&self) -> Result<BTreeMap<(Option<usize>, u64), &str>> {
        let mut found = BTreeMap::new();
        for symbol in self.elf.symbols() {
            if matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == STT_FUNC) {
                let place = (symbol.section_index().map(|index| index.0), symbol.address());
                found.entry(place).or_insert(short(symbol.name().unwrap_or_default())?);
            }
        }
        Ok(found)
    }

    fn address(&self, name: &str) -> Option<u64> {
        self.elf.symbol_by_name(name).map(|symbol| symbol.address())
    }

    fn variables(&self, object: &mut BpfObject) -> Result<()> {
        let btf = &object.btf;
        for (index, data) in object.data.iter().enumerate() {
            let Some(datasec) = btf.find(Kind::Datasec, &data.name) else { continue };
            for (variable, ..) in btf.variables(datasec).filter(|(variable, ..)| btf.is_global(*variable)) {
                let (name, mut ty) = (btf.name(variable), btf.refers_to(variable));
                while matches!(btf.kind(ty), Kind::Const | Kind::Volatile) {
                    ty = btf.refers_to(ty);
                }
                if object.variables.len() == SETTABLE {
                    return Err(wrong!("it has more than {SETTABLE} variables that may be set"));
                }
                let form = match () {
                    () if btf.name(ty) == "fixed32" => Form::Fixed,
                    () if btf.kind(btf.plain(ty)) != Kind::Int => continue,
                    () if btf.is_bool(ty) => Form::Bool,
                    () if btf.is_signed(ty) => Form::Signed,
                    () => Form::Unsigned,
                };
                let (size, Some(at)) = (btf.size(ty) as usize, self.address(name)) else { continue };
                let end = (at as usize).checked_add(size).filter(|end| *end <= data.content.len());
                if data.is_writable || end.is_none() || !matches!(size, 1 | 2 | 4 | 8) {
                    continue;
                }
                let range = btf.tags(variable).find_map(|tag| {
                    let (low, high) = tag.strip_prefix("range ")?.split_once(' ')?;
                    Some((low.parse().ok()?, high.parse().ok()?))
                });
                let place = (index, at as usize);
                object.variables.push(Variable { name: name.to_owned(), place, size, form, range });
            }
        }
        Ok(())
    }
}

/// A name, which may be part of another one's bytes.
fn short(name: &str) -> Result<&str> {
    if name.len() > NAME {
        return Err(wrong!("it has a name of more than {NAME} bytes"));
    }
    Ok(name)
}

/// A text that ends with a zero, or with its bytes.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
