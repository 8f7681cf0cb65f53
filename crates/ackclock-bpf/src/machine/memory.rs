//! The memory of a program in the simulator: regions at addresses that are the same on any machine.

use super::socket;

/// Bytes of stack that a function has.
pub const FRAME: usize = 512;
/// Functions that may be called within each other.
pub const FRAMES: usize = 8;

/// Bytes of arguments.
const CONTEXT_SIZE: usize = 40;

// The upper half of an address contains the number of its region, and the lower half the place among the bytes of all
// regions. Thus both the exact region and the bounds of all memory can be checked.
const SOCKET_AT: usize = CONTEXT_SIZE;
const SAMPLE_AT: usize = SOCKET_AT + socket::SIZE;
const STACK_AT: usize = SAMPLE_AT + socket::SAMPLE_SIZE;
const DATA_AT: usize = STACK_AT + FRAME * FRAMES;

/// Where the arguments of a program are.
pub const CONTEXT: u64 = 1 << 32;
/// Where its socket is.
pub const SOCKET: u64 = 2 << 32 | SOCKET_AT as u64;
/// Where its stack begins.
pub const STACK: u64 = 3 << 32 | STACK_AT as u64;
/// Where a sample that comes with a call is.
pub const SAMPLE: u64 = 4 << 32 | SAMPLE_AT as u64;
/// The number of the first region of data.
const FIRST_DATA: u64 = 5;

/// An access outside of the program's memory, or a write to read-only memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub size: usize,
    /// True for a write.
    pub writes: bool,
}

/// A section of global variables.
#[derive(Clone, Debug)]
pub struct Section {
    /// The bytes of the region.
    pub content: Box<[u8]>,
    /// True for variables that programs may set.
    pub is_writable: bool,
}

/// The permitted access to the bytes of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// Fields of the socket: some may be written.
    Socket,
}

#[derive(Clone, Copy, Debug)]
struct Region {
    start: usize,
    end: usize,
    access: Access,
}

/// The memory that a program can read and write.
#[derive(Clone, Debug)]
pub struct Memory {
    /// All regions, one behind the other.
    bytes: Box<[u8]>,
    /// The regions, by the upper half of their addresses, less one.
    regions: Box<[Region]>,
    writable: &'static [u8; socket::SIZE],
}

/// The address of a section of data.
pub fn section_address(sections: &[Section], number: usize) -> u64 {
    let before: usize = sections[..number].iter().map(|section| section.content.len()).sum();
    (FIRST_DATA + number as u64) << 32 | (DATA_AT + before) as u64
}

impl Memory {
    /// A socket of zeros, and the sections of an object.
    pub fn new(sections: &[Section]) -> Self {
        use std::sync::LazyLock;
        static WRITABLE: LazyLock<[u8; socket::SIZE]> = LazyLock::new(socket::writable);
        let region = |start, end, access| Region { start, end, access };
        let mut regions = vec![
            region(0, SOCKET_AT, Access::Read),
            region(SOCKET_AT, SAMPLE_AT, Access::Socket),
            region(STACK_AT, DATA_AT, Access::Write),
            region(SAMPLE_AT, STACK_AT, Access::Read),
        ];
        let mut bytes = vec![0; DATA_AT];
        for section in sections {
            let start = bytes.len();
            bytes.extend_from_slice(&section.content);
            let access = if section.is_writable { Access::Write } else { Access::Read };
            regions.push(region(start, bytes.len(), access));
        }
        Memory { bytes: bytes.into(), regions: regions.into(), writable: &WRITABLE }
    }

    /// The place of a region's bytes, if the address and `size` bytes behind it are in one.
    #[inline]
    fn place(&self, address: u64, size: usize) -> Option<(usize, Access)> {
        let at = address as u32 as usize;
        let region = self.regions.get((address >> 32).wrapping_sub(1) as usize)?;
        (at >= region.start && at + size <= region.end).then_some((at, region.access))
    }

    /// The bytes at an address, for reading.
    #[inline]
    pub fn read(&self, address: u64, size: usize) -> Result<&[u8], BadAccess> {
        let denied = BadAccess { address, size, writes: false };
        let (at, _) = self.place(address, size).ok_or(denied)?;
        self.bytes.get(at..at + size).ok_or(denied)
    }

    /// The bytes at an address, for writing.
    #[inline]
    pub fn write(&mut self, address: u64, size: usize) -> Result<&mut [u8], BadAccess> {
        let denied = BadAccess { address, size, writes: true };
        let (at, access) = self.place(address, size).ok_or(denied)?;
        let may_write = match access {
            Access::Read => false,
            Access::Write => true,
            Access::Socket => self.writable.get(at - SOCKET_AT).is_some_and(|bytes| usize::from(*bytes) >= size),
        };
        if !may_write {
            return Err(denied);
        }
        self.bytes.get_mut(at..at + size).ok_or(denied)
    }

    /// All bytes, for code that checks nothing but their end.
    pub fn all(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// A number of `size` bytes.
    #[inline]
    pub fn load(&self, address: u64, size: usize) -> Result<u64, BadAccess> {
        let bytes = self.read(address, size)?;
        Ok(match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        })
    }

    /// Writes the lower `size` bytes of a number.
    #[inline]
    pub fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), BadAccess> {
        let value = value.to_le_bytes();
        self.write(address, size)?.copy_from_slice(&value[..size]);
        Ok(())
    }

    /// A byte of the socket.
    #[inline]
    pub fn byte(&self, at: usize) -> u8 {
        self.bytes[SOCKET_AT + at]
    }

    /// Sets a byte of the socket.
    #[inline]
    pub fn set_byte(&mut self, at: usize, value: u8) {
        self.bytes[SOCKET_AT + at] = value;
    }

    /// A field of the socket of four bytes.
    #[inline]
    pub fn field(&self, at: usize) -> u32 {
        let bytes = &self.bytes[SOCKET_AT + at..][..4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// A field of the socket of eight bytes.
    #[inline]
    pub fn long(&self, at: usize) -> u64 {
        self.bytes[SOCKET_AT + at..][..8].try_into().map_or(0, u64::from_le_bytes)
    }

    /// Sets a field of the socket of four bytes.
    #[inline]
    pub fn set_field(&mut self, at: usize, value: u32) {
        self.bytes[SOCKET_AT + at..][..4].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets a field of the socket of eight bytes.
    #[inline]
    pub fn set_long(&mut self, at: usize, value: u64) {
        self.bytes[SOCKET_AT + at..][..8].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets a field of the sample.
    #[inline]
    pub fn set_sample(&mut self, at: usize, value: u64) {
        self.bytes[SAMPLE_AT + at..][..8].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets the arguments of a call.
    #[inline]
    pub fn set_arguments(&mut self, arguments: [u64; 3]) {
        for (place, argument) in self.bytes.as_chunks_mut::<8>().0.iter_mut().zip(arguments) {
            *place = argument.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(is_writable: bool) -> Section {
        Section { content: Box::new([7; 16]), is_writable }
    }

    /// A memory with constants and variables, and where they are.
    fn memory() -> (Memory, u64, u64) {
        let sections = [section(false), section(true)];
        (Memory::new(&sections), section_address(&sections, 0), section_address(&sections, 1))
    }

    #[test]
    fn only_what_is_there_can_be_read_to_its_last_byte() {
        let (memory, constants, variables) = memory();
        assert_eq!(memory.load(constants + 8, 8), Ok(0x0707_0707_0707_0707));
        // Behind the end of a region another begins, whose address is another.
        for (address, size) in [
            (constants + 9, 8),
            (constants + 16, 1),
            (variables - 1, 1),
            (0, 1),
            (constants + (2 << 32), 1),
            (u64::MAX, 8),
        ] {
            assert_eq!(memory.load(address, size), Err(BadAccess { address, size, writes: false }));
        }
        assert!(memory.load(SOCKET + socket::SIZE as u64 - 4, 4).is_ok());
        assert!(memory.load(SOCKET + socket::SIZE as u64 - 3, 4).is_err());
        assert!(memory.load(SOCKET - 1, 1).is_err() && memory.load(STACK - 8, 8).is_err());
    }

    #[test]
    fn only_what_the_kernel_lets_programs_write_can_be_written() {
        let (mut memory, constants, variables) = memory();
        assert_eq!(memory.store(SOCKET + socket::SND_CWND as u64, 4, 12), Ok(()));
        assert_eq!(memory.field(socket::SND_CWND), 12);
        assert!(memory.store(SOCKET + socket::SRTT_US as u64, 4, 1).is_err());
        // snd_cwnd has four bytes, and not eight.
        assert!(memory.store(SOCKET + socket::SND_CWND as u64, 8, 1).is_err());
        assert!(memory.store(constants, 1, 1).is_err() && memory.store(CONTEXT, 8, 1).is_err());
        assert_eq!(memory.store(variables + 15, 1, 0x1ff), Ok(()));
        assert_eq!(memory.load(variables + 15, 1), Ok(0xff));
    }
}
