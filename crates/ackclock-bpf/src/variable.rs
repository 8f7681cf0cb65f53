//! Values of global variables, which the loader of an object sets.

use std::collections::BTreeMap;
use std::path::Path;

use ackclock::cc::ForeignValue;

use crate::error::{Result, wrong};
use crate::object_file::{BpfObject, Form, Variable};

/// A whole segment, or 1, as a 32.32 fixed-point number.
const ONE: f64 = 4_294_967_296.0;

impl BpfObject {
    /// Reads the object in a file.
    ///
    /// # Errors
    /// A missing file, or an error of [`BpfObject::parse`].
    pub fn read(path: &Path) -> Result<BpfObject> {
        let content =
            ackclock_input::read(path, ackclock_input::OBJECT).map_err(|error| wrong!("cannot be read: {error}"))?;
        BpfObject::parse(&content)
    }

    /// Sets variables to the parameters of a scenario.
    ///
    /// # Errors
    /// The first one that is a text, or that [`BpfObject::set`] refuses.
    pub fn set_all(&mut self, parameters: &BTreeMap<String, ForeignValue>) -> Result<()> {
        for (name, value) in parameters {
            let number = match value {
                ForeignValue::Bool(value) => f64::from(*value),
                ForeignValue::Integer(value) => *value as f64,
                ForeignValue::Number(value) => *value,
                ForeignValue::Text(_) => return Err(wrong!("the parameter {name} is a number")),
            };
            self.set(name, number)?;
        }
        Ok(())
    }

    /// The value of a variable.
    pub fn value(&self, variable: &Variable) -> f64 {
        let (section, at) = variable.place;
        let mut bytes = [0; 8];
        bytes[..variable.size].copy_from_slice(&self.data[section].content[at..at + variable.size]);
        let raw = u64::from_le_bytes(bytes);
        match variable.form {
            Form::Fixed => raw as f64 / ONE,
            Form::Signed => {
                let unused = 64 - 8 * variable.size;
                ((raw << unused) as i64 >> unused) as f64
            }
            Form::Bool | Form::Unsigned => raw as f64,
        }
    }

    /// Sets a variable. A 32.32 fixed-point variable gets the nearest value.
    ///
    /// # Errors
    /// No such variable, or a value out of its range.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let Some(variable) = self.variables.iter().find(|variable| variable.name == name).cloned() else {
            let names: Vec<_> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
            return Err(if names.is_empty() {
                wrong!("it takes no parameters, and so no {name}")
            } else {
                wrong!("it takes no parameter {name}; it takes {}", names.join(", "))
            });
        };
        let (low, high) = variable.bounds();
        if !(low..=high).contains(&value) {
            return Err(wrong!("the parameter {name} is {value}, but must be at least {low} and at most {high}"));
        }
        if variable.form != Form::Fixed && value.fract() != 0.0 {
            return Err(wrong!("the parameter {name} is {value}, but must be a whole number"));
        }
        let raw = match variable.form {
            Form::Fixed => (value * ONE).round() as u64,
            Form::Signed => value as i64 as u64,
            Form::Bool | Form::Unsigned => value as u64,
        };
        let (section, at) = variable.place;
        self.data[section].content[at..at + variable.size].copy_from_slice(&raw.to_le_bytes()[..variable.size]);
        Ok(())
    }
}

impl Variable {
    /// The range of values, from the source or from the number of bytes.
    pub fn bounds(&self) -> (f64, f64) {
        let bits = 8 * self.size as i32;
        // Whole numbers beyond 2^53 are not among the numbers of files.
        let most = |bits: i32| 2_f64.powi(bits.min(53)) - 1.0;
        self.range.unwrap_or(match self.form {
            Form::Fixed => (0.0, most(32)),
            Form::Bool => (0.0, 1.0),
            Form::Signed => (-most(bits - 1), most(bits - 1)),
            Form::Unsigned => (0.0, most(bits)),
        })
    }
}
