//! Careful Resume (RFC 9959) in runs of TCP and QUIC, with saved parameters of the path and of another one.

use crate::common::run;
use ackclock::cc::algorithms;
use ackclock::sim::FlowResult;
use ackclock_scenario::Scenario;

const TRANSFER: &str = "{ kind = 'transfer', size = '10 MB' }";
const BULK: &str = "'bulk'";

/// One flow on a path of this rate and 100 ms, with a buffer of one bandwidth-delay product.
fn flow(traffic: &str, cc: &str, profile: &str, rate_mbit: u32, keys: &str) -> FlowResult {
    let bdp = rate_mbit * 25 / 3;
    let text = format!(
        "schema = 1\nduration = '120 s'\n[topology]\nkind = 'dumbbell'\nrate = '{rate_mbit} Mbit/s'\ndelay = '50 ms'\n\
         queue = {{ kind = 'drop-tail', limit = '{bdp} packets' }}\n[transport]\nprofile = '{profile}'\n\
         initial_window = 10\n{keys}\n[[flows]]\nname = 'one'\ncc = '{cc}'\n\
         traffic = {traffic}"
    );
    let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario.plan(None, 0)).flows.remove(0)
}

const SAVED: &str = "saved_window = 416\nsaved_rtt = '100 ms'";

/// Half of 416 segments after one round trip, instead of the doublings from 10 to 208.
#[test]
fn a_transfer_with_the_saved_parameters_of_its_path_ends_earlier() {
    for profile in ["rfc", "linux", "quic"] {
        for cc in algorithms().iter().map(|info| info.name) {
            let [new, resumed] =
                ["", SAVED].map(|keys| flow(TRANSFER, cc, profile, 50, keys).completion_time_s.unwrap());
            match cc {
                "bbr1" | "bbr3" | "copa" | "scream" | "gcc" => assert_eq!(resumed, new, "{profile} {cc}"),
                // Hybla's own slow start overflows the buffer in both cases. CDG may reduce its window at random.
                "hybla" | "cdg" => assert!(resumed < 1.1 * new, "{profile} {cc}: {new} s, {resumed} s"),
                _ => assert!(resumed < new - 0.1, "{profile} {cc}: {new} s, {resumed} s"),
            }
        }
    }
}

/// The path has a tenth of the capacity: 42 segments, and as many in its buffer.
#[test]
fn a_transfer_with_too_large_saved_parameters_retreats() {
    for profile in ["rfc", "linux", "quic"] {
        for cc in ["reno", "cubic"] {
            let [new, resumed] = ["", SAVED].map(|keys| flow(TRANSFER, cc, profile, 5, keys));
            let [before, after] = [&new, &resumed].map(|flow| flow.completion_time_s.unwrap());
            assert!(after < 1.1 * before, "{profile} {cc}: {before} s, {after} s");
            // No more than the jump is lost on top.
            assert!(resumed.lost < new.lost + 208 - 83, "{profile} {cc}: {} and {}", new.lost, resumed.lost);
            // A transfer may lose its last segments. A flow without an end shows timeouts of the retreat only.
            assert_eq!(flow(BULK, cc, profile, 5, SAVED).timeouts, 0, "{profile} {cc}");
        }
    }
}
