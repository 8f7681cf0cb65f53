//! SEARCH, Slow start Exit At Right CHokepoint (draft-chung-ccwg-search-09).
//!
//! The draft compares the data delivered in a window of time with the data sent one RTT before. Slow start ends when
//! the delivered data are fewer by a threshold. Time is divided into bins, and a bin holds cumulative counts.
//!
//! | quantity | value |
//! |---|---|
//! | bin | `3.5 RTT_0 / 10`, where `RTT_0` is the first RTT |
//! | delivered | `A(now) - A(now - 10 bins)` |
//! | sent | `S(now - RTT) - S(now - RTT - 10 bins)`, interpolated between bins |
//! | norm | `(sent - delivered) / sent` |
//! | end of slow start | `norm >= 0.26` |
//! | drain | down to the data delivered in the last three bins, which are 1.05 `RTT_0` |
//!
//! Deviations: bins count segments instead of bytes, without scaling. The sent segments are those delivered, lost or
//! in flight when the ACK arrives. Interpolation looks back in time, where revision 09 looks ahead.

use std::collections::VecDeque;

use super::{Sender, Verdict};
use crate::cc::Ack;
use crate::units::{Duration, Instant};

/// Bins of a window (W).
const W: usize = 10;
/// WINDOW_SIZE is 3.5 times the initial RTT. A bin is a tenth of it: 7/20 of the initial RTT.
const BIN: (u64, u64) = (7, 20);
/// Bins by which the RTT may look back (EXTRA_BINS).
const EXTRA_BINS: usize = 15;
/// Bins that are kept: a window before the longest RTT, and one bin for the interpolation.
const KEPT: usize = W + EXTRA_BINS + 1;
/// THRESH of revision 09.
const THRESH: f64 = 0.26;
/// Bins of an initial RTT, rounded up.
const RTT_BINS: usize = 3;
/// Delivered segments for each segment that leaves in the drain.
const DRAIN_SEGMENTS: u32 = 3;

/// Segments until the end of a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    delivered: u64,
    sent: u64,
}

/// The drain of the queue that slow start left behind.
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// The window at its end.
    target: f64,
    /// Delivered segments that have released none yet.
    delivered: u32,
}

/// SEARCH.
#[derive(Clone, Debug)]
pub(in crate::cc) struct Search {
    drains: bool,
    /// The duration of a bin, none before the first RTT.
    bin: Option<Duration>,
    bin_end: Instant,
    /// The last bins, the newest at the back.
    bins: VecDeque<Bin>,
    /// Segments now, and those lost.
    now: Bin,
    lost: u64,
    drain: Option<Drain>,
}

impl Search {
    pub(super) fn new(drains: bool) -> Self {
        let (bins, now) = (VecDeque::with_capacity(KEPT), Bin::default());
        Search { drains, bin: None, bin_end: Instant::ZERO, bins, now, lost: 0, drain: None }
    }

    /// Everything is measured again, and the bins get the length of another RTT.
    pub(super) fn reset(&mut self) {
        *self = Search::new(self.drains);
    }

    /// Everything but the length of bins is measured again.
    pub(super) fn restart(&mut self) {
        *self = Search { bin: self.bin, ..Search::new(self.drains) };
    }

    /// Processes an ACK before it grows the window.
    pub(super) fn observe(&mut self, ack: &Ack, sender: Sender) -> Verdict {
        if let Some(drain) = &mut self.drain {
            return drain.observe(ack);
        }
        if !sender.in_slow_start {
            return Verdict::Continues;
        }
        self.count(ack);
        let rtt = ack.path.latest_rtt;
        if rtt.is_zero() || !self.fill(ack.now, rtt) {
            return Verdict::Continues;
        }
        if self.norm(rtt).is_none_or(|norm| norm < THRESH) {
            return Verdict::Continues;
        }
        let target = (self.delivered_in(RTT_BINS) as f64).max(sender.initial_window);
        if !self.drains || target >= sender.cwnd {
            return Verdict::Ends;
        }
        self.drain.insert(Drain { target, delivered: 0 }).observe(ack)
    }

    fn count(&mut self, ack: &Ack) {
        self.now.delivered += u64::from(ack.newly_delivered);
        self.lost += u64::from(ack.newly_lost);
        let sent = self.now.delivered + self.lost + u64::from(ack.path.in_flight);
        self.now.sent = self.now.sent.max(sent);
    }

    /// Fills the bins that have ended. Returns false if none has.
    fn fill(&mut self, now: Instant, rtt: Duration) -> bool {
        let bin = *self.bin.get_or_insert(rtt * BIN.0 / BIN.1);
        if bin.is_zero() {
            return false;
        }
        let Some(last) = self.bins.back().copied() else {
            self.bin_end = now + bin;
            self.bins.push_back(self.now);
            return false;
        };
        if now <= self.bin_end {
            return false;
        }
        let passed = now.since(self.bin_end).as_nanos() / bin.as_nanos() + 1;
        if passed > W as u64 {
            // A window without an ACK contains no information about the path.
            self.reset();
            return false;
        }
        self.bin_end += bin * passed;
        // Missed bins hold the counts of the bin before.
        (1..passed).for_each(|_| self.bins.push_back(last));
        self.bins.push_back(self.now);
        let excess = self.bins.len().saturating_sub(KEPT);
        self.bins.drain(..excess);
        true
    }

    /// The bin that ended `bins` bins before the last one.
    fn before(&self, bins: usize) -> Option<&Bin> {
        self.bins.len().checked_sub(bins + 1).and_then(|index| self.bins.get(index))
    }

    /// Segments delivered in the last `bins` bins, or in all bins if there are fewer.
    fn delivered_in(&self, bins: usize) -> u64 {
        let start = self.before(bins).or(self.bins.front()).copied().unwrap_or_default();
        self.now.delivered - start.delivered
    }

    /// Segments sent until `back` bins before the last one ended.
    fn sent_until(&self, back: usize, fraction: f64) -> Option<f64> {
        let (late, early) = (self.before(back)?.sent as f64, self.before(back + 1)?.sent as f64);
        Some(late * (1.0 - fraction) + early * fraction)
    }

    /// The part of the data sent an RTT ago that is missing, or none without enough bins.
    fn norm(&self, rtt: Duration) -> Option<f64> {
        let bin = self.bin?.as_nanos();
        let (back, fraction) = (rtt.as_nanos() / bin, (rtt.as_nanos() % bin) as f64 / bin as f64);
        let back = usize::try_from(back).ok().filter(|back| *back < EXTRA_BINS)?;
        let sent = self.sent_until(back, fraction)? - self.sent_until(back + W, fraction)?;
        (sent > 0.0).then(|| (sent - self.delivered_in(W) as f64) / sent)
    }
}

impl Drain {
    fn observe(&mut self, ack: &Ack) -> Verdict {
        self.delivered += ack.newly_delivered;
        let released = self.delivered / DRAIN_SEGMENTS;
        self.delivered %= DRAIN_SEGMENTS;
        let window = f64::from(ack.path.in_flight + released);
        if window > self.target { Verdict::Drains(window) } else { Verdict::EndsAt(self.target) }
    }
}

#[cfg(test)]
mod tests;
