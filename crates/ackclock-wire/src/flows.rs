//! The flows of a plan as their packets show them: whose a packet is, and the account of each flow.

use ackclock::qdisc::Ecn;
use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};

use crate::account::Account;
use crate::packet::{self, Ip, Segment};
use crate::side::Side;

/// The header of a packet of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// Index of its flow in the plan.
    pub flow: usize,
    /// Whether it goes to the receiver.
    pub is_forward: bool,
    /// Whether it carries data to the receiver.
    pub is_data: bool,
    /// Bytes on the wire.
    pub wire_len: u32,
    pub(crate) segment: Option<Segment>,
}

impl Header {
    /// The host that it goes to.
    pub fn to(&self) -> Side {
        if self.is_forward { Side::Receiver } else { Side::Sender }
    }
}

/// A packet that leaves a host.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Its header.
    pub header: Header,
    /// The ECN field.
    pub ecn: Ecn,
    /// A hash of its addresses and ports, where a program sent it.
    pub programs_hash: Option<u64>,
}

/// The flows of a plan.
#[derive(Clone, Debug)]
pub struct Flows {
    /// The account of each flow.
    pub accounts: Vec<Account>,
    /// Bytes on the wire in addition to IP's, by flow.
    beyond_ip: Vec<u32>,
}

impl Flows {
    /// Flows that have sent nothing.
    pub fn new(plan: &Plan) -> Self {
        let beyond_ip = plan
            .flows
            .iter()
            .map(|flow| flow.transport.framing + flow.transport.header.saturating_sub(2 * packet::IP_LEN as u32));
        Flows { accounts: vec![Account::default(); plan.flows.len()], beyond_ip: beyond_ip.collect() }
    }

    /// A packet leaves a host. Returns none if it belongs to no flow. Packets of a program belong to the flow that it
    /// replaces.
    pub fn depart(
        &mut self,
        now: Instant,
        from: Side,
        bytes: &[u8],
        programs_flow: Option<usize>,
    ) -> Option<Departure> {
        let ip = Ip::read(bytes)?;
        let far = match from {
            Side::Sender => Side::Receiver.flow(ip.destination),
            Side::Receiver => Side::Receiver.flow(ip.source),
        };
        let flow = far.filter(|flow| *flow < self.accounts.len()).or(programs_flow)?;
        let is_forward = from == Side::Sender;
        let is_programs = programs_flow == Some(flow);
        let segment = ip.segment(bytes);
        let wire_len = ip.len + self.beyond_ip[flow];
        let account = &mut self.accounts[flow];
        let is_data = match (&segment, is_forward) {
            _ if is_programs && is_forward => {
                let counters = &mut account.counters;
                counters.sent += 1;
                counters.wire_bytes += u64::from(wire_len);
                counters.in_flight += 1;
                true
            }
            (Some(segment), true) => account.sent(now, segment, wire_len),
            (_, true) => false,
            (_, false) => {
                account.answered(now);
                false
            }
        };
        let header = Header { flow, is_forward, is_data, wire_len, segment };
        Some(Departure { header, ecn: ip.ecn, programs_hash: is_programs.then(|| ip.flow_hash(bytes)) })
    }

    /// A packet has come to its host.
    pub fn arrive(&mut self, now: Instant, header: &Header, queueing: Duration, is_corrupted: bool, is_marked: bool) {
        let account = &mut self.accounts[header.flow];
        account.counters.in_flight -= u64::from(header.is_data);
        match (header.is_data, header.is_forward, is_corrupted) {
            (true, _, true) => account.counters.corrupted += 1,
            (true, _, false) => account.arrived(now, header.wire_len, queueing, is_marked),
            (false, false, true) => account.counters.acks_corrupted += 1,
            (false, false, false) => {
                if let Some(segment) = &header.segment {
                    account.acknowledged(now, segment, queueing);
                }
            }
            (false, true, _) => {}
        }
    }

    /// A packet is dropped or lost.
    pub fn lose(&mut self, header: &Header, is_access_drop: bool) {
        let counters = &mut self.accounts[header.flow].counters;
        if header.is_data {
            counters.lost += 1;
            counters.in_flight -= 1;
            counters.access_drops += u64::from(is_access_drop);
        } else if !header.is_forward {
            counters.acks_lost += 1;
        }
    }

    /// A link makes a copy of a packet.
    pub fn copy(&mut self, header: &Header) {
        if header.is_data {
            let counters = &mut self.accounts[header.flow].counters;
            counters.copies += 1;
            counters.in_flight += 1;
        }
    }
}
