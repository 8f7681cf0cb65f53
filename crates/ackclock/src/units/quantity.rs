//! Parsing of quantities: a number, a space if you like, and a unit that must be there.

use super::{Duration, NANOS_PER_SEC, Rate};

/// Why a quantity could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseQuantityError {
    /// There is a number but no unit.
    #[error("\"{text}\" has no unit; write for example \"{example}\"")]
    MissingUnit {
        /// The text.
        text: String,
        /// A correct spelling.
        example: &'static str,
    },
    /// The unit is not one of this quantity.
    #[error("unknown unit \"{unit}\" for a {quantity}; use one of {expected}")]
    UnknownUnit {
        /// The text after the number.
        unit: String,
        /// The name of the quantity.
        quantity: &'static str,
        /// The units that would be right.
        expected: String,
    },
    /// The number cannot be read, or is negative, or not finite.
    #[error(
        "\"{text}\" is not a {quantity}; write a number that is not negative, with a unit, for example \"{example}\""
    )]
    BadNumber {
        /// The text.
        text: String,
        /// The name of the quantity.
        quantity: &'static str,
        /// A correct spelling.
        example: &'static str,
    },
    /// The number has a comma.
    #[error(
        "\"{text}\" has a comma; numbers have a decimal point, and nothing between thousands: write for example \"{instead}\""
    )]
    Comma {
        /// The text.
        text: String,
        /// The same with a point.
        instead: String,
    },
    /// The quantity is too large to be simulated.
    #[error("\"{text}\" is too large for a {quantity}; at most {limit}")]
    TooLarge {
        /// The text.
        text: String,
        /// The name of the quantity.
        quantity: &'static str,
        /// The limit.
        limit: &'static str,
    },
    /// A rate of zero.
    #[error("a rate must be above zero, not \"{text}\"")]
    ZeroRate {
        /// The text.
        text: String,
    },
}

struct Quantity {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
    limit: f64,
    limit_in_words: &'static str,
}

const DURATION: Quantity = Quantity {
    name: "duration",
    example: "30 ms",
    units: &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)],
    // A hundred days: far beyond any run, and sums of two stay far below 2^63 ns.
    limit: 100.0 * 86_400.0 * NANOS_PER_SEC as f64,
    limit_in_words: "2400 h",
};

const RATE: Quantity = Quantity {
    name: "rate",
    example: "5 Mbit/s",
    units: &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12)],
    limit: 1e15,
    limit_in_words: "1000 Tbit/s",
};

const BYTES: Quantity = Quantity {
    name: "size",
    example: "64 kB",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1024.0 * 1024.0),
        ("GiB", 1024.0 * 1024.0 * 1024.0),
    ],
    limit: 1e15,
    limit_in_words: "1000000 GB",
};

/// Reads a length of time such as `30 ms`, rounded to whole nanoseconds.
///
/// # Errors
/// No unit, an unknown unit, a negative or unreadable number, more than a hundred days.
pub fn parse_duration(text: &str) -> Result<Duration, ParseQuantityError> {
    parse(text, &DURATION).map(Duration::from_nanos)
}

/// Reads a rate such as `5 Mbit/s`, rounded to whole bits per second.
///
/// # Errors
/// As [`parse_duration`], and a rate of zero.
pub fn parse_rate(text: &str) -> Result<Rate, ParseQuantityError> {
    let bps = parse(text, &RATE)?;
    Rate::from_bps(bps).ok_or_else(|| ParseQuantityError::ZeroRate { text: text.to_owned() })
}

/// Reads a size such as `64 kB` (1000 bytes to the kB, 1024 to the KiB), rounded to whole bytes.
///
/// # Errors
/// As [`parse_duration`].
pub fn parse_bytes(text: &str) -> Result<u64, ParseQuantityError> {
    parse(text, &BYTES)
}

fn parse(text: &str, quantity: &Quantity) -> Result<u64, ParseQuantityError> {
    let bad_number =
        || ParseQuantityError::BadNumber { text: text.to_owned(), quantity: quantity.name, example: quantity.example };
    let trimmed = text.trim();
    let split = split_at_unit(trimmed);
    if let Some(instead) = with_a_point(trimmed) {
        return Err(ParseQuantityError::Comma { text: text.to_owned(), instead });
    }
    let (number, unit) = (trimmed[..split].trim_end(), &trimmed[split..]);
    let number: f64 = number.parse().map_err(|_| bad_number())?;
    if unit.is_empty() {
        return Err(ParseQuantityError::MissingUnit { text: text.to_owned(), example: quantity.example });
    }
    let scale = quantity.units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale).ok_or_else(|| {
        let names: Vec<_> = quantity.units.iter().map(|(name, _)| *name).collect();
        ParseQuantityError::UnknownUnit { unit: unit.to_owned(), quantity: quantity.name, expected: names.join(", ") }
    })?;
    if !number.is_finite() || number.is_sign_negative() && number != 0.0 {
        return Err(bad_number());
    }
    let value = (number * scale).round();
    if value > quantity.limit {
        return Err(ParseQuantityError::TooLarge {
            text: text.to_owned(),
            quantity: quantity.name,
            limit: quantity.limit_in_words,
        });
    }
    Ok(value as u64)
}

/// Replaces the comma of a number at the beginning of a text, such as `0,5 ms`, by a point.
pub fn with_a_point(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(',')?;
    let digits = |part: &str| part.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && rest.starts_with(|c: char| c.is_ascii_digit())).then(|| format!("{whole}.{rest}"))
}

/// Where the unit starts: after the longest prefix made of the characters of a number.
/// An `e` belongs to the number only where an exponent follows it.
fn split_at_unit(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let in_number = match bytes[end] {
            b'0'..=b'9' | b'.' | b'_' => true,
            b'+' | b'-' => end == 0 || matches!(bytes[end - 1], b'e' | b'E'),
            b'e' | b'E' => {
                let rest = &bytes[end + 1..];
                let digits = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
                end > 0 && digits.first().is_some_and(u8::is_ascii_digit)
            }
            _ => false,
        };
        if !in_number {
            break;
        }
        end += 1;
    }
    end + text[end..].len() - text[end..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_with_units_are_read() {
        assert_eq!(parse_duration("30 ms").unwrap(), Duration::from_millis(30));
        assert_eq!(parse_duration("0.5s").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_duration("1e-3 s").unwrap(), Duration::from_millis(1));
        assert_eq!(parse_rate("5 Mbit/s").unwrap().as_bps(), 5_000_000);
        assert_eq!(parse_bytes("64 kB").unwrap(), 64_000);
        assert_eq!(parse_bytes("64 KiB").unwrap(), 65_536);
    }

    #[test]
    fn what_is_not_a_quantity_is_refused() {
        assert!(matches!(parse_duration("30"), Err(ParseQuantityError::MissingUnit { .. })));
        assert!(matches!(parse_duration("30 parsec"), Err(ParseQuantityError::UnknownUnit { .. })));
        assert!(matches!(parse_duration("-1 s"), Err(ParseQuantityError::BadNumber { .. })));
        assert!(matches!(parse_duration("ms"), Err(ParseQuantityError::BadNumber { .. })));
        assert!(matches!(parse_duration("1e30 s"), Err(ParseQuantityError::TooLarge { .. })));
        let message = parse_duration("0,5 ms").unwrap_err().to_string();
        assert!(message.starts_with("\"0,5 ms\" has a comma") && message.ends_with("\"0.5 ms\""), "{message}");
        assert!(matches!(parse_rate("0 bit/s"), Err(ParseQuantityError::ZeroRate { .. })));
        assert!(matches!(parse_rate("5 Mb/s"), Err(ParseQuantityError::UnknownUnit { .. })));
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        for nanos in [1, 999, 1_000, 62_083_200, 1_000_000_001, 86_400 * NANOS_PER_SEC] {
            let length = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&length.to_string()).unwrap(), length);
        }
    }
}
