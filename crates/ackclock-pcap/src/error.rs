//! Files that are not captures.

use std::{fmt, io};

/// Bytes that a compressed file may have when it is decompressed.
pub const MAX_DECOMPRESSED: u64 = 8 << 30;

/// Bytes of the header of a pcap file.
const PCAP_HEADER: usize = 24;

/// The reason why a file is not a capture.
#[derive(Debug)]
pub enum NoCapture {
    /// It has no bytes.
    Empty,
    /// It is shorter than a header.
    Short,
    /// It begins like neither format.
    Unknown,
    /// A compression that is not read, and the command that decompresses it.
    Compressed {
        /// Its name.
        by: &'static str,
        /// The command.
        command: &'static str,
    },
    /// It is longer than [`MAX_DECOMPRESSED`] when it is decompressed.
    TooLong,
    /// A pipe, a device or a folder, which cannot be read twice.
    NotRegular,
    /// The system says so.
    Unreadable(io::Error),
}

impl fmt::Display for NoCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HINT: &str = "a capture is a file that tcpdump -w writes";
        match self {
            NoCapture::Empty => write!(f, "is empty; {HINT}"),
            NoCapture::Short => write!(f, "is shorter than a header of pcap, {PCAP_HEADER} bytes; {HINT}"),
            NoCapture::Unknown => write!(f, "is neither pcap nor pcapng; {HINT}"),
            NoCapture::Compressed { by, command } => {
                write!(f, "is compressed by {by}, and only gzip is supported; decompress it first: {command} FILE")
            }
            NoCapture::TooLong => {
                let limit = MAX_DECOMPRESSED >> 30;
                write!(f, "has more than {limit} GiB when decompressed; decompress it first: gzip -d FILE")
            }
            NoCapture::NotRegular => f.write_str("is not a regular file, and a capture is read twice"),
            NoCapture::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}
