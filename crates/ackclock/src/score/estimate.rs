//! Means with intervals, over replicates with common random numbers.

use std::f64::consts::PI;

use serde::{Serialize, Serializer};

use super::sum::{mean, sum};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// A figure with its confidence interval. A single replicate has no interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The number of replicates.
    pub count: usize,
}

/// The conclusion from the interval of a cost difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The cost is lower.
    Better,
    /// The cost is higher.
    Worse,
    /// The difference is not significant.
    Open,
}

impl Judgement {
    /// The word in documents, empty if the difference is not significant.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Better => "better",
            Judgement::Worse => "worse",
            Judgement::Open => "",
        }
    }
}

impl Estimate {
    /// A figure of a single replicate.
    pub fn single(mean: f64) -> Self {
        Estimate { mean, low: None, high: None, count: 1 }
    }

    /// Half the length of the interval, which may be asymmetric around the mean.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// Whether the interval excludes zero. Without an interval, whether the mean differs from zero.
    pub fn excludes_zero(&self) -> bool {
        match (self.low, self.high) {
            (Some(low), Some(high)) => low > 0.0 || high < 0.0,
            _ => self.mean != 0.0,
        }
    }

    /// The two-sided p-value of a mean with Student's interval. Without an interval it is 1 for a mean of zero, otherwise 0.
    pub fn p_value(&self) -> f64 {
        let half_width = self.half_width().unwrap_or(0.0);
        match (self.mean == 0.0, half_width == 0.0) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => {
                let t = self.mean.abs() / half_width * student_t_quantile(self.count - 1, CONFIDENCE);
                1.0 - student_t_within(t, self.count - 1)
            }
        }
    }

    /// The conclusion, if this is a difference of costs.
    pub fn judgement(&self) -> Judgement {
        match self.excludes_zero() {
            true if self.mean > 0.0 => Judgement::Worse,
            true => Judgement::Better,
            false => Judgement::Open,
        }
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown {
            mean: f64,
            low: Option<f64>,
            high: Option<f64>,
        }
        Shown { mean: self.mean, low: self.low, high: self.high }.serialize(serializer)
    }
}

/// The mean of one or more independent values, with Student's t interval.
///
/// The interval assumes that means are approximately normal. Its coverage is lower than `confidence` for skewed values, and for
/// values that differ in a few replicates only. Resampling does not cover better (`docs/learn/how-algorithms-are-compared.md`).
pub fn estimate(values: &[f64], confidence: f64) -> Estimate {
    let (count, mean) = (values.len(), mean(values));
    if count == 1 {
        return Estimate::single(mean);
    }
    let half_width = student_t_quantile(count - 1, confidence) * (variance(values) / count as f64).sqrt();
    Estimate { mean, low: Some(mean - half_width), high: Some(mean + half_width), count }
}

/// The mean of `values`, with the interval of its difference from the mean of `stored`, as both have sampling errors.
///
/// `paired`: replicates with the same number use the same random draws. Unpaired replicates add their own variance. The degrees
/// of freedom follow Welch and Satterthwaite.
pub fn against_stored(values: &[f64], stored: &[f64], paired: bool) -> Estimate {
    if values.len() < 2 || stored.len() < 2 {
        return estimate(values, CONFIDENCE);
    }
    let half_width = difference_error(values, stored, paired).half_width(CONFIDENCE);
    let mean = mean(values);
    Estimate { mean, low: Some(mean - half_width), high: Some(mean + half_width), count: values.len() }
}

/// The sampling error of a figure.
pub(super) struct SamplingError {
    standard: f64,
    degrees: usize,
}

impl SamplingError {
    /// Half the length of Student's interval.
    pub(super) fn half_width(&self, confidence: f64) -> f64 {
        student_t_quantile(self.degrees, confidence) * self.standard
    }
}

/// The sampling error of the difference of two means, as `against_stored` describes. A single value has no error.
pub(super) fn difference_error(values: &[f64], other: &[f64], paired: bool) -> SamplingError {
    let (ours, theirs) = (values.len(), other.len());
    let common = if paired { ours.min(theirs) } else { 0 };
    // A single pair has no variance, so both samples count as unpaired.
    let common = if common > 1 { common } else { 0 };
    let pairs: Vec<f64> = values
        .iter()
        .zip(other)
        .take(common)
        .map(|(value, other)| value / ours as f64 - other / theirs as f64)
        .collect();
    let alone = |row: &[f64]| {
        let rest = (row.len() - common) as f64 / (row.len() * row.len()) as f64;
        (rest * variance(row), row.len() - 1)
    };
    let mut parts: Vec<(f64, usize)> = [values, other].into_iter().filter(|row| row.len() > 1).map(alone).collect();
    if common > 0 {
        parts.push((common as f64 * variance(&pairs), common - 1));
    }
    let total = sum(parts.iter().map(|(variance, _)| *variance));
    let weight = sum(parts.iter().map(|(variance, degrees)| variance * variance / *degrees as f64));
    let degrees = if weight > 0.0 { (total * total / weight) as usize } else { 1 };
    SamplingError { standard: total.sqrt(), degrees: degrees.max(1) }
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    sum(values.iter().map(|value| (value - mean) * (value - mean))) / (values.len() - 1) as f64
}

/// The mean difference of two algorithms with the same random draws, paired by replicate.
pub fn paired_difference(values: &[f64], reference: &[f64]) -> Estimate {
    assert_eq!(values.len(), reference.len(), "pairs have equal numbers of replicates");
    let differences: Vec<f64> = values.iter().zip(reference).map(|(ours, theirs)| ours - theirs).collect();
    estimate(&differences, CONFIDENCE)
}

/// The paired difference of two samples that may differ in size. Replicates without a partner are ignored.
///
/// A single value counts for every replicate of a longer sample. Two single values have no difference, unless `exact` says that
/// nothing is random.
pub fn compared(values: &[f64], reference: &[f64], exact: bool) -> Option<Estimate> {
    let (fewer, more) = (values.len().min(reference.len()), values.len().max(reference.len()));
    let count = if fewer == 1 { more } else { fewer };
    if count == 1 && !exact {
        return None;
    }
    let row = |row: &[f64]| if row.len() == 1 { vec![row[0]; count] } else { row[..count].to_vec() };
    Some(paired_difference(&row(values), &row(reference)))
}

/// The t such that Student's distribution has a probability of `confidence` within -t .. t.
///
/// It bisects the finite series for integer degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4).
pub fn student_t_quantile(degrees: usize, confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_t_within(high, degrees) < confidence {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if student_t_within(middle, degrees) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

fn student_t_within(t: f64, degrees: usize) -> f64 {
    let theta = libm::atan(t / (degrees as f64).sqrt());
    let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
    let is_odd = degrees % 2 == 1;
    let (mut term, mut total) = (if is_odd { cosine } else { 1.0 }, 0.0);
    for k in (1 + degrees % 2..degrees).step_by(2) {
        total += term;
        term *= cosine * cosine * k as f64 / (k + 1) as f64;
    }
    if is_odd { 2.0 / PI * (theta + sine * total) } else { sine * total }
}
