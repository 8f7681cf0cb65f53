//! The lexer: words, numbers and raw text of a script, with their lines.

use super::ScriptError;

/// A place in a script.
#[derive(Clone, Debug)]
pub struct Scanner<'text> {
    rest: &'text str,
    line: u32,
}

impl<'text> Scanner<'text> {
    /// The start of a text.
    pub fn new(text: &'text str) -> Self {
        Scanner { rest: text, line: 1 }
    }

    /// The line of the next token, from 1.
    pub fn line(&mut self) -> u32 {
        self.skip_blank();
        self.line
    }

    /// An error at the next token.
    pub fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError { line: self.line, message: message.into(), is_elsewhere: false }
    }

    /// The error of a valid token that concerns neither a sender nor a receiver of segments.
    pub fn elsewhere(&self, what: &str) -> ScriptError {
        ScriptError { is_elsewhere: true, ..self.error(format!("{what}: this is not about a sender or a receiver")) }
    }

    /// An error with the expected and the actual token.
    pub fn expected(&mut self, what: &str) -> ScriptError {
        self.skip_blank();
        let there: String = self.rest.lines().next().unwrap_or_default().trim_end().chars().take(40).collect();
        let there = if there.is_empty() { "nothing".to_owned() } else { format!("`{there}`") };
        self.error(format!("expected {what}, found {there}"))
    }

    /// True if only blanks and comments are left.
    pub fn at_end(&mut self) -> bool {
        self.skip_blank();
        self.rest.is_empty()
    }

    /// True if `text` comes next.
    pub fn sees(&mut self, text: &str) -> bool {
        self.skip_blank();
        self.rest.starts_with(text)
    }

    /// The next character.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blank();
        self.rest.chars().next()
    }

    /// Takes `text` if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        let there = self.sees(text);
        if there {
            self.advance(text.len());
        }
        there
    }

    /// Takes `text`, which has to come next.
    pub fn expect(&mut self, text: &str) -> Result<(), ScriptError> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Takes the word `text` if it comes next and ends there.
    pub fn eat_word(&mut self, text: &str) -> bool {
        let there = self.sees(text) && !self.rest[text.len()..].starts_with(is_word);
        if there {
            self.advance(text.len());
        }
        there
    }

    /// Takes the longest sequence of characters that `belongs` allows, which may be empty.
    pub fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'text str {
        self.skip_blank();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let taken = &self.rest[..end];
        self.advance(end);
        taken
    }

    /// Takes a word of letters, digits and underscores.
    pub fn word(&mut self) -> Result<&'text str, ScriptError> {
        match self.take_while(is_word) {
            "" => Err(self.expected("a word")),
            word => Ok(word),
        }
    }

    /// Takes a whole number up to 32 bits.
    pub fn number(&mut self) -> Result<u32, ScriptError> {
        let mut ahead = self.clone();
        let digits = ahead.take_while(|c| c.is_ascii_digit());
        let number = digits.parse().map_err(|_| self.expected("a whole number below 2^32"))?;
        *self = ahead;
        Ok(number)
    }

    /// Takes everything up to `end` and `end` itself, including blanks and comments.
    pub fn raw_until(&mut self, end: &str) -> Result<&'text str, ScriptError> {
        let Some(len) = self.rest.find(end) else { return Err(self.error(format!("`{end}` is missing"))) };
        let taken = &self.rest[..len];
        self.advance(len + end.len());
        Ok(taken)
    }

    /// True if the word `text` comes before the next `>`.
    pub fn option_list_has(&self, text: &str) -> bool {
        let list = self.rest.split('>').next().unwrap_or_default();
        list.split(|c| !is_word(c)).any(|word| word == text)
    }

    /// Takes an argument of a call: everything up to a comma or bracket that is outside of inner brackets.
    pub fn argument(&mut self) -> Result<&'text str, ScriptError> {
        self.skip_blank();
        let (mut depth, mut quoted) = (0u32, false);
        for (at, c) in self.rest.char_indices() {
            match c {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '(' | '[' | '{' => depth += 1,
                ',' | ')' if depth == 0 => {
                    let taken = self.rest[..at].trim();
                    self.advance(at);
                    return Ok(taken);
                }
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Err(self.error("`)` is missing"))
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            let comment = if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.advance(comment.unwrap_or(self.rest.len()));
        }
    }

    fn advance(&mut self, len: usize) {
        let (passed, rest) = self.rest.split_at(len);
        self.line += passed.matches('\n').count() as u32;
        self.rest = rest;
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_blanks_and_lines_are_counted() {
        let mut scanner = Scanner::new("a // b\n/* c\n d */ e_1(f(1, 2), \"g,\")");
        assert_eq!((scanner.word().unwrap(), scanner.line()), ("a", 3));
        assert_eq!(scanner.word().unwrap(), "e_1");
        scanner.expect("(").unwrap();
        assert_eq!(scanner.argument().unwrap(), "f(1, 2)");
        scanner.expect(",").unwrap();
        assert_eq!(scanner.argument().unwrap(), "\"g,\"");
        assert_eq!(scanner.expect(",").unwrap_err().to_string(), "3: expected `,`, found `)`");
    }
}
