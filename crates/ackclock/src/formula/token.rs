//! The tokens of a formula with their places.

use std::ops::Range;

use super::dimension::Dimension;
use super::error::FormulaError;

/// Units that may follow a number: the name, the dimension, and the size in seconds, bits per second or bytes.
const UNITS: [(&str, Dimension, f64); 11] = [
    ("ns", Dimension::SECONDS, 1e-9),
    ("us", Dimension::SECONDS, 1e-6),
    ("ms", Dimension::SECONDS, 1e-3),
    ("s", Dimension::SECONDS, 1.0),
    ("bit/s", Dimension::RATE, 1.0),
    ("kbit/s", Dimension::RATE, 1e3),
    ("Mbit/s", Dimension::RATE, 1e6),
    ("Gbit/s", Dimension::RATE, 1e9),
    ("B", Dimension::DATA, 1.0),
    ("kB", Dimension::DATA, 1e3),
    ("segments", Dimension::SEGMENTS, 1.0),
];

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'text> {
    /// A number, and its dimension if it has a unit.
    Number(f64, Option<Dimension>),
    /// A name or a word.
    Name(&'text str),
    /// An operator, a bracket, a comma, a semicolon or `=`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Longer signs before those that they begin with.
const SIGNS: [&str; 16] = ["<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", ",", ";"];

/// The text with the token at the cursor.
#[derive(Clone, Debug)]
pub struct Tokens<'text> {
    text: &'text str,
    token: Token<'text>,
    span: Range<usize>,
}

impl<'text> Tokens<'text> {
    /// At the first token.
    pub fn new(text: &'text str) -> Result<Self, FormulaError> {
        let mut tokens = Tokens { text, token: Token::End, span: 0..0 };
        tokens.advance()?;
        Ok(tokens)
    }

    pub fn text(&self) -> &'text str {
        self.text
    }

    /// The token at the cursor.
    pub fn token(&self) -> Token<'text> {
        self.token
    }

    /// Its place in bytes.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Takes the sign if it is at the cursor.
    pub fn eat(&mut self, sign: &str) -> Result<bool, FormulaError> {
        let there = matches!(self.token, Token::Sign(found) if found == sign);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Takes the sign, which has to be there.
    pub fn expect(&mut self, sign: &str) -> Result<(), FormulaError> {
        if self.eat(sign)? { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// An error at the cursor with the expected token.
    pub fn expected(&self, what: &str) -> FormulaError {
        let found = match self.token {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.span()]),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// An error at the cursor.
    pub fn error(&self, message: impl Into<String>) -> FormulaError {
        FormulaError::new(self.text, self.span(), message)
    }

    /// Moves to the next token.
    pub fn advance(&mut self) -> Result<(), FormulaError> {
        let rest = &self.text[self.span.end..];
        let start = self.text.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            (self.token, self.span) = (Token::End, start..start);
            return Ok(());
        };
        if first.is_ascii_digit() || first == '.' {
            return self.number(start);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let name = word(rest);
            (self.token, self.span) = (Token::Name(name), start..start + name.len());
            return Ok(());
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (self.token, self.span) = (Token::Sign(sign), start..start + sign.len());
            return Ok(());
        }
        let span = start..start + first.len_utf8();
        Err(FormulaError::new(self.text, span, format!("{first:?} has no meaning in a formula")))
    }

    fn number(&mut self, start: usize) -> Result<(), FormulaError> {
        let rest = &self.text[start..];
        let digits = |at: usize| rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits(0);
        if rest[end..].starts_with('.') {
            end += 1 + digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let power = digits(end + 1 + sign);
            end += if power > 0 { 1 + sign + power } else { 0 };
        }
        self.span = start..start + end;
        let number = rest[..end].parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(mut number) = number else { return Err(self.error("this is not a finite number")) };
        let mut dimension = None;
        let after = rest[end..].trim_start();
        if let Some((name, of, size)) = UNITS.into_iter().find(|(name, ..)| begins_with_word(after, name)) {
            (number, dimension) = (number * size, Some(of));
            self.span.end = self.text.len() - after.len() + name.len();
        }
        self.token = Token::Number(number, dimension);
        Ok(())
    }
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())]
}

fn begins_with_word(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| word(rest).is_empty())
}
