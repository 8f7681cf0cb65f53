//! The report of a script.

use super::ScriptError;
use crate::units::Instant;

/// The result of one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether everything was as the script says.
    pub outcome: Outcome,
    /// The unsupported requests of the script.
    pub notes: Vec<Note>,
    /// Segments sent.
    pub segments: u64,
    /// The segments that lines of the script expect, as they were.
    pub answers: Vec<Answer>,
}

/// A segment that a line of the script expects, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The line, from 1.
    pub line: u32,
    /// When it left.
    pub at: Instant,
    /// The segment, or nothing.
    pub segment: Option<String>,
}

/// Whether everything was as the script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was.
    Passed,
    /// It was not.
    Failed(Mismatch),
    /// The script cannot be read, or requests an unsupported feature.
    Unreadable(ScriptError),
    /// The script is about something that senders and receivers of segments do not have.
    Skipped(ScriptError),
}

impl From<ScriptError> for Report {
    fn from(error: ScriptError) -> Self {
        Report { outcome: error.into(), notes: Vec::new(), segments: 0, answers: Vec::new() }
    }
}

impl From<ScriptError> for Outcome {
    fn from(error: ScriptError) -> Self {
        if error.is_elsewhere { Outcome::Skipped(error) } else { Outcome::Unreadable(error) }
    }
}

/// The first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The line, from 1.
    pub line: u32,
    /// The expected event.
    pub expected: String,
    /// The observed event.
    pub seen: String,
}

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line, from 1.
    pub line: u32,
    /// The message.
    pub message: String,
}

impl Report {
    /// True if everything was as the script says.
    pub fn passed(&self) -> bool {
        self.outcome == Outcome::Passed
    }

    /// As JSON: `name`, `status` (`passed`, `failed`, `skipped` or `unreadable`), `line`, `expected`, `seen`,
    /// `message` (ready to print), `notes`, `segments` and `answers`. Fields that do not apply are null.
    pub fn to_json(&self, name: &str) -> String {
        let (status, line, expected, seen, message) = match &self.outcome {
            Outcome::Passed => ("passed", None, None, None, None),
            Outcome::Failed(Mismatch { line, expected, seen }) => {
                let message = format!("{name}:{line}: expected {expected}\n{name}:{line}:     seen {seen}");
                ("failed", Some(line), Some(expected), Some(seen), Some(message))
            }
            Outcome::Unreadable(error) => {
                ("unreadable", Some(&error.line), None, None, Some(format!("{name}:{error}")))
            }
            Outcome::Skipped(error) => ("skipped", Some(&error.line), None, None, Some(format!("{name}:{error}"))),
        };
        let notes: Vec<_> = self
            .notes
            .iter()
            .map(|Note { line, message }| serde_json::json!({ "line": line, "message": format!("{name}:{line}: {message}") }))
            .collect();
        let answers: Vec<_> = self
            .answers
            .iter()
            .map(|Answer { line, at, segment }| {
                serde_json::json!({ "line": line, "at_ns": at.as_nanos(), "segment": segment })
            })
            .collect();
        serde_json::json!({
            "name": name,
            "status": status,
            "line": line,
            "expected": expected,
            "seen": seen,
            "message": message,
            "notes": notes,
            "segments": self.segments,
            "answers": answers,
        })
        .to_string()
    }
}
