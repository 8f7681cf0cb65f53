//! The dimension of a number, as far as it is known.

use std::fmt;

/// Powers of segments, data (bits or bytes) and seconds.
///
/// A bare number or parameter may have any dimension, and so may a product with it. In `1 / w`, an increase of
/// segments, the 1 is in segments squared. Variables and numbers with a unit have known dimensions. Two known
/// dimensions that differ are a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    segments: i8,
    data: i8,
    seconds: i8,
}

impl Dimension {
    /// A plain number, as a truth is.
    pub const NUMBER: Dimension = Dimension { segments: 0, data: 0, seconds: 0 };
    /// Segments.
    pub const SEGMENTS: Dimension = Dimension { segments: 1, data: 0, seconds: 0 };
    /// Seconds.
    pub const SECONDS: Dimension = Dimension { segments: 0, data: 0, seconds: 1 };
    /// Bytes or bits.
    pub const DATA: Dimension = Dimension { segments: 0, data: 1, seconds: 0 };
    /// Bytes per segment.
    pub const SEGMENT_SIZE: Dimension = Dimension { segments: -1, data: 1, seconds: 0 };
    /// Bits per second.
    pub const RATE: Dimension = Dimension { segments: 0, data: 1, seconds: -1 };

    pub(super) fn times(self, other: Dimension) -> Option<Dimension> {
        Some(Dimension {
            segments: self.segments.checked_add(other.segments)?,
            data: self.data.checked_add(other.data)?,
            seconds: self.seconds.checked_add(other.seconds)?,
        })
    }

    pub(super) fn over(self, other: Dimension) -> Option<Dimension> {
        Some(Dimension {
            segments: self.segments.checked_sub(other.segments)?,
            data: self.data.checked_sub(other.data)?,
            seconds: self.seconds.checked_sub(other.seconds)?,
        })
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers = [(self.segments, "segments"), (self.data, "data"), (self.seconds, "seconds")];
        let part = |(power, name): (i8, &str)| match power.abs() {
            1 => name.to_owned(),
            power => format!("{name}^{power}"),
        };
        let list = |sign: i8| {
            let some = powers.into_iter().filter(|(power, _)| power.signum() == sign);
            some.map(part).collect::<Vec<_>>().join(" x ")
        };
        match (list(1).as_str(), list(-1).as_str()) {
            ("", "") => f.write_str("a plain number"),
            (above, "") => f.write_str(above),
            ("", below) => write!(f, "1 / {below}"),
            (above, below) => write!(f, "{above} / {below}"),
        }
    }
}
