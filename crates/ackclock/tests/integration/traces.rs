//! Properties of senders in a trace of every packet.

use std::sync::Arc;

use ackclock::cc::{Ack, Algorithm, Congestion, CongestionControl};
use ackclock::probe::PacketEvent;
use ackclock::sim::{Plan, RunResult};
use ackclock::transport::Timer;
use ackclock::units::Rate;
use ackclock_scenario::Scenario;

const DUMBBELL: &str = r#"
    schema = 1
    duration = "5 s"
    sampling = { packets = true }
    [topology]
    kind = "dumbbell"
    rate = "10 Mbit/s"
    delay = "20 ms"
    [[flows]]
    name = "test"
    count = 4
    cc = "aimd"
"#;

fn plan(sets: &[&str]) -> Plan {
    Scenario::from_toml(DUMBBELL, "traces", sets).unwrap().plan(None, 0)
}

/// How often the timers of retransmission, delayed start and pacing go off, and no other does.
fn timers(result: &RunResult) -> [usize; 3] {
    let trace = &result.samples.trace;
    for (event, timer) in trace.event.iter().zip(&trace.timer) {
        assert_eq!(*event == PacketEvent::Timer as u8, timer.is_some());
    }
    let named = [Timer::Retransmission, Timer::DelayedStart, Timer::Pacing];
    let counts = named.map(|timer| trace.timer.iter().filter(|named| **named == Some(timer as u8)).count());
    assert_eq!(counts.iter().sum::<usize>(), trace.timer.iter().flatten().count());
    counts
}

#[test]
fn a_trace_names_the_retransmission_timer_whenever_it_goes_off() {
    let sets = ["topology.loss={ kind = 'bernoulli', probability = 0.1 }"];
    let result = crate::common::run(&plan(&sets));
    let timeouts: u64 = result.flows.iter().map(|flow| flow.timeouts).sum();
    assert!(timeouts > 10);
    assert_eq!(timers(&result), [timeouts as usize, 0, 0]);
    let without = crate::common::run(&plan(&[sets[0], "sampling.packets=false"]));
    assert!(without.samples.trace.timer.is_empty());
}

#[test]
fn a_trace_names_the_timer_of_a_marked_window_of_one_segment() {
    // Four packets a second for each flow, and where more than one waits it is marked.
    let crowd = ["flows.test.count=200", "transport.ecn=classic", "flows.test.start={ uniform = ['0 s', '1 s'] }"];
    let red = "topology.queue={ kind = 'red', limit = '200 packets', min = '10 packets', max = '60 packets', ecn = true, \
               weight = 1, max_p = 1, hard_drop = false }";
    let [retransmission, delayed_start, pacing] =
        timers(&crate::common::run(&plan(&[crowd[0], crowd[1], crowd[2], red])));
    assert!(delayed_start > 100 && pacing == 0, "{delayed_start}, {pacing}, {retransmission} timeouts");
}

/// Sends at 1 Mbit/s, and ignores all feedback.
#[derive(Debug)]
struct Steady;

impl CongestionControl for Steady {
    fn cwnd(&self) -> f64 {
        100.0
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps(1_000_000)
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

#[test]
fn a_trace_names_the_pacing_timer_once_for_each_segment_that_it_held_back() {
    let mut plan = plan(&[]);
    for flow in &mut plan.flows {
        flow.cc = Arc::new(Algorithm::new("steady", |_| Steady));
    }
    let result = crate::common::run(&plan);
    // All but the first segment of each flow.
    let sent: u64 = result.flows.iter().map(|flow| flow.sent - 1).sum();
    assert!(sent > 1000);
    assert_eq!(timers(&result), [0, 0, sent as usize]);
}
