//! Values in a command line of `tc`.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A number of packets, with an optional `p`.
    Packets,
    /// A time, in microseconds.
    Micros,
    /// Bytes. `k` is 1024, as in `tc`.
    Size,
    /// A rate, in bytes per second.
    Speed,
    /// A rate in bytes per second, of 64 bits, or a number.
    Long,
    /// A probability, of 2^32 - 1.
    Probability,
    /// The word has this value.
    Flag(u32),
    /// The word has this value, of 64 bits.
    LongFlag(u64),
}

impl Kind {
    /// What is expected.
    pub fn in_words(self) -> &'static str {
        match self {
            Kind::Number | Kind::Packets => "a whole number",
            Kind::Micros => "a time such as 15ms",
            Kind::Size => "bytes such as 1514 or 60kb",
            Kind::Speed | Kind::Long => "a rate such as 10mbit",
            Kind::Probability => "a probability such as 0.02 or 2%",
            Kind::Flag(_) | Kind::LongFlag(_) => "no value",
        }
    }
}

const TIMES: &[(&str, f64)] = &[("us", 1.0), ("usec", 1.0), ("ms", 1e3), ("msec", 1e3), ("s", 1e6), ("sec", 1e6)];
const SIZES: &[(&str, f64)] = &[
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("kbit", 128.0),
    ("mbit", 131_072.0),
];
const RATES: &[(&str, f64)] = &[
    ("bit", 0.125),
    ("kbit", 125.0),
    ("mbit", 125_000.0),
    ("gbit", 125_000_000.0),
    ("bps", 1.0),
    ("kbps", 1_000.0),
    ("mbps", 1_000_000.0),
];

/// Reads a value.
pub fn parse(text: &str, kind: Kind) -> Option<u64> {
    match kind {
        Kind::Number => text.parse().ok(),
        Kind::Packets => text.trim_end_matches('p').parse().ok(),
        Kind::Micros => scaled(text, TIMES),
        Kind::Size => text.parse().ok().or_else(|| scaled(text, SIZES)),
        Kind::Speed => scaled(text, RATES),
        Kind::Long => text.parse().ok().or_else(|| scaled(text, RATES)),
        Kind::Probability => {
            let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 0.01));
            let share = digits.parse::<f64>().ok()? * scale;
            (0.0..=1.0).contains(&share).then(|| (share * f64::from(u32::MAX)).round() as u64)
        }
        Kind::Flag(_) | Kind::LongFlag(_) => None,
    }
}

/// A number with one of these units, rounded.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (digits, unit) = text.split_at(split);
    let (_, scale) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let value = digits.parse::<f64>().ok()? * scale;
    (0.0..1e18).contains(&value).then(|| value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_units_of_tc() {
        for (text, kind, value) in [
            ("15ms", Kind::Micros, Some(15_000)),
            ("1.5s", Kind::Micros, Some(1_500_000)),
            ("15", Kind::Micros, None),
            ("100p", Kind::Packets, Some(100)),
            ("60kb", Kind::Size, Some(61_440)),
            ("1514", Kind::Size, Some(1_514)),
            ("10mbit", Kind::Speed, Some(1_250_000)),
            ("8Mbit", Kind::Long, Some(1_000_000)),
            ("2%", Kind::Probability, Some(85_899_346)),
            ("1.1", Kind::Probability, None),
            ("-3ms", Kind::Micros, None),
        ] {
            assert_eq!(parse(text, kind), value, "{text}");
        }
    }
}
