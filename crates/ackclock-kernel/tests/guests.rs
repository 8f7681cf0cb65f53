//! Runs of a kernel in virtual time. They need a built kernel, and do nothing without one.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ackclock::sim::{Plan, RunResult};
use ackclock_kernel::{Image, KernelError, KernelRun};
use ackclock_scenario::Scenario;

/// The kernel that was built last by `ackclock kernel build`.
fn image() -> Option<Image> {
    let kernels = std::env::var_os("ACKCLOCK_KERNELS").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folder = kernels.or_else(|| Some(cache?.join("ackclock/kernels")))?;
    let built = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("linux")));
    let kernel =
        built.filter(|path| path.is_file()).max_by_key(|path| path.metadata().and_then(|file| file.modified()).ok())?;
    Some(Image { kernel, objects: objects(), snaplen: 96 })
}

fn objects() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/ackclock/kernel/objects")
}

fn plan(more: &str, sets: &[&str]) -> Plan {
    let text = format!(
        "
        schema = 1
        duration = '5 s'
        warmup = '1 s'
        topology = {{ kind = 'dumbbell', rate = '10 Mbit/s', delay = '20 ms', queue = {{ kind = 'drop-tail', limit = '34 packets' }} }}
        [[flows]]
        name = 'test'
        cc = 'cubic'
        profile = 'linux'
        {more}
        "
    );
    Scenario::from_toml(&text, "s.toml", sets).unwrap().plan(Some(1), 0)
}

fn run(plan: &Plan) -> Option<Result<KernelRun, KernelError>> {
    let done = image().map(|image| ackclock_kernel::run(plan, &image, &AtomicBool::new(false)))?;
    match &done {
        // User-Mode Linux says so before its kernel starts.
        Err(KernelError::Ended { lines, .. }) if !lines.iter().any(|line| line.contains("PROT_EXEC mmap")) => {
            eprintln!("SKIPPED: this machine cannot run a guest: {}", lines.join("; "));
            None
        }
        _ => Some(done),
    }
}

fn result(plan: &Plan) -> Option<RunResult> {
    run(plan).map(|done| done.unwrap().result)
}

#[test]
fn a_bulk_flow_fills_the_link_and_equals_its_repetition() {
    let plan = plan("", &[]);
    let (Some(first), Some(second)) = (result(&plan), result(&plan)) else { return };
    // 1448 of 1500 bytes are payload.
    let goodput = first.flows[0].goodput_bps;
    assert!((goodput - 10e6 * 1448.0 / 1500.0).abs() < 0.01e6, "{goodput}");
    assert_eq!(format!("{:?}", first.flows), format!("{:?}", second.flows));
    assert_eq!(format!("{:?}", first.links), format!("{:?}", second.links));
}

#[test]
fn a_transfer_ends_and_its_bytes_arrive_once() {
    let Some(result) = result(&plan("traffic = { kind = 'transfer', size = '1 MB' }", &["warmup=0 s"])) else { return };
    let flow = &result.flows[0];
    let completion = flow.completion_time_s.unwrap();
    // A handshake, and slow start from ten segments.
    assert!((0.9..1.1).contains(&completion), "{completion}");
    assert_eq!(flow.acknowledged_bytes, 1_000_000);
}

#[test]
fn flows_start_and_stop_at_their_times() {
    let Some(result) = result(&plan("count = 2\nstart = '2 s'\nstop = '3 s'", &["warmup=0 s"])) else { return };
    let sent: f64 = result.flows.iter().map(|flow| flow.throughput_bps).sum();
    // One second of five, and the data that the senders had written.
    assert!((2e6..3.2e6).contains(&sent), "{sent}");
}

#[test]
fn a_path_without_delay_runs() {
    let Some(result) = result(&plan("", &["topology.delay=0 ms", "duration=2 s"])) else { return };
    assert!(result.flows[0].goodput_bps > 9.6e6);
}

#[test]
fn jitter_loss_and_marks_of_the_path_reach_the_kernel() {
    let sets = ["topology.jitter=2 ms", "topology.loss={ kind = 'bernoulli', probability = 0.01 }", "duration=10 s"];
    if let Some(result) = result(&plan("", &sets)) {
        assert!(result.flows[0].retransmits > 10);
        assert_eq!(result.flows[0].lost, result.links[0].losses + result.links[0].drops);
    }
    let sets = ["topology.queue={ kind = 'codel', ecn = true }"];
    if let Some(result) = result(&plan("ecn = 'classic'", &sets)) {
        assert!(result.flows[0].marks > 0 && result.flows[0].ecn_events > 0);
        assert_eq!(result.flows[0].retransmits, 0);
    }
}

#[test]
fn senders_that_wait_for_timeouts_keep_in_step() {
    let sets = [
        "topology.loss={ kind = 'bernoulli', probability = 0.09 }",
        "topology.access={ rate = '100 Mbit/s', delay = '10 ms' }",
        "flows.test.cc={ kind = 'aimd', increase = 0.5, remaining = 0.5 }",
        "duration=200 s",
    ];
    let Some(result) = result(&plan("count = 2\nmss = '1000 B'", &sets)) else { return };
    assert!(result.flows.iter().all(|flow| flow.timeouts > 10), "{:?}", result.flows);
}

#[test]
fn programs_and_rules_run_as_their_algorithms_do() {
    // A sawtooth of AIMD(2, 0.8) between 0.8 W and W, with W of the path and its queue.
    for cc in ["{ kind = 'aimd', increase = 2, remaining = 0.8 }", "{ kind = 'rule', grow = '2 / w', cut = '0.8 * w' }"]
    {
        let sets = [format!("flows.test.cc={cc}"), "duration=20 s".to_owned(), "warmup=5 s".to_owned()];
        let sets: Vec<_> = sets.iter().map(String::as_str).collect();
        let Some(result) = result(&plan("", &sets)) else { return };
        let mean = result.flows[0].cwnd_mean_segments.unwrap();
        assert!((mean - 0.9 * (10e6 * 0.04 / 12_000.0 + 34.0)).abs() < 4.0, "{cc}: {mean}");
    }
}

#[test]
fn a_missing_kernel_and_a_program_that_is_none_are_one_message() {
    let plan = plan("", &[]);
    let stop = AtomicBool::new(false);
    let missing = Image { kernel: "/nowhere/linux".into(), objects: objects(), snaplen: 0 };
    let message = ackclock_kernel::run(&plan, &missing, &stop).err().unwrap().to_string();
    assert!(message.starts_with("starting the kernel of a guest: "), "{message}");
    let other = Image { kernel: "/bin/true".into(), ..missing };
    let message = ackclock_kernel::run(&plan, &other, &stop).err().unwrap().to_string();
    assert_eq!(message, "the kernel of the senders' host ended");
}

#[test]
fn a_run_can_be_stopped() {
    let Some(image) = image() else { return };
    let stopped = ackclock_kernel::run(&plan("", &[]), &image, &AtomicBool::new(true));
    assert!(matches!(stopped.err(), Some(KernelError::Interrupted)));
}
