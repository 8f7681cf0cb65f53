//! Links that lose: in networks, and as a scenario says it.

mod common;

use ackclock::scenario::Scenario;
use ackclock::sim::{ChannelState, LossPlan, RunResult};
use ackclock::units::Duration;
use common::{Dumbbell, run};

/// 5 Mbit/s, 60 ms, a buffer of a bandwidth-delay product: 25 packets.
fn small(flows: usize) -> Dumbbell {
    Dumbbell::new(5_000_000, Duration::from_millis(60), 25, flows)
}

/// The bottleneck of a dumbbell with these keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "schema = 1\nduration = \"20 s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"5 Mbit/s\"\ndelay = \"30 ms\"\n{keys}\n\
         [[flows]]\nname = \"test\"\ncc = \"aimd\"\n"
    );
    Scenario::from_toml::<&str>(&text, "impaired.toml", &[]).unwrap()
}

fn gilbert_elliott(good: (f64, f64), bad: (f64, f64)) -> LossPlan {
    let state = |(loss, leave)| ChannelState { loss, leave };
    LossPlan::GilbertElliott { good: state(good), bad: state(bad) }
}

/// The initial RTO is 1 s and doubles up to 60 s: timeouts at 1, 3, 7, 15, 31, 63, 123 and 183 s, and little else.
fn check_back_off(result: &RunResult) {
    assert_eq!(result.flows[0].timeouts, 8);
    assert!(result.flows[0].sent < 20, "{} segments", result.flows[0].sent);
    assert!(result.events < 1100, "{} events, 1001 of them samples", result.events);
}

#[test]
fn a_link_that_loses_everything_ends_in_exponential_back_off() {
    let everything = [
        LossPlan::Bernoulli { probability: 1.0 },
        LossPlan::BitErrors { probability: 1.0 },
        gilbert_elliott((1.0, 0.1), (1.0, 0.1)),
        LossPlan::Periodic { period: 1, offset: 0 },
    ];
    for loss in everything {
        let mut dumbbell = small(1);
        dumbbell.loss = loss;
        dumbbell.warmup = Duration::ZERO;
        dumbbell.duration = Duration::from_secs(200);
        let result = dumbbell.run();
        check_back_off(&result);
        assert_eq!(result.summary.goodput_bps, 0.0);
        assert_eq!(result.summary.loss_rate, 1.0);
    }
}

#[test]
fn so_does_a_way_back_on_which_every_ack_is_lost() {
    let mut dumbbell = small(1);
    dumbbell.warmup = Duration::ZERO;
    dumbbell.duration = Duration::from_secs(200);
    let mut plan = dumbbell.plan();
    plan.links[1].loss = LossPlan::Bernoulli { probability: 1.0 };
    let result = run(&plan);
    check_back_off(&result);
    assert_eq!(result.summary.loss_rate, 1.0);
    // The window at the start arrives, and nobody knows.
    assert!(result.summary.goodput_bps > 0.0);
}

#[test]
fn losses_of_a_run_are_those_of_the_closed_forms() {
    // 1 - (1 - 1e-6)^12000 = 0.011 928; 0.01/(0.01 + 0.4) = 0.024 390.
    let cases = [
        (LossPlan::BitErrors { probability: 1e-6 }, 0.011_928, 1.0),
        // States k packets apart are correlated by (1 - p - r)^k: the variance is 1 + 2 (1 - p - r)/(p + r) times as large.
        (gilbert_elliott((0.0, 0.01), (1.0, 0.4)), 0.024_390, 1.0 + 2.0 * 0.59 / 0.41),
    ];
    for (loss, expected, correlation) in cases {
        let mut dumbbell = small(2);
        dumbbell.duration = Duration::from_secs(2000);
        dumbbell.loss = loss.clone();
        let result = dumbbell.run();
        let link = &result.links[0];
        let packets = link.forwarded as f64;
        let rate = link.losses as f64 / packets;
        let error = (correlation * expected * (1.0 - expected) / packets).sqrt();
        assert!(packets > 1e5 && (rate - expected).abs() < 3.0 * error, "{loss:?}: {rate} +- {error}");
    }
}

#[test]
fn a_scenario_says_how_a_link_loses() {
    let loss = |keys: &str| scenario(keys).plan(None, 0).links[0].loss.clone();
    assert_eq!(loss("loss = { kind = 'bit-errors', probability = 1e-6 }"), LossPlan::BitErrors { probability: 1e-6 });
    assert_eq!(
        loss("loss = { kind = 'gilbert-elliott', p = 0.01, r = 0.4 }"),
        gilbert_elliott((0.0, 0.01), (1.0, 0.4))
    );
    let bursts = "loss = { kind = 'gilbert-elliott', p = 0.01, r = 0.4, loss_good = 0.001, loss_bad = 0.5 }";
    let bursts = scenario(bursts);
    assert_eq!(bursts.plan(None, 0).links[0].loss, gilbert_elliott((0.001, 0.01), (0.5, 0.4)));
    assert_eq!(bursts.describe().links[0].loss, "gilbert-elliott, p 0.01, r 0.4, loss 0.001 or 0.5");
    let again = Scenario::from_json::<&str>(&bursts.resolved_json(), "resolved", &[]).unwrap();
    assert_eq!((again.document(), again.hash()), (bursts.document(), bursts.hash()));
}

#[test]
fn losses_without_luck_are_not_random() {
    let cases = [
        ("kind = 'bit-errors', probability = 1e-9", true),
        ("kind = 'bit-errors', probability = 1", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0.1", true),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0.1, loss_good = 1", false),
        ("kind = 'gilbert-elliott', p = 0, r = 0.1", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0", false),
        ("kind = 'gilbert-elliott', p = 0.1, r = 0, loss_bad = 0.9", true),
    ];
    for (loss, is_random) in cases {
        assert_eq!(scenario(&format!("loss = {{ {loss} }}")).is_random(), is_random, "{loss}");
    }
}

#[test]
fn a_scenario_that_loses_everything_says_so() {
    for loss in ["kind = 'bernoulli', probability = 1", "kind = 'periodic', period = 1"] {
        let notes = scenario(&format!("reverse.loss = {{ {loss} }}")).describe().notes;
        let expected = "bottleneck.reverse loses everything: what crosses it ends in exponential back-off";
        assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    }
}
