//! Errors of runs on a kernel in virtual time.

use std::io;

use super::console::Console;
use crate::error::Error;

/// A broken invariant or protocol.
pub(super) fn broken(what: &str) -> Error {
    Error::System(format!("kernel run: {what}"))
}

/// A system call failed while doing `what`.
pub(super) fn doing(what: &str, error: io::Error) -> Error {
    broken(&format!("{what}: {error}"))
}

/// An error with its place and the last lines of the kernel's console.
pub(super) fn with_last_words(error: Error, place: &str, console: Console) -> Error {
    match error {
        Error::System(message) => {
            let words = console.last_words();
            Error::System(format!("{message}, {place}; the kernel's last output:\n{words}"))
        }
        other => other,
    }
}
