//! Cake: a shaper without bursts, COBALT in every queue, fairness between flows and hosts, and SCE.
//!
//! Model: Linux `net/sched/sch_cake.c` as extended in chromi/sce at 56915a82 (July 2019, "Some
//! Congestion Experienced"); without SCE it is the mainline discipline of Linux 4.19 and later.
//! Described by Høiland-Jørgensen, Täht and Morton, "Piece of CAKE" (2018).
//!
//! **Shaper.** A virtual clock moves on by each packet's framed length at `bandwidth`; packets
//! leave when it is in the past, and idle time is lost. There is no bucket. Without `bandwidth`
//! Cake takes the link's rate and the link adds no serialisation of its own: Cake *is* the
//! bottleneck, as on a middlebox whose device is much faster. With `bandwidth` given, the link
//! keeps its rate; `"unlimited"` leaves the pace to it. Where the link has a schedule, a trace, a
//! token bucket or pauses, it keeps those, and Cake shapes to its nominal rate: give a
//! `bandwidth` below the least rate, or `"unlimited"`.
//!
//! **Framing.** `raw` by default: the IP packet and the link's overhead (14 B on Ethernet), so that
//! the goodput of full packets is 1448/1514 of the rate. `overhead`, `mpu` and `framing` replace it.
//!
//! **Queues.** 1024, found by an 8-way set-associative hash of what `isolation` names. DRR++:
//! a queue that was empty is *sparse* and goes first; once it used its quantum it is *bulk*; an
//! empty queue whose COBALT state is not yet forgotten is *decaying*. The quantum is 1514 B, less
//! below 49.6 Mbit/s (rate in B/s over 4096, at least 300). In the dual and triple modes a flow's
//! quantum is divided by the number of bulk flows of its busiest host, in 16-bit reciprocals with
//! random dither.
//!
//! **COBALT** ([`cobalt`](super::cobalt)): target 5 ms, interval 100 ms at the default `rtt`, both
//! larger at low rates (0.5 Mbit/s: 36.3 and 131.3 ms; 1 Mbit/s: 18.2 and 113.2; 2 Mbit/s: 9.1 and
//! 104.1; from 3.7 Mbit/s on 5 and 100).
//!
//! Until Linux 6.11 (`version = "linux-5.1"`, and always with SCE, whose fork is older) COBALT's table
//! of reciprocal roots is less exact than since 6.12: its second signal comes 0.06 % of an interval
//! earlier.
//!
//! **SCE.** Packets that leave with ECT(0) are marked ECT(1) with a probability that rises with
//! sojourn time *s*; with target *T*, none up to *T*/2. With `ramp = "code"`:
//!
//! | `sce` | not over target | over target (CoDel's sense: also four packet times) |
//! | --- | --- | --- |
//! | `sce` | (2s - T) / T | 1 |
//! | `sce-thresh N` | (2s - T) / (N T) | 1/N + (1 - 1/N) (s - T) / T |
//! | `sce-single` | 0 | (s - T) / T |
//!
//! The draft's text says that the ramps have the same slope, and that `sce-thresh 8` lies halfway
//! between `sce` and `sce-single`: with `ramp = "draft"` the probability is 2 (s - s0) / T, where
//! s0 is T/2 for `sce`, T for `sce-single`, and T/2 (1 + (N - 1) / (N + 6)) in between; the draft
//! fixes this at N = 1, 8 and the limit only, the formula is ours.
//!
//! **Buffer.** By default four intervals at the rate but at least 4 MiB, at most 10240 packets' worth,
//! counted as Linux counts memory: headroom and bookkeeping in a power of two, 2304 B for a full
//! packet and 768 B for an ACK. Overflow drops at the head of the longest queue and feeds BLUE.
//!
//! **Deviations.** One tin (`besteffort`): packets have no DSCP here. No `autorate-ingress`, `wash`,
//! `nat`, `ack-filter`. Overhead cannot be negative. GSO bursts are always split. The clock carries
//! remainders where Linux rounds each packet down to a nanosecond. Host counts survive hash
//! collisions (mainline's repair of 2025). The longest queue is found by a scan, ties going to the
//! lowest number, where Linux keeps a heap. Linux's timer after the last packet of a decaying
//! queue is left out: it finds nothing to do. A negative deficit of an unlimited shaper's tin has
//! no effect with one tin.
//!
//! Observes: of its one tin `bulk_flows`, `sparse_flows` and `decaying_flows`, `most_count` and
//! `most_blue_probability` (the largest COBALT count and BLUE probability among these); `memory`
//! (B, as Linux counts it) and `shaper_rate` (bit/s).

mod classify;
mod drr;
mod params;
mod rotation;
mod sce;
mod shaper;
#[cfg(test)]
mod tests;
mod wire;

pub use params::{Bandwidth, Framing, Isolation, Params, RampText, Sce};

use rand::Rng;

use super::cobalt::law::{Tuning, Verdict};
use super::store::{PacketStore, memory_of, memory_within};
use super::{
    Backlog, Discipline, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered,
};
use crate::observe::Observer;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};
use drr::Scheduler;
use sce::Ramp;
use shaper::Shaper;
use wire::Wire;

/// The Cake discipline.
#[derive(Debug)]
pub struct Cake {
    store: PacketStore,
    scheduler: Scheduler,
    shaper: Shaper,
    shapes_link: bool,
    paused_until: Option<Time>,
    wire: Wire,
    tuning: Tuning,
    ramp: Option<Ramp>,
    ingress: bool,
    backlog: Backlog,
    memory: u64,
    memory_limit: u64,
    random: Stream,
}

fn memory_limit(params: &Params, rate: Option<Rate>, init: &QueueInit) -> u64 {
    if let Some(memory) = params.memory {
        return memory_within(memory, init);
    }
    let wanted = rate.map_or(u64::MAX, |rate| rate.bytes_in(params.rtt * 4).max(4 << 20));
    wanted.min(10_240 * u64::from(init.full_packet + init.overhead))
}

impl Registered for Cake {
    type Params = Params;

    fn into_discipline(self) -> Discipline {
        Discipline::Cake(Box::new(self))
    }

    fn new(params: Params, init: &QueueInit) -> Self {
        let rate = match params.bandwidth {
            None => init.rate,
            Some(Bandwidth::Unlimited) => None,
            Some(Bandwidth::Limited(rate)) => Some(rate),
        };
        let mtu = init.full_packet + init.overhead;
        let tuning = Tuning::for_path(rate, mtu, params.rtt, params.roots());
        let mut random = init.random.stream();
        Cake {
            store: PacketStore::default(),
            scheduler: Scheduler::new(params.isolation, rate, &mut random),
            shaper: Shaper::new(rate),
            shapes_link: params.bandwidth.is_none() && rate.is_some(),
            paused_until: None,
            wire: Wire::new(&params, init.overhead),
            tuning,
            ramp: Ramp::new(params.sce, params.ramp, tuning.target),
            ingress: params.ingress,
            backlog: Backlog::default(),
            memory: 0,
            memory_limit: memory_limit(&params, rate, init),
            random,
        }
    }
}

impl Cake {
    #[inline]
    fn push(&mut self, index: usize, packet: Packet) {
        self.backlog.add(&packet);
        self.memory += memory_of(&packet);
        let queue = &mut self.scheduler.queues[index];
        queue.backlog += u64::from(packet.size);
        self.store.push(&mut queue.waiting, packet);
    }

    #[inline]
    fn pop(&mut self, index: usize) -> Option<Packet> {
        let queue = &mut self.scheduler.queues[index];
        let packet = self.store.pop(&mut queue.waiting)?;
        queue.backlog -= u64::from(packet.size);
        self.backlog.remove(&packet);
        self.memory -= memory_of(&packet);
        Some(packet)
    }

    /// Drops at the head of the longest queue.
    fn drop_overflow(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let longest = self.scheduler.longest();
        let Some(packet) = self.pop(longest) else { return };
        self.scheduler.queues[longest].law.on_full(&self.tuning, now);
        if self.ingress {
            self.shaper.on_dropped(self.wire.length(&packet));
        }
        cx.drop(now, packet, DropReason::Overflow);
    }

    /// COBALT's minimum target, which grows with the number of flows when shaping behind the
    /// bottleneck.
    fn target_floor(&self) -> Span {
        if self.ingress {
            self.tuning.mtu_time * 2 * u64::from(self.scheduler.bulk_flows())
        } else {
            Span::ZERO
        }
    }

    /// Takes a packet from a queue through its control law; `None` if another queue must be tried.
    #[inline]
    fn serve(&mut self, index: usize, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        let floor = self.target_floor();
        loop {
            let Some(mut packet) = self.pop(index) else {
                self.scheduler.queues[index].law.on_empty(&self.tuning, now);
                self.scheduler.retire(index, now);
                return None;
            };
            let sojourn = now.since(packet.enqueued_at);
            let capable = packet.ecn.is_capable();
            let length = self.wire.length(&packet);
            let queue = &mut self.scheduler.queues[index];
            let verdict =
                queue.law.on_dequeue(&self.tuning, now, sojourn, floor, capable, &mut self.random);
            if !verdict.drop || queue.waiting.is_empty() {
                queue.deficit -= length as i32;
                self.shaper.on_sent(length);
                self.mark(now, sojourn, verdict, &mut packet, cx);
                return Some(packet);
            }
            cx.drop(now, packet, DropReason::Aqm);
            if self.ingress {
                queue.deficit -= length as i32;
                self.shaper.on_dropped(length);
                return None;
            }
        }
    }

    #[inline]
    fn mark(
        &mut self,
        now: Time,
        sojourn: Span,
        verdict: Verdict,
        packet: &mut Packet,
        cx: &mut QueueContext<'_>,
    ) {
        if verdict.mark {
            let _marked = cx.mark_ce(now, packet);
        }
        let Some(ramp) = &self.ramp else { return };
        let p = ramp.probability(sojourn, verdict.over_target);
        if p > u64::from(u32::MAX) || (p > 0 && u64::from(self.random.next_u32()) < p) {
            cx.mark_sce(now, packet);
        }
    }
}

impl QueueDiscipline for Cake {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        if self.backlog.packets == 0 {
            self.shaper.on_busy(now);
        }
        let index = self.scheduler.classify(&packet);
        self.push(index, packet);
        self.scheduler.wake(index);
        while self.memory > self.memory_limit {
            self.drop_overflow(now, cx);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        self.paused_until = None;
        let mut first_visit = true;
        while self.backlog.packets > 0 {
            self.paused_until = self.shaper.waits_until(now);
            if self.paused_until.is_some() {
                return None;
            }
            let index = self.scheduler.next(first_visit)?;
            first_visit = false;
            if self.scheduler.queues[index].deficit <= 0 {
                self.scheduler.refill(index, &mut self.random);
            } else if let Some(packet) = self.serve(index, now, cx) {
                return Some(packet);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn shapes_link(&self) -> bool {
        self.shapes_link
    }

    fn next_timer(&self) -> Option<Time> {
        self.paused_until
    }

    fn on_timer(&mut self, _now: Time, _cx: &mut QueueContext<'_>) {
        self.paused_until = None;
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.scheduler.observe(out);
        out("memory", (self.memory as f64).into());
        if let Some(rate) = self.shaper.rate() {
            out("shaper_rate", (rate.as_bps() as f64).into());
        }
    }
}
