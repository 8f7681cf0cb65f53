//! Many comparisons at once: which of them count, and from which size.

use super::estimate::Estimate;

/// How likely one comparison of a family, or more, is wrong by chance.
pub(super) const FAMILY_ALPHA: f64 = 0.05;

/// Which hypotheses of a family are rejected, by Holm's step-down procedure (1979): with a probability of 95 % no true one is.
pub fn holm(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut rejected = vec![false; p_values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if p_values[at] * (p_values.len() - rank) as f64 > FAMILY_ALPHA {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

/// The differences of a family that count: rejected by Holm's procedure, and as large as the least effect of each.
pub(super) fn that_count(differences: &[(Estimate, f64)]) -> Vec<bool> {
    let p_values: Vec<f64> = differences.iter().map(|(difference, _)| difference.p_value()).collect();
    let sizes = differences.iter().map(|(difference, least)| difference.mean.abs() >= *least);
    holm(&p_values).into_iter().zip(sizes).map(|(rejected, is_large)| rejected && is_large).collect()
}
