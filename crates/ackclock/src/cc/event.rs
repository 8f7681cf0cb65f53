//! The events of the contract, one struct each.

use crate::units::{Duration, Instant, Rate};

/// A read-only view of the path: the sender's own measurements, after the event.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathView {
    /// Segments in flight (the pipe of RFC 6675).
    pub in_flight: u32,
    /// Their payload bytes.
    pub in_flight_bytes: u64,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Duration,
    /// The last measured round-trip time, zero before the first.
    pub latest_rtt: Duration,
    /// The smallest measured round-trip time, zero before the first.
    pub min_rtt: Duration,
}

/// A segment was handed to the network.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Payload bytes.
    pub bytes: u32,
    /// True for data sent before.
    pub retransmission: bool,
    /// The time since the departure before, if there was one and no other segment is in flight.
    pub idle_for: Option<Duration>,
    /// The path, with this segment in flight.
    pub path: PathView,
}

impl Sent {
    /// True if no other segment is in flight, as for Linux's `CA_EVENT_TX_START`.
    #[inline]
    pub fn follows_idle(&self) -> bool {
        is_alone(self.path.in_flight)
    }
}

/// True if a segment that left is the only one of `in_flight` segments.
#[inline]
pub(crate) fn is_alone(in_flight: u32) -> bool {
    in_flight <= 1
}

/// The departures that an algorithm learns of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departures {
    /// None.
    None,
    /// The first ones after nothing was in flight ([`Sent::follows_idle`]).
    AfterIdle,
    /// All.
    All,
}

impl Departures {
    /// True if the algorithm learns of a departure after which `in_flight` segments are in flight.
    #[inline]
    pub(crate) fn include(self, in_flight: u32) -> bool {
        match self {
            Departures::None => false,
            Departures::AfterIdle => is_alone(in_flight),
            Departures::All => true,
        }
    }
}

/// An ACK with new information.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When.
    pub now: Instant,
    /// Segments that this ACK may add to the window's growth. An ACK of new data counts as one segment. With byte
    /// counting (RFC 3465), it counts as many as it acknowledges. A duplicate ACK counts zero.
    pub acked: f64,
    /// Segments newly known to be delivered, cumulatively or selectively.
    pub newly_delivered: u32,
    /// Segments newly marked as lost.
    pub newly_lost: u32,
    /// Packets newly reported as CE-marked. Only AccECN (RFC 9768) counts them.
    pub ce_count: u32,
    /// True if the ACK echoes a mark. AccECN echoes each mark once. RFC 3168 echoes it until the sender's answer
    /// arrives. The sender also signals echoes as congestion, once per window.
    pub ece: bool,
    /// True on the first ACK of data sent after the previous round's end.
    pub round_ended: bool,
    /// True if the window limited the sender, and not the application or the receiver.
    pub cwnd_limited: bool,
    /// True during loss recovery.
    pub in_recovery: bool,
    /// The window of a reduction before the ACK, in segments. None without a reduction (RFC 9937).
    pub reduced_window: Option<u32>,
    /// The delivery rate seen by the newest segment delivered, for an algorithm that
    /// [needs it](super::CongestionControl::needs_rate_samples).
    pub rate: Option<RateSample>,
    /// The state of loss recovery after the ACK.
    pub state: CaState,
    /// The path, after the ACK.
    pub path: PathView,
}

#[cfg(any(test, feature = "fuzz"))]
impl Ack {
    /// An ACK that counts for `acked` segments, of a window that was used, outside of recovery.
    pub(super) fn of(acked: f64) -> Self {
        Ack {
            now: Instant::ZERO,
            acked,
            newly_delivered: 1,
            newly_lost: 0,
            ce_count: 0,
            ece: false,
            round_ended: false,
            cwnd_limited: true,
            in_recovery: false,
            reduced_window: None,
            rate: None,
            state: CaState::Open,
            path: PathView::default(),
        }
    }
}

/// A transmission is considered lost: the packet of `BBRHandleLostPacket` in draft-ietf-ccwg-bbr.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it is detected.
    pub now: Instant,
    /// Payload bytes.
    pub bytes: u32,
    /// True for data sent before: each transmission may be lost.
    pub retransmission: bool,
    /// Payload bytes in flight when it was sent, with itself: the draft's `P.tx_in_flight`.
    pub tx_in_flight: u64,
    /// Payload bytes lost since it was sent, with itself: `C.lost - P.lost`.
    pub lost: u64,
    /// True if the application, not the network, limited the sender when it was sent.
    pub app_limited: bool,
    /// The path.
    pub path: PathView,
}

/// The state of loss recovery, with Linux's names (`tcpi_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// Nothing unusual.
    Open,
    /// Duplicate ACKs or SACK blocks, fewer than show a loss.
    Disorder,
    /// The window was cut for a mark in the current window of data.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Everything in flight was given up.
    Loss,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr §4.1), in bytes of payload.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Payload bytes delivered over `interval`.
    pub delivered: u64,
    /// The longer of the send and the ACK interval, never zero.
    pub interval: Duration,
    /// Total payload bytes delivered when the newest delivered segment was sent.
    pub prior_delivered: u64,
    /// Payload bytes that this ACK delivers, cumulatively or selectively: `RS.newly_acked`.
    pub newly_acked: u64,
    /// Payload bytes in flight when that segment was sent, with itself: `RS.tx_in_flight`.
    pub tx_in_flight: u64,
    /// Payload bytes lost since then: `RS.lost`.
    pub lost: u64,
    /// Payload bytes newly reported as marked, by this ACK and earlier ACKs without a sample. Only AccECN (RFC 9768)
    /// counts them. Under RFC 3168 the value is 0, and [`Ack::ece`] reports only that a mark arrived since the
    /// sender's last answer.
    pub newly_ce: u64,
    /// The marked bytes among `delivered`, as far as ACKs have reported them (Linux's `delivered_ce`, in bytes). The
    /// value never exceeds `delivered`. A receiver may report more, for duplicates or for data without room in a SACK
    /// block.
    pub delivered_ce: u64,
    /// True if the application, not the network, limited the sample.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate of the sample in bits per second, rounded down.
    pub fn rate(&self) -> Option<Rate> {
        let bits = u128::from(self.delivered) * 8 * u128::from(crate::units::NANOS_PER_SEC);
        Rate::from_bps((bits / u128::from(self.interval.as_nanos())) as u64)
    }
}

/// Congestion was detected.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When.
    pub now: Instant,
    /// The sign of congestion.
    pub kind: CongestionKind,
    /// How the sender continues.
    pub restart: Restart,
    /// Segments sent and not acknowledged (RFC 5681's FlightSize).
    pub flight_size: u32,
    /// The path, before any retransmission.
    pub path: PathView,
}

/// The sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// Duplicate or selective ACKs showed a loss.
    Loss,
    /// A router marked a packet.
    Ecn,
    /// The retransmission timer expired, or, over QUIC, persistent congestion was found (RFC 9002 §7.6.2).
    Timeout,
}

/// How a sender continues after a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// At the reduced window.
    Reduced,
    /// At one segment, in slow start (timeouts, and every loss in Tahoe).
    SlowStart,
    /// At one segment, after a cut in the same window of data: ssthresh stays (RFC 3168 §6.1.2).
    SlowStartAgain,
    /// Window and ssthresh are both one segment, with congestion avoidance from there. Only an option requests it,
    /// and overrides RFC 5681's lower bound of two segments (a repeated timeout in jasem-efficiency-fairness).
    OneSegment,
}

/// Loss recovery begins, ends or is undone.
#[derive(Clone, Copy, Debug)]
pub struct Recovery {
    /// When.
    pub now: Instant,
    /// Segments sent and not acknowledged (RFC 5681's FlightSize).
    pub flight_size: u32,
    /// The path.
    pub path: PathView,
}

/// The sender changed its phase.
#[derive(Clone, Copy, Debug)]
pub struct PhaseChange {
    /// When.
    pub now: Instant,
    /// The phase it leaves.
    pub from: Phase,
    /// The phase it enters.
    pub to: Phase,
}

/// The phase of a sender, as written into samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The window is below ssthresh.
    #[default]
    SlowStart,
    /// The window is at or above ssthresh.
    CongestionAvoidance,
    /// Fast recovery: losses shown by duplicate or selective ACKs are repaired.
    FastRecovery,
    /// The retransmission timer expired, and the losses are repaired. The papers and the samples call it exponential
    /// back-off.
    RtoRecovery,
}

impl Phase {
    /// Names, in the order of the discriminants.
    pub const NAMES: [&'static str; 4] = ["slow-start", "congestion-avoidance", "fast-recovery", "exponential-backoff"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_gives_bits_per_second() {
        // 12 500 bytes in 10 ms, and 1 byte in 3 s.
        let rate = |delivered, millis| {
            let interval = Duration::from_millis(millis);
            let sample = RateSample {
                delivered,
                interval,
                prior_delivered: 0,
                newly_acked: delivered,
                tx_in_flight: delivered,
                lost: 0,
                newly_ce: 0,
                delivered_ce: 0,
                app_limited: false,
            };
            sample.rate()
        };
        assert_eq!((rate(12_500, 10), rate(1, 3_000)), (Rate::from_bps(10_000_000), Rate::from_bps(2)));
    }
}
