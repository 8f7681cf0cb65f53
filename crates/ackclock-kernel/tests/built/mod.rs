//! The kernel of the tests.

use std::path::PathBuf;

/// The kernel that was built last by `ackclock kernel build`.
pub fn kernel() -> Option<PathBuf> {
    let kernels = std::env::var_os("ACKCLOCK_KERNELS").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folder = kernels.or_else(|| Some(cache?.join("ackclock/kernels")))?;
    let built = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("linux")));
    built.filter(|path| path.is_file()).max_by_key(|path| path.metadata().and_then(|file| file.modified()).ok())
}
