//! The depth that a queue advertises: instantaneous or smoothed.

use sojourn_base::registry::named;
use sojourn_base::units::{Span, Time};

named! {
    /// Depth of its queues that a node uses and reports to its neighbours.
    #[derive(Default)]
    Shown, "depth" {
        /// As it is.
        #[default]
        Instantaneous = "instantaneous",
        /// Exponentially weighted over 5 ms.
        Ewma = "ewma",
        /// With the momentum of the heavy-ball method: 0.65 of the weight of 5 ms before.
        HeavyBall = "heavy-ball",
    }
}

/// Time constant of the moving average.
const TAU: f64 = 0.005;
/// Of the heavy ball: momentum, and how often weights are computed.
const BETA: f64 = 0.65;
const STEP: Span = Span::from_millis(5);

/// An advertised depth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depth {
    /// The advertised value.
    value: f64,
    at: Time,
    /// Of the heavy ball: the depth that the value was computed from.
    base: f64,
}

impl Depth {
    /// The value to advertise when the queue is `bytes` deep.
    pub(super) fn show(&mut self, now: Time, how: Shown, bytes: f64) -> f64 {
        match how {
            Shown::Instantaneous => self.value = bytes,
            Shown::Ewma => {
                let passed = now.since(self.at).as_secs_f64();
                self.value = bytes + (self.value - bytes) * libm::exp(-passed / TAU);
                self.at = now;
            }
            Shown::HeavyBall => {
                while now.since(self.at) >= STEP {
                    let idle = self.value < 1.0 && bytes == 0.0;
                    self.at = if idle { now } else { self.at + STEP };
                    self.value = BETA * self.value + bytes;
                    self.base = bytes;
                }
                // Arrivals and departures since then count at once.
                self.value += bytes - self.base;
                self.base = bytes;
            }
        }
        self.value = self.value.max(0.0);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn an_average_follows_with_its_time_constant() {
        let mut depth = Depth::default();
        depth.show(at(0), Shown::Ewma, 0.0);
        let shown = depth.show(at(5), Shown::Ewma, 1000.0);
        assert!((shown - 1000.0 * (1.0 - (-1.0_f64).exp())).abs() < 1e-9);
        assert!(depth.show(at(200), Shown::Ewma, 1000.0) > 999.9);
    }

    #[test]
    fn a_heavy_ball_settles_at_the_sum_of_its_weights() {
        let mut depth = Depth::default();
        let last = (0..200).map(|step| depth.show(at(5 * step), Shown::HeavyBall, 1000.0)).last();
        assert!((last.unwrap() - 1000.0 / (1.0 - BETA)).abs() < 1.0);
    }
}
