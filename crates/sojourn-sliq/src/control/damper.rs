//! The damper against Copa's oscillation.

/// Number of packets above which the queue counts as long.
const TOO_MANY: f64 = 40.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    MonitorHigh,
    MonitorLow,
    Hold,
    Wait,
}

/// When a long queue has drained, the window returns to its value when the packet that shows this
/// was sent, is held for a window of packets, and not damped for another one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Damper {
    state: State,
    sent: f64,
}

impl Damper {
    /// About `queued` packets wait; whether the window is to go back.
    pub(super) fn on_rtt(&mut self, queued: f64, delta: f64) -> bool {
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

    /// A packet is sent.
    pub(super) fn on_sent(&mut self, window: f64) {
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
    pub(super) fn holds(&self) -> bool {
        self.state == State::Hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
