//! Programs as code of an x86-64 processor (JIT).
//!
//! The code knows the address of a flow's [`Memory`]. It uses the lower half of an address and checks that it is
//! within those bytes. A program that the kernel's verifier accepts gives the interpreter's results. Any other
//! program can damage only the memory of its own flow.

// Running code that was made here cannot be checked by the compiler.
#![allow(unsafe_code)]

mod translation;

use std::mem::offset_of;

use memmap2::{Mmap, MmapMut};

use super::call::{Call, Environment};
use super::fault::Fault;
use super::interpreter::Op;
use super::memory::{BadAccess, FRAMES, Memory};
use crate::error::{Result, wrong};

/// Instructions that a run may charge: a backward jump charges all that it may repeat, a call its whole function.
///
/// The interpreter counts single instructions. A loop that skips most of its body is charged more than it runs.
const MOST_CHARGED: u64 = 64 * super::fault::MOST as u64;

/// The state that the code shares with functions of the kernel while a program runs.
#[repr(C)]
struct State {
    /// The reason for an early end, as [`Ending`] packs it, or 0 without one.
    ending: u64,
    /// The address of an access that was refused.
    address: u64,
    /// The stack pointer to go back to.
    stack: u64,
    /// Instructions that may still be charged.
    budget: u64,
    /// Functions that may still be called within each other.
    depth: u64,
    memory: *mut Memory,
    environment: *mut Environment,
    /// The fault of a function of the kernel.
    fault: Option<Fault>,
}

/// Why a program ended early, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Access { size: usize, writes: bool },
    Endless,
    Depth,
    Instruction,
    Function,
}

impl Ending {
    fn pack(self) -> i32 {
        match self {
            Ending::Access { size, writes } => 1 | (size as i32) << 8 | i32::from(writes) << 16,
            Ending::Endless => 2,
            Ending::Depth => 3,
            Ending::Instruction => 4,
            Ending::Function => 5,
        }
    }
}

impl State {
    const ENDING: i32 = offset_of!(State, ending) as i32;
    const ADDRESS: i32 = offset_of!(State, address) as i32;
    const STACK: i32 = offset_of!(State, stack) as i32;
    const BUDGET: i32 = offset_of!(State, budget) as i32;
    const DEPTH: i32 = offset_of!(State, depth) as i32;

    #[cold]
    fn fault(self) -> Fault {
        match (self.ending & 0xff, self.fault) {
            (_, Some(fault)) => fault,
            (1, None) => Fault::Memory(BadAccess {
                address: self.address,
                size: (self.ending >> 8 & 0xff) as usize,
                writes: self.ending >> 16 == 1,
            }),
            (2, None) => Fault::Endless,
            (3, None) => Fault::Depth,
            _ => Fault::Instruction,
        }
    }
}

type Entry = unsafe extern "sysv64" fn(bytes: *mut u8, state: *mut State) -> u64;

/// A program as code of the processor.
#[derive(Debug)]
pub struct Native {
    code: Mmap,
    /// Bytes of the memory that it was made for.
    size: usize,
}

impl Native {
    /// Translates a program that runs with `size` bytes of memory.
    ///
    /// # Errors
    /// An instruction that there is not, a jump to none, and a system that lets no process make code.
    pub fn new(ops: &[Op], size: usize) -> Result<Self> {
        let code = translation::translate(ops, size)?;
        let denied = |error: std::io::Error| wrong!("jit: this system lets no process make code of its own: {error}");
        let mut map = MmapMut::map_anon(code.len()).map_err(denied)?;
        map.copy_from_slice(&code);
        Ok(Native { code: map.make_exec().map_err(denied)?, size })
    }

    /// Runs the program with the arguments in `memory`, and returns its result.
    ///
    /// # Errors
    /// The fault that ended it.
    #[inline]
    pub fn run(&self, memory: &mut Memory, environment: &mut Environment) -> std::result::Result<u64, Fault> {
        let bytes = memory.all();
        assert!(bytes.len() == self.size, "invariant: code runs with the memory of its object");
        let bytes = bytes.as_mut_ptr();
        let mut state = State {
            ending: 0,
            address: 0,
            stack: 0,
            budget: MOST_CHARGED,
            depth: FRAMES as u64 - 1,
            memory,
            environment,
            fault: None,
        };
        // SAFETY: the executable map begins with the prologue of an `Entry`, which keeps the required registers.
        let result = unsafe {
            let entry: Entry = std::mem::transmute(self.code.as_ptr());
            entry(bytes, &raw mut state)
        };
        if state.ending == 0 { Ok(result) } else { Err(state.fault()) }
    }
}

/// Runs a function of the kernel for a program.
///
/// # Safety
/// `state` comes from [`Native::run`], which waits for the program.
unsafe extern "sysv64" fn call_function(state: *mut State, number: u64, arguments: *const [u64; 5]) -> u64 {
    // SAFETY: nothing else uses these while the program waits for the function.
    let (state, arguments) = unsafe { (&mut *state, *arguments) };
    // SAFETY: see above. The code does not use the memory meanwhile.
    let (memory, environment) = unsafe { (&mut *state.memory, &mut *state.environment) };
    match Call::Kernel(number as u8).run(arguments, memory, environment) {
        Ok(value) => value,
        Err(fault) => {
            (state.fault, state.ending) = (Some(fault), Ending::Function.pack() as u64);
            0
        }
    }
}

#[cfg(test)]
mod tests;
