//! Programs in rooms: namespaces, and with them a root directory, that others do not have.

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::{chdir, setsid};

use super::confined::as_shell;

/// Namespaces, with their kinds; who enters that of mounts has the root directory of these.
#[derive(Debug)]
pub(crate) struct Room(pub Vec<(OwnedFd, CloneFlags)>);

/// Files that a program may open, at first and if it asks: programs that close all of them, one by one,
/// would take long where the agent's limit held.
const FILES: (u64, u64) = (1 << 10, 1 << 19);

/// Makes a command run in a room, in this directory of it: in a session of its own, and with no signal
/// ignored or blocked.
pub(crate) fn put_in(command: &mut Command, room: Arc<Room>, directory: CString) {
    let enter = move || -> Result<()> {
        for (namespace, kind) in &room.0 {
            setns(namespace, *kind)?;
        }
        chdir(directory.as_c_str())?;
        setsid()?;
        setrlimit(Resource::RLIMIT_NOFILE, FILES.0, FILES.1)?;
        hear_all()
    };
    // SAFETY: between fork and exec there are only system calls, and no memory is allocated.
    unsafe { command.pre_exec(enter) };
}

/// Has every signal do what it does by default: what a process ignores or blocks, the program that it
/// becomes would, too.
fn hear_all() -> Result<()> {
    for one in Signal::iterator() {
        // SAFETY: there is no handler that could be unsafe. SIGKILL and SIGSTOP are refused, which
        // never do anything else.
        let _ = unsafe { signal(one, SigHandler::SigDfl) };
    }
    Ok(SigSet::empty().thread_set_mask()?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_ignores_and_blocks_nothing_that_we_do() {
        let mut command = Command::new("grep");
        command.args(["-E", "^Sig(Ign|Blk):", "/proc/self/status"]);
        let deaf = || -> Result<()> {
            // SAFETY: there is no handler.
            unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) }?;
            SigSet::all().thread_set_mask()?;
            hear_all()
        };
        // SAFETY: there are only system calls, and no memory is allocated.
        unsafe { command.pre_exec(deaf) };
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let sets = told.lines().map(|line| line.split_once(":\t").unwrap().1);
        let sets: Vec<u64> = sets.map(|set| u64::from_str_radix(set, 16).unwrap()).collect();
        // Signals 32 and 33 are the C library's own, which it lets nobody set.
        assert_eq!(sets.iter().map(|set| set & !(3 << 31)).collect::<Vec<_>>(), [0, 0], "{told}");
    }
}
