//! Whether a thread may read the processor's counter of cycles.

use nix::libc;

/// Lets the calling thread read the processor's counter of cycles, which is so at first, or not: it then
/// ends by a signal if it reads a clock.
pub(crate) fn allow_counter(allowed: bool) {
    let how = if allowed { libc::PR_TSC_ENABLE } else { libc::PR_TSC_SIGSEGV };
    // SAFETY: it sets a flag of the thread; where it is not known, nothing is done.
    unsafe { libc::prctl(libc::PR_SET_TSC, how, 0, 0, 0) };
}
