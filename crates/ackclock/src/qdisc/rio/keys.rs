//! The keys of RIO, and the parameters that result from them at a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outside, Rio, RioParameters};
use crate::qdisc::red::{Preset, RedKeys};
use crate::qdisc::{
    Gaps, Limit as QueueLimit, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason, RedMode, RedParameters,
};
use crate::quantity::{Limit, Size, Threshold};
use crate::rng::Rng;
use crate::units::Duration;

/// RED with in and out. Packets out of profile (`in_profile` of a flow) are dropped earlier than packets in profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RioKeys {
    /// The limit of the queue, for packets of either profile.
    #[serde(default = "two_bdp")]
    pub limit: Limit,
    /// Drop rule for packets out of profile. `red`: by RED on the average of the whole queue. `drop-tail`: when
    /// `out_max` would be exceeded.
    #[serde(default)]
    pub out: Out,
    /// Average queue from which packets out of profile are dropped. It is a limit, or a share of the queue's own limit
    /// ("0.25 limit"). Default: half of `target_delay`, but at least 5 packets of mean size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_min: Option<Threshold>,
    /// Average queue at which packets out of profile are dropped with `out_max_p`. Under drop-tail it is the longest
    /// queue that still accepts one. Default: 3 times `out_min` (drop-tail: half of `limit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_max: Option<Threshold>,
    /// Probability of a drop at `out_max`, above 0.
    #[serde(default = "out_max_p")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub out_max_p: f64,
    /// Average queue of packets in profile from which they are dropped. Default: 4/3 of `out_max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_min: Option<Threshold>,
    /// Average queue of packets in profile at which they are dropped with `in_max_p`. Default: 7/4 of `in_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_max: Option<Threshold>,
    /// Probability of a drop at `in_max`, above 0.
    #[serde(default = "in_max_p")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub in_max_p: f64,
    /// Weight of the newest arrival in both averages, above 0. Default: as for RED.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: Option<f64>,
    /// Whether probabilities rise to 1 between an upper threshold and its double, instead of at once.
    #[serde(default)]
    pub gentle: bool,
    /// Unit of the averages.
    #[serde(default)]
    pub mode: RedMode,
    /// Mean packet size, for the averages in bytes and for idle times. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Size>,
    /// Distribution of the gaps between drops with probability p. `wait`: 1/p to 2/p packets. `plain`: 1 to 1/p
    /// packets. `once`: as `plain`, from one random number per drop.
    #[serde(default)]
    pub gaps: Gaps,
    /// Queueing delay that sets the default of `out_min`.
    #[serde(default = "target_delay")]
    pub target_delay: Duration,
    /// Whether a packet in profile that arrives at a full queue replaces the last packet out of profile.
    #[serde(default = "yes")]
    pub push_out: bool,
}

/// How packets out of profile are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Out {
    /// As RED says of the average of the whole queue.
    #[default]
    Red,
    /// Where `out_max` would be exceeded.
    DropTail,
}

fn two_bdp() -> Limit {
    Limit::Bdp(2.0)
}

fn out_max_p() -> f64 {
    0.2
}

fn in_max_p() -> f64 {
    0.02
}

fn target_delay() -> Duration {
    Duration::from_millis(5)
}

fn yes() -> bool {
    true
}

impl QueueKeys for RioKeys {
    type Parameters = RioParameters;

    const DRAWS: Option<&'static str> = Some("early drops of {link}: RIO");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn parameters(&self, place: &Place, limit: QueueLimit) -> Result<RioParameters, Misfit> {
        self.parameters_at(place, limit)
    }
}

impl QueueParameters for RioParameters {
    type Queue<T: Queued> = Rio<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Forced, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early, Reason::Forced];
    const READS_PROFILES: bool = true;

    fn build<T: Queued>(&self, limit: QueueLimit, stream: &dyn Fn(&str) -> Rng) -> Rio<T> {
        Rio::new(limit, self.clone(), stream("queue.in"), stream("queue"))
    }

    fn has_clock(&self) -> bool {
        let outside = matches!(&self.outside, Outside::Red(red) if red.adaptive.is_some());
        outside || self.inside.adaptive.is_some()
    }

    fn in_words(&self) -> String {
        let RioParameters { inside, outside, push_out } = self;
        let unit = if inside.mode == RedMode::Bytes { "B" } else { "packets" };
        let thresholds = |red: &RedParameters| format!("{} to {} {unit}, max_p {}", red.min, red.max, red.max_p);
        let outside = match outside {
            Outside::Red(red) => thresholds(red),
            Outside::DropTail(QueueLimit::Packets(packets)) => format!("drop-tail, {packets} packets"),
            Outside::DropTail(QueueLimit::Bytes(bytes)) => format!("drop-tail, {bytes} B"),
        };
        let push_out = if *push_out { "" } else { "; no push-out" };
        format!("; in: {}; out: {outside}{push_out}", thresholds(inside))
    }
}

impl RioKeys {
    /// The parameters at a link with a queue of `limit`.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    fn parameters_at(&self, place: &Place, limit: QueueLimit) -> Result<RioParameters, Misfit> {
        let (outside, out_max) = match self.out {
            Out::Red => {
                let red = self.red(self.out_min, self.out_max, self.out_max_p);
                let parameters = red.parameters_at(place).map_err(renamed(["out_min", "out_max", "out_max_p"]))?;
                let unit = if self.mode == RedMode::Bytes { 1.0 } else { f64::from(parameters.mean_packet) };
                let out_max = Limit::Bytes((parameters.max * unit).round() as u64);
                (Outside::Red(parameters), Threshold::Length(out_max))
            }
            Out::DropTail => {
                let half = match limit {
                    QueueLimit::Packets(packets) => Limit::Packets(packets.div_ceil(2)),
                    QueueLimit::Bytes(bytes) => Limit::Bytes(bytes / 2),
                };
                let out_max = match self.out_max {
                    None => half,
                    Some(Threshold::Length(length)) => length,
                    Some(Threshold::Share(share)) => part_of(limit, share),
                };
                (Outside::DropTail(place.limit(out_max)), Threshold::Length(out_max))
            }
        };
        let in_min = self.in_min.unwrap_or_else(|| self.times(4.0 / 3.0, out_max, place));
        let in_max = self.in_max.unwrap_or_else(|| self.times(7.0 / 4.0, in_min, place));
        let red = self.red(Some(in_min), Some(in_max), self.in_max_p);
        let inside = red.parameters_at(place).map_err(renamed(["in_min", "in_max", "in_max_p"]))?;
        Ok(RioParameters { inside, outside, push_out: self.push_out })
    }

    /// A multiple of a threshold in bytes.
    fn times(&self, factor: f64, threshold: Threshold, place: &Place) -> Threshold {
        Threshold::Length(match threshold {
            Threshold::Length(length) => bytes_of(length, place, factor),
            Threshold::Share(share) => bytes_of(self.limit, place, share * factor),
        })
    }

    fn red(&self, min: Option<Threshold>, max: Option<Threshold>, max_p: f64) -> RedKeys {
        RedKeys {
            preset: Preset::Floyd,
            limit: self.limit,
            min,
            max,
            max_p: Some(max_p),
            weight: self.weight,
            gentle: Some(self.gentle),
            mode: Some(self.mode),
            mean_packet: self.mean_packet,
            drop_by_size: None,
            gaps: Some(self.gaps),
            target_delay: self.target_delay,
            adaptive: false,
            ecn: false,
            mark_below: None,
            hard_drop: None,
        }
    }
}

/// This share of the queue's limit, rounded to the nearest packet, at least one packet.
fn part_of(limit: QueueLimit, share: f64) -> Limit {
    match limit {
        QueueLimit::Packets(packets) => Limit::Packets((share * f64::from(packets)).round().max(1.0) as u32),
        QueueLimit::Bytes(bytes) => Limit::Bytes((share * bytes as f64).round() as u64),
    }
}

/// A multiple of a length in bytes.
fn bytes_of(length: Limit, place: &Place, factor: f64) -> Limit {
    let packet = place.packet_bytes as f64;
    let bytes = match length {
        Limit::Packets(packets) => f64::from(packets) * packet,
        Limit::Bytes(bytes) => bytes as f64,
        Limit::Bdp(bdp) => bdp * place.bdp_packets() * packet,
        Limit::Time(time) => place.bytes_in(time) as f64,
    };
    Limit::Bytes((factor * bytes).round() as u64)
}

/// The keys of RED under their names here.
fn renamed([min, max, max_p]: [&'static str; 3]) -> impl Fn(Misfit) -> Misfit {
    move |(key, problem)| match key {
        "min" => (min, problem),
        "max" => (max, problem),
        "max_p" => (max_p, problem),
        other => (other, problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// A product of 40 packets of 1000 B.
    const PLACE: Place = Place {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(20),
        packet_bytes: 1000,
        mean_rtt_secs: 0.04,
        groups: crate::qdisc::Groups::NONE,
    };

    fn parameters(text: &str) -> Result<RioParameters, Misfit> {
        let rio: RioKeys = serde_json::from_str(text).unwrap();
        rio.parameters(&PLACE, QueueLimit::Packets(80))
    }

    #[test]
    fn what_is_in_profile_meets_higher_thresholds() {
        let rio = parameters(r#"{"out_min": "10 packets"}"#).unwrap();
        let Outside::Red(outside) = &rio.outside else { panic!("RED is the default") };
        assert_eq!((outside.min, outside.max, outside.max_p), (10.0, 30.0, 0.2));
        assert_eq!((rio.inside.min, rio.inside.max, rio.inside.max_p), (40.0, 70.0, 0.02));
        assert!(!outside.gentle && rio.push_out && rio.inside.weight == outside.weight);
        let bytes = parameters(r#"{"out_min": "10 packets", "mode": "bytes", "in_max": "2 BDP"}"#).unwrap();
        assert_eq!((bytes.inside.min, bytes.inside.max), (40_000.0, 80_000.0));
    }

    #[test]
    fn drop_tail_takes_half_of_the_limit() {
        let rio = parameters(r#"{"out": "drop-tail"}"#).unwrap();
        assert_eq!(rio.outside, Outside::DropTail(QueueLimit::Packets(40)));
        assert!((rio.inside.min - 53.333).abs() < 1e-9, "{}", rio.inside.min);
        let rio = parameters(r#"{"out": "drop-tail", "out_max": "7 packets"}"#).unwrap();
        assert_eq!(rio.outside, Outside::DropTail(QueueLimit::Packets(7)));
    }

    #[test]
    fn thresholds_may_be_shares_of_the_limit() {
        // A limit of 2 BDP, which are 80 packets.
        let rio = parameters(r#"{"out_min": "0.125 limit", "in_min": "0.5 limit"}"#).unwrap();
        let Outside::Red(outside) = &rio.outside else { panic!("RED is the default") };
        assert_eq!((outside.min, outside.max), (10.0, 30.0));
        assert_eq!((rio.inside.min, rio.inside.max), (40.0, 70.0));
        let rio = parameters(r#"{"out": "drop-tail", "out_max": "0.1 limit", "in_max": "1 limit"}"#).unwrap();
        assert_eq!(rio.outside, Outside::DropTail(QueueLimit::Packets(8)));
        assert_eq!(rio.inside.max, 80.0);
        assert_eq!(parameters(r#"{"in_min": "0.5 limit", "in_max": "0.25 limit"}"#).unwrap_err().0, "in_max");
    }

    #[test]
    fn problems_have_the_keys_of_rio() {
        let key = |text| parameters(text).unwrap_err().0;
        assert_eq!(key(r#"{"out_min": "10 packets", "out_max": "5 packets"}"#), "out_max");
        assert_eq!(key(r#"{"in_min": "10 packets", "in_max": "5 packets"}"#), "in_max");
        assert_eq!(key(r#"{"out_max_p": 0}"#), "out_max_p");
        assert_eq!(key(r#"{"in_max_p": 0}"#), "in_max_p");
        assert_eq!(key(r#"{"weight": 0}"#), "weight");
    }
}
