//! FIFO: first in, first out, drop at the tail when full.
//!
//! Model: Linux `pfifo` and `bfifo` (`net/sched/sch_fifo.c`). The limit is on waiting packets or on
//! waiting bytes; the packet in service is not counted. Linux counts bytes with the link header;
//! here `limit` in bytes counts IP bytes plus the link's overhead. `1 bdp` is the link's rate times
//! the largest base RTT of its flows, in packets of full size, rounded up. A burst that links carry
//! as one packet (`whole_bursts` of a flow) counts as one packet for a limit in packets, and is
//! dropped as a whole.
//!
//! Observes: nothing of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bursts::Bursts;
use super::store::filled;
use super::{
    Backlog, Discipline, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered,
};
use crate::packet::Packet;
use crate::quantity::Limit;
use crate::ring::Ring;
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
    packets: Ring<Packet>,
    backlog: Backlog,
    /// Waiting packets that belong to the burst before them.
    joined: u64,
    bursts: Bursts,
    max_packets: u64,
    max_bytes: u64,
    overhead: u64,
}

impl Registered for Fifo {
    type Params = Params;
    const MARKS: bool = false;

    fn new(params: Params, init: &QueueInit) -> Self {
        let (max_packets, max_bytes) = init.limit(params.limit);
        Fifo {
            packets: Ring::default(),
            backlog: Backlog::default(),
            joined: 0,
            bursts: Bursts::default(),
            max_packets,
            max_bytes,
            overhead: u64::from(init.overhead),
        }
    }

    fn into_discipline(self) -> Discipline {
        Discipline::Fifo(self)
    }
}

impl Fifo {
    fn fits(&self, packet: &Packet) -> bool {
        let framed = self.backlog.bytes
            + u64::from(packet.size)
            + self.overhead * (self.backlog.packets + 1);
        self.backlog.packets - self.joined < self.max_packets && framed <= self.max_bytes
    }

    /// A packet is offered now: it is copied once, to its place.
    #[inline(always)] // once per packet and link
    pub(crate) fn take(&mut self, now: Time, packet: &Packet, cx: &mut QueueContext<'_>) {
        let full = !self.fits(packet);
        if self.bursts.drops(packet, || full) {
            let dropped = Packet { enqueued_at: now, ..*packet };
            return cx.drop(now, dropped, DropReason::Overflow);
        }
        self.backlog.add(packet);
        self.joined += u64::from(packet.joins_burst());
        let last = self.packets.append();
        *last = *packet;
        last.enqueued_at = now;
    }

    /// Copies the first packet to `packet` and removes it, if there is one.
    #[inline(always)] // once per packet and link
    pub(crate) fn give(&mut self, packet: &mut Packet) -> bool {
        let Some(next) = self.packets.first() else { return false };
        self.backlog.remove(next);
        if self.joined > 0 {
            self.joined -= u64::from(next.joins_burst());
        }
        *packet = *next;
        self.packets.remove_first();
        true
    }
}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        self.take(now, &packet, cx);
    }

    fn dequeue(&mut self, _now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        filled(|packet| self.give(packet))
    }

    fn dequeue_into(
        &mut self,
        _now: Time,
        packet: &mut Packet,
        _cx: &mut QueueContext<'_>,
    ) -> bool {
        self.give(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn can_bypass(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, Flags, Header, TcpSegment};
    use crate::queue::tests::{Bench, init};

    /// Sizes of the accepted packets among these, in the order in which they leave.
    fn kept(limit: &str, sizes: &[u32]) -> Vec<u32> {
        let limit = limit.parse().expect("a limit");
        let mut bench = Bench::new(Fifo::new(Params { limit }, &init()));
        (0..).zip(sizes).for_each(|(index, size)| bench.offer(0, index, *size, Ecn::Ect0));
        let kept: Vec<_> = std::iter::from_fn(|| bench.take()).map(|packet| packet.size).collect();
        let dropped = (sizes.len() - kept.len()) as u64;
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], dropped);
        kept
    }

    #[test]
    fn packets_beyond_the_limit_are_dropped_at_the_tail() {
        assert_eq!(kept("3 packets", &[500, 1500, 40, 41, 42]), [500, 1500, 40]);
        assert!(kept("0 packets", &[40, 40]).is_empty());
    }

    /// Two bursts of three segments fill a limit of two packets; the third burst is dropped whole.
    #[test]
    fn a_burst_that_stays_one_packet_counts_once() {
        let mut bench = Bench::new(Fifo::new(Params { limit: Limit::Packets(2) }, &init()));
        for (burst, place) in (0..9).map(|segment| (segment / 3, segment % 3)) {
            let flags = Flags::default().with(Flags::MORE, place < 2);
            let flags = flags.with(Flags::JOINED, place > 0);
            let sent_at = Time::from_nanos(burst);
            let header = Header::Segment(TcpSegment { flags, sent_at, ..TcpSegment::default() });
            let packet = Packet { size: 1500, header, ..Packet::default() };
            let mut cx = QueueContext { counters: &mut bench.counters, observer: None };
            bench.queue.enqueue(bench.now, packet, &mut cx);
        }
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 3);
        assert_eq!(std::iter::from_fn(|| bench.take()).count(), 6);
    }

    #[test]
    fn a_limit_in_bytes_counts_the_framing() {
        // Two full packets with 14 bytes of framing each are 3028 bytes.
        assert_eq!(kept("3028 B", &[1500, 1500, 40]), [1500, 1500]);
        assert_eq!(kept("3027 B", &[1500, 1500, 1499, 40]), [1500, 1499]);
    }

    #[test]
    fn a_bandwidth_delay_product_is_rounded_up_to_full_packets() {
        // 10 Mbit/s x 40 ms is 33.03 packets of 1514 bytes.
        assert_eq!(kept("1 bdp", &[1500; 100]).len(), 34);
        assert_eq!(kept("2 bdp", &[40; 100]).len(), 67);
    }
}
