//! The simulated TCP as the host of a script.

use std::collections::VecDeque;

use super::calls::Sockets;
use super::endpoint::Endpoint;
use super::host::{Host, Returned, Sent};
use super::info::Reading;
use super::packet::Packet;
use super::script::Call;
use super::settings::Settings;
use crate::units::{Duration, Instant};

/// The sender and the receiver of [`crate::tcp`], behind the sockets of a script.
#[derive(Debug)]
pub struct Simulated {
    endpoint: Endpoint,
    sockets: Sockets,
    /// A call that waits.
    waiting: Option<Call>,
}

/// The error of a call that would wait.
const WOULD_WAIT: Option<&str> = Some("EAGAIN");

impl Simulated {
    /// A host with these settings.
    pub fn new(settings: Settings) -> Self {
        Simulated { endpoint: Endpoint::new(settings), sockets: Sockets::default(), waiting: None }
    }
}

impl Host for Simulated {
    fn next_deadline(&self) -> Option<Instant> {
        self.endpoint.next_deadline()
    }

    fn on_deadline(&mut self, now: Instant) -> Result<(), String> {
        self.endpoint.on_deadline(now);
        Ok(())
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), String> {
        self.endpoint.on_packet(now, packet);
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &Call) -> Result<Option<Returned>, String> {
        let returned = self.sockets.call(now, call, &mut self.endpoint)?;
        if call.may_wait && call.errno.is_none() && returned.errno == WOULD_WAIT {
            self.waiting = Some(call.clone());
            return Ok(None);
        }
        Ok(Some(returned))
    }

    fn take_returned(&mut self, now: Instant) -> Result<Option<Returned>, String> {
        let Some(call) = &self.waiting else { return Ok(None) };
        let returned = self.sockets.call(now, call, &mut self.endpoint)?;
        if returned.errno == WOULD_WAIT {
            return Ok(None);
        }
        self.waiting = None;
        Ok(Some(returned))
    }

    fn shell(&mut self, now: Instant, text: &str) -> Result<Vec<String>, String> {
        let before = self.endpoint.settings.clone();
        let mut notes = self.endpoint.settings.shell(text)?;
        if self.endpoint.settings != before && !self.endpoint.apply_settings(now) {
            notes.push("the command comes too late: the connection is in use".to_owned());
        }
        Ok(notes)
    }

    fn reading(&mut self, _now: Instant) -> Result<Option<Reading>, String> {
        Ok(self.endpoint.connection().map(|connection| connection.reading()))
    }

    fn take_sent(&mut self, queue: &mut VecDeque<Sent>) {
        self.endpoint.take_sent(queue);
    }

    fn tolerance(&self, length: Duration) -> Duration {
        self.endpoint.settings.tolerance(length)
    }
}
