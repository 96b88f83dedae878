//! FIFO: first in, first out, drop at the tail when full.
//!
//! Model: Linux `pfifo` and `bfifo` (`net/sched/sch_fifo.c`). The limit is on waiting packets or on
//! waiting bytes; the packet in service is not counted. Linux counts bytes with the link header;
//! here `limit` in bytes counts IP bytes plus the link's overhead. `1 bdp` is the link's rate
//! times the largest base RTT of its flows, in packets of full size, rounded up.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::packet::Packet;
use crate::quantity::Limit;
use crate::units::Time;

/// Parameters of a FIFO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting packets or bytes, or bandwidth-delay products.
    pub limit: Limit,
}

impl Default for Params {
    fn default() -> Self {
        Params { limit: Limit::Packets(1000) }
    }
}

impl crate::registry::Params for Params {}

/// A drop-tail queue.
#[derive(Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    backlog: Backlog,
    max_packets: u64,
    max_bytes: u64,
    overhead: u64,
}

impl Limit {
    /// The limit as packets and bytes, whichever it does not name unlimited.
    pub fn resolve(self, init: &QueueInit) -> (u64, u64) {
        match self {
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Bytes(bytes) => (u64::MAX, bytes),
            Limit::Bdp(share) => {
                let bits = init.rate.map_or(0.0, |rate| rate.as_bps() as f64)
                    * init.base_rtt.as_secs_f64()
                    * share;
                let packet_bits = 8.0 * f64::from(init.full_packet + init.overhead);
                // A tolerance, so that an exact product is not rounded up by floating point.
                ((bits / packet_bits - 1e-9).ceil().max(0.0) as u64, u64::MAX)
            }
        }
    }
}

impl Registered for Fifo {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let (max_packets, max_bytes) = params.limit.resolve(init);
        Fifo {
            packets: VecDeque::new(),
            backlog: Backlog::default(),
            max_packets,
            max_bytes,
            overhead: u64::from(init.overhead),
        }
    }
}

impl Fifo {
    fn fits(&self, packet: &Packet) -> bool {
        let framed = self.backlog.bytes
            + u64::from(packet.size)
            + self.overhead * (self.backlog.packets + 1);
        self.backlog.packets < self.max_packets && framed <= self.max_bytes
    }
}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        if self.fits(&packet) {
            self.backlog.add(&packet);
            self.packets.push_back(packet);
        } else {
            cx.drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, _now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        self.backlog.remove(self.packets.front()?);
        self.packets.pop_front()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn can_bypass(&self) -> bool {
        true
    }
}
