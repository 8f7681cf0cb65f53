//! Translates the operations of formulas to operations of the program, which has fewer registers and operations.

use std::collections::BTreeMap;

use ackclock::cc::{CompiledRule, RULE_VARIABLES, RuleSource};
use ackclock::formula::{Code, FormulaError, Operation, Program};

use super::table::{
    ALWAYS, CONSTANTS, Does, EVENTS, Event, OPERATIONS, Place, REGISTERS, STATES, STATES_FROM, Step, Table, VARIABLES,
};
use crate::error::{BpfError, Result, wrong};

/// The largest power, which is a product.
const LARGEST_POWER: f64 = 16.0;
const OPERATIONS_THERE: &str =
    "+ - * /, whole powers up to 16, sqrt, min, max, abs, floor, if, comparisons, and, or, not";
const TEXTS_THERE: [&str; 9] =
    ["grow", "cut", "state", "on_ack", "on_grow", "on_cut", "on_restart", "on_floor", "on_timeout"];
/// Counted by the program's own operations, in a state.
const CUTS: &str = "cuts";
const W: Place = 0;
const ACKED: Place = 1;

/// Translates a rule.
///
/// # Errors
/// An unsupported feature, with its place in the text.
pub fn translated(source: &RuleSource, rule: &CompiledRule) -> Result<Table> {
    let texts = source.texts();
    if let Some((key, _)) = texts.iter().find(|(key, text)| !text.trim().is_empty() && !TEXTS_THERE.contains(key)) {
        return Err(wrong!("{key}: the program in the kernel has no such text; it has {}", TEXTS_THERE.join(", ")));
    }
    let mut translation = Translation::new(rule)?;
    for event in EVENTS {
        translation.event(event)?;
    }
    Ok(translation.table)
}

/// Why a variable is not known when an event happens, if it is not.
fn is_unknown(event: Event, variable: &str) -> bool {
    match variable {
        "acked" => !matches!(event, Event::OnAck | Event::Grow),
        "since_cut" => matches!(event, Event::OnFloor | Event::OnTimeout),
        "w" | "ssthresh" => event == Event::OnTimeout,
        _ => false,
    }
}

struct Translation<'a> {
    rule: &'a CompiledRule,
    table: Table,
    /// The state that counts cuts, if they occur.
    cuts: Option<Place>,
    /// Registers for results, those to take first last.
    free: Vec<Place>,
    /// Results of operations that are still needed.
    results: BTreeMap<u16, Place>,
}

impl<'a> Translation<'a> {
    fn new(rule: &'a CompiledRule) -> Result<Self> {
        let mut table = Table::default();
        let uses = |name: &str| occurs(name, rule.uses);
        for (bit, _) in VARIABLES.iter().enumerate().filter(|(_, name)| uses(name)) {
            table.uses |= 1 << bit;
        }
        let first = RULE_VARIABLES.len();
        table.initial = rule.registers[first..first + rule.states.len()].to_vec();
        let cuts = uses(CUTS).then(|| {
            table.initial.push(0.0);
            STATES_FROM + table.initial.len() as u8 - 1
        });
        if table.initial.len() > STATES {
            let needed = table.initial.len();
            return Err(wrong!(
                "state: it needs {needed} states, with one for `cuts`; the kernel has room for {STATES}"
            ));
        }
        let states = STATES_FROM..STATES_FROM + table.initial.len() as u8;
        let is_taken = |register: &Place| {
            *register < ALWAYS
                || states.contains(register)
                || *register < STATES_FROM && table.uses >> register & 1 == 1
        };
        let free = (0..REGISTERS).rev().filter(|register| !is_taken(register)).collect();
        Ok(Translation { rule, table, cuts, free, results: BTreeMap::new() })
    }

    /// Translates all texts of an event. The last operation returns the window.
    fn event(&mut self, event: Event) -> Result<()> {
        let rule = self.rule;
        let first = self.table.steps.len();
        match event {
            Event::OnAck => self.list(event, "on_ack", &rule.on_ack)?,
            Event::OnRestart => self.list(event, "on_restart", &rule.on_restart)?,
            Event::Grow => {
                self.list(event, "on_grow", &rule.on_grow)?;
                self.formula(event, "grow", &rule.grow, Self::add_to_the_window)?;
            }
            Event::Cut => {
                self.list(event, "on_cut", &rule.on_cut)?;
                self.formula(event, "cut", &rule.cut, Self::leave)?;
            }
            Event::OnFloor => self.list(event, "on_floor", &rule.on_floor)?,
            Event::OnTimeout => self.list(event, "on_timeout", &rule.on_timeout)?,
        }
        self.table.events[event as usize] = (first as u16, (self.table.steps.len() - first) as u16);
        Ok(())
    }

    fn list(&mut self, event: Event, key: &str, list: &Program) -> Result<()> {
        self.formula(event, key, list, |_, _| Some(()))
    }

    /// Translates a formula or a list of assignments, and the use of its value.
    fn formula(
        &mut self,
        event: Event,
        key: &str,
        program: &Program,
        then: impl FnOnce(&mut Self, Place) -> Option<()>,
    ) -> Result<()> {
        let refused = |error: FormulaError| BpfError(format!("{key}: {}", error.in_one_line()));
        check_variables(event, program).map_err(refused)?;
        for (index, operation) in program.operations().iter().enumerate() {
            self.operation(program, index, operation).map_err(refused)?;
        }
        let too_long = || wrong!("{key}: it makes more than {OPERATIONS} operations or {CONSTANTS} constants");
        let result = self.place(program.result()).ok_or_else(too_long)?;
        then(self, result).ok_or_else(too_long)?;
        self.free.extend(std::mem::take(&mut self.results).into_values());
        Ok(())
    }

    /// Adds the value of a formula to the window.
    fn add_to_the_window(&mut self, increase: Place) -> Option<()> {
        let to = self.free.last().copied()?;
        let mut added = increase;
        if !self.rule.grows_by_ack {
            self.step(Does::Formula(Code::Multiply), to, [ACKED, increase, W])?;
            added = to;
        }
        self.step(Does::Formula(Code::Add), to, [W, added, W])
    }

    /// Sets the window to the value of a formula, after counting the cut.
    fn leave(&mut self, left: Place) -> Option<()> {
        if let Some(cuts) = self.cuts {
            let (to, one) = (self.free.last().copied()?, self.table.constant(1.0)?);
            // The value of the formula may be that state.
            self.step(Does::Give, to, [left, W, W])?;
            self.step(Does::Formula(Code::Add), cuts, [cuts, one, W])?;
            return self.step(Does::Give, to, [to, W, W]);
        }
        let to = self.free.last().copied()?;
        self.step(Does::Give, to, [left, W, W])
    }

    fn step(&mut self, does: Does, to: Place, operands: [Place; 3]) -> Option<()> {
        let step = Step { number: does.number()?, to, operands };
        self.table.steps.push(step);
        (self.table.steps.len() <= OPERATIONS).then_some(())
    }

    /// Where the value of a register of the rule is.
    fn place(&mut self, register: u16) -> Option<Place> {
        let (index, states) = (usize::from(register), RULE_VARIABLES.len());
        if let Some(place) = self.results.get(&register) {
            return Some(*place);
        }
        if let Some(variable) = RULE_VARIABLES.get(index) {
            let place = VARIABLES.iter().position(|name| *name == variable.name);
            return place.map(|place| place as u8).or(self.cuts);
        }
        if index < states + self.rule.states.len() {
            return Some(STATES_FROM + (index - states) as u8);
        }
        self.table.constant(self.rule.registers[index])
    }

    fn operation(
        &mut self,
        program: &Program,
        index: usize,
        operation: &Operation,
    ) -> std::result::Result<(), FormulaError> {
        let no_room =
            |what: &str| program.mistake_at(index, format!("the program in the kernel has no room for {what}"));
        let too_many = || no_room("more operations or constants");
        let mut places = [W; 3];
        let taken = &operation.operands[..operation.code.operands()];
        for (place, register) in places.iter_mut().zip(taken) {
            *place = self.place(*register).ok_or_else(too_many)?;
        }
        if operation.code == Code::Set {
            let to = self.place(operation.to).ok_or_else(too_many)?;
            self.step(Does::Formula(Code::Set), to, places).ok_or_else(too_many)?;
            return Ok(());
        }
        // Not one of the operands', which a power needs more than once.
        let to = self.free.pop().ok_or_else(|| no_room("as many intermediate results"))?;
        let done = match self.power(program, index, operation)? {
            Some(power) => self.multiply(places[0], power, to),
            None => self.step(Does::Formula(operation.code), to, places),
        };
        done.ok_or_else(too_many)?;
        let rest = &program.operations()[index + 1..];
        let is_over = |register: &u16| {
            *register != program.result() && !rest.iter().any(|later| later.operands.contains(register))
        };
        let over: Vec<u16> = self.results.keys().copied().filter(is_over).collect();
        self.free.extend(over.iter().filter_map(|register| self.results.remove(register)));
        self.results.insert(operation.to, to);
        Ok(())
    }

    /// The exponent of a power that becomes a product. Other powers are rejected.
    fn power(
        &self,
        program: &Program,
        index: usize,
        operation: &Operation,
    ) -> std::result::Result<Option<i32>, FormulaError> {
        let name = match operation.code {
            Code::Exp => "exp",
            Code::Log => "log",
            Code::Cbrt => "cbrt",
            Code::Power => {
                let exponent = operation.operands[1];
                let is_constant = usize::from(exponent) >= RULE_VARIABLES.len() + self.rule.states.len()
                    && !self.results.contains_key(&exponent);
                let exponent = self.rule.registers[usize::from(exponent)];
                if is_constant && exponent.fract() == 0.0 && exponent.abs() <= LARGEST_POWER {
                    return Ok(Some(exponent as i32));
                }
                "such power"
            }
            _ => return Ok(None),
        };
        let message = format!("the program in the kernel has no {name}; it has {OPERATIONS_THERE}");
        Err(program.mistake_at(index, message))
    }

    /// A whole power as a product: squares, times the base where the exponent has a digit.
    fn multiply(&mut self, base: Place, exponent: i32, to: Place) -> Option<()> {
        let one = self.table.constant(1.0)?;
        let digits = exponent.unsigned_abs();
        if digits == 0 {
            return self.step(Does::Give, to, [one, W, W]);
        }
        let mut power = base;
        for digit in (0..digits.ilog2()).rev() {
            self.step(Does::Formula(Code::Multiply), to, [power, power, W])?;
            power = to;
            if digits >> digit & 1 == 1 {
                self.step(Does::Formula(Code::Multiply), to, [to, base, W])?;
            }
        }
        if exponent < 0 {
            self.step(Does::Formula(Code::Divide), to, [one, power, W])
        } else {
            self.step(Does::Give, to, [power, W, W])
        }
    }
}

/// True if a variable is among those that occur, by their bits.
fn occurs(name: &str, uses: u64) -> bool {
    RULE_VARIABLES.iter().position(|variable| variable.name == name).is_some_and(|bit| uses >> bit & 1 == 1)
}

/// The program has to know all variables of a text when it runs.
fn check_variables(event: Event, program: &Program) -> std::result::Result<(), FormulaError> {
    for variable in RULE_VARIABLES.iter().filter(|variable| occurs(variable.name, program.uses())) {
        let name = variable.name;
        if name != CUTS && !VARIABLES.contains(&name) {
            let known = VARIABLES.join(", ");
            let message = format!("the program in the kernel has no `{name}`; it has {known} and {CUTS}");
            return Err(program.mistake_of(name, message));
        }
        if is_unknown(event, name) {
            let message = format!("the program in the kernel does not know `{name}` at this time; keep it in a state");
            return Err(program.mistake_of(name, message));
        }
    }
    Ok(())
}
