//! Threads that run before others.

use nix::libc;

/// Gives the calling thread priority over ordinary threads, if that is allowed; returns whether it
/// is.
pub(crate) fn run_first(priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters are valid; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}

/// Has the calling thread run before others of the ordinary ones, where it is allowed.
pub(crate) fn run_early() {
    const MOST: libc::c_int = -20;
    // SAFETY: it sets a number of the calling thread, which is 0.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, MOST) };
}
