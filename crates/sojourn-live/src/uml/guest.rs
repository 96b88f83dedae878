//! The process of a kernel, and the sockets by which it reaches this process.

use std::fs::{File, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{OFlag, open};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;

use super::arguments::{FIRST_DOOR, Image, Wanted, arguments};
use super::console::Console;
use super::failure::doing;
use crate::error::Error;
use crate::sys::become_guest;

/// A listening socket without a name: it is reached by the number of a descriptor.
pub(super) struct Door {
    /// The listener.
    pub listener: UnixListener,
    name: OwnedFd,
}

impl Door {
    /// A new one. Its name is in a directory that is ours alone and is removed at once, so that
    /// nobody else reaches it and no file remains.
    ///
    /// # Errors
    /// If there is no room for temporary files.
    pub(super) fn new() -> Result<Self, Error> {
        let failed = |error| doing("opening a socket", error);
        let ours = Permissions::from_mode(0o700);
        let place = tempfile::Builder::new().prefix("sojourn-").permissions(ours).tempdir();
        let place = place.map_err(failed)?;
        let path = place.path().join("door");
        let listener = UnixListener::bind(&path).map_err(failed)?;
        let name = open(&path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty());
        let name = name.map_err(|error| failed(error.into()))?;
        place.close().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Door { listener, name })
    }
}

/// A running kernel; it ends when this is dropped.
pub(super) struct Guest {
    child: Child,
    console: File,
}

impl Guest {
    /// Starts a kernel with a calendar and a card behind each of the other doors.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(super) fn start(
        image: &Image,
        calendar: &Door,
        cards: &[Door],
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let console = memfd_create(c"sojourn-console", MFdFlags::MFD_CLOEXEC);
        let console = File::from(console.map_err(|error| doing("a console", error.into()))?);
        let copy = || console.try_clone().map(Stdio::from).map_err(|e| doing("a console", e));
        let mut command = Command::new(&image.kernel);
        command.args(arguments(image, wanted));
        command.env_clear().env("SOJOURN_SEED", wanted.seed.to_string());
        // For restartable sequences, which nothing here has, each change of processes takes longer.
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
        command.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
        // What a terminal stops and continues is whoever drives it, for which it waits.
        command.process_group(0);
        let doors = std::iter::once(calendar).chain(cards);
        become_guest(&mut command, doors.map(|door| door.name.as_raw_fd()).collect(), FIRST_DOOR);
        let running = |path: &Path| format!("running the kernel {}", path.display());
        let child = started(&mut command);
        let child = child.map_err(|error| doing(&running(&image.kernel), error))?;
        Ok(Guest { child, console })
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Its console, which outlives the process.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub(super) fn console(&self) -> Result<Console, Error> {
        self.console.try_clone().map(Console).map_err(|error| doing("a console", error))
    }
}

/// Starts a command, one at a time: what other libraries have the C library do before a fork may wait
/// for ever when two threads fork at once (OpenBLAS ends its threads, each of both by joining them).
fn started(command: &mut Command) -> std::io::Result<Child> {
    static FORKING: Mutex<()> = Mutex::new(());
    let _alone = FORKING.lock().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_door_is_where_nobody_else_gets_and_leaves_no_name() {
        let doors: Vec<Door> = (0..3).map(|_| Door::new().unwrap()).collect();
        let places = doors.iter().map(|door| {
            let address = door.listener.local_addr().unwrap();
            address.as_pathname().unwrap().parent().unwrap().to_owned()
        });
        let places: BTreeSet<PathBuf> = places.collect();
        assert_eq!(places.len(), doors.len());
        assert!(places.iter().all(|place| !place.exists()), "{places:?}");
    }
}
