//! Binomial controls, with the two members that their paper names.
//!
//! # Binomial: any control of the binomial family
//!
//! `cc = "binomial"`
//!
//! Binomial controls generalise AIMD. The increase is divided by a power of the window, and the decrease
//! is proportional to another power. Members with `k + l = 1` are TCP-compatible. A small `l` gives small
//! decreases, which suit audio and video.
//!
//! ## Reference
//!
//! D. Bansal and H. Balakrishnan: Binomial Congestion Control Algorithms, INFOCOM 2001.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a / w^k` |
//! | ACK of one segment | `w <- w + a / w^(k+1)` |
//! | congestion event | `w <- w - b w^l` |
//!
//! | member | k | l |
//! |---|---|---|
//! | [AIMD](aimd.md) | 0 | 1 |
//! | [SQRT](sqrt.md) | 0.5 | 0.5 |
//! | [IIAD](iiad.md) | 1 | 0 |
//! | [AIAD](aiad.md) | 0 | 0 |
//! | [MIMD](mimd.md) | -1 | 1 |
//! | [MIAD](miad.md) | -1 | 0 |
//!
//! Under periodic loss the mean window of small decreases is `(a / (b p))^(1/(k+l+1))`.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper requires `k + l > 0` for convergence to equal shares. With `k + l = 1` and `a = 1.5 b` the
//! mean window is Reno's, the square root of `1.5/p`. The defaults select SQRT with this ratio.
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. The mean window under periodic loss agrees with the
//! closed form within 2 %. Members that [linear controls](linear.md) also have give the same windows.
//!
//! # SQRT: square-root increase and decrease
//!
//! `cc = "sqrt"`
//!
//! SQRT divides its increase by the square root of the window. Its decrease is proportional to this root.
//! At 100 segments a loss removes 10 segments, where Reno removes 50.
//!
//! ## Reference
//!
//! D. Bansal and H. Balakrishnan: Binomial Congestion Control Algorithms, INFOCOM 2001. SQRT is the member
//! of the [binomial family](binomial.md) with `k = l = 0.5`.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a / sqrt(w)` |
//! | congestion event | `w <- w - b sqrt(w)` |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! With `a = 1.5 b` the mean window under loss is Reno's.
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! The validation is the one of the [binomial family](binomial.md).
//!
//! # IIAD: inverse increase, additive decrease
//!
//! `cc = "iiad"`
//!
//! IIAD adds less the larger its window is, and a loss removes a constant. Its rate is smoother than the
//! rates of SQRT and AIMD. It also yields more slowly to new flows.
//!
//! ## Reference
//!
//! D. Bansal and H. Balakrishnan: Binomial Congestion Control Algorithms, INFOCOM 2001. IIAD is the member
//! of the [binomial family](binomial.md) with `k = 1` and `l = 0`.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a / w` |
//! | congestion event | `w <- w - b` |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! With `a = 1.5 b` the mean window under loss is Reno's.
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! The validation is the one of the [binomial family](binomial.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MOST_SEGMENTS, ParameterError, Rule, RuleParameters, require};

const BANSAL: &str = "Bansal & Balakrishnan 2001, Binomial Congestion Control Algorithms";

/// Any binomial control of the window.
///
/// The window grows by `increase / w^k` per round trip, and shrinks by `decrease w^l` at a congestion event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Binomial {
    /// Segments added per round trip at a window of one segment (a), at least 0 and at most 16777216.
    pub increase: f64,
    /// Segments removed at a congestion event at a window of one segment (b), above 0 and at most 16777216.
    pub decrease: f64,
    /// Power of the window that divides the increase, at least -1 and at most 4.
    pub k: f64,
    /// Power of the window in the decrease, at least 0 and at most 1.
    pub l: f64,
}

impl Default for Binomial {
    fn default() -> Self {
        Binomial { increase: 1.5, decrease: 1.0, k: 0.5, l: 0.5 }
    }
}

/// A binomial control. Powers of common members cost no logarithm.
#[derive(Clone, Debug)]
pub struct BinomialRule(Binomial);

fn power(w: f64, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        0.5 => w.sqrt(),
        1.0 => w,
        1.5 => w * w.sqrt(),
        2.0 => w * w,
        _ => libm::pow(w, exponent),
    }
}

impl Rule for BinomialRule {
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + self.0.increase * acked / power(w, self.0.k + 1.0)
    }

    fn cut(&mut self, w: f64) -> f64 {
        w - self.0.decrease * power(w, self.0.l)
    }
}

fn check(increase: f64, decrease: f64) -> Result<(), ParameterError> {
    super::require_segments("increase", increase)?;
    require("decrease", decrease, decrease > 0.0 && decrease <= MOST_SEGMENTS, "above 0 and at most 16777216")
}

impl RuleParameters for Binomial {
    type Rule = BinomialRule;
    const REFERENCE: &'static str = BANSAL;

    fn check(&self) -> Result<(), ParameterError> {
        check(self.increase, self.decrease)?;
        require("k", self.k, (-1.0..=4.0).contains(&self.k), "at least -1 and at most 4")?;
        require("l", self.l, (0.0..=1.0).contains(&self.l), "at least 0 and at most 1")
    }

    fn rule(&self) -> BinomialRule {
        BinomialRule(self.clone())
    }
}

/// Declares a member of the family by its powers.
macro_rules! member {
    ($(#[$doc:meta])* $name:ident { k: $k:literal, l: $l:literal }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// Segments added per round trip at a window of one segment, at least 0 and at most 16777216.
            pub increase: f64,
            /// Segments removed at a congestion event at a window of one segment, above 0 and at most 16777216.
            pub decrease: f64,
        }

        impl Default for $name {
            fn default() -> Self {
                let Binomial { increase, decrease, .. } = Binomial::default();
                $name { increase, decrease }
            }
        }

        impl RuleParameters for $name {
            type Rule = BinomialRule;
            const REFERENCE: &'static str = BANSAL;

            fn check(&self) -> Result<(), ParameterError> {
                check(self.increase, self.decrease)
            }

            fn rule(&self) -> BinomialRule {
                BinomialRule(Binomial { increase: self.increase, decrease: self.decrease, k: $k, l: $l })
            }
        }
    };
}

member! {
    /// Square-root increase and decrease, for smooth rates.
    Sqrt { k: 0.5, l: 0.5 }
}

member! {
    /// Inverse increase, additive decrease, for smooth rates.
    Iiad { k: 1.0, l: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::linear::{Aiad, Aimd, Mimd};

    #[test]
    fn windows_follow_the_powers() {
        // SQRT at 100: 1.5/10 more per round trip, 10 less at a loss.
        let mut sqrt = Sqrt::default().rule();
        assert_eq!((sqrt.grow(100.0, 100.0), sqrt.cut(100.0)), (100.15, 90.0));
        // IIAD at 100: 1.5/100 more, 1 less.
        let mut iiad = Iiad::default().rule();
        assert_eq!((iiad.grow(100.0, 100.0), iiad.cut(100.0)), (100.015, 99.0));
        // k = 2, l = 0.25 at 16: 8/256 more, 3 * 2 less.
        let mut other = Binomial { increase: 8.0, decrease: 3.0, k: 2.0, l: 0.25 }.rule();
        assert_eq!((other.grow(16.0, 16.0), other.cut(16.0)), (16.03125, 10.0));
    }

    #[test]
    fn the_linear_members_are_the_linear_controls() {
        let member = |k, l, increase, decrease| Binomial { increase, decrease, k, l }.rule();
        let same = |mut ours: BinomialRule, mut linear: crate::rule::linear::Linear| {
            for w in [1.0, 7.0, 40.0] {
                assert!((ours.grow(w, 1.0) - linear.grow(w, 1.0)).abs() < 1e-12, "{ours:?} at {w}");
                assert!((ours.cut(w) - linear.cut(w)).abs() < 1e-12, "{ours:?} at {w}");
            }
        };
        same(member(0.0, 1.0, 1.0, 0.5), Aimd::default().rule());
        same(member(0.0, 0.0, 1.0, 3.0), Aiad::default().rule());
        same(member(-1.0, 1.0, 0.1, 0.5), Mimd::default().rule());
    }

    /// The mean window over the second half of 400 losses of one in `period` segments, from a window on.
    fn mean_window(rule: &mut impl Rule, period: u32, mut w: f64) -> f64 {
        let (mut acks, mut round_trips) = (0.0, 0.0);
        for cycle in 0..400 {
            for _ in 0..period {
                w = rule.grow(w, 1.0);
                if cycle >= 200 {
                    acks += 1.0;
                    round_trips += 1.0 / w;
                }
            }
            w = rule.cut(w);
        }
        acks / round_trips
    }

    #[test]
    fn the_mean_window_under_periodic_loss_is_the_closed_form() {
        for period in [1_000, 10_000, 100_000] {
            let reno = (1.5 * f64::from(period)).sqrt();
            let sqrt = mean_window(&mut Sqrt::default().rule(), period, reno);
            let iiad = mean_window(&mut Iiad::default().rule(), period, reno);
            for mean in [sqrt, iiad] {
                assert!((mean / reno - 1.0).abs() < 0.02, "1/{period}: {mean} for {reno}");
            }
        }
        // (a / (b p))^(1/(k+l+1)) with k = 1, l = 0.5.
        let other = Binomial { increase: 2.0, decrease: 0.5, k: 1.0, l: 0.5 };
        let mean = mean_window(&mut other.rule(), 10_000, 2.0);
        assert!((mean / libm::pow(4e4, 0.4) - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let sqrt = Binomial::default();
        for (wrong, key) in [
            (Binomial { increase: -1.0, ..sqrt.clone() }, "increase"),
            (Binomial { decrease: 0.0, ..sqrt.clone() }, "decrease"),
            (Binomial { k: -1.1, ..sqrt.clone() }, "k"),
            (Binomial { k: f64::NAN, ..sqrt.clone() }, "k"),
            (Binomial { l: 1.1, ..sqrt }, "l"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key, key);
        }
        assert_eq!(Sqrt { increase: 1.0, decrease: f64::NAN }.check().unwrap_err().key, "decrease");
    }
}
