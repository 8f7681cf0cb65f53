//! The keys of rates that vary over time: `varies` of a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::quantity::Problem;
use ackclock::quantity::RateOrZero;
use ackclock::units::{Duration, Rate};
use ackclock::variation::{Leo, Lte, OnOff, Schedule, VariationPlan, Walk, WalkKind, Wifi};

/// Variation of a rate. Rates lie between 0 and the rate of the link or source. Walks stay at a bound that they would
/// leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Varies {
    /// By a timetable.
    Steps {
        /// Times at which the rates begin. The first time is "0 s".
        times: Vec<Duration>,
        /// The rates.
        rates: Vec<RateOrZero>,
        /// Time at which the timetable starts again. By default the last rate stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<Duration>,
    },
    /// Two rates in turn, the high one first.
    Square {
        /// The high rate.
        high: RateOrZero,
        /// The low rate.
        low: RateOrZero,
        /// Time at each of the two rates.
        interval: Duration,
    },
    /// From the low rate to the high one, in equal steps, again and again.
    Ramp {
        /// The low rate.
        low: RateOrZero,
        /// The high rate.
        high: RateOrZero,
        /// Time until the ramp starts again.
        period: Duration,
        /// Fall of the rate: as slow as the rise, or at once.
        #[serde(default)]
        shape: Shape,
        /// Number of steps in one direction.
        #[serde(default = "fifty")]
        #[schemars(range(min = 1, max = 100_000))]
        steps: u32,
    },
    /// A random rate, each drawn for itself.
    Random {
        /// The highest rate.
        high: RateOrZero,
        /// The lowest rate.
        #[serde(default)]
        low: RateOrZero,
        /// Time at each rate.
        step: Duration,
    },
    /// After a rate B the next one is uniform from B - delta to B + delta.
    RandomWalk {
        /// The first rate.
        start: RateOrZero,
        /// The largest change per step.
        delta: RateOrZero,
        /// Time at each rate.
        step: Duration,
        /// The lowest rate.
        #[serde(default)]
        min: RateOrZero,
    },
    /// After a rate B the next one is uniform from 0 to B + delta.
    AdditiveWalk {
        /// The first rate.
        start: RateOrZero,
        /// The largest rise per step.
        delta: RateOrZero,
        /// Time at each rate.
        step: Duration,
        /// The lowest rate.
        #[serde(default)]
        min: RateOrZero,
    },
    /// The next rate is uniform from 0 to `factor` times the present one. With a factor below e the rate decays to
    /// `min` in the long run.
    MultiplicativeWalk {
        /// The first rate.
        start: RateOrZero,
        /// Upper bound of the next rate as a multiple of the present one, above 0.
        #[schemars(range(min = 0.0, max = 1000.0))]
        factor: f64,
        /// Time at each rate.
        step: Duration,
        /// The lowest rate.
        #[serde(default)]
        min: RateOrZero,
    },
    /// Two rates in turn, each for an exponential time.
    OnOff {
        /// The high rate.
        high: RateOrZero,
        /// The low rate.
        #[serde(default)]
        low: RateOrZero,
        /// Mean time at the high rate.
        mean_high: Duration,
        /// Mean time at the low rate.
        mean_low: Duration,
    },
    /// The delivery opportunities of a mahimahi trace, again and again.
    Trace {
        /// File with one line per transmission opportunity of 1504 B: its time in milliseconds. It is read once. The
        /// scenario then contains `milliseconds`.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The times of the lines of such a file, in milliseconds.
        #[serde(default)]
        milliseconds: Vec<u64>,
        /// Time over which transmission opportunities are averaged.
        #[serde(default = "one_millisecond")]
        bin: Duration,
    },
    /// As the rate of an 802.11n station: every 100 ms another coding, and shared with other stations.
    Wifi {
        /// Number of other stations. Each of them sends half of the time.
        #[serde(default)]
        #[schemars(range(max = 1000))]
        stations: u32,
    },
    /// As the rate of a cellular subscriber: Sprout's Brownian motion with outages.
    Lte {
        /// Standard deviation of the change in a second, as a share of the highest rate.
        #[serde(default = "volatility_of_sprout")]
        #[schemars(range(min = 0.0, max = 100.0))]
        volatility: f64,
        /// Mean length of an outage.
        #[serde(default = "one_second")]
        mean_outage: Duration,
    },
    /// As the rate of a Starlink terminal: another satellite, and another rate, every 15 s.
    Leo {
        /// The lowest rate. By default it is a quarter of the highest.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<RateOrZero>,
        /// Time with one satellite.
        #[serde(default = "slot_of_starlink")]
        slot: Duration,
        /// Time without transmission at the beginning of each slot.
        #[serde(default = "fifty_milliseconds")]
        interruption: Duration,
    },
}

/// How a ramp comes down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// As slowly as up.
    #[default]
    Triangle,
    /// At once.
    Sawtooth,
}

fn fifty() -> u32 {
    50
}

fn one_millisecond() -> Duration {
    Duration::from_millis(1)
}

fn volatility_of_sprout() -> f64 {
    0.2
}

fn one_second() -> Duration {
    Duration::from_secs(1)
}

fn slot_of_starlink() -> Duration {
    Duration::from_secs(15)
}

fn fifty_milliseconds() -> Duration {
    Duration::from_millis(50)
}

/// Changes that come faster than packets do only cost time.
const SHORTEST: Duration = Duration::from_micros(10);
/// A trace of this many opportunities lasts an hour at 6.7 Mbit/s.
pub const MOST_OPPORTUNITIES: usize = 2_000_000;
/// A hundred days.
const LONGEST_TRACE_MS: u64 = 8_640_000_000;

/// The key that does not fit, and why.
type Misfit = (&'static str, Problem);

impl Varies {
    /// The plan for a rate of `most`.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub fn plan(&self, most: Rate) -> Result<VariationPlan, Misfit> {
        let bounds = Bounds { most };
        Ok(match self {
            Varies::Steps { times, rates, repeat } => {
                VariationPlan::Schedule(timetable(&bounds, times, rates, *repeat)?)
            }
            Varies::Square { high, low, interval } => {
                let (low, high) = bounds.low_and_high(*low, *high)?;
                VariationPlan::Schedule(Schedule::square(high, low, long_enough("interval", *interval)?))
            }
            Varies::Ramp { low, high, period, shape, steps } => {
                let (low, high) = bounds.low_and_high(*low, *high)?;
                let directions = if *shape == Shape::Triangle { 2 } else { 1 };
                let shortest = SHORTEST * u64::from(*steps) * directions;
                let period = at_least("period", *period, shortest)?;
                VariationPlan::Schedule(match shape {
                    Shape::Triangle => Schedule::triangle(low, high, *steps, period),
                    Shape::Sawtooth => Schedule::sawtooth(low, high, *steps, period),
                })
            }
            Varies::Random { high, low, step } => {
                let (min_bps, max_bps) = bounds.low_and_high(*low, *high)?;
                let step = long_enough("step", *step)?;
                VariationPlan::Walk(Walk { kind: WalkKind::Anywhere, min_bps, max_bps, step })
            }
            Varies::RandomWalk { start, delta, step, min } => {
                bounds.walk(*start, *min, *step, |start| WalkKind::Around { start, delta: delta.0 })?
            }
            Varies::AdditiveWalk { start, delta, step, min } => {
                if delta.0 == 0 {
                    return Err(("delta", out_of_range(delta, "above 0")));
                }
                bounds.walk(*start, *min, *step, |start| WalkKind::Additive { start, delta: delta.0 })?
            }
            Varies::MultiplicativeWalk { start, factor, step, min } => {
                if *factor <= 0.0 {
                    return Err(("factor", out_of_range(factor, "above 0")));
                }
                if start.0 == 0 {
                    return Err(("start", out_of_range(start, "above 0")));
                }
                bounds.walk(*start, *min, *step, |start| WalkKind::Multiplicative { start, factor: *factor })?
            }
            Varies::OnOff { high, low, mean_high, mean_low } => {
                let (low_bps, high_bps) = bounds.low_and_high(*low, *high)?;
                let mean_high = long_enough("mean_high", *mean_high)?;
                let mean_low = long_enough("mean_low", *mean_low)?;
                VariationPlan::OnOff(OnOff { high_bps, low_bps, mean_high, mean_low })
            }
            Varies::Trace { file: Some(file), .. } => {
                return Err(("file", Problem::NoFilesHere { file: file.clone() }));
            }
            Varies::Trace { file: None, milliseconds, bin } => {
                let problem = check_trace(milliseconds).map(|(_, problem)| problem);
                problem.map_or(Ok(()), |problem| Err(("milliseconds", problem)))?;
                let bin = at_least("bin", *bin, one_millisecond())?;
                VariationPlan::Schedule(Schedule::opportunities(milliseconds, bin))
            }
            Varies::Wifi { stations } => VariationPlan::Wifi(Wifi { max_bps: most.as_bps(), stations: *stations }),
            Varies::Lte { volatility, mean_outage } => {
                if *volatility <= 0.0 {
                    return Err(("volatility", out_of_range(volatility, "above 0")));
                }
                let mean_outage = *mean_outage;
                VariationPlan::Lte(Lte { max_bps: most.as_bps(), volatility: *volatility, mean_outage })
            }
            Varies::Leo { min, slot, interruption } => {
                let quarter = RateOrZero(most.as_bps() / 4);
                let min_bps = bounds.inside("min", min.unwrap_or(quarter), 0)?;
                let slot = long_enough("slot", *slot)?;
                if *interruption >= slot {
                    return Err(("interruption", out_of_range(interruption, &format!("below the slot, {slot}"))));
                }
                let (max_bps, interruption) = (most.as_bps(), *interruption);
                VariationPlan::Leo(Leo { min_bps, max_bps, slot, interruption })
            }
        })
    }

    /// Whether chance decides it.
    pub fn is_random(&self) -> bool {
        let is_timetable =
            matches!(self, Varies::Steps { .. } | Varies::Square { .. } | Varies::Ramp { .. } | Varies::Trace { .. });
        !is_timetable
    }

    /// Its kind.
    pub fn name(&self) -> &'static str {
        match self {
            Varies::Steps { .. } => "steps",
            Varies::Square { .. } => "square",
            Varies::Ramp { .. } => "ramp",
            Varies::Random { .. } => "random",
            Varies::RandomWalk { .. } => "random-walk",
            Varies::AdditiveWalk { .. } => "additive-walk",
            Varies::MultiplicativeWalk { .. } => "multiplicative-walk",
            Varies::OnOff { .. } => "on-off",
            Varies::Trace { .. } => "trace",
            Varies::Wifi { .. } => "wifi",
            Varies::Lte { .. } => "lte",
            Varies::Leo { .. } => "leo",
        }
    }
}

/// The first opportunity of a trace that cannot be, with its index, and why.
pub fn check_trace(milliseconds: &[u64]) -> Option<(usize, Problem)> {
    if milliseconds.is_empty() {
        return Some((0, Problem::EmptyTrace));
    }
    if milliseconds.len() > MOST_OPPORTUNITIES {
        return Some((MOST_OPPORTUNITIES, Problem::TraceTooLong { limit: MOST_OPPORTUNITIES }));
    }
    let falls = milliseconds.windows(2).position(|pair| pair[1] < pair[0]).map(|index| index + 1);
    if let Some(index) = falls {
        let expected = format!("at least {}: times of a trace do not fall", milliseconds[index - 1]);
        return Some((index, out_of_range(milliseconds[index], &expected)));
    }
    if milliseconds.last() == Some(&0) {
        return Some((milliseconds.len() - 1, Problem::TraceWithoutTime));
    }
    let late = milliseconds.iter().position(|millis| *millis > LONGEST_TRACE_MS)?;
    Some((late, out_of_range(milliseconds[late], &format!("at most {LONGEST_TRACE_MS}"))))
}

fn timetable(
    bounds: &Bounds,
    times: &[Duration],
    rates: &[RateOrZero],
    repeat: Option<Duration>,
) -> Result<Schedule, Misfit> {
    if times.is_empty() {
        return Err(("times", Problem::WrongLength { expected: "at least 1".to_owned(), found: 0 }));
    }
    if rates.len() != times.len() {
        let expected = format!("as many as there are times, {},", times.len());
        return Err(("rates", Problem::WrongLength { expected, found: rates.len() }));
    }
    if !times[0].is_zero() {
        return Err(("times", out_of_range(times[0], "\"0 s\" in the first place")));
    }
    let ends = times[1..].iter().map(|end| ("times", *end)).chain(repeat.map(|end| ("repeat", end)));
    let mut steps = Vec::with_capacity(times.len());
    for ((key, end), (begin, rate)) in ends.zip(times.iter().zip(rates)) {
        let end = at_least(key, end, *begin + SHORTEST)?;
        steps.push((bounds.inside("rates", *rate, 0)?, end - *begin));
    }
    if rates.iter().all(|rate| rate.0 == 0) {
        return Err(("rates", out_of_range(rates[0], "above 0 at some time")));
    }
    if repeat.is_some() {
        return Ok(Schedule::cycle(steps));
    }
    steps.push((bounds.inside("rates", rates[rates.len() - 1], 0)?, SHORTEST));
    Ok(Schedule::once(steps))
}

/// Where a rate may lie.
struct Bounds {
    most: Rate,
}

impl Bounds {
    fn inside(&self, key: &'static str, rate: RateOrZero, min_bps: u64) -> Result<u64, Misfit> {
        if (min_bps..=self.most.as_bps()).contains(&rate.0) {
            return Ok(rate.0);
        }
        let expected = format!("from {} to {}, the rate that varies", RateOrZero(min_bps), self.most);
        Err((key, out_of_range(rate, &expected)))
    }

    fn low_and_high(&self, low: RateOrZero, high: RateOrZero) -> Result<(u64, u64), Misfit> {
        let high_bps = self.inside("high", high, 1)?;
        if low.0 > high_bps {
            return Err(("low", out_of_range(low, &format!("at most the high rate, {high}"))));
        }
        Ok((low.0, high_bps))
    }

    fn walk(
        &self,
        start: RateOrZero,
        min: RateOrZero,
        step: Duration,
        kind: impl FnOnce(u64) -> WalkKind,
    ) -> Result<VariationPlan, Misfit> {
        let min_bps = self.inside("min", min, 0)?;
        let start_bps = self.inside("start", start, min_bps)?;
        let step = long_enough("step", step)?;
        Ok(VariationPlan::Walk(Walk { kind: kind(start_bps), min_bps, max_bps: self.most.as_bps(), step }))
    }
}

fn long_enough(key: &'static str, length: Duration) -> Result<Duration, Misfit> {
    at_least(key, length, SHORTEST)
}

fn at_least(key: &'static str, length: Duration, least: Duration) -> Result<Duration, Misfit> {
    if length < least { Err((key, out_of_range(length, &format!("at least {least}")))) } else { Ok(length) }
}

fn out_of_range(value: impl ToString, expected: &str) -> Problem {
    Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 10 Mbit/s.
    fn message(varies: &str) -> String {
        let varies: Varies = serde_json::from_str(varies).unwrap();
        match varies.plan(Rate::from_bps(10_000_000).unwrap()) {
            Ok(_) => "sound".to_owned(),
            Err((key, problem)) => format!("{key}: {problem}"),
        }
    }

    #[test]
    fn rates_lie_between_zero_and_the_rate_that_varies() {
        let expected = "must be from 1 bit/s to 10 Mbit/s, the rate that varies";
        let square = r#"{"kind": "square", "high": "20 Mbit/s", "low": "0 bit/s", "interval": "5 s"}"#;
        assert_eq!(message(square), format!("high: 20 Mbit/s is out of range; {expected}"));
        let walk = r#"{"kind": "random-walk", "start": "11 Mbit/s", "delta": "1 Mbit/s", "step": "1 s"}"#;
        let expected = "must be from 0 bit/s to 10 Mbit/s, the rate that varies";
        assert_eq!(message(walk), format!("start: 11 Mbit/s is out of range; {expected}"));
        let walk = r#"{"kind": "additive-walk", "start": "1 Mbit/s", "delta": "0 bit/s", "step": "1 s"}"#;
        assert_eq!(message(walk), "delta: 0 bit/s is out of range; must be above 0");
        let walk =
            r#"{"kind": "multiplicative-walk", "start": "1 Mbit/s", "factor": 2, "step": "1 s", "min": "2 Mbit/s"}"#;
        let expected = "must be from 2 Mbit/s to 10 Mbit/s, the rate that varies";
        assert_eq!(message(walk), format!("start: 1 Mbit/s is out of range; {expected}"));
        let on_off =
            r#"{"kind": "on-off", "high": "1 Mbit/s", "low": "2 Mbit/s", "mean_high": "1 s", "mean_low": "1 s"}"#;
        assert_eq!(message(on_off), "low: 2 Mbit/s is out of range; must be at most the high rate, 1 Mbit/s");
        assert_eq!(message(r#"{"kind": "leo", "min": "8 Mbit/s"}"#), "sound");
        assert_eq!(
            message(r#"{"kind": "leo", "interruption": "15 s"}"#),
            "interruption: 15 s is out of range; must be below the slot, 15 s"
        );
    }

    #[test]
    fn a_timetable_begins_at_zero_and_goes_forward() {
        let steps = |times: &str, rates: &str, rest: &str| {
            message(&format!(r#"{{"kind": "steps", "times": {times}, "rates": {rates}{rest}}}"#))
        };
        let rates = r#"["1 Mbit/s", "0 bit/s"]"#;
        assert_eq!(steps(r#"["0 s", "1 s"]"#, rates, ""), "sound");
        assert_eq!(steps(r#"["0 s", "1 s"]"#, rates, r#", "repeat": "2 s""#), "sound");
        let repeat = "repeat: 1 s is out of range; must be at least 1.00001 s";
        assert_eq!(steps(r#"["0 s", "1 s"]"#, rates, r#", "repeat": "1 s""#), repeat);
        let falling = steps(r#"["0 s", "2 s", "1 s"]"#, r#"["1 bit/s", "2 bit/s", "3 bit/s"]"#, "");
        assert_eq!(falling, "times: 1 s is out of range; must be at least 2.00001 s");
        assert_eq!(
            steps(r#"["1 s", "2 s"]"#, rates, ""),
            "times: 1 s is out of range; must be \"0 s\" in the first place"
        );
        assert_eq!(steps(r#"["0 s"]"#, rates, ""), "rates: expected as many as there are times, 1, items, found 2");
        assert_eq!(steps("[]", "[]", ""), "times: expected at least 1 items, found 0");
        assert_eq!(
            steps(r#"["0 s"]"#, r#"["0 bit/s"]"#, ""),
            "rates: 0 bit/s is out of range; must be above 0 at some time"
        );
    }

    #[test]
    fn a_trace_has_times_that_do_not_fall() {
        let trace = |list: &str| message(&format!(r#"{{"kind": "trace", "milliseconds": {list}}}"#));
        assert_eq!(trace("[0, 3, 3, 4]"), "sound");
        let empty = "the trace is empty; write at least one millisecond in which a packet can leave";
        assert_eq!(trace("[]"), format!("milliseconds: {empty}"));
        let still = "the trace takes no time, as all its milliseconds are 0; the last one says when it begins again";
        assert_eq!(trace("[0, 0]"), format!("milliseconds: {still}"));
        assert_eq!(
            trace("[3, 2]"),
            "milliseconds: 2 is out of range; must be at least 3: times of a trace do not fall"
        );
    }

    #[test]
    fn changes_come_no_faster_than_packets() {
        let square = r#"{"kind": "square", "high": "1 Mbit/s", "low": "0 bit/s", "interval": "1 ns"}"#;
        assert_eq!(message(square), "interval: 1 ns is out of range; must be at least 10 us");
        let ramp = r#"{"kind": "ramp", "high": "1 Mbit/s", "low": "0 bit/s", "period": "900 us"}"#;
        assert_eq!(message(ramp), "period: 900 us is out of range; must be at least 1 ms");
    }
}
