//! The end of slow start before the first loss: HyStart++, Linux's HyStart and SEARCH.
//!
//! Each end of slow start is a file of `slow_start/`. `docs/learn/slow-starts.md` compares them.

use self::hystart::Hystart;
use self::hystart_plus_plus::HystartPlusPlus;
use self::search::Search;
use super::Ack;
use crate::units::Duration;

mod hystart;
mod hystart_plus_plus;
mod search;

/// How slow start ends before the first loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum SlowStart {
    /// It does not (RFC 5681).
    #[default]
    #[serde(rename = "standard")]
    Standard,
    /// RFC 9406, in the first slow start of a connection.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// As in Linux.
    #[serde(rename = "hystart")]
    Hystart,
    /// HyStart for CUBIC, and RFC 5681 for window rules: in Linux it belongs to CUBIC.
    #[serde(rename = "linux")]
    Linux,
    /// Slow start continues, and the window passes ssthresh by a segment. RFC 5681 §3.1 permits slow start where the
    /// window equals ssthresh.
    #[serde(rename = "past-ssthresh")]
    PastSsthresh,
    /// SEARCH (draft-chung-ccwg-search-09), with its drain.
    #[serde(rename = "search")]
    Search,
    /// SEARCH without the drain.
    #[serde(rename = "search-no-drain")]
    SearchNoDrain,
}

impl SlowStart {
    /// The algorithm of window rules.
    pub(super) fn of_a_rule(self) -> Self {
        if self == SlowStart::Linux { SlowStart::Standard } else { self }
    }
}

/// RFC 9406 §4.3, and Linux alike: MIN_RTT_THRESH, MAX_RTT_THRESH, MIN_RTT_DIVISOR, N_RTT_SAMPLE.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;

/// The increase of an RTT over `base` that shows a queue.
fn rtt_thresh(base: Duration) -> Duration {
    // RFC 9406 §4.2: "RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))".
    (base / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

/// The growth of an ACK in slow start, and whether slow start ends.
pub(super) struct Growth {
    /// Segments.
    pub(super) growth: f64,
    /// Slow start ends with it.
    pub(super) ends: bool,
}

/// The sender when an ACK arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) cwnd: f64,
    pub(super) initial_window: f64,
    pub(super) in_slow_start: bool,
    pub(super) paces: bool,
}

/// The effect of an ACK on slow start, before the ACK grows the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Slow start continues.
    Continues,
    /// Slow start ends at the present window.
    Ends,
    /// The queue drains: this is the window, which does not grow.
    Drains(f64),
    /// Slow start ends at this window.
    EndsAt(f64),
}

/// The state that watches slow start.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    PlusPlus(HystartPlusPlus),
    Linux(Hystart),
    Search(Search),
}

impl Exit {
    pub(super) fn new(slow_start: SlowStart) -> Option<Self> {
        match slow_start {
            SlowStart::Standard | SlowStart::PastSsthresh => None,
            SlowStart::HystartPlusPlus => Some(Exit::PlusPlus(HystartPlusPlus::default())),
            SlowStart::Hystart | SlowStart::Linux => Some(Exit::Linux(Hystart::default())),
            SlowStart::Search => Some(Exit::Search(Search::new(true))),
            SlowStart::SearchNoDrain => Some(Exit::Search(Search::new(false))),
        }
    }

    /// Whether slow start also continues in recovery, while the reduced window is below ssthresh.
    pub(super) fn watches_reductions(&self) -> bool {
        matches!(self, Exit::Linux(_))
    }

    /// Processes an ACK before it grows the window.
    pub(super) fn observe(&mut self, ack: &Ack, sender: Sender) -> Verdict {
        match self {
            Exit::PlusPlus(hystart) => {
                if sender.in_slow_start {
                    hystart.observe(ack);
                }
                Verdict::Continues
            }
            Exit::Linux(hystart) => match hystart.observe(ack, sender) {
                true => Verdict::Ends,
                false => Verdict::Continues,
            },
            Exit::Search(search) => search.observe(ack, sender),
        }
    }

    /// The last ACK counts for `acked` segments.
    pub(super) fn grow(&mut self, acked: f64) -> Growth {
        match self {
            Exit::PlusPlus(hystart) => hystart.grow(acked),
            Exit::Linux(_) | Exit::Search(_) => Growth { growth: acked, ends: false },
        }
    }

    /// The window is cut, and slow start begins again or does not.
    pub(super) fn on_cut(&mut self, restarts: bool) {
        match self {
            Exit::PlusPlus(hystart) => hystart.finish(),
            Exit::Linux(hystart) if restarts => hystart.restart(),
            Exit::Linux(_) => {}
            Exit::Search(search) => search.reset(),
        }
    }

    /// The sender was idle.
    pub(super) fn on_idle(&mut self) {
        if let Exit::Search(search) = self {
            search.reset();
        }
    }

    /// The window left slow start for a time without a cut.
    pub(super) fn on_pause(&mut self) {
        if let Exit::Search(search) = self {
            search.restart();
        }
    }
}

#[cfg(test)]
mod tests;
