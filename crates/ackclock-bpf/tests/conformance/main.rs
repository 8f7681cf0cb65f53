//! Programs for the kernel and what they are in the simulator, fed the same events, have the same window within a segment.

mod events;
mod programs;
mod rules;

/// A file of the package.
fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../../python/ackclock/kernel/objects/{name}.bpf.o", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}
