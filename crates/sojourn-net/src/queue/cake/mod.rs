//! Cake: a shaper without bursts, COBALT in every queue, fairness between flows and hosts, and SCE.
//!
//! Model: Linux `net/sched/sch_cake.c` as extended in chromi/sce at 56915a82 (July 2019, "Some
//! Congestion Experienced"); without SCE it is the mainline discipline of Linux 4.19 and later.
//! Described by Høiland-Jørgensen, Täht and Morton, "Piece of CAKE" (2018). Tins, NAT and ACK filter are
//! those of Linux 6.12.
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
//! the goodput of full packets is 1448/1514 of the rate. `overhead` (with the keywords of iproute2
//! `tc/q_cake.c`), `mpu` and `framing` replace it.
//!
//! **Tins.** `diffserv` gives each codepoint a tin; a flow has its own by `dscp`. Each tin has its
//! queues, and COBALT tuned to its share of the rate. The highest tin within its share goes first; if
//! none is, the one that will be so first. Unlimited, tins take turns by weight. `wash` clears
//! the codepoint of what has come in. Without `dscp` all is in one tin.
//!
//! **Queues.** 1024, found by an 8-way set-associative hash of what `isolation` names. DRR++:
//! a queue that was empty is *sparse* and goes first; once it used its quantum it is *bulk*; an
//! empty queue whose COBALT state is not yet forgotten is *decaying*. The quantum is 1514 B, less
//! below 49.6 Mbit/s (rate in B/s over 4096, at least 300). In the dual and triple modes a flow's
//! quantum is divided by the number of bulk flows of its busiest host, in 16-bit reciprocals with
//! random dither. Behind a NAT on the same router (`masquerade`), all hosts on its side are one, unless
//! `nat` looks them up.
//!
//! **ACK filter.** `ack-filter` and `ack-filter-aggressive` drop acknowledgments that wait when a later
//! one tells all that they do: for uplinks that downloads fill with them. They count as the AQM's
//! drops. Only those of TCP are seen.
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
//! **Deviations.** No `autorate-ingress`, `fwmark` and other filters; `rtt` has no keywords. GSO bursts
//! are always split. The clocks carry remainders where Linux rounds each packet down to a nanosecond.
//! A queue that wakes has its quantum without dither. Host counts survive hash collisions (mainline's
//! repair of 2025). The longest queue is found by a scan, ties going to the lowest number, where Linux
//! keeps a heap. Linux's timer after the last packet of a decaying queue is left out: it finds nothing
//! to do. AccECN's counter is no flag to the ACK filter, whose file has the rest.
//!
//! Observes: of its tins together `bulk_flows`, `sparse_flows` and `decaying_flows`, `most_count` and
//! `most_blue_probability` (the largest COBALT count and BLUE probability among these); `memory`
//! (B, as Linux counts it), `shaper_rate` (bit/s), and with an ACK filter `filtered_acks`, dropped
//! since the start.

mod ack_filter;
mod classify;
mod diffserv;
mod drr;
mod overhead;
mod params;
mod rotation;
mod sce;
mod serve;
mod shaper;
#[cfg(test)]
mod tests;
mod tins;
mod wire;
mod written;

pub use ack_filter::AckFilter;
pub use diffserv::Diffserv;
pub use overhead::{Framing, Overhead};
pub use params::{Isolation, Masquerade, Params};
pub use sce::{RampText, Sce};
pub use shaper::Bandwidth;

use super::store::{PacketStore, filled, memory_within};
use super::{Backlog, Discipline, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::observe::Observer;
use crate::packet::{Dscp, Packet};
use crate::rng::Stream;
use crate::units::{Rate, Time};
use sce::Ramp;
use shaper::Shaper;
use tins::{Tin, Tins};
use wire::Wire;

/// The Cake discipline.
#[derive(Debug)]
pub struct Cake {
    store: PacketStore,
    tins: Tins,
    wash: bool,
    ack_filter: AckFilter,
    filtered: u64,
    shaper: Shaper,
    shapes_link: bool,
    paused_until: Option<Time>,
    wire: Wire,
    /// Of each tin, by its target; none where SCE is off.
    ramps: Box<[Ramp]>,
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
        let mut random = init.random.stream();
        let tins = Tins::new(&params, rate, init, &mut random);
        let ramp = |tin: &Tin| Ramp::new(params.sce, params.ramp, tin.tuning.target);
        Cake {
            store: PacketStore::default(),
            ramps: tins.list.iter().filter_map(ramp).collect(),
            tins,
            wash: params.wash,
            ack_filter: params.ack_filter,
            filtered: 0,
            shaper: Shaper::new(rate),
            shapes_link: params.bandwidth.is_none() && rate.is_some(),
            paused_until: None,
            wire: Wire::new(&params, init.overhead),
            ingress: params.ingress,
            backlog: Backlog::default(),
            memory: 0,
            memory_limit: memory_limit(&params, rate, init),
            random,
        }
    }
}

impl QueueDiscipline for Cake {
    fn enqueue(&mut self, now: Time, mut packet: Packet, cx: &mut QueueContext<'_>) {
        let number = self.tins.of(packet.dscp());
        if self.wash {
            packet.way = packet.way.with_dscp(Dscp::BEST_EFFORT);
        }
        let tin = &mut self.tins.list[number];
        if tin.packets == 0 {
            tin.on_busy(now);
            if self.backlog.packets == 0 {
                self.shaper.on_busy(now);
            }
        }
        let index = tin.scheduler.classify(&packet);
        self.push(number, index, packet);
        if self.ack_filter != AckFilter::NoAckFilter {
            self.filter(number, index, now, cx);
        }
        self.tins.list[number].scheduler.wake(index);
        while self.memory > self.memory_limit {
            self.drop_overflow(now, cx);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        filled(|packet| self.give(now, packet, cx))
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet, cx: &mut QueueContext<'_>) -> bool {
        self.give(now, packet, cx)
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
        self.tins.observe(out);
        out("memory", (self.memory as f64).into());
        if let Some(rate) = self.shaper.rate() {
            out("shaper_rate", (rate.as_bps() as f64).into());
        }
        if self.ack_filter != AckFilter::NoAckFilter {
            out("filtered_acks", (self.filtered as f64).into());
        }
    }
}
