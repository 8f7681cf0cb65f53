//! A recording as a file of pcapng (draft-ietf-opsawg-pcapng): one section, one interface with nanoseconds, raw IPv4.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{Connection, Recording};
use super::wire::Frame;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: packets begin with the header of IP.
const RAW_IP: u16 = 101;
const IPV4_NAME: u16 = 1;

const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
/// The time stamps are multiples of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// The contents of a file's first block.
#[derive(Clone, Copy, Debug)]
pub struct Header<'text> {
    /// The program that wrote it.
    pub application: &'text str,
    /// The description of the run.
    pub comment: &'text str,
    /// The largest number of bytes to keep of a packet. The headers of IP and TCP are always kept.
    pub snaplen: u32,
}

/// Headers of IP and TCP with all options.
const MOST_HEADERS: u32 = 20 + 60;

/// The bytes of the file.
pub fn pcapng(recording: &Recording, header: &Header) -> Vec<u8> {
    let mut file = begin(&recording.at, recording.packets.len(), header);
    block(&mut file, NAME_RESOLUTION, |body| names(recording, body));
    for frame in frames(recording) {
        block(&mut file, ENHANCED_PACKET, |body| packet(&frame, kept(header), body));
    }
    file
}

/// The same of packets that come as bytes, from a real network.
pub fn pcapng_of_bytes<'a>(
    at: &str,
    packets: impl ExactSizeIterator<Item = CapturedBytes<'a>>,
    header: &Header,
) -> Vec<u8> {
    let mut file = begin(at, packets.len(), header);
    for CapturedBytes { time_ns, bytes, len } in packets {
        let frame = Frame { time_ns, bytes: bytes.to_vec(), len, wire_len: len };
        block(&mut file, ENHANCED_PACKET, |body| packet(&frame, kept(header).min(bytes.len() as u32), body));
    }
    file
}

/// A packet of a real network.
#[derive(Clone, Copy, Debug)]
pub struct CapturedBytes<'a> {
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Its first bytes, from the header of IP on.
    pub bytes: &'a [u8],
    /// How many it has.
    pub len: u32,
}

/// Bytes of a packet that are kept.
fn kept(header: &Header) -> u32 {
    header.snaplen.max(MOST_HEADERS)
}

/// A file in which packets follow that were captured at a place.
fn begin(at: &str, packets: usize, header: &Header) -> Vec<u8> {
    let mut file = Vec::with_capacity(160 * packets + 4096);
    block(&mut file, SECTION, |body| {
        body.extend(BYTE_ORDER.to_le_bytes());
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend((-1_i64).to_le_bytes());
        option(body, OPT_COMMENT, header.comment.as_bytes());
        option(body, SHB_USERAPPL, header.application.as_bytes());
        body.extend([0; 4]);
    });
    block(&mut file, INTERFACE, |body| {
        body.extend(RAW_IP.to_le_bytes());
        body.extend([0; 2]);
        body.extend(kept(header).to_le_bytes());
        option(body, IF_NAME, at.as_bytes());
        option(body, IF_TSRESOL, &[NANOSECONDS]);
        body.extend([0; 4]);
    });
    file
}

/// The packets in the order of time, with handshakes before their connections.
fn frames(recording: &Recording) -> impl Iterator<Item = Frame> {
    let mut handshakes: Vec<Frame> = seen(recording).flat_map(Connection::handshake).collect();
    handshakes.sort_by_key(|frame| frame.time_ns);
    let mut handshakes = handshakes.into_iter().peekable();
    let mut packets = recording.packets.iter().enumerate().map(|(number, packet)| {
        recording.connections[packet.connection as usize].frame(packet, number as u16, &recording.ranges)
    });
    let mut next = packets.next();
    std::iter::from_fn(move || {
        let time = next.as_ref().map_or(u64::MAX, |frame| frame.time_ns);
        handshakes.next_if(|frame| frame.time_ns <= time).or_else(|| {
            let frame = next.take();
            next = packets.next();
            frame
        })
    })
}

/// The connections that have packets at the place of the capture.
fn seen(recording: &Recording) -> impl Iterator<Item = &Connection> {
    let places: BTreeSet<u32> = recording.packets.iter().map(|packet| packet.connection).collect();
    places.into_iter().map(|place| &recording.connections[place as usize])
}

/// The flows whose ends addresses are.
fn names(recording: &Recording, body: &mut Vec<u8>) {
    let flows: BTreeMap<u32, &Connection> = seen(recording).map(|connection| (connection.number, connection)).collect();
    for connection in flows.values() {
        for (of_sender, end) in [(true, "sender"), (false, "receiver")] {
            let mut value = connection.address(of_sender).to_vec();
            value.extend(format!("{}.{end}\0", connection.flow).bytes());
            option(body, IPV4_NAME, &value);
        }
    }
    body.extend([0; 4]);
}

fn packet(frame: &Frame, snaplen: u32, body: &mut Vec<u8>) {
    let captured = frame.len.min(snaplen);
    body.extend(0_u32.to_le_bytes());
    body.extend(((frame.time_ns >> 32) as u32).to_le_bytes());
    body.extend((frame.time_ns as u32).to_le_bytes());
    body.extend(captured.to_le_bytes());
    body.extend(frame.len.max(frame.wire_len).to_le_bytes());
    let begin = body.len();
    body.extend(&frame.bytes[..frame.bytes.len().min(captured as usize)]);
    body.resize((begin + captured as usize).next_multiple_of(4), 0);
}

/// Appends a block: its type, its length before and after, and the contents that `fill` writes between.
fn block(file: &mut Vec<u8>, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let begin = file.len();
    file.extend(kind.to_le_bytes());
    file.extend([0; 4]);
    fill(file);
    let len = (file.len() - begin + 4) as u32;
    file[begin + 4..begin + 8].copy_from_slice(&len.to_le_bytes());
    file.extend(len.to_le_bytes());
}

/// Appends an option or a record, padded to 32 bits. A longer one is cut off.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len() + value.len().next_multiple_of(4) - value.len(), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Packet, Segment};
    use crate::qdisc::Ecn;
    use crate::units::{Duration, Instant};

    const HEADER: Header = Header { application: "ackclock 1", comment: "a run", snaplen: 82 };

    fn recording(lens: &[u32]) -> Recording {
        let connection = Connection {
            flow: "noise".into(),
            number: 0,
            successor: 0,
            opened: Instant::ZERO,
            base_rtt: Duration::ZERO,
            distance: Duration::ZERO,
            transport: None,
        };
        let packet = |len: &u32| Packet {
            time: Instant::from_nanos(9),
            connection: 0,
            ecn: Ecn::NotEct,
            wire_len: *len,
            segment: Segment::Datagram { len: *len },
        };
        let packets = lens.iter().map(packet).collect();
        Recording { at: "bottleneck".into(), connections: vec![connection], packets, ..Recording::default() }
    }

    /// Types and bodies of the blocks, whose lengths in front and behind agree.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let mut blocks = Vec::new();
        let word = |bytes: &[u8], place: usize| u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
        while !file.is_empty() {
            let len = word(file, 4) as usize;
            assert_eq!((len % 4, word(file, len - 4) as usize), (0, len));
            blocks.push((word(file, 0), &file[8..len - 4]));
            file = &file[len..];
        }
        blocks
    }

    #[test]
    fn a_file_has_a_section_an_interface_names_and_packets() {
        let file = pcapng(&recording(&[1500, 40]), &HEADER);
        let blocks = blocks(&file);
        assert_eq!(blocks.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 4, 6, 6]);
        assert_eq!(blocks[0].1[..4], [0x4d, 0x3c, 0x2b, 0x1a]);
        assert_eq!(blocks[1].1[..8], [101, 0, 0, 0, 82, 0, 0, 0]);
        assert!(blocks[2].1.windows(12).any(|text| text == b"noise.sender"));
        // Of 1500 bytes 82 are kept, and padded; 1e18 + 9 ns are 0x0de0b6b3 a7640009.
        let (long, short) = (blocks[3].1, blocks[4].1);
        assert_eq!(long[4..12], [0xb3, 0xb6, 0xe0, 0x0d, 0x09, 0x00, 0x64, 0xa7]);
        assert_eq!((&long[12..20], long.len()), (&[82, 0, 0, 0, 0xdc, 5, 0, 0][..], 20 + 84));
        assert_eq!((&short[12..20], short.len()), (&[40, 0, 0, 0, 40, 0, 0, 0][..], 20 + 40));
    }

    #[test]
    fn a_connection_that_is_not_seen_has_no_handshake() {
        let mut recording = recording(&[40]);
        let elsewhere =
            Connection { number: 1, transport: Some(Default::default()), ..recording.connections[0].clone() };
        recording.connections.push(elsewhere);
        let file = pcapng(&recording, &HEADER);
        assert_eq!(blocks(&file).iter().filter(|(kind, _)| *kind == ENHANCED_PACKET).count(), 1);
        assert!(!file.windows(4).any(|bytes| bytes == [10, 0, 0, 2]));
    }

    #[test]
    fn headers_are_whole_whatever_is_kept() {
        let file = pcapng(&recording(&[1500]), &Header { snaplen: 0, ..HEADER });
        assert_eq!(blocks(&file)[1].1[4], 80);
    }

    #[test]
    fn a_comment_that_is_too_long_is_cut_off() {
        let comment = "x".repeat(70_000);
        let file = pcapng(&recording(&[]), &Header { comment: &comment, ..HEADER });
        assert_eq!(blocks(&file)[0].1[16..20], [1, 0, 0xff, 0xff]);
    }
}
