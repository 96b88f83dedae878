//! A live run in a thread of its own, which ends when its owner no longer waits for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, spawn};

use sojourn_base::units::Time;

use crate::clock::Clock;
use crate::error::Error;

/// Progress of a run, and its clock.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    clock: Arc<OnceLock<Clock>>,
    /// Time reached in ns, if it is not the clock's.
    reached: Arc<AtomicU64>,
}

impl Progress {
    /// The run begins, with this clock.
    pub fn at(&self, clock: Clock) {
        let _ = self.clock.set(clock); // a run begins once
    }

    /// A run that is not in real time has reached `time`.
    pub fn reached(&self, time: Time) {
        self.reached.store(time.as_nanos(), Ordering::Relaxed);
    }

    fn time(&self) -> Time {
        let reached = || Time::from_nanos(self.reached.load(Ordering::Relaxed));
        self.clock.get().map_or_else(reached, Clock::now)
    }
}

/// A run in the background whose result is a `T`.
pub struct Live<T> {
    thread: Option<JoinHandle<Result<T, Error>>>,
    stop: Arc<AtomicBool>,
    progress: Progress,
    end: Time,
}

impl<T: Send + 'static> Live<T> {
    /// Starts `run`, which ends at `end`, or when told to stop.
    pub fn new<F>(end: Time, run: F) -> Self
    where
        F: FnOnce(Arc<AtomicBool>, &Progress) -> Result<T, Error> + Send + 'static,
    {
        let (stop, progress) = (Arc::new(AtomicBool::new(false)), Progress::default());
        let told = (Arc::clone(&stop), progress.clone());
        let thread = spawn(move || run(told.0, &told.1));
        Live { thread: Some(thread), stop, progress, end }
    }

    /// The share of the run that is done.
    pub fn share(&self) -> f64 {
        (self.progress.time().as_secs_f64() / self.end.as_secs_f64()).min(1.0)
    }

    /// Whether the result is available without waiting.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// If a permission or a device is missing, the kernel lacks a control, or the run failed.
    pub fn finish(mut self) -> Result<T, Error> {
        let ended = || Error::System("live run: its thread failed".to_owned());
        let thread = self.thread.take().ok_or_else(ended)?;
        thread.join().unwrap_or_else(|_| Err(ended()))
    }
}

impl<T> Drop for Live<T> {
    /// A run without owner ends.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
