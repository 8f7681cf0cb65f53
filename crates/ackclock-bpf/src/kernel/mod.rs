//! Compiled congestion controls in the running kernel: loaded, listed and unloaded.
//!
//! The kernel itself holds a table that is loaded to stay, without a file or a process. The table is gone after the
//! machine restarts. A small map, tied to the programs of the table, records the loader and the parameters.

mod syscall;
mod types;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::btf::{Btf, Kind};
use crate::error::{BpfError, Result, wrong};
use crate::insn::{CALL, Insn, PSEUDO_KFUNC_CALL, PSEUDO_MAP_VALUE};
use crate::object_file::{BpfObject, Operations, Program, Reference, Value};
use syscall::{ARRAY, FOR_LINK, MapKind, ProgramKind, READ_ONLY, STRUCT_OPS_MAP};

const VMLINUX: &str = "/sys/kernel/btf/vmlinux";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const TABLE: &str = "tcp_congestion_ops";
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
/// The map that describes a loaded table.
const ABOUT: &str = "ackclock_about";
const ABOUT_SIZE: usize = 4096;
/// The kernel's error for a missing feature, which `errno.h` does not define.
const ENOTSUPP: i32 = 524;
/// Characters of a name (`TCP_CA_NAME_MAX`, without its end).
const LONGEST_NAME: usize = 15;

/// A congestion control in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The name that `TCP_CONGESTION` takes.
    pub name: String,
    /// The description by its loader. Congestion controls of the kernel and of other loaders have none.
    pub about: Option<String>,
}

/// A congestion control that stays in the kernel during the life of this value. The kernel also removes it when the
/// process ends.
#[derive(Debug)]
pub struct Link {
    _link: OwnedFd,
    _map: OwnedFd,
}

/// The types of the running kernel.
///
/// # Errors
/// A kernel without them, or without tables of operations.
pub fn kernel_types() -> Result<Btf> {
    let data = std::fs::read(VMLINUX)
        .map_err(|_| wrong!("this kernel has no BTF ({VMLINUX}); one with CONFIG_DEBUG_INFO_BTF=y is needed"))?;
    let btf = Btf::parse(&data).map_err(|_| wrong!("{VMLINUX} cannot be read"))?;
    match btf.find(Kind::Struct, VALUE) {
        Some(_) => Ok(btf),
        None => Err(wrong!("this kernel has no struct_ops for congestion control (Linux 5.6, CONFIG_BPF_JIT=y)")),
    }
}

/// Checks a name for `TCP_CONGESTION`.
///
/// # Errors
/// A name that the kernel does not take, or that it knows already.
pub fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(wrong!("the name {name:?} has {} characters; the kernel takes 1 to {LONGEST_NAME}", name.len()));
    }
    if let Some(other) = name.chars().find(|char| !char.is_ascii_alphanumeric() && *char != '_') {
        return Err(wrong!("the name {name:?} has a {other:?}; the kernel takes letters, digits and _"));
    }
    if available().iter().any(|known| known == name) {
        return Err(wrong!("the kernel already has a congestion control called {name}; give another name"));
    }
    Ok(())
}

fn available() -> Vec<String> {
    let text = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Loads a congestion control to stay until it is unloaded.
///
/// # Errors
/// The obstacle to loading. Nothing stays loaded then.
pub fn load(object: &BpfObject, name: &str, about: &str) -> Result<()> {
    register(object, name, about, 0).map(drop)
}

/// Loads a congestion control for as long as the result lives.
///
/// # Errors
/// The obstacle to loading. Nothing stays loaded then.
pub fn attach(object: &BpfObject, name: &str, about: &str) -> Result<Link> {
    let map = register(object, name, about, FOR_LINK)?;
    let link = syscall::create_link(&map).map_err(|error| denied("cannot be attached", &error))?;
    Ok(Link { _link: link, _map: map })
}

/// Like [`attach`], under a generated unique name, which it returns.
///
/// # Errors
/// The obstacle to loading. Nothing stays loaded then.
pub fn attach_unnamed(object: &BpfObject, about: &str) -> Result<(String, Link)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let known = available();
    // Processes of other namespaces may have the same number.
    let names = std::iter::repeat_with(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
        format!("run{:x}_{number:x}", std::process::id() & 0xff_ffff)
    });
    let name = names.take(0x1_0000).find(|name| !known.contains(name));
    let name = name.ok_or_else(|| wrong!("the kernel has no name left for it"))?;
    Ok((name.clone(), attach(object, &name, about)?))
}

fn register(object: &BpfObject, name: &str, about: &str, flags: u32) -> Result<OwnedFd> {
    check_name(name)?;
    if about.len() > ABOUT_SIZE {
        return Err(wrong!("its parameters have {} characters; at most {ABOUT_SIZE}", about.len()));
    }
    if object.license != "GPL" && !object.license.contains("GPL") {
        return Err(wrong!(
            "its licence is {:?}; the kernel takes those that are compatible with the GPL",
            object.license
        ));
    }
    let kernel = kernel_types()?;
    let operations = object.choose(None)?;
    let types = syscall::load_types(&types::none()).map_err(|error| denied("cannot be loaded", &error))?;
    let value = kernel.find(Kind::Struct, VALUE).unwrap_or_default();
    let map =
        MapKind { ty: STRUCT_OPS_MAP, name, value_size: kernel.size(value), flags, value_type: Some((value, &types)) };
    let map = syscall::create_map(&map).map_err(|error| denied("cannot be loaded", &error))?;
    let data = data_maps(object)?;
    let said = said(about)?;
    let mut programs = BTreeMap::new();
    for (member, program) in object.programs(operations, &kernel)? {
        let loaded = load_program(&kernel, &member, &program, &data)?;
        syscall::bind(&loaded, &said).map_err(|error| denied("cannot be described", &error))?;
        programs.insert(member, loaded);
    }
    let table = table(&kernel, operations, name, &programs)?;
    syscall::update(&map, &table).map_err(|error| match error.raw_os_error() {
        Some(libc::EEXIST) => wrong!("the kernel already has a congestion control called {name}; give another name"),
        _ => denied("is refused by the kernel as a congestion control", &error),
    })?;
    Ok(map)
}

/// Translates an error of the kernel to a remedy for the user.
fn denied(what: &str, error: &io::Error) -> BpfError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            wrong!("it {what}: this needs root (CAP_BPF and CAP_NET_ADMIN outside of user namespaces)")
        }
        Some(libc::EINVAL | ENOTSUPP) if what == "cannot be loaded" => {
            wrong!("it {what}: this kernel has no struct_ops (Linux 5.6, CONFIG_BPF_JIT=y; links need 6.4)")
        }
        _ => wrong!("it {what}: {error}"),
    }
}

/// A map for each section of variables.
fn data_maps(object: &BpfObject) -> Result<Vec<OwnedFd>> {
    let make = |data: &crate::object_file::Data| {
        let flags = if data.is_writable { 0 } else { READ_ONLY };
        let value_size = data.content.len() as u32;
        let map = syscall::create_map(&MapKind {
            ty: ARRAY,
            name: &map_name(&data.name),
            value_size,
            flags,
            value_type: None,
        })?;
        syscall::update(&map, &data.content)?;
        if !data.is_writable {
            syscall::freeze(&map)?;
        }
        Ok(map)
    };
    object.data.iter().map(|data| make(data).map_err(|error: io::Error| denied("cannot be loaded", &error))).collect()
}

fn map_name(section: &str) -> String {
    section.trim_start_matches('.').chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect()
}

fn said(about: &str) -> Result<OwnedFd> {
    let make = || {
        let map = syscall::create_map(&MapKind {
            ty: ARRAY,
            name: ABOUT,
            value_size: ABOUT_SIZE as u32,
            flags: 0,
            value_type: None,
        })?;
        let mut text = about.as_bytes().to_vec();
        text.resize(ABOUT_SIZE, 0);
        syscall::update(&map, &text)?;
        syscall::freeze(&map)?;
        Ok(map)
    };
    make().map_err(|error: io::Error| denied("cannot be described", &error))
}

fn load_program(kernel: &Btf, member: &str, program: &Program, data: &[OwnedFd]) -> Result<OwnedFd> {
    let table = kernel.find(Kind::Struct, TABLE).unwrap_or_default();
    let number = kernel.members(table).position(|other| other.name == member);
    let number = number.ok_or_else(|| wrong!("it has {member}, which this kernel does not call"))?;
    let insns = bound(kernel, program, data)?;
    let insns: Vec<u8> = insns.iter().flat_map(|insn| insn.encode()).collect();
    // Kernels that cannot verify a function by itself take others as they did before.
    let is_needed = program.functions.iter().any(|function| function.numbers_taken.is_some());
    let (types, rows) = types::of_functions(&program.functions);
    let types = is_needed.then(|| syscall::load_types(&types)).transpose();
    let types = types.map_err(|error| denied("cannot be loaded", &error))?;
    let functions = types.as_ref().map(|types| (types, &rows[..]));
    let kind = ProgramKind { name: &program.name, insns: &insns, operations: table, member: number as u32, functions };
    syscall::load_program(&kind).map_err(|(error, log)| {
        let said: Vec<_> = log.lines().filter(|line| !line.starts_with("processed") && !line.is_empty()).collect();
        match said.last() {
            Some(line) => wrong!("its program {} is refused by the kernel's verifier: {line}", program.name),
            None => denied("cannot be loaded", &error),
        }
    })
}

/// The instructions with the kernel's numbers of maps and functions.
fn bound(kernel: &Btf, program: &Program, data: &[OwnedFd]) -> Result<Vec<Insn>> {
    let mut insns = program.insns.clone();
    for (at, reference) in &program.references {
        match reference {
            Reference::Data { section, offset } => {
                let (map, pair) = (data.get(*section), insns.get_mut(*at..at + 2));
                let (Some(map), Some(pair)) = (map, pair) else { return Err(wrong!("its relocations cannot be read")) };
                pair[0].src = PSEUDO_MAP_VALUE;
                Insn::set_wide(pair, offset << 32 | map.as_raw_fd() as u64);
            }
            Reference::Kfunc(name) => {
                let function = kernel.find(Kind::Func, name);
                let function = function.ok_or_else(|| wrong!("it calls {name}, which this kernel has not"))?;
                insns[*at] = Insn { code: CALL, src: PSEUDO_KFUNC_CALL, imm: function as i32, ..Insn::default() };
            }
            Reference::Extern(name) => return Err(wrong!("it uses the variable {name}, which is not supported here")),
            Reference::Map(name) => return Err(wrong!("it uses the map {name}, which is not supported here")),
            Reference::Function(_) => {}
        }
    }
    Ok(insns)
}

/// The kernel's value for a table of operations, with programs instead of functions.
fn table(kernel: &Btf, operations: &Operations, name: &str, programs: &BTreeMap<String, OwnedFd>) -> Result<Vec<u8>> {
    let value = kernel.find(Kind::Struct, VALUE).unwrap_or_default();
    let mut bytes = vec![0; kernel.size(value) as usize];
    let data = kernel.members(value).find(|member| member.name == "data");
    let data = data.ok_or_else(|| wrong!("this kernel has another form of struct_ops"))?;
    let start = data.bit_offset as usize / 8;
    for member in kernel.members(kernel.plain(data.ty)) {
        let at = start + member.bit_offset as usize / 8;
        let size = kernel.size(member.ty) as usize;
        let content = match (member.name, operations.members.get(member.name)) {
            ("name", _) => name.as_bytes().to_vec(),
            (_, Some(Value::Bytes(content))) if content.len() == size => content.clone(),
            (_, Some(Value::Bytes(_))) => return Err(wrong!("its {} has another size in this kernel", member.name)),
            (_, Some(Value::Program(_))) => {
                let program = programs.get(member.name).map_or(0, |program| program.as_raw_fd() as u64);
                program.to_le_bytes().to_vec()
            }
            (_, None) => continue,
        };
        bytes[at..at + content.len()].copy_from_slice(&content);
    }
    Ok(bytes)
}

/// The loaded tables of operations for congestion control, each with its description.
fn tables() -> Result<Vec<(OwnedFd, Loaded)>> {
    let kernel = kernel_types()?;
    let value = kernel.find(Kind::Struct, VALUE).unwrap_or_default();
    let data = kernel.members(value).find(|member| member.name == "data");
    let (start, of) = data.map_or((0, 0), |data| (data.bit_offset as usize / 8, kernel.plain(data.ty)));
    let place = |name: &str| kernel.members(of).find(|member| member.name == name);
    let name_at = start + place("name").map_or(0, |member| member.bit_offset as usize / 8);
    let program_at = start + place("ssthresh").map_or(0, |member| member.bit_offset as usize / 8);
    let mut found = Vec::new();
    let mut id = 0;
    while let Some((next, map)) = syscall::next_map(id).map_err(|error| denied("cannot be listed", &error))? {
        id = next;
        let Ok(info) = syscall::map_info(&map) else { continue };
        if info.ty != STRUCT_OPS_MAP || info.value_type != value {
            continue;
        }
        let Ok(bytes) = syscall::lookup(&map, info.value_size as usize) else { continue };
        // One that was never registered, or no longer is, has no programs.
        let program = bytes.get(program_at..program_at + 4).and_then(|bytes| bytes.try_into().ok());
        let program = program.map_or(0, u32::from_ne_bytes);
        let name = bytes.get(name_at..).unwrap_or_default();
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(0);
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        if program != 0 && !name.is_empty() {
            found.push((map, Loaded { name, about: about(program) }));
        }
    }
    Ok(found)
}

/// The description of the table that contains a program.
fn about(program: u32) -> Option<String> {
    let program = syscall::program_by_id(program).ok()?;
    for id in syscall::maps_of(&program).ok()? {
        let map = syscall::map_by_id(id).ok()?;
        let info = syscall::map_info(&map).ok()?;
        if info.name == ABOUT {
            let text = syscall::lookup(&map, info.value_size as usize).ok()?;
            let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
            return Some(String::from_utf8_lossy(&text[..end]).into_owned());
        }
    }
    None
}

/// The congestion controls of the kernel. Without privileges the list contains names only.
///
/// # Errors
/// A kernel that cannot be asked.
pub fn list() -> Result<Vec<Loaded>> {
    let ours: Vec<Loaded> = tables().map(|tables| tables.into_iter().map(|(_, loaded)| loaded).collect())?;
    let known = |name: String| {
        let about = ours.iter().find(|loaded| loaded.name == name).and_then(|loaded| loaded.about.clone());
        Loaded { name, about }
    };
    Ok(available().into_iter().map(known).collect())
}

/// Removes a congestion control from the kernel. Connections that use it keep it until they end.
///
/// # Errors
/// One that nothing loaded, or that a process holds.
pub fn unload(name: &str) -> Result<()> {
    let (map, loaded) = tables()?
        .into_iter()
        .find(|(_, loaded)| loaded.name == name)
        .ok_or_else(|| wrong!("no congestion control called {name} was loaded"))?;
    if loaded.about.is_none() {
        return Err(wrong!("{name} was loaded by another program, which has to unload it"));
    }
    syscall::delete(&map).map_err(|error| match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => wrong!("{name} is held by a process, and goes when that ends"),
        _ => denied("cannot be unloaded", &error),
    })
}
