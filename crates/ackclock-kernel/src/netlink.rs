//! Messages of netlink (RFC 3549), by which ackclock configures the kernel of a guest.

use std::io;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
const ALIGN: usize = 4;
/// Types of messages that answer.
const ERROR: u16 = libc::NLMSG_ERROR as u16;
const DONE: u16 = libc::NLMSG_DONE as u16;
/// NLMSGERR_ATTR_MSG: the kernel's reason as text.
const REASON: u16 = 1;
/// NLA_F_NESTED.
const NESTED: u16 = 1 << 15;

/// A message in the making. Attributes follow the fixed part.
#[derive(Clone, Debug)]
pub struct Message {
    protocol: u32,
    bytes: Vec<u8>,
}

impl Message {
    /// A request of this type with its fixed part. `flags` are in addition to those of a request with an answer.
    pub fn new(protocol: libc::c_int, kind: u16, flags: libc::c_int, fixed: &[u8]) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend(fixed);
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
        Message { protocol: protocol as u32, bytes }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, kind: u16, content: &[u8]) -> Self {
        self.bytes.extend(attribute(kind, content));
        self
    }

    /// Adds attributes within an attribute.
    #[must_use]
    pub fn with_nested(self, kind: u16, attributes: &[Vec<u8>]) -> Self {
        self.with(kind | NESTED, &attributes.concat())
    }

    /// `struct ackclock_netlink` of guest/agent/shared.h, with the message.
    pub fn record(&self) -> Vec<u8> {
        let mut record = [self.protocol.to_ne_bytes(), [0; 4]].concat();
        let mut bytes = self.bytes.clone();
        let len = bytes.len() as u32;
        bytes[..4].copy_from_slice(&len.to_ne_bytes());
        record.extend(bytes);
        record
    }
}

/// The bytes of an attribute.
pub fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let len = (4 + content.len()) as u16;
    let mut bytes = [len.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
    bytes
}

/// A text with its end, as attributes contain it.
pub fn text(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// The content of the messages that answer a request, without their headers.
///
/// # Errors
/// The kernel's error, with its reason if it gives one.
pub fn answers(bytes: &[u8]) -> Result<Vec<&[u8]>, String> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while rest.len() >= HEADER {
        let len = (number(rest, 0) as usize).clamp(HEADER, rest.len());
        let kind = number(rest, 4) as u16;
        let content = &rest[HEADER..len];
        if kind == ERROR && number(content, 0) != 0 {
            let error = io::Error::from_raw_os_error((number(content, 0) as i32).wrapping_neg());
            // The header of the request stands between the error and its attributes.
            let attributes = content.get(4 + HEADER..).unwrap_or_default();
            let reason = attributes_of(attributes).find(|(kind, _)| *kind == REASON);
            let reason = reason.map(|(_, text)| String::from_utf8_lossy(text).trim_end_matches('\0').to_owned());
            return Err(reason.map_or(error.to_string(), |reason| format!("{reason} ({error})")));
        }
        if kind != ERROR && kind != DONE {
            found.push(content);
        }
        rest = &rest[len.next_multiple_of(ALIGN).min(rest.len())..];
    }
    Ok(found)
}

/// The attributes in these bytes: their types and contents.
pub fn attributes_of(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let len = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?) & !NESTED;
        let content = rest.get(4..len)?;
        rest = rest.get(len.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some((kind, content))
    })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_length_and_aligned_attributes() {
        let message = Message::new(libc::NETLINK_ROUTE, 24, libc::NLM_F_CREATE, &[7; 3]).with(1, b"ab").with(2, b"");
        let record = message.record();
        assert_eq!(record.len(), 8 + HEADER + 4 + 8 + 4);
        assert_eq!(number(&record, 8), (HEADER + 16) as u32);
        assert_eq!(&record[24..36], [7, 7, 7, 0, 6, 0, 1, 0, b'a', b'b', 0, 0]);
    }

    #[test]
    fn answers_are_messages_or_an_error_with_its_reason() {
        let message = |kind: u16, content: &[u8]| {
            let len = (HEADER + content.len()) as u32;
            let mut bytes = len.to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.resize(HEADER, 0);
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
            bytes
        };
        let good = [message(40, b"text"), message(ERROR, &[0; 20])].concat();
        assert_eq!(answers(&good), Ok(vec![&b"text"[..]]));
        let mut content = (-libc::ENOENT).to_ne_bytes().to_vec();
        content.extend([0; HEADER]);
        content.extend(attribute(REASON, b"Specified qdisc kind is unknown\0"));
        let refused = answers(&message(ERROR, &content)).unwrap_err();
        assert_eq!(refused, "Specified qdisc kind is unknown (No such file or directory (os error 2))");
        assert_eq!(answers(&[1, 2, 3]), Ok(vec![]));
    }
}
