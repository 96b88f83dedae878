//! FQ: a queue per flow, served in turn, as Linux hosts have it below TCP.
//!
//! Model: Linux `net/sched/sch_fq.c` (6.7 and before in what matters here). Every flow has a queue of
//! its own, without hashing. Flows that become active join the new ones, which are served before
//! the old ones. A flow sends until its credit is used up; then it gets `quantum` and goes to the
//! end of the old flows. A flow starts with `initial_quantum`; one that was idle for
//! `refill_delay` has at least a quantum again. What exceeds `limit` in all or `flow_limit` for one
//! flow is dropped at the tail.
//!
//! **Pacing is the sender's.** On a Linux host, fq also delays each packet to the time its TCP
//! stamped on it (earliest departure time). Here a flow with `host_queue = "fq"` paces itself in
//! its sender, at the control's rate or at 2 and 1.2 windows per smoothed RTT, so packets reach
//! this queue when they may leave. As the queue of a link, this discipline is plain fair queueing.
//!
//! **Deviations.** One band (6.8 has three, by priority). No `maxrate`, `ce_threshold`, `horizon` or
//! garbage collection of flows. The fast path of 6.7, a common FIFO for up to 8 packets while no
//! flow is backlogged, is left out: it changes the order of packets only then.
//!
//! Observes: `new_flows` and `old_flows` (active flows in each list). None is throttled here,
//! because pacing is the sender's.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::{Chain, PacketStore};
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Bytes, Packets};
use crate::units::{Span, Time};

/// Parameters of FQ, as of `tc-fq(8)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting packets in all.
    pub limit: Packets,
    /// Waiting packets of one flow.
    pub flow_limit: Packets,
    /// Framed bytes of a turn. Default: two full packets.
    pub quantum: Option<Bytes>,
    /// Framed bytes that a new flow may send at once. Default: ten full packets.
    pub initial_quantum: Option<Bytes>,
    /// Idle time after which a flow has at least a quantum again.
    pub refill_delay: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: Packets(10_000),
            flow_limit: Packets(100),
            quantum: None,
            initial_quantum: None,
            refill_delay: Span::from_millis(40),
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        match self.quantum {
            Some(Bytes(bytes)) if !(1..=1 << 30).contains(&bytes) => {
                let message = format!("{} given; allowed: 1 B to 1 GB", Bytes(bytes));
                Err(FieldError::new("quantum", message))
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    waiting: Chain,
    packets: u64,
    credit: i64,
    /// Whether it is among the new or the old flows.
    listed: bool,
    idle_since: Time,
}

/// Fair queueing.
#[derive(Debug)]
pub struct Fq {
    store: PacketStore,
    /// Two per flow number, one for each direction.
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
    limit: u64,
    flow_limit: u64,
    quantum: i64,
    initial_quantum: i64,
    refill_delay: Span,
    overhead: u32,
}

impl Registered for Fq {
    type Params = Params;
    const MARKS: bool = false;

    fn new(params: Params, init: &QueueInit) -> Self {
        let mtu = u64::from(init.full_packet + init.overhead);
        let bytes = |given: Option<Bytes>, packets: u64| {
            given.map_or(packets * mtu, |Bytes(bytes)| bytes).min(1 << 30) as i64
        };
        Fq {
            store: PacketStore::default(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            limit: params.limit.0,
            flow_limit: params.flow_limit.0,
            quantum: bytes(params.quantum, 2),
            initial_quantum: bytes(params.initial_quantum, 10),
            refill_delay: params.refill_delay,
            overhead: init.overhead,
        }
    }
}

impl Fq {
    /// The place of the packet's flow, made on its first packet.
    #[inline]
    fn place(&mut self, packet: &Packet) -> usize {
        let place = packet.flow as usize * 2 + packet.direction as usize;
        if place >= self.flows.len() {
            let fresh = Flow {
                waiting: Chain::default(),
                packets: 0,
                credit: self.initial_quantum,
                listed: false,
                idle_since: Time::ZERO,
            };
            self.flows.resize(place + 1, fresh);
        }
        place
    }

    /// An empty flow at the head of its list has had its turn: a new one joins the old ones if
    /// there are any, so that it cannot come back as new at once.
    fn retire(&mut self, place: usize, now: Time, was_new: bool) {
        let list = if was_new { &mut self.new } else { &mut self.old };
        list.pop_front();
        if was_new && !self.old.is_empty() {
            self.old.push_back(place as u32);
        } else {
            self.flows[place].listed = false;
            self.flows[place].idle_since = now;
        }
    }

    /// The flow at the head of its list has used up its credit.
    fn next_turn(&mut self, place: usize, was_new: bool) {
        self.flows[place].credit += self.quantum;
        let list = if was_new { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.old.push_back(place as u32);
    }
}

impl QueueDiscipline for Fq {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        let place = self.place(&packet);
        let flow = &mut self.flows[place];
        if self.backlog.packets >= self.limit || flow.packets >= self.flow_limit {
            cx.drop(now, packet, DropReason::Overflow);
            return;
        }
        if !flow.listed {
            flow.listed = true;
            if now.since(flow.idle_since) > self.refill_delay {
                flow.credit = flow.credit.max(self.quantum);
            }
            self.new.push_back(place as u32);
        }
        flow.packets += 1;
        self.backlog.add(&packet);
        self.store.push(&mut flow.waiting, packet);
    }

    fn dequeue(&mut self, now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        loop {
            let was_new = !self.new.is_empty();
            let place = *self.new.front().or_else(|| self.old.front())? as usize;
            let flow = &mut self.flows[place];
            if flow.credit <= 0 {
                self.next_turn(place, was_new);
                continue;
            }
            let Some(packet) = self.store.pop(&mut flow.waiting) else {
                self.retire(place, now, was_new);
                continue;
            };
            flow.packets -= 1;
            flow.credit -= i64::from(packet.size + self.overhead);
            self.backlog.remove(&packet);
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("new_flows", (self.new.len() as f64).into());
        out("old_flows", (self.old.len() as f64).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueCounters;
    use crate::rng::StreamKey;

    fn fq(params: Params) -> Fq {
        let init = QueueInit {
            rate: None,
            overhead: 14,
            full_packet: 1500,
            base_rtt: Span::ZERO,
            ecn: false,
            random: StreamKey::root(1),
        };
        Fq::new(params, &init)
    }

    struct Bench {
        queue: Fq,
        counters: QueueCounters,
    }

    impl Bench {
        fn new(params: Params) -> Self {
            Bench { queue: fq(params), counters: QueueCounters::default() }
        }

        fn offer(&mut self, now: Time, flow: u32, size: u32) {
            let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
            self.queue.enqueue(now, Packet { flow, size, ..Packet::default() }, cx);
        }

        fn take(&mut self, now: Time) -> Option<Packet> {
            let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
            self.queue.dequeue(now, cx)
        }
    }

    #[test]
    fn flows_of_unequal_packets_get_equal_bytes() {
        let sizes = [1500, 1000, 300];
        let mut bench = Bench::new(Params::default());
        let mut wire = [0f64; 3];
        for (flow, size) in sizes.iter().enumerate() {
            (0..90).for_each(|_| bench.offer(Time::ZERO, flow as u32, *size));
        }
        for _ in 0..30_000 {
            let packet = bench.take(Time::ZERO).unwrap();
            wire[packet.flow as usize] += f64::from(packet.size + 14);
            bench.offer(Time::ZERO, packet.flow, packet.size);
        }
        let (sum, squares) = (wire.iter().sum::<f64>(), wire.iter().map(|x| x * x).sum::<f64>());
        assert!(sum * sum / (3.0 * squares) > 0.9999, "{wire:?}");
    }

    #[test]
    fn a_new_flow_sends_its_initial_quantum_first() {
        let mut bench = Bench::new(Params::default());
        (0..50).for_each(|_| bench.offer(Time::ZERO, 0, 1500));
        (0..20).for_each(|_| assert_eq!(bench.take(Time::ZERO).map(|p| p.flow), Some(0)));
        (0..20).for_each(|_| bench.offer(Time::ZERO, 1, 1500));
        let order: Vec<_> = (0..18).map(|_| bench.take(Time::ZERO).unwrap().flow).collect();
        // Ten packets of credit; flow 0 has used its own up, so two more; then two each in turn.
        assert_eq!(order, [[1; 12].as_slice(), &[0, 0, 1, 1, 0, 0]].concat());
    }

    #[test]
    fn idle_flows_get_no_more_than_a_quantum_and_only_after_the_delay() {
        let mut bench = Bench::new(Params::default());
        let credit = |bench: &Bench| bench.queue.flows[0].credit;
        (0..11).for_each(|_| bench.offer(Time::ZERO, 0, 1500));
        (0..11).for_each(|_| assert!(bench.take(Time::ZERO).is_some()));
        assert!(bench.take(Time::ZERO).is_none());
        let left = credit(&bench);
        bench.offer(Time::ZERO + Span::from_millis(40), 0, 1500);
        assert_eq!(credit(&bench), left);
        while bench.take(Time::ZERO + Span::from_millis(40)).is_some() {}
        bench.offer(Time::ZERO + Span::from_millis(81), 0, 1500);
        assert_eq!(credit(&bench), 2 * 1514);
    }

    #[test]
    fn limits_hold_for_each_flow_and_for_all() {
        let params = Params { limit: Packets(150), ..Params::default() };
        let mut bench = Bench::new(params);
        (0..120).for_each(|_| bench.offer(Time::ZERO, 0, 100));
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 20);
        (0..60).for_each(|_| bench.offer(Time::ZERO, 1, 100));
        assert_eq!(bench.queue.backlog().packets, 150);
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 20 + 10);
    }
}
