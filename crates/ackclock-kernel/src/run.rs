//! A run from its beginning to its end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ackclock::sim::{CapturePoint, Plan, RunResult, Stack};
use ackclock::units::Duration;
use ackclock_wire::{Backend, Side, Tap, largest_packet};

use crate::calendar::Calendar;
use crate::commands::{Commands, looks};
use crate::error::{KernelError, Tried};
use crate::guest::{Boot, Guest, TIME_OF_DAY};
use crate::network::Network;
use crate::readings::Reports;
use crate::shared::Shared;
use crate::{algorithm, settings, sys};

/// This backend in messages.
pub const BACKEND: Backend = Backend {
    name: "kernel",
    subject: "the kernel in virtual time",
    quic: "the kernel has TCP only",
    simulates: true,
    has_settings: true,
};

/// The kernel of the guests.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file.
    pub kernel: PathBuf,
    /// The folder with the compiled objects of our algorithms.
    pub objects: PathBuf,
    /// Bytes of each captured packet that are kept.
    pub snaplen: usize,
}

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

/// The folder of a run, which it removes at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("ackclock-guests-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                done => return done.map(|()| Folder(path)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
    let algorithms = algorithm::read(plan, &image.objects)?;
    let folder = Folder::new().tried("the folder of a run")?;
    let looks = looks(plan);
    let network = Network::new(plan, tap);
    let response = network.least_delay(Side::Sender) + network.least_delay(Side::Receiver);
    let settings = settings::words(plan);
    let guest = |side: Side, host: &'static str| {
        let shared = Shared::new(side as u32, largest_packet(plan), response.as_nanos().max(1));
        let boot = Boot {
            kernel: &image.kernel,
            folder: &folder.0,
            host,
            number: side as usize,
            seed: plan.seed,
            settings: &settings,
        };
        Guest::start(&boot, shared.tried("the memory of a guest")?)
    };
    let guests = [guest(Side::Sender, "the senders' host")?, guest(Side::Receiver, "the receivers' host")?];
    let commands =
        [Side::Sender, Side::Receiver].map(|side| Commands::new(plan, side, |flow| algorithms.name(flow), &looks));
    let mut calendar = Calendar::new(plan, guests, commands, network, Reports::new(plan, &looks));
    calendar.boot()?;
    // The guests have all files open that they need. Nothing is left if this process is killed.
    drop(folder);
    let records = algorithm::records(&algorithms, &calendar.types)?;
    records.iter().for_each(|record| calendar.add_algorithm(record));
    calendar.run(stop)?;
    let Calendar { network, reports, guests, .. } = calendar;
    let guests_cpu: u64 = guests.into_iter().map(Guest::end).sum();
    let (result, capture) = network.finish(reports, stop)?;
    let cpu = Duration::from_nanos(sys::thread_cpu_ns() - cpu + guests_cpu);
    Ok(KernelRun { result, capture, algorithms: algorithms.titles(plan), cpu })
}

/// Checks whether a kernel in virtual time supports a plan, as far as that needs no kernel.
///
/// # Errors
/// [`KernelError::Refused`] with the first key that it does not support.
pub fn check(plan: &Plan) -> Result<(), KernelError> {
    ackclock_wire::check(plan, &BACKEND)?;
    settings::check(plan)
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
