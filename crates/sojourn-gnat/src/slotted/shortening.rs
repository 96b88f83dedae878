//! Addition of zombies to a queue: as overlay nodes do it, or as soon as more packets wait than are
//! needed.

use crate::overlay::Reduction;
use sojourn_base::units::{Span, Time};

/// Packets that stay, and departures at each of which more have waited.
const STAY: u64 = 5;
const SEEN: usize = 4;
/// Not while the queue drains faster than this, in packets per second, measured over [`WINDOW`].
const LEAST_CHANGE: f64 = -2.0;
const WINDOW: Span = Span::from_millis(300);
/// Bytes of a packet of mobsim's.
const BYTES: u64 = 1_250;

/// Decides when a zombie is added.
#[derive(Clone, Debug)]
pub(super) enum Shortening {
    /// The original: few enough packets are replaced that hardly ever none is left.
    Careful(Reduction),
    /// The improved one, which may leave no packets.
    Prompt(Prompt),
}

/// Observations of the prompt rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    /// Packets after the last departures.
    seen: [u64; SEEN],
    /// Packets at the beginning of this interval and of the one before.
    marks: [(Time, u64); 2],
}

impl Shortening {
    /// Records that `packets` packets wait now.
    pub(super) fn on_depth(&mut self, now: Time, packets: u64) {
        match self {
            Shortening::Careful(reduction) => reduction.on_depth(now, BYTES * packets),
            Shortening::Prompt(prompt) => prompt.mark(now, packets),
        }
    }

    /// A packet left, others and zombies stay: whether a zombie takes its place.
    pub(super) fn on_packet(&mut self, now: Time, packets: u64, zombies: u64) -> bool {
        match self {
            Shortening::Careful(reduction) => {
                reduction.on_packet(now, BYTES, BYTES * packets, BYTES * zombies) > 0
            }
            Shortening::Prompt(prompt) => prompt.on_packet(now, packets),
        }
    }

    /// A zombie had to be sent.
    pub(super) fn on_zombie(&mut self, now: Time) {
        if let Shortening::Careful(reduction) = self {
            reduction.on_zombie(now);
        }
    }
}

impl Prompt {
    fn mark(&mut self, now: Time, packets: u64) {
        if now.since(self.marks[0].0) >= WINDOW {
            self.marks = [(now, packets), self.marks[0]];
        }
    }

    fn on_packet(&mut self, now: Time, packets: u64) -> bool {
        self.mark(now, packets);
        self.seen.rotate_right(1);
        self.seen[0] = packets;
        let (since, before) = self.marks[1];
        let passed = now.since(since).as_secs_f64();
        let drains = passed > 0.0 && (packets as f64 - before as f64) / passed < LEAST_CHANGE;
        self.seen.iter().all(|seen| *seen > STAY) && !drains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zombies added to a queue in which `waiting` packets remain after each of ten departures.
    fn added(waiting: impl Fn(u64) -> u64) -> usize {
        let mut prompt = Prompt::default();
        let after =
            |at: u64| prompt.on_packet(Time::ZERO + Span::from_millis(200 * at), waiting(at));
        (1..=10).map(after).filter(|added| *added).count()
    }

    #[test]
    fn a_prompt_one_replaces_packets_above_those_that_stay_unless_the_queue_drains() {
        assert_eq!(added(|_| STAY + 1), 11 - SEEN);
        assert_eq!(added(|_| STAY), 0);
        assert_eq!(added(|at| 100 - 5 * at), 0, "25 packets per second fewer");
    }
}
