//! Why a run on a kernel in virtual time failed.

use std::io;

use crate::error::Error;

/// What should not have happened has.
pub fn broken(what: &str) -> Error {
    Error::System(format!("kernel run: {what}"))
}

/// A system call failed while doing `what`.
pub fn doing(what: &str, error: io::Error) -> Error {
    broken(&format!("{what}: {error}"))
}
