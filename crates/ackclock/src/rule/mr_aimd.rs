//! # MR-AIMD: multi-rate AIMD, in which the increase grows too
//!
//! `cc = "mr-aimd"`, with `ecn = "classic"` and a queue that marks
//!
//! MR-AIMD grows its increase as well as its window. Without congestion the increase alpha itself
//! rises by alpha' per round trip, so the window grows quadratically. ECN marks slow this growth
//! long before a loss halves window and increase.
//!
//! ## Reference
//!
//! I. Psaras, M. Dianati and R. Tafazolli: MR-AIMD, multi-rate additive increase, multiplicative
//! decrease (psaras-mr-aimd), equations 1 and 2. The
//! [MR-AIMD paper's results](../papers/psaras-mr-aimd.md) list which of its claims reproduce.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | start | `alpha = 1`, `alpha' = 0.5` |
//! | ACK of new data | `alpha <- alpha + alpha'/w`, then `w <- w + alpha/w` |
//! | loss (three duplicate ACKs) | `w <- w - w/2`, `alpha <- alpha - alpha/2` |
//! | mark | `alpha' <- 0.005`, and the window stays |
//! | timeout | `alpha' <- 0.5` |
//!
//! ## Parameters
//!
//! `ecn_hold` sets how long a mark holds alpha' at `alpha_prime_marked`:
//!
//! | `ecn_hold` | a mark lasts |
//! |---|---|
//! | `ack` | for the ACK that echoes it |
//! | `rtt` | until a round trip without a mark |
//! | `timeout` | until a timeout |
//!
//! `on_mark` sets the response to a mark:
//!
//! | `on_mark` | response |
//! |---|---|
//! | `slow` | alpha' becomes `alpha_prime_marked` |
//! | `cut` | alpha is cut as at a loss, once a window |
//! | `freeze` | alpha stays |
//! | `cut-alpha-prime` | alpha' is cut as at a loss, until a timeout |
//! | `freeze-alpha-prime` | alpha' stays, and alpha continues to grow |
//!
//! `ecn_hold` has no effect on the two cuts and on `freeze-alpha-prime`.
//!
//! ## Open in the paper
//!
//! The paper leaves the duration of a mark's effect and the floor of alpha open. It says that a
//! timeout "reduces" alpha' to 0.5, which is more than 0.005. The implementation fixes four points:
//!
//! - Alpha stays constant in slow start.
//! - The sender answers an echo with CWR once a window, although it does not reduce its window.
//!   Otherwise a receiver of RFC 3168 would echo for ever.
//! - The window grows on ACKs that echo a mark.
//! - A loss in a marked window is a congestion event.
//!
//! The [decision on MR-AIMD and marks](../project/decisions/0019-mr-aimd.md) explains the default
//! of `ecn_hold`.
//!
//! Section 3.1 names three responses to a mark: (i) additive increase, (ii) multiplicative
//! decrease, (iii) stabilisation of the rate a'. The paper takes (i). Taken literally, (ii)
//! is `cut-alpha-prime`, which "results in very low values for a'": it has no floor. Taken
//! literally, (iii) is `freeze-alpha-prime`, under which a mark changes nothing. If a' stands for
//! the rate that it changes, both act on alpha: `cut` and `freeze`.
//!
//! Section 5 says that "MR-AIMD's Additive Increase function may be complemented with a fraction of
//! the flow's measured RTT sample". The equation is `alpha <- alpha + c alpha'/w`, and c is "the
//! flow's latest measured RTT sample". The paper does not give the unit of c. With `rtt_scaled`, c
//! is the latest RTT divided by `reference_rtt`. Alpha then grows with time, at the same rate for
//! flows of all RTTs. Before the first RTT sample, c is 1. The synchronous model has no RTT, and c
//! is 1 there.
//!
//! ## Deviations
//!
//! The rule has none. Inside TCP the window never falls below one segment, and ssthresh never below
//! two (RFC 5681). A window that the flow does not use does not grow.
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. From 20 segments without marks the window
//! is 33.7 after 6 round trips. It passes 40 in the eighth. Figure 7 of the paper ("doubles within
//! 6 round trips") is drawn from equation 3. That equation gives 43.5 after 6 round trips.
//! `ackclock model` prints both figures, as the
//! [synchronous model's reference](../reference/synchronous-model.md) explains.
//!
//! ## Behaviour
//!
//! If no queue marks, only losses reduce alpha. In competition with standard TCP it takes more than
//! its fair share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MOST_SEGMENTS, Marks, ParameterError, Rule, RuleParameters, require, require_segments};
use crate::units::Duration;

/// Multi-rate AIMD: the increase grows too. It grows more slowly while packets are marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MrAimd {
    /// Initial increase per round trip in segments, above 0.
    pub alpha: f64,
    /// Lower bound of alpha, above 0 and at most `alpha`.
    pub alpha_min: f64,
    /// Increase of alpha per round trip, at least 0 and at most 16777216.
    pub alpha_prime: f64,
    /// Increase of alpha per round trip while a mark holds it, at least 0 and at most 16777216.
    pub alpha_prime_marked: f64,
    /// Time for which a mark holds alpha'. `ack`: until the ACK that echoes it. `rtt`: until a round trip without a
    /// mark. `timeout`: until a timeout.
    pub ecn_hold: EcnHold,
    /// Response to a mark. `slow`, `freeze`: slow or freeze alpha while the mark holds. `cut`: cut alpha as a loss
    /// does, once per window. `cut-alpha-prime`: cut alpha' in that way until a timeout. `freeze-alpha-prime`: leave
    /// alpha' as it is.
    pub on_mark: OnMark,
    /// Values that a timeout resets: alpha' (marks are forgotten), alpha, or both.
    pub on_timeout: OnTimeout,
    /// Part of the window and of alpha that remains at a loss, above 0 and at most 1.
    pub remaining: f64,
    /// Whether the increase of alpha is proportional to the last measured round-trip time.
    pub rtt_scaled: bool,
    /// Round-trip time at which `rtt_scaled` changes nothing, above 0.
    pub reference_rtt: Duration,
}

/// The response to a mark. The paper names three responses, of "the AI rate, a'", and takes the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnMark {
    /// alpha' is `alpha_prime_marked`.
    #[default]
    Slow,
    /// alpha is cut as at a loss, once a window of data.
    Cut,
    /// alpha stays as it is.
    Freeze,
    /// alpha' is cut as alpha is at a loss, once a window of data, until a timeout.
    CutAlphaPrime,
    /// alpha' stays as it is, and alpha continues to grow.
    FreezeAlphaPrime,
}

/// How long a mark is felt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnHold {
    /// By the ACK that echoes it.
    Ack,
    /// Until a round trip has passed without one.
    Rtt,
    /// Until a timeout.
    #[default]
    Timeout,
}

/// Values that a timeout resets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// alpha': marks are forgotten.
    #[default]
    AlphaPrime,
    /// alpha.
    Alpha,
    /// Both of them.
    Both,
}

impl Default for MrAimd {
    fn default() -> Self {
        MrAimd {
            alpha: 1.0,
            alpha_min: 0.05,
            alpha_prime: 0.5,
            alpha_prime_marked: 0.005,
            ecn_hold: EcnHold::default(),
            on_mark: OnMark::default(),
            on_timeout: OnTimeout::default(),
            remaining: 0.5,
            rtt_scaled: false,
            reference_rtt: REFERENCE_RTT,
        }
    }
}

/// The paper does not give the unit of c. Its flows have base RTTs of about 100 ms.
const REFERENCE_RTT: Duration = Duration::from_millis(100);

impl RuleParameters for MrAimd {
    type Rule = MrAimdRule;
    const REFERENCE: &'static str = "Psaras, Dianati & Tafazolli 2009, MR-AIMD";

    fn check(&self) -> Result<(), ParameterError> {
        let MrAimd { alpha, alpha_min, alpha_prime, alpha_prime_marked, remaining, .. } = *self;
        require("alpha", alpha, alpha > 0.0 && alpha <= MOST_SEGMENTS, "above 0 and at most 16777216")?;
        require("alpha_min", alpha_min, alpha_min > 0.0 && alpha_min <= alpha, "above 0 and at most `alpha`")?;
        require_segments("alpha_prime", alpha_prime)?;
        require_segments("alpha_prime_marked", alpha_prime_marked)?;
        require("remaining", remaining, remaining > 0.0 && remaining <= 1.0, "above 0 and at most 1")?;
        let reference_rtt_s = self.reference_rtt.as_secs_f64();
        require("reference_rtt", reference_rtt_s, reference_rtt_s > 0.0, "above 0")
    }

    fn rule(&self) -> MrAimdRule {
        MrAimdRule {
            alpha: self.alpha,
            unmarked: self.alpha_prime,
            rtt_ratio: 1.0,
            held: false,
            marked_this_round: false,
            parameters: self.clone(),
        }
    }
}

/// The state of MR-AIMD.
#[derive(Clone, Debug)]
pub struct MrAimdRule {
    parameters: MrAimd,
    alpha: f64,
    /// Value of alpha' without a mark that holds it. Cuts by marks make it less than the parameter.
    unmarked: f64,
    /// Last RTT sample divided by the reference, or 1 without scaling.
    rtt_ratio: f64,
    /// A mark holds alpha'.
    held: bool,
    marked_this_round: bool,
}

impl MrAimdRule {
    fn alpha_prime(&self) -> f64 {
        let alpha_prime = match (self.held, self.parameters.on_mark) {
            (true, OnMark::Slow) => self.parameters.alpha_prime_marked,
            (true, OnMark::Freeze) => 0.0,
            _ => self.unmarked,
        };
        self.rtt_ratio * alpha_prime
    }

    fn cut_alpha(&mut self) {
        self.alpha = (self.alpha * self.parameters.remaining).max(self.parameters.alpha_min);
    }
}

impl Rule for MrAimdRule {
    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        self.alpha += acked * (self.alpha_prime() / w);
        w + acked * (self.alpha / w)
    }

    fn cut(&mut self, w: f64) -> f64 {
        self.cut_alpha();
        w * self.parameters.remaining
    }

    fn accelerates(&self) -> bool {
        true
    }

    fn marks(&self) -> Marks {
        Marks::Observed
    }

    #[inline]
    fn on_rtt(&mut self, latest: Duration) {
        if self.parameters.rtt_scaled {
            self.rtt_ratio = latest.as_secs_f64() / self.parameters.reference_rtt.as_secs_f64();
        }
    }

    #[inline]
    fn on_ack(&mut self, marked: bool, round_ended: bool) {
        self.marked_this_round |= marked;
        match self.parameters.ecn_hold {
            EcnHold::Ack => self.held = marked,
            EcnHold::Rtt if round_ended => self.held = std::mem::take(&mut self.marked_this_round),
            EcnHold::Rtt | EcnHold::Timeout => self.held |= marked,
        }
    }

    fn on_mark(&mut self) {
        match self.parameters.on_mark {
            OnMark::Cut => self.cut_alpha(),
            OnMark::CutAlphaPrime => self.unmarked *= self.parameters.remaining,
            OnMark::Slow | OnMark::Freeze | OnMark::FreezeAlphaPrime => {}
        }
    }

    fn on_timeout(&mut self) {
        if self.parameters.on_timeout != OnTimeout::Alpha {
            (self.held, self.marked_this_round) = (false, false);
            self.unmarked = self.parameters.alpha_prime;
        }
        if self.parameters.on_timeout != OnTimeout::AlphaPrime {
            self.alpha = self.parameters.alpha;
        }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha_segments", self.alpha);
        report("alpha_prime_segments", self.alpha_prime());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(change: impl FnOnce(&mut MrAimd)) -> MrAimdRule {
        let mut parameters = MrAimd::default();
        change(&mut parameters);
        assert_eq!(parameters.check(), Ok(()));
        parameters.rule()
    }

    #[test]
    fn the_increase_grows_before_the_window() {
        // alpha = 1 + 0.5/10, then 10 + 1.05/10; a whole window at once: 1.5, then 11.5.
        let mut per_ack = rule(|_| {});
        assert_eq!((per_ack.grow(10.0, 1.0), per_ack.alpha), (10.105, 1.05));
        let mut per_round = rule(|_| {});
        assert_eq!((per_round.grow(10.0, 10.0), per_round.alpha), (11.5, 1.5));
    }

    #[test]
    fn a_loss_halves_window_and_increase_down_to_the_floor() {
        let mut it = rule(|_| {});
        assert_eq!((it.cut(20.0), it.alpha), (10.0, 0.5));
        for _ in 0..9 {
            it.cut(20.0);
        }
        assert_eq!(it.alpha, 0.05);
    }

    /// The accelerations after ACKs, each (marked, ends a round).
    fn accelerations(it: &mut MrAimdRule, acks: &[(bool, bool)]) -> Vec<f64> {
        let one = |&(marked, round_ended): &(bool, bool)| {
            it.on_ack(marked, round_ended);
            it.alpha_prime()
        };
        acks.iter().map(one).collect()
    }

    #[test]
    fn a_mark_holds_the_acceleration_as_long_as_it_is_told_to() {
        const FAST: f64 = 0.5;
        const SLOW: f64 = 0.005;
        let acks = [(false, true), (true, false), (false, false), (false, true), (false, false), (false, true)];
        let seen = |ecn_hold| accelerations(&mut rule(|it| it.ecn_hold = ecn_hold), &acks);
        assert_eq!(seen(EcnHold::Ack), [FAST, SLOW, FAST, FAST, FAST, FAST]);
        // The round with the mark ends with the fourth ACK, one without it with the last.
        assert_eq!(seen(EcnHold::Rtt), [FAST, SLOW, SLOW, SLOW, SLOW, FAST]);
        assert_eq!(seen(EcnHold::Timeout), [FAST, SLOW, SLOW, SLOW, SLOW, SLOW]);
        let mut frozen = rule(|it| it.on_mark = OnMark::Freeze);
        assert_eq!(accelerations(&mut frozen, &acks[..2]), [FAST, 0.0]);
        assert_eq!((frozen.grow(10.0, 10.0), frozen.alpha), (11.0, 1.0));
    }

    #[test]
    fn a_mark_may_cut_the_increase_instead() {
        let mut slows = rule(|_| {});
        slows.on_mark();
        assert_eq!(slows.alpha, 1.0);
        let mut cuts = rule(|it| it.on_mark = OnMark::Cut);
        cuts.on_ack(true, false);
        cuts.on_mark();
        assert_eq!((cuts.alpha, cuts.alpha_prime()), (0.5, 0.5));
    }

    #[test]
    fn a_mark_may_cut_or_spare_the_acceleration_itself() {
        let after = |on_mark, marks: usize| {
            let mut it = rule(|it| it.on_mark = on_mark);
            for _ in 0..marks {
                it.on_ack(true, true);
                it.on_mark();
            }
            it
        };
        // 0.5 halves with every window that is marked, and not with every ACK; alpha stays until it grows by it.
        let mut cut = after(OnMark::CutAlphaPrime, 3);
        cut.on_ack(true, false);
        assert_eq!((cut.alpha_prime(), cut.alpha), (0.0625, 1.0));
        assert_eq!((cut.grow(10.0, 10.0), cut.alpha), (11.0625, 1.0625));
        // It lasts until a timeout, whatever ecn_hold says of marks that hold.
        cut.on_ack(false, true);
        assert_eq!(cut.alpha_prime(), 0.0625);
        cut.on_timeout();
        assert_eq!(cut.alpha_prime(), 0.5);
        let mut frozen = after(OnMark::FreezeAlphaPrime, 3);
        assert_eq!((frozen.grow(10.0, 10.0), frozen.alpha, frozen.alpha_prime()), (11.5, 1.5, 0.5));
        let mut kept = rule(|it| (it.on_mark, it.on_timeout) = (OnMark::CutAlphaPrime, OnTimeout::Alpha));
        kept.on_mark();
        kept.on_timeout();
        assert_eq!(kept.alpha_prime(), 0.25);
    }

    #[test]
    fn the_acceleration_may_be_in_proportion_to_the_round_trip_time() {
        // At 200 ms twice as much as at 100 ms in a round trip: 0.5 x 2, marked 0.005 x 2.
        let mut scaled = rule(|it| it.rtt_scaled = true);
        assert_eq!(scaled.alpha_prime(), 0.5, "nothing is measured yet");
        scaled.on_rtt(Duration::from_millis(200));
        assert_eq!((scaled.grow(10.0, 10.0), scaled.alpha), (12.0, 2.0));
        scaled.on_ack(true, false);
        assert_eq!(scaled.alpha_prime(), 0.01);
        let mut near = rule(|it| (it.rtt_scaled, it.reference_rtt) = (true, Duration::from_millis(400)));
        near.on_rtt(Duration::from_millis(100));
        assert_eq!(near.alpha_prime(), 0.125);
        let mut plain = rule(|_| {});
        plain.on_rtt(Duration::from_millis(200));
        assert_eq!(plain.alpha_prime(), 0.5);
    }

    #[test]
    fn a_timeout_resets_what_it_is_told_to() {
        let after = |on_timeout| {
            let mut it = rule(|it| (it.on_timeout, it.ecn_hold) = (on_timeout, EcnHold::Timeout));
            it.cut(20.0);
            it.on_ack(true, false);
            it.on_timeout();
            (it.alpha, it.alpha_prime())
        };
        assert_eq!(after(OnTimeout::AlphaPrime), (0.5, 0.5));
        assert_eq!(after(OnTimeout::Alpha), (1.0, 0.005));
        assert_eq!(after(OnTimeout::Both), (1.0, 0.5));
    }

    #[test]
    fn parameters_have_their_ranges() {
        let fails = |change: fn(&mut MrAimd)| {
            let mut parameters = MrAimd::default();
            change(&mut parameters);
            parameters.check().unwrap_err().key
        };
        assert_eq!(fails(|it| it.alpha = 0.0), "alpha");
        assert_eq!(fails(|it| it.alpha_min = 0.0), "alpha_min");
        assert_eq!(fails(|it| it.alpha_min = 1.1), "alpha_min");
        assert_eq!(fails(|it| it.alpha_prime = -0.1), "alpha_prime");
        assert_eq!(fails(|it| it.alpha_prime_marked = -0.1), "alpha_prime_marked");
        assert_eq!(fails(|it| it.remaining = 0.0), "remaining");
        assert_eq!(fails(|it| it.remaining = 1.1), "remaining");
        assert_eq!(fails(|it| it.reference_rtt = Duration::ZERO), "reference_rtt");
    }

    #[test]
    fn both_rates_are_told() {
        let mut told = Vec::new();
        rule(|_| {}).probe(&mut |name, value| told.push((name.to_owned(), value)));
        let expected = [("alpha_segments", 1.0), ("alpha_prime_segments", 0.5)];
        assert_eq!(told, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
