//! A compiled formula, or a list of assignments.

use std::fmt::Write as _;
use std::ops::Range;

use super::dimension::Dimension;
use super::error::FormulaError;
use super::operation::{Code, Operation};

/// A number that formulas may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The dimension, if it is known.
    pub dimension: Option<Dimension>,
}

/// A place in the text, in bytes.
pub(super) type Span = Range<u32>;

/// A formula or a list of assignments, as operations on the registers of its [`Compiler`](super::Compiler).
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) text: Box<str>,
    pub(super) operations: Box<[Operation]>,
    pub(super) spans: Box<[Span]>,
    pub(super) result: u16,
    /// Bit `i` is set if variable `i` occurs.
    pub(super) uses: u64,
    /// The states that occur, and their registers.
    pub(super) states: Box<[(Box<str>, u16)]>,
}

/// A value that is not finite: how, and with which values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl Program {
    /// True for a list of no assignments.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.text.is_empty()
    }

    /// The variables that occur: bit `i` for variable `i`.
    pub fn uses(&self) -> u64 {
        self.uses
    }

    /// Its operations, in their order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The register of the formula's value. A list of assignments has a register with a constant.
    pub fn result(&self) -> u16 {
        self.result
    }

    /// A mistake at an operation.
    #[cold]
    pub fn mistake_at(&self, operation: usize, message: impl Into<String>) -> FormulaError {
        let Span { start, end } = self.spans[operation].clone();
        FormulaError::new(&self.text, start as usize..end as usize, message)
    }

    /// A mistake at the first place of a name.
    #[cold]
    pub fn mistake_of(&self, name: &str, message: impl Into<String>) -> FormulaError {
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let bytes = self.text.as_bytes();
        let is_whole = |(start, end): &(usize, usize)| {
            let before = start.checked_sub(1).map(|at| bytes[at]);
            !before.is_some_and(is_of_word) && !bytes.get(*end).copied().is_some_and(is_of_word)
        };
        let mut places = self.text.match_indices(name).map(|(at, name)| (at, at + name.len()));
        let (start, end) = places.find(is_whole).unwrap_or((0, self.text.len()));
        FormulaError::new(&self.text, start..end, message)
    }

    /// The value of the formula. It is NaN or infinity if an assignment or the result is not finite.
    #[inline]
    pub fn run(&self, registers: &mut [f64]) -> f64 {
        for operation in &self.operations {
            let [a, b, c] = operation.operands;
            let read = |register: u16| registers[usize::from(register)];
            let value = operation.code.apply(read(a), || read(b), || read(c));
            if operation.code == Code::Set && !value.is_finite() {
                return value;
            }
            registers[usize::from(operation.to)] = value;
        }
        registers[usize::from(self.result)]
    }

    /// Why [`run`](Self::run) gave a value that is not finite, from the registers that it left.
    #[cold]
    pub fn fault(&self, registers: &[f64], variables: &[Variable]) -> Fault {
        let mut message = String::new();
        for (operation, span) in self.operations.iter().zip(&self.spans) {
            let operands = operation.operands.map(|register| registers[usize::from(register)]);
            let value = registers[usize::from(operation.to)];
            let taken = &operands[..operation.code.operands()];
            if !value.is_finite() && taken.iter().all(|operand| operand.is_finite()) && operation.code != Code::Set {
                let text = &self.text[span.start as usize..span.end as usize];
                let character = self.text[..span.start as usize].chars().count() + 1;
                let why = operation.code.why_not_finite(operands[1]);
                let _ = write!(message, "`{text}` (character {character}) {why}");
                break;
            }
        }
        if message.is_empty() {
            let _ = write!(message, "`{}` is not finite", self.text);
        }
        message.push_str(&self.values(registers, variables));
        Fault(message)
    }

    /// The variables and states that occur with their values: `; w = 2, x = 1`.
    #[cold]
    pub fn values(&self, registers: &[f64], variables: &[Variable]) -> String {
        let named = variables.iter().enumerate().filter(|(slot, _)| self.uses >> slot & 1 == 1);
        let named = named.map(|(slot, variable)| (variable.name, registers[slot]));
        let states = self.states.iter().map(|(name, slot)| (&**name, registers[usize::from(*slot)]));
        let values: Vec<String> = named.chain(states).map(|(name, value)| format!("{name} = {value}")).collect();
        if values.is_empty() { String::new() } else { format!("; {}", values.join(", ")) }
    }
}
