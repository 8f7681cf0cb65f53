//! A guest as the host of a script.

use std::collections::VecDeque;
use std::path::Path;

use ackclock::exchange::{Call, Command, Flags, Host, Packet, Reading, Returned, Sent, Settings, commands};
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Side, TcpInfo};

use super::calls::{Operation, PORT, Request, Sockets, Step};
use super::settings::{Network, Setting, of_command, of_head, route};
use super::wire::{self, End};
use crate::error::KernelError;
use crate::guest::{Alone, BOOT, ETHERNET_MTU, Guest};
use crate::netlink::answers;
use crate::shared::{Kind, Record};

/// Scripts have no seed.
const SEED: u64 = 1;
/// A guest takes no time to compute, but a look at its clock takes so long in a call. A packet of a call has the time of
/// the call.
const LOOK_NANOS: u64 = 256;
/// The name of the guest in messages.
const HOST: &str = "the script's host";

/// A guest whose sockets a script calls.
pub struct KernelHost {
    guest: Guest,
    inbox: Inbox,
    sockets: Sockets,
    network: Network,
    /// The time of the guest, which calls advance.
    clock: u64,
    /// The port of the guest's end.
    port: u16,
    /// The guest's initial sequence number.
    first: u32,
    /// The call that waits, with its number.
    waiting: Option<(u16, Request)>,
    calls: u16,
    /// The settings of the script, for its tolerance.
    settings: Settings,
    /// Why the guest cannot continue.
    pub failure: Option<KernelError>,
}

/// The records that the guest has written.
#[derive(Debug, Default)]
struct Inbox {
    packets: VecDeque<(Instant, Vec<u8>)>,
    /// Numbers of calls with their results.
    returned: Vec<(u16, Vec<u8>)>,
    answers: Vec<Vec<u8>>,
    refused: Vec<String>,
}

/// The time of the guest.
fn guests_time(at: Instant) -> u64 {
    at.as_nanos() + BOOT.as_nanos()
}

impl KernelHost {
    /// A guest that has booted, with the settings of the script's head.
    ///
    /// # Errors
    /// The guest cannot start, or it ends.
    pub fn start(kernel: &Path, settings: &Settings) -> Result<KernelHost, KernelError> {
        let mut guest = Guest::alone(&Alone { kernel, host: HOST, seed: SEED, mtu: ETHERNET_MTU, limit: None })?;
        let (here, there) = (Side::Sender.address(0), Side::Receiver.address(0));
        let link = guest.shared().link();
        let mut host = KernelHost {
            guest,
            inbox: Inbox::default(),
            sockets: Sockets::new(here, there),
            network: Network { link, here, there },
            clock: BOOT.as_nanos(),
            port: PORT,
            first: 0,
            waiting: None,
            calls: 0,
            settings: settings.clone(),
            failure: None,
        };
        let mut notes = Vec::new();
        host.apply(Instant::ZERO, route(&[], host.network), &mut notes)?;
        for setting in of_head(settings) {
            host.apply(Instant::ZERO, setting, &mut notes)?;
        }
        Ok(host)
    }

    /// The time of the guest for an event of the script.
    fn time(&mut self, now: Instant) -> u64 {
        self.clock = self.clock.max(guests_time(now));
        self.clock
    }

    /// Lets everything happen that is due at `now`.
    fn run(&mut self, now: Instant) -> Result<(), KernelError> {
        let mut next = Some(self.time(now));
        while let Some(time) = next {
            self.clock = time;
            self.guest.run(time, time + 1)?;
            let inbox = &mut self.inbox;
            self.guest.wait(|record| inbox.take(now, record))?;
            next = self.guest.request().filter(|at| *at <= time + LOOK_NANOS).map(|at| at.max(time));
        }
        Ok(())
    }

    /// Sends a record, which takes effect at `now`.
    fn send(&mut self, now: Instant, kind: Kind, flow: u16, content: &[u8]) -> Result<(), KernelError> {
        let time = self.time(now);
        self.guest.shared().push(time, kind, flow, content);
        self.run(now)
    }

    fn apply(&mut self, now: Instant, setting: Setting, notes: &mut Vec<String>) -> Result<(), KernelError> {
        match setting {
            Setting::Note(note) => notes.push(note),
            Setting::Word(word) => self.send(now, Kind::Word, 0, word.as_bytes())?,
            Setting::Netlink(purpose, message) => {
                self.send(now, Kind::Netlink, 0, &message.record())?;
                for answer in std::mem::take(&mut self.inbox.answers) {
                    if let Err(error) = answers(&answer) {
                        notes.push(format!("the kernel denies {purpose}: {error}"));
                    }
                }
            }
        }
        notes.append(&mut self.inbox.refused);
        Ok(())
    }

    /// Carries out a request. Returns none if it waits.
    fn ask(&mut self, now: Instant, request: &Request) -> Result<Option<Vec<u8>>, KernelError> {
        self.calls = self.calls.wrapping_add(1);
        self.send(now, Kind::Call, self.calls, &request.record())?;
        Ok(self.inbox.result_of(self.calls))
    }

    /// Keeps the error of the guest. The script gets its text.
    fn kept<T>(&mut self, done: Result<T, KernelError>) -> Result<T, String> {
        done.map_err(|error| {
            let message = error.to_string();
            self.failure = Some(error);
            message
        })
    }
}

impl Host for KernelHost {
    fn next_deadline(&self) -> Option<Instant> {
        self.guest.request().map(|at| Instant::from_nanos(at.saturating_sub(BOOT.as_nanos())))
    }

    fn on_deadline(&mut self, now: Instant) -> Result<(), String> {
        let done = self.run(now);
        self.kept(done)
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), String> {
        let from = End { address: self.network.there, port: PORT };
        let to = End { address: self.network.here, port: self.port };
        let bytes = wire::packet(packet, from, to, self.first);
        let done = self.send(now, Kind::Packet, 0, &bytes);
        self.kept(done)
    }

    fn call(&mut self, now: Instant, call: &Call) -> Result<Option<Returned>, String> {
        let request = match self.sockets.prepare(call)? {
            Step::Known(returned) => return Ok(Some(returned)),
            Step::Asks(request) => request,
        };
        let done = self.ask(now, &request);
        match self.kept(done)? {
            Some(result) => Ok(Some(self.sockets.returned(&request, number(&result)))),
            None => {
                self.waiting = Some((self.calls, request));
                Ok(None)
            }
        }
    }

    fn take_returned(&mut self, _now: Instant) -> Result<Option<Returned>, String> {
        let Some((number_of_call, request)) = self.waiting.take() else { return Ok(None) };
        let Some(result) = self.inbox.result_of(number_of_call) else {
            self.waiting = Some((number_of_call, request));
            return Ok(None);
        };
        Ok(Some(self.sockets.returned(&request, number(&result))))
    }

    fn shell(&mut self, now: Instant, text: &str) -> Result<Vec<String>, String> {
        // Only the tolerance follows from them.
        _ = self.settings.shell(text);
        let mut notes = Vec::new();
        let settings: Vec<_> =
            commands(text).iter().flat_map(|command: &Command| of_command(command, self.network)).collect();
        for setting in settings {
            let done = self.apply(now, setting, &mut notes);
            self.kept(done)?;
        }
        Ok(notes)
    }

    fn reading(&mut self, now: Instant) -> Result<Option<Reading>, String> {
        let Some(place) = self.sockets.connection() else { return Ok(None) };
        let done = self.ask(now, &Request::new(Operation::Info, place));
        let result = self.kept(done)?.filter(|result| number(result) == 0);
        let Some(result) = result else { return Ok(None) };
        let mut bytes = [0; TcpInfo::LEN];
        let info = result.get(8..).unwrap_or_default();
        let len = info.len().min(TcpInfo::LEN);
        bytes[..len].copy_from_slice(&info[..len]);
        let info = TcpInfo::new(bytes);
        Ok(Some(Reading::of(|name| info.field(name).unwrap_or_default())))
    }

    fn take_sent(&mut self, queue: &mut VecDeque<Sent>) {
        for (at, bytes) in self.inbox.packets.drain(..) {
            let Some((mut packet, from, _)) = wire::segment(&bytes) else { continue };
            if packet.flags.has(Flags::SYN) {
                (self.first, self.port) = (packet.seq, from.port);
            }
            packet.seq = packet.seq.wrapping_sub(self.first);
            queue.push_back(Sent { at, packet });
        }
    }

    fn tolerance(&self, length: Duration) -> Duration {
        self.settings.tolerance(length)
    }
}

impl Inbox {
    /// Takes a record that the guest has written at `at`.
    fn take(&mut self, at: Instant, record: Record<'_>) -> Result<(), KernelError> {
        match record.kind {
            Kind::Packet => self.packets.push_back((at, record.content.to_vec())),
            Kind::Return => self.returned.push((record.flow as u16, record.content.to_vec())),
            Kind::Answer => self.answers.push(record.content.to_vec()),
            Kind::Failed => {
                let text = String::from_utf8_lossy(record.content);
                let mut lines = text.lines();
                let name = lines.next().unwrap_or_default();
                let number = lines.next().and_then(|line| line.parse::<i32>().ok()).unwrap_or_default();
                let error = std::io::Error::from_raw_os_error(number.wrapping_neg());
                self.refused.push(format!("the kernel denies {name}: {error}"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The result of a call, once.
    fn result_of(&mut self, number: u16) -> Option<Vec<u8>> {
        let place = self.returned.iter().position(|(of, _)| *of == number)?;
        Some(self.returned.swap_remove(place).1)
    }
}

fn number(result: &[u8]) -> i64 {
    result.get(..8).map_or(0, |bytes| i64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
}
