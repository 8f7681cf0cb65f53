//! From text to operations, in one pass.

use std::collections::BTreeMap;
use std::ops::Range;

use super::dimension::Dimension;
use super::error::FormulaError;
use super::operation::{Code, FUNCTIONS, Operation};
use super::program::{Program, Variable};
use super::token::{Token, Tokens};
use crate::quantity::Hint;

/// Bytes of a text that are allowed.
pub const MAX_LEN: usize = 2_000;
/// Formulas within formulas that are allowed.
const MAX_DEPTH: u32 = 64;
/// Operations of a text that are allowed.
const MAX_OPERATIONS: usize = 512;
/// States that are allowed, and parameters.
const MAX_NAMES: usize = 64;

/// The first register of constants and results during compilation. [`Compiler::place`] assigns the final ones.
const CONSTANTS: u16 = 0x4000;
const RESULTS: u16 = 0x8000;

const WORDS: [&str; 3] = ["and", "or", "not"];

/// True for the name of a function or an operator.
pub fn is_reserved(name: &str) -> bool {
    WORDS.contains(&name) || FUNCTIONS.iter().any(|(function, ..)| *function == name)
}

/// Compiles texts that share variables, parameters and states.
///
/// Its registers are, in this order, the variables, the states, constants, and the results of operations, which texts share.
#[derive(Clone, Debug)]
pub struct Compiler<'names> {
    variables: &'names [Variable],
    parameters: &'names BTreeMap<String, f64>,
    /// Names that mean something elsewhere, and why they mean nothing in a formula.
    elsewhere: &'names [(&'names str, &'names str)],
    states: Vec<(String, f64)>,
    constants: Vec<f64>,
    most_results: usize,
}

/// A value that occurs in a formula.
#[derive(Clone, Debug)]
struct Operand {
    /// Where the value is, unless it is a constant.
    register: u16,
    span: Range<usize>,
    dimension: Option<Dimension>,
    constant: Option<f64>,
}

impl<'names> Compiler<'names> {
    /// A compiler with at most 64 variables, and the values of parameters.
    pub fn new(
        variables: &'names [Variable],
        parameters: &'names BTreeMap<String, f64>,
        elsewhere: &'names [(&'names str, &'names str)],
    ) -> Self {
        debug_assert!(variables.len() <= 64, "invariant: variables fit into the bits of Program::uses");
        let states = Vec::new();
        Compiler { variables, parameters, elsewhere, states, constants: Vec::new(), most_results: 0 }
    }

    /// Declares states: `x = 0; y = 2 * a`, where values are constants.
    ///
    /// # Errors
    /// The first mistake.
    pub fn states(&mut self, text: &str) -> Result<(), FormulaError> {
        let mut parser = Parser::new(self, text)?;
        while parser.tokens.token() != Token::End {
            let (name, span) = parser.name_before_equals()?;
            parser.check_new(name, &span)?;
            let value = parser.formula(0)?;
            let Some(value) = value.constant else {
                let message = "an initial value is made of numbers and parameters alone";
                return Err(FormulaError::new(text, value.span, message));
            };
            parser.compiler.states.push((name.to_owned(), value));
            if parser.compiler.states.len() > MAX_NAMES {
                return Err(FormulaError::new(text, span, format!("more than {MAX_NAMES} states are too many")));
            }
            parser.end_of_statement()?;
        }
        Ok(())
    }

    /// Compiles assignments to states: `x = x + 1; y = max(x, y)`.
    ///
    /// # Errors
    /// The first mistake.
    pub fn assignments(&mut self, text: &str) -> Result<Program, FormulaError> {
        let mut parser = Parser::new(self, text)?;
        while parser.tokens.token() != Token::End {
            let (name, span) = parser.name_before_equals()?;
            let Some(slot) = parser.compiler.state(name) else {
                let known: Vec<&str> = parser.compiler.states.iter().map(|(name, _)| name.as_str()).collect();
                let hint = match known.as_slice() {
                    [] => "there is none; declare it in `state`".to_owned(),
                    _ => Hint::for_name(name, known).to_string(),
                };
                return Err(FormulaError::new(text, span, format!("`{name}` is not a state; {hint}")));
            };
            let value = parser.formula(0)?;
            let to = Some(slot);
            parser.emit_to(Code::Set, &[&value], value.span.clone(), None, to)?;
            parser.end_of_statement()?;
        }
        let result = parser.compiler.constant(0.0);
        Ok(parser.finish(result))
    }

    /// Compiles a formula that gives a value of this dimension.
    ///
    /// # Errors
    /// The first mistake.
    pub fn formula(&mut self, text: &str, gives: Dimension) -> Result<Program, FormulaError> {
        let mut parser = Parser::new(self, text)?;
        let value = parser.formula(0)?;
        if parser.tokens.token() != Token::End {
            return Err(parser.tokens.expected("an operator or the end"));
        }
        if let Some(dimension) = value.dimension.filter(|dimension| *dimension != gives) {
            let message = format!("this is {dimension}, and the formula gives {gives}");
            return Err(FormulaError::new(text, value.span, message));
        }
        let result = parser.compiler.register(&value);
        Ok(parser.finish(result))
    }

    /// The names of the states, and the register of each.
    pub fn state_registers(&self) -> impl Iterator<Item = (&str, usize)> {
        self.states.iter().enumerate().map(|(index, (name, _))| (name.as_str(), self.variables.len() + index))
    }

    /// Assigns registers to constants and results in all programs. Returns the initial registers.
    pub fn place(self, programs: &mut [&mut Program]) -> Box<[f64]> {
        let constants_from = self.variables.len() + self.states.len();
        let results_from = constants_from + self.constants.len();
        let placed = |register: &mut u16| match *register {
            given if given >= RESULTS => *register = given - RESULTS + results_from as u16,
            given if given >= CONSTANTS => *register = given - CONSTANTS + constants_from as u16,
            _ => {}
        };
        for program in programs {
            placed(&mut program.result);
            for operation in &mut program.operations {
                placed(&mut operation.to);
                operation.operands.iter_mut().for_each(placed);
            }
        }
        let states = self.states.iter().map(|(_, value)| *value);
        let variables = self.variables.iter().map(|_| 0.0);
        let results = std::iter::repeat_n(0.0, self.most_results);
        variables.chain(states).chain(self.constants).chain(results).collect()
    }

    fn state(&self, name: &str) -> Option<u16> {
        let index = self.states.iter().position(|(state, _)| state == name)?;
        Some((self.variables.len() + index) as u16)
    }

    fn register(&mut self, operand: &Operand) -> u16 {
        operand.constant.map_or(operand.register, |value| self.constant(value))
    }

    fn constant(&mut self, value: f64) -> u16 {
        let same = |known: &f64| known.to_bits() == value.to_bits();
        let index = self.constants.iter().position(same).unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        CONSTANTS + index as u16
    }
}

struct Parser<'a, 'names, 'text> {
    compiler: &'a mut Compiler<'names>,
    tokens: Tokens<'text>,
    operations: Vec<Operation>,
    spans: Vec<Range<u32>>,
    uses: u64,
    depth: u32,
}

/// How tightly an operator of two sides binds, its code, and whether its sides are exchanged.
fn infix(token: Token) -> Option<(u8, Code, bool)> {
    let Token::Sign(sign) = token else {
        return match token {
            Token::Name("or") => Some((1, Code::Or, false)),
            Token::Name("and") => Some((2, Code::And, false)),
            _ => None,
        };
    };
    Some(match sign {
        "<" => (COMPARISON, Code::Less, false),
        ">" => (COMPARISON, Code::Less, true),
        "<=" => (COMPARISON, Code::LessOrEqual, false),
        ">=" => (COMPARISON, Code::LessOrEqual, true),
        "==" => (COMPARISON, Code::Equal, false),
        "!=" => (COMPARISON, Code::NotEqual, false),
        "+" => (5, Code::Add, false),
        "-" => (5, Code::Subtract, false),
        "*" => (6, Code::Multiply, false),
        "/" => (6, Code::Divide, false),
        "^" => (POWER, Code::Power, false),
        _ => return None,
    })
}

const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const SIGN: u8 = 7;
const POWER: u8 = 8;

impl<'a, 'names, 'text> Parser<'a, 'names, 'text> {
    fn new(compiler: &'a mut Compiler<'names>, text: &'text str) -> Result<Self, FormulaError> {
        if text.len() > MAX_LEN {
            let message = format!("the text has {} bytes; at most {MAX_LEN}", text.len());
            return Err(FormulaError::new(text, 0..0, message));
        }
        let tokens = Tokens::new(text)?;
        Ok(Parser { compiler, tokens, operations: Vec::new(), spans: Vec::new(), uses: 0, depth: 0 })
    }

    /// A formula of operators that bind at least as tightly as `least`.
    fn formula(&mut self, least: u8) -> Result<Operand, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.tokens.error(format!("more than {MAX_DEPTH} formulas within each other")));
        }
        let mut left = self.prefix()?;
        while let Some((binds, code, exchanged)) = infix(self.tokens.token()).filter(|(binds, ..)| *binds >= least) {
            self.tokens.advance()?;
            // A power is taken from the right, and its exponent may have a sign.
            let right = self.formula(if code == Code::Power { SIGN } else { binds + 1 })?;
            if binds == COMPARISON && infix(self.tokens.token()).is_some_and(|(next, ..)| next == COMPARISON) {
                return Err(self.tokens.error("comparisons do not chain; write a < b and b < c"));
            }
            let span = left.span.start..right.span.end;
            let dimension = self.dimension_of(code, &left, &right)?;
            let sides = if exchanged { [&right, &left] } else { [&left, &right] };
            left = self.emit(code, &sides, span, dimension)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Operand, FormulaError> {
        let (token, span) = (self.tokens.token(), self.tokens.span());
        match token {
            Token::Number(value, dimension) => {
                self.tokens.advance()?;
                Ok(Operand { register: CONSTANTS, span, dimension, constant: Some(value) })
            }
            Token::Sign("(") => {
                self.tokens.advance()?;
                let inner = self.formula(0)?;
                let end = self.tokens.span().end;
                self.tokens.expect(")")?;
                Ok(Operand { span: span.start..end, ..inner })
            }
            Token::Sign("-") => {
                self.tokens.advance()?;
                let of = self.formula(SIGN)?;
                self.emit(Code::Negate, &[&of], span.start..of.span.end, of.dimension)
            }
            Token::Name("not") => {
                self.tokens.advance()?;
                let of = self.formula(NOT)?;
                self.emit(Code::Not, &[&of], span.start..of.span.end, None)
            }
            Token::Name(name) => {
                self.tokens.advance()?;
                let is_call = self.tokens.token() == Token::Sign("(");
                match FUNCTIONS.into_iter().find(|(function, ..)| *function == name) {
                    Some((_, code, operands)) => self.call(name, code, operands, span),
                    None if is_call => {
                        let known = FUNCTIONS.iter().map(|(function, ..)| *function);
                        let message = format!("unknown function `{name}`; {}", Hint::for_name(name, known));
                        Err(FormulaError::new(self.tokens.text(), span, message))
                    }
                    None => self.named(name, span),
                }
            }
            Token::Sign(_) | Token::End => Err(self.tokens.expected("a number, a name or `(`")),
        }
    }

    fn call(&mut self, name: &str, code: Code, operands: usize, span: Range<usize>) -> Result<Operand, FormulaError> {
        if self.tokens.token() != Token::Sign("(") {
            return Err(FormulaError::new(
                self.tokens.text(),
                span,
                format!("`{name}` is a function; write {name}(...)"),
            ));
        }
        self.tokens.advance()?;
        let mut given = vec![self.formula(0)?];
        while self.tokens.eat(",")? {
            given.push(self.formula(0)?);
        }
        let span = span.start..self.tokens.span().end;
        self.tokens.expect(")")?;
        let takes_more = matches!(code, Code::Min | Code::Max);
        if given.len() < operands || given.len() > operands && !takes_more {
            let more = if takes_more { "at least " } else { "" };
            let message = format!("`{name}` takes {more}{operands} values, not {}", given.len());
            return Err(FormulaError::new(self.tokens.text(), span, message));
        }
        match given.as_slice() {
            [of] => {
                let keeps = matches!(code, Code::Abs | Code::Floor);
                self.emit(code, &[of], span, of.dimension.filter(|_| keeps))
            }
            [condition, yes, no] if code == Code::If => {
                let dimension = self.same_dimension(yes, no)?;
                self.emit(code, &[condition, yes, no], span, dimension)
            }
            [first, others @ ..] => {
                let mut so_far = first.clone();
                for other in others {
                    let dimension = self.dimension_of(code, &so_far, other)?;
                    so_far = self.emit(code, &[&so_far, other], span.clone(), dimension)?;
                }
                Ok(so_far)
            }
            [] => unreachable!("invariant: a call has an operand"),
        }
    }

    fn named(&mut self, name: &str, span: Range<usize>) -> Result<Operand, FormulaError> {
        if let Some(slot) = self.compiler.variables.iter().position(|variable| variable.name == name) {
            self.uses |= 1 << slot;
            let dimension = self.compiler.variables[slot].dimension;
            return Ok(Operand { register: slot as u16, span, dimension, constant: None });
        }
        if let Some(register) = self.compiler.state(name) {
            return Ok(Operand { register, span, dimension: None, constant: None });
        }
        if let Some(value) = self.compiler.parameters.get(name).copied() {
            return Ok(Operand { register: CONSTANTS, span, dimension: None, constant: Some(value) });
        }
        let message = match self.compiler.elsewhere.iter().find(|(other, _)| *other == name) {
            Some((_, why)) => format!("`{name}` {why}"),
            None => {
                let states = self.compiler.states.iter().map(|(name, _)| name.as_str());
                let parameters = self.compiler.parameters.keys().map(String::as_str);
                let known =
                    self.compiler.variables.iter().map(|variable| variable.name).chain(states).chain(parameters);
                format!("unknown variable `{name}`; {}", Hint::for_name(name, known))
            }
        };
        Err(FormulaError::new(self.tokens.text(), span, message))
    }

    /// The dimension of a binary operation's result, if the dimensions of both operands are permitted.
    fn dimension_of(&self, code: Code, left: &Operand, right: &Operand) -> Result<Option<Dimension>, FormulaError> {
        Ok(match code {
            Code::Multiply => left.dimension.zip(right.dimension).and_then(|(left, right)| left.times(right)),
            Code::Divide => left.dimension.zip(right.dimension).and_then(|(left, right)| left.over(right)),
            Code::Add | Code::Subtract | Code::Min | Code::Max => self.same_dimension(left, right)?,
            Code::Less | Code::LessOrEqual | Code::Equal | Code::NotEqual => {
                self.same_dimension(left, right)?;
                None
            }
            _ => None,
        })
    }

    fn same_dimension(&self, left: &Operand, right: &Operand) -> Result<Option<Dimension>, FormulaError> {
        match (left.dimension, right.dimension) {
            (Some(one), Some(other)) if one != other => {
                let message = format!("this is {other}, and what it goes with is {one}");
                Err(FormulaError::new(self.tokens.text(), right.span.clone(), message))
            }
            (one, other) => Ok(one.or(other)),
        }
    }

    fn emit(
        &mut self,
        code: Code,
        operands: &[&Operand],
        span: Range<usize>,
        dimension: Option<Dimension>,
    ) -> Result<Operand, FormulaError> {
        self.emit_to(code, operands, span, dimension, None)
    }

    /// Adds an operation, unless its value is known already.
    fn emit_to(
        &mut self,
        code: Code,
        operands: &[&Operand],
        span: Range<usize>,
        dimension: Option<Dimension>,
        to: Option<u16>,
    ) -> Result<Operand, FormulaError> {
        let constant = |index: usize| operands.get(index).map_or(Some(0.0), |operand| operand.constant);
        if let (None, Some(a), Some(b), Some(c)) = (to, constant(0), constant(1), constant(2)) {
            let value = code.apply(a, || b, || c);
            if value.is_finite() {
                return Ok(Operand { register: CONSTANTS, span, dimension, constant: Some(value) });
            }
        }
        if self.operations.len() >= MAX_OPERATIONS {
            let message = format!("more than {MAX_OPERATIONS} operations");
            return Err(FormulaError::new(self.tokens.text(), span, message));
        }
        let mut registers = [self.compiler.register(operands[0]); 3];
        for (register, operand) in registers.iter_mut().zip(operands) {
            *register = self.compiler.register(operand);
        }
        let to = to.unwrap_or(RESULTS + self.operations.len() as u16);
        self.operations.push(Operation { code, to, operands: registers });
        self.spans.push(span.start as u32..span.end as u32);
        Ok(Operand { register: to, span, dimension, constant: None })
    }

    /// `NAME =`, with the place of the name.
    fn name_before_equals(&mut self) -> Result<(&'text str, Range<usize>), FormulaError> {
        let (Token::Name(name), span) = (self.tokens.token(), self.tokens.span()) else {
            return Err(self.tokens.expected("the name of a state"));
        };
        self.tokens.advance()?;
        self.tokens.expect("=")?;
        Ok((name, span))
    }

    fn check_new(&self, name: &str, span: &Range<usize>) -> Result<(), FormulaError> {
        let is_variable = self.compiler.variables.iter().any(|variable| variable.name == name);
        let what = match () {
            () if is_variable => "a variable of every rule",
            () if is_reserved(name) => "a word of formulas",
            () if self.compiler.parameters.contains_key(name) => "a parameter",
            () if self.compiler.state(name).is_some() => "a state already",
            () => return Ok(()),
        };
        let message = format!("`{name}` is {what}; take another name");
        Err(FormulaError::new(self.tokens.text(), span.clone(), message))
    }

    fn end_of_statement(&mut self) -> Result<(), FormulaError> {
        match self.tokens.token() {
            Token::End => Ok(()),
            Token::Sign(";") => self.tokens.advance(),
            _ => Err(self.tokens.expected("an operator, `;` or the end")),
        }
    }

    fn finish(self, result: u16) -> Program {
        let Parser { compiler, tokens, operations, spans, uses, .. } = self;
        compiler.most_results = compiler.most_results.max(operations.len());
        let states_from = compiler.variables.len();
        let occurs =
            |slot: u16| operations.iter().any(|operation| operation.operands.contains(&slot)) || result == slot;
        let slots = (states_from..).map(|slot| slot as u16);
        let states = compiler.states.iter().zip(slots).filter(|(_, slot)| occurs(*slot));
        let states = states.map(|((name, _), slot)| (name.as_str().into(), slot)).collect();
        let (operations, spans) = (operations.into_boxed_slice(), spans.into_boxed_slice());
        Program { text: tokens.text().into(), operations, spans, result, uses, states }
    }
}
