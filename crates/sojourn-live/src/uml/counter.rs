//! The processor's counter of cycles, which a kernel with programs may not read: it is trapped for
//! them. While the thread that takes turns with it may read it, the processor has to be set whenever
//! they change, which on a virtual machine takes longer than all else of a turn. Clocks of this
//! process are told by the counter, too.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::sys::allow_counter;

thread_local! {
    /// Whether this thread does without.
    static FORGONE: Cell<bool> = const { Cell::new(false) };
}

/// While this is there, its thread must not read a clock, but for [`with_clock`].
pub(super) struct Forgone(PhantomData<*const ()>);

impl Forgone {
    /// The calling thread does without from now on; so do processes that it starts.
    pub(super) fn start() -> Self {
        set(true);
        Forgone(PhantomData)
    }
}

impl Drop for Forgone {
    fn drop(&mut self) {
        set(false);
    }
}

/// Does what may read a clock, on any thread.
pub(super) fn with_clock<T>(act: impl FnOnce() -> T) -> T {
    let again = FORGONE.get().then(|| {
        set(false);
        Again
    });
    let made = act();
    drop(again);
    made
}

/// The thread does without again, even after a panic.
struct Again;

impl Drop for Again {
    fn drop(&mut self) {
        set(true);
    }
}

fn set(forgone: bool) {
    FORGONE.set(forgone);
    allow_counter(!forgone);
}

#[cfg(test)]
mod tests {
    use sojourn_base::units::{Span, Time};

    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_clock_is_read_meanwhile_and_afterwards() {
        let forgone = Forgone::start();
        assert!(FORGONE.get());
        let clock = with_clock(|| {
            assert!(!FORGONE.get());
            with_clock(Clock::start)
        });
        assert!(FORGONE.get());
        drop(forgone);
        assert!(clock.now() < Time::ZERO + Span::from_secs(60));
    }
}
