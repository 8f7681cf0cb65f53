//! The bytes of a packet on a link behind the shaper: headers, a least size and cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cells of a link layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// Packets of any size.
    #[default]
    None,
    /// Cells of 53 bytes with 48 bytes of a packet, as on ADSL. The last cell is filled up.
    Atm,
    /// One byte more for each 64 bytes, as on VDSL2.
    Ptm,
}

/// How many bytes a packet takes on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes more than the packet has, or fewer.
    pub overhead: i32,
    /// Least bytes of a packet with its overhead.
    pub mpu: u32,
    /// Cells.
    pub cells: Cells,
}

impl Framing {
    /// Bytes of a packet on the link.
    #[inline]
    pub(super) fn len(self, packet: u32) -> u32 {
        let framed = packet.saturating_add_signed(self.overhead).max(self.mpu);
        match self.cells {
            Cells::None => framed,
            Cells::Atm => framed.div_ceil(48) * 53,
            Cells::Ptm => framed + framed.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_take_the_bytes_of_their_link_layer() {
        let plain = Framing { overhead: 0, mpu: 0, cells: Cells::None };
        let of = |framing: Framing| [40, 48, 1500].map(|packet| framing.len(packet));
        assert_eq!(of(plain), [40, 48, 1500]);
        assert_eq!(of(Framing { overhead: 38, mpu: 84, ..plain }), [84, 86, 1538]);
        assert_eq!(of(Framing { overhead: -14, ..plain }), [26, 34, 1486]);
        // PPPoE over ATM: 32 bytes more, in whole cells.
        assert_eq!(of(Framing { overhead: 32, cells: Cells::Atm, ..plain }), [2 * 53, 2 * 53, 32 * 53]);
        assert_eq!(of(Framing { cells: Cells::Ptm, ..plain }), [41, 49, 1524]);
    }
}
