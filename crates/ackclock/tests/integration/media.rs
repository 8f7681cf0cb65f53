//! Video calls over RTP: alone, in competition with calls and with CUBIC, with losses, marks and silence.

use ackclock::sim::{RunResult, TransferResult};
use ackclock_scenario::Scenario;

use crate::common::run;

const VIDEO: &str = "{ kind = 'video', max_rate = '100 Mbit/s' }";
const DROP_TAIL: &str = "{ kind = 'drop-tail', limit = '300 ms' }";

/// A dumbbell of this rate and round-trip time, for 120 s with a warm-up of 40 s.
fn dumbbell((rate_kbps, rtt_ms): (u32, u32), queue: &str, flows: &str) -> RunResult {
    let text = format!(
        "schema = 2\nduration = '120 s'\nwarmup = '40 s'\n[topology]\nkind = 'dumbbell'\nrate = '{rate_kbps} kbit/s'\n\
         delay = '{} ms'\nqueue = {queue}\n{flows}",
        rtt_ms / 2
    );
    run(&Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).plan(None, 0))
}

fn flow(name: &str, cc: &str, rest: &str) -> String {
    format!("[[flows]]\nname = '{name}'\ncc = {cc}\n{rest}\n")
}

fn call(name: &str, cc: &str, rest: &str) -> String {
    flow(name, cc, &format!("profile = 'rtp'\ntraffic = {VIDEO}\n{rest}"))
}

fn goodput(result: &RunResult, name: &str) -> f64 {
    result.flows.iter().find(|flow| *flow.name == *name).unwrap().goodput_bps
}

fn frames<'a>(result: &'a RunResult, name: &str) -> &'a TransferResult {
    result.transfers.iter().find(|row| *row.group == *name).unwrap()
}

fn late(result: &RunResult, name: &str) -> f64 {
    frames(result, name).lateness.as_ref().unwrap().late_rate.unwrap()
}

/// SCReAM has a target of 60 ms, and GCC one of no growth.
#[test]
fn a_call_alone_uses_the_link_and_holds_its_delay_target() {
    for (cc, least_used, most_delay) in [("'scream'", 0.75, 0.06), ("'gcc'", 0.6, 0.03)] {
        for path in [(500, 20), (1_000, 100), (4_000, 40), (20_000, 100)] {
            let result = dumbbell(path, DROP_TAIL, &call("call", cc, ""));
            let used = goodput(&result, "call") / (1000.0 * f64::from(path.0));
            let delay = result.summary.queue_delay_mean_s.unwrap();
            assert!((least_used..0.95).contains(&used), "{cc} {path:?}: {used}");
            assert!((0.001..most_delay).contains(&delay), "{cc} {path:?}: {delay} s");
            assert_eq!(result.flows[0].lost, 0, "{cc} {path:?}");
        }
    }
}

/// Marks keep the queue of DualPI2 shorter than any delay target.
#[test]
fn marks_of_l4s_replace_the_delay() {
    let scream = "{ kind = 'scream', l4s = true }";
    let result = dumbbell((4_000, 40), "{ kind = 'dualpi2' }", &call("call", scream, ""));
    let (used, delay) = (goodput(&result, "call") / 4e6, result.summary.queue_delay_mean_s.unwrap());
    assert!(used > 0.55 && delay < 0.003, "{used}, {delay} s");
    assert!(result.flows[0].marks > 500 && late(&result, "call") == 0.0, "{} marks", result.flows[0].marks);
    assert_eq!(result.flows[0].ecn, "counts");
}

#[test]
fn two_calls_share_the_link() {
    for (cc, least) in [("'scream'", 0.25), ("'gcc'", 0.15)] {
        let flows = call("first", cc, "") + &call("late", cc, "start = '10 s'");
        let result = dumbbell((4_000, 40), DROP_TAIL, &flows);
        let [first, late] = ["first", "late"].map(|name| goodput(&result, name));
        let share = late / (first + late);
        assert!((least..1.0 - least).contains(&share) && first + late > 2.4e6, "{cc}: {first}, {late}");
    }
}

/// CUBIC fills 300 ms of queue, and all frames come too late. SCReAM yields. GCC takes the capacity after 40 s. The delay
/// of a full queue is constant then, and GCC tolerates losses of up to a tenth.
#[test]
fn a_queue_of_its_own_protects_a_call_from_cubic() {
    let cubic = flow("bulk", "'cubic'", "profile = 'linux'");
    for (cc, shares) in [("'scream'", 0.02..0.15), ("'gcc'", 0.5..0.8)] {
        let beside = |queue| dumbbell((4_000, 40), queue, &(call("call", cc, "") + &cubic));
        let deep = beside(DROP_TAIL);
        let share = goodput(&deep, "call") / 4e6;
        assert!(shares.contains(&share) && late(&deep, "call") > 0.9, "{cc}: {share}, {}", late(&deep, "call"));
        let fair = beside("{ kind = 'fq-codel' }");
        let share = goodput(&fair, "call") / 4e6;
        assert!(share > 0.3 && late(&fair, "call") < 0.5, "{cc}: {share}, {}", late(&fair, "call"));
    }
}

/// A packet of a hundred is lost, and nothing is sent again. A key frame ends each freeze.
#[test]
fn losses_freeze_the_picture_until_a_key_frame() {
    let lossy = |traffic: &str, profile: &str| {
        let text = format!(
            "schema = 2\nduration = '60 s'\n[topology]\nkind = 'dumbbell'\nrate = '10 Mbit/s'\ndelay = '20 ms'\n\
             queue = {DROP_TAIL}\nloss = {{ kind = 'periodic', period = 100, offset = 50 }}\n\
             [[flows]]\nname = 'call'\ncc = 'gcc'\nprofile = '{profile}'\ntraffic = {traffic}"
        );
        let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        run(&scenario.plan(None, 0))
    };
    let fixed = "{ kind = 'video', min_rate = '1 Mbit/s', start_rate = '1 Mbit/s', max_rate = '1 Mbit/s' }";
    let result = lossy(fixed, "rtp");
    let (row, flow) = (frames(&result, "call"), &result.flows[0]);
    let playing = row.playing.as_ref().unwrap();
    assert!(flow.lost >= 60 && flow.retransmits == 0, "{} lost", flow.lost);
    // Each loss freezes the picture once, for about an RTT and the feedback.
    let freeze = playing.stalled_s / playing.stalls as f64;
    assert!(playing.stalls.abs_diff(flow.lost) <= flow.lost / 5, "{} freezes", playing.stalls);
    assert!((0.06..0.3).contains(&freeze), "{freeze} s per freeze");
    assert!(row.times.completed + flow.lost >= row.started, "{} of {}", row.times.completed, row.started);
    // Over QUIC and TCP all frames come, some of them late.
    for profile in ["quic", "linux"] {
        let repaired = lossy(fixed, profile);
        let row = frames(&repaired, "call");
        assert!(row.started - row.times.completed <= 10, "{profile}: {} of {}", row.times.completed, row.started);
    }
}

/// The link vanishes for 20 s: feedback ends, the encoder skips frames, and the call continues afterwards.
#[test]
fn a_call_survives_an_outage() {
    for cc in ["'scream'", "'gcc'"] {
        let text = format!(
            "schema = 2\nduration = '60 s'\nsampling.interval = '1 s'\n[topology]\nkind = 'dumbbell'\nrate = '2 Mbit/s'\n\
             delay = '20 ms'\nqueue = {DROP_TAIL}\n\
             varies = {{ kind = 'steps', times = ['0 s', '20 s', '40 s'], rates = ['2 Mbit/s', '1 kbit/s', '2 Mbit/s'] }}\n\
             [[flows]]\nname = 'call'\ncc = {cc}\nprofile = 'rtp'\ntraffic = 'video'"
        );
        let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let result = run(&scenario.plan(None, 0));
        let delivered = &result.samples.flows.delivered_bytes;
        let (before, during) = (delivered[20], delivered[40] - delivered[20]);
        let after = delivered[60] - delivered[45];
        assert!(before > 500_000 && during < 60_000 && after > 200_000, "{cc}: {before}, {during}, {after}");
        assert!(result.flows[0].timeouts > 0, "{cc}");
    }
}

/// The encoder follows the window of an algorithm that sets no rate, on each transport.
#[test]
fn any_algorithm_can_carry_a_call_over_any_transport() {
    for cc in ["cubic", "bbr3", "vegas", "prague", "scream", "gcc"] {
        for profile in ["rtp", "quic", "linux"] {
            let flows = flow("call", &format!("'{cc}'"), &format!("profile = '{profile}'\ntraffic = 'video'"));
            let result = dumbbell((3_000, 40), DROP_TAIL, &flows);
            let used = goodput(&result, "call");
            // The largest rate of the encoder is 1.5 Mbit/s.
            assert!((0.9e6..1.55e6).contains(&used), "{cc} {profile}: {used}");
            assert!(late(&result, "call") < 0.05, "{cc} {profile}: {}", late(&result, "call"));
        }
    }
}

#[test]
fn a_bulk_flow_of_a_media_controller_fills_the_link() {
    for (cc, profile, least) in [("scream", "rtp", 0.9), ("scream", "linux", 0.9), ("gcc", "rtp", 0.5)] {
        let result =
            dumbbell((2_000, 40), DROP_TAIL, &flow("bulk", &format!("'{cc}'"), &format!("profile = '{profile}'")));
        let used = goodput(&result, "bulk") / 2e6;
        assert!(used > least, "{cc} {profile}: {used}");
    }
}

#[test]
fn unsuitable_settings_of_media_are_explained() {
    let text = |flow: &str| {
        format!(
            "schema = 2\nduration = '10 s'\n[topology]\nkind = 'dumbbell'\nrate = '2 Mbit/s'\ndelay = '20 ms'\n\
             queue = {DROP_TAIL}\n[[flows]]\nname = 'call'\n{flow}"
        )
    };
    for (flow, message) in [
        (
            "cc = 'gcc'\nprofile = 'rtp'\ntraffic = { kind = 'web', think = '1 s', response = '10 kB' }",
            "rtp sends nothing again, and web needs all of its data; write kind = \"video\", or protocol = \"tcp\"",
        ),
        ("cc = 'gcc'\nprofile = 'rtp'\nrack = true", "rtp has no such key, it is of tcp"),
        ("cc = 'gcc'\nprofile = 'rtp'\nreordering_threshold = 3", "rtp has no such key, it is of quic"),
        ("cc = 'gcc'\nprofile = 'rtp'\nundo = 'eifel'", "\"eifel\" is not of rtp; write \"none\""),
        ("cc = 'gcc'\ntraffic = { kind = 'video', start_rate = '2 Mbit/s' }", "at least min_rate (150 kbit/s)"),
        ("cc = 'gcc'\ntraffic = { kind = 'video', key_size = 9 }", "at least 1 and at most burst_frames (8)"),
        ("cc = 'gcc'\ntraffic = { kind = 'video', steps = ['2 Mbit/s', '1 Mbit/s'] }", "in ascending order"),
        ("cc = 'gcc'\ntraffic = { kind = 'video', frame_rate = 0.5 }", "at least 1 and at most 1000"),
    ] {
        let error = Scenario::from_toml::<&str>(&text(flow), "x", &[]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let warnings = |flow: &str| Scenario::from_toml::<&str>(&text(flow), "x", &[]).unwrap().warnings().join("\n");
    let told = warnings("cc = 'scream'");
    for part in [
        "call: tcp reports no arrival times, so scream measures round trips",
        "call: scream sets the rate of an encoder, and bulk has none",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(warnings("cc = 'scream'\nprofile = 'rtp'\ntraffic = 'video'"), "");
}
