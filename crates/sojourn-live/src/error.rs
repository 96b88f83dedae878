//! Errors of live runs.

use std::fmt;
use std::io;

use sojourn_base::error::{Fault, FieldError};

/// Error of a live run.
#[derive(Debug)]
pub enum Error {
    /// The scenario asks for something that a live run or this kernel does not support, or the
    /// machine or the permission is missing.
    Refused(FieldError),
    /// An invariant of the network was broken.
    Fault(Fault),
    /// A system call failed unexpectedly.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(error) => error.fmt(f),
            Error::Fault(fault) => fault.fmt(f),
            Error::System(message) => message.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Error::Refused(error)
    }
}

impl From<Box<Fault>> for Error {
    fn from(fault: Box<Fault>) -> Self {
        Error::Fault(*fault)
    }
}

/// A live run needs `what`, which is missing because of `error`.
pub fn missing(what: &str, error: io::Error, remedy: &str) -> Error {
    let message = format!("a live run needs {what}: {error}; {remedy}");
    Error::Refused(FieldError::new("backend", message))
}

/// A system call failed while doing `what`.
pub fn failed(what: &str) -> impl Fn(io::Error) -> Error {
    move |error| Error::System(format!("live run: {what}: {error}"))
}
