//! Reno: the congestion avoidance of standard TCP.
//!
//! Reference: RFC 5681 §3.1. Per round trip without congestion `w <- w + 1`, at a congestion event `w <- w / 2`:
//! AIMD(1, 0.5) by its common name, with nothing to choose.
//!
//! Deviations:
//! * ssthresh is half of cwnd and not of `FlightSize` (equation 4). RFC 5681 warns that cwnd "may incidentally increase well
//!   beyond rwnd"; here a window that is not used does not grow, so that the two are the same but for the fraction of
//!   a segment that cwnd carries. After a timeout `timeout_ssthresh = "half-flight"` is equation 4 to the letter.

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
