//! The folder of a run.

use std::path::{Path, PathBuf};

/// The place of the folders of runs. A guest also keeps its memory in such a folder.
const FOLDERS: &str = "/dev/shm";

/// The folder of a run, which it removes at its end.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one, which only this user may read.
    pub fn new() -> std::io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = Path::new(FOLDERS).join(format!("ackclock-guests-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                done => return done.map(|()| Folder(path)),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
