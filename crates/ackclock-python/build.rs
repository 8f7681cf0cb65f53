//! Computes the fingerprint of the sources, so that results of different engines stay separate.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3;

/// The sources of the results, relative to this crate.
const SOURCES: [&str; 7] = [
    "../ackclock/Cargo.toml",
    "../ackclock/src",
    "../ackclock-scenario/src",
    "../ackclock-bpf/src",
    "../ackclock-linux/src",
    "../ackclock-pcap/src",
    "src",
];

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        collect(Path::new(source), &mut files)?;
    }
    // The order of a directory is the file system's own.
    files.sort();
    let mut hash = Xxh3::new();
    for file in &files {
        hash.update(&fs::read(file)?);
    }
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rustc-env=ACKCLOCK_BUILD={version}+{:016x}", hash.digest());
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
