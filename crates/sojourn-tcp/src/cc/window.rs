//! The window arithmetic that Linux's window-based controls share (`tcp_slow_start`,
//! `tcp_cong_avoid_ai`, and the changes of `snd_cwnd` in `tcp_input.c` itself).

use super::{Decision, Event, INFINITE_SSTHRESH};
use crate::spec::Stack;

/// Whether growth counts ACKs instead of segments, as in Linux's controls before the patches of 5.7
/// for stretch ACKs.
#[inline]
pub fn counts_acks(stack: Stack) -> bool {
    matches!(stack, Stack::Linux49 | Stack::Linux51)
}

/// A congestion window in segments with its threshold and its fractional growth counter.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold.
    pub ssthresh: u32,
    /// Acknowledged segments not yet turned into growth (`snd_cwnd_cnt`).
    pub count: u32,
    /// Window and threshold before the last reduction, for undo.
    saved: (u32, u32),
    /// Whether the stack's undo returns to twice the threshold (Linux before 4.10).
    pub undo_doubles: bool,
}

impl Window {
    /// A new connection's window.
    pub fn new(initial: u32) -> Self {
        Window {
            cwnd: initial,
            ssthresh: INFINITE_SSTHRESH,
            count: 0,
            saved: (0, INFINITE_SSTHRESH),
            undo_doubles: false,
        }
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by one per acknowledged segment up to the threshold; returns the segments left over.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked.saturating_sub(cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// Slow start, then returns what congestion avoidance may count of `acked` segments: what slow
    /// start left over, or with older kernels one per ACK that found the window beyond slow start.
    #[inline]
    pub fn slow_start_then(&mut self, stack: Stack, acked: u32) -> u32 {
        match (self.in_slow_start(), counts_acks(stack)) {
            (false, true) => 1,
            (false, false) => acked,
            (true, false) => self.slow_start(acked),
            (true, true) => {
                self.slow_start(acked);
                0
            }
        }
    }

    /// Grows by one segment per `per` acknowledged segments (`tcp_cong_avoid_ai`).
    #[inline]
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        // A credit left over from a larger `per` adds one segment, not a burst.
        if self.count >= per {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            let grow = self.count / per;
            self.count -= grow * per;
            self.cwnd += grow;
        }
    }

    /// Slow start, then one segment per window: Reno's growth for `acked` segments.
    #[inline]
    pub fn reno_growth(&mut self, acked: u32) {
        let mut left = acked;
        if self.in_slow_start() {
            left = self.slow_start(acked);
        }
        if left > 0 {
            self.additive_increase(self.cwnd, left);
        }
    }

    /// Applies the changes that the stack itself makes for every window-based control. `ssthresh`
    /// computes the control's threshold at congestion; it is not called for other events.
    pub fn on_event(&mut self, event: &Event, ssthresh: impl FnOnce(&Window) -> u32) {
        match *event {
            Event::Loss { .. } | Event::Ecn { .. } => {
                self.ssthresh = ssthresh(self);
                self.count = 0;
            }
            Event::Rto { cwnd, reduce, .. } => {
                if reduce {
                    self.ssthresh = ssthresh(self);
                }
                self.cwnd = cwnd;
                self.count = 0;
            }
            Event::ReductionEnd { cwnd } => self.cwnd = cwnd,
            Event::Restart { cwnd, ssthresh } => {
                self.cwnd = cwnd;
                self.ssthresh = ssthresh;
                self.count = 0;
            }
            Event::Recovered | Event::TxStart { .. } => {}
        }
    }

    /// Saves window and threshold for [`Window::undo`].
    pub fn save(&mut self) {
        self.saved = (self.cwnd, self.ssthresh);
    }

    /// Reverts the reductions since [`Window::save`] (`tcp_reno_undo_cwnd`).
    pub fn undo(&mut self) {
        let cwnd = if self.undo_doubles { self.ssthresh.saturating_mul(2) } else { self.saved.0 };
        self.undo_to(cwnd);
    }

    /// Reverts them to `cwnd` (`undo_cwnd` of a kernel module that has its own).
    pub fn undo_to(&mut self, cwnd: u32) {
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(self.saved.1);
    }

    /// Threshold that follows from the present window (`tcp_current_ssthresh`): three quarters of
    /// it, unless the threshold is higher.
    pub fn current_ssthresh(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// The decision of a control that sets nothing but the window.
    #[inline]
    pub fn decision(&self) -> Decision {
        Decision { cwnd: self.cwnd, ssthresh: self.ssthresh, ..Decision::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let mut window = Window::new(10);
        window.ssthresh = 15;
        assert_eq!(window.slow_start(8), 3);
        assert_eq!(window.cwnd, 15);
    }

    #[test]
    fn additive_increase_is_one_per_window() {
        let mut window = Window::new(10);
        window.ssthresh = 10;
        for _ in 0..10 {
            window.reno_growth(1);
        }
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn undo_restores_what_was_saved() {
        let mut window = Window::new(20);
        window.save();
        window.on_event(&Event::Loss { in_flight: 20 }, |w| w.cwnd / 2);
        window.on_event(&Event::ReductionEnd { cwnd: 10 }, |_| unreachable!());
        window.undo();
        assert_eq!((window.cwnd, window.ssthresh), (20, INFINITE_SSTHRESH));
    }

    #[test]
    fn old_kernels_undo_to_twice_the_threshold() {
        let mut window = Window::new(80);
        window.undo_doubles = true;
        window.save();
        window.on_event(&Event::Loss { in_flight: 80 }, |w| w.cwnd - w.cwnd / 8);
        window.on_event(&Event::ReductionEnd { cwnd: 70 }, |_| unreachable!());
        window.undo();
        assert_eq!(window.cwnd, 140);
    }
}
