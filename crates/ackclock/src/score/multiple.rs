//! Corrects for multiple comparisons, and ignores differences that are too small to matter.

use super::estimate::Estimate;

/// The family-wise error rate.
pub(super) const FAMILY_ALPHA: f64 = 0.05;

/// The hypotheses of a family that Holm's step-down procedure (1979) rejects. With a probability of 95 % it rejects no true one.
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

/// The differences of a family that count: Holm's procedure rejects them, and they reach their least effect.
pub fn that_count(differences: &[(Estimate, f64)]) -> Vec<bool> {
    let p_values: Vec<f64> = differences.iter().map(|(difference, _)| difference.p_value()).collect();
    let sizes = differences.iter().map(|(difference, least)| difference.mean.abs() >= *least);
    holm(&p_values).into_iter().zip(sizes).map(|(rejected, is_large)| rejected && is_large).collect()
}
