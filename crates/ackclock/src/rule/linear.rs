//! The family of linear controls, with its four named members.
//!
//! # Linear: any control of the linear family
//!
//! `cc = "linear"`
//!
//! A linear control changes the window by an amount and a factor in each step. One pair applies
//! without congestion, another pair at a congestion event. Use it to test any member of the family
//! of Chiu and Jain.
//!
//! ## Reference
//!
//! D.-M. Chiu and R. Jain: Analysis of the increase and decrease algorithms for congestion
//! avoidance in computer networks, 1989. It is equation 1 of `jasem-utilization`. The parameters of
//! the named members follow Reddy et al. on AIMD against AIAD.
//!
//! ## Equations
//!
//! Per round trip without congestion `w <- a_I + b_I w`. At a congestion event `w <- a_D + b_D w`.
//! Four members have names:
//!
//! | member | per round trip | per ACK of one segment | at a congestion event |
//! |---|---|---|---|
//! | [AIMD](aimd.md)(a, b) | `w + a` | `w + a/w` | `b w` (b **remains**) |
//! | [AIAD](aiad.md)(a, b) | `w + a` | `w + a/w` | `w - b` |
//! | [MIMD](mimd.md)(a, b) | `(1 + a) w` | `w + a` | `b w` (b **remains**) |
//! | [MIAD](miad.md)(a, b) | `(1 + a) w` | `w + a` | `w - b` |
//!
//! AIAD with a small multiplicative part in its decrease is also a member. It has `decrease_add`
//! below 0 and `decrease_mul` below 1.
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! The rule has none. Inside TCP the window never falls below one segment, and ssthresh never below
//! two (RFC 5681). A window that the flow does not use does not grow. A timeout halves the window
//! by default (`timeout_ssthresh`).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values, and the
//! [synchronous model](../reference/synchronous-model.md) with closed forms. The four named members
//! run the same code. [Validation](../validation/README.md) lists all comparisons of the simulator.
//!
//! # AIMD: additive increase, multiplicative decrease
//!
//! `cc = "aimd"`
//!
//! AIMD adds a constant to the window per round trip. At a congestion event it multiplies the
//! window by a factor. Equal flows converge to equal shares, because each decrease halves the
//! difference of their windows. AIMD(1, 0.5) is standard TCP.
//!
//! ## Reference
//!
//! D.-M. Chiu and R. Jain: Analysis of the increase and decrease algorithms for congestion
//! avoidance in computer networks, 1989. AIMD is a member of the [linear family](linear.md).
//! AIMD(1, 0.5) is the congestion avoidance of RFC 5681.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a` |
//! | ACK of one segment | `w <- w + a / w` |
//! | congestion event | `w <- b w`: b is the part that **remains** |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! `increase = 1` and `remaining = 0.5` are the values of RFC 5681.
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! - Tests compare the formulas with hand-computed values.
//! - In the model the efficiency is `(1 + b)/2`.
//! - In packets, three theories hold: window under periodic loss, utilisation against buffer size,
//!   and random loss as a renewal process.
//! - [ns-2 validation](../validation/ns2.md) compares goodput and drops.
//! - [Linux validation](../validation/linux.md) compares AIMD(2, 0.8) with the running kernel.
//!
//! # AIAD: additive increase, additive decrease
//!
//! `cc = "aiad"`
//!
//! AIAD adds a constant to the window in each round trip and subtracts a constant at a congestion
//! event. It yields less than AIMD. Unequal windows stay unequal.
//!
//! ## Reference
//!
//! D.-M. Chiu and R. Jain: Analysis of the increase and decrease algorithms for congestion
//! avoidance in computer networks, 1989. AIAD is a member of the [linear family](linear.md). The
//! parameters follow Reddy et al.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a` |
//! | ACK of one segment | `w <- w + a / w` |
//! | congestion event | `w <- w - b` |
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. In the
//! [synchronous model](../reference/synchronous-model.md) the difference of two windows never
//! changes. [Validation](../validation/README.md) lists all comparisons of the simulator.
//!
//! # MIMD: multiplicative increase, multiplicative decrease
//!
//! `cc = "mimd"`
//!
//! MIMD multiplies the window in each round trip and at each congestion event. It fills a fast link
//! quickly. The ratio of two windows stays as it was.
//!
//! ## Reference
//!
//! D.-M. Chiu and R. Jain: Analysis of the increase and decrease algorithms for congestion
//! avoidance in computer networks, 1989. MIMD is a member of the [linear family](linear.md). The
//! parameters follow Reddy et al.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- (1 + a) w` |
//! | ACK of one segment | `w <- w + a` |
//! | congestion event | `w <- b w`: b is the part that **remains** |
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. In the
//! [synchronous model](../reference/synchronous-model.md) the ratio of two windows never changes
//! until one reaches its floor. [Validation](../validation/README.md) lists all comparisons of the
//! simulator.
//!
//! # MIAD: multiplicative increase, additive decrease
//!
//! `cc = "miad"`
//!
//! MIAD multiplies the window in each round trip and subtracts a constant at a congestion event. It
//! is the unstable member of the family: the larger flow takes the link.
//!
//! ## Reference
//!
//! D.-M. Chiu and R. Jain: Analysis of the increase and decrease algorithms for congestion
//! avoidance in computer networks, 1989. MIAD is a member of the [linear family](linear.md). The
//! parameters follow Reddy et al.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- (1 + a) w` |
//! | ACK of one segment | `w <- w + a` |
//! | congestion event | `w <- w - b` |
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! The deviations are the ones of the [linear family](linear.md).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. In the
//! [synchronous model](../reference/synchronous-model.md) the ratio of two windows diverges, and
//! the smaller flow starves. [Validation](../validation/README.md) lists all comparisons of the
//! simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LARGEST_FACTOR, MOST_SEGMENTS, ParameterError, Rule, RuleParameters, require, require_segments};

const CHIU_JAIN: &str = "Chiu & Jain 1989, Analysis of the increase and decrease algorithms for congestion avoidance";

/// Any linear control of the window.
///
/// The window is `w <- increase_add + increase_mul w`, and `decrease_add + decrease_mul w` after a cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Linear {
    /// Segments added per round trip (a_I), at least 0 and at most 16777216.
    pub increase_add: f64,
    /// Factor of the window per round trip (b_I), at least 1 and at most 1000.
    pub increase_mul: f64,
    /// Segments added at a congestion event (a_D), at least -16777216 and at most 0.
    pub decrease_add: f64,
    /// Part of the window that remains at a congestion event (b_D), above 0 and at most 1.
    pub decrease_mul: f64,
}

impl Default for Linear {
    fn default() -> Self {
        Linear { increase_add: 1.0, increase_mul: 1.0, decrease_add: 0.0, decrease_mul: 0.5 }
    }
}

impl Rule for Linear {
    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.increase_add / w + (self.increase_mul - 1.0))
    }

    #[inline]
    fn cut(&mut self, w: f64) -> f64 {
        self.decrease_add + self.decrease_mul * w
    }
}

impl RuleParameters for Linear {
    type Rule = Linear;
    const REFERENCE: &'static str = CHIU_JAIN;

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase_add", self.increase_add)?;
        require(
            "increase_mul",
            self.increase_mul,
            (1.0..=LARGEST_FACTOR).contains(&self.increase_mul),
            "at least 1 and at most 1000",
        )?;
        require(
            "decrease_add",
            self.decrease_add,
            (-MOST_SEGMENTS..=0.0).contains(&self.decrease_add),
            "at least -16777216 and at most 0",
        )?;
        require(
            "decrease_mul",
            self.decrease_mul,
            self.decrease_mul > 0.0 && self.decrease_mul <= 1.0,
            "above 0 and at most 1",
        )
    }

    fn rule(&self) -> Linear {
        self.clone()
    }
}

/// Declares a two-parameter member of the family as a view onto [`Linear`].
macro_rules! member {
    (
        $(#[$doc:meta])* $name:ident {
            $(#[$increase_doc:meta])* $increase:ident = $increase_default:literal, $increase_ok:expr, $increase_range:literal;
            $(#[$decrease_doc:meta])* $decrease:ident = $decrease_default:literal, $decrease_ok:expr, $decrease_range:literal;
        } => $linear:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(#[$increase_doc])*
            pub $increase: f64,
            $(#[$decrease_doc])*
            pub $decrease: f64,
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $increase: $increase_default, $decrease: $decrease_default }
            }
        }

        impl RuleParameters for $name {
            type Rule = Linear;
            const REFERENCE: &'static str = CHIU_JAIN;

            fn check(&self) -> Result<(), ParameterError> {
                let in_range: fn(f64) -> bool = $increase_ok;
                require(stringify!($increase), self.$increase, in_range(self.$increase), $increase_range)?;
                let in_range: fn(f64) -> bool = $decrease_ok;
                require(stringify!($decrease), self.$decrease, in_range(self.$decrease), $decrease_range)
            }

            fn rule(&self) -> Linear {
                let view: fn(&$name) -> Linear = $linear;
                view(self)
            }
        }
    };
}

member! {
    /// Additive increase, multiplicative decrease. AIMD(1, 0.5) is standard TCP.
    Aimd {
        /// Segments added per round trip, at least 0 and at most 16777216.
        increase = 1.0, |a| (0.0..=MOST_SEGMENTS).contains(&a), "at least 0 and at most 16777216";
        /// Part of the window that remains at a congestion event, above 0 and at most 1.
        remaining = 0.5, |b| b > 0.0 && b <= 1.0, "above 0 and at most 1";
    } => |p| Linear { increase_add: p.increase, decrease_mul: p.remaining, ..Linear::default() }
}

member! {
    /// Additive increase, additive decrease.
    Aiad {
        /// Segments added per round trip, at least 0 and at most 16777216.
        increase = 1.0, |a| (0.0..=MOST_SEGMENTS).contains(&a), "at least 0 and at most 16777216";
        /// Segments removed at a congestion event, at least 0 and at most 16777216.
        removed = 3.0, |b| (0.0..=MOST_SEGMENTS).contains(&b), "at least 0 and at most 16777216";
    } => |p| Linear { increase_add: p.increase, decrease_add: -p.removed, decrease_mul: 1.0, ..Linear::default() }
}

member! {
    /// Multiplicative increase, multiplicative decrease.
    Mimd {
        /// Part of the window added per round trip, at least 0 and at most 1000.
        increase = 0.1, |a| (0.0..=LARGEST_FACTOR).contains(&a), "at least 0 and at most 1000";
        /// Part of the window that remains at a congestion event, above 0 and at most 1.
        remaining = 0.5, |b| b > 0.0 && b <= 1.0, "above 0 and at most 1";
    } => |p| Linear { increase_add: 0.0, increase_mul: 1.0 + p.increase, decrease_mul: p.remaining, ..Linear::default() }
}

member! {
    /// Multiplicative increase, additive decrease.
    Miad {
        /// Part of the window added per round trip, at least 0 and at most 1000.
        increase = 0.1, |a| (0.0..=LARGEST_FACTOR).contains(&a), "at least 0 and at most 1000";
        /// Segments removed at a congestion event, at least 0 and at most 16777216.
        removed = 3.0, |b| (0.0..=MOST_SEGMENTS).contains(&b), "at least 0 and at most 16777216";
    } => |p| Linear {
        increase_add: 0.0, increase_mul: 1.0 + p.increase, decrease_add: -p.removed, decrease_mul: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acks_gives_the_rule_per_round_trip() {
        // AIMD(1, .5) at 10: 11 after a round trip, 5 after a loss.
        let mut aimd = Aimd::default().rule();
        assert_eq!((aimd.grow(10.0, 10.0), aimd.cut(10.0)), (11.0, 5.0));
        // AIAD(2, 3) at 10: 12 and 7.
        let mut aiad = Aiad { increase: 2.0, removed: 3.0 }.rule();
        assert_eq!((aiad.grow(10.0, 10.0), aiad.cut(10.0)), (12.0, 7.0));
        // MIMD(.25, .75) at 16: 20 and 12.
        let mut mimd = Mimd { increase: 0.25, remaining: 0.75 }.rule();
        assert_eq!((mimd.grow(16.0, 16.0), mimd.cut(16.0)), (20.0, 12.0));
        // MIAD(.25, 4) at 16: 20 and 12.
        let mut miad = Miad { increase: 0.25, removed: 4.0 }.rule();
        assert_eq!((miad.grow(16.0, 16.0), miad.cut(16.0)), (20.0, 12.0));
    }

    #[test]
    fn one_ack_adds_a_over_w_or_a() {
        // 10 + 1/10, and 16 + .25.
        assert!((Aimd::default().rule().grow(10.0, 1.0) - 10.1).abs() < 1e-12);
        assert_eq!(Mimd { increase: 0.25, remaining: 0.5 }.rule().grow(16.0, 1.0), 16.25);
    }

    #[test]
    fn the_edges_of_the_ranges_are_in_where_the_range_says_at_least_or_at_most() {
        let still = || Linear { increase_add: 0.0, increase_mul: 1.0, decrease_add: 0.0, decrease_mul: 1.0 };
        assert_eq!(still().check(), Ok(()));
        assert_eq!((still().rule().grow(10.0, 10.0), still().rule().cut(10.0)), (10.0, 10.0));
        for wrong in [
            Linear { increase_add: -0.1, ..still() },
            Linear { increase_mul: 0.9, ..still() },
            Linear { increase_add: 1e300, ..still() },
            Linear { increase_mul: 1_000.5, ..still() },
            Linear { decrease_add: -2e7, ..still() },
            Linear { decrease_add: 0.1, ..still() },
            Linear { decrease_mul: 0.0, ..still() },
            Linear { decrease_mul: 1.1, ..still() },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_parameter_out_of_range_is_named() {
        let error = Aimd { increase: 1.0, remaining: 1.5 }.check().unwrap_err();
        assert_eq!(error.to_string(), "`remaining` is 1.5, but must be above 0 and at most 1");
        assert!(Aimd { increase: f64::NAN, remaining: 0.5 }.check().is_err());
        assert!(Linear { decrease_add: 1.0, ..Linear::default() }.check().is_err());
    }
}
