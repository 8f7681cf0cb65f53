//! Rows and numbers of a run's result document.

use serde_json::Value;

use super::sum::sum;
use crate::metric::ratio;

/// The rows of a list of results. A run without the list has no rows.
pub(super) fn rows<'a>(run: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    run.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// The rows that belong to one of the groups.
pub(super) fn of_groups<'a>(rows: impl Iterator<Item = &'a Value>, groups: &[String]) -> Vec<&'a Value> {
    rows.filter(|row| in_groups(row, groups)).collect()
}

/// Whether a row belongs to one of these groups.
pub(super) fn in_groups(row: &Value, groups: &[String]) -> bool {
    row["group"].as_str().is_some_and(|group| groups.iter().any(|each| each == group))
}

/// A number of a row, or none if it does not apply.
pub(super) fn number(row: &Value, key: &str) -> Option<f64> {
    row.get(key)?.as_f64()
}

/// A number of each row that contains it.
pub(super) fn numbers(rows: &[&Value], key: &str) -> Vec<f64> {
    rows.iter().filter_map(|row| number(row, key)).collect()
}

/// A ratio of sums over rows, 0 if the denominator is zero.
pub(super) fn pooled(rows: &[&Value], part: &str, whole: &str) -> f64 {
    ratio(sum(numbers(rows, part)), sum(numbers(rows, whole))).unwrap_or(0.0)
}
