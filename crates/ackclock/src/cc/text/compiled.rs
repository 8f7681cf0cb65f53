//! The formulas of a rule, compiled together.

use super::super::CcMistake;
use super::source::{EXIT_SLOW_START, RuleSource};
use crate::formula::{Compiler, Dimension, FormulaError, MAX_LEN, Program, Variable, is_reserved};

/// Parameters that are allowed.
const MAX_PARAMETERS: usize = 64;

/// Declares the variables of every rule with their registers.
macro_rules! variables {
    ($($slot:ident = $number:literal, $name:literal, $dimension:expr;)*) => {
        $(pub const $slot: usize = $number;)*
        /// The variables of every rule.
        pub const VARIABLES: &[Variable] = &[$(Variable { name: $name, dimension: $dimension }),*];
    };
}

variables! {
    W = 0, "w", Some(Dimension::SEGMENTS);
    ACKED = 1, "acked", Some(Dimension::SEGMENTS);
    CE = 2, "ce", None;
    CUTS = 3, "cuts", None;
    RTT = 4, "rtt", Some(Dimension::SECONDS);
    SRTT = 5, "srtt", Some(Dimension::SECONDS);
    MIN_RTT = 6, "min_rtt", Some(Dimension::SECONDS);
    QUEUE_DELAY = 7, "queue_delay", Some(Dimension::SECONDS);
    TIME = 8, "time", Some(Dimension::SECONDS);
    SINCE_CUT = 9, "since_cut", Some(Dimension::SECONDS);
    SSTHRESH = 10, "ssthresh", Some(Dimension::SEGMENTS);
    LOST = 11, "lost", Some(Dimension::SEGMENTS);
    IN_FLIGHT = 12, "in_flight", Some(Dimension::SEGMENTS);
    DELIVERY_RATE = 13, "delivery_rate", Some(Dimension::RATE);
    MSS = 14, "mss", Some(Dimension::SEGMENT_SIZE);
    LIMITED = 15, "limited", None;
    ROUND = 16, "round", None;
}

/// Variables that the synchronous model also offers. The others need a clock or a path.
const OF_THE_MODEL: u64 = 1 << W | 1 << ACKED | 1 << CE | 1 << CUTS | 1 << ROUND;

/// Names of formulas.
const ELSEWHERE: &[(&str, &str)] = &[
    ("grow", "is a formula; formulas do not use each other"),
    ("cut", "is a formula; formulas do not use each other"),
    ("pacing", "is a formula; formulas do not use each other"),
    (EXIT_SLOW_START, "is a formula; formulas do not use each other"),
    ("cwnd", "is called `w`"),
    ("now", "is called `time`, and counts from the first event"),
];

/// A rule, ready to run, compiled from the texts of [`RuleSource`].
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Compiled {
    pub grow: Program,
    /// `grow` is the increase of a whole ACK, and not of each segment.
    pub grows_by_ack: bool,
    pub cut: Program,
    pub pacing: Option<Program>,
    pub exit_slow_start: Option<Program>,
    pub on_ack: Program,
    pub on_grow: Program,
    pub on_cut: Program,
    pub on_restart: Program,
    pub on_floor: Program,
    pub on_timeout: Program,
    pub on_mark: Option<Program>,
    pub on_send: Program,
    pub on_resume: Program,
    pub on_undo: Option<Program>,
    /// Variables that occur anywhere.
    pub uses: u64,
    /// The states' names in samples, and the register of each.
    pub states: Box<[(String, usize)]>,
    /// Registers at the start of a connection: of variables, states, constants, and results of operations.
    pub registers: Box<[f64]>,
}

impl Compiled {
    /// Compiles a rule.
    ///
    /// # Errors
    /// The first mistake, with the key of the text that has it.
    pub fn new(source: &RuleSource) -> Result<Self, CcMistake> {
        if !source.file.is_empty() {
            let message = "a file cannot be read here; the Python package can".to_owned();
            return Err(CcMistake::Foreign { key: "file".to_owned(), message });
        }
        check_names(source)?;
        let mut compiler = Compiler::new(VARIABLES, &source.parameters, ELSEWHERE);
        let at = |key: &str| {
            let key = key.to_owned();
            move |error| CcMistake::Formula { key, error }
        };
        compiler.states(&source.state).map_err(at("state"))?;
        let mut formula = |key, text: &str, gives| compiler.formula(text, gives).map_err(at(key));
        let grow = formula("grow", &source.grow, Dimension::SEGMENTS)?;
        let cut = formula("cut", &source.cut, Dimension::SEGMENTS)?;
        let has_pacing = !source.pacing.trim().is_empty();
        let pacing = has_pacing.then(|| formula("pacing", &source.pacing, Dimension::RATE)).transpose()?;
        let may_exit = !source.exit_slow_start.trim().is_empty();
        let exit =
            may_exit.then(|| formula(EXIT_SLOW_START, &source.exit_slow_start, Dimension::NUMBER)).transpose()?;
        let mut list = |key, text: &str| compiler.assignments(text).map_err(at(key));
        let mut compiled = Compiled {
            grows_by_ack: grow.uses() >> ACKED & 1 == 1,
            grow,
            cut,
            pacing,
            exit_slow_start: exit,
            on_ack: list("on_ack", &source.on_ack)?,
            on_grow: list("on_grow", &source.on_grow)?,
            on_cut: list("on_cut", &source.on_cut)?,
            on_restart: list("on_restart", &source.on_restart)?,
            on_floor: list("on_floor", &source.on_floor)?,
            on_timeout: list("on_timeout", &source.on_timeout)?,
            on_mark: Some(list("on_mark", &source.on_mark)?).filter(|list| !list.is_empty()),
            on_send: list("on_send", &source.on_send)?,
            on_resume: list("on_resume", &source.on_resume)?,
            on_undo: Some(list("on_undo", &source.on_undo)?).filter(|list| !list.is_empty()),
            uses: 0,
            states: compiler.state_registers().map(|(name, slot)| (format!("cc.{name}"), slot)).collect(),
            registers: Box::default(),
        };
        compiled.uses = compiled.programs().iter().fold(0, |uses, program| uses | program.uses());
        compiled.registers = compiler.place(&mut compiled.programs());
        Ok(compiled)
    }

    fn programs(&mut self) -> Vec<&mut Program> {
        let Compiled {
            grow, cut, on_ack, on_grow, on_cut, on_restart, on_floor, on_timeout, on_send, on_resume, ..
        } = self;
        let always = [grow, cut, on_ack, on_grow, on_cut, on_restart, on_floor, on_timeout, on_send, on_resume];
        let optional = [&mut self.pacing, &mut self.exit_slow_start, &mut self.on_mark, &mut self.on_undo];
        always.into_iter().chain(optional.into_iter().flatten()).collect()
    }

    /// True if the rule needs nothing that the synchronous model does not have.
    pub fn is_for_the_model(&self) -> bool {
        self.uses & !OF_THE_MODEL == 0 && self.pacing.is_none() && self.on_send.is_empty()
    }

    /// True if a variable with one of these bits occurs.
    #[inline]
    pub fn uses_any(&self, slots: u64) -> bool {
        self.uses & slots != 0
    }
}

/// Parameters have names that formulas can use, and that mean nothing else.
fn check_names(source: &RuleSource) -> Result<(), CcMistake> {
    let wrong = |name: &str, message: String| {
        let shown: String = if name.is_empty() { "\"\"".to_owned() } else { name.chars().take(MAX_LEN).collect() };
        let error = FormulaError::new(&shown, 0..shown.len(), message);
        CcMistake::Formula { key: shown, error }
    };
    if let Some(name) = source.parameters.keys().nth(MAX_PARAMETERS) {
        return Err(wrong(name, format!("more than {MAX_PARAMETERS} parameters are too many")));
    }
    for (name, value) in &source.parameters {
        let mut letters = name.bytes();
        let begins = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let is_name = begins && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && name.len() <= 64;
        if !is_name {
            let message = "a parameter has a name of up to 64 letters, digits and `_`, and begins with no digit";
            return Err(wrong(name, message.to_owned()));
        }
        let is_variable = VARIABLES.iter().any(|variable| variable.name == name);
        if is_variable || is_reserved(name) || source.texts().iter().any(|(key, _)| key == name) {
            let what = if is_variable { "a variable of every rule" } else { "a word of rules" };
            return Err(wrong(name, format!("`{name}` is {what}; give the parameter another name")));
        }
        if !value.is_finite() {
            return Err(wrong(name, format!("the parameter `{name}` is {value}, and must be finite")));
        }
    }
    Ok(())
}
