//! s2n's own controllers in scenarios.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ackclock::cc::Algorithm;
use ackclock::sim::{self, FlowResult};
use ackclock_scenario::Scenario;
use s2n_quic_core::recovery::CubicCongestionController;
use s2n_quic_core::recovery::bbr::BbrCongestionController;

const DUMBBELL: &str = r#"
    schema = 1
    duration = "20 s"
    warmup = "5 s"
    [topology]
    kind = "dumbbell"
    rate = "10 Mbit/s"
    delay = "20 ms"
    queue = { kind = "drop-tail", limit = "1 BDP" }
    [transport]
    profile = "quic"
    pacing = "off"
    [[flows]]
    name = "test"
    cc = "cubic"
"#;

fn cubic() -> Algorithm {
    ackclock_s2n::algorithm("s2n-cubic", |size| CubicCongestionController::new(size, Default::default()))
}

fn bbr() -> Algorithm {
    ackclock_s2n::algorithm("s2n-bbr", |size| BbrCongestionController::new(size, Default::default()))
}

/// The flows of a run with this algorithm, and how much of the link they use.
fn run(cc: Algorithm, sets: &[&str]) -> Result<(Vec<FlowResult>, f64), String> {
    let mut plan = Scenario::from_toml(DUMBBELL, "s2n", sets).unwrap().plan(None, 0);
    let cc = Arc::new(cc);
    plan.flows.iter_mut().for_each(|flow| flow.cc = cc.clone());
    let result = sim::run(&plan, &AtomicBool::new(false)).map_err(|stop| stop.to_string())?;
    Ok((result.flows, result.summary.utilization.unwrap()))
}

#[test]
fn cubic_fills_the_link_and_reduces_its_window_for_losses() {
    let (flows, utilization) = run(cubic(), &[]).unwrap();
    assert!(utilization > 0.9, "{utilization}");
    assert!(flows[0].retransmits > 2, "{:?}", flows[0]);
    assert!(flows[0].cwnd_mean_segments.unwrap() < 2.0 * 33.4 + 5.0, "{:?}", flows[0].cwnd_mean_segments);
}

#[test]
fn bbr_paces_and_keeps_the_queue_shorter_than_cubic() {
    let large = ["topology.queue={ kind = 'drop-tail', limit = '4 BDP' }"];
    let (paced, utilization) = run(bbr(), &large).unwrap();
    assert!(utilization > 0.85, "{utilization}");
    let (filled, _) = run(cubic(), &large).unwrap();
    let delay = |flows: &[FlowResult]| flows[0].queue_delay_mean_s.unwrap();
    assert!(delay(&paced) < 0.5 * delay(&filled), "{} {}", delay(&paced), delay(&filled));
}

#[test]
fn the_same_run_gives_the_same_result() {
    let sets = ["flows.test.count=2", "topology.loss={ kind = 'bernoulli', probability = 0.01 }"];
    for cc in [cubic, bbr] {
        assert_eq!(run(cc(), &sets).unwrap(), run(cc(), &sets).unwrap());
    }
}

#[test]
fn over_tcp_the_run_ends_with_a_message() {
    let message = run(cubic(), &["transport.profile=rfc"]).unwrap_err();
    assert!(message.contains("protocol = \"quic\""), "{message}");
}
