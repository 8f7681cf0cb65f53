//! The packets of a file of pcap or pcapng, one after the other.

use std::io::Read;

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

const BUFFER: usize = 1 << 18;
/// A packet of more is damage.
const MAX_BUFFER: usize = 1 << 25;

/// A packet as it was captured.
pub struct Packet<'a> {
    pub time_ns: u64,
    pub link: Linktype,
    /// What was kept of it.
    pub data: &'a [u8],
    /// Its length.
    pub orig_len: u32,
}

/// An interface of a section.
struct Interface {
    link: Linktype,
    /// Units of time in a second, and seconds before.
    resolution: u64,
    offset: i64,
}

/// Why a file is no capture.
#[derive(Debug)]
pub enum NoCapture {
    Empty,
    Unknown,
    Unreadable,
}

/// How a file ends.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    /// In the middle of a packet.
    Cut,
    /// By something that is no packet.
    Damaged,
}

/// Calls `on_packet` for every packet, with None for one whose time or interface is not known.
pub fn for_each_packet(
    input: impl Read + Send,
    mut on_packet: impl FnMut(Option<Packet<'_>>),
) -> Result<End, NoCapture> {
    let mut reader = create_reader(BUFFER, input).map_err(|error| match error {
        PcapError::Eof => NoCapture::Empty,
        PcapError::ReadError => NoCapture::Unreadable,
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
            Err(PcapError::ReadError) => return Err(NoCapture::Unreadable),
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return Err(NoCapture::Unreadable);
                }
            }
            Err(PcapError::BufferTooSmall) => {
                let size = 2 * reader.data().len().max(BUFFER);
                if size > MAX_BUFFER || !reader.grow(size) {
                    return Ok(End::Damaged);
                }
                if reader.refill().is_err() {
                    return Err(NoCapture::Unreadable);
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
            interfaces.push(Interface { link: header.network, resolution, offset: 0 });
        }
        PcapBlockOwned::Legacy(packet) => {
            let unit = interfaces.first().map_or(1, |interface| SECOND / interface.resolution);
            let time_ns = u64::from(packet.ts_sec) * SECOND + u64::from(packet.ts_usec) * unit;
            let kept = packet.data.len().min(packet.caplen as usize);
            on_packet(interfaces.first().map(|interface| Packet {
                time_ns,
                link: interface.link,
                data: &packet.data[..kept],
                orig_len: packet.origlen,
            }));
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => interfaces.push(Interface {
            link: interface.linktype,
            resolution: interface.ts_resolution().filter(|resolution| *resolution > 0).unwrap_or(SECOND / 1000),
            offset: interface.ts_offset(),
        }),
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let interface = interfaces.get(packet.if_id as usize);
            on_packet(interface.map(|interface| {
                let units = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let ns = (units * u128::from(SECOND) / u128::from(interface.resolution)) as u64;
                let time_ns = ns.saturating_add_signed(interface.offset.saturating_mul(SECOND as i64));
                Packet { time_ns, link: interface.link, data: packet.packet_data(), orig_len: packet.origlen }
            }));
        }
        // It has no time.
        PcapBlockOwned::NG(Block::SimplePacket(_)) => on_packet(None),
        PcapBlockOwned::NG(_) => {}
    }
}
