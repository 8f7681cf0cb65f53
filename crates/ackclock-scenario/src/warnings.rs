//! Warns of probably unintended settings of a scenario, to be checked before relying on the results.

use super::meters;
use super::schema::{Document, Flow};
use super::topology::{DirectedLink, Network};
use super::traffic::TrafficKeys;
use ackclock::cc::{CcSpec, EcnNeed};
use ackclock::link::Bleaching;
use ackclock::qdisc::QueueSpec;
use ackclock::quantity::{Limit, RateOrZero};
use ackclock::sim::LinkId;
use ackclock::transport::{EcnMode, Protocol, TransportKeys};
use ackclock::units::Duration;
use ackclock::variation::VariationPlan;

/// The links of a dumbbell that each flow has for itself.
const ACCESS: &str = "access";

/// The transport keys that control the growth and reduction of windows. First come the keys that user-supplied code
/// replaces by its own rules. The host also applies the remaining keys to the windows of the code. Compiled programs
/// read none of them.
const OF_WINDOW_RULES: [&str; 10] = [
    "first_cut",
    "cut_window",
    "timeout_ssthresh",
    "ecn_beta",
    "slow_start",
    "saved_window",
    "exit_window",
    "whole_window",
    "idle_window",
    "undo_response",
];
const REPLACED: usize = 6;

/// Everything that one should look at before one trusts a result.
pub fn warnings(document: &Document, network: &Network) -> Vec<String> {
    let flows = || document.flows.iter().zip(&network.routes);
    let access = network.access.as_ref().map(|access| &access.queue);
    let mut warnings = Vec::new();
    let mut check_queue = |name: &str, queue: &QueueSpec, crossing: Vec<&Flow>| {
        warnings.extend(without_l4s(name, queue, &crossing));
        if queue.asks_for_ecn() && crossing.iter().all(|flow| !is_capable(flow)) {
            let whose = match crossing.is_empty() {
                true => "no data cross it".to_owned(),
                false => format!("of the flows that cross it none is ECN-capable: {}", names(&crossing)),
            };
            warnings.push(format!("the queue of {name} is to mark packets, but {whose}"));
        }
    };
    let mut crossing: Vec<Vec<&Flow>> = vec![Vec::new(); network.links.len()];
    for (flow, route) in flows() {
        route.forward.iter().for_each(|link| crossing[link.number()].push(flow));
    }
    for (link, crossing) in network.links.iter().zip(crossing) {
        check_queue(&link.name, &link.queue, crossing);
    }
    if let Some(queue) = access {
        check_queue("every access link", queue, document.flows.iter().collect());
    }
    warnings.extend(network.links.iter().filter_map(capped_trace));
    warnings.extend(network.links.iter().filter_map(time_at_the_highest_rate));
    warnings.extend(network.links.iter().filter_map(shaper_above_the_rate));
    warnings.extend(meters::warnings(document, network));
    warnings.extend(network.parts().flat_map(|(name, _, impairments)| impairments.warnings(name)));
    for (name, _) in document.channels.iter().filter(|(_, channel)| channel.is_dead()) {
        warnings.push(format!("{name} delivers nothing: every frame arrives with bit errors"));
    }
    warnings.extend(flows().flat_map(|(flow, _)| cannot_undo(flow)));
    warnings.extend(flows().filter_map(|(flow, _)| no_window_rule(flow)));
    warnings.extend(flows().flat_map(|(flow, _)| of_media(flow)));
    warnings.extend(flows().filter_map(|(flow, route)| cannot_resume(flow, route.mean_rtt)));
    warnings.extend(flows().filter_map(|(flow, _)| coarse_feedback(flow)));
    for (flow, route) in flows().filter(|(flow, _)| is_capable(flow)) {
        let shared = route.forward.iter().map(|link| network.link(*link));
        let mut queues: Vec<(&str, &QueueSpec)> = shared.map(|link| (link.name.as_str(), &link.queue)).collect();
        queues.extend(access.map(|queue| (ACCESS, queue)));
        let scripted = route.forward.iter().any(|link| network.link(*link).impairments.loss.marks())
            || network.access.as_ref().is_some_and(|access| access.impairments.loss.marks());
        let marking = queues.iter().find(|(_, queue)| queue.marks()).map(|(name, _)| *name);
        warnings.extend(deaf(flow, marking.or(scripted.then_some("its path"))));
        warnings.extend(bleached(flow, network, &route.forward, marking));
        if !scripted && !queues.iter().any(|(_, queue)| queue.marks()) {
            let links: Vec<_> = queues.iter().map(|(name, _)| *name).collect();
            let (name, mode) = (&flow.name, flow.ecn().name());
            let links = links.join(", ");
            warnings.push(format!(
                "{name} is ECN-capable (ecn = \"{mode}\"), but no queue on its path marks packets: {links}"
            ));
        }
    }
    warnings
}

/// An algorithm that has no response to the marks that it will get at `place`.
fn deaf(flow: &Flow, place: Option<&str>) -> Option<String> {
    let cc = flow.cc.as_ref().filter(|cc| !cc.responds_to_marks())?;
    let (name, cc) = (&flow.name, cc.name());
    Some(format!("{name} is ECN-capable, but {cc} does not respond to the marks of {}; write ecn = \"off\"", place?))
}

/// An algorithm that needs the number of marks, with feedback of one bit.
fn coarse_feedback(flow: &Flow) -> Option<String> {
    let cc = flow.cc.as_ref().filter(|cc| cc.needs_ecn() != EcnNeed::None)?;
    let is_coarse = flow.ecn() == EcnMode::Classic;
    is_coarse.then(|| {
        format!(
            "{}: {} needs the number of marks, but ecn = \"classic\" reports one bit; leave out ecn, or write \
             ecn = \"accecn\"",
            flow.name,
            cc.name()
        )
    })
}

/// A flow whose ECN field a link of its path clears.
fn bleached(flow: &Flow, network: &Network, route: &[LinkId], marking: Option<&str>) -> Option<String> {
    let access = network.access.as_ref().map(|access| (ACCESS, &access.impairments));
    let links = route.iter().map(|link| network.link(*link)).map(|link| (link.name.as_str(), &link.impairments));
    let sends_ect1 = flow.cc.as_ref().is_some_and(|cc| cc.needs_ecn() == EcnNeed::Counts);
    let clears = |bleaching| bleaching == Bleaching::All || bleaching == Bleaching::Ect1 && sends_ect1;
    let (link, impairments) = access.into_iter().chain(links).find(|(_, it)| clears(it.bleaching))?;
    let name = &flow.name;
    let effect = match impairments.bleaching {
        Bleaching::All => {
            format!("no mark of the queues before reaches {name}, and the queues behind drop its packets")
        }
        Bleaching::Ect1 | Bleaching::None => format!(
            "the queues behind treat {name} as classic and drop its packets; {name} sees only marks of the queues before"
        ),
    };
    let response = if marking.is_some() { "it then responds to losses as Reno does" } else { "it responds to losses" };
    Some(format!("{link} clears the ECN field of {name}: {effect}; {response}"))
}

/// A queue with a part for L4S traffic that no flow uses.
fn without_l4s(name: &str, queue: &QueueSpec, crossing: &[&Flow]) -> Option<String> {
    let is_l4s = |flow: &&Flow| flow.cc.as_ref().is_some_and(|cc| cc.needs_ecn() == EcnNeed::Counts || cc.is_foreign());
    let has_none = matches!(queue, QueueSpec::DualPi2(_)) && !crossing.is_empty() && !crossing.iter().any(is_l4s);
    has_none.then(|| {
        format!(
            "the queue of {name} gives packets with ECT(1) a short delay, but no flow sends them: {}; a flow of prague \
             sends them",
            names(crossing)
        )
    })
}

/// Warns where the undo of spurious recoveries needs a missing feature.
fn cannot_undo(flow: &Flow) -> impl Iterator<Item = String> {
    let (name, keys) = (&flow.name, &flow.transport);
    let timestamps = (keys.undo.by_timestamps() && !keys.timestamps)
        .then(|| format!("{name} is to undo recoveries by timestamps, but sends none; write timestamps = true"));
    let duplicates = (keys.undo.by_duplicates() && !(keys.dsack && keys.peer_sack)).then(|| {
        format!("{name} is to undo recoveries by D-SACK blocks, but its receiver sends none; write dsack = true")
    });
    timestamps.into_iter().chain(duplicates)
}

/// Warns of a media controller without an encoder, or without reports of arrivals.
fn of_media(flow: &Flow) -> impl Iterator<Item = String> {
    let cc = flow.cc.as_ref().filter(|cc| matches!(cc, CcSpec::Scream(_) | CcSpec::Gcc(_)));
    let (name, protocol) = (flow.name.clone(), flow.transport.protocol);
    let has_encoder = matches!(flow.traffic, TrafficKeys::Video { .. });
    cc.into_iter().flat_map(move |cc| {
        let (cc, traffic) = (cc.name(), flow.traffic.kind());
        let reports = (protocol != Protocol::Rtp).then(|| {
            let protocol = protocol.name();
            format!(
                "{name}: {protocol} reports no arrival times, so {cc} measures round trips, with the queues of ACKs; write \
                 protocol = \"rtp\""
            )
        });
        let encoder = (!has_encoder).then(|| {
            format!("{name}: {cc} sets the rate of an encoder, and {traffic} has none, so packets leave at this rate")
        });
        reports.into_iter().chain(encoder)
    })
}

/// Warns of Careful Resume that will not use the saved parameters on a path of this RTT.
fn cannot_resume(flow: &Flow, rtt: Duration) -> Option<String> {
    let (name, keys) = (&flow.name, &flow.transport);
    let (window, saved, age) = (keys.saved_window.segments(), keys.saved_rtt, keys.saved_age);
    let why = match window {
        None if saved.is_zero() => return None,
        None => "has saved_rtt, but no saved_window".to_owned(),
        Some(_) if saved.is_zero() => "has saved_window, but no saved_rtt to confirm its path".to_owned(),
        Some(_) if age > keys.saved_lifetime => {
            format!("has parameters saved {age} ago, longer than saved_lifetime ({})", keys.saved_lifetime)
        }
        Some(_) if rtt <= saved / 2 => format!("has a base RTT of {rtt}, at most half of its saved_rtt ({saved})"),
        Some(_) if rtt > saved * 10 => format!("has a base RTT of {rtt}, more than ten times its saved_rtt ({saved})"),
        Some(_) => match flow.cc.as_ref()? {
            cc @ (CcSpec::Bbr1(_) | CcSpec::Bbr3(_) | CcSpec::Copa(_) | CcSpec::Scream(_) | CcSpec::Gcc(_)) => {
                format!("has saved_window, which {} does not read", cc.name())
            }
            _ => return None,
        },
    };
    Some(format!("{name} {why}: it starts as a new connection, without a jump"))
}

/// Warns of keys that differ from the profile in a flow whose code does not read them.
fn no_window_rule(flow: &Flow) -> Option<String> {
    let cc = flow.cc.as_ref().filter(|cc| cc.is_foreign() && !matches!(cc, CcSpec::Kernel(_) | CcSpec::Module(_)))?;
    let (given, profile) = (json(&flow.transport)?, flow.transport.profile.settings());
    let plain = json(&TransportKeys::default())?;
    let default = |key| profile.iter().find(|setting| setting.0 == key).map_or(&plain[key], |(_, value)| value);
    let (read, why) = match cc {
        CcSpec::Bpf(_) => (&OF_WINDOW_RULES[..], "a compiled program that sets its window itself"),
        _ => (&OF_WINDOW_RULES[..REPLACED], "except at events that its code leaves to TCP Reno"),
    };
    let changed: Vec<_> = read.iter().copied().filter(|key| &given[*key] != default(*key)).collect();
    let (name, cc) = (&flow.name, cc.title());
    let (keys, have) = (changed.join(", "), if changed.len() == 1 { "has" } else { "have" });
    (!changed.is_empty()).then(|| format!("{name}: {keys} {have} no effect on {cc}, {why}"))
}

fn json(keys: &TransportKeys) -> Option<serde_json::Value> {
    serde_json::to_value(keys).ok()
}

/// A limit in time at a link whose rate varies.
fn time_at_the_highest_rate(link: &DirectedLink) -> Option<String> {
    let (rate, _) = (link.rate?, link.varies.as_ref()?);
    let Limit::Time(time) = link.queue.limit() else { return None };
    let (name, bytes) = (&link.name, rate.bytes_in_floor(time));
    Some(format!(
        "the queue of {name} holds {time} at its rate of {rate} ({bytes} bytes); at a lower rate they take longer"
    ))
}

/// A shaper that the link is slower than.
fn shaper_above_the_rate(link: &DirectedLink) -> Option<String> {
    let (rate, shaped) = (link.rate?, link.queue.shaped_rate()?);
    let name = &link.name;
    (shaped >= rate).then(|| {
        format!("the queue of {name} shapes to {shaped}, and its link has {rate}: the shaper delays no packet for long")
    })
}

/// A trace that offers more than the link's rate.
fn capped_trace(link: &DirectedLink) -> Option<String> {
    let (rate, varies) = (link.rate?, link.varies.as_ref()?);
    let Ok(VariationPlan::Schedule(schedule)) = varies.plan(rate) else { return None };
    let share = schedule.share_above(rate.as_bps());
    let (name, peak) = (&link.name, RateOrZero(schedule.peak_bps()));
    (share > 0.0).then(|| {
        format!(
            "{name} has a rate of {rate}, but its trace goes up to {peak}: {:.1} % of the trace is cut off",
            100.0 * share
        )
    })
}

fn is_capable(flow: &Flow) -> bool {
    flow.ecn() != EcnMode::Off
}

/// The names of some of the flows.
fn names(flows: &[&Flow]) -> String {
    const MOST: usize = 10;
    let some = flows.iter().take(MOST).map(|flow| flow.name.as_str()).collect::<Vec<_>>().join(", ");
    match flows.len().saturating_sub(MOST) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    fn warnings(topology: &str, flows: &str) -> Vec<String> {
        let text = format!(
            "schema = 1\nduration = '1 s'\n[topology]\nkind = 'dumbbell'\nrate = '8 Mbit/s'\ndelay = '10 ms'\n{topology}\n{flows}"
        );
        Scenario::from_toml::<&str>(&text, "x", &[]).unwrap().warnings()
    }

    const MARKING: &str = "queue = { kind = 'red', ecn = true }";
    const PLAIN: &str = "[[flows]]\nname = 'plain'\ncc = 'aimd'\n";
    const CAPABLE: &str = "[[flows]]\nname = 'capable'\ncc = 'aimd'\necn = 'classic'\n";

    #[test]
    fn queues_that_mark_and_flows_that_can_be_marked_belong_together() {
        assert_eq!(warnings(MARKING, CAPABLE), [""; 0]);
        assert_eq!(warnings("queue = 'red'", PLAIN), [""; 0]);
        assert_eq!(warnings(MARKING, &format!("{PLAIN}{CAPABLE}")), [""; 0]);
        let access = format!("access = {{ rate = '9 Mbit/s', {MARKING} }}");
        assert_eq!(warnings(&access, CAPABLE), [""; 0]);
        let script = "loss = { kind = 'scripted', marked_packets = [7] }";
        assert_eq!(warnings(script, CAPABLE), [""; 0]);
        assert_eq!(warnings(&format!("access = {{ rate = '9 Mbit/s', {script} }}"), CAPABLE), [""; 0]);
    }

    #[test]
    fn dualpi2_needs_flows_that_send_ect1() {
        let prague = "[[flows]]\nname = 'low'\ncc = 'prague'\n";
        assert_eq!(warnings("queue = 'dualpi2'", prague), [""; 0]);
        assert_eq!(warnings("queue = 'dualpi2'", &format!("{prague}{PLAIN}")), [""; 0]);
        let without = warnings("queue = 'dualpi2'", CAPABLE);
        assert_eq!(without.len(), 1, "{without:?}");
        assert!(without[0].starts_with("the queue of bottleneck gives packets with ECT(1) a short delay, but"));
    }

    #[test]
    fn a_path_that_clears_the_field_is_worth_a_warning() {
        let of = |bleaching: &str, cc: &str| {
            let topology = format!("queue = 'dualpi2'\naccess = {{ rate = '1 Gbit/s', bleaching = '{bleaching}' }}");
            let flows = format!("[[flows]]\nname = 'low'\ncc = 'prague'\n[[flows]]\nname = 'other'\n{cc}\n");
            let warnings = warnings(&topology, &flows);
            warnings.into_iter().filter(|text| text.starts_with("access clears")).collect::<Vec<_>>()
        };
        assert_eq!(of("none", "cc = 'cubic'"), [""; 0]);
        let classic = "access clears the ECN field of low: the queues behind treat low as classic and drop its packets; \
                       low sees only marks of the queues before; it then responds to losses as Reno does";
        assert_eq!(of("ect1", "cc = 'cubic'\necn = 'classic'"), [classic]);
        assert_eq!(of("all", "cc = 'cubic'\necn = 'classic'").len(), 2);
    }

    #[test]
    fn keys_that_code_from_outside_does_not_read_are_worth_a_warning() {
        let own = "[[flows]]\nname = 'own'\ncc = { kind = 'python', source = 'a.py:A', code = 'x' }\n";
        let of = |transport: &str, flows: &str| warnings("", &format!("[transport]\n{transport}\n{flows}"));
        assert_eq!(
            of("first_cut = 'half'\necn_beta = 0.8\ninitial_window = 7", own),
            ["own: first_cut, ecn_beta have no effect on A, except at events that its code leaves to TCP Reno"]
        );
        assert_eq!(
            of("profile = 'linux'\nslow_start = 'hystart++'", own),
            ["own: slow_start has no effect on A, except at events that its code leaves to TCP Reno"]
        );
        // The host applies these to any window.
        assert_eq!(of("idle_window = 'halve'\nwhole_window = true", own), [""; 0]);
        // Values of a profile are not requests of the user.
        assert_eq!(of("profile = 'linux'", own), [""; 0]);
        assert_eq!(of("profile = 'ns-2'", own), [""; 0]);
        assert_eq!(of("first_cut = 'half'\necn_beta = 0.8", PLAIN), [""; 0]);
    }

    #[test]
    fn a_queue_that_marks_by_default_is_worth_no_warning() {
        assert_eq!(warnings("queue = 'fq-codel'", PLAIN), [""; 0]);
        assert_eq!(warnings("queue = { kind = 'fq-codel', ce_threshold = '1 ms' }", PLAIN).len(), 1);
        assert_eq!(warnings("queue = { kind = 'codel', ecn = true }", PLAIN).len(), 1);
    }

    #[test]
    fn a_queue_that_marks_in_vain_is_named_with_the_flows() {
        assert_eq!(
            warnings(MARKING, PLAIN),
            ["the queue of bottleneck is to mark packets, but of the flows that cross it none is ECN-capable: plain"]
        );
        let reverse = format!("reverse.{MARKING}");
        assert_eq!(
            warnings(&reverse, PLAIN),
            ["the queue of bottleneck.reverse is to mark packets, but no data cross it"]
        );
        let access = format!("access = {{ rate = '9 Mbit/s', {MARKING} }}");
        assert_eq!(
            warnings(&access, PLAIN),
            [
                "the queue of every access link is to mark packets, but of the flows that cross it none is ECN-capable: plain"
            ]
        );
    }

    #[test]
    fn a_trace_that_is_cut_off_is_named() {
        // 12.032 Mbit/s in the first of two milliseconds.
        let trace = "varies = { kind = 'trace', milliseconds = [1, 2, 2] }";
        let expected =
            "bottleneck has a rate of 8 Mbit/s, but its trace goes up to 24.064 Mbit/s: 55.7 % of the trace is cut off";
        assert_eq!(warnings(trace, PLAIN), [expected]);
        let even = "varies = { kind = 'trace', bin = '5 ms', milliseconds = [5, 5, 5] }";
        assert_eq!(warnings(even, PLAIN), [""; 0]);
    }

    #[test]
    fn a_limit_in_time_says_of_which_rate_it_is() {
        let queue = "queue = { kind = 'drop-tail', limit = '50 ms' }";
        let expected = "the queue of bottleneck holds 50 ms at its rate of 8 Mbit/s (50000 bytes); at a lower rate they \
                        take longer";
        let varies = "varies = { kind = 'square', high = '8 Mbit/s', low = '2 Mbit/s', interval = '1 s' }";
        assert_eq!(warnings(&format!("{queue}\n{varies}"), PLAIN), [expected]);
        assert_eq!(warnings(queue, PLAIN), [""; 0]);
    }

    #[test]
    fn a_shaper_that_is_faster_than_its_link_is_named() {
        let shaper = |rate: &str| format!("queue = {{ kind = 'tbf', rate = '{rate}', queue = 'codel' }}");
        let expected = "the queue of bottleneck shapes to 8 Mbit/s, and its link has 8 Mbit/s: the shaper delays no packet for long";
        assert_eq!(warnings(&shaper("8 Mbit/s"), PLAIN), [expected]);
        assert_eq!(warnings(&shaper("7 Mbit/s"), PLAIN), [""; 0]);
    }

    #[test]
    fn marks_of_inner_queues_count() {
        let queue = "queue = { kind = 'prio', class = [{ flows = ['capable'], queue = 'pie' }, \
                     { queue = { kind = 'codel', ecn = true } }] }";
        assert_eq!(warnings(queue, CAPABLE), [""; 0]);
        let plain = queue.replace("capable", "plain");
        assert!(warnings(&plain, PLAIN)[0].contains("the queue of bottleneck is to mark packets"));
    }

    #[test]
    fn a_flow_that_cannot_undo_what_it_is_to_undo_is_named() {
        let with = |keys: &str| warnings("", &format!("[[flows]]\nname = 'shy'\ncc = 'cubic'\n{keys}"));
        let timestamps = "shy is to undo recoveries by timestamps, but sends none; write timestamps = true";
        let duplicates = "shy is to undo recoveries by D-SACK blocks, but its receiver sends none; write dsack = true";
        assert_eq!(with("undo = 'eifel'"), [timestamps]);
        assert_eq!(with("undo = 'dsack'"), [duplicates]);
        assert_eq!(with("undo = 'dsack'\ndsack = true\npeer_sack = false"), [duplicates]);
        assert_eq!(with("undo = 'both'"), [timestamps, duplicates]);
        for keys in ["", "dsack = true", "undo = 'dsack'\ndsack = true", "undo = 'eifel'\ntimestamps = true"] {
            assert_eq!(with(keys), [""; 0], "{keys}");
        }
    }

    /// The dumbbell has a base RTT of 20 ms.
    #[test]
    fn a_flow_that_will_not_use_its_saved_parameters_is_named() {
        let with = |keys: &str| warnings("", &format!("[[flows]]\nname = 'late'\ncc = 'cubic'\n{keys}"));
        for (keys, why) in [
            ("saved_rtt = '20 ms'", "has saved_rtt, but no saved_window"),
            ("saved_window = 80", "has saved_window, but no saved_rtt to confirm its path"),
            (
                "saved_window = 80\nsaved_rtt = '20 ms'\nsaved_age = '2 s'\nsaved_lifetime = '1 s'",
                "has parameters saved 2 s ago, longer than saved_lifetime (1 s)",
            ),
            (
                "saved_window = 80\nsaved_rtt = '40 ms'",
                "has a base RTT of 20 ms, at most half of its saved_rtt (40 ms)",
            ),
            (
                "saved_window = 80\nsaved_rtt = '1900 us'",
                "has a base RTT of 20 ms, more than ten times its saved_rtt (1.9 ms)",
            ),
        ] {
            assert_eq!(with(keys), [format!("late {why}: it starts as a new connection, without a jump")], "{keys}");
        }
        for keys in ["", "saved_window = 80\nsaved_rtt = '39 ms'", "saved_window = 80\nsaved_rtt = '2 ms'"] {
            assert_eq!(with(keys), [""; 0], "{keys}");
        }
        let bbr = warnings("", "[[flows]]\nname = 'late'\ncc = 'bbr3'\nsaved_window = 80\nsaved_rtt = '20 ms'");
        assert_eq!(
            bbr,
            ["late has saved_window, which bbr3 does not read: it starts as a new connection, without a jump"]
        );
    }

    #[test]
    fn a_flow_that_does_not_respond_to_marks_is_named() {
        for cc in ["bbr1", "bbr3"] {
            let flow = format!("[[flows]]\nname = 'deaf'\ncc = '{cc}'\necn = 'accecn'\n");
            assert_eq!(
                warnings(MARKING, &flow),
                [format!(
                    "deaf is ECN-capable, but {cc} does not respond to the marks of bottleneck; write ecn = \"off\""
                )]
            );
            assert!(
                warnings("loss = { kind = 'scripted', marked_packets = [7] }", &flow)[0]
                    .contains("the marks of its path")
            );
            // Without marks there is another warning.
            assert!(warnings("", &flow)[0].contains("no queue on its path marks"));
            assert_eq!(warnings("queue = 'fq-codel'", &flow.replace("accecn", "off")), [""; 0]);
        }
    }

    #[test]
    fn an_algorithm_that_counts_marks_needs_feedback_that_does() {
        for cc in ["prague", "dctcp"] {
            let flow = |ecn: &str| format!("[[flows]]\nname = 'few'\ncc = '{cc}'\necn = '{ecn}'\n");
            assert_eq!(
                warnings(MARKING, &flow("classic")),
                [format!(
                    "few: {cc} needs the number of marks, but ecn = \"classic\" reports one bit; leave out \
                     ecn, or write ecn = \"accecn\""
                )]
            );
            assert_eq!(warnings(MARKING, &flow("accecn")), [""; 0]);
        }
    }

    #[test]
    fn a_flow_that_nobody_marks_is_named_with_its_links() {
        assert_eq!(
            warnings("access.rate = '9 Mbit/s'", CAPABLE),
            ["capable is ECN-capable (ecn = \"classic\"), but no queue on its path marks packets: bottleneck, access"]
        );
    }
}
