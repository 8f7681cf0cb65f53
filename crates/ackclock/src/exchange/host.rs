//! The host of a script: the TCP whose sockets it calls, and whose segments it sees.

use std::collections::VecDeque;

use super::info::Reading;
use super::packet::Packet;
use super::script::Call;
use crate::units::{Duration, Instant};

/// A segment that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// The segment. Values of timestamps are the host's own.
    pub packet: Packet,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The value.
    pub value: i64,
    /// The error that a value of -1 stands for.
    pub errno: Option<&'static str>,
    /// The unsupported part of the request.
    pub note: Option<String>,
}

impl Returned {
    /// A value.
    pub fn value(value: i64) -> Self {
        Returned { value, errno: None, note: None }
    }

    /// An error.
    pub fn error(errno: &'static str) -> Self {
        Returned { value: -1, errno: Some(errno), note: None }
    }
}

/// The TCP of a script. Times never run backwards. An error ends the script, with its text.
pub trait Host {
    /// When it acts next by itself, if ever.
    fn next_deadline(&self) -> Option<Instant>;

    /// Everything happens that is due at `now`.
    ///
    /// # Errors
    /// The host cannot continue.
    fn on_deadline(&mut self, now: Instant) -> Result<(), String>;

    /// A segment arrives.
    ///
    /// # Errors
    /// The host cannot continue.
    fn on_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), String>;

    /// Carries out a call. Returns none if the call waits.
    ///
    /// # Errors
    /// A call that does not exist here, or makes no sense.
    fn call(&mut self, now: Instant, call: &Call) -> Result<Option<Returned>, String>;

    /// The result of a call that waited, once.
    ///
    /// # Errors
    /// The state of the connection no longer permits the call.
    fn take_returned(&mut self, now: Instant) -> Result<Option<Returned>, String>;

    /// Applies a text of the shell. Returns a note for each unsupported part.
    ///
    /// # Errors
    /// A value that a setting cannot have.
    fn shell(&mut self, now: Instant, text: &str) -> Result<Vec<String>, String>;

    /// The fields of `tcp_info`. None without a connection.
    ///
    /// # Errors
    /// The host cannot continue.
    fn reading(&mut self, now: Instant) -> Result<Option<Reading>, String>;

    /// Appends the segments that were sent since the last call.
    fn take_sent(&mut self, queue: &mut VecDeque<Sent>);

    /// The tolerance of the time of a segment, `length` after the previous event.
    fn tolerance(&self, length: Duration) -> Duration;
}
