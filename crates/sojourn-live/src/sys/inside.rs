//! Programs in rooms: namespaces and a root directory that others do not have.

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::SigSet;
use nix::unistd::{chdir, chroot, fchdir, setsid};

use super::confined::as_shell;

/// Namespaces and a root directory.
#[derive(Debug)]
pub(crate) struct Room {
    /// Its namespaces, with their kinds.
    pub namespaces: Vec<(OwnedFd, CloneFlags)>,
    /// Its root directory.
    pub root: OwnedFd,
}

/// Files that a program may open, at first and if it asks: programs that close all of them, one by one,
/// would take long where the agent's limit held.
const FILES: (u64, u64) = (1 << 10, 1 << 19);

/// Makes a command run in a room, in this directory of it: in a session of its own, and with no signal
/// blocked.
pub(crate) fn put_in(command: &mut Command, room: Arc<Room>, directory: CString) {
    let enter = move || -> Result<()> {
        for (namespace, kind) in &room.namespaces {
            setns(namespace, *kind)?;
        }
        fchdir(&room.root)?;
        chroot(c".")?;
        chdir(directory.as_c_str())?;
        setsid()?;
        setrlimit(Resource::RLIMIT_NOFILE, FILES.0, FILES.1)?;
        Ok(SigSet::empty().thread_set_mask()?)
    };
    // SAFETY: between fork and exec there are only system calls, and no memory is allocated.
    unsafe { command.pre_exec(enter) };
}

/// The number of a child that has ended, and its exit status as a shell returns it; `None` if all
/// children run.
///
/// # Errors
/// Those of the kernel: `ECHILD` if there is no child.
pub(crate) fn ended() -> Result<Option<(u32, i32)>> {
    let mut status = 0;
    // SAFETY: the status is valid to be written to.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        -1 => Err(Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some((child as u32, as_shell(ExitStatus::from_raw(status))))),
    }
}
