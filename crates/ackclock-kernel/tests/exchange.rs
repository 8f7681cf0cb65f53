//! Exchange scripts against a kernel in virtual time. They need a built kernel, and do nothing without one.
#![cfg(target_os = "linux")]

use ackclock::exchange::{Outcome, Report};
use ackclock::transport::Profile;
use ackclock_kernel::{KernelError, exchange};

mod built;

fn run(text: &str) -> Option<Report> {
    let kernel = built::kernel()?;
    match exchange::run(text, Profile::Rfc, &kernel) {
        // User-Mode Linux prints its checks of the host if one fails.
        Err(KernelError::Ended { lines, .. }) if lines.iter().any(|line| line.starts_with("Checking ")) => {
            eprintln!("SKIPPED: this machine cannot run a guest: {}", lines.join("; "));
            None
        }
        done => Some(done.unwrap()),
    }
}

const HANDSHAKE: &str = "`../common/defaults.sh`
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+.1  < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0   > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.1  < . 1:1(0) ack 1 win 320
+0   accept(3, ..., ...) = 4
";

#[test]
fn a_server_sends_its_window_and_repairs_a_loss_at_exact_times() {
    let script = format!(
        "--tolerance_usecs=0
{HANDSHAKE}
+0   write(4, ..., 10000) = 10000
+0   > P. 1:10001(10000) ack 1
+.1  < . 1:1(0) ack 1 win 320 <sack 1001:2001,nop,nop>
+0   < . 1:1(0) ack 1 win 320 <sack 1001:3001,nop,nop>
+0   < . 1:1(0) ack 1 win 320 <sack 1001:4001,nop,nop>
+0   > . 1:1001(1000) ack 1
+0   %{{ assert tcpi_ca_state == TCP_CA_Recovery and tcpi_snd_ssthresh == 7 and tcpi_snd_mss == 1000 }}%
"
    );
    let Some(report) = run(&script) else { return };
    assert_eq!(report.outcome, Outcome::Passed);
    assert_eq!(report.notes, []);
    // The segments leave when the script says, to the nanosecond.
    let times: Vec<_> = report.answers.iter().map(|answer| answer.at.as_nanos()).collect();
    assert_eq!(times, [100_000_000, 200_000_000, 300_000_000]);
    assert_eq!(run(&script), Some(report), "the same script gives the same report");
}

#[test]
fn a_wrong_script_fails_at_its_line() {
    let Some(report) = run(&format!("{HANDSHAKE}+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1002(1001) ack 1\n")) else {
        return;
    };
    let Outcome::Failed(mismatch) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((mismatch.line, mismatch.seen.as_str()), (11, "> [noecn] P. 1:1001(1000) ack 1 win 1050 at 200 ms"));
}

#[test]
fn a_client_connects_waits_and_reads() {
    let script = "`../common/defaults.sh`
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+.1...0.200 connect(3, ..., ...) = 0
+0   > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
+.1  < S. 0:0(0) ack 1 win 5792 <mss 1460,nop,wscale 2,nop,nop,sackOK>
+0   > . 1:1(0) ack 1
+.1...0.5 read(3, ..., 5000) = 1000
+.1  < P. 1:1001(1000) ack 1 win 5792
+0   > . 1:1(0) ack 1001
+0   fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0   read(3, ..., 5000) = -1 EAGAIN (Resource temporarily unavailable)
+0   close(3) = 0
+0   > F. 1:1(0) ack 1001
";
    let Some(report) = run(script) else { return };
    assert_eq!(report.outcome, Outcome::Passed, "{report:?}");
}

#[test]
fn settings_that_the_kernel_lacks_are_notes() {
    let script = format!("{HANDSHAKE}`sysctl net.ipv4.tcp_nothing=1; tc qdisc replace dev tun0 root nothing`\n");
    let Some(report) = run(&script) else { return };
    let notes: Vec<_> = report.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes[0].starts_with("the kernel denies net.ipv4.tcp_nothing: No such file"), "{notes:?}");
    assert!(notes[1].starts_with("the kernel denies the queue of the device: "), "{notes:?}");
}
