//! Advertisement of a node's links to all others.

use std::ops::Add;

/// Number of standard deviations that are added to the mean.
const DEVIATIONS: f64 = 2.2;
/// Step of what is advertised, in seconds, and the most steps: there are 16 bits.
const STEP: f64 = 100e-6;
const MOST_STEPS: f64 = 65_535.0;

/// Headers of an advertisement: type, origin and number; how many links, and three bytes more.
const HEADERS: u32 = 4 + 4;
/// An entry for each link: neighbour, mean and deviation of the delay.
const LINK: u32 = 1 + 2 + 2;

/// A delay that varies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delay {
    /// Its mean in seconds.
    pub mean: f64,
    /// Its variance, in seconds squared.
    pub variance: f64,
}

impl Add for Delay {
    type Output = Delay;

    fn add(self, other: Delay) -> Delay {
        Delay { mean: self.mean + other.mean, variance: self.variance + other.variance }
    }
}

impl Delay {
    /// The time that is enough for nearly all packets, in seconds.
    pub fn enough(self) -> f64 {
        self.mean + DEVIATIONS * self.variance.sqrt()
    }

    /// The delay as advertised: mean and deviation in whole steps, at least one.
    pub fn advertised(self) -> Delay {
        Delay::of_steps(self.steps())
    }

    /// Mean and deviation in whole steps, at least one.
    pub(super) fn steps(self) -> [u16; 2] {
        let steps = |time: f64| (time / STEP).round().clamp(1.0, MOST_STEPS) as u16;
        [steps(self.mean), steps(self.variance.sqrt())]
    }

    /// The delay of these steps; none is as one.
    pub(super) fn of_steps(steps: [u16; 2]) -> Delay {
        let [mean, deviation] = steps.map(|steps| f64::from(steps.max(1)) * STEP);
        Delay { mean, variance: deviation * deviation }
    }
}

/// A node's working links.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkState {
    /// The node.
    pub origin: u16,
    /// Number of the advertisement.
    pub number: u32,
    /// Neighbours, and the delay to each.
    pub links: Vec<(u16, Delay)>,
}

impl LinkState {
    /// Its bytes in a message.
    pub fn message_bytes(&self) -> u32 {
        HEADERS + LINK * self.links.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(measured: f64, expected: f64) {
        assert!((measured / expected - 1.0).abs() < 1e-9, "{measured} is not {expected}");
    }

    #[test]
    fn sums_have_the_deviation_of_what_varies_independently() {
        let of = |ms: f64, deviation: f64| Delay {
            mean: ms * 1e-3,
            variance: (deviation * 1e-3).powi(2),
        };
        close((of(10.0, 3.0) + of(20.0, 4.0)).enough(), 0.030 + 2.2 * 0.005);
        let told = Delay { mean: 0.012_34, variance: 0.0 }.advertised();
        close(told.mean, 0.0123);
        close(told.variance, 1e-8);
    }
}
