//! Why a run on a kernel in virtual time failed.

use std::io;

use super::console::Console;
use crate::error::Error;

/// What should not have happened has.
pub(super) fn broken(what: &str) -> Error {
    Error::System(format!("kernel run: {what}"))
}

/// A system call failed while doing `what`.
pub(super) fn doing(what: &str, error: io::Error) -> Error {
    broken(&format!("{what}: {error}"))
}

/// A failure, where it happened, and what the kernel said before.
pub(super) fn with_last_words(error: Error, place: &str, console: Console) -> Error {
    match error {
        Error::System(message) => {
            let words = console.last_words();
            Error::System(format!("{message}, {place}; the kernel's last words:\n{words}"))
        }
        other => other,
    }
}
