//! Hops that clear the ECN field of packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ecn::Ecn;

/// The packets whose ECN field a hop clears. They leave it as not ECN-capable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bleaching {
    /// None of them.
    #[default]
    None,
    /// Packets with ECT(1).
    Ect1,
    /// All of them, also packets with a mark.
    All,
}

impl Bleaching {
    /// Whether the hop clears a field with this codepoint.
    #[inline]
    pub(super) fn clears(self, ecn: Ecn) -> bool {
        match self {
            Bleaching::None => false,
            Bleaching::Ect1 => ecn == Ecn::Ect1,
            Bleaching::All => ecn != Ecn::NotEct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_clears_one_codepoint_or_all() {
        let cleared =
            |bleaching: Bleaching| [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(|ecn| bleaching.clears(ecn));
        assert_eq!(cleared(Bleaching::None), [false; 4]);
        assert_eq!(cleared(Bleaching::Ect1), [false, true, false, false]);
        assert_eq!(cleared(Bleaching::All), [false, true, true, true]);
    }
}
