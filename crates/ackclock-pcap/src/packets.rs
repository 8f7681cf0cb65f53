//! The packets of a file of pcap or pcapng, one after the other.

use std::io::Read;

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, InterfaceDescriptionBlock, Linktype, OptionCode, PcapBlockOwned, PcapError, create_reader};

use crate::error::NoCapture;

const BUFFER: usize = 1 << 18;
/// A packet of more is damage.
const MAX_BUFFER: usize = 1 << 25;
/// Later times, those after the year 2262, are damage.
const MAX_TIME_NS: u64 = i64::MAX as u64;

/// A packet as it was captured.
pub(crate) struct Packet<'a> {
    pub(crate) time_ns: u64,
    /// The number of its interface in the file.
    pub(crate) interface: u32,
    pub(crate) link: Linktype,
    /// The captured bytes.
    pub(crate) data: &'a [u8],
    /// Its length without a frame check sequence.
    pub(crate) orig_len: u32,
}

/// An interface of a section.
struct Interface {
    link: Linktype,
    /// Bytes of the frame check sequence behind every packet.
    fcs: u32,
    /// Units of time in a second, and seconds before.
    resolution: u64,
    offset: i64,
}

/// How a file ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// In the middle of a packet.
    Cut,
    /// At data that are not a packet.
    Damaged,
}

/// Calls `on_packet` for every packet, with None for one whose time or interface is not known.
pub(crate) fn for_each_packet(
    input: impl Read + Send,
    mut on_packet: impl FnMut(Option<Packet<'_>>),
) -> Result<End, NoCapture> {
    let mut reader = create_reader(BUFFER, input).map_err(|error| match error {
        PcapError::Eof => NoCapture::Empty,
        PcapError::ReadError => NoCapture::TooLong,
        PcapError::Incomplete(_) => NoCapture::Short,
        _ => NoCapture::Unknown,
    })?;
    let mut interfaces = Vec::new();
    loop {
        match reader.next() {
            Ok((used, block)) => {
                on_block(&block, &mut interfaces, &mut on_packet);
                reader.consume(used);
            }
            Err(PcapError::Eof) => return Ok(End::Whole),
            Err(PcapError::UnexpectedEof) => return Ok(End::Cut),
            Err(PcapError::ReadError) => return Err(NoCapture::TooLong),
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return Err(NoCapture::TooLong);
                }
            }
            Err(PcapError::BufferTooSmall) => {
                let size = 2 * reader.data().len().max(BUFFER);
                if size > MAX_BUFFER || !reader.grow(size) {
                    return Ok(End::Damaged);
                }
                if reader.refill().is_err() {
                    return Err(NoCapture::TooLong);
                }
            }
            Err(_) => return Ok(End::Damaged),
        }
    }
}

fn on_block(
    block: &PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
    on_packet: &mut impl FnMut(Option<Packet<'_>>),
) {
    const SECOND: u64 = 1_000_000_000;
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() { SECOND } else { SECOND / 1000 };
            let (link, fcs) = link_and_fcs(header.network);
            interfaces.push(Interface { link, fcs, resolution, offset: 0 });
        }
        PcapBlockOwned::Legacy(packet) => {
            let unit = interfaces.first().map_or(1, |interface| SECOND / interface.resolution);
            let time_ns = u64::from(packet.ts_sec) * SECOND + u64::from(packet.ts_usec) * unit;
            let kept = packet.data.len().min(packet.caplen as usize);
            on_packet(interfaces.first().map(|interface| Packet {
                time_ns,
                interface: 0,
                link: interface.link,
                data: &packet.data[..kept],
                orig_len: packet.origlen.saturating_sub(interface.fcs),
            }));
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => interfaces.push(Interface {
            link: interface.linktype,
            fcs: fcs_option(interface),
            resolution: interface.ts_resolution().filter(|resolution| *resolution > 0).unwrap_or(SECOND / 1000),
            offset: interface.ts_offset(),
        }),
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let interface = interfaces.get(packet.if_id as usize);
            on_packet(interface.and_then(|interface| {
                let units = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let ns = i128::try_from(units * u128::from(SECOND) / u128::from(interface.resolution)).ok()?;
                let time_ns = u64::try_from(ns + i128::from(interface.offset) * i128::from(SECOND)).ok()?;
                let orig_len = packet.origlen.saturating_sub(interface.fcs);
                let (link, data) = (interface.link, packet.packet_data());
                let known = Packet { time_ns, interface: packet.if_id, link, data, orig_len };
                (time_ns <= MAX_TIME_NS).then_some(known)
            }));
        }
        // It has no time.
        PcapBlockOwned::NG(Block::SimplePacket(_)) => on_packet(None),
        PcapBlockOwned::NG(_) => {}
    }
}

/// The link type and the bytes of the frame check sequence in the field of a pcap file.
///
/// draft-ietf-opsawg-pcap: the link type has 16 bits. If bit 26 is set, the upper four bits contain the length of the
/// sequence in units of 16 bits.
fn link_and_fcs(field: Linktype) -> (Linktype, u32) {
    const HAS_FCS: u32 = 1 << 26;
    let bits = field.0 as u32;
    let fcs = if bits & HAS_FCS == 0 { 0 } else { (bits >> 28) * 2 };
    (Linktype((bits & 0xffff) as i32), fcs)
}

/// The option `if_fcslen` of pcapng, in bits.
fn fcs_option(interface: &InterfaceDescriptionBlock<'_>) -> u32 {
    const IF_FCSLEN: OptionCode = OptionCode(13);
    let option = interface.options.iter().find(|option| option.code == IF_FCSLEN);
    option.and_then(|option| option.value.first()).map_or(0, |bits| u32::from(*bits) / 8)
}
