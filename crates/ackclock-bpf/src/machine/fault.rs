//! Why a program ends early.

use super::memory::{BadAccess, FRAMES};

/// Instructions that a call may take: as many as the kernel's verifier follows.
pub const MOST: u32 = 1_000_000;

/// Why a program ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside of the program's memory.
    Memory(BadAccess),
    /// Too many instructions.
    Endless,
    /// Functions called within each other.
    Depth,
    /// An instruction that there is not, or a jump to none.
    Instruction,
    /// A failed function of the kernel.
    Call(&'static str),
}

impl From<BadAccess> for Fault {
    fn from(access: BadAccess) -> Self {
        Fault::Memory(access)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Memory(BadAccess { address, size, writes }) => {
                let what = if *writes { "writes" } else { "reads" };
                write!(f, "{what} {size} bytes at {address:#x}, which it may not")
            }
            Fault::Endless => write!(f, "takes more than {MOST} instructions"),
            Fault::Depth => write!(f, "calls more than {FRAMES} functions within each other"),
            Fault::Instruction => write!(f, "has an instruction that is none of eBPF's"),
            Fault::Call(what) => f.write_str(what),
        }
    }
}
