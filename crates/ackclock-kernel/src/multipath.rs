//! Multipath TCP: the settings of the kernel's path manager, as messages of generic netlink (linux/mptcp_pm.h).
//!
//! The receivers' host announces an address for each further subflow, and the senders' host connects to it.

use ackclock::sim::Plan;
use ackclock_wire::Side;

use crate::netlink::{Message, attribute, attributes_of, text};

/// The controller of generic netlink, which knows the number of each family.
const CONTROLLER: u16 = libc::GENL_ID_CTRL as u16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const VERSION: u8 = 1;
/// Bytes of `struct genlmsghdr`.
const HEADER: usize = 4;

// Commands of the path manager, their attributes, and the attributes of an address.
const ADD_ADDRESS: u8 = 1;
const SET_LIMITS: u8 = 5;
const ADDRESS: u16 = 1;
const LIMIT_ANNOUNCED: u16 = 2;
const LIMIT_SUBFLOWS: u16 = 3;
const OF_FAMILY: u16 = 1;
const OF_IPV4: u16 = 3;
const OF_FLAGS: u16 = 6;
/// The address is announced to the peer.
const SIGNAL: u32 = 1;

/// Asks for the number of the path manager's family.
pub fn family() -> Message {
    Message::new(libc::NETLINK_GENERIC, CONTROLLER, 0, &header(GET_FAMILY)).with(FAMILY_NAME, &text("mptcp_pm"))
}

/// The number in an answer to [`family`].
pub fn family_number(answer: &[u8]) -> Option<u16> {
    let (_, number) = attributes_of(answer.get(HEADER..)?).find(|(kind, _)| *kind == FAMILY_ID)?;
    Some(u16::from_ne_bytes(number.get(..2)?.try_into().ok()?))
}

/// The settings of a host for the subflows of a plan.
pub fn settings(plan: &Plan, side: Side, family: u16) -> Vec<Message> {
    let message = |command: u8| Message::new(libc::NETLINK_GENERIC, family, 0, &header(command));
    let further = plan.kernel.subflows.get(1..).unwrap_or_default();
    let most = (further.len() as u32).to_ne_bytes();
    let limits = message(SET_LIMITS).with(LIMIT_ANNOUNCED, &most).with(LIMIT_SUBFLOWS, &most);
    let announced = further.iter().filter(|_| side == Side::Receiver).map(|flow| {
        message(ADD_ADDRESS).with_nested(
            ADDRESS,
            &[
                attribute(OF_FAMILY, &(libc::AF_INET as u16).to_ne_bytes()),
                attribute(OF_IPV4, &Side::Receiver.address(flow.number()).octets()),
                attribute(OF_FLAGS, &SIGNAL.to_ne_bytes()),
            ],
        )
    });
    std::iter::once(limits).chain(announced).collect()
}

fn header(command: u8) -> [u8; HEADER] {
    [command, VERSION, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

    #[test]
    fn the_receivers_host_announces_the_address_of_each_further_subflow() {
        let text = include_str!("../../../examples/multipath.toml");
        let turned = "kernel.mptcp=[\"over-lte\", \"over-wifi\"]";
        let plan = Scenario::from_toml(text, "multipath.toml", &[turned]).unwrap().plan(None, 0);
        assert_eq!(settings(&plan, Side::Sender, 30).len(), 1);
        let messages = settings(&plan, Side::Receiver, 30);
        let [_, announced] = &messages[..] else { panic!("{messages:?}") };
        // The protocol of netlink, the header with the family, the command, and the address of the first flow.
        let record = announced.record();
        assert_eq!((record[0], record[12], record[24]), (16, 30, ADD_ADDRESS));
        assert!(record.windows(8).any(|bytes| bytes == [8, 0, 3, 0, 10, 128, 0, 1]), "{record:?}");
    }

    #[test]
    fn the_number_of_the_family_is_in_the_answer() {
        let answer = [vec![1, 2, 0, 0], attribute(FAMILY_NAME, b"mptcp_pm\0"), attribute(FAMILY_ID, &[30, 0])].concat();
        assert_eq!(family_number(&answer), Some(30));
        assert_eq!(family_number(&[1, 2]), None);
    }
}
