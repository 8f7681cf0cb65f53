//! The keys of FQ-CoDel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FqCoDel;
use crate::qdisc::codel::{CoDelKeys, parameters_in_words};
use crate::qdisc::drr::{quantum_at, turns_in_words};
use crate::qdisc::fair_queue::{FairQueueParameters, FairQueueVariant};
use crate::qdisc::{
    self, CoDelParameters, ControlLaw, DrrParameters, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason,
};
use crate::quantity::{Limit, Size};
use crate::rng::Rng;
use crate::units::Duration;

/// Flow queue CoDel: flows are hashed into queues, which take turns, with CoDel in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCoDelKeys {
    /// The limit of all flows together. Beyond it the longest queue loses half of its packets.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Number of queues, to which flows are hashed.
    #[serde(default = "flows")]
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes that a queue may send in a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Sojourn time that a standing queue may reach without drops.
    #[serde(default = "crate::qdisc::codel::target")]
    pub target: Duration,
    /// Time for which sojourn times must exceed the target before a packet is dropped: about the RTT of most flows.
    #[serde(default = "crate::qdisc::codel::interval")]
    pub interval: Duration,
    /// A backlog of at most this size loses no packet. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default = "yes")]
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable packet is marked, independently of the control law. By default it is
    /// off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
    /// The rules where Linux differs from RFC 8290.
    #[serde(default)]
    pub variant: FairQueueVariant,
    /// Arithmetic of the time to the next drop. Default: `sqrt`, with `linux` `newton`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_law: Option<ControlLaw>,
}

/// RFC 8290, section 5.2.3.
fn limit() -> Limit {
    Limit::Packets(10_240)
}

/// RFC 8290, section 5.2.5.
fn flows() -> u32 {
    1024
}

/// RFC 8290, section 5.2.6.
fn yes() -> bool {
    true
}

/// The parameters of FQ-CoDel, resolved.
pub type FqCoDelParameters = FairQueueParameters<CoDelParameters>;

impl QueueKeys for FqCoDelKeys {
    type Parameters = FqCoDelParameters;

    const DRAWS: Option<&'static str> = Some("hash of {link}: FQ-CoDel");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    /// FQ-CoDel marks by default, so `ecn` does not show that marks are expected.
    fn asks_for_ecn(&self) -> bool {
        self.ce_threshold.is_some()
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<FqCoDelParameters, Misfit> {
        let FqCoDelKeys { limit, target, interval, mtu, ecn, ce_threshold, variant, control_law, .. } = *self;
        let control_law = control_law.unwrap_or(match variant {
            FairQueueVariant::Rfc => ControlLaw::Sqrt,
            FairQueueVariant::Linux => ControlLaw::Newton,
        });
        let codel = CoDelKeys { limit, target, interval, mtu, ecn, ce_threshold, control_law }.parameters_at(place)?;
        Ok(FqCoDelParameters { variant, flows: self.flows, quantum: quantum_at(self.quantum, place)?, aqm: codel })
    }
}

impl QueueParameters for FqCoDelParameters {
    type Queue<T: Queued> = FqCoDel<T>;

    const DROPS: &'static [Reason] = &[Reason::Sojourn, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Sojourn, Reason::CeThreshold];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> FqCoDel<T> {
        FqCoDel::new(limit, *self, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        self.aqm.control_law == ControlLaw::Newton
    }

    fn in_words(&self) -> String {
        let turns = turns_in_words(&DrrParameters { quantum: self.quantum, buckets: Some(self.flows) });
        format!(", {turns}{}", parameters_in_words(&self.aqm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_rfc() {
        let keys: FqCoDelKeys = serde_json::from_str("{}").unwrap();
        assert_eq!((keys.limit, keys.flows), (Limit::Packets(10_240), 1024));
        assert_eq!((keys.target, keys.interval), (Duration::from_millis(5), Duration::from_millis(100)));
        assert!(keys.ecn && !keys.asks_for_ecn() && keys.ce_threshold.is_none());
    }

    #[test]
    fn it_marks_for_either_reason() {
        let keys: FqCoDelKeys = serde_json::from_str("{}").unwrap();
        let threshold = Some(Duration::from_millis(1));
        let marks = |ecn, ce_threshold| FqCoDelKeys { ecn, ce_threshold, ..keys.clone() }.marks();
        assert_eq!(
            [marks(false, None), marks(true, None), marks(false, threshold), marks(true, threshold)],
            [false, true, true, true]
        );
    }

    #[test]
    fn only_the_arithmetic_of_linux_has_a_clock() {
        let keys: FqCoDelKeys = serde_json::from_str("{}").unwrap();
        let place = Place {
            rate: crate::units::Rate::from_bps(8_000_000),
            delay: Duration::ZERO,
            packet_bytes: 1500,
            mean_rtt_secs: 0.0,
            groups: crate::qdisc::Groups::NONE,
        };
        let has_clock = |control_law| {
            let keys = FqCoDelKeys { control_law: Some(control_law), ..keys.clone() };
            keys.parameters(&place, qdisc::Limit::Packets(10)).unwrap().has_clock()
        };
        assert_eq!([has_clock(ControlLaw::Sqrt), has_clock(ControlLaw::Newton)], [false, true]);
        let linux = FqCoDelKeys { variant: FairQueueVariant::Linux, ..keys.clone() };
        assert!(linux.parameters(&place, qdisc::Limit::Packets(10)).unwrap().has_clock());
        let words = keys.parameters(&place, qdisc::Limit::Packets(10)).unwrap().in_words();
        assert!(words.ends_with(", target 5 ms, interval 100 ms, marks") && words.contains("1024"), "{words}");
    }
}
