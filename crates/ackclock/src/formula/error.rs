//! A mistake in the text of a formula, and its place.

use std::fmt;
use std::ops::Range;

/// Characters of the text that are shown before and after the place.
const AROUND: usize = 40;

/// A mistake in the text of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The mistake.
    pub message: String,
    /// The bytes of the text that are.
    pub span: Range<usize>,
    /// The text around them, and how many of its characters come before.
    excerpt: (String, usize),
    /// The place in characters from 1.
    character: usize,
}

impl FormulaError {
    /// A mistake at `span`, in bytes of `text`.
    pub fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let before: Vec<char> = text[..span.start].chars().rev().take(AROUND).collect();
        let after = text[span.start..].chars().take(AROUND);
        let excerpt = before.iter().rev().copied().chain(after).map(printable).collect();
        let character = text[..span.start].chars().count() + 1;
        FormulaError { message: message.into(), span, excerpt: (excerpt, before.len()), character }
    }

    /// The mistake with the text around it on one line: ``character 5 of `a / ww`: unknown variable``.
    pub fn in_one_line(&self) -> String {
        format!("character {} of `{}`: {}", self.character, self.excerpt.0, self.message)
    }

    /// The text around the place, and below it a mark at the place.
    pub fn pointer(&self) -> String {
        let (excerpt, before) = &self.excerpt;
        let length = self.span.len().clamp(1, (excerpt.chars().count() - before).max(1));
        format!("{excerpt}\n{}{}", " ".repeat(*before), "^".repeat(length))
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.character, self.message)
    }
}

impl std::error::Error for FormulaError {}
