//! Quantities in a scenario: strings with a unit, and the words that may replace them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

mod kinds;
mod problem;

use crate::units::{Duration, ParseQuantityError, Rate, parse_bytes, parse_duration, parse_rate, with_a_point};
pub use kinds::{Kind, SHORTHAND_KEY, Shorthand, kind, kinds};
pub use problem::{Hint, Problem};

/// The key of the JSON Schema that contains the name of a quantity.
pub const SCHEMA_KEY: &str = "x-quantity";

/// For the schema of a key whose default depends on its place.
pub fn without_default(schema: &mut Schema) {
    schema.remove("default");
}

/// A value that a scenario writes as a string.
pub trait Quantity: Sized + fmt::Display {
    /// Its name in messages and in the JSON Schema.
    const NAME: &'static str;
    /// A correct spelling.
    const EXAMPLE: &'static str;

    /// Reads a text.
    ///
    /// # Errors
    /// The problem of the text.
    fn parse(text: &str) -> Result<Self, Problem>;
}

impl Quantity for Duration {
    const NAME: &'static str = "duration";
    const EXAMPLE: &'static str = "30 ms";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(parse_duration(text)?)
    }
}

impl Quantity for Rate {
    const NAME: &'static str = "rate";
    const EXAMPLE: &'static str = "5 Mbit/s";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(parse_rate(text)?)
    }
}

/// Bits per second, zero among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateOrZero(pub u64);

impl Quantity for RateOrZero {
    const NAME: &'static str = "rate or zero";
    const EXAMPLE: &'static str = "5 Mbit/s";

    fn parse(text: &str) -> Result<Self, Problem> {
        match parse_rate(text) {
            Err(ParseQuantityError::ZeroRate { .. }) => Ok(RateOrZero(0)),
            rate => Ok(RateOrZero(rate?.as_bps())),
        }
    }
}

impl fmt::Display for RateOrZero {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Rate::from_bps(self.0) {
            Some(rate) => rate.fmt(f),
            None => f.write_str("0 bit/s"),
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Quantity for Size {
    const NAME: &'static str = "size";
    const EXAMPLE: &'static str = "1460 B";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Size(parse_bytes(text)?))
    }
}

impl fmt::Display for Size {
    /// Whole kilobytes and more as such, all else in bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            n if n > 0 && n % 1_000_000_000 == 0 => (1_000_000_000, "GB"),
            n if n > 0 && n % 1_000_000 == 0 => (1_000_000, "MB"),
            n if n >= 10_000 && n % 1_000 == 0 => (1_000, "kB"),
            _ => (1, "B"),
        };
        write!(f, "{} {name}", self.0 / unit)
    }
}

/// The capacity of a queue. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Whole packets of any size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
    /// Multiples of the bandwidth-delay product: the rate of the link times the mean base RTT of its flows. The
    /// limit is in whole packets of the largest size, rounded to the nearest, at least one.
    Bdp(f64),
    /// The bytes that the link sends in this time, at least a packet of the largest size.
    Time(Duration),
}

impl Quantity for Limit {
    const NAME: &'static str = "queue limit";
    const EXAMPLE: &'static str = "100 packets";

    fn parse(text: &str) -> Result<Self, Problem> {
        const MOST_BDP: f64 = 1e6;
        let bad = || Problem::BadText {
            text: text.to_owned(),
            what: Self::NAME,
            expected: "\"100 packets\", \"64 kB\", \"0.5 BDP\" or \"50 ms\"",
        };
        if let Some(instead) = with_a_point(text.trim()) {
            return Err(ParseQuantityError::Comma { text: text.to_owned(), instead }.into());
        }
        if let Some(number) = before_unit(text, &["packets", "packet"]) {
            return match number.parse::<u128>() {
                Ok(packets) => match u32::try_from(packets) {
                    Ok(packets) => Ok(Limit::Packets(packets)),
                    Err(_) => Err(too_large(text, &format!("{} packets", u32::MAX))),
                },
                Err(_) => Err(bad()),
            };
        }
        if let Some(number) = before_unit(text, &["BDP"]) {
            return factor(number, MOST_BDP).map(Limit::Bdp).map_err(|large| match large {
                true => too_large(text, &format!("{MOST_BDP} BDP")),
                false => bad(),
            });
        }
        match parse_duration(text) {
            Ok(time) => Ok(Limit::Time(time)),
            Err(error @ ParseQuantityError::TooLarge { .. }) => Err(error.into()),
            Err(_) => parse_bytes(text).map(Limit::Bytes).map_err(|error| unless_explained(error, bad)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(1) => f.write_str("1 packet"),
            Limit::Packets(packets) => write!(f, "{packets} packets"),
            Limit::Bytes(bytes) => Size(*bytes).fmt(f),
            Limit::Bdp(factor) => write!(f, "{factor} BDP"),
            Limit::Time(time) => time.fmt(f),
        }
    }
}

/// The longest random delay of a sender before each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SendJitter {
    /// A length of time.
    Time(Duration),
    /// Times the transmission of one full packet of the flow at the rate of the bottleneck.
    Packets(f64),
}

impl SendJitter {
    /// True if no packet is ever late.
    pub fn is_zero(self) -> bool {
        matches!(self, SendJitter::Time(Duration::ZERO)) || self == SendJitter::Packets(0.0)
    }
}

impl Quantity for SendJitter {
    const NAME: &'static str = "send jitter";
    const EXAMPLE: &'static str = "1 packet";

    fn parse(text: &str) -> Result<Self, Problem> {
        const MOST_PACKETS: f64 = 1e6;
        let bad = || Problem::BadText { text: text.to_owned(), what: Self::NAME, expected: "\"1 packet\" or \"1 ms\"" };
        if let Some(instead) = with_a_point(text.trim()) {
            return Err(ParseQuantityError::Comma { text: text.to_owned(), instead }.into());
        }
        if let Some(number) = before_unit(text, &["packets", "packet"]) {
            return factor(number, MOST_PACKETS).map(SendJitter::Packets).map_err(|large| match large {
                true => too_large(text, &format!("{MOST_PACKETS} packets")),
                false => bad(),
            });
        }
        parse_duration(text).map(SendJitter::Time).map_err(|error| unless_explained(error, bad))
    }
}

impl fmt::Display for SendJitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendJitter::Time(length) => length.fmt(f),
            SendJitter::Packets(1.0) => f.write_str("1 packet"),
            SendJitter::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

/// Time between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// A thousandth of the run.
    Auto,
    /// No samples.
    None,
    /// This long.
    Every(Duration),
}

impl Quantity for Interval {
    const NAME: &'static str = "sampling interval";
    const EXAMPLE: &'static str = "10 ms";

    fn parse(text: &str) -> Result<Self, Problem> {
        let bad = || Problem::BadText {
            text: text.to_owned(),
            what: Self::NAME,
            expected: "\"auto\", \"none\" or \"10 ms\"",
        };
        match text.trim() {
            "auto" => Ok(Interval::Auto),
            "none" => Ok(Interval::None),
            length => match parse_duration(length) {
                Ok(length) if !length.is_zero() => Ok(Interval::Every(length)),
                Ok(_) => {
                    Err(Problem::OutOfRange { value: text.to_owned(), expected: "above zero, or \"none\"".to_owned() })
                }
                Err(error) => Err(unless_explained(error, bad)),
            },
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::Auto => f.write_str("auto"),
            Interval::None => f.write_str("none"),
            Interval::Every(length) => length.fmt(f),
        }
    }
}

/// The number before one of `units`, if the text ends with a unit.
fn before_unit<'a>(text: &'a str, units: &[&str]) -> Option<&'a str> {
    units.iter().find_map(|unit| text.trim().strip_suffix(unit)).map(str::trim_end)
}

/// A number from 0 to `most`. The error is true for a number above it.
fn factor(text: &str, most: f64) -> Result<f64, bool> {
    let number: f64 = text.parse().map_err(|_| false)?;
    // Also refuses NaN.
    if (0.0..=most).contains(&number) { Ok(number) } else { Err(number > most) }
}

fn too_large(text: &str, limit: &str) -> Problem {
    Problem::OutOfRange { value: text.to_owned(), expected: format!("at most {limit}") }
}

/// A length of a queue at which something begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A length in the form of a limit.
    Length(Limit),
    /// A multiple of the queue's own limit.
    Share(f64),
}

impl Quantity for Threshold {
    const NAME: &'static str = "queue threshold";
    const EXAMPLE: &'static str = "0.25 limit";

    fn parse(text: &str) -> Result<Self, Problem> {
        const MOST_LIMITS: f64 = 1e6;
        let bad = || Problem::BadText {
            text: text.to_owned(),
            what: Self::NAME,
            expected: "\"20 packets\", \"30 kB\", \"0.5 BDP\", \"50 ms\" or \"0.25 limit\"",
        };
        if let Some(number) = before_unit(text, &["limit"])
            && with_a_point(text.trim()).is_none()
        {
            return factor(number, MOST_LIMITS).map(Threshold::Share).map_err(|large| match large {
                true => too_large(text, &format!("{MOST_LIMITS} limit")),
                false => bad(),
            });
        }
        Limit::parse(text).map(Threshold::Length).map_err(|problem| match problem {
            Problem::BadText { .. } => bad(),
            other => other,
        })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Length(length) => length.fmt(f),
            Threshold::Share(share) => write!(f, "{share} limit"),
        }
    }
}

/// The problem of a quantity that a word may replace: the problem of its number, or else `otherwise`.
fn unless_explained(error: ParseQuantityError, otherwise: impl FnOnce() -> Problem) -> Problem {
    match error {
        ParseQuantityError::Comma { .. } | ParseQuantityError::TooLarge { .. } => error.into(),
        _ => otherwise(),
    }
}

/// The spelling from which the same value is read again.
trait Exact: Quantity + PartialEq {
    fn exact(&self) -> String {
        self.to_string()
    }
}

impl Exact for Duration {
    /// Writes nanoseconds where seconds do not read back exactly, which happens far above a month.
    fn exact(&self) -> String {
        let text = self.to_string();
        if parse_duration(&text) == Ok(*self) { text } else { format!("{} ns", self.as_nanos()) }
    }
}

impl Exact for Rate {}
impl Exact for RateOrZero {}
impl Exact for Size {}
impl Exact for Limit {}
impl Exact for Threshold {}
impl Exact for SendJitter {}
impl Exact for Interval {}

/// A quantity, as the check of a document against its schema needs it.
pub struct Spelling {
    /// Its name.
    pub name: &'static str,
    /// A correct spelling.
    pub example: &'static str,
    /// Reads a text and returns only its problem.
    pub check: fn(&str) -> Result<(), Problem>,
}

macro_rules! quantities {
    ($($quantity:ty),*) => {
        $(
            impl Serialize for $quantity {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(&self.exact())
                }
            }

            impl<'de> Deserialize<'de> for $quantity {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let text = String::deserialize(deserializer)?;
                    <$quantity as Quantity>::parse(&text).map_err(de::Error::custom)
                }
            }

            impl JsonSchema for $quantity {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    Self::NAME.into()
                }

                fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                    json_schema!({ "type": "string", (SCHEMA_KEY): Self::NAME, "examples": [Self::EXAMPLE] })
                }
            }
        )*

        /// The quantity of this name.
        pub fn by_name(name: &str) -> Option<Spelling> {
            $(
                if name == <$quantity>::NAME {
                    return Some(Spelling {
                        name: <$quantity>::NAME,
                        example: <$quantity>::EXAMPLE,
                        check: |text| <$quantity as Quantity>::parse(text).map(|_| ()),
                    });
                }
            )*
            None
        }
    };
}

quantities!(Duration, Rate, RateOrZero, Size, Limit, Threshold, SendJitter, Interval);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_packets_bytes_products_or_times() {
        assert_eq!(Limit::parse("100 packets"), Ok(Limit::Packets(100)));
        assert_eq!(Limit::parse("1 packet"), Ok(Limit::Packets(1)));
        assert_eq!(Limit::parse("64 kB"), Ok(Limit::Bytes(64_000)));
        assert_eq!(Limit::parse("0.5 BDP"), Ok(Limit::Bdp(0.5)));
        assert_eq!(Limit::parse(".02BDP"), Ok(Limit::Bdp(0.02)));
        assert_eq!(Limit::parse("50 ms"), Ok(Limit::Time(Duration::from_millis(50))));
        assert_eq!(Limit::parse("1.5ms").map(|limit| limit.to_string()), Ok("1.5 ms".to_owned()));
        for wrong in ["100", "-1 packets", "1.5 packets", "nan BDP", "-1 BDP", "64 kbit", ""] {
            let message = Limit::parse(wrong).unwrap_err().to_string();
            let expected = "is not a queue limit; write \"100 packets\", \"64 kB\", \"0.5 BDP\" or \"50 ms\"";
            assert_eq!(message, format!("\"{wrong}\" {expected}"));
        }
    }

    #[test]
    fn what_is_too_large_is_called_so() {
        let of_limit = |text| Limit::parse(text).unwrap_err().to_string();
        assert_eq!(of_limit("1e9 BDP"), "1e9 BDP is out of range; must be at most 1000000 BDP");
        assert_eq!(of_limit("inf BDP"), "inf BDP is out of range; must be at most 1000000 BDP");
        assert_eq!(
            of_limit("5000000000 packets"),
            "5000000000 packets is out of range; must be at most 4294967295 packets"
        );
        assert_eq!(of_limit("1e9 GB"), "\"1e9 GB\" is too large for a size; at most 1000000 GB");
        assert!(of_limit("0,5 BDP").ends_with("write for example \"0.5 BDP\""));
        let of_jitter = |text| SendJitter::parse(text).unwrap_err().to_string();
        assert_eq!(of_jitter("1e7 packets"), "1e7 packets is out of range; must be at most 1000000 packets");
        let of_interval = |text| Interval::parse(text).unwrap_err().to_string();
        assert_eq!(of_interval("0 s"), "0 s is out of range; must be above zero, or \"none\"");
        assert!(of_interval("0,1 s").ends_with("write for example \"0.1 s\""));
    }

    #[test]
    fn jitter_and_interval_take_words() {
        assert_eq!(SendJitter::parse("1 packet"), Ok(SendJitter::Packets(1.0)));
        assert_eq!(SendJitter::parse("1 ms"), Ok(SendJitter::Time(Duration::from_millis(1))));
        assert_eq!(Interval::parse("auto"), Ok(Interval::Auto));
        assert_eq!(Interval::parse("10 ms"), Ok(Interval::Every(Duration::from_millis(10))));
        assert!(Interval::parse("0 s").is_err());
    }

    #[test]
    fn a_threshold_is_a_limit_or_a_share_of_one() {
        assert_eq!(Threshold::parse("20 packets"), Ok(Threshold::Length(Limit::Packets(20))));
        assert_eq!(Threshold::parse("0.5 BDP"), Ok(Threshold::Length(Limit::Bdp(0.5))));
        assert_eq!(Threshold::parse("0.25 limit"), Ok(Threshold::Share(0.25)));
        assert_eq!(Threshold::parse(".25limit"), Ok(Threshold::Share(0.25)));
        let message = |text| Threshold::parse(text).unwrap_err().to_string();
        let expected =
            "is not a queue threshold; write \"20 packets\", \"30 kB\", \"0.5 BDP\", \"50 ms\" or \"0.25 limit\"";
        for wrong in ["limit", "-1 limit", "nan limit", "0.25 limits", "a quarter", "5"] {
            assert!(message(wrong).contains(expected), "{wrong}: {}", message(wrong));
        }
        assert!(message("0,25 limit").contains("0.25 limit"), "{}", message("0,25 limit"));
        assert!(message("2000000 limit").contains("at most 1000000 limit"));
        assert!(Limit::parse("0.25 limit").is_err(), "a limit is no share of itself");
    }

    #[test]
    fn what_is_written_is_read_again() {
        fn check<Q: Exact + fmt::Debug>(text: &str) {
            let value = Q::parse(text).unwrap();
            assert_eq!(Q::parse(&value.exact()), Ok(value));
        }
        check::<Limit>("0.1 BDP");
        check::<Limit>("12345 B");
        check::<Threshold>("12345 B");
        check::<Threshold>("0.3 limit");
        check::<SendJitter>("0.3 packets");
        check::<Size>("50 kB");
        check::<Rate>("1.234567 Gbit/s");
        check::<RateOrZero>("0 Mbit/s");
        check::<Duration>("8639999999999999 ns");
    }
}
