//! Sums that are rounded once, so that the order of the terms does not matter (Shewchuk 1997).

/// An upper bound on non-overlapping partial sums: the exponents of doubles span 2098 bits, and each sum covers 53.
const PARTIALS: usize = 48;

/// The sum of finite values, rounded once with ties to even. Without values it is 0. A value that is not finite makes it a plain sum.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut partials, mut count) = ([0.0_f64; PARTIALS], 0);
    let mut plain = 0.0;
    for value in values {
        plain += value;
        let (mut high, mut kept) = (value, 0);
        for at in 0..count {
            let (larger, smaller) =
                if high.abs() < partials[at].abs() { (partials[at], high) } else { (high, partials[at]) };
            high = larger + smaller;
            let low = smaller - (high - larger);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
        }
        count = kept;
        if high != 0.0 {
            // Partial sums are unused if a value is not finite.
            partials[count.min(PARTIALS - 1)] = high;
            count = (count + 1).min(PARTIALS);
        }
    }
    if plain.is_finite() { rounded(&partials[..count]) } else { plain }
}

/// The sum of non-overlapping partial sums of growing size.
fn rounded(partials: &[f64]) -> f64 {
    let Some((&largest, mut rest)) = partials.split_last() else { return 0.0 };
    let (mut high, mut low) = (largest, 0.0);
    while let Some((&next, smaller)) = rest.split_last() {
        rest = smaller;
        let before = high;
        high = before + next;
        low = next - (high - before);
        if low != 0.0 {
            break;
        }
    }
    // The remainder is half a unit in the last place. The sign of the next partial sum decides the rounding.
    if let Some(&below) = rest.last()
        && low != 0.0
        && (low < 0.0) == (below < 0.0)
    {
        let up = high + 2.0 * low;
        if up - high == 2.0 * low {
            return up;
        }
    }
    high
}

/// The mean of some values.
pub fn mean(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}
