//! Copa's velocity: speeds up while the window keeps moving the same way.

use super::AckSample;

/// Round trips in the same direction before the velocity doubles.
const PATIENCE: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
    Neither,
}

/// The velocity and what it is judged by, once per window of data.
#[derive(Clone, Copy, Debug)]
pub struct Velocity {
    value: u32,
    same: u32,
    direction: Direction,
    start_window: f64,
    start_increasing: bool,
    /// The window of data ends when this segment is acknowledged.
    end: u32,
}

impl Default for Velocity {
    fn default() -> Self {
        Velocity {
            value: 1,
            same: 0,
            direction: Direction::Neither,
            start_window: 0.0,
            start_increasing: true,
            end: 0,
        }
    }
}

impl Velocity {
    /// The velocity.
    pub fn value(&self) -> u32 {
        self.value
    }

    /// The way in which the window has been moving.
    pub fn direction(&self) -> &'static str {
        match self.direction {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Neither => "neither",
        }
    }

    /// Starts anew from this window, with a window of data that ends at segment `end`.
    pub fn reset(&mut self, end: u32, window: f64, increasing: bool) {
        *self = Velocity {
            start_window: window,
            start_increasing: increasing,
            end,
            ..Velocity::default()
        };
    }

    /// Takes an ACK in; returns the velocity, at least 1 and at most `most`. With `at_once` a
    /// change of the target's side resets it within the window of data.
    pub fn update(
        &mut self,
        ack: &AckSample,
        window: f64,
        increasing: bool,
        at_once: bool,
        most: u32,
    ) -> u32 {
        if ack.una > self.end {
            self.window_over(ack.next, window, increasing);
        }
        if at_once && increasing != self.start_increasing {
            self.reset(ack.next, window, increasing);
        }
        self.value = self.value.min(most).max(1);
        self.value
    }

    fn window_over(&mut self, end: u32, window: f64, increasing: bool) {
        let direction = if window > self.start_window {
            Direction::Up
        } else if window < self.start_window {
            Direction::Down
        } else {
            Direction::Neither
        };
        if direction == self.direction && direction != Direction::Neither {
            if self.value == 1 && self.same < PATIENCE {
                self.same += 1;
            } else {
                self.value = self.value.saturating_mul(2);
            }
        } else {
            self.same = 0;
            self.value = 1;
        }
        self.direction = direction;
        self.start_window = window;
        self.start_increasing = increasing;
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_after_three_windows_in_the_same_direction() {
        let mut velocity = Velocity::default();
        let values: Vec<u32> = (1..10)
            .map(|i| {
                let ack = AckSample { una: 10 * i + 1, next: 10 * i + 10, ..AckSample::default() };
                velocity.update(&ack, f64::from(i), true, false, 1000)
            })
            .collect();
        assert_eq!(values, [1, 1, 1, 1, 2, 4, 8, 16, 32]);
        let ack = AckSample { una: 101, next: 110, ..AckSample::default() };
        assert_eq!(velocity.update(&ack, 1.0, true, false, 1000), 1);
    }
}
