//! Closed forms that the models and the simulator are tested against, to the accuracy that each formula states.
//!
//! `remaining` is the part of the window that remains after a congestion event, and `p` a loss probability per
//! packet. Windows are in segments.

use serde::Serialize;

use crate::cc::CcSpec;
use crate::rule::new_aimd::{Base, NewAimd};

/// The window after the cut over the window before it, in the long run of synchronised users.
///
/// None for a rule whose ratio depends on the configuration. For New-AIMD it is an asymptotic limit.
pub fn remaining(cc: &CcSpec) -> Option<f64> {
    match cc {
        CcSpec::Aimd(aimd) => Some(aimd.remaining),
        CcSpec::Reno(_) => Some(0.5),
        CcSpec::AimdFc(_) => Some(2.0 / 3.0),
        CcSpec::AimdFcPlus(plus) => Some(fc_plus_remaining(plus.gain_kept)),
        CcSpec::NewAimd(NewAimd { base: Base::Recovery, .. }) => Some(2.0 / 3.0),
        CcSpec::NewAimd(_) => Some(1.0),
        _ => None,
    }
}

/// The window of AIMD-FC+ after a decrease from a peak of 1, in the long run. With the part `f` of the gain kept, it
/// is `(2/3 + f) / (1 + f)`.
///
/// `dw = dw/2 + (1 - dw)` converges to 2/3 as in AIMD-FC. The window `r` after the decrease, and with it the gain
/// `1 - r`, converges to `r = 2/3 + f (1 - r)`. The efficiency is `(1 + r) / 2 = (5 + 6f) / (6 + 6f)`: 5/6 for f = 0,
/// 8/9 for f = 1/2.
pub fn fc_plus_remaining(gain_kept: f64) -> f64 {
    (2.0 / 3.0 + gain_kept) / (1.0 + gain_kept)
}

/// Mean load over `X_goal` of a sawtooth that climbs straight from `remaining` to 1: `(1 + remaining) / 2`.
pub fn efficiency(remaining: f64) -> f64 {
    (1.0 + remaining) / 2.0
}

/// Change of two unequal windows from one congestion event to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Convergence {
    /// Their difference is multiplied by `factor` per cycle.
    Difference {
        /// 1 is permanently unfair.
        factor: f64,
    },
    /// Their ratio never changes, until a window meets its floor.
    RatioKept,
    /// Their ratio grows until the smaller user starves.
    RatioDiverges,
}

/// How a rule treats two unequal windows (Chiu & Jain 1989, section 3). None where no simple relation holds.
pub fn convergence(cc: &CcSpec) -> Option<Convergence> {
    match cc {
        CcSpec::Aimd(aimd) => Some(Convergence::Difference { factor: aimd.remaining }),
        CcSpec::AimdFc(_) | CcSpec::AimdFcPlus(_) | CcSpec::NewAimd(_) | CcSpec::Reno(_) => {
            Some(Convergence::Difference { factor: 0.5 })
        }
        // Users of one resource meet the same loss ratio, so AILD removes equal amounts.
        CcSpec::Aiad(_) | CcSpec::Aild(_) => Some(Convergence::Difference { factor: 1.0 }),
        // Removing the same amount from both keeps their difference.
        CcSpec::Linear(linear) if linear.increase_mul == 1.0 => {
            Some(Convergence::Difference { factor: linear.decrease_mul })
        }
        CcSpec::Mimd(_) => Some(Convergence::RatioKept),
        CcSpec::Miad(_) => Some(Convergence::RatioDiverges),
        // Without marks the increases of two users differ by ever less, but no relation holds for the windows alone.
        // Nothing published for the others.
        _ => None,
    }
}

/// Window of MR-AIMD after each of `rounds` round trips without marks or losses. By equation 3 of psaras-mr-aimd,
/// `alpha_n = alpha_(n-1) + alpha' n`, and the window gains `alpha_0 .. alpha_(n-1)`.
///
/// It grows faster than equation 1, which the protocol follows per ACK.
pub fn mr_aimd_windows(window: f64, increase: f64, acceleration: f64, rounds: u32) -> Vec<f64> {
    let mut now = (window, increase);
    let next = |n: u32| {
        now = (now.0 + now.1, now.1 + acceleration * f64::from(n));
        now.0
    };
    (1..=rounds).map(next).collect()
}

/// Time-mean window of AIMD(`increase`, `remaining`) when every 1/`p`-th packet is lost:
/// `sqrt(a (1 + b) / (2 (1 - b) p))`, which for AIMD(1, 0.5) is `sqrt(3/(2p)) = 1.22/sqrt(p)`.
///
/// Source: Mathis, Semke, Mahdavi & Ott 1997. One long flow, periodic loss, every packet acknowledged, no timeouts.
pub fn periodic_loss_window(increase: f64, remaining: f64, p: f64) -> f64 {
    (increase * (1.0 + remaining) / (2.0 * (1.0 - remaining) * p)).sqrt()
}

/// Time-mean window of CUBIC when every 1/`p`-th packet is lost, `rtt_s` in seconds:
/// `(C (3 + b) / (4 (1 - b)))^(1/4) (RTT / p)^(3/4)`.
///
/// Source: RFC 9438 §5. It describes one long flow outside of the Reno-friendly region, with every packet
/// acknowledged and without timeouts. Every loss occurs at the same window, so fast convergence does not apply.
pub fn cubic_periodic_loss_window(c: f64, remaining: f64, rtt_s: f64, p: f64) -> f64 {
    libm::pow(c * (3.0 + remaining) / (4.0 * (1.0 - remaining)), 0.25) * libm::pow(rtt_s / p, 0.75)
}

/// Utilisation of a drop-tail link by one long AIMD flow, with a buffer of `buffer_bdp` bandwidth-delay products.
///
/// With `y = remaining (1 + beta) < 1` the link runs idle after a cut, and
/// `U = ((1 + beta)^2 - y^2) / (2 (1 - y) + (1 + beta)^2 - 1)`. Otherwise the link is never idle. U does not depend
/// on the increase. Without a buffer U is `(1 + remaining) / 2`.
pub fn drop_tail_utilization(remaining: f64, buffer_bdp: f64) -> f64 {
    let peak = 1.0 + buffer_bdp;
    let y = remaining * peak;
    if y >= 1.0 {
        return 1.0;
    }
    // Windows from y to 1 take a base RTT per segment gained. Windows w from 1 to the peak take w base RTTs.
    (peak * peak - y * y) / (2.0 * (1.0 - y) + peak * peak - 1.0)
}

/// The formula that makes AIMD(a, b) share fairly with AIMD(1, 0.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FriendlyLaw {
    /// `a = 3 (1 - b) / (1 + b)`: equal sawtooth means. The Reno-friendly part of CUBIC uses it (RFC 9438).
    Sawtooth,
    /// `a = 4 (1 - b^2) / 3`: equal rates, including the effect of timeouts (Yang & Lam 2000).
    YangLam,
}

/// The increase that makes AIMD(increase, `remaining`) fair to AIMD(1, 0.5).
pub fn friendly_increase(remaining: f64, law: FriendlyLaw) -> f64 {
    match law {
        FriendlyLaw::Sawtooth => 3.0 * (1.0 - remaining) / (1.0 + remaining),
        FriendlyLaw::YangLam => 4.0 * (1.0 - remaining * remaining) / 3.0,
    }
}

/// One cycle of the New-AIMD algebra.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NewAimdCycle {
    /// Number of the cycle, from 1.
    pub cycle: u32,
    /// Its length in round trips (k_m).
    pub steps: f64,
    /// Packets sent in it by both flows: `(1 + k_m) (W - k_m)`.
    pub packets: f64,
}

/// Cycle `m` of two New-AIMD flows that start at `x1` and `x2` with `x1 + x2 <= capacity`.
///
/// `k_1 = (W - x1 - x2) / 2`, `k_2 = (W - 2 k_1) / 4`, `k_m = k_2 / 2^(m-2)`. Source: jasem-efficiency-fairness,
/// equations 1-4. Its feedback of 0 means congested. Here 1 does.
pub fn new_aimd_cycle(x1: f64, x2: f64, capacity: f64, m: u32) -> NewAimdCycle {
    assert!(m >= 1, "invariant: cycles are numbered from 1");
    let first = (capacity - x1 - x2) / 2.0;
    let steps = if m == 1 { first } else { libm::ldexp((capacity - 2.0 * first) / 4.0, 2 - m as i32) };
    NewAimdCycle { cycle: m, steps, packets: (1.0 + steps) * (capacity - steps) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn efficiencies_of_the_table() {
        let of = |name: &str| efficiency(remaining(&CcSpec::by_name(name).unwrap()).unwrap());
        assert!(close(of("aimd"), 3.0 / 4.0));
        assert!(close(of("aimd-fc"), 5.0 / 6.0));
        assert!(close(of("aimd-fc+"), 8.0 / 9.0));
        assert!(close(of("new-aimd"), 1.0));
    }

    #[test]
    fn periodic_loss_is_1_22_over_root_p() {
        // sqrt(3 / 2e-4) = sqrt(15000) = 122.474...
        assert!((periodic_loss_window(1.0, 0.5, 1e-4) - 122.474_487_139).abs() < 1e-8);
        // sqrt(1.8 / (.4 * 1e-2)) = sqrt(450) = 21.213...
        assert!((periodic_loss_window(1.0, 0.8, 1e-2) - 21.213_203_436).abs() < 1e-8);
    }

    #[test]
    fn cubic_has_the_windows_of_the_rfcs_tables() {
        // RFC 9438 §5.1, tables 1 and 2, where they lie above Reno's: C, RTT in seconds, loss rate, mean window.
        let printed = [
            (0.4, 0.1, 1e-4, 187.0),
            (0.4, 0.1, 1e-6, 5926.0),
            (0.4, 0.1, 1e-8, 187_400.0),
            (0.04, 0.1, 1e-6, 3332.0),
            (4.0, 0.1, 1e-3, 59.0),
            (0.4, 0.01, 1e-7, 5926.0),
            (4.0, 0.01, 1e-6, 1874.0),
        ];
        for (c, rtt_s, p, window) in printed {
            let computed = cubic_periodic_loss_window(c, 0.7, rtt_s, p);
            // Printed with a factor of 1.054 in the place of 1.0538.
            assert!((computed / window - 1.0_f64).abs() < 0.005, "{computed}, printed {window}");
        }
    }

    #[test]
    fn utilisation_goes_from_three_quarters_to_one_with_the_buffer() {
        assert!(close(drop_tail_utilization(0.5, 0.0), 0.75));
        assert!(close(drop_tail_utilization(0.5, 1.0), 1.0));
        // beta = .25: y = .625; (1.5625 - .390625) / (.75 + .5625) = 1.171875 / 1.3125 = .892857...
        assert!(close(drop_tail_utilization(0.5, 0.25), 1.171_875 / 1.3125));
        // b = .8, beta = .25: y = 1.
        assert!(close(drop_tail_utilization(0.8, 0.25), 1.0));
    }

    #[test]
    fn friendly_laws_agree_at_standard_tcp_only() {
        assert!(close(friendly_increase(0.5, FriendlyLaw::Sawtooth), 1.0));
        assert!(close(friendly_increase(0.5, FriendlyLaw::YangLam), 1.0));
        // b = .875: 3 * .125 / 1.875 = .2; 4 (1 - .765625) / 3 = .3125.
        assert!(close(friendly_increase(0.875, FriendlyLaw::Sawtooth), 0.2));
        assert!(close(friendly_increase(0.875, FriendlyLaw::YangLam), 0.3125));
    }

    #[test]
    fn new_aimd_cycles_halve() {
        // From (10, 50) with W = 100: k = 20, 15, 7.5, 3.75; packets 21 * 80, 16 * 85, 8.5 * 92.5.
        let cycles: Vec<_> = (1..=4).map(|m| new_aimd_cycle(10.0, 50.0, 100.0, m)).collect();
        assert_eq!(cycles.iter().map(|cycle| cycle.steps).collect::<Vec<_>>(), [20.0, 15.0, 7.5, 3.75]);
        assert_eq!(cycles[..3].iter().map(|cycle| cycle.packets).collect::<Vec<_>>(), [1680.0, 1360.0, 786.25]);
    }
}
