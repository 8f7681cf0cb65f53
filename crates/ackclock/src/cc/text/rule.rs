//! A rule given as text, as a window rule.

use std::sync::Arc;

use super::compiled::{ACKED, CE, CUTS, Compiled, ROUND, VARIABLES, W};
use crate::formula::{Fault, Program};
use crate::rule::{Marks, Rule};

/// A rule given as text, with its states.
#[derive(Clone, Debug)]
pub struct TextRule {
    pub(super) compiled: Arc<Compiled>,
    /// Variables, states, constants and results.
    pub(super) registers: Box<[f64]>,
    /// The first value that was not finite, or the first window below zero.
    pub(super) fault: Option<Box<str>>,
}

impl TextRule {
    pub(super) fn new(compiled: Arc<Compiled>) -> Self {
        let registers = compiled.registers.clone();
        TextRule { compiled, registers, fault: None }
    }

    /// Runs assignments, or notes why they fail.
    #[inline]
    pub(super) fn assign(&mut self, key: &str, list: impl FnOnce(&Compiled) -> &Program) {
        let list = list(&self.compiled);
        if !list.is_empty() && !list.run(&mut self.registers).is_finite() {
            self.fault.get_or_insert_with(|| explain(key, list, &self.registers));
        }
    }

    /// The value of a formula, NaN after a fault.
    #[inline]
    pub(super) fn value(&mut self, key: &str, formula: impl FnOnce(&Compiled) -> Option<&Program>) -> Option<f64> {
        let formula = formula(&self.compiled)?;
        let value = formula.run(&mut self.registers);
        if !value.is_finite() {
            self.fault.get_or_insert_with(|| explain(key, formula, &self.registers));
        }
        Some(value)
    }

    /// A formula gives a window or a rate that cannot be.
    #[cold]
    fn refuse(&mut self, key: &str, what: &str, value: f64, formula: impl FnOnce(&Compiled) -> &Program) {
        let values = formula(&self.compiled).values(&self.registers, VARIABLES);
        self.fault.get_or_insert_with(|| format!("`{key}` gives a {what} of {value}{values}").into());
    }

    /// The window, or NaN after a fault. A window below zero becomes one.
    #[inline]
    fn window(&mut self, key: &str, window: f64, formula: impl FnOnce(&Compiled) -> &Program) -> f64 {
        if window < 0.0 || window == f64::INFINITY {
            self.refuse(key, "window", window, formula);
        }
        if self.fault.is_some() { f64::NAN } else { window }
    }

    /// The rate at which to send, in bit/s, for a rule that paces.
    pub(super) fn pacing(&mut self, w: f64) -> Option<f64> {
        self.registers[W] = w;
        let rate = self.value("pacing", |rule| rule.pacing.as_ref())?;
        if rate < 1.0 {
            self.refuse("pacing", "rate", rate, |rule| rule.pacing.as_ref().unwrap_or(&rule.grow));
        }
        Some(rate)
    }
}

#[cold]
fn explain(key: &str, program: &Program, registers: &[f64]) -> Box<str> {
    let Fault(what) = program.fault(registers, VARIABLES);
    format!("in `{key}`, {what}").into()
}

impl Rule for TextRule {
    fn restart(&mut self, w: f64) {
        self.registers[W] = w;
        self.assign("on_restart", |rule| &rule.on_restart);
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        (self.registers[W], self.registers[ACKED]) = (w, acked);
        self.assign("on_grow", |rule| &rule.on_grow);
        let increase = self.value("grow", |rule| Some(&rule.grow)).unwrap_or_default();
        let window = if self.compiled.grows_by_ack { w + increase } else { w + acked * increase };
        self.window("grow", window, |rule| &rule.grow)
    }

    fn cut(&mut self, w: f64) -> f64 {
        self.registers[W] = w;
        self.assign("on_cut", |rule| &rule.on_cut);
        let left = self.value("cut", |rule| Some(&rule.cut)).unwrap_or_default();
        let window = self.window("cut", left, |rule| &rule.cut);
        self.registers[CUTS] += 1.0;
        window
    }

    fn floored(&mut self, w: f64) {
        self.registers[W] = w;
        self.assign("on_floor", |rule| &rule.on_floor);
    }

    fn cut_may_raise(&self) -> bool {
        true
    }

    fn accelerates(&self) -> bool {
        !self.compiled.on_grow.is_empty() || self.compiled.grows_by_ack
    }

    fn marks(&self) -> Marks {
        if self.compiled.on_mark.is_some() { Marks::Observed } else { Marks::Cut }
    }

    #[inline]
    fn on_ack(&mut self, marked: bool, round_ended: bool) {
        self.registers[CE] = f64::from(marked);
        self.registers[ROUND] = f64::from(round_ended);
        self.assign("on_ack", |rule| &rule.on_ack);
    }

    fn on_mark(&mut self) {
        self.assign("on_mark", |rule| rule.on_mark.as_ref().unwrap_or(&rule.on_ack));
    }

    fn on_timeout(&mut self) {
        self.assign("on_timeout", |rule| &rule.on_timeout);
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        self.compiled.states.iter().for_each(|(name, slot)| report(name, self.registers[*slot]));
    }
}
