//! The ECN field of IP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A codepoint of the ECN field (RFC 3168 §5), with its two bits as value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, of a sender whose window responds in proportion to marks (RFC 9331: the L4S identifier).
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint of these two bits. Higher bits have no effect.
    #[inline]
    pub fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits.
    #[inline]
    pub fn bits(self) -> u8 {
        self as u8
    }

    /// Whether a queue may mark the packet instead of dropping it. A mark stays one.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// Whether a node treats the packet as L4S (RFC 9331 §5.1).
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_codepoint_is_its_bits() {
        for (bits, ecn) in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().enumerate() {
            assert_eq!((Ecn::from_bits(bits as u8), ecn.bits()), (ecn, bits as u8));
        }
        assert_eq!(Ecn::from_bits(0b1010_1001), Ecn::Ect1);
        assert_eq!([Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::is_l4s), [false, true, false, true]);
    }
}
