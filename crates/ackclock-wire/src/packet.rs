//! Packets of IPv4 and TCP as bytes: the fields that the emulator reads, and the two that it changes.

use ackclock::qdisc::Ecn;

/// Bytes of a header of IP without options.
pub const IP_LEN: usize = 20;
const TCP_LEN: usize = 20;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const SYN: u8 = 0x02;

/// The header of a packet of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Where it comes from.
    pub source: u32,
    /// Where it goes.
    pub destination: u32,
    /// Bytes.
    pub len: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Bytes of the header.
    header: usize,
    protocol: u8,
}

/// A segment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first byte.
    pub seq: u32,
    /// The next byte that it expects.
    pub ack: u32,
    /// Payload.
    pub len: u32,
    /// It opens a connection.
    pub syn: bool,
}

fn word(bytes: &[u8], place: usize) -> u16 {
    u16::from_be_bytes([bytes[place], bytes[place + 1]])
}

fn number(bytes: &[u8], place: usize) -> u32 {
    u32::from(word(bytes, place)) << 16 | u32::from(word(bytes, place + 2))
}

impl Ip {
    /// Reads the header, or returns none for anything but a whole IPv4 packet.
    pub fn read(bytes: &[u8]) -> Option<Ip> {
        if bytes.len() < IP_LEN || bytes[0] >> 4 != 4 {
            return None;
        }
        let (header, len) = (usize::from(bytes[0] & 0xf) * 4, u32::from(word(bytes, 2)));
        if header < IP_LEN || (len as usize) < header || len as usize > bytes.len() {
            return None;
        }
        let ecn = Ecn::from_bits(bytes[1]);
        Some(Ip { source: number(bytes, 12), destination: number(bytes, 16), len, ecn, header, protocol: bytes[9] })
    }

    /// The segment of TCP that it carries.
    pub fn segment(&self, bytes: &[u8]) -> Option<Segment> {
        let body = bytes.get(self.header..self.len as usize)?;
        if self.protocol != PROTOCOL_TCP || body.len() < TCP_LEN {
            return None;
        }
        let header = usize::from(body[12] >> 4) * 4;
        let len = body.len().checked_sub(header)? as u32;
        Some(Segment { seq: number(body, 4), ack: number(body, 8), len, syn: body[13] & SYN != 0 })
    }

    /// A number that packets with the same addresses, protocol and ports share, in either direction.
    pub fn flow_hash(&self, bytes: &[u8]) -> u64 {
        let has_ports = matches!(self.protocol, PROTOCOL_TCP | PROTOCOL_UDP) && self.len as usize >= self.header + 4;
        let ports = if has_ports { word(bytes, self.header) ^ word(bytes, self.header + 2) } else { 0 };
        let key = u64::from(self.source ^ self.destination) << 24 | u64::from(ports) << 8 | u64::from(self.protocol);
        // The finaliser of MurmurHash3.
        let mixed = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ mixed >> 33
    }
}

/// The ECN field.
pub fn ecn_of(bytes: &[u8]) -> Ecn {
    Ecn::from_bits(bytes[1])
}

/// Sets the ECN field, and updates the checksum.
pub fn set_ecn(bytes: &mut [u8], ecn: Ecn) {
    let before = word(bytes, 0);
    bytes[1] = bytes[1] & !Ecn::Ce.bits() | ecn.bits();
    let after = word(bytes, 0);
    // RFC 1624 §3: "HC' = ~(~HC + ~m + m')".
    let sum = u32::from(!word(bytes, 10)) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// Makes a bit wrong that the checksum of the transport covers, so that the host discards the packet.
pub fn corrupt(bytes: &mut [u8]) {
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of RFC 1071's kind: the sum of all words, its own checksum among them, is all ones.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(word(pair, 0))).sum::<u32>();
        ((words & 0xffff) + (words >> 16)) as u16
    }

    fn packet() -> Vec<u8> {
        let mut bytes = vec![0x45, 0x02, 0, 45, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 128, 0, 1];
        let checksum = !sum(&bytes);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        // Ports 80 and 5001, number 7, acknowledges 9, header of 5 words, SYN and ACK; 5 bytes of payload.
        bytes.extend([0, 80, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 0x12, 0, 0, 0, 0, 0, 0]);
        bytes.extend([1; 5]);
        bytes
    }

    #[test]
    fn headers_are_read() {
        let bytes = packet();
        let ip = Ip::read(&bytes).unwrap();
        assert_eq!((ip.source, ip.destination, ip.len, ip.ecn), (0x0a00_0001, 0x0a80_0001, 45, Ecn::Ect0));
        assert_eq!(ip.segment(&bytes), Some(Segment { seq: 7, ack: 9, len: 5, syn: true }));
        assert_eq!(Ip::read(&bytes[..44]), None, "cut off");
        assert_eq!(Ip::read(&[0x60; 60]), None, "IPv6");
    }

    #[test]
    fn both_directions_have_one_hash_and_other_ports_another() {
        let (one, mut back, mut other) = (packet(), packet(), packet());
        back[12..20].rotate_left(4);
        back[20..24].rotate_left(2);
        other[21] = 81;
        let hash = |bytes: &[u8]| Ip::read(bytes).unwrap().flow_hash(bytes);
        assert_eq!(hash(&one), hash(&back));
        assert_ne!(hash(&one), hash(&other));
    }

    #[test]
    fn another_ecn_field_keeps_the_checksum_right() {
        for tos in [0x01, 0x02, 0xfd] {
            let mut bytes = packet();
            bytes[1] = tos;
            bytes[10..12].fill(0);
            let checksum = !sum(&bytes[..IP_LEN]);
            bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
            assert_eq!(sum(&bytes[..IP_LEN]), 0xffff);
            for ecn in [Ecn::Ce, Ecn::NotEct] {
                set_ecn(&mut bytes, ecn);
                assert_eq!((Ip::read(&bytes).unwrap().ecn, sum(&bytes[..IP_LEN])), (ecn, 0xffff), "{tos:#x}");
            }
        }
    }

    #[test]
    fn a_corrupted_packet_keeps_its_headers() {
        let mut bytes = packet();
        corrupt(&mut bytes);
        assert_eq!((&bytes[..44], bytes[44]), (&packet()[..44], 0));
    }
}
