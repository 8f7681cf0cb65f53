//! The promises of every algorithm, and remedies for violations.

/// A promise of an algorithm. It displays as the observed violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Promise {
    /// The window is a number, and lets the sender continue.
    #[error("the window is not finite, or below one segment")]
    Window,
    /// ssthresh is a threshold.
    #[error("ssthresh is not above zero")]
    Ssthresh,
    /// RFC 7661 §1: an unused window does not show that the path can carry more.
    #[error("a window that is not used grows")]
    Unused,
    /// RFC 5681 §3.1: growth is for new data.
    #[error("the window grows without an ACK of new data")]
    NewData,
    /// RFC 6582 §3.2, RFC 6675 §5: in recovery, the window stays.
    #[error("the window grows while losses are being repaired")]
    Repair,
    /// RFC 5681 §3.1, equation 2.
    #[error("slow start adds more than was acknowledged")]
    SlowStart,
    /// Congestion never means more.
    #[error("congestion raises the window")]
    Congestion,
    /// One reduction per window of data: RFC 5681 §3.2, RFC 6582 §1.
    #[error("losses of one window of data reduce the window more than once")]
    OneReduction,
    /// RFC 5681 §3.1, equation 4, and RFC 2914 §5: senders send less after congestion.
    #[error("the first loss or timeout of a connection does not reduce its window")]
    BackOff,
    /// RFC 2914 §5: congestion collapse.
    #[error("two flows lose more than a quarter of their segments behind a full queue")]
    Collapse,
    /// RFC 5681 §3.1: data in flight are considered lost.
    #[error("a restart does not reduce the window")]
    Restart,
    /// RFC 5681 §3.1: after a timeout, slow start.
    #[error("a restart does not begin with slow start")]
    RestartSlowly,
    /// An undo restores earlier values.
    #[error("an undo exceeds every earlier window")]
    Undo,
    /// Sending does not justify sending more.
    #[error("sending raises the window")]
    Sending,
    /// A loss does not justify sending more.
    #[error("a loss raises the window")]
    Loss,
    /// RFC 5681 §4.1.
    #[error("idleness raises the window")]
    Idleness,
    /// Recovery begins and ends without growth.
    #[error("recovery raises the window")]
    Recovery,
    /// Results can be repeated.
    #[error("the same events give another answer the second time")]
    Same,
    /// Only differences of time matter.
    #[error("the same events give another answer a day later")]
    TimeShift,
    /// A connection does not touch another.
    #[error("another connection changes the answers of this one")]
    Shared,
}

impl Promise {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Promise; 20] = [
        Promise::Window,
        Promise::Ssthresh,
        Promise::Same,
        Promise::TimeShift,
        Promise::Shared,
        Promise::OneReduction,
        Promise::Congestion,
        Promise::BackOff,
        Promise::Collapse,
        Promise::Restart,
        Promise::RestartSlowly,
        Promise::Repair,
        Promise::Unused,
        Promise::NewData,
        Promise::SlowStart,
        Promise::Undo,
        Promise::Sending,
        Promise::Loss,
        Promise::Idleness,
        Promise::Recovery,
    ];

    /// Its name in documents.
    pub fn id(self) -> &'static str {
        match self {
            Promise::Window => "window",
            Promise::Ssthresh => "ssthresh",
            Promise::Unused => "unused",
            Promise::NewData => "new-data",
            Promise::Repair => "repair",
            Promise::SlowStart => "slow-start",
            Promise::Congestion => "congestion",
            Promise::BackOff => "back-off",
            Promise::Collapse => "collapse",
            Promise::OneReduction => "one-reduction",
            Promise::Restart => "restart",
            Promise::RestartSlowly => "restart-slowly",
            Promise::Undo => "undo",
            Promise::Sending => "sending",
            Promise::Loss => "loss",
            Promise::Idleness => "idleness",
            Promise::Recovery => "recovery",
            Promise::Same => "same",
            Promise::TimeShift => "time-shift",
            Promise::Shared => "shared",
        }
    }

    /// The remedy.
    pub fn advice(self) -> &'static str {
        match self {
            Promise::Window => {
                "keep the window at one segment or more; look for a division by a value that may be zero"
            }
            Promise::Ssthresh => "keep ssthresh at two segments or more (RFC 5681, equation 4)",
            Promise::Unused => {
                "grow only if the window limited the sender (cwnd_limited); otherwise an idle application leaves a burst"
            }
            Promise::NewData => "grow only for newly acknowledged data; a duplicate ACK acknowledges none",
            Promise::Repair => {
                "do not grow in recovery, or declare that the algorithm owns its window there (owns_recovery)"
            }
            Promise::SlowStart => {
                "below ssthresh, grow by at most the acknowledged data (RFC 5681 §3.1); set ssthresh to leave slow start"
            }
            Promise::Congestion => "do not raise the window at congestion, except to two segments",
            Promise::BackOff => "reduce the window at a loss and at a timeout; TCP Reno halves it (RFC 5681 §3.1)",
            Promise::Collapse => {
                "send less after congestion until losses are rare; run a scenario and check its losses"
            }
            Promise::OneReduction => {
                "reduce at the congestion event, which comes once per window of data, and not at each loss"
            }
            Promise::Restart => "react to timeouts: the window is one segment then (RFC 5681 §3.1)",
            Promise::RestartSlowly => {
                "after a timeout set the window to one segment, and ssthresh above it (RFC 5681 §3.1)"
            }
            Promise::Undo => "restore at most the window from before the reduction",
            Promise::Sending => "let the window grow by ACKs only",
            Promise::Loss => "let the window grow by ACKs only",
            Promise::Idleness => "after an idle time, send at most the initial window (RFC 5681 §4.1)",
            Promise::Recovery => {
                "leave recovery with at most ssthresh, or declare that the algorithm owns its window there"
            }
            Promise::Same => "draw no random numbers, read no clock, and do not depend on the order of a set",
            Promise::TimeShift => "use differences of time, never the time itself",
            Promise::Shared => {
                "keep the state of a connection in its own object, not in a class, module or global variable"
            }
        }
    }
}
