//! Mistakes in keys that types and JSON Schema do not find.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::keys::TransportKeys;
use super::rules::{EcnMode, Protocol, Undo};
use super::scope::Scope;
use crate::cc::IdleWindow;
use crate::quantity::Problem;

impl TransportKeys {
    /// Mistakes that types and JSON Schema do not find, as keys and problems.
    pub fn problems(&self) -> Vec<(&'static str, Problem)> {
        [self.rejected(), self.problems_of_protocol()].concat()
    }

    /// Keys that were set and that the protocol does not read, and values that it does not know. Values of the profile
    /// are accepted.
    fn problems_of_protocol(&self) -> Vec<(&'static str, Problem)> {
        static USUAL: LazyLock<Json> = LazyLock::new(|| as_json(&TransportKeys::default()));
        let (given, usual) = (as_json(self), &*USUAL);
        let of_profile = self.profile.settings();
        let is_set = |key: &str| {
            let value = &given[key];
            *value != usual[key] && !of_profile.iter().any(|(other, set)| *other == key && set == value)
        };
        let is_unread = |(key, scope): &&(&str, Scope)| !scope.includes(self.protocol) && is_set(key);
        let protocol = self.protocol.name();
        let unread = TransportKeys::SCOPES.iter().filter(is_unread).map(|(key, scope)| {
            let other = if *scope == Scope::Tcp { Protocol::Tcp } else { Protocol::Quic };
            (*key, Problem::OtherProtocol { protocol, other: other.name() })
        });
        let mut problems: Vec<_> = unread.collect();
        let mut reject = |key, value: &str, expected| {
            let value = value.to_owned();
            problems.push((key, Problem::NotOfProtocol { value, protocol, expected }));
        };
        let is_numbered = self.protocol != Protocol::Tcp;
        if self.ecn != EcnMode::Off && is_numbered != (self.ecn == EcnMode::Counts) {
            let of_tcp = "\"off\", \"classic\", \"dctcp\" or \"accecn\"";
            reject("ecn", self.ecn.name(), if is_numbered { "\"off\" or \"counts\"" } else { of_tcp });
        }
        let (undoes, known) = match self.protocol {
            Protocol::Tcp => (self.undo != Undo::LateAcks, "\"none\", \"eifel\", \"dsack\", \"both\" or \"counted\""),
            Protocol::Quic => (self.undo == Undo::LateAcks, "\"none\" or \"late-acks\""),
            Protocol::Rtp => (false, "\"none\""),
        };
        if self.undo != Undo::None && !undoes && is_set("undo") {
            reject("undo", given["undo"].as_str().unwrap_or_default(), known);
        }
        if is_numbered && self.idle_window == IdleWindow::Validate {
            reject("idle_window", "validate", "\"restart\" or \"halve\"");
        }
        problems
    }
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
        keys.problems().iter().map(|(key, problem)| format!("{key}: {problem}")).collect()
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
        let mixed = TransportKeys { profile: Profile::Linux, rack: true, undo: Undo::Counted, ..quic };
        assert_eq!(found(&mixed), [""; 0]);
        let tcp = TransportKeys { packet_threshold: 5, ecn: EcnMode::Counts, ..TransportKeys::default() };
        assert_eq!(
            found(&tcp),
            [
                "packet_threshold: tcp has no such key, it is of quic; leave it out, or write protocol = \"quic\"",
                "ecn: \"counts\" is not of tcp; write \"off\", \"classic\", \"dctcp\" or \"accecn\"",
            ]
        );
    }
}
