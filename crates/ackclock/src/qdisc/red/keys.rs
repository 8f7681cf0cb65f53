//! The keys of RED, their presets, and the parameters that result from them at a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Gaps, Red, RedMode, RedParameters};
use crate::qdisc::{self, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem, Size, Threshold};
use crate::rng::Rng;
use crate::units::Duration;

/// Random early detection: drops, or marks, with a probability that rises with the average queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedKeys {
    /// Source of the defaults.
    #[serde(default)]
    pub preset: Preset,
    /// The limit of the queue: packets, bytes, a multiple of the bandwidth-delay product, or a time at the link's rate.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// Average queue from which packets are dropped early. It is a limit, or a share of the queue's own limit ("0.25
    /// limit"). Default: half of `target_delay`, but at least 5 packets of mean size (linux: a third of `max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Threshold>,
    /// Average queue at which packets are dropped with `max_p`. Default: 3 times `min` (linux: a quarter of the limit
    /// if `min` is not set).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Threshold>,
    /// Probability of a drop at `max`, above 0. Default: 0.1 (linux: 0.02).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: Option<f64>,
    /// Weight of the newest arrival in the average, above 0. Default: `1 - exp(-1/(10 R C))`, with C packets of mean
    /// size per second and R = `max(0.1 s, 3 (delay + 1/C))`. The preset linux uses tc's power of two for the burst
    /// that the thresholds leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: Option<f64>,
    /// Whether the probability rises from `max_p` to 1 between `max` and twice `max`, instead of at once. Default: true
    /// (linux: false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// Unit of the average. Default: packets (ns-2 and linux: bytes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RedMode>,
    /// Mean packet size, for the average in bytes and for idle times. Default: the largest packet that crosses the link
    /// (ns-2: 500 B).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Size>,
    /// Whether a large packet is dropped more often than a small one. Default: false (ns-2: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_by_size: Option<bool>,
    /// Distribution of the gaps between drops with probability p. `wait`: 1/p to 2/p packets. `plain`: 1 to 1/p
    /// packets. `once`: as `plain`, from one random number per drop. Default: wait (linux: once).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// Queueing delay that sets the default of `min`.
    #[serde(default = "target_delay")]
    pub target_delay: Duration,
    /// Whether `max_p` adapts so that the average stays between the thresholds (Floyd, Gummadi & Shenker 2001).
    #[serde(default)]
    pub adaptive: bool,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
    /// Probability from which packets are dropped early and no longer marked. Default: 1 (ns-2: 0.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_below: Option<f64>,
    /// Whether packets beyond the thresholds are dropped even if they could be marked. Default: true (linux: false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_drop: Option<bool>,
}

fn one_bdp() -> Limit {
    ONE_BDP
}

/// ns-2's `targetdelay_`.
fn target_delay() -> Duration {
    Duration::from_millis(5)
}

/// Whose defaults RED has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// Floyd's recommendations, in packets.
    #[default]
    #[serde(rename = "floyd")]
    Floyd,
    /// The defaults of ns-2 2.35: as Floyd's, but in bytes, with packets of 500 B.
    #[serde(rename = "ns-2")]
    Ns2,
    /// The defaults of Linux's tc.
    #[serde(rename = "linux")]
    Linux,
}

impl RedKeys {
    /// The parameters at a link.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub fn parameters_at(&self, place: &Place) -> Result<RedParameters, Misfit> {
        let linux = self.preset == Preset::Linux;
        let ns2 = self.preset == Preset::Ns2;
        let Some(rate) = place.rate else { return Err(("kind", Problem::RedWithoutRate)) };
        let mean_packet = self.mean_packet.map_or(if ns2 { 500 } else { place.packet_bytes }, |size| size.0);
        let mean_packet = match u32::try_from(mean_packet) {
            Ok(bytes) if bytes > 0 => bytes,
            _ => return Err(("mean_packet", out_of_range(Size(mean_packet), "at least 1 B and below 4 GB"))),
        };
        let mode = self.mode.unwrap_or(if ns2 || linux { RedMode::Bytes } else { RedMode::Packets });
        let mean = f64::from(mean_packet);
        let bytes_per_unit = if mode == RedMode::Bytes { 1.0 } else { mean };
        let in_units = |length: Limit| match length {
            Limit::Packets(packets) => f64::from(packets) * mean / bytes_per_unit,
            Limit::Bytes(bytes) => bytes as f64 / bytes_per_unit,
            Limit::Bdp(factor) => factor * place.bdp_packets() * place.packet_bytes as f64 / bytes_per_unit,
            Limit::Time(time) => place.bytes_in(time) as f64 / bytes_per_unit,
        };
        let threshold = |threshold| match threshold {
            Threshold::Length(length) => in_units(length),
            Threshold::Share(share) => share * in_units(self.limit),
        };
        let packets_per_second = rate.as_bps() as f64 / 8.0 / mean;
        let (given_min, given_max) = (self.min.map(threshold), self.max.map(threshold));
        let (min, max) = if linux {
            let max = given_max.unwrap_or(given_min.map_or(in_units(self.limit) / 4.0, |min| 3.0 * min));
            (given_min.unwrap_or(max / 3.0), max)
        } else {
            let target = self.target_delay.as_secs_f64() * packets_per_second / 2.0;
            let min = given_min.unwrap_or(target.max(5.0) * mean / bytes_per_unit);
            (min, given_max.unwrap_or(3.0 * min))
        };
        let key = if self.max.is_some() { "max" } else { "min" };
        if max <= 0.0 {
            return Err((key, out_of_range(max, "above 0")));
        }
        if min > max {
            let unit = if mode == RedMode::Bytes { "B" } else { "packets" };
            return Err((key, Problem::Thresholds { min: format!("{min} {unit}"), max: format!("{max} {unit}") }));
        }
        let max_p = self.max_p.unwrap_or(if linux { 0.02 } else { 0.1 });
        if max_p <= 0.0 {
            return Err(("max_p", out_of_range(max_p, "above 0 and at most 1")));
        }
        let weight = match self.weight {
            Some(weight) if weight <= 0.0 => return Err(("weight", out_of_range(weight, "above 0 and at most 1"))),
            Some(weight) => weight,
            None if linux => {
                let packets = |length: f64| length * bytes_per_unit / mean;
                let found = weight_of_tc(packets(min), packets(max));
                let problem = || out_of_range(format!("{min}"), "at least a packet of mean size, or a weight be given");
                found.ok_or_else(|| ("min", problem()))?
            }
            None => {
                let rtt = (3.0 * (place.delay.as_secs_f64() + 1.0 / packets_per_second)).max(0.1);
                -libm::expm1(-1.0 / (10.0 * rtt * packets_per_second))
            }
        };
        Ok(RedParameters {
            mode,
            min,
            max,
            max_p,
            weight,
            gentle: self.gentle.unwrap_or(!linux),
            mean_packet,
            packets_per_second,
            drop_by_size: self.drop_by_size.unwrap_or(ns2),
            gaps: self.gaps.unwrap_or(if linux { Gaps::Once } else { Gaps::Wait }),
            spares_short: !linux,
            // ns-2's `bottom_`: 0.01, or a packet of 1000 B in the product of the rate and 100 ms where that is less.
            adaptive: self.adaptive.then(|| (80_000.0 / rate.as_bps() as f64).min(0.01)),
            ecn: self.ecn,
            mark_below: self.mark_below.unwrap_or(if ns2 { 0.1 } else { 1.0 }),
            hard_drop: self.hard_drop.unwrap_or(!linux),
        })
    }
}

impl QueueKeys for RedKeys {
    type Parameters = RedParameters;

    const DRAWS: Option<&'static str> = Some("early drops of {link}: RED");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<RedParameters, Misfit> {
        self.parameters_at(place)
    }
}

impl QueueParameters for RedParameters {
    type Queue<T: Queued> = Red<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Forced, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early, Reason::Forced];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Red<T> {
        Red::new(limit, self.clone(), stream("queue"))
    }

    fn has_clock(&self) -> bool {
        self.adaptive.is_some()
    }

    fn in_words(&self) -> String {
        let RedParameters { min, max, max_p, weight, mode, gentle, adaptive, ecn, .. } = self;
        let unit = if *mode == RedMode::Bytes { "B" } else { "packets" };
        let words = [(*gentle, ", gentle"), (adaptive.is_some(), ", adaptive"), (*ecn, ", marks")];
        let words: String = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
        format!(", {min} to {max} {unit}, max_p {max_p}, weight {weight:.6}{words}")
    }

    fn in_force(&self) -> Option<serde_json::Value> {
        Some(serde_json::to_value(self).expect("invariant: parameters are numbers and words"))
    }
}

fn out_of_range(value: impl ToString, expected: &str) -> Problem {
    Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() }
}

/// The weight that tc chooses (iproute2, `tc_red_eval_ewma`) with its default burst. Thresholds are in packets.
fn weight_of_tc(min: f64, max: f64) -> Option<f64> {
    let burst = ((2.0 * min + max) / 3.0).floor();
    let fits = |weight: &f64| burst + 1.0 - min <= (1.0 - libm::pow(1.0 - weight, burst)) / weight;
    (1..32).map(|log| libm::exp2(-f64::from(log))).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    const PLACE: Place = Place {
        rate: Rate::from_bps(1_000_000),
        delay: Duration::from_millis(20),
        packet_bytes: 1040,
        mean_rtt_secs: 0.04,
        groups: crate::qdisc::Groups::NONE,
    };

    fn red(text: &str) -> RedKeys {
        serde_json::from_str(text).unwrap()
    }

    fn parameters(text: &str, place: &Place) -> RedParameters {
        red(text).parameters_at(place).unwrap()
    }

    #[test]
    fn the_automatic_values_are_those_of_ns2() {
        // Rows of ns-2 2.35 (queue/red.cc), read back after its initialisation.
        let wired = parameters(r#"{"preset": "ns-2", "mean_packet": "1000 B"}"#, &PLACE);
        assert_eq!((wired.min, wired.max), (5_000.0, 15_000.0));
        assert!((wired.weight - 0.007_968_09).abs() < 5e-9, "{}", wired.weight);
        let fast = Place { rate: Rate::from_bps(48_000_000), delay: Duration::from_millis(40), ..PLACE };
        let fast = parameters(r#"{"preset": "ns-2"}"#, &fast);
        assert_eq!((fast.min / 500.0, fast.max / 500.0), (30.0, 90.0));
        assert!((fast.weight - 6.929_77e-5).abs() < 5e-11, "{}", fast.weight);
        assert!(fast.gentle && fast.drop_by_size && fast.gaps == Gaps::Wait && fast.mark_below == 0.1);
    }

    #[test]
    fn the_preset_of_linux_is_that_of_tc() {
        // tc qdisc ... red limit 400000 min 30000 max 90000 avpkt 1000 burst 50: wlog 9 is the first that fits
        // 50 + 1 - 30 = 21 <= 512 (1 - (511/512)^50) = 47.7? Already 1/32: 32 (1 - (31/32)^50) = 25.5.
        let text =
            r#"{"preset": "linux", "limit": "400000 B", "min": "30000 B", "max": "90000 B", "mean_packet": "1000 B"}"#;
        let linux = parameters(text, &PLACE);
        assert_eq!((linux.weight, linux.max_p, linux.gaps), (1.0 / 32.0, 0.02, Gaps::Once));
        assert!(!linux.gentle && !linux.hard_drop && !linux.drop_by_size && !linux.spares_short);
        // Thresholds from the limit alone: a quarter, and a third of that.
        let plain = parameters(r#"{"preset": "linux", "limit": "240000 B"}"#, &PLACE);
        assert_eq!((plain.min, plain.max), (20_000.0, 60_000.0));
        assert!(red(r#"{"preset": "linux", "limit": "6000 B"}"#).parameters_at(&PLACE).is_err());
    }

    #[test]
    fn thresholds_are_converted_to_the_unit_of_the_average() {
        let packets = parameters(r#"{"min": "5 packets", "max": "15600 B"}"#, &PLACE);
        assert_eq!((packets.min, packets.max), (5.0, 15.0));
        // A product of 5000 B.
        let bytes = parameters(r#"{"mode": "bytes", "min": "0.5 BDP", "max": "5 packets"}"#, &PLACE);
        assert!((bytes.min - 2500.0).abs() < 1e-9 && bytes.max == 5200.0);
    }

    #[test]
    fn thresholds_may_be_shares_of_the_limit_whatever_that_is_in() {
        let of = |limit: &str| {
            let text = format!(r#"{{"limit": "{limit}", "min": "0.25 limit", "max": "0.75 limit"}}"#);
            let shares = parameters(&text, &PLACE);
            (shares.min, shares.max)
        };
        assert_eq!(of("40 packets"), (10.0, 30.0));
        // 41 600 B are 40 packets of 1040 B; the product is 5000 B.
        assert_eq!(of("41600 B"), (10.0, 30.0));
        let bdp = |factor: f64| factor * 5000.0 / 1040.0;
        let (min, max) = of("8 BDP");
        assert!((min - bdp(2.0)).abs() < 1e-9 && (max - bdp(6.0)).abs() < 1e-9, "{min} {max}");
        let mixed = parameters(r#"{"limit": "40 packets", "min": "5 packets", "max": "0.5 limit"}"#, &PLACE);
        assert_eq!((mixed.min, mixed.max), (5.0, 20.0));
        // In bytes, with packets of 500 B: 40 packets are 20 000 B.
        let bytes = parameters(r#"{"preset": "ns-2", "limit": "40 packets", "min": "0.25 limit"}"#, &PLACE);
        assert_eq!((bytes.min, bytes.max), (5_000.0, 15_000.0));
    }

    #[test]
    fn crossed_thresholds_are_named_in_the_unit_of_the_average() {
        let problem = |text| {
            let (key, problem) = red(text).parameters_at(&PLACE).unwrap_err();
            (key, problem.to_string())
        };
        let crossed = "the lower threshold, 20 packets, is above the upper one, 10 packets";
        assert_eq!(problem(r#"{"min": "20 packets", "max": "10 packets"}"#), ("max", crossed.to_owned()));
        assert_eq!(
            problem(r#"{"limit": "40 packets", "min": "0.5 limit", "max": "0.25 limit"}"#),
            ("max", crossed.to_owned())
        );
        // Equal thresholds are a step, as for DCTCP.
        let step = red(r#"{"limit": "40 packets", "min": "10 packets", "max": "0.25 limit"}"#);
        assert!(step.parameters_at(&PLACE).is_ok());
        assert_eq!(problem(r#"{"min": "0 limit"}"#).0, "min");
        assert_eq!(problem(r#"{"min": "0 limit", "max": "0 limit"}"#).0, "max");
    }
}
