//! Zombie latency reduction: bytes without content take the place of packets in a standing queue.
//!
//! Backpressure needs queues that differ in depth, not queues of packets. A packet that leaves a
//! queue which held enough packets for a whole window is replaced by a zombie of its size: the
//! depth stays the same, and the next packet waits less. The window widens when there are too many
//! zombies, so that some had to be sent or few packets were left, and narrows while none are added.
//!
//! Model: IRON's `zlr.cc`, without its fast recovery (off there).

use sojourn_base::units::{Span, Time};

/// Packets that stay: zombies are added above.
const HIGH_WATER: u64 = 6_000;
/// Below this many bytes of packets the window widens.
const LOW_WATER: u64 = 2_000;
/// Not while the queue drains faster than this, in bytes/s, measured over [`RATE_WINDOW`].
const LEAST_CHANGE: f64 = -2_000.0;
const RATE_WINDOW: Span = Span::from_millis(300);
/// The window, its step and its bounds.
const FIRST_WINDOW: Span = Span::from_secs(1);
const STEP: Span = Span::from_millis(200);
const LEAST: Span = Span::from_millis(200);
const MOST: Span = Span::from_secs(5);
/// Shortest intervals between widenings, and between narrowings.
const WIDEN_EVERY: Span = Span::from_millis(50);
const NARROW_EVERY: Span = Span::from_millis(300);
/// It narrows when nothing was added for so long.
const QUIET: Span = Span::from_secs(2);

/// Decides when zombies are added to a queue of one class.
#[derive(Clone, Debug)]
pub(crate) struct Reduction {
    window: Span,
    changed_at: Time,
    added_at: Time,
    /// Least depth of packets in this half of the window and in the one before, bytes added there.
    halves: [(u64, u64); 2],
    half_since: Time,
    /// Depths of packets at the beginning of this interval and of the one before.
    marks: [(Time, u64); 2],
}

impl Default for Reduction {
    fn default() -> Self {
        Reduction {
            window: FIRST_WINDOW,
            changed_at: Time::ZERO,
            added_at: Time::ZERO,
            halves: [(0, 0); 2],
            half_since: Time::ZERO,
            marks: [(Time::ZERO, 0); 2],
        }
    }
}

impl Reduction {
    /// The window now.
    pub(crate) fn window(&self) -> Span {
        self.window
    }

    /// Packets of `real` bytes are queued now.
    pub(crate) fn on_depth(&mut self, now: Time, real: u64) {
        if now.since(self.half_since) >= self.window / 2 {
            let idle = now.since(self.half_since) >= self.window;
            self.halves = [(real, 0), if idle { (real, 0) } else { self.halves[0] }];
            self.half_since = now;
        }
        self.halves[0].0 = self.halves[0].0.min(real);
        if now.since(self.marks[0].0) >= RATE_WINDOW {
            self.marks = [(now, real), self.marks[0]];
        }
    }

    /// A packet of `bytes` left, and `real` bytes of packets and `zombies` stay: the bytes of
    /// zombies to add.
    pub(crate) fn on_packet(&mut self, now: Time, bytes: u64, real: u64, zombies: u64) -> u64 {
        self.on_depth(now, real);
        if zombies > 0 && real < LOW_WATER {
            self.widen(now);
        } else if now.since(self.added_at) > QUIET && now.since(self.changed_at) >= NARROW_EVERY {
            self.set_window(now, self.window.saturating_sub(STEP).max(LEAST));
        }
        let least = self.halves[0].0.min(self.halves[1].0);
        let added = self.halves[0].1 + self.halves[1].1;
        if least <= HIGH_WATER + added || self.change(now, real) < LEAST_CHANGE {
            return 0;
        }
        self.halves[0].1 += bytes;
        self.added_at = now;
        bytes
    }

    /// A zombie had to be sent.
    pub(crate) fn on_zombie(&mut self, now: Time) {
        self.widen(now);
    }

    fn change(&self, now: Time, real: u64) -> f64 {
        let (since, before) = self.marks[1];
        let passed = now.since(since).as_secs_f64();
        if passed > 0.0 { (real as f64 - before as f64) / passed } else { 0.0 }
    }

    fn widen(&mut self, now: Time) {
        if now.since(self.changed_at) >= WIDEN_EVERY {
            self.set_window(now, (self.window + STEP).min(MOST));
        }
    }

    fn set_window(&mut self, now: Time, window: Span) {
        self.window = window;
        self.changed_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_standing_queue_is_replaced_down_to_the_high_water_mark() {
        let mut reduction = Reduction::default();
        let (mut real, mut zombies) = (50_000, 0);
        for ms in 0..30_000 {
            // Each millisecond one packet leaves; another comes, unless a zombie took its place.
            let added = reduction.on_packet(at(ms), 1_000, real - 1_000, zombies);
            zombies += added;
            real = if added > 0 { real - 1_000 } else { real };
            reduction.on_depth(at(ms), real);
        }
        assert!((HIGH_WATER..=HIGH_WATER + 2_000).contains(&real), "{real} bytes of packets");
        assert_eq!(zombies, 50_000 - real);
    }

    #[test]
    fn a_short_or_draining_queue_gets_none() {
        let mut reduction = Reduction::default();
        assert!((0..5_000).all(|ms| reduction.on_packet(at(ms), 1_000, 5_000, 0) == 0));
        let mut reduction = Reduction::default();
        let drains = |ms: u64| 100_000 - 10 * ms;
        assert!((0..5_000).all(|ms| reduction.on_packet(at(ms), 1_000, drains(ms), 0) == 0));
    }

    #[test]
    fn the_window_widens_when_zombies_are_sent_and_narrows_in_quiet() {
        let mut reduction = Reduction::default();
        (0..10_000).for_each(|ms| reduction.on_zombie(at(ms)));
        assert_eq!(reduction.window(), MOST);
        (10_000..60_000).for_each(|ms| {
            reduction.on_packet(at(ms), 1_000, 3_000, 0);
        });
        assert_eq!(reduction.window(), LEAST);
    }
}
