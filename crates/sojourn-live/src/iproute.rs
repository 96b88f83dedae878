//! The programs of iproute2, run in the network namespace of the calling thread.

use std::io;
use std::path::Path;
use std::process::Command;

/// Their directories.
const PLACES: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// The path of a program; `None` if the machine lacks it.
pub(crate) fn program(name: &str) -> Option<String> {
    let places = PLACES.iter().map(|place| format!("{place}/{name}"));
    places.into_iter().find(|path| Path::new(path).exists())
}

/// Runs a program with the arguments in `line`.
///
/// # Errors
/// If the machine lacks it, or it fails: with what it says.
pub(crate) fn run(name: &str, line: &str) -> io::Result<()> {
    let missing = || io::Error::other(format!("there is no {name}"));
    let path = program(name).ok_or_else(missing)?;
    let done = Command::new(path).args(line.split_whitespace()).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{name} {line}: {}", said.trim()))),
    }
}
