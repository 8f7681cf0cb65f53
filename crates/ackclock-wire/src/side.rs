//! The two hosts of a run, and the address of each flow on each of them.

use std::net::Ipv4Addr;

/// The two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side of the senders.
    Sender,
    /// The side of the receivers.
    Receiver,
}

impl Side {
    fn base(self) -> u32 {
        match self {
            Side::Sender => 10 << 24,
            Side::Receiver => 10 << 24 | 1 << 23,
        }
    }

    /// The address of the flow with this index.
    pub fn address(self, flow: usize) -> Ipv4Addr {
        Ipv4Addr::from(self.base() + flow as u32 + 1)
    }

    /// The flow whose address it is.
    pub fn flow(self, address: u32) -> Option<usize> {
        let place = address.wrapping_sub(self.base());
        (place > 0 && place < 1 << 23).then(|| place as usize - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_an_address_on_each_side() {
        for side in [Side::Sender, Side::Receiver] {
            for flow in [0, 1, 300, 70_000] {
                assert_eq!(side.flow(u32::from(side.address(flow))), Some(flow));
            }
        }
        assert_eq!(Side::Sender.address(0), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(Side::Receiver.address(255), Ipv4Addr::new(10, 128, 1, 0));
        assert_eq!(Side::Sender.flow(u32::from(Side::Receiver.address(0))), None);
        assert_eq!(Side::Receiver.flow(u32::from(Ipv4Addr::LOCALHOST)), None);
    }
}
