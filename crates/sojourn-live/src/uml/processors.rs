//! Processor affinity of a run: a kernel and its calendar take turns, so one processor is enough
//! for both, and waking a process on another one takes longer than most turns.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// Number of runs of this process on each processor.
static TAKEN: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// A processor that is counted as taken until this is dropped.
pub(super) struct Processor(usize);

impl Processor {
    /// Binds the calling thread, and threads and processes that it starts, to the allowed processor
    /// that has the fewest runs, or that it is on already; nothing where that is not allowed.
    pub(super) fn take() -> Option<Self> {
        let me = Pid::from_raw(0);
        let allowed = sched_getaffinity(me).ok()?;
        let here = sched_getcpu().ok()?;
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let load = |number: &usize| (taken.get(number).copied().unwrap_or(0), *number != here);
        let there = (0..CpuSet::count()).filter(|number| allowed.is_set(*number) == Ok(true));
        let best = there.min_by_key(load)?;
        let mut only = CpuSet::new();
        only.set(best).ok()?;
        sched_setaffinity(me, &only).ok()?;
        *taken.entry(best).or_default() += 1;
        Some(Processor(best))
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.entry(self.0).and_modify(|runs| *runs -= 1);
    }
}
