//! The keys of PIE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Pie;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem, Size};
use crate::rng::Rng;
use crate::units::{Duration, Rate};

/// PIE: drops arrivals at random, with a probability that a controller of the queueing delay sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieKeys {
    /// The limit of the queue.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// The algorithm.
    #[serde(default)]
    pub variant: PieVariant,
    /// Queueing delay that the controller approaches. Default: 15 ms, with `docsis` 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// Time between two updates of the probability. Default: 15 ms, with `docsis` 16 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_update: Option<Duration>,
    /// Weight of the deviation from the target, per second. Default: 0.125, with `docsis` 0.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Weight of the change of the delay, per second. Default: 1.25, with `docsis` 2.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Length of a burst after an idle time that loses no packet early. Default: 150 ms, with `docsis` 142 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Duration>,
    /// A backlog of at most two packets of this size loses none early. Default: the largest packet that crosses the
    /// link, with `docsis` 1024 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Size>,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
    /// Probability from which ECN-capable packets are dropped as well. `linux` still marks at exactly this probability.
    #[serde(default = "mark_ecnth")]
    #[schemars(range(min = 0, max = 1))]
    pub mark_ecnth: f64,
}

/// The algorithm of PIE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieVariant {
    /// Linux's `sch_pie` with timestamps.
    #[default]
    Linux,
    /// RFC 8033, the basic algorithm of appendix A.
    Rfc,
    /// RFC 8034 for DOCSIS cable modems.
    Docsis,
}

/// As in Linux.
fn limit() -> Limit {
    Limit::Packets(1000)
}

/// RFC 8033, section 5.1.
pub(in crate::qdisc) fn mark_ecnth() -> f64 {
    0.1
}

/// The parameters of PIE, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieParameters {
    /// The algorithm.
    pub variant: PieVariant,
    /// Queueing delay that the controller approaches. It is above zero.
    pub target: Duration,
    /// Time between two updates, above zero.
    pub t_update: Duration,
    /// Weight of the deviation from the target, per second.
    pub alpha: f64,
    /// Weight of the change of the delay, per second.
    pub beta: f64,
    /// Length of a burst without early drops.
    pub max_burst: Duration,
    /// Bytes of a packet. A backlog of two loses none early.
    pub mean_packet: u32,
    /// Whether ECN-capable items are marked where others are dropped.
    pub ecn: bool,
    /// Probability from which all are dropped.
    pub mark_ecnth: f64,
    /// Rate of the link in bit/s, from which `docsis` computes the latency.
    pub rate: Option<Rate>,
}

impl PieParameters {
    /// The latency of a backlog in bytes at the rate of the link.
    pub(super) fn latency_of(&self, backlog: u64) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| rate.transmission(backlog).0)
    }

    /// Whether ECN-capable items are marked at this probability.
    pub(super) fn marks_at(&self, probability: f64) -> bool {
        probability < self.mark_ecnth || self.variant == PieVariant::Linux && probability == self.mark_ecnth
    }
}

impl PieKeys {
    /// The parameters at a link.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub(in crate::qdisc) fn parameters_at(&self, place: &Place) -> Result<PieParameters, Misfit> {
        let is_docsis = self.variant == PieVariant::Docsis;
        let millis = |given: Option<Duration>, plain: u64, docsis: u64| {
            given.unwrap_or(Duration::from_millis(if is_docsis { docsis } else { plain }))
        };
        let parameters = PieParameters {
            variant: self.variant,
            target: millis(self.target, 15, 10),
            t_update: millis(self.t_update, 15, 16),
            alpha: self.alpha.unwrap_or(if is_docsis { 0.25 } else { 0.125 }),
            beta: self.beta.unwrap_or(if is_docsis { 2.5 } else { 1.25 }),
            max_burst: millis(self.max_burst, 150, 142),
            mean_packet: mean_packet(self.mean_packet, if is_docsis { 1024 } else { place.packet_bytes })?,
            ecn: self.ecn,
            mark_ecnth: self.mark_ecnth,
            rate: place.rate,
        };
        parameters.check()?;
        Ok(parameters)
    }
}

/// Bytes of a packet, given or not.
fn mean_packet(given: Option<Size>, default: u64) -> Result<u32, Misfit> {
    let bytes = given.map_or(default, |size| size.0);
    u32::try_from(bytes).map_err(|_| ("mean_packet", out_of_range(Size(bytes), "below 4 GB")))
}

impl PieParameters {
    fn check(&self) -> Result<(), Misfit> {
        let shortest = Duration::from_micros(1);
        for (key, time) in [("target", self.target), ("t_update", self.t_update)] {
            if time < shortest {
                return Err((key, out_of_range(time, "at least 1 us")));
            }
        }
        for (key, weight) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err((key, out_of_range(weight, "a number of at least 0")));
            }
        }
        if !(0.0..=1.0).contains(&self.mark_ecnth) {
            return Err(("mark_ecnth", out_of_range(self.mark_ecnth, "a number from 0 to 1")));
        }
        Ok(())
    }
}

fn out_of_range(value: impl ToString, expected: &str) -> Problem {
    Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() }
}

impl QueueKeys for PieKeys {
    type Parameters = PieParameters;

    const DRAWS: Option<&'static str> = Some("early drops of {link}: PIE");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<PieParameters, Misfit> {
        self.parameters_at(place)
    }
}

impl QueueParameters for PieParameters {
    type Queue<T: Queued> = Pie<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Pie<T> {
        Pie::new(limit, *self, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn in_words(&self) -> String {
        let variant = match self.variant {
            PieVariant::Linux => "",
            PieVariant::Rfc => ", RFC 8033",
            PieVariant::Docsis => ", DOCSIS",
        };
        let marks = if self.ecn { ", marks" } else { "" };
        format!("{variant}, target {}, update every {}{marks}", self.target, self.t_update)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1500,
        mean_rtt_secs: 0.0,
        groups: crate::qdisc::Groups::NONE,
    };

    fn keys(text: &str) -> PieKeys {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_defaults_depend_on_the_variant() {
        let of = |text| {
            let p = keys(text).parameters_at(&PLACE).unwrap();
            (p.target, p.t_update, p.alpha, p.beta, p.max_burst, p.mean_packet)
        };
        let ms = Duration::from_millis;
        assert_eq!(of("{}"), (ms(15), ms(15), 0.125, 1.25, ms(150), 1500));
        assert_eq!(of(r#"{"variant": "rfc"}"#), of("{}"));
        assert_eq!(of(r#"{"variant": "docsis"}"#), (ms(10), ms(16), 0.25, 2.5, ms(142), 1024));
        assert_eq!(of(r#"{"variant": "docsis", "target": "5 ms", "beta": 1}"#).0, ms(5));
        assert!(!keys("{}").marks() && keys(r#"{"ecn": true}"#).marks());
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (text, key) in [
            (r#"{"target": "0 s"}"#, "target"),
            (r#"{"t_update": "0 s"}"#, "t_update"),
            (r#"{"alpha": -1}"#, "alpha"),
            (r#"{"beta": -0.5}"#, "beta"),
            (r#"{"mark_ecnth": 2}"#, "mark_ecnth"),
            (r#"{"mean_packet": "5 GB"}"#, "mean_packet"),
        ] {
            assert_eq!(keys(text).parameters_at(&PLACE).unwrap_err().0, key);
        }
    }

    #[test]
    fn the_description_contains_the_variant() {
        let words = |text| keys(text).parameters_at(&PLACE).unwrap().in_words();
        assert_eq!(words("{}"), ", target 15 ms, update every 15 ms");
        assert_eq!(words(r#"{"variant": "docsis", "ecn": true}"#), ", DOCSIS, target 10 ms, update every 16 ms, marks");
    }
}
