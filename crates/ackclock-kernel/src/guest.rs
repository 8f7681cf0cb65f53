//! A guest: its process, and the protocol of its clock (include/uapi/linux/um_timetravel.h).
//!
//! The guest waits until the calendar lets it run. It then runs on its own up to a permitted time. A second shared
//! memory contains the clock and the request of the guest. A stretch of running therefore costs two messages. Kernels
//! before 6.12 have no such memory, and send their requests as messages.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ackclock::units;

use crate::error::{KernelError, Tried};
use crate::folder::Folder;
use crate::shared::{Record, Shared};
use crate::sys::{self, Confinement, GUESTS_MEMORY, Memory};

/// The MTU of a device outside of a scenario, in bytes: Ethernet's.
pub const ETHERNET_MTU: u32 = 1500;
/// The time of a guest at the start of a run. It boots before.
pub const BOOT: units::Duration = units::Duration::from_secs(1);
/// A guest computes no longer than this between two events, unless the scenario sets another limit.
const LIMIT: Duration = Duration::from_secs(60);
/// Lines of a console that an error shows, and the bytes that are searched for them.
const LINES: usize = 16;
const LAST_BYTES: u64 = 1 << 14;
/// The last check of the host by User-Mode Linux.
const LAST_CHECK: &str = "Checking PROT_EXEC mmap";
/// The kernel's time of day at the start, in nanoseconds since 1970. It enters the kernel's random numbers.
pub const TIME_OF_DAY: u64 = 1_700_000_000_000_000_000;

// Operations of the protocol.
const ACK: u32 = 0;
const START: u32 = 1;
const REQUEST: u32 = 2;
const WAIT: u32 = 3;
const GET: u32 = 4;
const UPDATE: u32 = 5;
const RUN: u32 = 6;
const FREE_UNTIL: u32 = 7;
const GET_TOD: u32 = 8;
const BROADCAST: u32 = 9;
/// The code of a message of the agent (guest/agent/clock.c).
const DRAIN: u32 = 64;

// Places in the memory of the clock.
const CLOCK_LEN: usize = 8192;
const AT_VERSION: usize = 0;
const AT_LEN: usize = 4;
const AT_FREE_UNTIL: usize = 8;
const AT_TIME: usize = 16;
const AT_RUNNING: usize = 24;
const AT_CLIENTS: usize = 26;
/// The calendar has the slot 0, and the guest the slot 1.
const AT_SLOTS: usize = 4096;
const SLOT: usize = 128;
const AT_REQUEST: usize = AT_SLOTS + SLOT;
/// Both can share their time.
const SHARES_TIME: u32 = 1;

/// The inputs of a guest.
pub struct Boot<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// The folder of the run, for this run alone.
    pub folder: &'a Path,
    /// The name of the host in messages.
    pub host: &'static str,
    /// Its number.
    pub number: usize,
    /// The seed of its random numbers.
    pub seed: u64,
    /// More words of its command line.
    pub settings: &'a [String],
    /// Wall-clock time within which it answers.
    pub limit: Option<Duration>,
}

/// The inputs of a guest without a plan.
#[derive(Clone, Copy, Debug)]
pub struct Alone<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// The name of the host in messages.
    pub host: &'static str,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The largest packet in bytes.
    pub mtu: u32,
    /// Wall-clock time within which it answers.
    pub limit: Option<Duration>,
}

/// A guest.
pub struct Guest {
    host: &'static str,
    process: Process,
    clock: Memory,
    link: UnixStream,
    console: File,
    shared: Shared,
    sequence: u32,
    /// When it runs next by itself, if ever.
    request: Option<u64>,
    /// It sends its requests as messages, because its kernel has no shared clock.
    sends_requests: bool,
    limit: Duration,
}

impl Guest {
    /// Starts a guest. It runs until [`Guest::wait`].
    pub fn start(boot: &Boot<'_>, shared: Shared) -> Result<Guest, KernelError> {
        let Boot { kernel, folder, host, number, seed, settings, limit } = *boot;
        let limit = limit.unwrap_or(LIMIT);
        let socket = format!("clock{number}");
        let listener = UnixListener::bind(folder.join(&socket)).tried("the socket of a guest's clock")?;
        let console =
            File::options().read(true).write(true).create_new(true).open(folder.join(format!("console{number}")));
        let console = console.tried("the console of a guest")?;
        let output = console.try_clone().tried("the console of a guest")?;
        let mut command = Command::new(kernel);
        // The kernel mixes its command line into its random numbers, so it contains no place of this run.
        command
            .args(["mem=256M", "con=null", "con0=null,fd:1", "loglevel=5", "panic=-1", "uml_dir=./"])
            .arg(format!("umid=host{number}"))
            .arg(format!("time-travel=ext:{number}:{socket}"))
            .arg(format!("ackclock_memory={GUESTS_MEMORY}"))
            .arg("ackclock_alone=1")
            .args(settings)
            .env_clear()
            .env("UML_SEED", (seed ^ number as u64).to_string())
            .env("TMPDIR", ".")
            .env("HOME", ".")
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone().tried("the console of a guest")?)
            .stderr(output);
        sys::prepare(&mut command, shared.memory(), Confinement::new(kernel, folder));
        let process = command.spawn().tried("starting the kernel of a guest")?;
        // From here on the process ends with this value.
        let mut process = Process { process, has_ended: false };
        let link = accept(&listener, &mut process.process).tried("waiting for the kernel of a guest")?;
        let Some(link) = link else {
            process.has_ended = true;
            return Err(KernelError::Ended { host, lines: last_lines(&console) });
        };
        link.set_read_timeout(Some(limit)).tried("the socket of a guest's clock")?;
        let clock = Memory::new(CLOCK_LEN).tried("the memory of a guest's clock")?;
        clock.write(AT_VERSION, &2u32.to_ne_bytes());
        clock.write(AT_LEN, &(CLOCK_LEN as u32).to_ne_bytes());
        clock.write(AT_RUNNING, &1u16.to_ne_bytes());
        clock.write(AT_CLIENTS, &2u16.to_ne_bytes());
        clock.write(AT_SLOTS, &SHARES_TIME.to_ne_bytes());
        let (sequence, request, sends_requests) = (0, None, false);
        Ok(Guest { host, process, clock, link, console, shared, sequence, request, sends_requests, limit })
    }

    /// A guest without a plan, which has booted.
    pub fn alone(alone: &Alone<'_>) -> Result<Guest, KernelError> {
        let Alone { kernel, host, seed, mtu, limit } = *alone;
        // The guest opens all files that it needs. Nothing is left if this process is killed later.
        let folder = Folder::new().tried("the folder of a run")?;
        let shared = Shared::new(0, mtu, 1).tried("the memory of a guest")?;
        let boot = Boot { kernel, folder: folder.path(), host, number: 0, seed, settings: &[], limit };
        let mut guest = Guest::start(&boot, shared)?;
        let mut nothing = |_: Record<'_>| Ok(());
        guest.wait(&mut nothing)?;
        guest.settle(BOOT.as_nanos(), &mut nothing)?;
        Ok(guest)
    }

    /// When it runs next by itself, if ever.
    pub fn request(&self) -> Option<u64> {
        self.request
    }

    /// Its records.
    pub fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Lets it run from `now` on, by itself up to `until` exclusively.
    pub fn run(&mut self, now: u64, until: u64) -> Result<(), KernelError> {
        self.clock.write(AT_TIME, &now.to_ne_bytes());
        self.clock.write(AT_FREE_UNTIL, &until.to_ne_bytes());
        self.clock.write(AT_RUNNING, &1u16.to_ne_bytes());
        if self.sends_requests {
            self.request = None;
            self.sequence += 1;
            self.send(FREE_UNTIL, self.sequence, until)?;
        }
        self.sequence += 1;
        self.send(RUN, self.sequence, now)
    }

    /// Waits until it waits. Passes its records to `take`.
    pub fn wait(&mut self, mut take: impl FnMut(Record<'_>) -> Result<(), KernelError>) -> Result<(), KernelError> {
        loop {
            let (operation, sequence, time) = self.receive()?;
            match operation {
                START => {
                    let null = File::options().read(true).write(true).open("/dev/null").tried("/dev/null")?;
                    let files = [self.clock.file().as_raw_fd(), null.as_raw_fd()];
                    sys::send_files(&self.link, &message(ACK, sequence, 1), &files).tried("the clock of a guest")?;
                }
                REQUEST => {
                    self.sends_requests = true;
                    self.request = Some(time);
                    self.send(ACK, sequence, 0)?;
                }
                WAIT if self.sends_requests => {
                    self.send(ACK, sequence, 0)?;
                    break;
                }
                WAIT => break,
                GET_TOD => self.send(ACK, sequence, TIME_OF_DAY + self.clock.u64_at(AT_TIME))?,
                GET => self.send(ACK, sequence, self.clock.u64_at(AT_TIME))?,
                DRAIN => {
                    self.shared.drain(&mut take)?;
                    self.send(ACK, sequence, 0)?;
                }
                UPDATE | BROADCAST => self.send(ACK, sequence, time)?,
                _ => {}
            }
        }
        self.clock.write(AT_RUNNING, &0u16.to_ne_bytes());
        if !self.sends_requests {
            let has_request = self.clock.u32_at(AT_REQUEST + 4) & 1 != 0;
            self.request = has_request.then(|| self.clock.u64_at(AT_REQUEST + 8));
        }
        self.request = self.request.filter(|time| *time < FOREVER);
        self.shared.drain(take)
    }

    /// Lets it run until it has nothing to do before this time.
    pub fn settle(
        &mut self,
        until: u64,
        mut take: impl FnMut(Record<'_>) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        while let Some(at) = self.request.filter(|at| *at < until) {
            self.run(at, until)?;
            self.wait(&mut take)?;
        }
        Ok(())
    }

    fn send(&mut self, operation: u32, sequence: u32, time: u64) -> Result<(), KernelError> {
        match self.link.write_all(&message(operation, sequence, time)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.gone(&error)),
        }
    }

    fn receive(&mut self) -> Result<(u32, u32, u64), KernelError> {
        let mut bytes = [0; 16];
        self.link.read_exact(&mut bytes).map_err(|error| self.gone(&error))?;
        let half = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        Ok((half(0) as u32, (half(0) >> 32) as u32, half(8)))
    }

    /// The last lines of its console.
    pub fn last_lines(&self) -> Vec<String> {
        last_lines(&self.console)
    }

    fn gone(&self, error: &io::Error) -> KernelError {
        let (host, lines) = (self.host, last_lines(&self.console));
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                KernelError::Stuck { host, limit: self.limit, lines }
            }
            _ => KernelError::Ended { host, lines },
        }
    }
}

/// A guest without events requests this time or a later one.
const FOREVER: u64 = i64::MAX as u64 - 1;

impl Guest {
    /// Ends the guest. Returns its CPU time in nanoseconds.
    pub fn end(mut self) -> u64 {
        self.process.kill()
    }
}

/// The processes of a guest.
struct Process {
    process: Child,
    has_ended: bool,
}

impl Process {
    fn kill(&mut self) -> u64 {
        if std::mem::replace(&mut self.has_ended, true) {
            return 0;
        }
        sys::kill_group(self.process.id());
        sys::reap(self.process.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn message(operation: u32, sequence: u32, time: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&operation.to_ne_bytes());
    bytes[4..8].copy_from_slice(&sequence.to_ne_bytes());
    bytes[8..].copy_from_slice(&time.to_ne_bytes());
    bytes
}

/// Accepts the connection of a guest, or none if its process ends before.
fn accept(listener: &UnixListener, process: &mut Child) -> io::Result<Option<UnixStream>> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((link, _)) => {
                link.set_nonblocking(false)?;
                return Ok(Some(link));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if process.try_wait()?.is_some() {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn last_lines(console: &File) -> Vec<String> {
    let len = console.metadata().map_or(0, |file| file.len());
    let mut bytes = vec![0; len.min(LAST_BYTES) as usize];
    let _ = console.read_exact_at(&mut bytes, len.saturating_sub(LAST_BYTES));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    // User-Mode Linux checks its host before its kernel starts.
    let checked = lines.iter().rposition(|line| line.starts_with(LAST_CHECK) && line.ends_with("OK"));
    let lines = &lines[checked.map_or(0, |last| last + 1)..];
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
}
