//! When the transfers of an entry arrive: its kinds of processes.
//!
//! | kind | arrivals |
//! | --- | --- |
//! | `poisson` | at exponential intervals |
//! | `deterministic` | the first one at `start`, then at equal intervals |
//! | `modulated` | as `poisson`, at a rate that changes between states |
//! | `incast` | groups at equal intervals, the first one at `start` |
//! | `file` | as listed, counted from `start` |
//! | `closed` | of users, who wait for the end of a transfer: no process of its own |

use crate::rng::StreamKey;
use crate::units::{Span, Time};

mod deterministic;
mod incast;
mod listed;
mod modulated;
mod poisson;
mod spec;

pub use incast::Incast;
pub use listed::Listed;
pub use modulated::{Modulated, State};
pub use spec::ProcessSpec;

/// When the next arrivals of an entry are, and what they are. It is pulled: one arrival is pending.
pub trait Process: Send {
    /// The next arrival; `None`: there are none any more. Called first with the entry's `start`,
    /// then with the time of the arrival that it gave last.
    fn next(&mut self, now: Time) -> Option<Due>;
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its time.
    pub at: Time,
    /// Payload of the transfer, where the process gives it.
    pub size: Option<u64>,
    /// Index of its variant, where the process gives it.
    pub variant: Option<u16>,
    /// Number of the group that arrives together, from 0; 0 where there are no groups.
    pub group: u32,
}

impl Due {
    /// An arrival of which only the time is given.
    pub fn at(at: Time) -> Self {
        Due { at, size: None, variant: None, group: 0 }
    }
}

impl ProcessSpec {
    /// The process at `rate` arrivals per second from `start` to `stop`, with draws of the name
    /// `key`; `None` for a closed loop, whose users arrive by themselves.
    pub(super) fn process(
        &self,
        rate: f64,
        [start, stop]: [Time; 2],
        key: StreamKey,
    ) -> Option<Box<dyn Process>> {
        let process: Box<dyn Process> = match self {
            ProcessSpec::Closed => return None,
            ProcessSpec::Poisson => Box::new(poisson::Arrivals::new(rate, key)),
            ProcessSpec::Deterministic => Box::new(deterministic::Arrivals::new(start, rate)),
            ProcessSpec::File(list) => Box::new(listed::Arrivals::new(start, list.clone())),
            ProcessSpec::Modulated(spec) => Box::new(modulated::Arrivals::new(spec, rate, key)),
            ProcessSpec::Incast(spec) => Box::new(incast::Arrivals::new(start, *spec, rate, key)),
        };
        Some(Box::new(Until { process, stop }))
    }
}

/// A process without the arrivals from `stop` on.
struct Until {
    process: Box<dyn Process>,
    stop: Time,
}

impl Process for Until {
    fn next(&mut self, now: Time) -> Option<Due> {
        self.process.next(now).filter(|due| due.at < self.stop)
    }
}

/// The time between arrivals of this rate, times `intervals`.
fn after(intervals: f64, rate: f64) -> Span {
    Span::from_secs_f64(intervals / rate)
}

#[cfg(test)]
mod testing {
    use super::*;

    /// The arrivals of a process, each in seconds.
    pub(super) fn times(mut process: Box<dyn Process>, start: Time) -> Vec<f64> {
        let mut now = start;
        let arrivals = std::iter::from_fn(|| {
            let due = process.next(now)?;
            assert!(due.at >= now, "{:?} after {now:?}", due.at);
            now = due.at;
            Some(due.at.as_secs_f64())
        });
        arrivals.collect()
    }

    /// Mean, and variance by mean, of the number of arrivals in intervals of this many seconds.
    pub(super) fn counts(times: &[f64], interval: f64, intervals: usize) -> (f64, f64) {
        let mut counts = vec![0.0; intervals];
        times.iter().for_each(|time| counts[(time / interval) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / intervals as f64;
        let squares = counts.iter().map(|count| (count - mean) * (count - mean));
        (mean, squares.sum::<f64>() / intervals as f64 / mean)
    }
}
