//! The outcome of a packet in transit.

use crate::units::Duration;

/// The outcome of a packet in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Arrives {
        /// The additional delay.
        late_by: Duration,
        /// Marked, if it is ECN-capable.
        marked: bool,
    },
    /// It does not arrive.
    Lost,
}

impl Fate {
    /// Nothing happens to it.
    pub const ARRIVES: Fate = Fate::Arrives { late_by: Duration::ZERO, marked: false };
}
