//! Assertions: the part of Python that scripts use between `%{` and `}%`.
//!
//! ```text
//! code       = { "assert" or [ "," message ] | "print" anything }
//! or         = and { "or" and }             and = not { "and" not }          not = [ "not" ] comparison
//! comparison = sum { ( == != <= >= < > ) sum }          sum = product { ( + - ) product }
//! product    = value { ( * // / % ) value }             value = number | field | "-" value | "(" or ")"
//! ```

use super::ScriptError;
use super::info::{Field, Reading};
use super::scanner::Scanner;

/// Brackets within brackets that are allowed.
const MAX_DEPTH: u32 = 50;
/// Bytes of an assertion that are allowed.
const MAX_LEN: usize = 2_000;

/// An expression with its text.
#[derive(Clone, Debug)]
pub struct Expression {
    /// As written.
    pub text: String,
    /// The line it stands on.
    pub line: u32,
    root: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Number(f64),
    Field(Field),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// As in Python, a chain of comparisons holds if each does.
    Comparison(Box<Node>, Vec<(&'static str, Node)>),
    Arithmetic(&'static str, Box<Node>, Box<Node>),
}

impl Expression {
    /// True if the assertion holds.
    pub fn holds(&self, reading: &Reading) -> bool {
        self.root.value(reading) != 0.0
    }

    /// The fields that occur with their values: `tcpi_snd_cwnd = 10`.
    pub fn values(&self, reading: &Reading) -> String {
        let mut fields = Vec::new();
        self.root.fields(&mut fields);
        fields.dedup_by_key(|field| field.name());
        let values: Vec<_> =
            fields.iter().map(|field| format!("{} = {}", field.name(), field.value(reading))).collect();
        values.join(", ")
    }
}

impl Node {
    fn value(&self, reading: &Reading) -> f64 {
        let truth = |node: &Node| node.value(reading) != 0.0;
        match self {
            Node::Number(number) => *number,
            Node::Field(field) => field.value(reading),
            Node::Not(node) => f64::from(!truth(node)),
            Node::And(left, right) => f64::from(truth(left) && truth(right)),
            Node::Or(left, right) => f64::from(truth(left) || truth(right)),
            Node::Comparison(first, others) => {
                let mut left = first.value(reading);
                for (operator, node) in others {
                    let right = node.value(reading);
                    let holds = match *operator {
                        "==" => left == right,
                        "!=" => left != right,
                        "<=" => left <= right,
                        ">=" => left >= right,
                        "<" => left < right,
                        _ => left > right,
                    };
                    if !holds {
                        return 0.0;
                    }
                    left = right;
                }
                1.0
            }
            Node::Arithmetic(operator, left, right) => {
                let (left, right) = (left.value(reading), right.value(reading));
                match *operator {
                    "+" => left + right,
                    "-" => left - right,
                    "*" => left * right,
                    "/" => left / right,
                    "//" => (left / right).floor(),
                    _ => left - right * (left / right).floor(),
                }
            }
        }
    }

    fn fields(&self, found: &mut Vec<Field>) {
        match self {
            Node::Number(_) => {}
            Node::Field(field) => found.push(*field),
            Node::Not(node) => node.fields(found),
            Node::And(left, right) | Node::Or(left, right) | Node::Arithmetic(_, left, right) => {
                left.fields(found);
                right.fields(found);
            }
            Node::Comparison(first, others) => {
                first.fields(found);
                others.iter().for_each(|(_, node)| node.fields(found));
            }
        }
    }
}

/// Reads the assertions of a piece of code that begins at `line`.
///
/// # Errors
/// Anything that is neither an assertion nor a `print`.
pub fn parse_code(code: &str, line: u32) -> Result<Vec<Expression>, ScriptError> {
    let mut assertions = Vec::new();
    for (statement, offset) in statements(code) {
        let mut scanner = Scanner::new(&statement);
        let at = |error: ScriptError| ScriptError { line: line + offset, ..error };
        if scanner.eat_word("print") {
            continue;
        }
        if !scanner.eat_word("assert") {
            return Err(at(scanner.expected("an assertion (no other Python is run)")));
        }
        if statement.len() > MAX_LEN {
            return Err(at(scanner.error("the assertion is too long")));
        }
        let text = statement.trim().trim_start_matches("assert").trim().to_owned();
        let root = parse_or(&mut scanner, 0).map_err(at)?;
        if !scanner.at_end() && !scanner.sees(",") {
            return Err(at(scanner.expected("the end of the assertion")));
        }
        assertions.push(Expression { text, line: line + offset, root });
    }
    Ok(assertions)
}

/// Statements end at line ends and semicolons outside of brackets and quotes; each with its line from 0.
fn statements(code: &str) -> Vec<(String, u32)> {
    let mut found = vec![(String::new(), 0)];
    let (mut depth, mut quote, mut line) = (0u32, None, 0);
    for c in code.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        line += u32::from(c == '\n');
        if depth == 0 && quote.is_none() && matches!(c, '\n' | ';') {
            found.push((String::new(), line));
        } else if let Some((statement, _)) = found.last_mut() {
            statement.push(c);
        }
    }
    found.retain(|(statement, _)| {
        let statement = statement.trim();
        !statement.is_empty() && !statement.starts_with('#')
    });
    found
}

fn parse_or(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    if depth > MAX_DEPTH {
        return Err(scanner.error("too many brackets within brackets"));
    }
    let mut node = parse_and(scanner, depth)?;
    while scanner.eat_word("or") {
        node = Node::Or(Box::new(node), Box::new(parse_and(scanner, depth)?));
    }
    Ok(node)
}

fn parse_and(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_not(scanner, depth)?;
    while scanner.eat_word("and") {
        node = Node::And(Box::new(node), Box::new(parse_not(scanner, depth)?));
    }
    Ok(node)
}

fn parse_not(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    if scanner.eat_word("not") {
        return Ok(Node::Not(Box::new(parse_comparison(scanner, depth)?)));
    }
    parse_comparison(scanner, depth)
}

fn parse_comparison(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    let first = parse_sum(scanner, depth)?;
    let mut others = Vec::new();
    while let Some(operator) = eat_one(scanner, &["==", "!=", "<=", ">=", "<", ">"]) {
        others.push((operator, parse_sum(scanner, depth)?));
    }
    Ok(if others.is_empty() { first } else { Node::Comparison(Box::new(first), others) })
}

fn parse_sum(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_product(scanner, depth)?;
    while let Some(operator) = eat_one(scanner, &["+", "-"]) {
        node = Node::Arithmetic(operator, Box::new(node), Box::new(parse_product(scanner, depth)?));
    }
    Ok(node)
}

fn parse_product(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_value(scanner, depth)?;
    while let Some(operator) = eat_one(scanner, &["*", "//", "/", "%"]) {
        node = Node::Arithmetic(operator, Box::new(node), Box::new(parse_value(scanner, depth)?));
    }
    Ok(node)
}

fn parse_value(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    if scanner.eat("(") {
        let node = parse_or(scanner, depth + 1)?;
        scanner.expect(")")?;
        return Ok(node);
    }
    if scanner.eat("-") {
        let node = parse_value_below(scanner, depth)?;
        return Ok(Node::Arithmetic("-", Box::new(Node::Number(0.0)), Box::new(node)));
    }
    let text = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if text.is_empty() {
        return Err(scanner.expected("a number or a field of tcp_info"));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let number = text.replace('_', "").parse();
        return number.map(Node::Number).map_err(|_| scanner.error(format!("`{text}` is no number")));
    }
    if let Some(value) = super::info::constant(text) {
        return Ok(Node::Number(value));
    }
    Field::by_name(text).map(Node::Field).map_err(|message| scanner.error(message))
}

fn parse_value_below(scanner: &mut Scanner, depth: u32) -> Result<Node, ScriptError> {
    if depth > MAX_DEPTH {
        return Err(scanner.error("too many brackets within brackets"));
    }
    parse_value(scanner, depth + 1)
}

fn eat_one(scanner: &mut Scanner, operators: &[&'static str]) -> Option<&'static str> {
    operators.iter().find(|operator| scanner.eat(operator)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str) -> Vec<bool> {
        let reading = Reading::for_test(10.0, 7);
        parse_code(code, 1).unwrap().iter().map(|assertion| assertion.holds(&reading)).collect()
    }

    #[test]
    fn assertions_have_pythons_meaning() {
        assert_eq!(check("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd; assert tcpi_unacked != 7"), [true, false]);
        assert_eq!(check("assert 5 < tcpi_unacked <= 7 and not tcpi_snd_cwnd < 10"), [true]);
        assert_eq!(check("assert 1 == 2 or (tcpi_snd_cwnd - tcpi_unacked) * 2 == 6"), [true]);
        assert_eq!(check("assert -7 // 2 == -4 and 7 % 4 == 3 and 7 / 2 == 3.5"), [true]);
        assert_eq!(
            check("\nassert (1 ==\n 1)\nprint(tcpi_rto)\n# nothing\nassert tcpi_ca_state == TCP_CA_Open"),
            [true, true]
        );
        let reading = Reading::for_test(10.0, 7);
        let assertion = &parse_code("assert tcpi_snd_cwnd == 9", 4).unwrap()[0];
        assert_eq!((assertion.line, assertion.values(&reading)), (4, "tcpi_snd_cwnd = 10".to_owned()));
    }

    #[test]
    fn other_python_is_refused() {
        for code in ["import os", "assert", "assert tcpi_snd_cwn == 1", "assert 1 == 1 1", "assert (1", "x = 1"] {
            assert!(parse_code(code, 1).is_err(), "{code}");
        }
        assert!(parse_code(&format!("assert {}1", "(".repeat(9_999)), 1).is_err());
        assert!(parse_code(&format!("assert {}1", "-".repeat(9_999)), 1).is_err());
        let error = parse_code("assert tcpi_snd_cwn == 1", 3).unwrap_err().to_string();
        assert_eq!(error, "3: tcp_info has no field `tcpi_snd_cwn` here; did you mean `tcpi_snd_cwnd`?");
    }
}
