//! Windows without fractions, as Linux has them.

/// Which window rules have whole windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum WholeWindow {
    /// All of them, or none.
    Switch(bool),
    /// Reno alone.
    Word(RenoWord),
}

/// The word "reno".
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RenoWord {
    /// The rule of RFC 5681, which is a part of Linux; programs for other rules keep fractions.
    Reno,
}

impl WholeWindow {
    /// That of a rule, which is Reno or another one.
    pub(super) fn of_a_rule(self, is_reno: bool) -> Self {
        match self {
            WholeWindow::Word(RenoWord::Reno) => WholeWindow::Switch(is_reno),
            WholeWindow::Switch(_) => self,
        }
    }
}

impl Default for WholeWindow {
    fn default() -> Self {
        WholeWindow::Switch(false)
    }
}
