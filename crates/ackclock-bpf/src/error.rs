//! Errors of an object, and obstacles to loading it into the kernel.

/// Why an object cannot be used: one sentence, without the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BpfError(pub String);

impl BpfError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        BpfError(message.into())
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, BpfError>;

/// An error with a message in the form of `format!`.
macro_rules! wrong {
    ($($format:tt)*) => { crate::error::BpfError::new(format!($($format)*)) };
}

pub(crate) use wrong;
