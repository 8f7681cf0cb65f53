//! A run from its beginning to its end.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ackclock::sim::{CapturePoint, Plan, RunResult, Stack};
use ackclock::units::Duration;
use ackclock_wire::{Refused, Side, Tap, largest_packet};

use crate::backend::{BACKEND, Image};
use crate::calendar::Calendar;
use crate::commands::{Commands, looks};
use crate::error::{KernelError, Tried};
use crate::folder::Folder;
use crate::guest::{Boot, Guest, TIME_OF_DAY};
use crate::network::{Finished, Network};
use crate::readings::Reports;
use crate::shared::Shared;
use crate::{algorithm, queue, settings, sys};

/// The results of a run.
pub struct KernelRun {
    /// The results.
    pub result: RunResult,
    /// The packets that the plan captures.
    pub capture: Option<Tap>,
    /// The congestion control that the kernel ran for each group of flows.
    pub algorithms: BTreeMap<String, String>,
    /// CPU time of this process and of the guests.
    pub cpu: Duration,
}

/// A feature that the backend does not support, as far as that can be known without a kernel.
///
/// # Errors
/// The first key that says such a thing.
pub fn check(plan: &Plan) -> Result<(), Refused> {
    ackclock_wire::check(plan, &BACKEND)?;
    queue::check(plan)?;
    settings::check(plan)
}

/// Runs a plan in virtual time.
///
/// # Errors
/// Fails if the plan contains an unsupported feature, the system denies a request, or a guest ends. It fails with
/// [`KernelError::Interrupted`] soon after `stop` became true. Every run cleans up after itself.
pub fn run(plan: &Plan, image: &Image, stop: &AtomicBool) -> Result<KernelRun, KernelError> {
    check(plan)?;
    let tap = Tap::of(plan, image.snaplen, TIME_OF_DAY);
    let simulated = simulated(plan);
    let plan = &simulated;
    let cpu = sys::thread_cpu_ns();
    let mut algorithms = algorithm::read(plan, image)?;
    let folder = Folder::new().tried("the folder of a run")?;
    let looks = looks(plan);
    let network = Network::new(plan, tap, &image.kernel)?;
    let response = network.least_delay(Side::Sender) + network.least_delay(Side::Receiver);
    let settings = settings::words(plan);
    let guest = |side: Side, host: &'static str| {
        let shared = Shared::new(side as u32, largest_packet(plan), response.as_nanos().max(1));
        let boot = Boot {
            kernel: &image.kernel,
            folder: folder.path(),
            host,
            number: side as usize,
            seed: plan.seed,
            settings: &settings,
            limit: plan.kernel.timeout.map(|limit| std::time::Duration::from_nanos(limit.as_nanos())),
        };
        Guest::start(&boot, shared.tried("the memory of a guest")?)
    };
    let guests = [guest(Side::Sender, "the senders' host")?, guest(Side::Receiver, "the receivers' host")?];
    let mut calendar = Calendar::new(plan, guests, network, Reports::new(plan, &looks));
    let names = calendar.boot(&algorithm::modules(&algorithms))?;
    names.iter().for_each(|(flow, name)| algorithms.set_name(*flow, name));
    // The guests have all files open that they need. Nothing is left if this process is killed.
    drop(folder);
    let objects = algorithm::objects(&algorithms, &calendar.types)?;
    objects.iter().for_each(|record| calendar.add_algorithm(record));
    calendar.commands =
        [Side::Sender, Side::Receiver].map(|side| Commands::new(plan, side, |flow| algorithms.name(flow), &looks));
    calendar.run(stop)?;
    let Calendar { network, reports, guests, .. } = calendar;
    let guests_cpu: u64 = guests.into_iter().map(Guest::end).sum();
    let Finished { result, capture, routers_cpu_ns } = network.finish(reports, stop)?;
    let cpu = Duration::from_nanos(sys::thread_cpu_ns() - cpu + guests_cpu + routers_cpu_ns);
    Ok(KernelRun { result, capture, algorithms: algorithms.titles(plan), cpu })
}

/// The plan of the simulation around the kernel's flows.
fn simulated(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for flow in plan.flows.iter_mut().filter(|flow| flow.stack == Stack::Backend) {
        flow.stack = Stack::Outside;
    }
    // Only packets that pass links are seen by the simulation. Recording stops it from looking ahead.
    plan.capture = plan.capture.filter(|capture| matches!(capture.point, CapturePoint::Link(_)));
    plan
}
