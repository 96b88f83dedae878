//! How fast Copa's window moves, and the damper against its oscillation.

const PATIENCE: u32 = 3;
/// Packets in the queue that are too many.
const TOO_MANY: f64 = 40.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Neither,
    Up,
    Down,
}

/// The velocity: 1, and doubled with every window of packets in which the window went the same way,
/// after three of them.
#[derive(Clone, Copy, Debug)]
pub struct Velocity {
    value: u32,
    direction: Direction,
    same: u32,
    start: u64,
    start_window: f64,
    start_increasing: bool,
}

impl Velocity {
    /// For a control with this window.
    pub fn new(window: f64) -> Self {
        Velocity {
            value: 1,
            direction: Direction::Neither,
            same: 0,
            start: 0,
            start_window: window,
            start_increasing: true,
        }
    }

    /// Starts anew with packet `next`.
    pub fn reset(&mut self, next: u64, window: f64, increasing: bool) {
        *self = Velocity { start: next, start_increasing: increasing, ..Velocity::new(window) };
    }

    /// Packet `number` was acknowledged; returns the velocity, at most `most`, at least 1.
    pub fn update(
        &mut self,
        number: u64,
        next: u64,
        window: f64,
        increasing: bool,
        most: u32,
    ) -> u32 {
        if number >= self.start {
            self.window_over(next, window, increasing);
        }
        if increasing != self.start_increasing {
            self.reset(next, window, increasing);
        }
        self.value = self.value.min(most).max(1);
        self.value
    }

    fn window_over(&mut self, next: u64, window: f64, increasing: bool) {
        let direction = match window.total_cmp(&self.start_window) {
            std::cmp::Ordering::Greater => Direction::Up,
            std::cmp::Ordering::Less => Direction::Down,
            std::cmp::Ordering::Equal => Direction::Neither,
        };
        if direction != Direction::Neither && direction == self.direction {
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
        self.start = next;
        self.start_window = window;
        self.start_increasing = increasing;
    }

    /// The velocity now.
    pub fn value(&self) -> u32 {
        self.value
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    MonitorHigh,
    MonitorLow,
    Hold,
    Wait,
}

/// When a long queue has drained, the window goes back to what it was when the packet that shows it
/// was sent, is held for a window of packets, and not damped for another one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damper {
    state: State,
    sent: f64,
}

impl Damper {
    /// About `queued` packets wait; whether the window is to go back.
    pub fn on_rtt(&mut self, queued: f64, delta: f64) -> bool {
        match self.state {
            State::MonitorHigh if queued > TOO_MANY => self.state = State::MonitorLow,
            State::MonitorLow if queued < 1.0 / delta => {
                *self = Damper { state: State::Hold, sent: 0.0 };
                return true;
            }
            _ => {}
        }
        false
    }

    /// A packet goes out.
    pub fn on_sent(&mut self, window: f64) {
        if !matches!(self.state, State::Hold | State::Wait) {
            return;
        }
        self.sent += 1.0;
        if self.sent > window {
            let holding = self.state == State::Hold;
            self.state = if holding { State::Wait } else { State::MonitorHigh };
            self.sent = 0.0;
        }
    }

    /// Whether the window is held.
    pub fn holds(&self) -> bool {
        self.state == State::Hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_after_three_windows_in_the_same_direction() {
        let mut velocity = Velocity::new(0.0);
        let values: Vec<u32> =
            (1..10).map(|i| velocity.update(10 * i, 10 * i + 10, i as f64, true, 1_000)).collect();
        assert_eq!(values, [1, 1, 1, 1, 2, 4, 8, 16, 32]);
        assert_eq!(velocity.update(95, 101, 10.0, false, 1_000), 1, "the other side of the target");
    }

    #[test]
    fn holds_for_a_window_after_a_long_queue() {
        let mut damper = Damper::default();
        assert!(!damper.on_rtt(41.0, 0.5) && !damper.on_rtt(3.0, 0.5));
        assert!(damper.on_rtt(1.9, 0.5) && damper.holds());
        (0..11).for_each(|_| damper.on_sent(10.0));
        assert!(!damper.holds() && !damper.on_rtt(41.0, 0.5));
        (0..11).for_each(|_| damper.on_sent(10.0));
        assert!(!damper.on_rtt(41.0, 0.5) && damper.on_rtt(1.0, 0.5));
    }
}
