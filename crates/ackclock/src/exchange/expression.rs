//! Code: the part of Python that scripts use between `%{` and `}%`.
//!
//! ```text
//! code       = { "assert" or [ "," message ] | name ( = += -= ) or | "print" anything }
//! or         = and { "or" and }             and = not { "and" not }          not = [ "not" ] comparison
//! comparison = sum { ( == != <= >= < > ) sum }          sum = product { ( + - ) product }
//! product    = value { ( * // / % ) value }             value = number | field | name | "-" value | "(" or ")"
//! ```

use super::ScriptError;
use super::info::{Field, Reading};
use super::scanner::Scanner;

/// The inputs of an expression.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The sender.
    pub reading: &'a Reading,
    /// The values of the names that the script has assigned so far.
    pub values: &'a [f64],
}

/// The names that a script assigns, in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    fn index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| known == name)
    }

    fn assign(&mut self, name: &str) -> usize {
        self.index(name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Something that has to hold.
    Assert(Expression),
    /// A name gets the value of an expression.
    Assign {
        /// Its index in [`Names`].
        index: usize,
        /// The value.
        value: Expression,
    },
}

/// Brackets within brackets that are allowed.
const MAX_DEPTH: u32 = 50;
/// Bytes of an assertion that are allowed.
const MAX_LEN: usize = 2_000;

/// An expression with its text.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The expression as written.
    pub text: String,
    /// The line of the statement.
    pub line: u32,
    root: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Number(f64),
    Field(Field),
    Name(String, usize),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// As in Python, a chain of comparisons holds if each does.
    Comparison(Box<Node>, Vec<(&'static str, Node)>),
    Arithmetic(&'static str, Box<Node>, Box<Node>),
}

impl Expression {
    /// True if the assertion holds.
    pub fn holds(&self, scope: Scope) -> bool {
        self.value(scope) != 0.0
    }

    /// Its value.
    pub fn value(&self, scope: Scope) -> f64 {
        self.root.value(scope)
    }

    /// The fields and names that occur with their values: `tcpi_snd_cwnd = 10`.
    pub fn values(&self, scope: Scope) -> String {
        let mut values = Vec::new();
        self.root.values(scope, &mut values);
        values.dedup();
        values.join(", ")
    }
}

impl Node {
    fn value(&self, scope: Scope) -> f64 {
        let truth = |node: &Node| node.value(scope) != 0.0;
        match self {
            Node::Number(number) => *number,
            Node::Field(field) => field.value(scope.reading),
            Node::Name(_, index) => scope.values[*index],
            Node::Not(node) => f64::from(!truth(node)),
            Node::And(left, right) => f64::from(truth(left) && truth(right)),
            Node::Or(left, right) => f64::from(truth(left) || truth(right)),
            Node::Comparison(first, others) => {
                let mut left = first.value(scope);
                for (operator, node) in others {
                    let right = node.value(scope);
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
                let (left, right) = (left.value(scope), right.value(scope));
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

    fn values(&self, scope: Scope, found: &mut Vec<String>) {
        match self {
            Node::Number(_) => {}
            Node::Field(field) => found.push(format!("{} = {}", field.name(), field.value(scope.reading))),
            Node::Name(name, index) => found.push(format!("{name} = {}", scope.values[*index])),
            Node::Not(node) => node.values(scope, found),
            Node::And(left, right) | Node::Or(left, right) | Node::Arithmetic(_, left, right) => {
                left.values(scope, found);
                right.values(scope, found);
            }
            Node::Comparison(first, others) => {
                first.values(scope, found);
                others.iter().for_each(|(_, node)| node.values(scope, found));
            }
        }
    }
}

/// Reads the statements of a piece of code that begins at `line`. Adds assigned names to `names`.
///
/// # Errors
/// Anything that is neither an assertion nor an assignment nor a `print`.
pub fn parse_code(code: &str, line: u32, names: &mut Names) -> Result<Vec<Statement>, ScriptError> {
    let mut found = Vec::new();
    for (statement, offset) in statements(code) {
        let at = |error: ScriptError| ScriptError { line: line + offset, ..error };
        let mut scanner = Scanner::new(&statement);
        if scanner.eat_word("print") {
            continue;
        }
        if statement.len() > MAX_LEN {
            return Err(at(scanner.error("the statement is too long")));
        }
        found.push(parse_statement(&statement, line + offset, names).map_err(at)?);
    }
    Ok(found)
}

fn parse_statement(statement: &str, line: u32, names: &mut Names) -> Result<Statement, ScriptError> {
    let mut scanner = Scanner::new(statement);
    let text = statement.trim().trim_start_matches("assert").trim().to_owned();
    if scanner.eat_word("assert") {
        let root = parse_or(&mut scanner, names, 0)?;
        if !scanner.at_end() && !scanner.sees(",") {
            return Err(scanner.expected("the end of the assertion"));
        }
        return Ok(Statement::Assert(Expression { text, line, root }));
    }
    let start = scanner.clone();
    let not_understood = || start.clone().expected("an assertion or an assignment (no other Python is run)");
    let name = scanner.word().map_err(|_| not_understood())?;
    let known = names.index(name).map(|index| Node::Name(name.to_owned(), index));
    let before = match eat_one(&mut scanner, &["==", "=", "+=", "-="]) {
        Some("=") => None,
        Some(operator @ ("+=" | "-=")) => {
            let known = known.ok_or_else(|| scanner.error(format!("`{name}` has no value yet")))?;
            Some((if operator == "+=" { "+" } else { "-" }, known))
        }
        _ => return Err(not_understood()),
    };
    if Field::by_name(name).is_ok() || super::info::constant(name).is_some_and(|_| before.is_some()) {
        return Err(scanner.error(format!("`{name}` is a field of tcp_info")));
    }
    let mut root = parse_or(&mut scanner, names, 0)?;
    if !scanner.at_end() {
        return Err(scanner.expected("the end of the assignment"));
    }
    if let Some((operator, before)) = before {
        root = Node::Arithmetic(operator, Box::new(before), Box::new(root));
    }
    Ok(Statement::Assign { index: names.assign(name), value: Expression { text, line, root } })
}

/// The statements, each with its line from 0. They end at line ends and semicolons outside of brackets and quotes.
fn statements(code: &str) -> Vec<(String, u32)> {
    let mut found = vec![(String::new(), 0)];
    let (mut depth, mut quote, mut line, mut comment) = (0u32, None, 0, false);
    for c in code.chars() {
        comment = if comment { c != '\n' } else { quote.is_none() && c == '#' };
        if comment {
            continue;
        }
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
    found.retain(|(statement, _)| !statement.trim().is_empty());
    found
}

fn parse_or(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    if depth > MAX_DEPTH {
        return Err(scanner.error("too many brackets within brackets"));
    }
    let mut node = parse_and(scanner, names, depth)?;
    while scanner.eat_word("or") {
        node = Node::Or(Box::new(node), Box::new(parse_and(scanner, names, depth)?));
    }
    Ok(node)
}

fn parse_and(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_not(scanner, names, depth)?;
    while scanner.eat_word("and") {
        node = Node::And(Box::new(node), Box::new(parse_not(scanner, names, depth)?));
    }
    Ok(node)
}

fn parse_not(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    if scanner.eat_word("not") {
        return Ok(Node::Not(Box::new(parse_comparison(scanner, names, depth)?)));
    }
    parse_comparison(scanner, names, depth)
}

fn parse_comparison(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    let first = parse_sum(scanner, names, depth)?;
    let mut others = Vec::new();
    while let Some(operator) = eat_one(scanner, &["==", "!=", "<=", ">=", "<", ">"]) {
        others.push((operator, parse_sum(scanner, names, depth)?));
    }
    Ok(if others.is_empty() { first } else { Node::Comparison(Box::new(first), others) })
}

fn parse_sum(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_product(scanner, names, depth)?;
    while let Some(operator) = eat_one(scanner, &["+", "-"]) {
        node = Node::Arithmetic(operator, Box::new(node), Box::new(parse_product(scanner, names, depth)?));
    }
    Ok(node)
}

fn parse_product(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    let mut node = parse_value(scanner, names, depth)?;
    while let Some(operator) = eat_one(scanner, &["*", "//", "/", "%"]) {
        node = Node::Arithmetic(operator, Box::new(node), Box::new(parse_value(scanner, names, depth)?));
    }
    Ok(node)
}

fn parse_value(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    if scanner.eat("(") {
        let node = parse_or(scanner, names, depth + 1)?;
        scanner.expect(")")?;
        return Ok(node);
    }
    if scanner.eat("-") {
        let node = parse_value_below(scanner, names, depth)?;
        return Ok(Node::Arithmetic("-", Box::new(Node::Number(0.0)), Box::new(node)));
    }
    let text = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if text.is_empty() {
        return Err(scanner.expected("a number or a field of tcp_info"));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let digits = text.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).map(|value| value as f64).map_err(|_| ()),
            None => digits.parse().map_err(|_| ()),
        };
        return number.map(Node::Number).map_err(|_| scanner.error(format!("`{text}` is not a number")));
    }
    if let Some(index) = names.index(text) {
        return Ok(Node::Name(text.to_owned(), index));
    }
    if let Some(value) = super::info::constant(text) {
        return Ok(Node::Number(value));
    }
    Field::by_name(text).map(Node::Field).map_err(|message| scanner.error(message))
}

fn parse_value_below(scanner: &mut Scanner, names: &Names, depth: u32) -> Result<Node, ScriptError> {
    if depth > MAX_DEPTH {
        return Err(scanner.error("too many brackets within brackets"));
    }
    parse_value(scanner, names, depth + 1)
}

fn eat_one(scanner: &mut Scanner, operators: &[&'static str]) -> Option<&'static str> {
    operators.iter().find(|operator| scanner.eat(operator)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of the assertions of a piece of code.
    fn check(code: &str) -> Vec<bool> {
        let mut names = Names::default();
        let statements = parse_code(code, 1, &mut names).unwrap();
        let mut values = vec![0.0; names.len()];
        let mut held = Vec::new();
        for statement in &statements {
            let scope = Scope { reading: &Reading::for_test(10.0, 7), values: &values };
            match statement {
                Statement::Assert(assertion) => held.push(assertion.holds(scope)),
                Statement::Assign { index, value } => values[*index] = value.value(scope),
            }
        }
        held
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
        let code = parse_code("assert tcpi_snd_cwnd == 9", 4, &mut Names::default()).unwrap();
        let [Statement::Assert(assertion)] = code.as_slice() else { panic!("{code:?}") };
        let scope = Scope { reading: &Reading::for_test(10.0, 7), values: &[] };
        assert_eq!((assertion.line, assertion.values(scope)), (4, "tcpi_snd_cwnd = 10".to_owned()));
    }

    #[test]
    fn names_get_values_and_keep_them() {
        assert_eq!(
            check("cwnd = 9; cwnd += 1; assert tcpi_snd_cwnd == cwnd\ncwnd -= 0x0a\nassert cwnd == 0"),
            [true, true]
        );
        assert_eq!(check("assert tcpi_snd_cwnd == 10  # don't (mind\nassert tcpi_unacked == 7"), [true, true]);
        for code in ["cwnd += 1", "cwnd =", "tcpi_rto = 1", "cwnd = 1 1", "assert cwnd == 1"] {
            assert!(parse_code(code, 1, &mut Names::default()).is_err(), "{code}");
        }
    }

    #[test]
    fn other_python_is_refused() {
        for code in ["import os", "assert", "assert tcpi_snd_cwn == 1", "assert 1 == 1 1", "assert (1", "x == 1"] {
            assert!(parse_code(code, 1, &mut Names::default()).is_err(), "{code}");
        }
        assert!(parse_code(&format!("assert {}1", "(".repeat(9_999)), 1, &mut Names::default()).is_err());
        assert!(parse_code(&format!("assert {}1", "-".repeat(9_999)), 1, &mut Names::default()).is_err());
        let error = parse_code("assert tcpi_snd_cwn == 1", 3, &mut Names::default()).unwrap_err().to_string();
        assert_eq!(error, "3: tcp_info has no field `tcpi_snd_cwn` here; did you mean `tcpi_snd_cwnd`?");
    }
}
