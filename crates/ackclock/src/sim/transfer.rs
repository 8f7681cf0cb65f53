//! Transfers: their number and their completion times.

use super::result::{Lateness, Playing, Streaming, TransferTimes, seconds};
use crate::metric::{percentile, ratio};
use crate::units::{Duration, Rate};

/// The record of transfers since the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct TransferLog {
    pub(super) started: u64,
    /// Payload of those that started.
    pub(super) started_bytes: u64,
    /// Found no slot.
    pub(super) refused: u64,
    /// How long each took that ended, nanoseconds.
    pub(super) times_ns: Vec<u64>,
    /// Chunks of media that came after their deadline, and those that are due and have not come.
    pub(super) late: u64,
    pub(super) missing: u64,
    /// Number of times that playback waited for a chunk, and the total time.
    pub(super) stalls: u64,
    pub(super) stalled_ns: u64,
    /// Streamed media.
    pub(super) stream: StreamLog,
}

impl TransferLog {
    pub(super) fn start(&mut self, bytes: u64) {
        self.started += 1;
        self.started_bytes += bytes;
    }

    /// Adds another record.
    pub(super) fn append(&mut self, other: &TransferLog) {
        self.started += other.started;
        self.started_bytes += other.started_bytes;
        self.refused += other.refused;
        self.times_ns.extend(&other.times_ns);
        self.late += other.late;
        self.missing += other.missing;
        self.stalls += other.stalls;
        self.stalled_ns += other.stalled_ns;
        self.stream.append(&other.stream);
    }

    /// Chunks or frames that came after their deadlines.
    pub(super) fn lateness(&self) -> Lateness {
        let late = self.late + self.missing;
        let judged = self.times_ns.len() as u64 + self.missing;
        Lateness { late, late_rate: ratio(late as f64, judged as f64) }
    }

    /// Interruptions of playback.
    pub(super) fn playing(&self) -> Playing {
        Playing { stalls: self.stalls, stalled_s: seconds(self.stalled_ns as f64) }
    }

    /// The times in figures.
    pub(super) fn times(&self) -> TransferTimes {
        let mut sorted = self.times_ns.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let sum: u128 = sorted.iter().map(|time| u128::from(*time)).sum();
        let at = |share| percentile(&sorted, share).map(|time| seconds(time as f64));
        TransferTimes {
            completed: count as u64,
            fct_mean_s: (count > 0).then(|| seconds(sum as f64 / count as f64)),
            fct_p50_s: at(0.5),
            fct_p95_s: at(0.95),
            fct_p99_s: at(0.99),
            fct_max_s: at(1.0),
        }
    }
}

/// The record of streamed media since the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamLog {
    /// Changes of the bit rate that played.
    pub(super) switches: u64,
    /// Time for which media played, and its integral over the bit rate.
    played_ns: u64,
    bits_ns: u128,
    /// The sum of the start-up delays of `clients`.
    pub(super) startup_ns: u64,
    pub(super) clients: u64,
}

impl StreamLog {
    /// Media of this bit rate played.
    pub(super) fn play(&mut self, rate: Rate, time: Duration) {
        self.played_ns += time.as_nanos();
        self.bits_ns += u128::from(rate.as_bps()) * u128::from(time.as_nanos());
    }

    fn append(&mut self, other: &StreamLog) {
        self.switches += other.switches;
        self.played_ns += other.played_ns;
        self.bits_ns += other.bits_ns;
        self.startup_ns += other.startup_ns;
        self.clients += other.clients;
    }

    /// The measurements of clients that stream.
    pub(super) fn streaming(&self) -> Streaming {
        Streaming {
            bit_rate_bps: ratio(self.bits_ns as f64, self.played_ns as f64),
            switches: self.switches,
            startup_s: (self.clients > 0).then(|| seconds(self.startup_ns as f64 / self.clients as f64)),
        }
    }
}

/// The place of a flow in a group of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) group: u32,
    pub(super) number: u32,
}
