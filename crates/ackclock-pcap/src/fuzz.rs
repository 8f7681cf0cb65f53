//! Captures made of random bytes.

use crate::file::Capture;

/// Connections of a file that are looked at.
const LOOKED_AT: usize = 8;

/// Reads bytes as a capture file, and looks at its connections: no input panics or takes much memory.
pub fn fuzz_capture(data: &[u8]) {
    let Ok(capture) = Capture::from_bytes(data.to_vec()) else { return };
    for number in 0..capture.summary().flows.len().min(LOOKED_AT) {
        let Ok(seen) = capture.observe(number) else { continue };
        let counts = &seen.observed.counts;
        assert!(counts.retransmissions <= counts.segments, "{counts:?}");
        assert!(counts.spurious <= counts.retransmissions, "{counts:?}");
    }
}
