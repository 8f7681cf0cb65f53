//! The TCP header of a captured packet.

use std::net::IpAddr;

use ackclock::capture::TcpHeader;
use ackclock::units::Instant;
use etherparse::{
    EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpSlice, TransportSlice, ether_type,
};
use pcap_parser::Linktype;

use crate::left_out::LeftOut;
use crate::packets::Packet;

/// A TCP segment. The direction in its header is still unknown.
pub(crate) struct Segment {
    pub(crate) from: (IpAddr, u16),
    pub(crate) to: (IpAddr, u16),
    pub(crate) header: TcpHeader,
    /// The identification of IPv4, or 0 without one.
    pub(crate) ip_id: u16,
    /// The interface, and whether the packet came in or went out, as far as the file tells.
    pub(crate) place: (u32, u8),
}

/// Payload of a packet: the largest that Linux gives to a network card (BIG TCP) has 512 KiB.
const MAX_PAYLOAD: usize = 1 << 20;

/// Returns the segment that a packet holds.
pub(crate) fn decode(packet: &Packet<'_>) -> Result<Segment, LeftOut> {
    let sliced = slices(packet)?;
    let net = sliced.net.as_ref().ok_or(if sliced.stop_err.is_some() { LeftOut::Malformed } else { LeftOut::NotIp })?;
    let (from, to, ip_start, ip_len, protocol, fragment, ip_id) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (len, payload) = (usize::from(header.total_len()), ip.payload());
            let ends: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
            (
                ends.0,
                ends.1,
                start_of(header.slice()),
                len,
                payload.ip_number,
                payload.fragmented,
                header.identification(),
            )
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let len = usize::from(header.payload_length());
            let whole = if len == 0 { 0 } else { len + header.slice().len() };
            let (ends, payload): ((IpAddr, IpAddr), _) =
                ((header.source_addr().into(), header.destination_addr().into()), ip.payload());
            (ends.0, ends.1, start_of(header.slice()), whole, payload.ip_number, payload.fragmented, 0)
        }
        LaxNetSlice::Arp(_) => return Err(LeftOut::NotIp),
    };
    if fragment {
        return Err(LeftOut::Fragment);
    }
    let tcp = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => tcp,
        Some(TransportSlice::Udp(_)) => return Err(LeftOut::Udp),
        _ if protocol == IpNumber::TCP => return Err(LeftOut::HeaderCut),
        _ if protocol == IpNumber::UDP => return Err(LeftOut::Udp),
        _ => return Err(LeftOut::NotTcp),
    };
    let (base, tcp_start) = (start_of(packet.data), start_of(tcp.slice()));
    // Segments that are yet to be cut may have no length in their headers.
    let end = if ip_len == 0 { base + packet.orig_len as usize } else { ip_start + ip_len };
    let len = end.checked_sub(tcp_start + tcp.header_slice().len()).filter(|len| *len <= MAX_PAYLOAD);
    Ok(Segment {
        from: (from, tcp.source_port()),
        to: (to, tcp.destination_port()),
        header: header(packet.time_ns, tcp, len.ok_or(LeftOut::Malformed)? as u32),
        ip_id,
        place: place(packet),
    })
}

/// Where a packet was seen. Cooked captures have the direction, and version 2 the interface.
fn place(packet: &Packet<'_>) -> (u32, u8) {
    let data = packet.data;
    match packet.link {
        Linktype::LINUX_SLL => (packet.interface, data.get(1).copied().unwrap_or(0)),
        Linktype::LINUX_SLL2 => {
            let index = data.get(4..8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
            (index, data.get(10).copied().unwrap_or(0))
        }
        _ => (packet.interface, 0),
    }
}

/// The place of a slice within the memory that all slices of a packet share.
fn start_of(slice: &[u8]) -> usize {
    slice.as_ptr() as usize
}

fn slices<'a>(packet: &Packet<'a>) -> Result<LaxSlicedPacket<'a>, LeftOut> {
    const OLD_RAW: Linktype = Linktype(12);
    const OPENBSD_RAW: Linktype = Linktype(14);
    const OPENBSD_LOOP: Linktype = Linktype(108);
    let data = packet.data;
    let ip = |data: &'a [u8]| LaxSlicedPacket::from_ip(data).map_err(|_| LeftOut::NotIp);
    let by_type = |header: usize, at: usize| {
        let number = data.get(at..at + 2).ok_or(LeftOut::Malformed)?;
        let payload = data.get(header..).ok_or(LeftOut::Malformed)?;
        let ether_type = EtherType(u16::from_be_bytes([number[0], number[1]]));
        let is_ip = matches!(ether_type, ether_type::IPV4 | ether_type::IPV6);
        let is_tagged = matches!(
            ether_type,
            ether_type::VLAN_TAGGED_FRAME | ether_type::PROVIDER_BRIDGING | ether_type::VLAN_DOUBLE_TAGGED_FRAME
        );
        (is_ip || is_tagged).then(|| LaxSlicedPacket::from_ether_type(ether_type, payload)).ok_or(LeftOut::NotIp)
    };
    match packet.link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).map_err(|_| LeftOut::Malformed),
        Linktype::LINUX_SLL => by_type(16, 14),
        Linktype::LINUX_SLL2 => by_type(20, 0),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | OLD_RAW | OPENBSD_RAW => ip(data),
        // The family of addresses, whose number differs between systems.
        Linktype::NULL | OPENBSD_LOOP => ip(data.get(4..).ok_or(LeftOut::Malformed)?),
        Linktype(other) => Err(LeftOut::Link(other)),
    }
}

fn header(time_ns: u64, tcp: &TcpSlice<'_>, len: u32) -> TcpHeader {
    let mut header = TcpHeader {
        time: Instant::from_nanos(time_ns),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        len,
        syn: tcp.syn(),
        ends: tcp.fin() || tcp.rst(),
        window: tcp.window_size(),
        ..TcpHeader::default()
    };
    // Options after an unknown or invalid one are not needed.
    for option in tcp.options_iterator() {
        match option {
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => header.mss = Some(mss),
            Ok(TcpOptionElement::WindowScale(scale)) => header.window_scale = Some(scale),
            Ok(TcpOptionElement::Timestamp(clock, echo)) => header.timestamps = Some((clock, echo)),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, others)) => {
                header.sack[0] = first;
                let others = others.into_iter().flatten();
                header.sack[1..].iter_mut().zip(others).for_each(|(block, other)| *block = other);
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    header
}
