//! The table of operations as `struct rule` of `bpf/rule.bpf.c` has it.

use ackclock::formula::Code;

/// The number of registers: variables first, then states, then results.
pub const REGISTERS: u8 = 32;
/// The variables by their registers, as in `enum variable`. `w` and `acked` are always set.
pub const VARIABLES: [&str; 11] =
    ["w", "acked", "ssthresh", "srtt", "rtt", "min_rtt", "queue_delay", "in_flight", "mss", "time", "since_cut"];
/// Registers of variables that are always there.
pub const ALWAYS: u8 = 2;
/// The first register of states, after the registers of variables.
pub const STATES_FROM: u8 = VARIABLES.len() as u8;
/// States that the kernel has room for.
pub const STATES: usize = 9;
/// Constants that there is room for.
pub const CONSTANTS: usize = 64;
/// Operations that there is room for.
pub const OPERATIONS: usize = 512;

/// When operations run (`enum event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    OnAck,
    OnRestart,
    Grow,
    Cut,
    OnFloor,
    OnTimeout,
}

/// The events.
pub const EVENTS: [Event; 6] =
    [Event::OnAck, Event::OnRestart, Event::Grow, Event::Cut, Event::OnFloor, Event::OnTimeout];

/// Where a number is: a register, or behind them a constant.
pub type Place = u8;

/// The operation of the program (`enum code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// An operation of formulas.
    Formula(Code),
    /// Gives its operand.
    Give,
}

impl Does {
    /// The number that the program has for it, if it can do it.
    pub fn number(self) -> Option<u8> {
        let Does::Formula(code) = self else { return Some(19) };
        Some(match code {
            Code::Add => 0,
            Code::Subtract => 1,
            Code::Multiply => 2,
            Code::Divide => 3,
            Code::Less => 4,
            Code::LessOrEqual => 5,
            Code::Equal => 6,
            Code::NotEqual => 7,
            Code::And => 8,
            Code::Or => 9,
            Code::Not => 10,
            Code::Min => 11,
            Code::Max => 12,
            Code::If => 13,
            Code::Sqrt => 14,
            Code::Abs => 15,
            Code::Floor => 16,
            Code::Negate => 17,
            Code::Set => 18,
            Code::Power | Code::Exp | Code::Log | Code::Cbrt => return None,
        })
    }
}

/// An operation: its number, where its result goes, and where its operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub number: u8,
    pub to: Place,
    pub operands: [Place; 3],
}

/// A rule as the program has it.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The first operation of each event, and how many there are.
    pub events: [(u16, u16); EVENTS.len()],
    /// The variables that occur, by their bits.
    pub uses: u32,
    /// The states at the start of a connection.
    pub initial: Vec<f64>,
    pub constants: Vec<f64>,
    pub steps: Vec<Step>,
}

/// The bits of a number. The program has neither a negative zero nor numbers below 2^-1022.
fn bits(number: f64) -> u64 {
    if number.is_normal() { number.to_bits() } else { 0 }
}

impl Table {
    /// The place of a constant, if there is room for it.
    pub fn constant(&mut self, number: f64) -> Option<Place> {
        let at = self.constants.iter().position(|other| bits(*other) == bits(number)).unwrap_or(self.constants.len());
        if at == CONSTANTS {
            return None;
        }
        if at == self.constants.len() {
            self.constants.push(number);
        }
        Some(REGISTERS + at as u8)
    }

    /// The bytes of `struct rule`.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        for (first, count) in self.events {
            bytes.extend(first.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes.extend(self.uses.to_le_bytes());
        bytes.extend((self.initial.len() as u32).to_le_bytes());
        for (numbers, room) in [(&self.initial, STATES), (&self.constants, CONSTANTS)] {
            let all = numbers.iter().copied().chain(std::iter::repeat(0.0)).take(room);
            bytes.extend(all.flat_map(|number| bits(number).to_le_bytes()));
        }
        let end = bytes.len() + 8 * OPERATIONS;
        for Step { number, to, operands: [a, b, c] } in &self.steps {
            bytes.extend([*number, *to, *a, *b, *c, 0, 0, 0]);
        }
        bytes.resize(end, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_has_one_place() {
        let mut table = Table::default();
        assert_eq!((table.constant(1.5), table.constant(0.0), table.constant(1.5)), (Some(32), Some(33), Some(32)));
        // Without a sign, and without what is too small.
        assert_eq!((table.constant(-0.0), table.constant(1e-310)), (Some(33), Some(33)));
        let places: Vec<_> = (0..CONSTANTS).map(|number| table.constant(number as f64 + 2.0)).collect();
        assert_eq!(places[CONSTANTS - 3..], [Some(95), None, None]);
    }

    #[test]
    fn the_table_has_the_bytes_of_the_struct() {
        let step = Step { number: 3, to: 31, operands: [0, 32, 1] };
        let table = Table { uses: 5, initial: vec![2.0], constants: vec![1.0], steps: vec![step], ..Table::default() };
        let bytes = table.bytes();
        assert_eq!(bytes.len(), 24 + 8 + 8 * STATES + 8 * CONSTANTS + 8 * OPERATIONS);
        assert_eq!(bytes[24..32], [5, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(bytes[32..40], 2_f64.to_bits().to_le_bytes());
        assert_eq!(bytes[32 + 8 * STATES..][..8], 1_f64.to_bits().to_le_bytes());
        assert_eq!(bytes[32 + 8 * (STATES + CONSTANTS)..][..8], [3, 31, 0, 32, 1, 0, 0, 0]);
    }
}
