//! The contract between an encoder, feedback per packet, and an algorithm that sets the rate of the encoder.

use crate::units::{Duration, Instant, Rate};

/// An algorithm for media. It sets the rate of an encoder, in addition to window and pacing rate.
pub trait MediaControl {
    /// The rate of an encoder in payload, none before the first measurement.
    fn target_rate(&self) -> Option<Rate>;

    /// The encoder hands over a frame. An algorithm without frames has no encoder.
    fn on_frame(&mut self, frame: &MediaFrame);

    /// A feedback packet reports these packets for the first time. Only RTP has such feedback. The call precedes
    /// `on_ack` for the same feedback packet.
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]);
}

/// A frame that an encoder produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaFrame {
    /// When.
    pub now: Instant,
    /// Payload bytes.
    pub bytes: u64,
    /// The age of the oldest frame that has not left.
    pub waiting: Duration,
    /// The time between two frames.
    pub interval: Duration,
    /// The smallest rate of the encoder.
    pub least: Rate,
    /// The largest rate of the encoder.
    pub most: Rate,
}

/// The report about a packet (RFC 8888).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketReport {
    /// Its number.
    pub number: u64,
    /// Payload bytes.
    pub bytes: u32,
    /// When it left, by the clock of the sender.
    pub sent_at: Instant,
    /// When it arrived, by the clock of the receiver and with the resolution of the report.
    pub arrived_at: Instant,
    /// True if it arrived with a mark.
    pub is_marked: bool,
}

impl PacketReport {
    /// A substitute for transports without reports: the packet of a measured round trip arrives with its ACK at `now`.
    ///
    /// The delay is then a round-trip time.
    pub(super) fn of_round_trip(now: Instant, rtt: Duration, bytes: u32) -> Self {
        let sent_at = Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()));
        PacketReport { number: 0, bytes, sent_at, arrived_at: now, is_marked: false }
    }
}
