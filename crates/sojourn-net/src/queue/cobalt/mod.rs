//! COBALT: CoDel and BLUE side by side over one FIFO, as in each queue of Cake.
//!
//! Model: the control law of Cake in Linux `net/sched/sch_cake.c` (`cobalt_should_drop`,
//! `cobalt_queue_full`, `cobalt_queue_empty`), the same text from 4.19 to 6.11 and in chromi/sce at
//! 56915a82; 6.12 has a better table of roots (see `cake`). This discipline puts it on a single FIFO
//! without a shaper.
//!
//! **CoDel.** A packet is over target when its sojourn time exceeds the target and four
//! serialisation times of a full packet. The first signal comes an interval after the first packet
//! over target, each later one after a further `interval / sqrt(count)`. Below target the count
//! falls by one per such step instead of being reset, and a new episode resumes from there. A
//! signal marks CE if the packet is ECN-capable and drops it otherwise; the last packet is never
//! dropped.
//!
//! **BLUE.** Overflow raises a drop probability by 1/256, an empty queue lowers it by 1/4096, each
//! at most once per target time. It drops ECN-capable packets too: it is meant for flows that do
//! not respond.
//!
//! **As in Linux, and not obvious.** The reciprocal square root of a queue that never signalled is
//! zero, so its first signal comes with the packet after the first one over target and not an
//! interval later. Overdue signals are not made up for. The reciprocal root is a table below 16 and
//! one Newton step per change of the count above.
//!
//! **Parameters**: `rtt` tunes the law as in Cake, with the link's rate: the target is `rtt / 20`
//! but at least 1.5 full packets, the interval `rtt` plus the excess of the target over `rtt / 20`.
//!
//! **Deviations.** The stand-alone `sch_cobalt` of chromi/sce (2022) differs: it signals SCE on a
//! schedule of its own, drives BLUE by sojourn time over four intervals, has no limit, and skips
//! the law when a packet leaves an empty queue behind. Here overflow drops from the head, as Cake
//! does, and a full packet is the link's, not the device's MTU.
//!
//! Observes: `count` (signals of the episode, less the steps back since), `dropping` (0 or 1: the
//! last packet was over target), `drop_next` (s: when the next step is due, while there is a count)
//! and `blue_probability`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod law;

use super::store::{Chain, PacketStore};
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::Limit;
use crate::rng::Stream;
use crate::units::{Span, Time};
use law::{Cobalt, FOUR_STEPS, Tuning};

/// The longest round-trip time to tune for.
pub(crate) const LONGEST_RTT: Span = Span::from_secs(4);

/// Parameters of a COBALT queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Round-trip time the law is tuned for; the target is a twentieth of it.
    pub rtt: Span,
    /// Waiting packets or bytes, or bandwidth-delay products.
    pub limit: Limit,
}

impl Default for Params {
    fn default() -> Self {
        Params { rtt: Span::from_millis(100), limit: Limit::Packets(10_240) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        check_rtt(self.rtt)
    }
}

/// Refuses round-trip times for which the law cannot be tuned.
pub(crate) fn check_rtt(rtt: Span) -> Result<(), FieldError> {
    if rtt < Span::from_micros(1) || rtt > LONGEST_RTT {
        return Err(FieldError::new("rtt", format!("{rtt} is outside 1 us to {LONGEST_RTT}")));
    }
    Ok(())
}

/// A FIFO under COBALT.
#[derive(Debug)]
pub struct CobaltQueue {
    store: PacketStore,
    waiting: Chain,
    backlog: Backlog,
    max_packets: u64,
    max_bytes: u64,
    overhead: u64,
    tuning: Tuning,
    law: Cobalt,
    random: Stream,
}

impl Registered for CobaltQueue {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let (max_packets, max_bytes) = init.limit(params.limit);
        CobaltQueue {
            store: PacketStore::default(),
            waiting: Chain::default(),
            backlog: Backlog::default(),
            max_packets,
            max_bytes,
            overhead: u64::from(init.overhead),
            tuning: Tuning::for_path(
                init.rate,
                init.full_packet + init.overhead,
                params.rtt,
                &FOUR_STEPS,
            ),
            law: Cobalt::default(),
            random: init.random.stream(),
        }
    }
}

impl CobaltQueue {
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.store.pop(&mut self.waiting)?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    fn is_over_limit(&self) -> bool {
        self.backlog.packets > self.max_packets
            || self.backlog.bytes + self.overhead * self.backlog.packets > self.max_bytes
    }
}

impl QueueDiscipline for CobaltQueue {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        self.backlog.add(&packet);
        self.store.push(&mut self.waiting, packet);
        while self.is_over_limit() {
            let Some(oldest) = self.pop() else { break };
            self.law.on_full(&self.tuning, now);
            cx.drop(now, oldest, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        loop {
            let Some(mut packet) = self.pop() else {
                self.law.on_empty(&self.tuning, now);
                return None;
            };
            let verdict = self.law.on_dequeue(
                &self.tuning,
                now,
                now.since(packet.enqueued_at),
                Span::ZERO,
                packet.ecn.is_capable(),
                &mut self.random,
            );
            if verdict.drop && !self.waiting.is_empty() {
                cx.drop(now, packet, DropReason::Aqm);
                continue;
            }
            if verdict.mark {
                let _marked = cx.mark_ce(now, &mut packet);
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.law.observe(out);
    }
}
