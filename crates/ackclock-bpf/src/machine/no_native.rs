//! In the place of the translation of programs, where there is none for the processor.

use super::call::Environment;
use super::interpreter::{Fault, Op};
use super::memory::Memory;
use crate::error::{Result, wrong};

/// A program as code of the processor, of which there is none.
#[derive(Debug)]
pub enum Native {}

impl Native {
    /// Says that there is no such code.
    pub fn new(_: &[Op], _: usize) -> Result<Self> {
        Err(wrong!("jit: there is no code for this processor, only for x86-64; leave out the key"))
    }

    /// Never called.
    pub fn run(&self, _: &mut Memory, _: &mut Environment) -> std::result::Result<u64, Fault> {
        match *self {}
    }
}
