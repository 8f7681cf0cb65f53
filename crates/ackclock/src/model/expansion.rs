//! How fast one user takes up capacity that others have left: figure 7 of psaras-mr-aimd.

use serde::Serialize;

use super::closed_form::mr_aimd_windows;
use crate::rule::mr_aimd::MrAimd;
use crate::rule::{Rule, RuleParameters};

/// The window when the others leave, in segments.
const WINDOW: f64 = 20.0;
const ROUNDS: u32 = 20;

/// Windows in segments, this many round trips after other flows left, without marks and losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expansion {
    /// Round trips.
    pub time: u32,
    /// MR-AIMD by equation 3, the basis of the paper's figure.
    pub mr_aimd_eq3: f64,
    /// MR-AIMD by equation 1, ACK by ACK, which the protocol follows.
    pub mr_aimd_per_ack: f64,
    /// AIMD(1, 0.5): one segment more per round trip.
    pub aimd: f64,
}

/// The first rounds, from the start on.
pub fn expansion() -> Vec<Expansion> {
    let parameters = MrAimd::default();
    let by_eq3 = mr_aimd_windows(WINDOW, parameters.alpha, parameters.alpha_prime, ROUNDS);
    let mut rows = vec![Expansion { time: 0, mr_aimd_eq3: WINDOW, mr_aimd_per_ack: WINDOW, aimd: WINDOW }];
    let (mut rule, mut window) = (parameters.rule(), WINDOW);
    for (time, mr_aimd_eq3) in (1..).zip(by_eq3) {
        for _ in 0..window as u32 {
            window = rule.grow(window, 1.0);
        }
        rows.push(Expansion { time, mr_aimd_eq3, mr_aimd_per_ack: window, aimd: WINDOW + f64::from(time) });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_equations_differ() {
        let rows = expansion();
        let after = |time: usize| (rows[time].mr_aimd_eq3, rows[time].mr_aimd_per_ack, rows[time].aimd);
        let (eq3, per_ack, aimd) = after(6);
        assert_eq!((eq3, aimd), (43.5, 26.0));
        assert!((per_ack - 33.7).abs() < 0.05, "{per_ack}");
        // The window has doubled in round 6 by equation 3, in round 8 by equation 1, in round 20 by AIMD.
        let doubled = |of: fn(&Expansion) -> f64| rows.iter().position(|row| of(row) >= 2.0 * WINDOW);
        assert_eq!(doubled(|row| row.mr_aimd_eq3), Some(6));
        assert_eq!(doubled(|row| row.mr_aimd_per_ack), Some(8));
        assert_eq!(doubled(|row| row.aimd), Some(20));
    }
}
