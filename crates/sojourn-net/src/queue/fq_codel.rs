//! FQ-CoDel: a queue per flow, served round robin with priority for sparse flows, each under CoDel.
//!
//! Model: RFC 8290 and Linux `net/sched/sch_fq_codel.c`. Packets are hashed into 1024 queues, which
//! share the link by deficit round robin with a quantum of one full packet; a queue that has just
//! become active is served first. Each queue runs CoDel (as in Linux, CoDel's test of the backlog
//! is on all queues together). When all queues together exceed the limit of packets or of memory,
//! half of the queue with the most bytes is dropped from its head, at most `drop_batch` packets at
//! once, and its CoDel count grows by as many.
//!
//! Defaults are Linux's: target 5 ms, interval 100 ms, 10240 packets, 32 MB, batches of 64.
//! Deviations: `ecn` follows the flows instead of being on (which is the same unless set); the hash
//! is not Linux's, so which flows collide differs; memory is computed by a formula for Linux's
//! allocation per packet. See `queue/flow_queues.rs` and `queue/law/codel.rs`.
//!
//! Observes: `new_flows` and `old_flows` (active queues in each list), `dropping_flows` (those of
//! them in the drop state) and `most_count` (the largest CoDel count among them).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_queues::FlowQueues;
use super::law::codel::{Codel, CodelConfig, CodelQueue};
use super::store::filled;
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Bytes, PacketLimit};
use crate::units::{Span, Time};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Packets in all queues together, or bandwidth-delay products.
    pub limit: PacketLimit,
    /// Memory of the packets in all queues together.
    pub memory_limit: Bytes,
    /// Number of queues, up to 65536.
    pub flows: u32,
    /// Bytes a queue may send in its turn, at least 256; default: a full packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
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
    /// Packets dropped at once when the limit is exceeded.
    pub drop_batch: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: PacketLimit::packets(10_240),
            memory_limit: Bytes(32 << 20),
            flows: 1024,
            quantum: None,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ecn: None,
            ce_threshold: None,
            drop_batch: 64,
        }
    }
}

/// Checks parameters that FQ-CoDel and FQ-PIE share.
///
/// # Errors
/// Names the field that is out of range.
pub fn validate_flows(flows: u32, quantum: Option<Bytes>) -> Result<(), FieldError> {
    if !(1..=65_536).contains(&flows) {
        return Err(FieldError::new("flows", format!("is {flows}; allowed: 1 to 65536")));
    }
    if let Some(quantum) = quantum
        && !(256..=1 << 20).contains(&quantum.0)
    {
        return Err(FieldError::new("quantum", format!("is {quantum}; allowed: 256 B to 1 MiB")));
    }
    Ok(())
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.interval == Span::ZERO {
            return Err(FieldError::new("interval", "0 ms given; allowed: above 0 ms"));
        }
        if self.drop_batch == 0 {
            return Err(FieldError::new("drop_batch", "0 given; allowed: 1 or more"));
        }
        validate_flows(self.flows, self.quantum)
    }
}

/// An FQ-CoDel discipline.
#[derive(Debug)]
pub struct FqCodel {
    queues: FlowQueues,
    laws: Vec<Codel>,
    config: CodelConfig,
    limit: u64,
    memory_limit: u64,
    drop_batch: u32,
}

/// One of the queues, as CoDel's law uses it.
struct Slot<'a> {
    queues: &'a mut FlowQueues,
    index: usize,
}

impl CodelQueue for Slot<'_> {
    #[inline]
    fn pop_into(&mut self, packet: &mut Packet) -> bool {
        self.queues.pop_into(self.index, packet)
    }
    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.queues.total_bytes()
    }
}

impl Registered for FqCodel {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let queues = FlowQueues::new(params.flows, params.quantum.map(|q| q.0), init);
        let mtu = queues.framing.mtu;
        FqCodel {
            queues,
            laws: vec![Codel::default(); params.flows as usize],
            config: CodelConfig {
                target: params.target,
                interval: params.interval,
                ecn: params.ecn.unwrap_or(init.ecn),
                ce_threshold: params.ce_threshold,
                mtu,
            },
            limit: init.limit(params.limit).0,
            memory_limit: params.memory_limit.0,
            drop_batch: params.drop_batch,
        }
    }
}

impl FqCodel {
    /// Drops half of the fattest queue from its head, at most a batch and at least one packet.
    fn drop_from_fattest(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let index = self.queues.fattest();
        let goal = self.queues.bytes(index) / 2;
        for _ in 0..self.drop_batch {
            let Some(packet) = self.queues.pop(index) else { return };
            cx.drop(now, packet, DropReason::Overflow);
            self.laws[index].count = self.laws[index].count.wrapping_add(1);
            if self.queues.bytes(index) <= goal {
                return;
            }
        }
    }
}

impl QueueDiscipline for FqCodel {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        let index = self.queues.classify(&packet);
        self.queues.push(index, packet);
        if self.queues.backlog().packets > self.limit || self.queues.memory() > self.memory_limit {
            self.drop_from_fattest(now, cx);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        filled(|packet| self.dequeue_into(now, packet, cx))
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet, cx: &mut QueueContext<'_>) -> bool {
        while let Some(index) = self.queues.turn() {
            let mut slot = Slot { queues: &mut self.queues, index };
            if self.laws[index].dequeue_into(now, &self.config, &mut slot, cx, packet) {
                let bytes = self.queues.framing.len(packet);
                self.queues.charge(index, bytes);
                return true;
            }
            self.queues.retire();
        }
        false
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn observe(&self, out: &mut Observer<'_>) {
        let [new, old] = self.queues.active().map(Vec::from_iter);
        let laws = || new.iter().chain(&old).map(|index| &self.laws[*index]);
        out("new_flows", (new.len() as f64).into());
        out("old_flows", (old.len() as f64).into());
        out("dropping_flows", (laws().filter(|law| law.dropping).count() as f64).into());
        out("most_count", laws().map(|law| law.count).max().unwrap_or(0).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::tests::{Bench, init};

    fn discipline(params: Params) -> Bench<FqCodel> {
        Bench::new(FqCodel::new(params, &init()))
    }

    #[test]
    fn overflow_halves_the_fattest_queue_in_batches() {
        let mut bench =
            discipline(Params { limit: PacketLimit::packets(200), ..Params::default() });
        (0..50).for_each(|i| bench.offer(1, i, 1500, Ecn::NotEct));
        (0..151).for_each(|i| bench.offer(2, i, 1500, Ecn::NotEct));
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 64);
        assert_eq!(bench.queue.backlog().packets, 137);
        (0..64).for_each(|i| bench.offer(2, 151 + i, 1500, Ecn::NotEct));
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 128);
        let first = std::iter::from_fn(|| bench.take()).find(|p| p.flow == 2);
        assert_eq!(first.map(|p| p.index), Some(128));
    }

    #[test]
    fn ce_threshold_marks_what_waited_longer() {
        let ce_threshold = Some(Span::from_millis(1));
        let mut bench = discipline(Params { ce_threshold, ..Params::default() });
        (0..2).for_each(|index| bench.offer(0, index, 1500, Ecn::Ect1));
        bench.now += Span::from_millis(1);
        assert_eq!(bench.take().map(|packet| packet.ecn), Some(Ecn::Ect1));
        bench.now += Span::from_millis(1);
        assert_eq!(bench.take().map(|packet| packet.ecn), Some(Ecn::Ce));
    }

    #[test]
    fn memory_limit_counts_allocations() {
        let limit = Bytes(2304 * 10);
        let mut bench = discipline(Params { memory_limit: limit, ..Params::default() });
        (0..10).for_each(|i| bench.offer(1, i, 1500, Ecn::NotEct));
        assert_eq!(bench.counters.drops, [0; DropReason::COUNT]);
        bench.offer(1, 10, 1500, Ecn::NotEct);
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 6);
    }

    #[test]
    fn shares_are_equal_in_bytes_for_unequal_packets() {
        let mut bench = discipline(Params::default());
        let sizes = [1500, 1200, 700, 300, 100];
        let mut bytes = [0.0f64; 5];
        let mut index = 0;
        for _ in 0..20_000 {
            // Every flow always has packets waiting.
            while bench.queue.backlog().packets < 400 {
                for (flow, size) in (0u32..).zip(sizes) {
                    (0..1 + 1500 / size).for_each(|_| bench.offer(flow, index, size, Ecn::NotEct));
                }
                index += 1;
            }
            let packet = bench.take().expect("packets wait");
            bytes[packet.flow as usize] += f64::from(packet.size + 14);
        }
        let sum: f64 = bytes.iter().sum();
        let squares: f64 = bytes.iter().map(|x| x * x).sum();
        let jain = sum * sum / (5.0 * squares);
        assert!(jain > 0.99, "{jain} {bytes:?}");
    }

    #[test]
    fn a_sparse_flow_waits_for_one_packet_at_most() {
        let mut bench = discipline(Params::default());
        let rate = crate::units::Rate::from_bps(10_000_000);
        let mut worst = Span::ZERO;
        for round in 0..2_000u32 {
            (0..2).for_each(|i| bench.offer(1, 2 * round + i, 1500, Ecn::Ect0));
            if round % 25 == 0 {
                bench.offer(2, round, 200, Ecn::NotEct);
            }
            let packet = bench.take().expect("packets wait");
            if packet.flow == 2 {
                worst = worst.max(bench.now.since(packet.enqueued_at));
            }
            bench.now += rate.span_of(u64::from(packet.size + 14));
        }
        assert!(bench.queue.backlog().packets > 1000);
        assert!(worst <= rate.span_of(1514), "{worst:?}");
    }
}
