//! SLIQ's damper against oscillation: when a long queue has drained, return to the window at which
//! the packet was sent that found it drained, and hold it for two windows.

/// Number of packets above which the queue counts as long.
const TOO_MANY: f64 = 40.0;
/// Segments whose windows at sending are remembered: the largest window.
const REMEMBERED: usize = 32_768;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    MonitorHigh,
    MonitorLow,
    Hold,
    Wait,
}

/// The damper.
#[derive(Debug)]
pub(super) struct Damper {
    state: State,
    sent: f64,
    /// The window at the sending of each segment, by its number.
    windows: Box<[f32]>,
}

impl Default for Damper {
    fn default() -> Self {
        Damper {
            state: State::MonitorHigh,
            sent: 0.0,
            windows: vec![0.0; REMEMBERED].into_boxed_slice(),
        }
    }
}

impl Damper {
    /// Whether the window is held.
    pub(super) fn holds(&self) -> bool {
        self.state == State::Hold
    }

    /// All segments before `una` are acknowledged, and about `queued` packets wait. Returns the
    /// window to take if the queue has just drained.
    pub(super) fn on_ack(&mut self, una: u32, queued: f64, delta: f64) -> Option<f64> {
        match self.state {
            State::MonitorHigh if queued > TOO_MANY => self.state = State::MonitorLow,
            State::MonitorLow if queued < 1.0 / delta => {
                self.state = State::Hold;
                self.sent = 0.0;
                let acked = una.saturating_sub(1) as usize;
                return Some(f64::from(self.windows[acked % REMEMBERED]));
            }
            _ => {}
        }
        None
    }

    /// A segment was sent.
    pub(super) fn on_sent(&mut self, seq: u32, window: f64) {
        self.windows[seq as usize % REMEMBERED] = window as f32;
        if !matches!(self.state, State::Hold | State::Wait) {
            return;
        }
        self.sent += 1.0;
        if self.sent > window {
            self.sent = 0.0;
            let holding = self.state == State::Hold;
            self.state = if holding { State::Wait } else { State::MonitorHigh };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_old_window_and_holds_it_for_a_window() {
        let mut damper = Damper::default();
        for seq in 0..100 {
            damper.on_sent(seq, f64::from(seq));
        }
        assert_eq!(damper.on_ack(60, 50.0, 0.5), None);
        assert_eq!(damper.on_ack(61, 3.0, 0.5), None);
        assert_eq!(damper.on_ack(62, 1.0, 0.5), Some(61.0));
        assert!(damper.holds());
        for seq in 100..162 {
            damper.on_sent(seq, 61.0);
        }
        assert!(!damper.holds());
    }
}
