//! Kernel programs and their simulated counterparts have the same window within a segment after the same events.

mod events;
mod programs;
mod rules;

/// A file of the package.
fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../../python/ackclock/kernel/objects/{name}.bpf.o", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}
