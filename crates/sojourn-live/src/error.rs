//! Errors of live runs.

use std::fmt;
use std::io;

use nix::libc::{EMFILE, ENFILE};
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

impl Error {
    /// The same of `whose`, if it came unexpectedly.
    pub(crate) fn of(self, whose: &str) -> Self {
        match self {
            Error::System(message) => Error::System(format!("{whose}: {message}")),
            other => other,
        }
    }
}

/// A system call failed while doing `what`, against which there is a remedy.
pub(crate) fn limited(what: &str, remedy: &str) -> impl Fn(io::Error) -> Error {
    move |error| Error::System(format!("live run: {what}: {error}; {remedy}"))
}

/// Likewise, where this process may be allowed no more descriptors.
pub(crate) fn opening(what: &str) -> impl Fn(io::Error) -> Error {
    move |error| match error.raw_os_error() {
        Some(EMFILE | ENFILE) => limited(
            what,
            "raise the limit of open files (ulimit -Hn), of which a connection takes two, or let \
             fewer connections be open at once",
        )(error),
        _ => failed(what)(error),
    }
}

/// A system call failed while doing `what`.
pub fn failed(what: &str) -> impl Fn(io::Error) -> Error {
    move |error| Error::System(format!("live run: {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_meets_a_limit_and_what_helps_is_said() {
        let told = |code| opening("opening a socket")(io::Error::from_raw_os_error(code));
        let message = told(EMFILE).of("arrivals 'web'").to_string();
        assert!(message.starts_with("arrivals 'web': live run: opening a socket: "), "{message}");
        assert!(message.contains("ulimit -Hn"), "{message}");
        assert!(!told(nix::libc::EPERM).to_string().contains("ulimit"));
    }
}
