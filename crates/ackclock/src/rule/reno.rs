//! # Reno: the congestion control of standard TCP
//!
//! `cc = "reno"`
//!
//! ## Reference
//!
//! RFC 5681 (Allman, Paxson and Blanton 2009), TCP Congestion Control, §3.1. This is the window rule of
//! [AIMD](aimd.md)(1, 0.5) under its common name, which results show as `reno`. Loss recovery is another key:
//! `recovery` is `"tahoe"`, `"reno"`, `"newreno"` or `"sack"`.
//!
//! ## Equations
//!
//! Slow start below ssthresh: `w <- w + 1` per ACK of new data. Above it `w <- w + 1/w` per ACK (equation 3), that
//! is one segment per round trip. At a congestion event `w <- w/2`, and ssthresh is at least two segments (equation
//! 4). `byte_counting = true` counts acknowledged segments instead of ACKs (equation 2 with N; RFC 3465), up to two
//! per ACK.
//!
//! ## Parameters
//!
//! None. For other increases and decreases use [AIMD](aimd.md). Under `profile = "linux"` the window has no fractions
//! (`whole_window = true`), as Linux counts it: it grows by a segment when a window of ACKs has earned it, and of 45
//! segments a cut leaves 22.
//!
//! ## Deviations
//!
//! ssthresh is half of cwnd and not half of the flight size (equation 4). The RFC warns that cwnd "may incidentally
//! increase well beyond rwnd"; here a window that is not used does not grow (RFC 7661), so that the two differ by
//! no more than the fraction of a segment that cwnd carries. `timeout_ssthresh = "half-flight"` gives equation 4 to
//! the letter after a timeout.
//!
//! ## Validation
//!
//! Formula tests by hand; the contract suites; the validation of [AIMD](aimd.md) at its defaults: both run the same
//! rule object, and a test compares their results (`crates/ackclock/tests/integration/network.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::linear::{Aimd, Linear};
use super::{ParameterError, RuleParameters};

/// Reno, the congestion control of RFC 5681: one segment more per round trip, half of the window at a congestion event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reno {}

impl RuleParameters for Reno {
    type Rule = Linear;
    const REFERENCE: &'static str = "RFC 5681 (Allman, Paxson & Blanton 2009), TCP Congestion Control";

    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    fn rule(&self) -> Linear {
        Aimd { increase: 1.0, remaining: 0.5 }.rule()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;

    #[test]
    fn a_round_trip_adds_a_segment_and_congestion_takes_half() {
        let mut reno = Reno::default().rule();
        // RFC 5681, equation 3: SMSS * SMSS / cwnd per ACK, 1/10 of a segment at 10.
        assert!((reno.grow(10.0, 1.0) - 10.1).abs() < 1e-12);
        assert_eq!((reno.grow(10.0, 10.0), reno.cut(10.0)), (11.0, 5.0));
    }
}
