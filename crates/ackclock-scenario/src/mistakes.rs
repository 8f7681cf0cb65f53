//! The mistakes of a scenario: each with its place, all of them in one error.

use std::fmt;

use super::tree::Origin;
use ackclock::quantity::Problem;

/// Mistakes beyond this many are counted, not shown.
const MOST_SHOWN: usize = 100;

/// A problem and the path of the key that has it, lists by index.
pub type Misfit = (Vec<String>, Problem);

/// The problems found so far. Only the first ones of many are kept.
#[derive(Debug, Default)]
pub struct Misfits {
    found: Vec<Misfit>,
    more: usize,
}

impl Misfits {
    /// True if nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Those that are kept, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Misfit> {
        self.found.iter()
    }

    /// Adds a problem, unless its key already has one, because it may be a consequence.
    pub fn push(&mut self, path: Vec<String>, problem: Problem) {
        if self.found.iter().any(|(other, _)| *other == path) {
            return;
        }
        if self.found.len() < MOST_SHOWN {
            self.found.push((path, problem));
        } else {
            self.more += 1;
        }
    }

    /// The value of a check of the key at `path`, written with dots. Adds the problem otherwise.
    pub fn check<T>(&mut self, path: &str, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.push(path.split('.').map(str::to_owned).collect(), problem)).ok()
    }

    /// Adds the problems of `others` unless their key, or a key above or below it, already has one.
    pub fn extend_beside(&mut self, others: Misfits) {
        let known = self.found.len();
        for (path, problem) in others.found {
            let overlaps = |(other, _): &Misfit| path.starts_with(other) || other.starts_with(&path);
            if !self.found[..known].iter().any(overlaps) {
                self.push(path, problem);
            }
        }
        self.more += others.more;
    }

    /// The error of all problems, if there are any. `place` gives each its place.
    pub fn into_error(self, mut mistakes: Vec<Mistake>, place: impl Fn(Misfit) -> Mistake) -> Option<ScenarioError> {
        mistakes.extend(self.found.into_iter().map(place));
        let mut error = ScenarioError::of(mistakes)?;
        error.more = self.more;
        Some(error)
    }
}

/// A scenario that cannot be used: everything that is wrong with it, in the order of the file.
///
/// Prints a line for each mistake: `two-flows.toml:12: flows.test.cc.increse: unknown key; did you mean "increase"?`
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioError {
    mistakes: Vec<Mistake>,
    more: usize,
}

impl ScenarioError {
    /// The error with these mistakes, or none without mistakes.
    fn of(mut mistakes: Vec<Mistake>) -> Option<Self> {
        // A mistake in [transport] affects many flows, but is reported once.
        let mut kept: Vec<Mistake> = Vec::with_capacity(mistakes.len());
        for mistake in mistakes.drain(..) {
            if !kept.contains(&mistake) {
                kept.push(mistake);
            }
        }
        kept.sort_by_key(|mistake| match mistake.origin {
            Origin::File | Origin::Default => (0, 0),
            Origin::Line(line) => (1, line),
            Origin::Set(_) => (2, 0),
        });
        (!kept.is_empty()).then_some(ScenarioError { mistakes: kept, more: 0 })
    }

    /// The mistakes, at least one: first without a line, then by line, then mistakes of changed keys.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// How many more there are than are kept.
    pub fn more(&self) -> usize {
        self.more
    }
}

impl From<Mistake> for ScenarioError {
    fn from(mistake: Mistake) -> Self {
        ScenarioError { mistakes: vec![mistake], more: 0 }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n... and {more} more mistakes"),
        }
    }
}

impl std::error::Error for ScenarioError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.mistakes.first().map(|mistake| mistake.problem.as_ref() as _)
    }
}

/// One mistake and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    source: String,
    origin: Origin,
    path: String,
    problem: Box<Problem>,
}

impl Mistake {
    /// The `problem` of the key `path`, written at `origin` of the file `source`.
    pub fn new(source: &str, origin: Origin, path: String, problem: Problem) -> Self {
        Mistake { source: source.to_owned(), origin, path, problem: Box::new(problem) }
    }

    /// The file, as messages call it.
    pub fn file(&self) -> &str {
        &self.source
    }

    /// The line of the file, where it is known.
    pub fn line(&self) -> Option<u32> {
        match self.origin {
            Origin::Line(line) => Some(line),
            _ => None,
        }
    }

    /// The change of a key, `KEY=VALUE`, that the mistake is in, if it is in one.
    pub fn set(&self) -> Option<&str> {
        match &self.origin {
            Origin::Set(text) => Some(text),
            _ => None,
        }
    }

    /// The key, with dots.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The problem of the key.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.origin {
            Origin::Line(line) => format!("{}:{line}", self.source),
            Origin::Set(text) => format!("set {text}"),
            Origin::File | Origin::Default => self.source.clone(),
        };
        let key = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        f.write_str(&printable(&format!("{place}: {key}{}", self.problem)))
    }
}

/// The text with its control characters escaped, because the contents of a file must not control a terminal.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(origin: Origin, path: &str) -> Mistake {
        Mistake::new("x.toml", origin, path.to_owned(), Problem::Empty)
    }

    #[test]
    fn mistakes_are_sorted_by_place_and_said_once() {
        let set = Origin::Set("a=1".into());
        let mistakes = vec![
            at(set.clone(), "d"),
            at(Origin::Line(7), "c"),
            at(Origin::Line(2), "b"),
            at(Origin::Line(7), "c"),
            at(Origin::File, "a"),
        ];
        let error = ScenarioError::of(mistakes).unwrap();
        let paths: Vec<&str> = error.mistakes().iter().map(Mistake::path).collect();
        assert_eq!(paths, ["a", "b", "c", "d"]);
        assert_eq!((error.mistakes()[2].line(), error.mistakes()[3].set()), (Some(7), Some("a=1")));
        assert_eq!(error.to_string().lines().count(), 4);
    }

    #[test]
    fn a_great_many_are_counted() {
        let mut misfits = Misfits::default();
        for index in 0..MOST_SHOWN + 3 {
            misfits.push(vec![index.to_string()], Problem::Empty);
        }
        let error =
            misfits.into_error(Vec::new(), |(path, problem)| Mistake::new("x", Origin::File, path.join("."), problem));
        let error = error.unwrap();
        assert_eq!((error.mistakes().len(), error.more()), (MOST_SHOWN, 3));
        assert!(error.to_string().ends_with("\n... and 3 more mistakes"));
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(printable("näh"), "näh");
    }
}
