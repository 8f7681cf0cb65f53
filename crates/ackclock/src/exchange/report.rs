//! The report of a script.

use super::ScriptError;

/// The result of one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether everything was as the script says.
    pub outcome: Outcome,
    /// The unsupported requests of the script.
    pub notes: Vec<Note>,
    /// Segments sent.
    pub segments: u64,
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
    /// `message` (ready to print), `notes` and `segments`. Fields that do not apply are null.
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
        serde_json::json!({
            "name": name,
            "status": status,
            "line": line,
            "expected": expected,
            "seen": seen,
            "message": message,
            "notes": notes,
            "segments": self.segments,
        })
        .to_string()
    }
}
