//! The system call `bpf`, as far as congestion controls need it.
//!
//! Reference: `linux/bpf.h`, bpf(2).

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const MAP_CREATE: u32 = 0;
const MAP_LOOKUP: u32 = 1;
const MAP_UPDATE: u32 = 2;
const MAP_DELETE: u32 = 3;
const PROG_LOAD: u32 = 5;
const MAP_GET_NEXT_ID: u32 = 12;
const PROG_GET_FD_BY_ID: u32 = 13;
const MAP_GET_FD_BY_ID: u32 = 14;
const OBJ_GET_INFO: u32 = 15;
const BTF_LOAD: u32 = 18;
const MAP_FREEZE: u32 = 22;
const LINK_CREATE: u32 = 28;
const PROG_BIND_MAP: u32 = 35;

/// `BPF_MAP_TYPE_ARRAY`
pub const ARRAY: u32 = 2;
/// `BPF_MAP_TYPE_STRUCT_OPS`
pub const STRUCT_OPS_MAP: u32 = 26;
/// `BPF_F_RDONLY_PROG`
pub const READ_ONLY: u32 = 1 << 7;
/// `BPF_F_LINK`
pub const FOR_LINK: u32 = 1 << 13;
const STRUCT_OPS_PROGRAM: u32 = 27;
const STRUCT_OPS_ATTACH: u32 = 44;
/// Names of maps and programs, with the zero at their end.
const NAME: usize = 16;
/// Size of the buffer for the verifier's log.
const LOG: usize = 1 << 18;

/// The attributes of a call, each at its place in `union bpf_attr`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Attributes([u8; 144]);

impl Attributes {
    fn new() -> Self {
        Attributes([0; 144])
    }

    fn word(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn long(mut self, at: usize, value: u64) -> Self {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn name(mut self, at: usize, name: &str) -> Self {
        let name = &name.as_bytes()[..name.len().min(NAME - 1)];
        self.0[at..at + name.len()].copy_from_slice(name);
        self
    }

    fn get(&self, at: usize) -> u32 {
        u32::from_ne_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn call(&mut self, command: u32) -> io::Result<i64> {
        // SAFETY: the attributes have the length of the call, and their targets outlive the call.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), self.0.len()) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
    }

    fn open(&mut self, command: u32) -> io::Result<OwnedFd> {
        let fd = self.call(command)?;
        // SAFETY: the kernel has just opened it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
    }
}

fn at<T: ?Sized>(value: &T) -> u64 {
    std::ptr::from_ref(value).cast::<u8>() as u64
}

fn raw(fd: &OwnedFd) -> u32 {
    fd.as_raw_fd() as u32
}

/// Loads types (BTF).
pub fn load_types(data: &[u8]) -> io::Result<OwnedFd> {
    Attributes::new().long(0, at(data)).word(16, data.len() as u32).open(BTF_LOAD)
}

/// The properties of a map.
pub struct MapKind<'a> {
    pub ty: u32,
    pub name: &'a str,
    pub value_size: u32,
    pub flags: u32,
    /// The kernel's type of a value of a table of operations, and the types of its object.
    pub value_type: Option<(u32, &'a OwnedFd)>,
}

/// Makes a map with one entry.
pub fn create_map(kind: &MapKind<'_>) -> io::Result<OwnedFd> {
    let attributes = Attributes::new().word(0, kind.ty).word(4, 4).word(8, kind.value_size).word(12, 1);
    let (value_type, types) = kind.value_type.map_or((0, 0), |(ty, types)| (ty, raw(types)));
    attributes.word(16, kind.flags).name(28, kind.name).word(48, types).word(60, value_type).open(MAP_CREATE)
}

/// Sets the entry of a map.
pub fn update(map: &OwnedFd, value: &[u8]) -> io::Result<()> {
    let key = 0_u32;
    Attributes::new().word(0, raw(map)).long(8, at(&key)).long(16, at(value)).call(MAP_UPDATE).map(|_| ())
}

/// The entry of a map, whose values have `size` bytes.
pub fn lookup(map: &OwnedFd, size: usize) -> io::Result<Vec<u8>> {
    let (key, mut value) = (0_u32, vec![0_u8; size.next_multiple_of(8)]);
    let to = value.as_mut_ptr() as u64;
    Attributes::new().word(0, raw(map)).long(8, at(&key)).long(16, to).call(MAP_LOOKUP)?;
    value.truncate(size);
    Ok(value)
}

/// Deletes the entry of a map. For a table of operations, this removes it from the kernel.
pub fn delete(map: &OwnedFd) -> io::Result<()> {
    let key = 0_u32;
    Attributes::new().word(0, raw(map)).long(8, at(&key)).call(MAP_DELETE).map(|_| ())
}

/// Makes the map read-only for user space.
pub fn freeze(map: &OwnedFd) -> io::Result<()> {
    Attributes::new().word(0, raw(map)).call(MAP_FREEZE).map(|_| ())
}

/// The properties of a program.
pub struct ProgramKind<'a> {
    pub name: &'a str,
    pub insns: &'a [u8],
    /// The kernel's type of the table of operations, and the member that the program is for.
    pub operations: u32,
    pub member: u32,
    /// The types of its functions, and of each function its first instruction and its type.
    pub functions: Option<(&'a OwnedFd, &'a [[u32; 2]])>,
}

/// Loads a program, or returns the verifier's objection.
pub fn load_program(kind: &ProgramKind<'_>) -> Result<OwnedFd, (io::Error, String)> {
    let license = c"GPL";
    let mut attributes = Attributes::new()
        .word(0, STRUCT_OPS_PROGRAM)
        .word(4, (kind.insns.len() / 8) as u32)
        .long(8, at(kind.insns))
        .long(16, license.as_ptr() as u64)
        .name(48, kind.name)
        .word(68, kind.member)
        .word(108, kind.operations);
    if let Some((types, functions)) = kind.functions {
        let size = size_of::<[u32; 2]>() as u32;
        attributes =
            attributes.word(72, raw(types)).word(76, size).long(80, at(functions)).word(88, functions.len() as u32);
    }
    let refused = match { attributes }.open(PROG_LOAD) {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    let mut log = vec![0_u8; LOG];
    let buffer = log.as_mut_ptr() as u64;
    let again = attributes.word(24, 1).word(28, LOG as u32).long(32, buffer).open(PROG_LOAD);
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(0);
    match again {
        Ok(program) => Ok(program),
        Err(_) => Err((refused, String::from_utf8_lossy(&log[..end]).into_owned())),
    }
}

/// Holds a table of operations in the kernel as long as the link lives.
pub fn create_link(map: &OwnedFd) -> io::Result<OwnedFd> {
    Attributes::new().word(0, raw(map)).word(8, STRUCT_OPS_ATTACH).open(LINK_CREATE)
}

/// Ties a map to a program.
pub fn bind(program: &OwnedFd, map: &OwnedFd) -> io::Result<()> {
    Attributes::new().word(0, raw(program)).word(4, raw(map)).call(PROG_BIND_MAP).map(|_| ())
}

/// The number of the map after `id`, and the map.
pub fn next_map(id: u32) -> io::Result<Option<(u32, OwnedFd)>> {
    let mut id = id;
    loop {
        let mut attributes = Attributes::new().word(0, id);
        match attributes.call(MAP_GET_NEXT_ID) {
            Ok(_) => id = attributes.get(4),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(None),
            Err(error) => return Err(error),
        }
        match map_by_id(id) {
            // Another process may have closed it meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
            found => return found.map(|map| Some((id, map))),
        }
    }
}

/// A map by its number.
pub fn map_by_id(id: u32) -> io::Result<OwnedFd> {
    Attributes::new().word(0, id).open(MAP_GET_FD_BY_ID)
}

/// A program by its number.
pub fn program_by_id(id: u32) -> io::Result<OwnedFd> {
    Attributes::new().word(0, id).open(PROG_GET_FD_BY_ID)
}

/// The kernel's description of a map.
pub struct MapInfo {
    pub ty: u32,
    pub value_size: u32,
    pub name: String,
    pub value_type: u32,
}

/// Asks for it.
pub fn map_info(map: &OwnedFd) -> io::Result<MapInfo> {
    let mut info = vec![0_u8; 88];
    let to = info.as_mut_ptr() as u64;
    Attributes::new().word(0, raw(map)).word(4, info.len() as u32).long(8, to).call(OBJ_GET_INFO)?;
    let word = |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
    let name = &info[24..40];
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
    let name = String::from_utf8_lossy(&name[..end]).into_owned();
    Ok(MapInfo { ty: word(0), value_size: word(12), name, value_type: word(44) })
}

/// The numbers of the maps of a program.
pub fn maps_of(program: &OwnedFd) -> io::Result<Vec<u32>> {
    const MOST: usize = 64;
    let (mut ids, mut info) = (vec![0_u32; MOST], vec![0_u8; 160]);
    info[52..56].copy_from_slice(&(MOST as u32).to_ne_bytes());
    info[56..64].copy_from_slice(&(ids.as_mut_ptr() as u64).to_ne_bytes());
    let to = info.as_mut_ptr() as u64;
    Attributes::new().word(0, raw(program)).word(4, info.len() as u32).long(8, to).call(OBJ_GET_INFO)?;
    let count = u32::from_ne_bytes([info[52], info[53], info[54], info[55]]) as usize;
    ids.truncate(count);
    Ok(ids)
}
