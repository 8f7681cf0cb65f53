//! Keys that belong to one protocol alone.

use serde_json::Value as Json;

use super::keys::TransportKeys;
use super::rules::{EcnMode, Protocol, Undo};
use crate::cc::IdleWindow;
use crate::quantity::Problem;

/// RFC 9002 §7.2: the minimum window, in packets: "The RECOMMENDED value is 2 * max_datagram_size."
pub const MIN_WINDOW: f64 = 2.0;

/// Keys that nothing of QUIC reads.
const TCP_ONLY: &[&str] = &[
    "receive_buffer",
    "read_rate",
    "read_every",
    "window_probe",
    "min_rto",
    "min_rto_bounds",
    "clock_tick",
    "timer_slack",
    "timer_tick",
    "clock_offset",
    "handshake",
    "quick_acks",
    "window_growth_acks",
    "push_acks",
    "tso_defer",
    "sack_compression",
    "delayed_ack_for",
    "max_burst",
    "rack",
    "rack_rtt",
    "rack_timestamps",
    "tlp",
    "prr",
    "limited_transmit",
    "timestamps",
    "byte_counting",
    "timeout_ssthresh",
    "window_growth",
    "exit_growth",
    "second_loss",
    "partial_ack",
    "partial_ack_timer",
    "exit_window",
    "sack_sender",
    "repeated_timeout",
    "limited_transmit_sends",
    "mark_at_one",
    "ecn_retransmissions",
    "rtt_samples",
    "peer_sack",
    "dsack",
    "frto",
];

/// Keys that nothing of TCP reads.
const QUIC_ONLY: &[&str] = &[
    "ack_eliciting_threshold",
    "reordering_threshold",
    "packet_threshold",
    "time_threshold",
    "persistent_congestion_threshold",
];

/// Keys that were set and that the protocol does not use, and values that it does not know. Values of the profile are
/// accepted.
pub(super) fn problems(keys: &TransportKeys) -> Vec<(&'static str, Problem)> {
    let (foreign, other) = match keys.protocol {
        Protocol::Tcp => (QUIC_ONLY, Protocol::Quic),
        Protocol::Quic => (TCP_ONLY, Protocol::Tcp),
    };
    let (name, other) = (keys.protocol.name(), other.name());
    let (given, usual) = (as_json(keys), as_json(&TransportKeys::default()));
    let of_profile = keys.profile.settings();
    let is_set = |key: &str| {
        let value = &given[key];
        *value != usual[key] && !of_profile.iter().any(|(other, set)| *other == key && set == value)
    };
    let unused = |key: &&&'static str| (**key, Problem::OtherProtocol { protocol: name, other });
    let mut problems: Vec<_> = foreign.iter().filter(|key| is_set(key)).map(|key| unused(&key)).collect();
    let ecn_fits = matches!((keys.protocol, keys.ecn), (_, EcnMode::Off))
        || (keys.protocol == Protocol::Quic) == (keys.ecn == EcnMode::Counts);
    if !ecn_fits {
        let expected = match keys.protocol {
            Protocol::Tcp => "\"off\", \"classic\" or \"accecn\"",
            Protocol::Quic => "\"off\" or \"counts\"",
        };
        problems.push(("ecn", Problem::NotOfProtocol { value: keys.ecn.name().to_owned(), protocol: name, expected }));
    }
    let undo_fits = keys.undo == Undo::None
        || (keys.protocol == Protocol::Quic) == (keys.undo == Undo::LateAcks)
        || !is_set("undo");
    if !undo_fits {
        let expected = match keys.protocol {
            Protocol::Tcp => "\"none\", \"eifel\", \"dsack\" or \"both\"",
            Protocol::Quic => "\"none\" or \"late-acks\"",
        };
        let value = given["undo"].as_str().unwrap_or_default().to_owned();
        problems.push(("undo", Problem::NotOfProtocol { value, protocol: name, expected }));
    }
    if keys.protocol == Protocol::Quic && keys.idle_window == IdleWindow::Validate {
        let (value, expected) = ("validate".to_owned(), "\"restart\" or \"halve\"");
        problems.push(("idle_window", Problem::NotOfProtocol { value, protocol: name, expected }));
    }
    problems
}

fn as_json(keys: &TransportKeys) -> Json {
    serde_json::to_value(keys).expect("invariant: keys of the transport are a table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Profile;
    use crate::units::Duration;

    fn found(keys: &TransportKeys) -> Vec<String> {
        problems(keys).iter().map(|(key, problem)| format!("{key}: {problem}")).collect()
    }

    #[test]
    fn the_lists_name_keys() {
        for key in TCP_ONLY.iter().chain(QUIC_ONLY) {
            assert!(TransportKeys::NAMES.contains(key), "{key}");
        }
        assert!(TCP_ONLY.iter().all(|key| !QUIC_ONLY.contains(key)));
    }

    #[test]
    fn keys_of_the_other_protocol_are_mistakes_unless_the_profile_sets_them() {
        let quic = TransportKeys { protocol: Protocol::Quic, profile: Profile::Quic, ..TransportKeys::default() };
        assert_eq!(found(&quic), [""; 0]);
        let wrong = TransportKeys {
            rack: true,
            ecn: EcnMode::AccEcn,
            undo: Undo::Dsack,
            read_every: Duration::from_secs(1),
            idle_window: IdleWindow::Validate,
            ..quic.clone()
        };
        assert_eq!(
            found(&wrong),
            [
                "read_every: quic has no such key, it is of tcp; leave it out, or write protocol = \"tcp\"",
                "rack: quic has no such key, it is of tcp; leave it out, or write protocol = \"tcp\"",
                "ecn: \"accecn\" is not of quic; write \"off\" or \"counts\"",
                "undo: \"dsack\" is not of quic; write \"none\" or \"late-acks\"",
                "idle_window: \"validate\" is not of quic; write \"restart\" or \"halve\"",
            ]
        );
        // Linux's own RACK beside QUIC is what the profile says, not the user.
        let mixed = TransportKeys { profile: Profile::Linux, rack: true, undo: Undo::Both, ..quic };
        assert_eq!(found(&mixed), [""; 0]);
        let tcp = TransportKeys { packet_threshold: 5, ecn: EcnMode::Counts, ..TransportKeys::default() };
        assert_eq!(
            found(&tcp),
            [
                "packet_threshold: tcp has no such key, it is of quic; leave it out, or write protocol = \"quic\"",
                "ecn: \"counts\" is not of tcp; write \"off\", \"classic\" or \"accecn\"",
            ]
        );
    }
}
