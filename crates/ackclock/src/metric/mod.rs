//! Metrics as pure functions: one formula each, used by every backend.
//!
//! The window of all of them is `[warmup, end)` of the run, half-open. A submodule declares
//! the metrics of the rows of results.

mod table;

pub(crate) use table::rows;
pub use table::{Better, Declared, Metric, Rows, Unit};

/// Jain's fairness index of `shares`: `(sum x)^2 / (n sum x^2)`, from 1/n to 1.
///
/// The index is 1 without shares, and if all shares are zero, because all are equal.
/// Source: Jain, Chiu & Hawe 1984.
pub fn jain_index(shares: &[f64]) -> f64 {
    // Summed in order of size, so that the order of the flows does not show in the last digit.
    let mut shares = shares.to_vec();
    shares.sort_unstable_by(f64::total_cmp);
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// `(largest - smallest) / mean` of `shares`. It is zero for no shares and for shares that are all zero.
pub fn spread(shares: &[f64]) -> f64 {
    let mut shares = shares.to_vec();
    shares.sort_unstable_by(f64::total_cmp);
    let sum: f64 = shares.iter().sum();
    match (shares.first(), shares.last()) {
        (Some(smallest), Some(largest)) if sum > 0.0 => (largest - smallest) / (sum / shares.len() as f64),
        _ => 0.0,
    }
}

/// The delay score of a path, the mean of `base / (base + q)` for two queueing delays q: median and 95th percentile.
///
/// It is 1 without queueing, and 0.5 if the queue doubles the RTT. Paths without propagation have no score.
/// Times are in seconds.
pub fn delay_score(base_rtt_s: f64, p50_s: f64, p95_s: f64) -> Option<f64> {
    let at = |queued_s: f64| base_rtt_s / (base_rtt_s + queued_s);
    (base_rtt_s > 0.0).then(|| (at(p50_s) + at(p95_s)) / 2.0)
}

/// `part / whole`, or none if the whole is zero.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The nearest-rank percentile: the smallest of the sorted values that at least `share` of them do not exceed.
pub fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The interarrival jitter after a packet that took `difference_ns` more or less than the one before it.
/// Source: RFC 3550 §6.4.1.
pub fn interarrival_jitter(jitter_ns: f64, difference_ns: u64) -> f64 {
    jitter_ns + (difference_ns as f64 - jitter_ns) / 16.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_known_shares() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), 1.0);
        assert_eq!(jain_index(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        // (1 + 3)^2 / (2 (1 + 9)) = .8; spread (3 - 1) / 2 = 1.
        assert_eq!((jain_index(&[1.0, 3.0]), spread(&[1.0, 3.0])), (0.8, 1.0));
        assert_eq!((jain_index(&[]), spread(&[0.0])), (1.0, 0.0));
    }

    #[test]
    fn a_queue_as_long_as_the_path_halves_the_delay_score() {
        assert_eq!(delay_score(0.1, 0.0, 0.0), Some(1.0));
        assert_eq!(delay_score(0.1, 0.1, 0.1), Some(0.5));
        // 100 / 125 and 100 / 400.
        assert!((delay_score(0.1, 0.025, 0.3).unwrap() - f64::midpoint(0.8, 0.25)).abs() < 1e-12);
        assert_eq!(delay_score(0.0, 0.0, 0.1), None);
    }

    #[test]
    fn a_ratio_needs_a_whole() {
        assert_eq!((ratio(1.0, 4.0), ratio(0.0, 4.0), ratio(0.0, 0.0)), (Some(0.25), Some(0.0), None));
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let sorted: Vec<u64> = (1..=100).collect();
        let at = |share| percentile(&sorted, share);
        assert_eq!(
            (at(0.0), at(0.5), at(0.95), at(0.991), at(1.0)),
            (Some(1), Some(50), Some(95), Some(100), Some(100))
        );
        assert_eq!((percentile(&[7], 0.5), percentile(&[], 0.5)), (Some(7), None));
    }

    #[test]
    fn jitter_takes_a_sixteenth_of_the_news() {
        assert_eq!((interarrival_jitter(0.0, 16), interarrival_jitter(16.0, 0)), (1.0, 15.0));
    }
}
