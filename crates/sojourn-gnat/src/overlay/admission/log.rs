//! LOG: utility is the logarithm of the rate, times the priority.
//!
//! The rate maximises `K p ln(a r + 1) - Q r`: `r = K p / Q - 1 / a`. Model: IRON's
//! `log_utility.cc`.

use crate::ServiceSpec;

/// The admission of an elastic flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log {
    k: f64,
    priority: f64,
    steepness: f64,
    ceiling: f64,
}

impl Log {
    /// The admission control of a service.
    pub(crate) fn new(service: &ServiceSpec, k: f64) -> Self {
        let ServiceSpec { priority, steepness, ceiling, .. } = *service;
        Log { k, priority, steepness, ceiling: ceiling.as_bps() as f64 }
    }

    /// Sets the priority.
    pub(crate) fn set_priority(&mut self, priority: f64) {
        self.priority = priority;
    }

    /// The rate in bit/s when the queue is `depth` bits deep.
    pub(crate) fn rate(&self, depth: f64) -> f64 {
        let free = self.k * self.priority / depth - 1.0 / self.steepness;
        free.clamp(0.0, self.ceiling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::units::Rate;

    #[test]
    fn the_rate_is_where_marginal_utility_equals_the_queue() {
        let ceiling = Rate::from_bps(10_000_000);
        let service = ServiceSpec { priority: 5.0, ceiling, ..ServiceSpec::default() };
        let log = Log::new(&service, 1e12);
        assert_eq!(log.rate(0.0), 1e7, "no price, all it may have");
        let (depth, k) = (2e6, 1e12);
        let gain = |rate: f64| k * 5.0 * (20.0 * rate + 1.0).ln() - depth * rate;
        let best = log.rate(depth);
        assert!(gain(best) > gain(best + 1e3) && gain(best) > gain(best - 1e3));
        assert_eq!(log.rate(1e15), 0.0);
    }
}
