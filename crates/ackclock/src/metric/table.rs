//! The declaration of a metric: one row of [`rows!`](crate::metric::rows) each. The formulas are in the parent module.

use serde::Serialize;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits per second.
    Rate,
    /// Seconds.
    Time,
    /// A part of a whole, 0 to 1.
    Share,
    /// A number without a unit.
    Number,
    /// How many there were.
    Count,
    /// Bytes.
    Bytes,
    /// Segments.
    Segments,
}

impl Unit {
    /// The suffix of keys of such metrics, which names leave out.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Rate => "_bps",
            Unit::Time => "_s",
            Unit::Bytes => "_bytes",
            Unit::Segments => "_segments",
            Unit::Share | Unit::Number | Unit::Count => "",
        }
    }

    /// The unit that tables show, and the factor from a value to it.
    pub fn shown(self) -> (&'static str, f64) {
        match self {
            Unit::Rate => ("Mbit/s", 1e-6),
            Unit::Time => ("ms", 1e3),
            Unit::Share => ("%", 100.0),
            Unit::Bytes => ("B", 1.0),
            Unit::Segments => ("segments", 1.0),
            Unit::Number | Unit::Count => ("", 1.0),
        }
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It depends on the goal.
    Neither,
    /// It is an input of the scenario.
    Given,
}

/// A metric as tables, files and the documentation name it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// The list of the results that has it, or `summary`.
    pub list: &'static str,
    /// Its key there.
    pub key: String,
    /// The key without its unit.
    pub name: String,
    /// The unit that tables show.
    pub unit: &'static str,
    /// From a value to that unit.
    pub factor: f64,
    /// Which way it is better.
    pub better: Better,
    /// The name in texts.
    pub label: String,
    /// The same where there is little room, above a column.
    pub heading: String,
    /// The reason for a missing value. It is absent if every row has a value, or its definition contains the reason.
    pub absent: Option<&'static str>,
    /// The definition, in Markdown.
    pub definition: String,
}

/// A row as it is declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The key in the results.
    pub key: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// The name in texts and the name above a column.
    pub labels: (String, String),
    /// Why a row has no value.
    pub absent: Option<&'static str>,
    /// The definition.
    pub definition: String,
}

impl Declared {
    /// The metric in one of the lists of the results.
    pub fn in_list(self, list: &'static str) -> Metric {
        let Declared { key, unit, better, labels: (label, heading), absent, definition } = self;
        let name = key.strip_suffix(unit.suffix()).unwrap_or(&key).to_owned();
        let (unit, factor) = unit.shown();
        Metric { list, key, name, unit, factor, better, label, heading, absent, definition }
    }
}

/// Rows of results, which declare their metrics.
pub trait Rows {
    /// Adds the declared metrics in the order of the results.
    fn declare(found: &mut Vec<Declared>);
}

/// A struct of results with its metrics. A field is
///
/// ```text
/// /// Definition.
/// key: Type = Unit, Better, "label" / "heading", none "why there is no value";
/// /// Something that is no metric: a name.
/// key: Type;
/// /// Several metrics, declared elsewhere.
/// key: Type => Rows;
/// ```
///
/// The heading and `none` may be left out.
macro_rules! rows {
    (
        $(#[$struct_meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde($($serde:tt)*)])?
                $field:ident: $type:ty
                $(= $unit:ident, $better:ident, $label:literal $(/ $heading:literal)? $(, none $absent:literal)?)?
                $(=> $rows:ty)?;
            )*
        }
    ) => {
        $(#[$struct_meta])*
        pub struct $name {
            $($(#[doc = $doc])+ $(#[serde($($serde)*)])? pub $field: $type,)*
        }

        impl $crate::metric::Rows for $name {
            fn declare(found: &mut Vec<$crate::metric::Declared>) {
                $(
                    // What is no metric has no use for it.
                    let _definition = concat!($($doc),+);
                    $(found.push($crate::metric::Declared {
                        key: stringify!($field).to_owned(),
                        unit: $crate::metric::Unit::$unit,
                        better: $crate::metric::Better::$better,
                        labels: $crate::metric::rows!(@labels $label $($heading)?),
                        absent: $crate::metric::rows!(@absent $($absent)?),
                        definition: _definition.trim().to_owned(),
                    });)?
                    $(<$rows as $crate::metric::Rows>::declare(found);)?
                )*
            }
        }
    };
    (@labels $label:literal) => { ($label.to_owned(), $label.to_owned()) };
    (@labels $label:literal $heading:literal) => { ($label.to_owned(), $heading.to_owned()) };
    (@absent) => { None };
    (@absent $absent:literal) => { Some($absent) };
}
pub(crate) use rows;

#[cfg(test)]
mod tests {
    use super::*;

    rows! {
        #[allow(dead_code, reason = "what is declared counts")]
        pub struct Sample {
            /// A name.
            name: &'static str;
            /// How long
            /// it took.
            wait_mean_s: Option<f64> = Time, Lower, "waiting time" / "wait", none "nobody waited";
            /// Others.
            others: Others => Others;
        }
    }

    rows! {
        #[allow(dead_code, reason = "what is declared counts")]
        pub struct Others {
            /// How many there were.
            count: u64 = Count, Neither, "count";
        }
    }

    #[test]
    fn a_field_is_a_metric_with_all_that_its_row_says() {
        let mut found = Vec::new();
        Sample::declare(&mut found);
        let metrics: Vec<Metric> = found.into_iter().map(|declared| declared.in_list("samples")).collect();
        let wait = Metric {
            list: "samples",
            key: "wait_mean_s".to_owned(),
            name: "wait_mean".to_owned(),
            unit: "ms",
            factor: 1e3,
            better: Better::Lower,
            label: "waiting time".to_owned(),
            heading: "wait".to_owned(),
            absent: Some("nobody waited"),
            definition: "How long it took.".to_owned(),
        };
        let count = Metric {
            list: "samples",
            key: "count".to_owned(),
            name: "count".to_owned(),
            unit: "",
            factor: 1.0,
            better: Better::Neither,
            label: "count".to_owned(),
            heading: "count".to_owned(),
            absent: None,
            definition: "How many there were.".to_owned(),
        };
        assert_eq!(metrics, [wait, count]);
    }
}
