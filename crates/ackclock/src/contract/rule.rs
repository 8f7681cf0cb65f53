//! The contract of a [`Rule`].

use super::{Draw, Violation, for_each_case};
use crate::rule::Rule;

const CASES: u64 = 64;
const OPERATIONS: usize = 400;
/// Windows beyond this begin again at a small one, as after a timeout.
const LARGE: f64 = 1e5;

/// Checks that a rule keeps the contract of [`Rule`], in random orders of growth, cuts and restarts:
///
/// - Windows are finite.
/// - Growth never shrinks a window, and more acknowledged segments never give a smaller one.
/// - The growth per ACK adds up to the rule per round trip, or to less where it [`Rule::accelerates`].
/// - A cut never raises the window, unless [`Rule::cut_may_raise`].
/// - The first cut of a fresh rule reduces the window.
/// - A copy, and a fresh rule after the same operations, give the same windows.
///
/// # Errors
/// The first promise that is broken.
pub fn check_rule<R: Rule + Clone>(name: &str, new: impl Fn() -> R) -> Result<(), Violation> {
    for_each_case(name, CASES, |draw| {
        let mut rule = new();
        let floor = draw.pick(&[1.0, 2.0]);
        let mut w = draw.scale(floor, 1000.0);
        rule.restart(w);
        let mut done = vec![(Operation::Restart(w), w)];
        for step in 1..OPERATIONS {
            let operation = Operation::random(draw, w);
            let mut copy = rule.clone();
            let result = check_operation(draw, &mut rule, w, operation)
                .map_err(|what| format!("step {step}, {operation:?} at window {w}: {what}"))?;
            let copied = operation.apply(&mut copy, w);
            ensure!(result == copied, "step {step}: {operation:?} at window {w} gives {result}, on a copy {copied}");
            w = result.max(floor);
            done.push((operation, result));
        }
        replay(new(), floor, &done)?;
        let (mut fresh, begun) = (new(), draw.scale(3.0, 1000.0));
        fresh.restart(begun);
        let left = fresh.cut(begun);
        ensure!(left < begun, "the first cut, at window {begun}, leaves {left}");
        Ok(())
    })
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Restart(f64),
    /// This part of the window is acknowledged.
    Grow(f64),
    Cut,
}

impl Operation {
    fn random(draw: &mut Draw, w: f64) -> Self {
        match draw.whole(0, 99) {
            _ if w > LARGE => Operation::Restart(draw.scale(2.0, 1000.0)),
            0..5 => Operation::Restart(draw.scale(2.0, 1000.0)),
            5..20 => Operation::Cut,
            20..40 => Operation::Grow(1.0),
            40..60 => Operation::Grow(draw.real(0.0, 1.0)),
            _ => Operation::Grow((1.0 / w).min(1.0)),
        }
    }

    /// The window after the operation.
    fn apply(self, rule: &mut impl Rule, w: f64) -> f64 {
        match self {
            Operation::Restart(w) => {
                rule.restart(w);
                w
            }
            Operation::Grow(part) => rule.grow(w, part * w),
            Operation::Cut => rule.cut(w),
        }
    }
}

fn check_operation<R: Rule + Clone>(
    draw: &mut Draw,
    rule: &mut R,
    w: f64,
    operation: Operation,
) -> Result<f64, String> {
    let before = rule.clone();
    let after = operation.apply(rule, w);
    ensure!(after.is_finite(), "the window becomes {after}");
    match operation {
        Operation::Restart(_) => {}
        Operation::Cut => {
            ensure!(after <= w || rule.cut_may_raise(), "a cut raises the window to {after}");
        }
        Operation::Grow(part) => {
            ensure!(after >= w, "growth shrinks the window to {after}");
            let less = Operation::Grow(part * draw.real(0.0, 1.0)).apply(&mut before.clone(), w);
            ensure!(less <= after, "less acknowledged gives more, {less} instead of {after}");
            let split = draw.real(0.0, 1.0);
            let parts = [split, 1.0 - split].map(|share| Operation::Grow(part * share).apply(&mut before.clone(), w));
            let sum = w + (parts[0] - w) + (parts[1] - w);
            let close = (sum - after).abs() <= 1e-9 * after || rule.accelerates() && sum < after;
            ensure!(close, "the window becomes {after}, by its parts {sum}");
        }
    }
    Ok(after)
}

fn replay(mut rule: impl Rule, floor: f64, done: &[(Operation, f64)]) -> Result<(), String> {
    let mut w = floor;
    for (step, (operation, expected)) in done.iter().enumerate() {
        let result = operation.apply(&mut rule, w);
        ensure!(result == *expected, "step {step}, {operation:?} at window {w}: {expected}, the second time {result}");
        w = result.max(floor);
    }
    Ok(())
}
