//! The memory of a program in the simulator: some regions, each at an address that is the same on any machine.

use super::socket;

/// Bytes of stack that a function has.
pub const FRAME: usize = 512;
/// Functions that may be called within each other.
pub const FRAMES: usize = 8;

/// Where the arguments of a program are.
pub const CONTEXT: u64 = 1 << 32;
/// Where its socket is.
pub const SOCKET: u64 = 2 << 32;
/// Where its stack begins.
pub const STACK: u64 = 3 << 32;
/// Where a sample that comes with a call is.
pub const SAMPLE: u64 = 4 << 32;
/// Where the first section of data is; the next begins 2^32 behind it.
pub const DATA: u64 = 5 << 32;
/// Address and number of a section of data.
const FIRST_DATA: u64 = DATA >> 32;

/// An access to what is no memory of the program, or may not be written.
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
    /// What is in it.
    pub content: Box<[u8]>,
    /// True for variables that programs may set.
    pub is_writable: bool,
}

/// What a program can read and write.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The arguments of the call.
    pub context: [u8; 40],
    /// The socket.
    pub socket: [u8; socket::SIZE],
    /// `ack_sample` or `rate_sample`.
    pub sample: [u8; socket::SAMPLE_SIZE],
    stack: Box<[u8; FRAME * FRAMES]>,
    sections: Box<[Section]>,
    writable: &'static [bool; socket::SIZE],
}

impl Memory {
    /// A socket of zeros, and the sections of an object.
    pub fn new(sections: Box<[Section]>) -> Self {
        use std::sync::LazyLock;
        static WRITABLE: LazyLock<[bool; socket::SIZE]> = LazyLock::new(socket::writable);
        Memory {
            context: [0; 40],
            socket: [0; socket::SIZE],
            sample: [0; socket::SAMPLE_SIZE],
            stack: Box::new([0; FRAME * FRAMES]),
            sections,
            writable: &WRITABLE,
        }
    }

    /// The bytes at an address, for reading.
    #[inline]
    pub fn read(&self, address: u64, size: usize) -> Result<&[u8], BadAccess> {
        let start = address as u32 as usize;
        let region: &[u8] = match address >> 32 {
            1 => &self.context,
            2 => &self.socket,
            3 => &self.stack[..],
            4 => &self.sample,
            number => {
                self.sections.get(number.wrapping_sub(FIRST_DATA) as usize).map_or(&[], |section| &section.content)
            }
        };
        region.get(start..start + size).ok_or(BadAccess { address, size, writes: false })
    }

    /// The bytes at an address, for writing.
    #[inline]
    pub fn write(&mut self, address: u64, size: usize) -> Result<&mut [u8], BadAccess> {
        let start = address as u32 as usize;
        let denied = BadAccess { address, size, writes: true };
        let region: &mut [u8] = match address >> 32 {
            2 if self.writable.get(start..start + size).is_some_and(|bytes| !bytes.contains(&false)) => {
                &mut self.socket
            }
            3 => &mut self.stack[..],
            number => match self.sections.get_mut(number.wrapping_sub(FIRST_DATA) as usize) {
                Some(section) if section.is_writable => &mut section.content,
                _ => return Err(denied),
            },
        };
        region.get_mut(start..start + size).ok_or(denied)
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

    /// A field of the socket of four bytes.
    #[inline]
    pub fn field(&self, at: usize) -> u32 {
        let bytes = &self.socket[at..at + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Sets a field of the socket of four bytes.
    #[inline]
    pub fn set_field(&mut self, at: usize, value: u32) {
        self.socket[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets a field of the socket of eight bytes.
    #[inline]
    pub fn set_long(&mut self, at: usize, value: u64) {
        self.socket[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets a field of the sample.
    #[inline]
    pub fn set_sample(&mut self, at: usize, value: u64) {
        self.sample[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Sets the arguments of a call.
    #[inline]
    pub fn set_arguments(&mut self, arguments: [u64; 3]) {
        for (place, argument) in self.context.as_chunks_mut::<8>().0.iter_mut().zip(arguments) {
            *place = argument.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let section = |is_writable| Section { content: Box::new([7; 16]), is_writable };
        Memory::new(Box::new([section(false), section(true)]))
    }

    #[test]
    fn only_what_is_there_can_be_read_to_its_last_byte() {
        let memory = memory();
        assert_eq!(memory.load(DATA + 8, 8), Ok(0x0707_0707_0707_0707));
        for (address, size) in [(DATA + 9, 8), (DATA + 16, 1), (0, 1), (DATA + (2 << 32), 1), (u64::MAX, 8)] {
            assert_eq!(memory.load(address, size), Err(BadAccess { address, size, writes: false }));
        }
        assert!(memory.load(SOCKET + socket::SIZE as u64 - 4, 4).is_ok());
        assert!(memory.load(SOCKET + socket::SIZE as u64 - 3, 4).is_err());
    }

    #[test]
    fn only_what_the_kernel_lets_programs_write_can_be_written() {
        let mut memory = memory();
        assert_eq!(memory.store(SOCKET + socket::SND_CWND as u64, 4, 12), Ok(()));
        assert_eq!(memory.field(socket::SND_CWND), 12);
        assert!(memory.store(SOCKET + socket::SRTT_US as u64, 4, 1).is_err());
        // snd_cwnd has four bytes, and not eight.
        assert!(memory.store(SOCKET + socket::SND_CWND as u64, 8, 1).is_err());
        assert!(memory.store(DATA, 1, 1).is_err() && memory.store(CONTEXT, 8, 1).is_err());
        assert_eq!(memory.store(DATA + (1 << 32) + 15, 1, 0x1ff), Ok(()));
        assert_eq!(memory.load(DATA + (1 << 32) + 15, 1), Ok(0xff));
    }
}
