//! Sizes of packets and settings of algorithms, computed from keys.

use super::keys::{Transport, TransportKeys};
use super::profile::Profile;
use super::rules::{LossRecovery, MarkAtOne, Pacing, Protocol};
use super::values::{CutWindowName, InitialSsthresh};
use crate::cc::{Arithmetic, CcContext, CutWindow, Saved};

/// Bytes of the TCP option that carries timestamps, padded (RFC 7323 appendix A).
pub const TIMESTAMPS_LEN: u32 = 12;
/// RFC 9002 §7.2: the minimum window, in packets: "The RECOMMENDED value is 2 * max_datagram_size."
const QUIC_MIN_WINDOW: f64 = 2.0;

impl Profile {
    /// CUBIC's arithmetic under this profile.
    fn arithmetic(self) -> Arithmetic {
        match self {
            Profile::Linux => Arithmetic::Linux,
            Profile::Ns2Linux => Arithmetic::Linux26,
            Profile::Rfc | Profile::Ns2 | Profile::Quic | Profile::Rtp => Arithmetic::Exact,
        }
    }
}

impl Transport {
    /// Bytes on the wire of a data segment beyond its payload: headers, timestamps, framing.
    pub fn data_overhead(&self) -> u32 {
        let has_timestamps = self.timestamps && self.protocol == Protocol::Tcp;
        self.header + self.framing + if has_timestamps { TIMESTAMPS_LEN } else { 0 }
    }

    /// The name of the loss recovery.
    pub fn recovery_name(&self) -> &'static str {
        match self.protocol {
            Protocol::Tcp => self.recovery.name(),
            Protocol::Quic | Protocol::Rtp => self.protocol.name(),
        }
    }

    /// The most that its receiver ever advertises, in bytes, or none without a bound.
    pub fn largest_window(&self) -> Option<u64> {
        let segments = self.max_window.map(|window| u64::from(window) * u64::from(self.mss));
        [self.receive_buffer, segments].into_iter().flatten().min()
    }

    /// The settings of an algorithm in a connection with this transport, which draws random numbers by `seed`.
    pub fn cc_context(&self, settings: CcContext, seed: u64) -> CcContext {
        CcContext {
            mss: self.mss,
            packet_bytes: self.mss + self.data_overhead(),
            selective_acks: self.protocol != Protocol::Tcp || self.recovery == LossRecovery::Sack && self.peer_sack,
            min_window: match self.protocol {
                Protocol::Tcp => settings.min_window,
                Protocol::Quic | Protocol::Rtp => QUIC_MIN_WINDOW,
            },
            min_marked: match self.protocol {
                Protocol::Tcp => settings.min_marked,
                Protocol::Quic | Protocol::Rtp => QUIC_MIN_WINDOW,
            },
            counts_marks: self.ecn.counts_marks(),
            seed,
            ..settings
        }
    }
}

impl Default for Transport {
    fn default() -> Self {
        TransportKeys::default().transport(LossRecovery::default())
    }
}

impl TransportKeys {
    /// The settings of the algorithm that keys give. [`Transport::cc_context`] adds the settings of the connection.
    pub fn cc_context(&self) -> CcContext {
        let max_window = self.max_window.segments().map_or(f64::INFINITY, f64::from);
        CcContext {
            initial_window: f64::from(self.initial_window),
            timeout_ssthresh: self.timeout_ssthresh,
            initial_ssthresh: match self.initial_ssthresh {
                InitialSsthresh::Unbounded => f64::INFINITY,
                InitialSsthresh::MaxWindow => max_window,
            },
            first_cut: self.first_cut,
            cut_window: match self.cut_window {
                CutWindowName::Exact => CutWindow::Exact,
                CutWindowName::Capped => CutWindow::Capped { max_window },
                CutWindowName::Whole => CutWindow::Whole { max_window },
            },
            exit_window: self.exit_window,
            undo_response: self.undo_response,
            ecn_beta: self.ecn_beta.factor(),
            min_marked: if self.mark_at_one == MarkAtOne::Never { 2.0 } else { 1.0 },
            idle_window: self.idle_window,
            slow_start: self.slow_start,
            saved: self.saved(),
            paces: self.pacing != Pacing::Off,
            whole_window: self.whole_window,
            arithmetic: self.profile.arithmetic(),
            ..CcContext::new(0.0)
        }
    }

    /// The parameters of an earlier connection, if there are any and their lifetime has not passed.
    pub fn saved(&self) -> Option<Saved> {
        let window = f64::from(self.saved_window.segments()?);
        let is_usable = !self.saved_rtt.is_zero() && self.saved_age <= self.saved_lifetime;
        is_usable.then_some(Saved { window, rtt: self.saved_rtt })
    }

    /// Bytes of a full data packet on the wire.
    pub fn data_packet_bytes(&self) -> u64 {
        self.mss.0 + self.header.0 + self.framing.0
    }

    /// Bytes of an ACK on the wire.
    pub fn ack_packet_bytes(&self) -> u64 {
        self.header.0 + self.framing.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Size;
    use crate::transport::DelayedAck;
    use crate::transport::values::written;
    use crate::units::Duration;

    #[test]
    fn profiles_differ_in_what_they_set() {
        let table = serde_json::to_value(TransportKeys::default()).unwrap();
        for (name, profile) in Profile::ALL {
            assert_eq!(written(profile), **name);
            assert_eq!(profile.settings().is_empty(), *profile == Profile::default(), "{name}");
            let mut expected = table.clone();
            expected["profile"] = written(name);
            profile.settings().into_iter().for_each(|(key, value)| expected[key] = value);
            assert_eq!(serde_json::to_value(profile.keys()).unwrap(), expected);
            for (key, value) in profile.settings() {
                assert_ne!(table[key], value, "{name}: {key} is what it is without the profile");
            }
        }
    }

    #[test]
    fn the_defaults_have_no_problems_and_other_values_do() {
        assert_eq!(TransportKeys::default().problems(), []);
        let wrong = TransportKeys {
            mss: Size(0),
            header: Size(65_536),
            framing: Size(65_536),
            min_rto: Duration::ZERO,
            initial_rto: Duration::ZERO,
            delayed_ack: DelayedAck::Longest(Duration::ZERO),
            ..TransportKeys::default()
        };
        let found: Vec<String> = wrong.problems().iter().map(|(key, problem)| format!("{key}: {problem}")).collect();
        let large = "65536 B is out of range; must be at most 65535 B";
        let zero = "0 s is out of range; must be above zero";
        let expected = [
            "mss: 0 B is out of range; must be at least 1 B".to_owned(),
            format!("header: {large}"),
            format!("framing: {large}"),
            format!("min_rto: {zero}"),
            format!("initial_rto: {zero}"),
            format!("delayed_ack: {zero}"),
        ];
        assert_eq!(found, expected);
    }
}
