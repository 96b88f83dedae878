//! KIND: one sentence that says which packets wait, and which are dropped or marked.
//!
//! Model: where it is specified (paper, RFC section, source file and version).
//!
//! Packets leave in the order in which they came. One that finds `limit` packets waiting is dropped.
//! One that finds `mark_above` waiting is marked if it is ECN-capable; what is not capable is left
//! alone until the queue is full. Deviations from the model: none known. List every one here; this
//! header is the documentation page.
//!
//! Observes: nothing of its own. Name here what `observe` lets be recorded, with units.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::packet::Packet;
use crate::quantity::Packets;
use crate::units::Time;

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Params {
    /// Packets that may wait.
    pub limit: Packets,
    /// Packets beyond which arrivals are marked.
    pub mark_above: Packets,
}

impl Default for Params {
    fn default() -> Self {
        Params { limit: Packets(1000), mark_above: Packets(20) }
    }
}

impl crate::registry::Params for Params {}

/// KIND.
#[derive(Debug)]
pub(super) struct KIND {
    params: Params,
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Registered for KIND {
    type Params = Params;

    fn new(params: Params, _init: &QueueInit) -> Self {
        KIND { params, packets: VecDeque::new(), backlog: Backlog::default() }
    }
}

impl QueueDiscipline for KIND {
    fn enqueue(&mut self, now: Time, mut packet: Packet, cx: &mut QueueContext<'_>) {
        if self.backlog.packets >= self.params.limit.0 {
            cx.drop(now, packet, DropReason::Overflow);
            return;
        }
        if self.backlog.packets >= self.params.mark_above.0 {
            let _capable = cx.mark_ce(now, &mut packet);
        }
        self.backlog.add(&packet);
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, _now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        self.backlog.remove(self.packets.front()?);
        self.packets.pop_front()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::tests::{Bench, init};

    #[test]
    fn the_packets_beyond_the_threshold_are_marked_and_those_beyond_the_limit_dropped() {
        let params = Params { limit: Packets(5), mark_above: Packets(3) };
        let mut bench = Bench::new(KIND::new(params, &init()));
        (0..7).for_each(|index| bench.offer(0, index, 1500, Ecn::Ect0));
        assert_eq!(bench.counters.ce_marks, 2);
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 2);
        let left: Vec<u32> = std::iter::from_fn(|| bench.take()).map(|p| p.index).collect();
        assert_eq!(left, [0, 1, 2, 3, 4]);
    }
}
