//! Files that users hand in: how large they may be, and the one way to open them.
//!
//! `ackclock.files.reading` has the same limits for Python, and a test compares them.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of a text: a scenario, a rule, a trace, a script.
pub const TEXT: u64 = 64 << 20;
/// Bytes of a compiled object.
pub const OBJECT: u64 = 4 << 20;
/// Bytes of a capture, which is read packet by packet.
pub const CAPTURE: u64 = 64 << 30;
/// Instructions of all programs of an object, with the functions that they call.
pub const INSTRUCTIONS: usize = 1 << 16;
/// Bytes of all global variables of an object, which each flow has a copy of.
pub const VARIABLES: usize = 1 << 20;
/// Bytes of a name in an object, as in the kernel (`KSYM_NAME_LEN`).
pub const NAME: usize = 512;

/// Opens a regular file of at most `most` bytes.
///
/// # Errors
/// An error of the system, another kind of file, or a larger file.
pub fn open(path: &Path, most: u64) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe without a writer would wait in `open`.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    require(metadata.len(), most)?;
    Ok(file)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`], and where the file grew meanwhile.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path, most)?.take(most + 1).read_to_end(&mut content)?;
    require(content.len() as u64, most)?;
    Ok(content)
}

fn require(size: u64, most: u64) -> Result<()> {
    if size > most {
        let mib = most >> 20;
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it is larger than {mib} MiB, the limit for such a file"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = std::env::temp_dir().join(format!("ackclock-input-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("three");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"abc");
        assert_eq!(read(&path, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(&folder, 3).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read(&folder.join("none"), 3).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        assert_eq!(read(Path::new("/dev/zero"), TEXT).unwrap_err().to_string(), "it is not a regular file");
        let name = std::env::temp_dir().join(format!("ackclock-pipe-{}", std::process::id()));
        assert!(std::process::Command::new("mkfifo").arg(&name).status().unwrap().success());
        let refused = read(&name, TEXT).unwrap_err().to_string();
        std::fs::remove_file(&name).unwrap();
        assert_eq!(refused, "it is not a regular file");
    }
}
