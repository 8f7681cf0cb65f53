//! The bytes of a file: as they are, or decompressed.

use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::{MAX_DECOMPRESSED, NoCapture};

/// Longer than the first bytes of every compression.
const MAGIC: usize = 6;
const GZIP: &[u8] = &[0x1f, 0x8b];
/// Compressions that are not read, and the command that decompresses them.
const OTHERS: [(&[u8], &str, &str); 3] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstd -d"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz", "xz -d"),
    (b"BZh", "bzip2", "bzip2 -d"),
];

/// A file, which is read again for every question.
pub(crate) enum Source {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Source {
    /// Opens a file. Only a regular file can be read twice.
    pub(crate) fn of_file(path: &Path) -> Result<Self, NoCapture> {
        let metadata = std::fs::metadata(path).map_err(NoCapture::Unreadable)?;
        if metadata.is_file() { Ok(Source::File(path.to_owned())) } else { Err(NoCapture::NotRegular) }
    }

    /// The decompressed bytes from the beginning, and whether the compressed bytes were found damaged.
    pub(crate) fn open(&self) -> Result<(Box<dyn Read + Send + '_>, Arc<AtomicBool>), NoCapture> {
        let mut raw: Box<dyn Read + Send + '_> = match self {
            Source::File(path) => Box::new(BufReader::new(
                ackclock_input::open(path, ackclock_input::CAPTURE).map_err(NoCapture::Unreadable)?,
            )),
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        };
        let mut start = Vec::with_capacity(MAGIC);
        raw.by_ref().take(MAGIC as u64).read_to_end(&mut start).map_err(NoCapture::Unreadable)?;
        if let Some((_, name, command)) = OTHERS.iter().find(|(magic, ..)| start.starts_with(magic)) {
            return Err(NoCapture::Compressed { by: name, command });
        }
        let is_compressed = start.starts_with(GZIP);
        let all = Cursor::new(start).chain(raw);
        let is_damaged = Arc::new(AtomicBool::new(false));
        if is_compressed {
            let decoder = MultiGzDecoder::new(all);
            let bounded = Decompressed { decoder, left: MAX_DECOMPRESSED, is_damaged: is_damaged.clone() };
            return Ok((Box::new(Filling(bounded)), is_damaged));
        }
        Ok((Box::new(Filling(all)), is_damaged))
    }
}

/// The decompressed bytes up to a bound. They end where the compressed bytes are damaged.
struct Decompressed<R> {
    decoder: MultiGzDecoder<R>,
    left: u64,
    is_damaged: Arc<AtomicBool>,
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.decoder.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.is_damaged.store(true, Ordering::Relaxed);
                0
            }
            read => read?,
        };
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other("too long"))?;
        Ok(read)
    }
}

/// Reads until the buffer is full or the bytes end. The parser treats a short first read as the whole file.
struct Filling<R>(R);

impl<R: Read> Read for Filling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}
