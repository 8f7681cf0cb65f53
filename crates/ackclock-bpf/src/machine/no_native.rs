//! Replaces the translation of programs on other processors.

use super::call::Environment;
use super::fault::Fault;
use super::interpreter::Op;
use super::memory::Memory;
use crate::error::{Result, wrong};

/// A program as machine code, which does not exist on this processor.
#[derive(Debug)]
pub enum Native {}

impl Native {
    /// Says that there is no such code.
    pub fn new(_: &[Op], _: usize) -> Result<Self> {
        Err(wrong!("jit: supports x86-64 processors only; leave out the key"))
    }

    /// Never called.
    pub fn run(&self, _: &mut Memory, _: &mut Environment) -> std::result::Result<u64, Fault> {
        match *self {}
    }
}
