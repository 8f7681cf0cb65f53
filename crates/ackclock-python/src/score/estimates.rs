//! Means with intervals.

use ackclock::score::{self, Bootstrap};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A figure with its interval. A single replicate gives no interval.
#[pyclass(frozen, eq, get_all, from_py_object, module = "ackclock._core")]
#[derive(Clone, Copy, PartialEq)]
pub struct Estimate {
    mean: f64,
    low: Option<f64>,
    high: Option<f64>,
    count: usize,
}

impl From<score::Estimate> for Estimate {
    fn from(found: score::Estimate) -> Self {
        Estimate { mean: found.mean, low: found.low, high: found.high, count: found.count }
    }
}

impl From<Estimate> for score::Estimate {
    fn from(given: Estimate) -> Self {
        score::Estimate { mean: given.mean, low: given.low, high: given.high, count: given.count }
    }
}

#[pymethods]
impl Estimate {
    #[new]
    fn new(mean: f64, low: Option<f64>, high: Option<f64>, count: usize) -> Self {
        Estimate { mean, low, high, count }
    }

    /// Half the length of the interval, which need not lie evenly around the mean.
    #[getter]
    fn half_width(&self) -> Option<f64> {
        score::Estimate::from(*self).half_width()
    }

    /// True if the interval excludes zero. Without an interval, true if the mean differs from zero.
    #[getter]
    fn excludes_zero(&self) -> bool {
        score::Estimate::from(*self).excludes_zero()
    }

    /// The judgement of a difference of costs: `better`, `worse`, or nothing where it is inconclusive.
    #[getter]
    fn judgement(&self) -> &'static str {
        score::Estimate::from(*self).judgement().word()
    }

    fn __getnewargs__(&self) -> (f64, Option<f64>, Option<f64>, usize) {
        (self.mean, self.low, self.high, self.count)
    }

    fn __repr__(&self) -> String {
        let end = |end: Option<f64>| end.map_or("None".to_owned(), |end| end.to_string());
        format!("Estimate({}, {}, {}, {})", self.mean, end(self.low), end(self.high), self.count)
    }
}

/// Mean and Student's t interval of independent values.
#[pyfunction]
#[pyo3(signature = (values, confidence = score::CONFIDENCE))]
pub fn estimate(values: Vec<f64>, confidence: f64) -> PyResult<Estimate> {
    Ok(score::estimate(some(&values)?, confidence).into())
}

/// The mean difference of two algorithms with the same random draws, replicate by replicate.
#[pyfunction]
pub fn paired_difference(values: Vec<f64>, reference: Vec<f64>) -> PyResult<Estimate> {
    if values.len() != reference.len() {
        return Err(PyValueError::new_err("pairs have equal numbers of replicates"));
    }
    Ok(score::paired_difference(some(&values)?, &reference).into())
}

/// The paired difference of values that may differ in their numbers of replicates, if it exists.
#[pyfunction]
#[pyo3(signature = (values, reference, *, exact))]
pub fn compared(values: Vec<f64>, reference: Vec<f64>, exact: bool) -> PyResult<Option<Estimate>> {
    Ok(score::compared(some(&values)?, some(&reference)?, exact).map(Estimate::from))
}

/// The t such that Student's distribution has `confidence` of its weight within -t .. t.
#[pyfunction]
#[pyo3(signature = (degrees, confidence = score::CONFIDENCE))]
pub fn student_t_quantile(degrees: usize, confidence: f64) -> f64 {
    score::student_t_quantile(degrees, confidence)
}

/// The mean of each resample, which takes `draws` of the values. A single value does not change.
#[pyfunction]
#[pyo3(signature = (values, draws = None))]
pub fn resampled_means(values: Vec<f64>, draws: Option<usize>) -> PyResult<Vec<f64>> {
    Ok(Bootstrap::default().means(some(&values)?, draws))
}

/// A figure with the basic interval of its resamples.
#[pyfunction]
pub fn reflected_estimate(point: f64, resampled: Vec<f64>, count: usize) -> Estimate {
    score::reflected_estimate(point, resampled, count).into()
}

/// The value below which a share of the ordered values lies.
#[pyfunction]
pub fn quantile(ordered: Vec<f64>, level: f64) -> f64 {
    score::quantile(&ordered, level)
}

/// A share with its interval, as text.
#[pyfunction]
pub fn share_text(share: Estimate) -> String {
    score::share_text(&share.into())
}

fn some(values: &[f64]) -> PyResult<&[f64]> {
    if values.is_empty() { Err(PyValueError::new_err("no values")) } else { Ok(values) }
}
