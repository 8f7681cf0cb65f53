//! The timing of IEEE 802.11's distributed coordination function (DCF).
//!
//! Source: IEEE Std 802.11-2012, 9.3 (DCF), 17 (802.11b), 18 (OFDM of 802.11a), 19 (802.11g).

use crate::units::{Duration, NANOS_PER_SEC, Rate};

/// The bytes of a request to send, and of the clear to send that answers it.
const RTS_BYTES: u32 = 20;
const CTS_BYTES: u32 = 14;
/// Bytes before each packet of an aggregate. All packets but the last are padded to a multiple of them.
const DELIMITER_BYTES: u64 = 4;
/// Additional bits of an OFDM frame: SERVICE and tail.
const OFDM_BITS: u64 = 16 + 6;

/// How stations contend for a channel, and how long their frames take.
#[derive(Clone, Debug, PartialEq)]
pub struct Dcf {
    /// A step of the backoff.
    pub slot: Duration,
    /// Between a frame and its answer.
    pub sifs: Duration,
    /// Idle time of the channel before counters resume.
    pub difs: Duration,
    /// Propagation delay between any two stations.
    pub propagation: Duration,
    /// The contention window of a new frame: counters are drawn from 0 to this.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    /// Retransmissions of a frame at most.
    pub retries: u32,
    /// Preamble and header of the physical layer, before every frame of data.
    pub phy_header: Duration,
    /// The same before responses and requests.
    pub answer_header: Duration,
    /// Signal extension of the physical layer after every frame.
    pub phy_trailer: Duration,
    /// Length of an OFDM symbol of data, or none if bits are sent one by one.
    pub symbol: Option<Duration>,
    /// The same of responses and requests.
    pub answer_symbol: Option<Duration>,
    /// Additional bytes of each packet: MAC header, frame check sequence, and the headers between.
    pub mac_header: u32,
    /// Bytes of an ACK.
    pub ack: u32,
    /// Rates of responses and requests, ascending: the highest that does not exceed the data rate, or the lowest.
    pub basic_rates: Vec<Rate>,
    /// Effect of a busy period on the counters of other stations.
    pub countdown: Countdown,
    /// Interframe space after a transmission without an ACK.
    pub after_failure: AfterFailure,
    /// Size in bytes from which RTS and CTS precede frames, or none to disable both.
    pub rts_threshold: Option<u32>,
    /// Packets in a transmission at most, and in the window of the block ACK.
    pub aggregate: u32,
    /// Bytes in a transmission of several packets at most.
    pub aggregate_bytes: u64,
    /// Duration of a frame of several packets at most.
    pub aggregate_time: Duration,
    /// Probability that a transmission that collides with no other arrives with wrong bits, in 0 ..= 1.
    pub frame_errors: f64,
    /// The same for each packet of a transmission that arrives, in 0 ..= 1.
    pub packet_errors: f64,
}

/// Effect of a busy period on the counters of stations that do not send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Countdown {
    /// No effect: counters continue where they stopped, with the first idle slot after the DIFS (the standard).
    #[default]
    Freezes,
    /// It counts as one slot (Bianchi's chain).
    CountsBusy,
}

/// Interframe space after a transmission without an ACK, before counters resume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// EIFS: SIFS, an ACK at the lowest basic rate, and DIFS. Senders wait for the ACK as long.
    #[default]
    Eifs,
    /// DIFS (Bianchi).
    Difs,
}

/// A frame in flight, from the beginning of its first transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The time on the air until other stations can detect a collision.
    pub exposed: Duration,
    /// The time until the packet arrives at the far end.
    pub arrival: Duration,
    /// The time until the ACK arrives.
    pub end: Duration,
}

impl Dcf {
    /// The contention window after consecutive failures.
    pub fn window(&self, failures: u32) -> u32 {
        let widest = u64::from(self.cw_max) + 1;
        let doubled = (u64::from(self.cw_min) + 1).checked_shl(failures).filter(|_| failures < 32);
        (doubled.unwrap_or(widest).min(widest) - 1) as u32
    }

    /// Duration of a data frame at a rate, in whole nanoseconds, rounded up.
    pub fn airtime(&self, bytes: u64, rate: Rate) -> Duration {
        self.phy_header + body(bytes, rate, self.symbol) + self.phy_trailer
    }

    /// Duration of a response or a request.
    fn answer_airtime(&self, bytes: u32, rate: Rate) -> Duration {
        self.answer_header + body(u64::from(bytes), rate, self.answer_symbol) + self.phy_trailer
    }

    /// Bytes in a transmission of several packets at most, at a rate.
    pub(super) fn room(&self, rate: Rate) -> u64 {
        let overhead = self.phy_header + self.phy_trailer;
        let left = self.aggregate_time.as_nanos().saturating_sub(overhead.as_nanos());
        let whole = self.symbol.map_or(left, |symbol| left / symbol.as_nanos() * symbol.as_nanos());
        let bits = u128::from(rate.as_bps()) * u128::from(whole) / u128::from(NANOS_PER_SEC);
        let service = if self.symbol.is_some() { OFDM_BITS } else { 0 };
        (bits as u64).saturating_sub(service).min(self.aggregate_bytes.saturating_mul(8)) / 8
    }

    /// Bytes of an aggregate with another packet of this length.
    pub(super) fn joined(&self, bytes: u64, packet: u32) -> u64 {
        // The padding goes before the next delimiter.
        bytes.next_multiple_of(DELIMITER_BYTES) + DELIMITER_BYTES + u64::from(packet) + u64::from(self.mac_header)
    }

    /// The rate of an answer to data at `rate`.
    fn answer_rate(&self, rate: Rate) -> Rate {
        let lowest = *self.basic_rates.first().expect("invariant: there is a basic rate");
        self.basic_rates.iter().copied().filter(|basic| *basic <= rate).max().unwrap_or(lowest)
    }

    /// The time between the end of a transmission without an ACK and the first slot of a counter.
    pub(super) fn recovery(&self) -> Duration {
        match self.after_failure {
            AfterFailure::Difs => self.difs,
            AfterFailure::Eifs => {
                let lowest = *self.basic_rates.first().expect("invariant: there is a basic rate");
                self.sifs + self.answer_airtime(self.ack, lowest) + self.difs
            }
        }
    }

    /// The exchange for packets of these lengths, sent together by a station with this rate.
    pub(super) fn exchange(&self, rate: Rate, packets: impl Iterator<Item = u32>) -> Exchange {
        let (mut bytes, mut count) = (0, 0);
        for packet in packets {
            (bytes, count) = (self.joined(bytes, packet), count + 1);
        }
        if count == 1 {
            bytes -= DELIMITER_BYTES;
        }
        let answer_rate = self.answer_rate(rate);
        let frame = self.airtime(bytes, rate);
        let (asking, exposed) = match self.rts_threshold {
            Some(threshold) if bytes >= u64::from(threshold) => {
                let rts = self.answer_airtime(RTS_BYTES, answer_rate);
                let cts = self.answer_airtime(CTS_BYTES, answer_rate);
                (rts + self.propagation + self.sifs + cts + self.propagation + self.sifs, rts)
            }
            _ => (Duration::ZERO, frame),
        };
        let arrival = asking + frame + self.propagation;
        let end = arrival + self.sifs + self.answer_airtime(self.ack, answer_rate) + self.propagation;
        Exchange { exposed, arrival, end }
    }
}

/// Duration of bytes at a rate, in whole nanoseconds or whole symbols, rounded up.
fn body(bytes: u64, rate: Rate, symbol: Option<Duration>) -> Duration {
    match symbol {
        None => {
            let (length, rest) = rate.transmission(bytes);
            length + Duration::from_nanos(u64::from(rest > 0))
        }
        Some(symbol) => {
            // Bits of a symbol, in 1/10^9.
            let of_symbol = u128::from(rate.as_bps()) * u128::from(symbol.as_nanos());
            let bits = u128::from(OFDM_BITS + 8 * bytes) * u128::from(NANOS_PER_SEC);
            symbol * bits.div_ceil(of_symbol) as u64
        }
    }
}
