//! Threads that run before others.

use std::mem::size_of;

use nix::libc;

/// Gives the calling thread priority over ordinary threads, if that is allowed; returns whether it
/// is.
pub(crate) fn run_first(priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters are valid; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}

/// Has the calling thread run before others of the ordinary ones, where it is allowed, and in short turns
/// from Linux 6.12 on: where several wait for a processor, none has to wait until another has had a turn of
/// milliseconds.
pub(crate) fn run_early() {
    const MOST: libc::c_int = -20;
    /// Nanoseconds of a turn: the fewest that the kernel gives, for which no right is needed.
    const TURN: u64 = 100_000;
    // SAFETY: they set and read a number of the calling thread, which is 0.
    let niceness = unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, MOST);
        libc::getpriority(libc::PRIO_PROCESS, 0)
    };
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: TURN,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the attributes are valid, and only read; 0 is the calling thread. Kernels before take no heed
    // of the turn.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

#[cfg(test)]
mod tests {
    use std::mem::zeroed;
    use std::thread::spawn;

    use super::*;

    /// The attributes of the calling thread.
    fn attributes() -> libc::sched_attr {
        // SAFETY: zeros are valid attributes, which the kernel writes over.
        unsafe {
            let mut attributes: libc::sched_attr = zeroed();
            let size = size_of::<libc::sched_attr>();
            let done = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
            assert_eq!(done, 0);
            attributes
        }
    }

    #[test]
    fn a_thread_that_runs_early_stays_an_ordinary_one() {
        let [before, after] = spawn(|| {
            let before = attributes();
            run_early();
            [before, attributes()]
        })
        .join()
        .unwrap();
        assert_eq!(after.sched_policy, libc::SCHED_OTHER as u32);
        assert!(after.sched_nice <= before.sched_nice, "not later than before");
        // Kernels before 6.12 tell of no turns.
        assert!([0, 100_000].contains(&after.sched_runtime), "{}", after.sched_runtime);
    }
}
