//! Copa's velocity: it doubles while the window keeps moving in the same direction. It counts
//! neither packets nor segments: its caller determines when a window of data is over.

/// Round trips in the same direction before the velocity doubles.
const PATIENCE: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
    Neither,
}

/// The velocity, and the state by which it is updated once per window of data.
#[derive(Clone, Copy, Debug)]
pub struct Velocity {
    value: u32,
    same: u32,
    direction: Direction,
    start_window: f64,
    start_increasing: bool,
    /// The number with which the window of data ends.
    end: u64,
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

    /// Direction in which the window has been moving.
    pub fn direction(&self) -> &'static str {
        match self.direction {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Neither => "neither",
        }
    }

    /// A velocity that starts from this window.
    pub fn starting(window: f64) -> Self {
        Velocity { start_window: window, ..Velocity::default() }
    }

    /// The number with which the window of data ends.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Restarts from this window, with a window of data that ends with `end`.
    pub fn reset(&mut self, end: u64, window: f64, increasing: bool) {
        *self = Velocity {
            start_window: window,
            start_increasing: increasing,
            end,
            ..Velocity::default()
        };
    }

    /// Processes an ACK, with which the window of data may be `over`; the next one ends with
    /// `next`. Returns the velocity, at least 1 and at most `most`. With `at_once` a change of the
    /// target's side resets it within the window of data.
    pub fn update(
        &mut self,
        over: bool,
        next: u64,
        window: f64,
        increasing: bool,
        at_once: bool,
        most: u32,
    ) -> u32 {
        if over {
            self.window_over(next, window, increasing);
        }
        if at_once && increasing != self.start_increasing {
            self.reset(next, window, increasing);
        }
        self.value = self.value.min(most).max(1);
        self.value
    }

    fn window_over(&mut self, end: u64, window: f64, increasing: bool) {
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
        let values: Vec<u32> =
            (1..10).map(|i| velocity.update(true, 10 * i, i as f64, true, false, 1_000)).collect();
        assert_eq!(values, [1, 1, 1, 1, 2, 4, 8, 16, 32]);
        assert_eq!(velocity.update(false, 110, 1.0, true, false, 1_000), 32, "not over");
        assert_eq!(velocity.update(true, 110, 1.0, true, false, 1_000), 1, "the other direction");
    }

    #[test]
    fn a_change_of_side_resets_at_once_or_with_the_window() {
        for (at_once, expected) in [(true, 1), (false, 2)] {
            let mut velocity = Velocity::default();
            (1..6).for_each(|i| {
                velocity.update(true, 10 * i, i as f64, true, at_once, 1_000);
            });
            assert_eq!(velocity.update(false, 60, 6.0, false, at_once, 1_000), expected);
        }
    }
}
