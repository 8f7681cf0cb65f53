//! The keys of a link that changes by the clock: its delay and its outages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::link::{DelayCourse, Outages};
use ackclock::quantity::Problem;
use ackclock::units::Duration;

/// A delay over time. They are at least the link's `delay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayVaries {
    /// By a timetable: another delay at once, as a route that changes.
    Steps {
        /// Times at which the delays begin. The first time is "0 s".
        times: Vec<Duration>,
        /// The delays.
        delays: Vec<Duration>,
        /// Time at which the timetable starts again. By default the last delay stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<Duration>,
    },
    /// Linearly from point to point, as the distance to a satellite that passes.
    Linear {
        /// Times at which the delays are reached. The first time is "0 s".
        times: Vec<Duration>,
        /// The delays.
        delays: Vec<Duration>,
        /// Time at which the timetable starts again, with a jump. By default the last delay stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<Duration>,
    },
}

/// Times in which all that is sent is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageTimes {
    /// Times at which the outages begin.
    pub times: Vec<Duration>,
    /// Length of each outage.
    pub length: Duration,
    /// Time at which the timetable starts again. By default the outages occur once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Duration>,
}

/// The key that does not fit, and why.
type Misfit = (&'static str, Problem);

/// Longer delays make no sense.
const LONGEST: Duration = Duration::from_secs(86_400);

fn out_of_range(key: &'static str, value: impl ToString, expected: impl ToString) -> Result<(), Misfit> {
    Err((key, Problem::OutOfRange { value: value.to_string(), expected: expected.to_string() }))
}

/// Times that rise, up to the one at which everything begins again.
fn rise(times: &[Duration], repeat: Option<Duration>) -> Result<(), Misfit> {
    if times.is_empty() {
        return Err(("times", Problem::WrongLength { expected: "at least 1".to_owned(), found: 0 }));
    }
    if let Some(pair) = times.windows(2).find(|pair| pair[0] >= pair[1]) {
        return out_of_range("times", pair[1], format!("above {}: rising", pair[0]));
    }
    match (repeat, times.last()) {
        (Some(repeat), Some(last)) if repeat < *last || repeat.is_zero() => {
            out_of_range("repeat", repeat, format!("at least the last time, {last}, and above zero"))
        }
        _ => Ok(()),
    }
}

impl DelayVaries {
    fn keys(&self) -> (&[Duration], &[Duration], Option<Duration>) {
        match self {
            DelayVaries::Steps { times, delays, repeat } | DelayVaries::Linear { times, delays, repeat } => {
                (times, delays, *repeat)
            }
        }
    }

    /// The part that is added to a delay.
    pub fn course(&self, delay: Duration) -> DelayCourse {
        let (times, delays, repeat) = self.keys();
        let points = times.iter().zip(delays).map(|(time, long)| (*time, *long - delay)).collect();
        DelayCourse { points, is_linear: matches!(self, DelayVaries::Linear { .. }), repeat }
    }

    /// The key that does not fit at a link of this delay, and why.
    pub fn check(&self, delay: Duration) -> Result<(), Misfit> {
        let (times, delays, repeat) = self.keys();
        rise(times, repeat)?;
        if !times[0].is_zero() {
            return out_of_range("times", times[0], "\"0 s\" in the first place");
        }
        if delays.len() != times.len() {
            let expected = format!("as many as there are times, {},", times.len());
            return Err(("delays", Problem::WrongLength { expected, found: delays.len() }));
        }
        match delays.iter().find(|long| !(delay..=LONGEST).contains(long)) {
            Some(wrong) => out_of_range("delays", wrong, format!("from {delay}, the link's delay, to {LONGEST}")),
            None => Ok(()),
        }
    }
}

impl OutageTimes {
    /// As the engine follows them.
    pub fn outages(&self) -> Outages {
        Outages { begins: self.times.clone(), length: self.length, repeat: self.repeat }
    }

    /// The key that does not fit, and why.
    pub fn check(&self) -> Result<(), Misfit> {
        rise(&self.times, self.repeat)?;
        let last = self.times.last().copied().unwrap_or_default();
        if let Some(repeat) = self.repeat.filter(|repeat| *repeat == last) {
            return out_of_range("repeat", repeat, format!("above the last time, {last}"));
        }
        let to_the_next = self.times.windows(2).map(|pair| (pair[1] - pair[0], "until the next one begins"));
        let to_the_end = self.repeat.map(|repeat| (repeat - last, "from the last one until everything begins again"));
        let (room, until) = to_the_next.chain(to_the_end).min().unwrap_or((LONGEST, "a day"));
        if self.length.is_zero() || self.length > room {
            return out_of_range("length", self.length, format!("above zero and at most {room}, {until}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(times: &[u64], length: u64, repeat: Option<u64>) -> Option<String> {
        let times = times.iter().map(|secs| Duration::from_secs(*secs)).collect();
        let outages =
            OutageTimes { times, length: Duration::from_secs(length), repeat: repeat.map(Duration::from_secs) };
        outages.check().err().map(|(key, problem)| format!("{key}: {problem}"))
    }

    #[test]
    fn the_bound_of_an_outage_is_the_one_that_it_passes() {
        let wrong =
            |key: &str, found: &str, bound: &str| Some(format!("{key}: {found} is out of range; must be {bound}"));
        let next = "above zero and at most 3 s, until the next one begins";
        assert_eq!(message(&[1, 4, 9], 5, Some(20)), wrong("length", "5 s", next));
        let again = "above zero and at most 2 s, from the last one until everything begins again";
        assert_eq!(message(&[10], 5, Some(12)), wrong("length", "5 s", again));
        assert_eq!(message(&[1, 4], 1, Some(4)), wrong("repeat", "4 s", "above the last time, 4 s"));
        assert_eq!(message(&[1], 0, None), wrong("length", "0 s", "above zero and at most 86400 s, a day"));
        assert_eq!(message(&[1, 4], 3, Some(7)), None);
    }
}
