//! Runs of a kernel in virtual time. They need a built kernel, and do nothing without one.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ackclock::sim::{Plan, RunResult};
use ackclock_kernel::{Image, KernelError, KernelRun};
use ackclock_scenario::Scenario;

mod built;

fn image() -> Option<Image> {
    Some(Image { kernel: built::kernel()?, objects: objects(), modules: Default::default(), snaplen: 96 })
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
        // User-Mode Linux prints its checks of the host if one fails.
        Err(KernelError::Ended { lines, .. }) if lines.iter().any(|line| line.starts_with("Checking ")) => {
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
fn algorithms_of_the_kernel_run_by_name() {
    for name in ["westwood", "vegas", "illinois"] {
        let set = format!("flows.test.cc={{ kind = 'kernel', name = '{name}' }}");
        let plan = plan("", &[&set]);
        let (Some(first), Some(second)) = (run(&plan), run(&plan)) else { return };
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.algorithms["test"], name);
        assert!(first.result.flows[0].goodput_bps > 9e6, "{name}");
        assert_eq!(format!("{:?}", first.result.flows), format!("{:?}", second.result.flows));
    }
}

#[test]
fn parameters_of_a_module_change_its_algorithm() {
    let cwnd = |more: &str| {
        let set = format!("flows.test.cc={{ kind = 'kernel', name = 'cubic'{more} }}");
        result(&plan("", &[&set])).map(|result| result.flows[0].cwnd_mean_segments.unwrap())
    };
    let (Some(default), Some(gentle)) = (cwnd(""), cwnd(", beta = 973")) else { return };
    // The window keeps 0.95 of itself at a loss instead of 0.7.
    assert!(gentle > default + 2.0, "{default} {gentle}");
}

#[test]
fn sysctls_change_the_kernel() {
    let window = |sets: &[&str]| result(&plan("", sets)).map(|result| result.flows[0].cwnd_mean_segments.unwrap());
    // 64 KiB of buffer hold some 20 segments.
    let set = "kernel={ sysctl = { tcp_wmem = '4096 16384 65536', \"net.core.netdev_budget\" = 300 } }";
    let (Some(free), Some(held)) = (window(&[]), window(&[set])) else { return };
    assert!(held < 0.8 * free, "{free} {held}");
}

#[test]
fn a_setting_that_the_kernel_lacks_is_one_message() {
    for (set, expected) in [
        (
            "flows.test.cc={ kind = 'kernel', name = 'westwod' }",
            "flows.test.cc: the kernel has no algorithm westwod; did you mean \"westwood\"?",
        ),
        (
            "flows.test.cc={ kind = 'kernel', name = 'cubic', hystrat = 0 }",
            "flows.test.cc.hystrat: the kernel has no module parameter tcp_cubic.hystrat; did you mean \"hystart\"?",
        ),
        (
            "flows.test.cc={ kind = 'kernel', name = 'cubic', beta = 'much' }",
            "flows.test.cc.beta: the kernel does not take this value of module parameter tcp_cubic.beta (Invalid argument (os error 22))",
        ),
        (
            "kernel={ sysctl = { tcp_recovry = 0 } }",
            "kernel.sysctl.tcp_recovry: the kernel has no sysctl net.ipv4.tcp_recovry; did you mean \"tcp_recovery\"?",
        ),
        (
            "kernel={ sysctl = { tcp_recovery = 'much' } }",
            "kernel.sysctl.tcp_recovery: the kernel does not take this value of sysctl net.ipv4.tcp_recovery (Invalid argument (os error 22))",
        ),
    ] {
        let Some(done) = run(&plan("", &[set])) else { return };
        assert_eq!(done.err().unwrap().to_string(), expected);
    }
}

#[test]
fn settings_are_checked_before_a_kernel_starts() {
    let second = "[[flows]]\nname = 'other'\nprofile = 'linux'\ncc = { kind = 'kernel', name = 'cubic' }";
    for (more, set, expected) in [
        (
            second,
            "flows.test.cc={ kind = 'kernel', name = 'cubic', hystart = 0 }",
            "flows.other.cc.hystart: the parameter is a setting of the whole kernel, so flows.test.cc must have the same \
             value (--backend kernel)",
        ),
        (
            "",
            "kernel={ sysctl = { \"vm.swappiness\" = 1 } }",
            "kernel.sysctl.vm.swappiness: expected a name below net, such as tcp_recovery or net.core.default_qdisc \
             (--backend kernel)",
        ),
        (
            "",
            "kernel={ sysctl = { tcp_ecn = 1 } }",
            "kernel.sysctl.tcp_ecn: the key ecn of the transport sets it (--backend kernel)",
        ),
        (
            "",
            "kernel={ sysctl = { tcp_recovery = 1, \"net.ipv4.tcp_recovery\" = 0 } }",
            "kernel.sysctl.tcp_recovery: kernel.sysctl.net.ipv4.tcp_recovery is the same sysctl; give one of them \
             (--backend kernel)",
        ),
    ] {
        let error = ackclock_kernel::check(&plan(more, &[set])).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_simulation_refuses_what_only_a_kernel_has() {
    for (set, expected) in [
        (
            "flows.test.cc={ kind = 'kernel', name = 'vegas' }",
            "flows.test.cc: vegas runs in a kernel only; use --backend kernel",
        ),
        (
            "kernel={ sysctl = { tcp_recovery = 0 } }",
            "kernel.sysctl.tcp_recovery: the simulation has no sysctls; use --backend kernel",
        ),
    ] {
        let error = ackclock::sim::run(&plan("", &[set]), &AtomicBool::new(false)).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_missing_kernel_and_a_program_that_is_none_are_one_message() {
    let plan = plan("", &[]);
    let stop = AtomicBool::new(false);
    let missing =
        Image { kernel: "/nowhere/linux".into(), objects: objects(), modules: Default::default(), snaplen: 0 };
    let message = ackclock_kernel::run(&plan, &missing, &stop).err().unwrap().to_string();
    assert!(message.starts_with("starting the kernel of a guest: "), "{message}");
    let other = Image { kernel: "/bin/true".into(), ..missing };
    let message = ackclock_kernel::run(&plan, &other, &stop).err().unwrap().to_string();
    // Where the host has Landlock, the program cannot even load its libraries.
    let denied = "starting the kernel of a guest: Permission denied (os error 13)";
    assert!([denied, "the kernel of the senders' host ended"].contains(&&*message), "{message}");
}

#[test]
fn a_run_can_be_stopped() {
    let Some(image) = image() else { return };
    let stopped = ackclock_kernel::run(&plan("", &[]), &image, &AtomicBool::new(true));
    assert!(matches!(stopped.err(), Some(KernelError::Interrupted)));
}

/// A flow of the kernel, and other traffic through the same bottleneck.
fn mixed(more: &str, sets: &[&str]) -> Plan {
    plan(&format!("[[flows]]\nname = 'other'\n{more}"), sets)
}

#[test]
fn simulated_flows_compete_with_those_of_the_kernel() {
    let beside = mixed("cc = 'cubic'\nprofile = 'linux'\nstack = 'simulated'", &["duration=20 s"]);
    let (Some(result), Some(again)) = (result(&beside), result(&beside)) else { return };
    assert_eq!(format!("{:?}", result.flows), format!("{:?}", again.flows));
    let (kernels, simulated) = (&result.flows[0], &result.flows[1]);
    // The same algorithm shares the link.
    let ratio = kernels.goodput_bps / simulated.goodput_bps;
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
    let goodput = kernels.goodput_bps + simulated.goodput_bps;
    assert!((goodput - 10e6 * 1448.0 / 1500.0).abs() < 0.05e6, "{goodput}");
    assert_eq!(kernels.lost + simulated.lost, result.links[0].drops);
    // Each packet has an outcome, and each flow a part of the measures.
    let totals = result.totals;
    let outcomes = totals.delivered.packets + totals.dropped.packets + totals.lost.packets + totals.in_flight.packets;
    assert_eq!(totals.sent.packets, outcomes);
    assert!((result.summary.goodput_bps.unwrap() - goodput).abs() < 1.0);
}

#[test]
fn every_kind_of_traffic_passes_beside_the_kernels_flow() {
    for (more, sets) in [
        ("traffic = { kind = 'cbr', rate = '2 Mbit/s' }", vec![]),
        ("traffic = { kind = 'on-off', rate = '4 Mbit/s', on = '200 ms', off = '200 ms' }", vec![]),
        ("cc = 'cubic'\nprotocol = 'quic'\nstack = 'simulated'", vec![]),
        ("cc = 'reno'\nstack = 'simulated'\ntraffic = { kind = 'web', think = '50 ms', response = '200 kB' }", vec![]),
        (
            "cc = 'reno'\nstack = 'simulated'\ntraffic = { kind = 'arrivals', every = '200 ms', size = '50 kB' }\ncount = 20",
            vec![],
        ),
        ("cc = 'reno'\nstack = 'simulated'", vec!["topology.queue={ kind = 'fq-codel' }"]),
        ("cc = 'reno'\nstack = 'simulated'", vec!["topology.jitter=3 ms", "topology.jitter_reorders=true"]),
        ("cc = 'reno'\nstack = 'simulated'", vec!["topology.duplication=0.05", "topology.corruption=0.02"]),
    ] {
        let Some(result) = result(&mixed(more, &sets)) else { return };
        let kernels = &result.flows[0];
        assert!(kernels.goodput_bps > 5e5, "{more} {sets:?}: {}", kernels.goodput_bps);
        let used = result.links[0].utilization.unwrap();
        let others = 1.0 - kernels.throughput_bps / 10e6;
        assert!(used > 0.4 && others > 0.1, "{more} {sets:?}: {used}, {others}");
    }
}
