//! The timestamps of a script and of its host, whose values begin at different numbers.

use super::packet::Packet;

/// Converts values of timestamps. The first value that a script expects determines the offset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timestamps {
    /// The offset of the script's values from the host's.
    offset: Option<u32>,
    /// The first and the last value that the host has sent.
    first: Option<u32>,
    last: u32,
}

impl Timestamps {
    /// The host has sent a segment.
    pub fn sent(&mut self, packet: &Packet) {
        if let Some((value, _)) = packet.options.as_ref().and_then(|options| options.timestamps) {
            self.first.get_or_insert(value);
            self.last = value;
        }
    }

    /// A segment of the host with the script's values.
    pub fn in_script(&mut self, sent: &Packet, expected: &Packet) -> Packet {
        let mut packet = sent.clone();
        if let Some((value, _)) = packet.options.as_mut().and_then(|options| options.timestamps.as_mut()) {
            let given = expected.options.as_ref().and_then(|options| options.timestamps);
            if let (None, Some((given, _))) = (self.offset, given) {
                self.offset = Some(given.wrapping_sub(*value));
            }
            *value = value.wrapping_add(self.offset.unwrap_or(0));
        }
        packet
    }

    /// A segment of the script with the host's values. Before the script gives a value, an echo of the host's first
    /// value stays. Any other segment then echoes the last one.
    pub fn in_host(&mut self, packet: &Packet) -> Packet {
        let mut packet = packet.clone();
        // RFC 7323 §3.2: "The TSecr field is valid if the ACK bit (A) is set in the TCP header."
        if packet.ack.is_some()
            && let Some((_, echo)) = packet.options.as_mut().and_then(|options| options.timestamps.as_mut())
        {
            let last = if self.first == Some(*echo) { *echo } else { self.last };
            let offset = *self.offset.get_or_insert(echo.wrapping_sub(last));
            *echo = echo.wrapping_sub(offset);
        }
        packet
    }
}
