//! Captures made of random bytes.

use crate::file::Capture;

/// Connections of a file that the fuzz target analyses.
const LOOKED_AT: usize = 8;

/// Reads bytes as a capture file and analyses its connections. Inputs neither panic nor require much memory.
pub fn fuzz_capture(data: &[u8]) {
    let Ok(capture) = Capture::from_bytes(data.to_vec()) else { return };
    for number in 0..capture.summary().flows.len().min(LOOKED_AT) {
        let Ok(seen) = capture.observe(number) else { continue };
        let counts = &seen.observed.counts;
        assert!(counts.retransmissions <= counts.segments, "{counts:?}");
        assert!(counts.spurious <= counts.retransmissions, "{counts:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the running kernel, as `examples/captures/README.md` says.
    const CAPTURE: &[u8] = include_bytes!("../../../examples/captures/linux-cubic.pcap");
    const HEADER: usize = 24;

    /// A stream of numbers (Knuth's MMIX).
    fn draw(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    #[test]
    fn changed_bytes_neither_panic_nor_take_memory() {
        let mut state = 7;
        for round in 0..60 {
            let mut bytes = CAPTURE[..CAPTURE.len() / 4].to_vec();
            // Changes mostly headers of packets, and sometimes the header of the file.
            let first = if round % 10 == 0 { 0 } else { HEADER };
            for _ in 0..1 + draw(&mut state) % 40 {
                let at = first + draw(&mut state) % (bytes.len() - first);
                bytes[at] = draw(&mut state) as u8;
            }
            fuzz_capture(&bytes);
        }
    }

    #[test]
    fn changed_numbers_and_times_neither_panic_nor_take_memory() {
        // A record has 16 bytes, then IP has 20, then TCP follows: time, length, numbers, flags, window and options.
        const FIELDS: [(usize, usize); 6] = [(0, 8), (18, 2), (40, 8), (48, 2), (50, 2), (56, 20)];
        let mut state = 11;
        for round in 0..60 {
            let mut bytes = CAPTURE[..CAPTURE.len() / 4].to_vec();
            let (field, len) = FIELDS[round % FIELDS.len()];
            let mut at = HEADER;
            while at + 16 <= bytes.len() {
                let kept = u32::from_le_bytes([bytes[at + 8], bytes[at + 9], bytes[at + 10], bytes[at + 11]]) as usize;
                if draw(&mut state).is_multiple_of(20) {
                    let place = at + field + draw(&mut state) % len;
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte ^= 1 << (draw(&mut state) % 8);
                    }
                }
                at += 16 + kept;
            }
            fuzz_capture(&bytes);
        }
    }
}
