//! Exchange scripts: segments in and out as text with times, in the syntax of packetdrill. They run against the
//! sender and the receiver of [`crate::tcp`] in virtual time.
//!
//! Reference: Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
//! USENIX ATC 2013. `docs/reference/exchange.md` lists the supported features.
//!
//! ```text
//! text ──▶ Script ──▶ Run ◀──▶ Endpoint (handshake) ◀──▶ Connection (tcp::Sender, tcp::Receiver)
//!                      └──▶ Report
//! ```

mod calls;
mod connection;
mod ecn;
mod endpoint;
mod expression;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod info;
mod packet;
mod report;
mod run;
mod scanner;
mod script;
mod settings;

#[cfg(any(test, feature = "fuzz"))]
pub use fuzz::fuzz;
pub use report::{Mismatch, Note, Outcome, Report};

use crate::transport::Profile;
use script::Script;
use settings::Settings;

/// A script that cannot be read, or uses an unsupported feature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: u32,
    /// The message.
    pub message: String,
    /// The script is right, and about something that senders and receivers of segments do not have.
    pub is_elsewhere: bool,
}

/// The most segments that a script may make this TCP send.
const MAX_SEGMENTS: u64 = 200_000;

/// The error of a script that would always pass.
const NOTHING_EXPECTED: &str =
    "the script tests nothing; expect a segment (`+0 > ...`), a result of a call or an assertion";

/// Runs a script, which begins with the settings of `profile`.
pub fn run(text: &str, profile: Profile) -> Report {
    run_bounded(text, profile, MAX_SEGMENTS)
}

fn run_bounded(text: &str, profile: Profile, max_segments: u64) -> Report {
    let script = Script::parse(text, Settings::under(profile)).and_then(|script| match script.expects_anything() {
        true => Ok(script),
        false => Err(ScriptError {
            line: text.lines().count().max(1) as u32,
            message: NOTHING_EXPECTED.to_owned(),
            is_elsewhere: false,
        }),
    });
    match script {
        Ok(script) => run::Run::new(&script, max_segments).finish(),
        Err(error) => Report { outcome: error.into(), notes: Vec::new(), segments: 0 },
    }
}
