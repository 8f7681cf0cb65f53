//! # GAIMD: TCP-friendly AIMD
//!
//! `cc = "gaimd"`
//!
//! GAIMD is AIMD with a small decrease and the increase that makes it TCP-friendly. Its rate is smoother
//! than Reno's, and its long-term throughput under loss is equal.
//!
//! ## Reference
//!
//! Y. R. Yang and S. S. Lam: General AIMD Congestion Control, ICNP 2000.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a` |
//! | ACK of one segment | `w <- w + a / w` |
//! | congestion event | `w <- b w`: b is the part that **remains** |
//! | TCP-friendly increase | `a = 4 (1 - b^2) / 3` |
//!
//! The paper derives the increase from its throughput formula, which includes timeouts. Timeouts dominate
//! at high loss rates. Without timeouts the friendly increase would be `3 (1 - b) / (1 + b)`, as in
//! [CUBIC](cubic.md).
//!
//! ## Parameters
//!
//! Without `increase` the equation gives it.
//!
//! ## Constants
//!
//! The paper proposes b = 7/8. The increase is then 0.3125, which the paper rounds to 0.31.
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! The rule runs the code of [AIMD](aimd.md), and tests compare both. The windows of the friendly pairs are
//! hand-computed. Under periodic loss without timeouts the mean window is 1.25 times Reno's, as the formula says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::linear::{Aimd, Linear};
use super::{ParameterError, RuleParameters, require, require_segments};

/// GAIMD, AIMD with a TCP-friendly increase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gaimd {
    /// Part of the window that remains at a congestion event, above 0 and at most 1.
    pub remaining: f64,
    /// Segments added per round trip, at least 0 and at most 16777216. Without it the increase is TCP-friendly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase: Option<f64>,
}

impl Default for Gaimd {
    fn default() -> Self {
        Gaimd { remaining: 0.875, increase: None }
    }
}

impl Gaimd {
    fn aimd(&self) -> Aimd {
        let Gaimd { remaining, increase } = *self;
        // Yang and Lam 2000, the TCP-friendly pairs.
        let friendly = 4.0 * (1.0 - remaining * remaining) / 3.0;
        Aimd { increase: increase.unwrap_or(friendly), remaining }
    }
}

impl RuleParameters for Gaimd {
    type Rule = Linear;
    const REFERENCE: &'static str = "Yang & Lam 2000, General AIMD Congestion Control";

    fn check(&self) -> Result<(), ParameterError> {
        let remaining = self.remaining;
        require("remaining", remaining, remaining > 0.0 && remaining <= 1.0, "above 0 and at most 1")?;
        self.increase.map_or(Ok(()), |increase| require_segments("increase", increase))
    }

    fn rule(&self) -> Linear {
        self.aimd().rule()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;

    #[test]
    fn the_increase_is_tcp_friendly_unless_it_is_given() {
        // 4/3 (1 - 49/64) = 5/16 per round trip, and 4/3 (1 - 1/4) = 1 for Reno's decrease.
        let mut default = Gaimd::default().rule();
        assert!((default.grow(10.0, 10.0) - 10.3125).abs() < 1e-12);
        assert_eq!(default.cut(80.0), 70.0);
        assert_eq!(Gaimd { remaining: 0.5, increase: None }.rule(), Aimd::default().rule());
        let given = Gaimd { remaining: 0.75, increase: Some(0.25) };
        assert_eq!(given.rule(), Aimd { increase: 0.25, remaining: 0.75 }.rule());
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        for (wrong, key) in [
            (Gaimd { remaining: 0.0, increase: None }, "remaining"),
            (Gaimd { remaining: 1.5, increase: None }, "remaining"),
            (Gaimd { increase: Some(-1.0), ..Gaimd::default() }, "increase"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key, key);
        }
    }
}
