//! The keys of streaming with an adaptive bit rate.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::quantity::Problem;
use ackclock::sim::Adaptation;
use ackclock::units::{Duration, Rate};

/// The map of Huang et al. (2014) covers 90 s to 216 s of a buffer of 240 s.
const RESERVOIR: f64 = 0.375;
const UPPER: f64 = 0.9;

/// How the client of a stream chooses the bit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AdaptationKeys {
    /// By the level of the buffer: BBA-0 of Huang et al. (2014).
    Bba0 {
        /// Level of the buffer up to which the client requests the lowest bit rate. By default 37.5 % of `buffer`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reservoir: Option<Duration>,
        /// Range of levels above the reservoir in which the bit rate increases linearly. By default it ends at 90 % of
        /// `buffer`, or one chunk below `buffer` if that is less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cushion: Option<Duration>,
    },
    /// The highest bit rate within 85 % of the harmonic mean of the throughputs of the last 5 chunks.
    Throughput,
    /// By the level of the buffer and the utility of the bit rates: BOLA of Spiteri et al. (2016).
    Bola,
}

impl Default for AdaptationKeys {
    fn default() -> Self {
        AdaptationKeys::Bba0 { reservoir: None, cushion: None }
    }
}

impl AdaptationKeys {
    /// As the simulator uses it. The buffer has at least two chunks.
    pub fn adaptation(self, chunk: Duration, buffer: Duration) -> Adaptation {
        match self {
            AdaptationKeys::Bba0 { reservoir, cushion } => {
                let reservoir = reservoir.unwrap_or_else(|| buffer.mul_f64_floor(RESERVOIR));
                let upper = buffer.mul_f64_floor(UPPER).min(buffer - chunk);
                Adaptation::Bba0 { reservoir, cushion: cushion.unwrap_or_else(|| upper.saturating_sub(reservoir)) }
            }
            AdaptationKeys::Throughput => Adaptation::Throughput,
            AdaptationKeys::Bola => Adaptation::Bola,
        }
    }

    fn name(self) -> &'static str {
        match self {
            AdaptationKeys::Bba0 { .. } => "bba0",
            AdaptationKeys::Throughput => "throughput",
            AdaptationKeys::Bola => "bola",
        }
    }
}

impl fmt::Display for AdaptationKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The fixed ladder of Netflix, as its technology blog of December 2015 about encodes per title lists it.
pub fn default_ladder() -> Vec<Rate> {
    let kbps = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800];
    kbps.map(|kbps| Rate::from_bps(1000 * kbps).expect("invariant: a rate above zero")).to_vec()
}

/// Media for half a minute, as short streams have.
pub fn default_buffer() -> Duration {
    Duration::from_secs(30)
}

/// Checks the keys of a stream. An error names the key and the problem.
pub fn check(
    ladder: &[Rate],
    chunk: Duration,
    buffer: Duration,
    startup: Duration,
    adaptation: AdaptationKeys,
) -> Result<(), (String, Problem)> {
    let fails =
        |key: &str, value: String, expected: String| Err((key.to_owned(), Problem::OutOfRange { value, expected }));
    if ladder.is_empty() {
        return fails("ladder", "an empty list".to_owned(), "one bit rate or more".to_owned());
    }
    if let Some(pair) = ladder.windows(2).find(|pair| pair[0] >= pair[1]) {
        let value = format!("{} after {}", pair[1], pair[0]);
        return fails("ladder", value, "in ascending order".to_owned());
    }
    if chunk.is_zero() {
        return fails("chunk", chunk.to_string(), "above zero".to_owned());
    }
    if buffer.as_nanos() / 2 < chunk.as_nanos() {
        return fails("buffer", buffer.to_string(), format!("at least two chunks of {chunk}"));
    }
    let most = buffer - chunk;
    if startup.is_zero() || startup > most {
        return fails("startup", startup.to_string(), format!("above zero and at most buffer less a chunk ({most})"));
    }
    if let Adaptation::Bba0 { reservoir, cushion } = adaptation.adaptation(chunk, buffer) {
        if reservoir >= most {
            let expected = format!("below buffer less a chunk ({most})");
            return fails("adaptation.reservoir", reservoir.to_string(), expected);
        }
        let left = most - reservoir;
        if cushion.is_zero() || cushion > left {
            return fails("adaptation.cushion", cushion.to_string(), format!("above zero and at most {left}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn the_reservoir_and_the_cushion_are_parts_of_the_buffer() {
        let parts = |buffer, chunk, reservoir, cushion| {
            let keys = AdaptationKeys::Bba0 { reservoir, cushion };
            let Adaptation::Bba0 { reservoir, cushion } = keys.adaptation(secs(chunk), secs(buffer)) else { panic!() };
            (reservoir, cushion)
        };
        // Those of the paper.
        assert_eq!(parts(240, 4, None, None), (secs(90), secs(126)));
        // 90 % of 20 s are less than a chunk below it.
        assert_eq!(parts(20, 4, None, None), (Duration::from_millis(7500), Duration::from_millis(8500)));
        assert_eq!(parts(20, 4, Some(secs(5)), Some(secs(6))), (secs(5), secs(6)));
    }

    #[test]
    fn streams_that_cannot_be_are_named() {
        let rates = |kbps: &[u64]| kbps.iter().map(|kbps| Rate::from_bps(1000 * kbps).unwrap()).collect::<Vec<_>>();
        let wrong = |ladder: &[u64], [chunk, buffer, startup]: [u64; 3], parts: [Option<u64>; 2]| {
            let [reservoir, cushion] = parts.map(|part| part.map(secs));
            let keys = AdaptationKeys::Bba0 { reservoir, cushion };
            let found = check(&rates(ladder), secs(chunk), secs(buffer), secs(startup), keys);
            found.map_or_else(|(key, problem)| format!("{key}: {problem}"), |()| String::new())
        };
        let plain = [None, None];
        assert_eq!(wrong(&[1, 2], [2, 4, 2], plain), "");
        assert!(wrong(&[], [2, 4, 2], plain).starts_with("ladder: an empty list is out of range"));
        assert!(wrong(&[1, 3, 2], [2, 4, 2], plain).contains("2 kbit/s after 3 kbit/s is out of range"));
        assert!(wrong(&[1], [0, 4, 2], plain).contains("chunk: 0 s is out of range; must be above zero"));
        assert!(
            wrong(&[1], [2, 3, 2], plain).contains("buffer: 3 s is out of range; must be at least two chunks of 2 s")
        );
        assert!(wrong(&[1], [2, 4, 3], plain).contains("at most buffer less a chunk (2 s)"));
        assert!(wrong(&[1], [2, 30, 2], [Some(28), None]).contains("adaptation.reservoir: 28 s is out of range"));
        assert!(
            wrong(&[1], [2, 30, 2], [Some(27), None])
                .contains("adaptation.cushion: 0 s is out of range; must be above zero and at most 1 s")
        );
        assert!(wrong(&[1], [2, 30, 2], [Some(20), Some(9)]).contains("adaptation.cushion: 9 s is out of range"));
        assert_eq!(wrong(&[1], [2, 30, 2], [Some(20), Some(8)]), "");
    }
}
