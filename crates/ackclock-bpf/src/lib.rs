//! Congestion control compiled to eBPF (`struct_ops`): read once, and run in the simulator or in the running kernel.

pub mod btf;
mod error;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
pub mod guest;
pub mod insn;
#[cfg(target_os = "linux")]
pub mod kernel;
mod machine;
mod object_file;
mod relocate;
mod rule_text;
mod variable;

pub use error::{BpfError, Result};
pub use machine::{BpfController, BpfFactory, try_out};
pub use object_file::{BpfObject, Data, Form, Operations, Program, Reference, Value, Variable};
pub use relocate::{Place, Step, Target};
pub use rule_text::compile_rule;
