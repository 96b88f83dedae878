//! Admission of a byte stream: how much of it may enter the overlay now.

use crate::overlay::admission::Admission;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::tcp::HEADER;

/// Shortest and longest time for which a rate holds before it is evaluated again.
const SHORTEST_LOOK: Span = Span::from_micros(100);
const LONGEST_LOOK: Span = Span::from_millis(20);

/// The admission of a stream's bytes.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Its admission control.
    pub admission: Admission,
    credit: f64,
    counted: Time,
    /// Bits admitted.
    pub admitted: f64,
}

impl Gate {
    /// With this admission control.
    pub(crate) fn new(admission: Admission) -> Self {
        Gate { admission, credit: 0.0, counted: Time::ZERO, admitted: 0.0 }
    }

    /// The rate where the queue is `depth` bits deep, with credit up to now for segments of `mss` bytes.
    pub(crate) fn look(&mut self, now: Time, mss: u32, depth: f64) -> f64 {
        let rate = self.admission.rate(depth);
        let full = 8.0 * f64::from(mss + HEADER);
        let passed = now.since(self.counted).as_secs_f64();
        self.credit = (self.credit + rate * passed).min(full + rate * 1e-3);
        self.counted = now;
        rate
    }

    /// Admits a segment of so many bytes.
    ///
    /// # Errors
    /// When to ask again, if the rate does not permit it.
    pub(crate) fn pass(&mut self, now: Time, rate: f64, bytes: u64) -> Result<(), Time> {
        let bits = 8.0 * (bytes as f64 + f64::from(HEADER));
        if self.credit + 1e-6 < bits {
            let wait = Span::from_secs_f64(((bits - self.credit) / rate.max(1.0)).min(1.0));
            return Err(now + (wait + Span::from_nanos(1)).clamp(SHORTEST_LOOK, LONGEST_LOOK));
        }
        self.credit -= bits;
        self.admitted += bits;
        Ok(())
    }
}
