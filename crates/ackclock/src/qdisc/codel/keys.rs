//! The keys of CoDel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CoDel;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem, Size};
use crate::rng::Rng;
use crate::units::Duration;

/// CoDel: drops, or marks, once sojourn times have been above a target for an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoDelKeys {
    /// The limit of the queue.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Sojourn time that a standing queue may reach without drops.
    #[serde(default = "target")]
    pub target: Duration,
    /// Time for which sojourn times must exceed the target before a packet is dropped: about the RTT of most flows.
    #[serde(default = "interval")]
    pub interval: Duration,
    /// A backlog of at most this size loses no packet. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable packet is marked, independently of the control law. By default it is
    /// off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
    /// Arithmetic of the time to the next drop.
    #[serde(default)]
    pub control_law: ControlLaw,
}

/// How the time to the next drop, the interval over the square root of the number of drops, is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlLaw {
    /// In floating point, with times in nanoseconds (RFC 8289).
    #[default]
    Sqrt,
    /// By a step of Newton's method in 16 bits, with times in units of 1.024 us (Linux, ns-3).
    Newton,
}

/// As in Linux.
fn limit() -> Limit {
    Limit::Packets(1000)
}

pub(in crate::qdisc) fn target() -> Duration {
    Duration::from_millis(5)
}

pub(in crate::qdisc) fn interval() -> Duration {
    Duration::from_millis(100)
}

/// The parameters of CoDel, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelParameters {
    /// Sojourn time that a standing queue may reach without drops.
    pub target: Duration,
    /// Time for which sojourn times must exceed the target before a packet is dropped. It is above zero.
    pub interval: Duration,
    /// Backlog in bytes that is never dropped from.
    pub mtu: u32,
    /// Whether ECN-capable items are marked where others are dropped.
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable item is marked, if there is such a threshold.
    pub ce_threshold: Option<Duration>,
    /// Arithmetic of the time to the next drop.
    pub control_law: ControlLaw,
}

impl CoDelKeys {
    /// The parameters at a link.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub(in crate::qdisc) fn parameters_at(&self, place: &Place) -> Result<CoDelParameters, Misfit> {
        let mtu = self.mtu.map_or(place.packet_bytes, |size| size.0);
        let out_of_range = |value: String, expected: &str| Problem::OutOfRange { value, expected: expected.to_owned() };
        let Ok(mtu) = u32::try_from(mtu) else {
            return Err(("mtu", out_of_range(Size(mtu).to_string(), "below 4 GB")));
        };
        // Anything shorter is zero in the unit of Linux.
        if self.interval < Duration::from_micros(2) {
            return Err(("interval", out_of_range(self.interval.to_string(), "at least 2 us")));
        }
        let CoDelKeys { target, interval, ecn, ce_threshold, control_law, .. } = *self;
        Ok(CoDelParameters { target, interval, mtu, ecn, ce_threshold, control_law })
    }
}

impl QueueKeys for CoDelKeys {
    type Parameters = CoDelParameters;

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<CoDelParameters, Misfit> {
        self.parameters_at(place)
    }
}

impl QueueParameters for CoDelParameters {
    type Queue<T: Queued> = CoDel<T>;

    const DROPS: &'static [Reason] = &[Reason::Sojourn, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Sojourn, Reason::CeThreshold];

    fn build<T: Queued>(&self, limit: qdisc::Limit, _stream: &dyn Fn(&str) -> Rng) -> CoDel<T> {
        CoDel::new(limit, *self)
    }

    fn has_clock(&self) -> bool {
        self.control_law == ControlLaw::Newton
    }

    fn in_words(&self) -> String {
        parameters_in_words(self)
    }
}

/// Target, interval and marks.
pub(in crate::qdisc) fn parameters_in_words(parameters: &CoDelParameters) -> String {
    let CoDelParameters { target, interval, ecn, ce_threshold, .. } = parameters;
    let marks = if *ecn { ", marks" } else { "" };
    let threshold = ce_threshold.map_or(String::new(), |threshold| format!(", marks all above {threshold}"));
    format!(", target {target}, interval {interval}{marks}{threshold}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_description_has_what_is_in_force() {
        let (target, interval) = (target(), interval());
        let (ecn, ce_threshold, control_law) = (false, None, ControlLaw::Sqrt);
        let plain = CoDelParameters { target, interval, mtu: 1500, ecn, ce_threshold, control_law };
        assert_eq!(plain.in_words(), ", target 5 ms, interval 100 ms");
        let marking = CoDelParameters { ecn: true, ce_threshold: Some(Duration::from_millis(1)), ..plain };
        assert_eq!(marking.in_words(), ", target 5 ms, interval 100 ms, marks, marks all above 1 ms");
        assert!(!plain.has_clock() && CoDelParameters { control_law: ControlLaw::Newton, ..plain }.has_clock());
    }

    #[test]
    fn it_marks_for_either_reason() {
        let keys: CoDelKeys = serde_json::from_str("{}").unwrap();
        let marks = |ecn, ce_threshold| CoDelKeys { ecn, ce_threshold, ..keys.clone() }.marks();
        let threshold = Some(Duration::from_millis(1));
        assert_eq!([marks(false, None), marks(true, None), marks(false, threshold)], [false, true, true]);
    }
}
