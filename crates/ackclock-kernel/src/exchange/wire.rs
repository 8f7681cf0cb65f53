//! Segments of a script as packets of IP, and back.

use std::net::Ipv4Addr;

use ackclock::ecn::Ecn;
use ackclock::exchange::{AccEcnCounters, Flags, Options, Packet};

const IP_LEN: usize = 20;
const TCP_LEN: usize = 20;
const TCP: u8 = 6;
const TTL: u8 = 64;
/// The window of an arriving segment for which a script gives none.
const LARGEST_WINDOW: u32 = 65_535;

// Kinds of options.
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WSCALE: u8 = 3;
const SACK_OK: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// RFC 9768 §3.2.3: the orders 0 and 1 of the counters.
const ACCECN_0: u8 = 172;
const ACCECN_1: u8 = 174;

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its port.
    pub port: u16,
}

/// A packet to the guest. `first` is the guest's initial sequence number.
pub fn packet(segment: &Packet, from: End, to: End, first: u32) -> Vec<u8> {
    let options = options(segment.options.as_ref(), first);
    let headers = IP_LEN + TCP_LEN + options.len();
    let len = headers + segment.len as usize;
    let mut bytes = Vec::with_capacity(len);
    bytes.extend([0x45, segment.ecn.unwrap_or_default().bits()]);
    bytes.extend((len as u16).to_be_bytes());
    // No identification, may not be split, no offset.
    bytes.extend([0, 0, 0x40, 0, TTL, TCP, 0, 0]);
    bytes.extend(from.address.octets());
    bytes.extend(to.address.octets());
    let checksum = !sum(&bytes);
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes.extend(from.port.to_be_bytes());
    bytes.extend(to.port.to_be_bytes());
    bytes.extend(segment.seq.to_be_bytes());
    bytes.extend(segment.ack.map_or(0, |ack| ack.wrapping_add(first)).to_be_bytes());
    let flags = segment.flags.bits();
    bytes.extend([(((TCP_LEN + options.len()) / 4) << 4) as u8 | (flags >> 8) as u8, flags as u8]);
    bytes.extend((segment.window.unwrap_or(LARGEST_WINDOW) as u16).to_be_bytes());
    // The device vouches for the checksum.
    bytes.extend([0; 4]);
    bytes.extend(options);
    bytes.resize(len, 0);
    bytes
}

fn options(given: Option<&Options>, first: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(given) = given else { return bytes };
    if let Some(mss) = given.mss {
        bytes.extend([MSS, 4]);
        bytes.extend((mss as u16).to_be_bytes());
    }
    if given.sack_ok {
        bytes.extend([SACK_OK, 2]);
    }
    if let Some((value, echo)) = given.timestamps {
        bytes.extend([TIMESTAMPS, 10]);
        bytes.extend(value.to_be_bytes());
        bytes.extend(echo.to_be_bytes());
    }
    if let Some(wscale) = given.wscale {
        bytes.extend([WSCALE, 3, wscale as u8]);
    }
    if !given.sack.is_empty() {
        bytes.extend([SACK, 2 + 8 * given.sack.len() as u8]);
        for edge in given.sack.iter().flat_map(|(start, end)| [start, end]) {
            bytes.extend(edge.wrapping_add(first).to_be_bytes());
        }
    }
    if let Some(AccEcnCounters { e0b, ceb, e1b }) = given.accecn {
        let (kind, counters) = if e0b.is_none() { (ACCECN_1, [e1b, ceb, e0b]) } else { (ACCECN_0, [e0b, ceb, e1b]) };
        let present = counters.iter().map_while(|counter| *counter);
        let content: Vec<u8> = present.flat_map(|counter| counter.to_be_bytes().into_iter().skip(1)).collect();
        bytes.extend([kind, 2 + content.len() as u8]);
        bytes.extend(content);
    }
    bytes.resize(bytes.len().next_multiple_of(4), END);
    bytes
}

/// A segment from the guest with the ends of its connection. Sequence numbers are those on the wire. None for other
/// packets.
pub fn segment(bytes: &[u8]) -> Option<(Packet, End, End)> {
    let header = usize::from(bytes.first()? & 15) * 4;
    let tcp = bytes.get(header..).filter(|tcp| tcp.len() >= TCP_LEN && bytes.len() >= IP_LEN && bytes[9] == TCP)?;
    let half = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
    let address = |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
    let offset = usize::from(tcp[12] >> 4) * 4;
    let flags = Flags::of_bits(half(12) & 0x1ff);
    let packet = Packet {
        ecn: Some(Ecn::from_bits(bytes[1])),
        flags,
        seq: word(4),
        len: tcp.len().checked_sub(offset)? as u32,
        ack: flags.has(Flags::ACK).then(|| word(8)),
        window: Some(u32::from(half(14))),
        options: Some(read_options(tcp.get(TCP_LEN..offset)?)),
    };
    Some((packet, End { address: address(12), port: half(0) }, End { address: address(16), port: half(2) }))
}

fn read_options(bytes: &[u8]) -> Options {
    let (mut options, mut rest) = (Options::default(), bytes);
    while let Some(kind) = rest.first().copied().filter(|kind| *kind != END) {
        if kind == NOP {
            rest = &rest[1..];
            continue;
        }
        let len = usize::from(rest.get(1).copied().unwrap_or(0));
        let Some(content) = rest.get(2..len) else { break };
        let number = |at: usize| {
            let bytes = content.get(at..).unwrap_or_default();
            bytes.iter().take(4).fold(0u32, |number, byte| number << 8 | u32::from(*byte))
        };
        let counter = |place: usize| {
            content
                .chunks_exact(3)
                .nth(place)
                .map(|part| u32::from(part[0]) << 16 | u32::from(part[1]) << 8 | u32::from(part[2]))
        };
        match kind {
            MSS => options.mss = Some(number(0)),
            WSCALE => options.wscale = Some(number(0)),
            SACK_OK => options.sack_ok = true,
            TIMESTAMPS => options.timestamps = Some((number(0), number(4))),
            SACK => {
                options.sack = (0..content.len() / 8).map(|block| (number(8 * block), number(8 * block + 4))).collect()
            }
            ACCECN_0 => options.accecn = Some(AccEcnCounters { e0b: counter(0), ceb: counter(1), e1b: counter(2) }),
            ACCECN_1 => options.accecn = Some(AccEcnCounters { e1b: counter(0), ceb: counter(1), e0b: counter(2) }),
            _ => {}
        }
        rest = &rest[len..];
    }
    options
}

/// The sum of RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    (sum + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_the_same_after_both_ways() {
        let (here, there) = (
            End { address: Ipv4Addr::new(10, 0, 0, 1), port: 8080 },
            End { address: Ipv4Addr::new(10, 128, 0, 1), port: 9 },
        );
        let options = Options {
            mss: Some(1000),
            sack_ok: true,
            wscale: Some(7),
            timestamps: Some((3, u32::MAX)),
            sack: vec![(1, 5), (9, u32::MAX)],
            accecn: None,
        };
        let counters = AccEcnCounters { e0b: Some(1), ceb: Some(0xff_ffff), e1b: Some(7) };
        for options in [options, Options { accecn: Some(counters), ..Options::default() }, Options::default()] {
            let sent = Packet {
                ecn: Some(Ecn::Ect0),
                flags: Flags::ACK.with(Flags::PSH).with(Flags::AE),
                seq: u32::MAX,
                len: 7,
                ack: Some(1),
                window: Some(257),
                options: Some(options),
            };
            let bytes = packet(&sent, there, here, 0);
            assert_eq!(sum(&bytes[..IP_LEN]), 0xffff);
            assert_eq!(segment(&bytes), Some((sent.clone(), there, here)));
            // Acknowledgements count from the guest's initial sequence number.
            let (moved, ..) = segment(&packet(&sent, there, here, 100)).unwrap();
            assert_eq!(moved.ack, Some(101));
        }
    }

    #[test]
    fn cut_packets_are_none() {
        let end = End { address: Ipv4Addr::LOCALHOST, port: 1 };
        let bytes = packet(&Packet { flags: Flags::SYN, ..Packet::default() }, end, end, 0);
        for len in 0..bytes.len() {
            assert_eq!(segment(&bytes[..len]), None, "{len}");
        }
    }
}
