//! Exchange scripts: segments in and out as text with times, in the syntax of packetdrill. They run against the
//! sender and the receiver of [`crate::tcp`] in virtual time.
//!
//! Reference: Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from Sockets to Packets",
//! USENIX ATC 2013. `docs/reference/exchange.md` lists the supported features.
//!
//! ```text
//! text ──▶ Script ──▶ Run ◀──▶ Host: Simulated ◀──▶ Endpoint (handshake) ◀──▶ Connection (tcp::Sender, tcp::Receiver)
//!                      └──▶ Report
//! ```
//!
//! Another [`Host`] runs the same scripts, such as a kernel in virtual time.

mod calls;
mod connection;
mod ecn;
mod endpoint;
mod expression;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod host;
mod info;
mod packet;
mod report;
mod run;
mod scanner;
mod script;
mod settings;
mod shell;
mod simulated;
mod timestamps;

#[cfg(any(test, feature = "fuzz"))]
pub use fuzz::fuzz;
pub use host::{Host, Returned, Sent};
pub use info::Reading;
pub use packet::{AccEcnCounters, Flags, Options, Packet};
pub use report::{Answer, Mismatch, Note, Outcome, Report};
pub use script::Call;
pub use settings::Settings;
pub use shell::{Command, commands};

use crate::transport::Profile;
use script::Script;
use simulated::Simulated;

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

/// Runs a script against the simulated TCP, which begins with the settings of `profile`.
pub fn run(text: &str, profile: Profile) -> Report {
    run_bounded(text, profile, MAX_SEGMENTS)
}

fn run_bounded(text: &str, profile: Profile, max_segments: u64) -> Report {
    match read(text, profile) {
        Ok(script) => run::Run::new(&script, &mut Simulated::new(script.settings.clone()), max_segments).finish(),
        Err(error) => error.into(),
    }
}

/// Runs a script against another host. `start` makes the host for the settings of the script's head.
///
/// # Errors
/// The error of `start`.
pub fn run_against<H: Host, E>(
    text: &str,
    profile: Profile,
    start: impl FnOnce(&Settings) -> Result<H, E>,
) -> Result<(Report, Option<H>), E> {
    match read(text, profile) {
        Ok(script) => {
            let mut host = start(&script.settings)?;
            let report = run::Run::new(&script, &mut host, MAX_SEGMENTS).finish();
            Ok((report, Some(host)))
        }
        Err(error) => Ok((error.into(), None)),
    }
}

fn read(text: &str, profile: Profile) -> Result<Script, ScriptError> {
    let script = Script::parse(text, Settings::under(profile))?;
    if script.expects_anything() {
        return Ok(script);
    }
    let line = text.lines().count().max(1) as u32;
    Err(ScriptError { line, message: NOTHING_EXPECTED.to_owned(), is_elsewhere: false })
}
