//! A run from its beginning to its end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ackclock::sim::{Plan, RunResult, Traffic};
use ackclock::tcp::TIMESTAMPS_LEN;
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Ended, IP_LEN, Network, Side, Tap};

use crate::algorithm::Algorithms;
use crate::calendar::Calendar;
use crate::commands::{Commands, looks};
use crate::error::{KernelError, Tried};
use crate::guest::{Boot, Guest, TIME_OF_DAY};
use crate::readings::Reports;
use crate::shared::Shared;
use crate::{settings, support, sys};

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
    support::check(plan)?;
    let cpu = sys::thread_cpu_ns();
    let algorithms = Algorithms::read(plan, &image.objects)?;
    let folder = Folder::new().tried("the folder of a run")?;
    let looks = looks(plan);
    let mut network = Network::in_virtual_time(plan);
    network.tap = Tap::of(plan, image.snaplen, TIME_OF_DAY);
    for (flow, account) in plan.flows.iter().zip(&mut network.accounts) {
        account.size = match flow.traffic {
            Traffic::Transfer { bytes } => Some(bytes),
            _ => None,
        };
    }
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
    let commands = [Side::Sender, Side::Receiver].map(|side| Commands::new(plan, side, &algorithms.names(), &looks));
    let mut calendar = Calendar::new(plan, guests, commands, network, Reports::new(plan, &looks));
    calendar.boot()?;
    // The guests have all files open that they need. Nothing is left if this process is killed.
    drop(folder);
    let records = algorithms.records(plan, &calendar.types)?;
    records.iter().for_each(|record| calendar.add_algorithm(record));
    calendar.run(stop)?;
    let Calendar { mut network, watch, reports, guests, .. } = calendar;
    let guests_cpu: u64 = guests.into_iter().map(Guest::end).sum();
    let watched = watch.finish(Instant::ZERO + plan.duration, &mut network);
    let readings = reports.finish(&watched);
    let capture = network.tap.take();
    let result = Ended { plan, network, watched, readings, programs_group: None }.into_result();
    let cpu = Duration::from_nanos(sys::thread_cpu_ns() - cpu + guests_cpu);
    Ok(KernelRun { result, capture, algorithms: algorithms.titles(plan), cpu })
}

/// Bytes of IP of the largest packet that a flow sends.
fn largest_packet(plan: &Plan) -> u32 {
    let of_flow = |transport: &ackclock::tcp::Transport| {
        transport.mss + 2 * IP_LEN as u32 + if transport.timestamps { TIMESTAMPS_LEN } else { 0 }
    };
    plan.flows.iter().map(|flow| of_flow(&flow.transport)).max().unwrap_or(1500)
}
