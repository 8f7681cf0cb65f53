//! Sources of open-loop arrivals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, RequestError};
use crate::qdisc::Ecn;
use crate::quantity::Size;
use crate::rng::Rng;
use crate::units::{Duration, Rate};

/// The largest number of arrivals of all sources.
pub(super) const MOST: usize = 5_000_000;
const ETHERNET: Size = Size(1500);

/// A source of arrivals that does not respond to drops and marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Traffic {
    /// The times of arrivals.
    pub kind: Kind,
    /// Mean rate of `cbr` and `poisson`, and rate during the on-periods of `on-off`, in bits on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Length of the on-periods of `on-off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Duration>,
    /// Length of the off-periods of `on-off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Duration>,
    /// Packets of each `burst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Time between the bursts of `burst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// Size of a packet on the wire.
    #[serde(default = "ethernet")]
    pub size: Size,
    /// Number of flows, which take turns.
    #[serde(default = "one")]
    pub flows: u32,
    /// The ECN field, as senders set it.
    #[serde(default)]
    pub ecn: Ecn,
    /// Time of the first arrival.
    #[serde(default)]
    pub from: Duration,
    /// End of the source. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Duration>,
}

/// The times of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Packets at equal intervals.
    Cbr,
    /// Packets at exponential intervals.
    Poisson,
    /// Packets at equal intervals for a time, then none for a time, and so on.
    OnOff,
    /// Packets that arrive at once, again and again.
    Burst,
}

fn ethernet() -> Size {
    ETHERNET
}

fn one() -> u32 {
    1
}

impl Kind {
    /// The name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cbr => "cbr",
            Kind::Poisson => "poisson",
            Kind::OnOff => "on-off",
            Kind::Burst => "burst",
        }
    }

    /// The keys that the kind requires. Keys of the other kinds are refused.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Kind::Cbr | Kind::Poisson => &["rate"],
            Kind::OnOff => &["rate", "on", "off"],
            Kind::Burst => &["packets", "every"],
        }
    }
}

impl Traffic {
    /// The arrivals until `end`, in the order of their times. Flows are numbered from `first_flow`.
    ///
    /// # Errors
    /// Missing and superfluous keys, values out of range, and more than [`MOST`] arrivals. Each error names the key.
    pub(super) fn arrivals(
        &self,
        end: Duration,
        first_flow: u64,
        stream: &mut Rng,
    ) -> Result<Vec<Arrival>, RequestError> {
        self.check()?;
        let end = self.to.map_or(end, |to| to.min(end)).as_nanos();
        let mut found = Vec::new();
        let mut clock = Clock::new(self);
        while let Some(at_ns) = clock.next(self, stream).filter(|at_ns| *at_ns < end) {
            if found.len() == MOST {
                let message = format!("makes more than {MOST} arrivals; lower the rate or the duration");
                return Err(RequestError::new("", message));
            }
            found.push(Arrival {
                at_ns,
                bytes: self.size.0 as u32,
                flow: first_flow + found.len() as u64 % u64::from(self.flows),
                ecn: self.ecn,
            });
        }
        Ok(found)
    }

    fn check(&self) -> Result<(), RequestError> {
        let given = [
            ("rate", self.rate.is_some()),
            ("on", self.on.is_some()),
            ("off", self.off.is_some()),
            ("packets", self.packets.is_some()),
            ("every", self.every.is_some()),
        ];
        let (name, keys) = (self.kind.name(), self.kind.keys());
        for (key, is_given) in given {
            let is_needed = keys.contains(&key);
            if is_needed && !is_given {
                return Err(RequestError::new(key, format!("is missing; {name} needs {}", keys.join(", "))));
            }
            if is_given && !is_needed {
                return Err(RequestError::new(
                    key,
                    format!("has no effect on {name}, which needs {}", keys.join(", ")),
                ));
            }
        }
        let zero = |value: Option<Duration>| value.is_some_and(|value| value == Duration::ZERO);
        let problem = if self.packets == Some(0) {
            Some(("packets", "must be at least 1"))
        } else if zero(self.every) {
            Some(("every", "must be longer than zero"))
        } else if zero(self.on) {
            Some(("on", "must be longer than zero"))
        } else if !(1..=u64::from(u16::MAX)).contains(&self.size.0) {
            Some(("size", "must be from 1 B to 65535 B"))
        } else if self.ecn == Ecn::Ce {
            Some(("ecn", "must be not-ect, ect0 or ect1, as queues set ce"))
        } else if self.flows == 0 {
            Some(("flows", "must be at least 1"))
        } else if self.to.is_some_and(|to| to <= self.from) {
            Some(("to", "must be later than `from`"))
        } else {
            None
        };
        problem.map_or(Ok(()), |(key, message)| Err(RequestError::new(key, message)))
    }
}

/// The time of the next arrival.
struct Clock {
    /// Arrivals so far.
    count: u64,
    /// The time of the last arrival of `poisson`, in nanoseconds.
    last_ns: f64,
}

impl Clock {
    fn new(traffic: &Traffic) -> Self {
        Clock { count: 0, last_ns: traffic.from.as_nanos() as f64 }
    }

    /// The time in nanoseconds, or none if it exceeds 64 bits.
    fn next(&mut self, traffic: &Traffic, stream: &mut Rng) -> Option<u64> {
        let from = traffic.from.as_nanos();
        let after = match traffic.kind {
            Kind::Cbr => self.count_ns(traffic),
            Kind::Poisson => {
                self.last_ns += mean_ns(traffic) * stream.next_exponential();
                return Some(self.last_ns as u64);
            }
            Kind::OnOff => {
                let (on, off) = (length(traffic.on), length(traffic.off));
                let sending = self.count_ns(traffic);
                sending / on * (on + off) + sending % on
            }
            Kind::Burst => {
                let bursts = self.count / u64::from(traffic.packets.unwrap_or(1));
                self.count += 1;
                u128::from(bursts) * length(traffic.every)
            }
        };
        u64::try_from(u128::from(from) + after).ok()
    }

    /// The time that the arrivals so far take at the rate. Counts one more arrival.
    fn count_ns(&mut self, traffic: &Traffic) -> u128 {
        let bits = u128::from(self.count) * u128::from(traffic.size.0) * 8;
        self.count += 1;
        bits * 1_000_000_000 / u128::from(traffic.rate.map_or(1, Rate::as_bps))
    }
}

/// The mean time between arrivals.
fn mean_ns(traffic: &Traffic) -> f64 {
    traffic.size.0 as f64 * 8e9 / traffic.rate.map_or(1, Rate::as_bps) as f64
}

fn length(duration: Option<Duration>) -> u128 {
    u128::from(duration.unwrap_or_default().as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStreams;

    const SECOND: Duration = Duration::from_secs(1);

    fn arrivals(text: &str) -> Result<Vec<Arrival>, RequestError> {
        let traffic: Traffic = serde_json::from_str(text).unwrap();
        traffic.arrivals(SECOND, 0, &mut RngStreams::new(1, 0).stream("queue", "arrivals"))
    }

    fn times_ms(text: &str) -> Vec<f64> {
        arrivals(text).unwrap().iter().map(|arrival| arrival.at_ns as f64 / 1e6).collect()
    }

    #[test]
    fn constant_rates_have_equal_intervals() {
        // 12,000 bits at 1.2 Mbit/s take 10 ms.
        let times = times_ms(r#"{ "kind": "cbr", "rate": "1.2 Mbit/s", "from": "50 ms", "to": "75 ms" }"#);
        assert_eq!(times, [50.0, 60.0, 70.0]);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_variance() {
        // 10,000 arrivals: the standard error of the mean is 1 %.
        let times = times_ms(r#"{ "kind": "poisson", "rate": "120 Mbit/s" }"#);
        assert!((times.len() as f64 / 10_000.0 - 1.0).abs() < 0.04, "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn on_off_sources_pause() {
        let text = r#"{ "kind": "on-off", "rate": "1.2 Mbit/s", "on": "20 ms", "off": "80 ms", "to": "210 ms" }"#;
        assert_eq!(times_ms(text), [0.0, 10.0, 100.0, 110.0, 200.0]);
    }

    #[test]
    fn bursts_arrive_at_once_and_flows_take_turns() {
        let text = r#"{ "kind": "burst", "packets": 3, "every": "600 ms", "flows": 2, "ecn": "ect1" }"#;
        let found = arrivals(text).unwrap();
        let told: Vec<(u64, u64)> = found.iter().map(|each| (each.at_ns / 1_000_000, each.flow)).collect();
        assert_eq!(told, [(0, 0), (0, 1), (0, 0), (600, 1), (600, 0), (600, 1)]);
        assert!(found.iter().all(|each| each.ecn == Ecn::Ect1));
    }

    #[test]
    fn keys_that_are_missing_or_without_effect_are_refused() {
        for (text, message) in [
            (r#"{ "kind": "cbr" }"#, "rate: is missing; cbr needs rate"),
            (r#"{ "kind": "burst", "packets": 1 }"#, "every: is missing; burst needs packets, every"),
            (r#"{ "kind": "burst", "packets": 0, "every": "1 s" }"#, "packets: must be at least 1"),
            (
                r#"{ "kind": "poisson", "rate": "1 Mbit/s", "on": "1 s" }"#,
                "on: has no effect on poisson, which needs rate",
            ),
            (r#"{ "kind": "cbr", "rate": "1 Mbit/s", "size": "70 kB" }"#, "size: must be from 1 B to 65535 B"),
            (
                r#"{ "kind": "cbr", "rate": "1 Mbit/s", "ecn": "ce" }"#,
                "ecn: must be not-ect, ect0 or ect1, as queues set ce",
            ),
            (r#"{ "kind": "cbr", "rate": "1 Mbit/s", "flows": 0 }"#, "flows: must be at least 1"),
            (r#"{ "kind": "cbr", "rate": "1 Mbit/s", "from": "2 s", "to": "1 s" }"#, "to: must be later than `from`"),
            (
                r#"{ "kind": "cbr", "rate": "900 Gbit/s", "size": "40 B" }"#,
                "makes more than 5000000 arrivals; lower the rate or the duration",
            ),
        ] {
            assert_eq!(arrivals(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
