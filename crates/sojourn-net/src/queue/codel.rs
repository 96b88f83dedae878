//! CoDel: drops or marks at the head when the sojourn time has exceeded a target for an interval.
//!
//! Model: RFC 8289 and Linux `net/sched/sch_codel.c` with `include/net/codel_impl.h`. A packet's
//! sojourn time is measured when it leaves. Once it has been above `target` for one `interval`, a
//! packet is marked (if ECN-capable) or dropped, and again after interval / sqrt(count) until the
//! sojourn time is below target or no more than one full packet waits behind. If this state is
//! entered again within 16 intervals of the last due signal, the count resumes where it was. As in
//! Linux, 1/sqrt(count) is a 16-bit fraction improved by one Newton step per signal, and marking
//! ends the loop over overdue drops. The law, shared with FQ-CoDel, is in `queue/law/codel.rs`.
//!
//! Defaults are Linux's: target 5 ms, interval 100 ms, limit 1000 packets. Times are in whole
//! units of 1.024 us, as there. Deviation: `ecn` follows the flows instead of being off. Bytes count
//! the link's overhead, as in Linux.
//!
//! Observes: `count` (signals since the drop state was entered), `dropping` (0 or 1), `first_above`
//! (s: when the sojourn time will have been above target for an interval, while it is above) and
//! `drop_next` (s: when the next signal is due, in the drop state).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::codel::{Codel as Law, CodelConfig, CodelQueue};
use super::packet_list::{Framing, PacketList};
use super::store::filled;
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::Limit;
use crate::units::{Span, Time};

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting packets, bytes or bandwidth-delay products at which the tail is dropped.
    pub limit: Limit,
    /// Acceptable standing sojourn time.
    pub target: Span,
    /// How long the sojourn time may stay above the target; about the longest usual RTT.
    pub interval: Span,
    /// Mark ECN-capable packets instead of dropping; default: if the flows use ECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Mark every ECN-capable packet that waited longer than this; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: Limit::Packets(1000),
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ecn: None,
            ce_threshold: None,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.interval == Span::ZERO {
            return Err(FieldError::new("interval", "0 ms given; allowed: above 0 ms"));
        }
        Ok(())
    }
}

/// A CoDel queue.
#[derive(Debug)]
pub struct Codel {
    packets: PacketList,
    law: Law,
    config: CodelConfig,
    max_packets: u64,
    max_bytes: u64,
}

impl CodelQueue for PacketList {
    #[inline]
    fn pop_into(&mut self, packet: &mut Packet) -> bool {
        PacketList::pop_into(self, packet)
    }
    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.framed_bytes()
    }
}

impl Registered for Codel {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let framing = Framing::new(init);
        let (max_packets, max_bytes) = init.limit(params.limit);
        Codel {
            packets: PacketList::new(framing),
            law: Law::default(),
            config: CodelConfig {
                target: params.target,
                interval: params.interval,
                ecn: params.ecn.unwrap_or(init.ecn),
                ce_threshold: params.ce_threshold,
                mtu: framing.mtu,
            },
            max_packets,
            max_bytes,
        }
    }
}

impl QueueDiscipline for Codel {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        let bytes = self.packets.framed_bytes() + self.packets.framing.len(&packet);
        if self.packets.len() < self.max_packets && bytes <= self.max_bytes {
            self.packets.push(packet);
        } else {
            cx.drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        filled(|packet| self.dequeue_into(now, packet, cx))
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet, cx: &mut QueueContext<'_>) -> bool {
        self.law.dequeue_into(now, &self.config, &mut self.packets, cx, packet)
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.law.observe(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::quantity::Limit;
    use crate::queue::tests::{Bench, init};

    #[test]
    fn parameters_reach_the_law() {
        let millis = |ms| Span::from_millis(ms);
        let mut bench = Bench::new(Codel::new(
            Params {
                ce_threshold: Some(millis(1)),
                limit: Limit::Bytes(3028),
                ..Params::default()
            },
            &init(),
        ));
        (0..3).for_each(|index| bench.offer(0, index, 1500, Ecn::Ect0));
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 1);
        bench.now += millis(1);
        assert_eq!(bench.take().map(|packet| packet.ecn), Some(Ecn::Ect0));
        bench.now += Span::from_nanos(1024); // a step of the kernel's clock
        assert_eq!(bench.take().map(|packet| packet.ecn), Some(Ecn::Ce));
        let (target, interval) = (bench.queue.config.target, bench.queue.config.interval);
        assert_eq!((target, interval), (millis(5), millis(100)));
    }
}
