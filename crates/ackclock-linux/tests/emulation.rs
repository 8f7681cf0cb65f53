//! The emulator on the running kernel: needs root and /dev/net/tun, and says so where they are not there.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::sync::atomic::AtomicBool;

use ackclock::sim::Plan;
use ackclock_linux::{Emulation, EmulationError, Options, Programs, run};
use ackclock_scenario::Scenario;

fn plan(sets: &[&str]) -> Plan {
    let text = "
        schema = 1
        duration = '5 s'
        warmup = '2 s'
        topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms', queue = { kind = 'drop-tail', limit = '40 packets' } }
        sampling = { interval = '50 ms' }
        [[flows]]
        name = 'test'
        cc = 'reno'
        profile = 'linux'
    ";
    Scenario::from_toml(text, "cell.toml", sets).unwrap().plan(None, 0)
}

/// Runs a plan, or prints why this machine cannot run it and returns none.
fn emulated(plan: &Plan, options: &Options) -> Option<Emulation> {
    match run(plan, options, &AtomicBool::new(false)) {
        Ok(emulation) => Some(emulation),
        Err(error @ (EmulationError::NoNamespaces(_) | EmulationError::NoTun(_) | EmulationError::Setting { .. })) => {
            // Past the test harness, which keeps what passing tests print.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Reno fills the link, and the counters at the links agree with the kernel's. Both hold even if the run is not
/// valid.
#[test]
fn the_kernels_reno_fills_the_link() {
    let plan = plan(&[]);
    let Some(Emulation { result, fidelity, .. }) = emulated(&plan, &Options::default()) else { return };
    let flow = &result.flows[0];
    assert!(fidelity.packets > 4_000, "{fidelity:?}");
    // 1448 of 1500 bytes are payload.
    let ideal = 10e6 * 1448.0 / 1500.0;
    // The bottleneck forwards packets of 1500 bytes.
    assert!(flow.arrived as f64 * 1500.0 * 8.0 / 3.0 <= 1.01 * 10e6, "{flow:?}");
    // Data that arrived out of order before the 3 s of measurement may be delivered in them, up to a full window.
    let window = 62.0 * 1448.0 * 8.0 / 3.0;
    assert!(flow.goodput_bps <= 1.01 * ideal + window, "{flow:?}");
    if fidelity.valid {
        assert!(flow.goodput_bps > 0.95 * ideal, "{flow:?}");
        // Two packets of transmission time beyond the base RTT at most, with what the handshake measures.
        let min_rtt = flow.rtt_min_s.unwrap();
        assert!((0.020..0.023).contains(&min_rtt), "{min_rtt}");
        assert!((16.0..=62.0).contains(&flow.cwnd_mean_segments.unwrap()), "{flow:?}");
    }
    // What left and did not arrive was lost or is on its way.
    assert_eq!(flow.in_flight_start + flow.sent, flow.arrived + flow.lost + flow.in_flight_end, "{flow:?}");
    assert_eq!(result.links[0].drops, flow.lost, "the bottleneck alone drops");
    let samples = &result.samples;
    assert_eq!((samples.flows.time_ns.len(), samples.links.time_ns.len()), (100, 200));
    assert!(samples.flows.cwnd_segments.iter().skip(20).all(|cwnd| *cwnd >= 1.0));
    assert!(samples.links.backlog_packets.iter().all(|packets| *packets <= 40));
}

/// CUBIC with ECN behind RED: marks of the queue arrive, and the sender responds.
#[test]
fn marks_reach_the_kernel() {
    let plan = plan(&[
        "flows.test.cc=cubic",
        "flows.test.ecn=classic",
        "topology.queue={ kind = 'red', limit = '200 packets', min = '10 packets', max = '30 packets', max_p = 0.1, ecn = true }",
    ]);
    let Some(Emulation { result, .. }) = emulated(&plan, &Options::default()) else { return };
    let flow = &result.flows[0];
    assert!(flow.marks > 0 && flow.ecn_events > 0, "{flow:?}");
    assert_eq!(flow.arrived - flow.corrupted, flow.sent + flow.in_flight_start - flow.lost - flow.in_flight_end);
}

/// A transfer ends although its connection crosses a link that loses, duplicates and corrupts packets.
#[test]
fn a_transfer_ends_over_a_link_with_impairments() {
    let plan = plan(&[
        "duration=3 s",
        "warmup=0 s",
        "flows.test.traffic={ kind = 'transfer', size = '300 kB' }",
        "topology.loss={ kind = 'bernoulli', probability = 0.01 }",
        "topology.duplication=0.01",
        "topology.corruption=0.01",
    ]);
    let Some(Emulation { result, .. }) = emulated(&plan, &Options::default()) else { return };
    let flow = &result.flows[0];
    // 30 kB/s at least, and no faster than the link: 300 kB take .24 s.
    let time = flow.completion_time_s.unwrap();
    assert!((0.24..3.0).contains(&time), "{flow:?}");
    assert_eq!((flow.acknowledged_bytes, flow.in_flight_end), (300_000, 0), "{flow:?}");
}

/// A program takes the place of the flows: its packets cross the link, and the run ends with it.
#[test]
fn a_program_runs_behind_the_scenario() {
    let plan = plan(&["warmup=0 s", "duration=4 s"]);
    let command = "exec 3<>/dev/tcp/$ACKCLOCK_SERVER/5001; head -c 200000 /dev/zero >&3; exec 3>&-; exit 7";
    let programs = Programs {
        group: "test".to_owned(),
        command: format!("bash -c '{command}'"),
        server: Some("sleep 9".to_owned()),
    };
    let options = Options { programs: Some(programs), ..Options::default() };
    let Some(Emulation { result, program, .. }) = emulated(&plan, &options) else { return };
    assert_eq!(program.and_then(|status| status.code()), Some(7));
    let row = &result.datagrams[0];
    assert!(result.flows.is_empty() && row.sent > 10, "{row:?}");
}

/// An unsupported feature of a user's program produces one line.
#[test]
fn what_the_kernel_does_not_know_is_refused() {
    let error = run(&plan(&["flows.test.cc=bbr3"]), &Options::default(), &AtomicBool::new(false)).err().unwrap();
    let expected = "flows.test.cc: the kernel contains no bbr3; use with --backend linux: reno, cubic, bbr1, ";
    assert!(error.to_string().starts_with(expected), "{error}");
}
