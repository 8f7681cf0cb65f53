//! Transfers: their number and their completion times.

use super::result::{Playing, TransferTimes, seconds};
use crate::metric::{percentile, ratio};

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
    }

    /// The measurements of a client that plays chunks.
    pub(super) fn playing(&self) -> Playing {
        let late = self.late + self.missing;
        let judged = self.times_ns.len() as u64 + self.missing;
        Playing {
            late,
            late_rate: ratio(late as f64, judged as f64),
            stalls: self.stalls,
            stalled_s: seconds(self.stalled_ns as f64),
        }
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

/// The place of a flow in a group of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) group: u32,
    pub(super) number: u32,
}
