//! # Reno: the congestion control of standard TCP
//!
//! `cc = "reno"`
//!
//! Reno adds one segment to the window in each round trip and halves the window at a congestion
//! event. It is the baseline of most comparisons here. It runs the window rule of
//! [AIMD](aimd.md)(1, 0.5) under its common name.
//!
//! ## Reference
//!
//! RFC 5681 (Allman, Paxson and Blanton 2009), TCP Congestion Control, §3.1. Loss recovery is a
//! separate key: `recovery` is `"tahoe"`, `"reno"`, `"newreno"` or `"sack"`.
//!
//! ## Equations
//!
//! | event | equation | of the RFC |
//! |---|---|---|
//! | ACK of new data below ssthresh (slow start) | `w <- w + 1` | equation 2 |
//! | ACK of new data above ssthresh | `w <- w + 1/w` | equation 3 |
//! | congestion event | `w <- w/2`, and ssthresh is at least two segments | equation 4 |
//! | mark with `abe = true` | `w <- beta_ecn w` | RFC 8511, §3 |
//!
//! `byte_counting = true` counts acknowledged segments instead of ACKs, up to two per ACK (RFC
//! 3465).
//!
//! ## Parameters
//!
//! `abe = true` selects the smaller decrease for marks of RFC 8511 (Alternative Backoff with ECN).
//! Queues that mark are usually short, so half of the window would underuse the link. The transport
//! key `ecn_beta` takes precedence over both parameters.
//!
//! For other increases and decreases use [AIMD](aimd.md). Under `profile = "linux"` the window has
//! no fractions (`whole_window = true`), as in Linux. It grows by a segment when a full window of
//! ACKs has earned it. A cut leaves 22 of 45 segments. Linux's Reno has no ABE.
//!
//! ## Deviations
//!
//! ssthresh is half of cwnd, where equation 4 has half of the flight size. The RFC warns that cwnd
//! "may incidentally increase well beyond rwnd". Here a window that the flow does not use does not
//! grow (RFC 7661). The two values differ only by the fraction of a segment in cwnd.
//! `timeout_ssthresh = "half-flight"` follows equation 4 exactly after a timeout.
//!
//! ## Validation
//!
//! - Tests compare the formulas with hand-computed values.
//! - A test asserts that Reno and AIMD(1, 0.5) give the same results.
//! - [ns-2 validation](../validation/ns2.md), [ns-3 validation](../validation/ns3.md) and
//!   [Linux validation](../validation/linux.md) compare whole flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::linear::{Aimd, Linear};
use super::{ParameterError, Rule, RuleParameters, require};

/// Reno, the congestion control of RFC 5681.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reno {
    /// Whether a mark reduces the window to `beta_ecn` of it (RFC 8511), instead of half.
    pub abe: bool,
    /// RFC 8511's beta_ecn: part of the window that remains after a mark with `abe`, above 0 and below 1.
    pub beta_ecn: f64,
}

impl Default for Reno {
    fn default() -> Self {
        // RFC 8511 §3.1 has 0.8 for the standard TCP of RFC 5681.
        Reno { abe: false, beta_ecn: 0.8 }
    }
}

/// AIMD(1, 0.5) with a decrease of its own for marks.
#[derive(Clone, Debug)]
pub struct RenoRule {
    aimd: Linear,
    /// Part of the window that remains after a mark.
    marked: f64,
}

impl Rule for RenoRule {
    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        self.aimd.grow(w, acked)
    }

    #[inline]
    fn cut(&mut self, w: f64) -> f64 {
        self.aimd.cut(w)
    }

    fn cut_for_mark(&mut self, w: f64) -> f64 {
        self.marked * w
    }
}

impl RuleParameters for Reno {
    type Rule = RenoRule;
    const REFERENCE: &'static str = "RFC 5681 (Allman, Paxson & Blanton 2009), TCP Congestion Control";

    fn check(&self) -> Result<(), ParameterError> {
        require("beta_ecn", self.beta_ecn, self.beta_ecn > 0.0 && self.beta_ecn < 1.0, "above 0 and below 1")
    }

    fn rule(&self) -> RenoRule {
        let aimd = Aimd { increase: 1.0, remaining: 0.5 };
        RenoRule { marked: if self.abe { self.beta_ecn } else { aimd.remaining }, aimd: aimd.rule() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_adds_a_segment_and_congestion_takes_half() {
        let mut reno = Reno::default().rule();
        // RFC 5681, equation 3: SMSS * SMSS / cwnd per ACK, 1/10 of a segment at 10.
        assert!((reno.grow(10.0, 1.0) - 10.1).abs() < 1e-12);
        assert_eq!((reno.grow(10.0, 10.0), reno.cut(10.0), reno.cut_for_mark(10.0)), (11.0, 5.0, 5.0));
    }

    /// RFC 8511 §3: "ssthresh = max (FlightSize * beta_{ecn}, 2 * SMSS)".
    #[test]
    fn with_abe_a_mark_takes_a_fifth() {
        let mut reno = Reno { abe: true, ..Reno::default() }.rule();
        assert_eq!((reno.cut(10.0), reno.cut_for_mark(10.0)), (5.0, 8.0));
        assert!(Reno { beta_ecn: 1.0, ..Reno::default() }.check().is_err());
    }
}
