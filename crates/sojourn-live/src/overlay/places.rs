//! Where the threads of a run are: the loop on a processor of its own, the nodes on the others.
//!
//! The loop runs before all others and takes most of a processor. A node that the kernel has put on the same
//! one, and leaves there though another has time, waits for milliseconds at a time.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread.
const ME: Pid = Pid::from_raw(0);

/// Processors of the loop and of the nodes; none where there is one for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places(Option<[CpuSet; 2]>);

impl Places {
    /// Shares out those that the calling thread may use: the last one is the loop's.
    pub(super) fn share_out() -> Self {
        Places(apart())
    }

    /// The calling thread is the loop. This only makes it more punctual, as the next does a node.
    pub(super) fn hold_loop(self) {
        let _ = self.0.map(|[ours, _]| sched_setaffinity(ME, &ours));
    }

    /// The calling thread is a node.
    pub(super) fn hold_node(self) {
        let _ = self.0.map(|[_, theirs]| sched_setaffinity(ME, &theirs));
    }
}

/// The last one of those that the calling thread may use, and all others.
fn apart() -> Option<[CpuSet; 2]> {
    let mut others = sched_getaffinity(ME).ok()?;
    let mut allowed = (0..CpuSet::count()).filter(|number| others.is_set(*number) == Ok(true));
    let last = allowed.next_back().filter(|_| allowed.next().is_some())?;
    let mut only = CpuSet::new();
    only.set(last).ok()?;
    others.unset(last).ok()?;
    Some([only, others])
}

#[cfg(test)]
mod tests {
    use std::thread::spawn;

    use super::*;

    /// Numbers of the processors that the calling thread may use.
    fn allowed() -> Vec<usize> {
        let allowed = sched_getaffinity(ME).unwrap();
        (0..CpuSet::count()).filter(|number| allowed.is_set(*number).unwrap()).collect()
    }

    #[test]
    fn the_loop_shares_its_processor_with_no_node() {
        let all = allowed();
        let places = Places::share_out();
        let held = |hold: fn(Places)| {
            let thread = spawn(move || {
                hold(places);
                allowed()
            });
            thread.join().unwrap()
        };
        let [ours, theirs] = [held(Places::hold_loop), held(Places::hold_node)];
        if let [one] = all[..] {
            return assert_eq!([ours, theirs], [[one], [one]]);
        }
        assert_eq!(ours.len(), 1);
        assert_eq!([theirs, ours].concat(), all);
    }
}
