//! FQ: a queue per flow, served round robin, as Linux hosts have it below TCP.
//!
//! Model: Linux `net/sched/sch_fq.c`. Every flow has a queue of its own, without hashing. Flows
//! that become active join the new ones, which are served before the old ones. A flow sends until
//! its credit is used up; then it gets `quantum` and moves to the end of the old flows. A flow
//! starts with `initial_quantum`; one that was idle for `refill_delay` has at least a quantum
//! again. Packets beyond `limit` in all or `flow_limit` for one flow are dropped at the tail.
//!
//! `version = "linux-6"` is fq since 6.7, `linux-5.1` before. Since 6.7 packets that find no flow
//! backlogged take a fast path: a FIFO for up to eight of them, served first, which costs no credit
//! and counts against no limit. A new flow that has had its turn always becomes an old one; before
//! 6.7, only if there are any. And there are three bands, of 576, 192 and 64 KiB in turn. All
//! packets are of the second; but a flow is listed before its band is set, so that its very first
//! packets wait in the first band until the second has had its turn.
//!
//! **Pacing is the sender's.** On a Linux host, fq also delays each packet to the time its TCP
//! stamped on it (earliest departure time). Here a flow with `host_queue = "fq"` paces itself in
//! its sender, at the control's rate or at 2 and 1.2 windows per smoothed RTT, so packets reach
//! this queue when they may leave. As the queue of a link, this discipline is plain fair queueing.
//!
//! **Deviations.** No priorities. No `maxrate`, `ce_threshold`, `horizon` or garbage collection of
//! flows.
//!
//! Observes: `new_flows` and `old_flows` (active flows in each list), `fast_path` (packets). No
//! flow is throttled here, because pacing is the sender's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::{Chain, PacketStore};
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Bytes, PacketLimit};
use crate::spec::Stack;
use crate::units::{Span, Time};

mod band;
mod places;

use band::{BAND, BANDS, Band, Flow};
use places::Places;

/// Parameters of FQ, as of `tc-fq(8)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting packets in all, or bandwidth-delay products.
    pub limit: PacketLimit,
    /// Waiting packets of one flow, likewise.
    pub flow_limit: PacketLimit,
    /// Framed bytes per turn. Default: two full packets.
    pub quantum: Option<Bytes>,
    /// Framed bytes that a new flow may send at once. Default: ten full packets.
    pub initial_quantum: Option<Bytes>,
    /// Idle time after which a flow has at least a quantum again.
    pub refill_delay: Span,
    /// Version of FQ: `linux-6` has a fast path, `linux-5.1` (until 6.6) does not.
    pub version: Stack,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: PacketLimit::packets(10_000),
            flow_limit: PacketLimit::packets(100),
            quantum: None,
            initial_quantum: None,
            refill_delay: Span::from_millis(40),
            version: Stack::Linux6,
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

/// Maximum number of packets in the fast path.
const FAST_PATH: u64 = 8;

/// Fair queueing.
#[derive(Debug)]
pub struct Fq {
    store: PacketStore,
    /// Whether there is a fast path, its packets, and their number.
    is_fast: bool,
    fast: Chain,
    fast_packets: u64,
    flows: Vec<Flow>,
    places: Places,
    bands: Vec<Band>,
    /// The band that is served.
    served: usize,
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
        let is_fast = !matches!(params.version, Stack::Linux49 | Stack::Linux51);
        Fq {
            store: PacketStore::default(),
            is_fast,
            fast: Chain::default(),
            fast_packets: 0,
            flows: Vec::new(),
            places: Places::default(),
            bands: if is_fast {
                BANDS.iter().map(|&quantum| Band::of(0, quantum)).collect()
            } else {
                vec![Band::of(i64::MAX, i64::MAX)]
            },
            served: 0,
            backlog: Backlog::default(),
            limit: init.limit(params.limit).0,
            flow_limit: init.limit(params.flow_limit).0,
            quantum: bytes(params.quantum, 2),
            initial_quantum: bytes(params.initial_quantum, 10),
            refill_delay: params.refill_delay,
            overhead: init.overhead,
        }
    }
}

impl Fq {
    /// Index of the packet's flow, which is created on its first packet.
    #[inline]
    fn place(&mut self, now: Time, packet: &Packet) -> usize {
        let number = u64::from(packet.flow) * 2 + packet.direction() as u64;
        if let Some(place) = self.places.known(number) {
            return place;
        }
        let place =
            self.places.add(number, self.flows.len(), |place| self.flows[place].is_over(now));
        let fresh = Flow::with(self.initial_quantum);
        match self.flows.get_mut(place) {
            Some(over) => *over = fresh,
            None => self.flows.push(fresh),
        }
        place
    }

    /// Whether a packet that arrives now takes the fast path.
    fn takes_fast_path(&self) -> bool {
        self.is_fast && self.backlog.packets == self.fast_packets && self.fast_packets < FAST_PATH
    }

    /// The flow that is served next, and whether it is a new one. A band without credit or flows
    /// gives way to the next, until none has packets to send.
    fn turn(&mut self) -> Option<(usize, bool)> {
        let mut empty = 0;
        loop {
            let band = &self.bands[self.served];
            if let Some(first) = band.first().filter(|_| band.credit > 0) {
                return Some(first);
            }
            empty += 1;
            if empty > self.bands.len() {
                return None;
            }
            self.served = (self.served + 1) % self.bands.len();
            let band = &mut self.bands[self.served];
            band.credit = band.credit.saturating_add(band.quantum).min(band.quantum);
            if band.credit <= 0 {
                empty = 0;
            }
        }
    }

    /// Removes the flow that is served from its list.
    fn unlist(&mut self, was_new: bool) {
        let band = &mut self.bands[self.served];
        if was_new {
            band.new.pop_front()
        } else {
            band.old.pop_front()
        };
    }

    fn make_old(&mut self, place: usize) {
        let band = self.flows[place].band;
        self.bands[band].old.push_back(place as u32);
    }

    /// An empty flow at the head of its list has had its turn: a new one joins the old ones, so
    /// that it cannot become new again at once.
    fn retire(&mut self, place: usize, now: Time, was_new: bool) {
        self.unlist(was_new);
        if was_new && (self.is_fast || !self.bands[self.served].old.is_empty()) {
            self.make_old(place);
        } else {
            self.flows[place].listed = false;
            self.flows[place].idle_since = now;
        }
    }

    /// The flow at the head of its list has used up its credit.
    fn next_turn(&mut self, place: usize, was_new: bool) {
        self.flows[place].credit += self.quantum;
        self.unlist(was_new);
        self.make_old(place);
    }
}

impl QueueDiscipline for Fq {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        if self.takes_fast_path() {
            self.fast_packets += 1;
            self.backlog.add(&packet);
            self.store.push(&mut self.fast, packet);
            return;
        }
        let place = self.place(now, &packet);
        let flow = &mut self.flows[place];
        if self.backlog.packets - self.fast_packets >= self.limit || flow.packets >= self.flow_limit
        {
            cx.drop(now, packet, DropReason::Overflow);
            return;
        }
        if !flow.listed {
            flow.listed = true;
            if now.since(flow.idle_since) > self.refill_delay {
                flow.credit = flow.credit.max(self.quantum);
            }
            self.bands[flow.band].new.push_back(place as u32);
        }
        flow.band = if self.is_fast { BAND } else { 0 };
        flow.packets += 1;
        self.backlog.add(&packet);
        self.store.push(&mut flow.waiting, packet);
    }

    fn dequeue(&mut self, now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        if let Some(packet) = self.store.pop(&mut self.fast) {
            self.fast_packets -= 1;
            self.backlog.remove(&packet);
            return Some(packet);
        }
        while self.backlog.packets > 0 {
            let (place, was_new) = self.turn()?;
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
            let length = i64::from(packet.size + self.overhead);
            flow.credit -= length;
            self.bands[self.served].credit -= length;
            self.backlog.remove(&packet);
            return Some(packet);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, out: &mut Observer<'_>) {
        let count = |list: fn(&Band) -> usize| self.bands.iter().map(list).sum::<usize>() as f64;
        out("new_flows", count(|band| band.new.len()).into());
        out("old_flows", count(|band| band.old.len()).into());
        out("fast_path", (self.fast_packets as f64).into());
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

    fn before_6_7() -> Params {
        Params { version: Stack::Linux51, ..Params::default() }
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

    /// Up to eight packets that find no flow backlogged go first, and cost no credit.
    #[test]
    fn the_fast_path_is_a_short_fifo() {
        let mut bench = Bench::new(Params::default());
        (0..20).for_each(|index| bench.offer(Time::ZERO, index % 2, 1500));
        let order: Vec<_> = (0..8).map(|_| bench.take(Time::ZERO).unwrap().flow).collect();
        assert_eq!(order, [0, 1, 0, 1, 0, 1, 0, 1]);
        assert!(bench.queue.flows.iter().all(|flow| flow.credit == 15_140));
    }

    /// A flow that becomes active while the second band is served waits in the first for its turn
    /// to end.
    #[test]
    fn a_new_flow_waits_for_the_band() {
        let mut bench =
            Bench::new(Params { flow_limit: PacketLimit::packets(500), ..Params::default() });
        (0..300).for_each(|_| bench.offer(Time::ZERO, 0, 1500));
        // The fast path, the initial quantum in the first band, then some of the second.
        (0..30).for_each(|_| assert_eq!(bench.take(Time::ZERO).map(|p| p.flow), Some(0)));
        bench.offer(Time::ZERO, 1, 1500);
        let waited = (0..).take_while(|_| bench.take(Time::ZERO).unwrap().flow == 0).count();
        // The turn of 192 KiB is 130 packets, 12 of which are gone.
        assert_eq!(waited, 130 - 12);
    }

    #[test]
    fn a_new_flow_sends_its_initial_quantum_first() {
        let mut bench = Bench::new(before_6_7());
        (0..50).for_each(|_| bench.offer(Time::ZERO, 0, 1500));
        (0..20).for_each(|_| assert_eq!(bench.take(Time::ZERO).map(|p| p.flow), Some(0)));
        (0..20).for_each(|_| bench.offer(Time::ZERO, 1, 1500));
        let order: Vec<_> = (0..18).map(|_| bench.take(Time::ZERO).unwrap().flow).collect();
        // Ten packets of credit; flow 0 has used its own up, so two more; then two each in turn.
        assert_eq!(order, [[1; 12].as_slice(), &[0, 0, 1, 1, 0, 0]].concat());
    }

    /// A flow counts as idle from its turn on if it has no packets then.
    #[test]
    fn idle_flows_get_no_more_than_a_quantum_and_only_after_the_delay() {
        for (idle, credit) in [(40, 1514), (41, 2 * 1514)] {
            let mut bench = Bench::new(before_6_7());
            for flow in [[0; 11].as_slice(), &[1, 2, 1]].concat() {
                bench.offer(Time::ZERO, flow, 1500);
                assert_eq!(bench.take(Time::ZERO).map(|packet| packet.flow), Some(flow));
            }
            bench.offer(Time::ZERO + Span::from_millis(idle), 0, 1500);
            assert_eq!(bench.queue.flows[0].credit, credit, "{idle} ms");
        }
    }

    #[test]
    fn limits_hold_for_each_flow_and_for_all() {
        let params = Params { limit: PacketLimit::packets(150), ..before_6_7() };
        let mut bench = Bench::new(params);
        (0..120).for_each(|_| bench.offer(Time::ZERO, 0, 100));
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 20);
        (0..60).for_each(|_| bench.offer(Time::ZERO, 1, 100));
        assert_eq!(bench.queue.backlog().packets, 150);
        assert_eq!(bench.counters.drops[DropReason::Overflow as usize], 20 + 10);
    }
}
