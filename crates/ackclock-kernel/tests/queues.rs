//! Queues of a kernel in virtual time. They need a built kernel, and do nothing without one.
#![cfg(target_os = "linux")]

use ackclock::open_loop::{Arrival, Event, Outcome};
use ackclock::qdisc::{Ecn, Reason};
use ackclock::units::Rate;
use ackclock_kernel::KernelError;
use ackclock_kernel::queue::serve;

mod built;

const DROPPED: Outcome = Outcome::Dropped(Reason::Kernel);
const MARKED: Outcome = Outcome::Marked(Reason::Kernel);

fn rate() -> Rate {
    Rate::from_bps(10_000_000).unwrap()
}

/// Packets of 1000 bytes of two flows, one every 600 us: 13 Mbit/s.
fn arrivals() -> Vec<Arrival> {
    let arrival = |number: u64| Arrival {
        at_ns: 1_000_000 + number * 600_000,
        bytes: 1_000,
        flow: number % 2,
        ecn: if number.is_multiple_of(3) { Ecn::Ect0 } else { Ecn::NotEct },
    };
    (0..2_000).map(arrival).collect()
}

fn run(line: &str) -> Option<Result<Vec<Event>, KernelError>> {
    let done = serve(&built::kernel()?, line, rate(), 7, &arrivals());
    match &done {
        // User-Mode Linux prints its checks of the host if one fails.
        Err(KernelError::Ended { lines, .. }) if lines.iter().any(|line| line.starts_with("Checking ")) => {
            eprintln!("SKIPPED: this machine cannot run a guest: {}", lines.join("; "));
            None
        }
        _ => Some(done),
    }
}

fn count(events: &[Event], outcome: Outcome) -> usize {
    events.iter().filter(|event| event.outcome == outcome).count()
}

#[test]
fn each_queue_keeps_its_packets_and_repeats() {
    for line in [
        "pfifo limit 30",
        "codel target 5ms interval 100ms ecn",
        "fq_codel limit 200 noecn",
        "fq limit 100 nopacing",
        "pie target 15ms ecn",
        "fq_pie limit 100 target 15ms",
        "red limit 200kb min 10kb max 30kb avpkt 1000 burst 20 probability 0.1 ecn",
        "choke limit 100 min 10 max 30 probability 0.1",
        "sfb limit 100",
        "cake bandwidth 8mbit besteffort",
        "tbf rate 8mbit burst 15kb limit 30kb",
        "netem delay 50ms limit 30",
    ] {
        let Some(events) = run(line) else { return };
        let events = events.unwrap();
        let (sent, dropped) = (count(&events, Outcome::Sent), count(&events, DROPPED));
        assert_eq!(sent + dropped, 2_000, "{line}");
        assert!(dropped + count(&events, MARKED) > 20, "{line}: {dropped}");
        // A transmission takes 0.8 ms.
        let starts: Vec<u64> =
            events.iter().filter(|event| event.outcome == Outcome::Sent).map(|event| event.at_ns).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 800_000), "{line}");
        assert_eq!(run(line).map(Result::unwrap), Some(events), "{line}: the same seed gives the same events");
    }
}

#[test]
fn a_fifo_drops_what_does_not_fit() {
    let Some(events) = run("pfifo limit 30") else { return };
    let events = events.unwrap();
    let first = events.iter().find(|event| event.outcome == DROPPED).unwrap();
    // Packet n arrives at 0.6 n ms, when 0.75 n + 1 packets have left the queue, rounded down. Thirty wait.
    assert_eq!(first.arrival, 121);
}

#[test]
fn the_kernel_denies_what_it_lacks() {
    let Some(done) = run("pie limit 0 target 15us bytemode nobytemode flows 3") else { return };
    let message = done.unwrap_err().to_string();
    assert!(message.contains("tc: unknown word flows; there are target, limit"), "{message}");
}
