//! A command whose processes end with it and with this process, in every case.
//!
//! Two processes are between this one and the command, each the parent of the next: a *keeper*,
//! which returns the exit status, and the first process of a PID namespace, which adopts orphans
//! and whose end ends all others in it.

use std::io::{Error, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{ForkResult, Pid, fork, getppid};

/// Larger than every file descriptor.
const NO_FILE: libc::c_uint = libc::c_uint::MAX;

/// Runs a command in a PID namespace that ends with it, and with the thread that starts it.
pub(crate) fn confine(command: &mut Command) {
    let us = Pid::this();
    // SAFETY: after the fork there are only system calls, and no memory is allocated.
    unsafe { command.pre_exec(move || prepare(us)) };
}

/// An exit status as a shell returns it.
pub(crate) fn as_shell(status: ExitStatus) -> i32 {
    const SIGNALLED: i32 = 128;
    status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or_default())
}

/// Between fork and exec of a command.
fn prepare(us: Pid) -> Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != us {
        return Err(Errno::ESRCH.into()); // we ended before it could hear of that
    }
    close_from(NO_FILE)?; // those who stay behind must be able to
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS)?;
    stay_behind()?;
    set_pdeathsig(Signal::SIGKILL)?;
    let _ = own_proc(); // containers may not allow it: /proc then tells the numbers outside
    stay_behind()
}

/// Mounts a `/proc` with the processes of the namespace, visible in it only.
fn own_proc() -> nix::Result<()> {
    let (none, private) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE);
    mount(none, "/", none, private, none)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none)
}

/// Forks: returns in the child only; the parent ends with the child's exit status.
fn stay_behind() -> Result<()> {
    // SAFETY: parent and child make system calls only, and allocate no memory.
    match unsafe { fork() }? {
        ForkResult::Child => Ok(()),
        ForkResult::Parent { child } => keep(child),
    }
}

/// Waits for a child, and for orphans that become children, without side effects: Ctrl-C is for the
/// command, and the files of this process are closed.
fn keep(child: Pid) -> ! {
    const FIRST: libc::c_uint = 3; // behind the standard ones
    let _ = close_from(FIRST); // possible, or we were not here
    for ignored in [Signal::SIGINT, Signal::SIGQUIT] {
        // SAFETY: there is no handler that could be unsafe.
        let _ = unsafe { signal(ignored, SigHandler::SigIgn) };
    }
    let mut status = 0;
    loop {
        // SAFETY: the status is valid to be written to.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        let interrupted = || Error::last_os_error().raw_os_error() == Some(libc::EINTR);
        if ended == child.as_raw() || ended < 0 && !interrupted() {
            // SAFETY: no cleanup is needed before the end.
            unsafe { libc::_exit(as_shell(ExitStatus::from_raw(status))) }
        }
    }
}

/// Closes all files from a number on, which needs Linux 5.9.
fn close_from(first: libc::c_uint) -> nix::Result<()> {
    const FLAGS: libc::c_uint = 0;
    // SAFETY: callers use none of these files.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, NO_FILE, FLAGS) };
    Errno::result(done).map(drop)
}
