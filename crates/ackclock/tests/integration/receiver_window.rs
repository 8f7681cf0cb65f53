//! Slow readers: the window of a receiver with a buffer in whole runs.

use crate::common::{Dumbbell, run};
use ackclock::sim::{FlowResult, LossPlan};
use ackclock::transport::{Transport, WindowProbe};
use ackclock::units::{Duration, Rate};

const RTT: Duration = Duration::from_millis(80);

/// A flow alone at 10 Mbit/s, with such a receiver, and losses of ACKs on the way back.
fn flow(transport: Transport, lost_acks: LossPlan) -> FlowResult {
    let mut dumbbell = Dumbbell::new(10_000_000, RTT, 1000, 1);
    (dumbbell.duration, dumbbell.warmup) = (Duration::from_secs(30), Duration::from_secs(5));
    dumbbell.flows[0].1.transport = transport;
    let mut plan = dumbbell.plan();
    plan.links[1].impairments.loss = lost_acks;
    run(&plan).flows.remove(0)
}

fn reads(bytes: u64, rate_bps: u64, every: Duration) -> Transport {
    let (receive_buffer, read_rate) = (Some(bytes), Rate::from_bps(rate_bps));
    Transport { receive_buffer, read_rate, read_every: every, ..Transport::default() }
}

fn assert_near(seen: f64, expected: f64, part: f64, what: &str) {
    assert!((seen / expected - 1.0).abs() <= part, "{what}: {seen}, expected {expected}");
}

#[test]
fn an_application_that_reads_at_once_bounds_the_rate_by_its_buffer() {
    // Ten segments a round trip of 80 ms; those of one window take 10 * 1.2 ms, and the last one its time at four more links.
    let bytes = 10 * 1460;
    let it = flow(reads(bytes, 0, Duration::ZERO), LossPlan::None);
    let rtt = it.rtt_mean_s.unwrap();
    assert_near(it.goodput_bps, bytes as f64 * 8.0 / rtt, 0.01, "a window per round trip");
    let same = flow(Transport { max_window: Some(10), ..Transport::default() }, LossPlan::None);
    assert_near(it.goodput_bps, same.goodput_bps, 1e-3, "as with max_window");
    assert_eq!((it.retransmits, it.timeouts, it.lost), (0, 0, 0));
}

#[test]
fn a_slow_reader_bounds_the_rate_without_a_loss() {
    for every in [Duration::ZERO, Duration::from_millis(40), Duration::from_secs(1)] {
        let it = flow(reads(256 << 10, 1_000_000, every), LossPlan::None);
        assert_near(it.goodput_bps, 1e6, 0.01, &format!("reads every {every}"));
        assert_eq!((it.retransmits, it.timeouts, it.lost), (0, 0, 0), "reads every {every}");
    }
    // A buffer that is smaller than a chunk: a buffer in each interval.
    let it = flow(reads(14_600, 8_000_000, Duration::from_secs(1)), LossPlan::None);
    assert_near(it.goodput_bps, 14_600.0 * 8.0, 0.01, "a buffer a second");
}

/// Half of all ACKs are lost, window updates among them: probes find the open window, and nothing stands still.
#[test]
fn probes_make_good_for_lost_window_updates() {
    for window_probe in [WindowProbe::Octet, WindowProbe::Empty] {
        let lost = LossPlan::Bernoulli { probability: 0.5 };
        let mut transport = reads(14_600, 0, Duration::from_secs(1));
        transport.window_probe = window_probe;
        let it = flow(transport, lost);
        // Of a second in which a buffer is read, an update that is lost costs the wait for a probe, which is below 2 s.
        let best = 14_600.0 * 8.0;
        assert!(it.goodput_bps > best / 4.0 && it.goodput_bps <= best * 1.01, "{window_probe:?}: {}", it.goodput_bps);
    }
}
