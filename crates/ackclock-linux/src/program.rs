//! Programs of users on the hosts of an emulation.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::EmulationError;
use crate::forwarder::{Clock, Shared};
use crate::host::Host;
use crate::sys;
use ackclock::units::{Duration, Instant};
use ackclock_wire::Side;

/// Interval at which the state of a program is polled.
const LOOK: Duration = Duration::from_millis(20);
/// How long a program has for its end.
const GRACE: Duration = Duration::from_millis(500);

/// Programs that replace the flows of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The group of flows whose place they take.
    pub group: String,
    /// The shell command on the host of the senders. The run ends with it.
    pub command: String,
    /// The shell command on the host of the receivers.
    pub server: Option<String>,
}

/// The exit status of a program, or none if it was stopped on request.
type Ended = Result<Option<ExitStatus>, EmulationError>;

/// Runs both until the first ends or the run is over.
pub fn supervise(
    programs: &Programs,
    flow: usize,
    hosts: [&Host; 2],
    (clock, end): (Clock, Instant),
    (shared, stop): (&Shared, &AtomicBool),
) -> Ended {
    let is_over = || clock.now() >= end || stop.load(Ordering::Relaxed) || shared.is_over.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let server = programs
            .server
            .as_ref()
            .map(|command| scope.spawn(move || until(&mut start(command, flow, hosts[1], Stdio::null())?, is_over)));
        // It comes to life while the clock has not started.
        while clock.now() == Instant::ZERO && !is_over() {
            pause();
        }
        let client = start(&programs.command, flow, hosts[0], Stdio::inherit());
        let ended = client.and_then(|mut client| until(&mut client, is_over));
        shared.is_over.store(true, Ordering::Relaxed);
        let served =
            server.map_or(Ok(None), |server| server.join().expect("invariant: a server's thread does not panic"));
        served.and(ended)
    })
}

fn pause() {
    std::thread::sleep(std::time::Duration::from_nanos(LOOK.as_nanos()));
}

/// Starts a program in its own PID namespace, so that its children end with it.
fn start(command: &str, flow: usize, host: &Host, input: Stdio) -> Result<Child, EmulationError> {
    let failed = |error| EmulationError::Program { command: command.to_owned(), error };
    let namespace: OwnedFd = host.namespace().map_err(failed)?;
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).stdin(input);
    shell.env("ACKCLOCK_SERVER", Side::Receiver.address(flow).to_string());
    shell.env("ACKCLOCK_CLIENT", Side::Sender.address(flow).to_string());
    sys::prepare_child(&mut shell, namespace);
    sys::unshare_processes().and_then(|()| shell.spawn()).map_err(failed)
}

/// Waits until a program ends. Stops it once `is_over` is true.
fn until(program: &mut Child, is_over: impl Fn() -> bool) -> Ended {
    let mut asked = None;
    loop {
        if let Ok(Some(status)) = program.try_wait() {
            return Ok(Some(status).filter(|_| asked.is_none()));
        }
        match asked {
            None if is_over() => {
                sys::terminate(program.id());
                asked = Some(sys::monotonic_ns());
            }
            Some(at) if sys::monotonic_ns() - at > GRACE.as_nanos() => {
                // It may have ended by now.
                let _ = program.kill();
            }
            _ => {}
        }
        pause();
    }
}
