//! The texts of a rule, as a scenario or one line gives them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::formula::FormulaError;

/// Bytes of a rule on one line that are allowed.
const MAX_LINE: usize = 16_384;
/// The key of the condition that ends slow start.
pub(super) const EXIT_SLOW_START: &str = "exit_slow_start";

/// A rule as text: formulas for the increase and the cut. It may have parameters and states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RuleSource {
    /// Increase for each acknowledged segment in congestion avoidance, in segments. It applies to the whole ACK if
    /// `acked` occurs in it.
    pub grow: String,
    /// Window that a congestion event leaves, in segments.
    pub cut: String,
    /// Rate at which to send, in bit/s. Without it the flow does not pace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pacing: String,
    /// Condition that ends slow start at an ACK for which it is true, such as `rtt > 1.25 * min_rtt`. By default only
    /// losses and marks end it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub exit_slow_start: String,
    /// States and their initial values, such as `x = 0; y = 2 * a`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Assignments at each ACK, such as `x = x + 1; y = max(x, y)`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_ack: String,
    /// Assignments before the window grows by `grow`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_grow: String,
    /// Assignments before `cut`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_cut: String,
    /// Assignments when congestion avoidance begins, or begins again, at the window `w`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_restart: String,
    /// Assignments when the floor left the window `w`, which is more than `cut`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_floor: String,
    /// Assignments after the cut of a retransmission timeout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_timeout: String,
    /// Assignments when marks are echoed, once per window. Marks do not cut a rule that contains them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_mark: String,
    /// Assignments when a segment is sent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_send: String,
    /// Assignments when an idle time has reduced the window to `w`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_resume: String,
    /// Assignments when the last congestion event was spurious. A rule that contains them recovers its window and
    /// states.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on_undo: String,
    /// File with the rule, in lines of formulas, instead of the texts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Parameters: names of one's own for numbers.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
}

impl Default for RuleSource {
    fn default() -> Self {
        let none = String::new;
        RuleSource {
            grow: "1 / w".to_owned(),
            cut: "w / 2".to_owned(),
            pacing: none(),
            exit_slow_start: none(),
            state: none(),
            on_ack: none(),
            on_grow: none(),
            on_cut: none(),
            on_restart: none(),
            on_floor: none(),
            on_timeout: none(),
            on_mark: none(),
            on_send: none(),
            on_resume: none(),
            on_undo: none(),
            file: none(),
            parameters: BTreeMap::new(),
        }
    }
}

impl RuleSource {
    /// The keys of texts, and the text of each.
    pub fn texts(&self) -> [(&'static str, &str); 15] {
        [
            ("grow", &self.grow),
            ("cut", &self.cut),
            ("pacing", &self.pacing),
            (EXIT_SLOW_START, &self.exit_slow_start),
            ("state", &self.state),
            ("on_ack", &self.on_ack),
            ("on_grow", &self.on_grow),
            ("on_cut", &self.on_cut),
            ("on_restart", &self.on_restart),
            ("on_floor", &self.on_floor),
            ("on_timeout", &self.on_timeout),
            ("on_mark", &self.on_mark),
            ("on_send", &self.on_send),
            ("on_resume", &self.on_resume),
            ("on_undo", &self.on_undo),
        ]
    }

    fn text_mut(&mut self, key: &str) -> Option<&mut String> {
        Some(match key {
            "grow" => &mut self.grow,
            "cut" => &mut self.cut,
            "pacing" => &mut self.pacing,
            EXIT_SLOW_START => &mut self.exit_slow_start,
            "state" => &mut self.state,
            "on_ack" => &mut self.on_ack,
            "on_grow" => &mut self.on_grow,
            "on_cut" => &mut self.on_cut,
            "on_restart" => &mut self.on_restart,
            "on_floor" => &mut self.on_floor,
            "on_timeout" => &mut self.on_timeout,
            "on_mark" => &mut self.on_mark,
            "on_send" => &mut self.on_send,
            "on_resume" => &mut self.on_resume,
            "on_undo" => &mut self.on_undo,
            _ => return None,
        })
    }

    /// Reads a rule from one line: `grow = a / w; cut = b * w; a = 1; b = 0.5; state x = 0; on_ack x = x + 1`.
    ///
    /// A statement ends with `;` or the line, and `#` begins a comment. A statement that begins with `state` or an
    /// event adds an assignment to it. Any other name gives a parameter its number. The function does not parse the
    /// formulas.
    ///
    /// # Errors
    /// Reports a malformed statement, an invalid number, and two values of the same name.
    pub fn from_line(line: &str) -> Result<Self, FormulaError> {
        if line.len() > MAX_LINE {
            let message = format!("the rule has {} bytes; at most {MAX_LINE}", line.len());
            return Err(FormulaError::new(line, 0..0, message));
        }
        let mut source = RuleSource::default();
        let mut seen: Vec<&str> = Vec::new();
        for (start, statement) in statements(line) {
            let wrong = |message: String| FormulaError::new(line, start..start + statement.len(), message);
            let Some((left, right)) = statement.split_once('=') else {
                return Err(wrong("expected NAME = FORMULA".to_owned()));
            };
            let (left, right) = (left.trim(), right.trim());
            if left.is_empty() {
                return Err(wrong("expected NAME = FORMULA".to_owned()));
            }
            if let Some((event, name)) = left.split_once(char::is_whitespace) {
                let is_list = event == "state" || event.starts_with("on_");
                let Some(list) = source.text_mut(event).filter(|_| is_list) else {
                    return Err(wrong(format!(
                        "`{event}` is not an event; expected NAME = FORMULA or EVENT NAME = FORMULA"
                    )));
                };
                let separator = if list.is_empty() { "" } else { "; " };
                *list = format!("{list}{separator}{} = {right}", name.trim());
                continue;
            }
            if seen.contains(&left) {
                return Err(wrong(format!("`{left}` has a value already")));
            }
            seen.push(left);
            if matches!(left, "grow" | "cut" | "pacing" | EXIT_SLOW_START)
                && let Some(formula) = source.text_mut(left)
            {
                *formula = right.to_owned();
                continue;
            }
            let number = right.parse::<f64>().ok().filter(|number| number.is_finite());
            let Some(number) = number else {
                return Err(wrong(format!(
                    "the parameter `{left}` is a number; a formula is `grow`, `cut`, `pacing` or `{EXIT_SLOW_START}`"
                )));
            };
            source.parameters.insert(left.to_owned(), number);
        }
        Ok(source)
    }
}

/// The statements of a text that are not empty, and where they begin.
fn statements(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = move |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(statement, _)| statement));
    let all = lines.flat_map(|line| line.split(';')).map(str::trim);
    all.filter(|statement| !statement.is_empty()).map(move |statement| (place(statement), statement))
}
