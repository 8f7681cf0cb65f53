//! A run from its beginning to its end: hosts, threads, result and verdict.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock::sim::{FlowPlan, Plan, RunResult, Traffic};
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Ended, Network, Readings, Side, Tap, check, host_limited_share};

use crate::application::{Applications, Sockets};
use crate::backend::BACKEND;
use crate::error::EmulationError;
use crate::fidelity::{self, CpuTime, Fidelity, Measured};
use crate::forwarder::{Clock, Forwarded, Forwarder, Shared};
use crate::host::Host;
use crate::program::{Programs, supervise};
use crate::{algorithm, sys};

/// Time for threads to be there before the clock starts.
const PREPARATION: Duration = Duration::from_millis(50);
/// A server is there before its client is.
const SERVER_START: Duration = Duration::from_millis(500);
/// A coarser clock cannot time packets.
const COARSEST_CLOCK_NS: u64 = 1_000;

/// How to run a plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Programs that replace some flows.
    pub programs: Option<Programs>,
    /// Bytes of each captured packet that are kept.
    pub snaplen: usize,
    /// The folder with the compiled objects of our algorithms.
    pub objects: PathBuf,
}

/// The results of a run.
pub struct Emulation {
    /// The results.
    pub result: RunResult,
    /// Whether it kept its times.
    pub fidelity: Fidelity,
    /// CPU time of the thread that forwards.
    pub forwarding_cpu: Duration,
    /// The packets that the plan captures.
    pub capture: Option<Tap>,
    /// The congestion control that the kernel ran for each group of flows.
    pub algorithms: BTreeMap<String, String>,
    /// The exit status of the program, or none without a program that ended.
    pub program: Option<ExitStatus>,
}

/// Runs a plan in real time.
///
/// # Errors
/// Fails if the plan contains an unsupported feature or the system denies a request. It fails with
/// [`EmulationError::Interrupted`] soon after `stop` became true. Every run cleans up after itself.
pub fn run(plan: &Plan, options: &Options, stop: &AtomicBool) -> Result<Emulation, EmulationError> {
    check(plan, &BACKEND)?;
    match sys::clock_step_ns() {
        step if step > COARSEST_CLOCK_NS => return Err(EmulationError::CoarseClock(step)),
        _ => {}
    }
    let algorithms = algorithm::load(plan, &options.objects)?;
    let (sending, receiving) = (Host::make(Side::Sender, plan)?, Host::make(Side::Receiver, plan)?);
    let hosts = [&sending, &receiving];
    let sockets = Sockets::make(plan, &algorithms, hosts)?;
    let programs = options.programs.as_ref();
    let group = programs.map(|programs| &*programs.group);
    let programs_flow = plan.flows.iter().position(|flow| group == Some(&*flow.group));
    let takes_part = |flow: &FlowPlan| group != Some(&*flow.group);
    let mut network = Network::new(plan);
    let least_stall = fidelity::least_stall(plan);
    for (flow, account) in plan.flows.iter().zip(&mut network.flows.accounts) {
        account.least_stall = least_stall;
        account.is_backlogged = flow.traffic == Traffic::Bulk && flow.stop.is_none();
        account.size = match flow.traffic {
            Traffic::Transfer { bytes } => Some(bytes),
            _ => None,
        };
    }
    let has_server = programs.is_some_and(|programs| programs.server.is_some());
    let starts_in = if has_server { SERVER_START } else { PREPARATION };
    network.tap = Tap::of(plan, options.snaplen, sys::epoch_ns() + starts_in.as_nanos());
    let clock = Clock::starting_in(starts_in);
    let (shared, end) = (Shared::new(plan), Instant::ZERO + plan.duration);
    let cpu = CpuTime::read();
    let forwarder = Forwarder::new(plan, hosts, (clock, &shared), network, programs_flow);
    let applications = Applications::new(plan, (clock, &shared), sockets, takes_part);
    let (forwarded, applied, program) = std::thread::scope(|scope| {
        let applied = scope.spawn(|| over(&shared, applications.run(stop)));
        let program = programs.zip(programs_flow).map(|(programs, flow)| {
            let shared = &shared;
            scope.spawn(move || over(shared, supervise(programs, flow, hosts, (clock, end), (shared, stop))))
        });
        // Prompt threads start none that are, and this one is not to stay prompt.
        let forwarded = scope.spawn(|| over(&shared, forwarder.run(stop)));
        (join(forwarded), join(applied), program.map(join))
    });
    let (program, applied, mut forwarded) = (program.transpose()?.flatten(), applied?, forwarded?);
    if stop.load(Ordering::Relaxed) {
        return Err(EmulationError::Interrupted);
    }
    let measured = measure(plan, hosts, &forwarded, &applied, cpu);
    let fidelity = Fidelity::judge(plan, &forwarded.timing, measured);
    let capture = forwarded.network.tap.take();
    let forwarding_cpu = Duration::from_nanos(forwarded.timing.cpu_ns);
    let Forwarded { network, watched, .. } = forwarded;
    let result = Ended { plan, network, watched, readings: applied, programs_group: group }.into_result();
    Ok(Emulation { result, fidelity, forwarding_cpu, capture, algorithms: algorithms.titles(plan), program })
}

/// The other threads need not wait for one that failed.
fn over<T>(shared: &Shared, done: Result<T, EmulationError>) -> Result<T, EmulationError> {
    if done.is_err() {
        shared.is_over.store(true, Ordering::Relaxed);
    }
    done
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn measure(
    plan: &Plan,
    hosts: [&Host; 2],
    forwarded: &Forwarded,
    applied: &Readings,
    cpu: Option<CpuTime>,
) -> Measured {
    let accounts = &forwarded.network.flows.accounts;
    Measured {
        elapsed: forwarded.watched.ended_at().since(Instant::ZERO),
        stalls: accounts.iter().map(|account| account.stalls).sum(),
        longest_stall: accounts.iter().map(|account| account.longest_stall).max().unwrap_or_default(),
        // An unreadable table counts as one overflow, because no other check finds such packets.
        tun_overflows: hosts.iter().map(|host| host.overflows().unwrap_or(1)).sum(),
        steal_share: cpu.zip(CpuTime::read()).map(|(before, now)| now.stolen_since(before)),
        host_limited_share: host_limited_share(plan, &applied.after, forwarded.watched.ended_at()),
    }
}
