//! DualPI2: low latency for scalable flows beside Classic ones, by two coupled queues.
//!
//! Model: RFC 9332 and Linux `net/sched/sch_dualpi2.c` (6.17). Packets with ECT(1) or CE go to the
//! L queue, all others to the C queue; so a Classic flow's packets that an earlier hop marked CE
//! overtake its others. A PI controller keeps the longer of the two queues' delays (how long the
//! head has waited) near `target` with a base probability p', updated every `update`. On leaving,
//! a packet of the C queue is marked, or dropped if it is not ECN-capable, with probability p'^2;
//! one of the L queue is marked with k p' (`coupling`), and in any case when it waited longer than
//! `step` and leaves at least `step_queue` packets waiting behind it.
//!
//! The L queue goes first, except that the C queue gets at least `c_weight` of the bytes while both
//! wait. When k p' exceeds 1, ECN no longer helps: both queues drop with p'^2, and the L queue
//! marks everything else; with `drop_on_overload = false`, p' stays at most 1/k instead, and
//! the limit is what drops. Nothing is signalled by probability while less than two full packets
//! wait.
//!
//! **RFC and Linux.** Below 12 Mbit/s a full packet takes longer than the step of 1 ms, and one that
//! only waits for a packet of the C queue would be marked for that. The RFC's example (appendix A.1)
//! therefore spares packets that leave no more than one behind (`Th_len`): `step_queue = "2 packets"`
//! here. Linux marks them: `step_queue = "0 packets"`, with which a Prague flow gets a third of a
//! Reno flow's rate at 10 Mbit/s and 25 ms. (Linux's own `min_qlen_step`, by default 0, counts on
//! arrival.) All else is as in Linux: target 15 ms, update 16 ms, alpha 0.16 and beta 3.2 per s,
//! k = 2, step 1 ms, C weight 10 %, 10000 packets, drops at the head. The RFC's example has 15 ms,
//! 0.15 and 3, a ramp from 0.8 to 1.2 ms in place of the step, and marks at regular distances
//! instead of at random.
//!
//! **Shares.** Rate of Prague flows over that of as many Reno flows, then over that of as many Cubic
//! flows, both with ECN, at the same total round-trip time (queue included); means of five runs:
//!
//! | flows | total | 10 Mbit/s | 20 Mbit/s | 50 Mbit/s | 100 Mbit/s |
//! | --- | --- | --- | --- | --- | --- |
//! | 1 + 1 | 18 ms | 0.78, 0.97 | 0.85, 1.00 | 1.03, 1.11 | 1.21, 1.28 |
//! | 1 + 1 | 25 ms | 0.92, 1.06 | 1.11, 1.23 | 1.38, 1.34 | 1.58, 1.58 |
//! | 1 + 1 | 35 ms | 1.17, 1.17 | 1.38, 1.31 | 1.66, 1.46 | 1.60, 1.45 |
//! | 1 + 1 | 55 ms | 1.56, 1.53 | 1.79, 1.54 | 1.88, 1.72 | 1.97, 1.67 |
//! | 1 + 1 | 100 ms | 2.30, 1.49 | 2.36, 1.66 | 2.35, 1.74 | 3.04, 1.52 |
//! | 2 + 2 | 25 ms | 0.76, 0.94 | 0.93, 1.08 | 1.20, 1.21 | 1.34, 1.33 |
//! | 2 + 2 | 35 ms | 0.87, 0.98 | 1.00, 1.09 | 1.29, 1.25 | 1.45, 1.40 |
//! | 2 + 2 | 55 ms | 1.07, 1.14 | 1.26, 1.24 | 1.52, 1.42 | 1.75, 1.50 |
//! | 2 + 2 | 100 ms | 1.53, 1.35 | 1.83, 1.48 | 2.22, 1.64 | 2.24, 1.58 |
//! | 5 + 5 | 25 ms | 1.94, 0.64 | 0.70, 0.92 | 0.98, 1.12 | 1.11, 1.20 |
//! | 5 + 5 | 100 ms | 0.89, 0.91 | 1.07, 1.03 | 1.52, 1.26 | 1.78, 1.34 |
//!
//! Two laws explain them. Of a share p of marks, Prague makes a window of x/p packets with
//! x^2 = 2 (1 - p) (x + 1), up to 2.7/p: the next cut waits for a mark after the last one's round
//! trip. Reno makes 1.31/sqrt(p). With p' at rest and k = 2 that is 1.04 to 1, and less where p is
//! large. But the sawtooth of few Classic flows swings p': they answer to the mean of p'^2, which
//! is more than the square of the mean, and Prague's average over 16 round trips underrates marks
//! that come in bunches. One flow of each at 100 Mbit/s and 25 ms: p' deviates by 0.93 of its mean,
//! which takes a quarter off Reno's window and makes x 3.3. The controller's steps do not shrink
//! with p', so that larger windows, which need fewer marks, mean wider swings. With a quarter of
//! the gains the same flows share 1.33 and 1.29 to 1. Five of each at 10 Mbit/s, 25 ms: an overload.
//!
//! Deviations: the memory limit (twice the limit in bytes, not reached by packets up to the MTU),
//! filters, drops on arrival, thresholds in packets and segmentation offload are left out.
//!
//! Observes: `base_probability` (p'), `classic_probability` (p'^2), `scalable_probability` (k p',
//! at most 1), `l_packets` and `c_packets` (waiting in each queue), `l_delay` and `c_delay` (s: how
//! long the head of each had waited at the last update).

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::pi2::{Pi2, Pi2Config, scale_gain};
use super::packet_list::{Framing, PacketList};
use super::pie::validate_update;
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::{Ecn, Packet};
use crate::quantity::{PacketLimit, Packets, Percent};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Packets in both queues together, or bandwidth-delay products.
    pub limit: PacketLimit,
    /// Reference queueing delay of the C queue.
    pub target: Span,
    /// Time between updates of the base probability.
    pub update: Span,
    /// Integral gain in 1/s, up to 1000.
    pub alpha: f64,
    /// Proportional gain in 1/s, up to 1000.
    pub beta: f64,
    /// Coupling factor k between the queues' probabilities, 1 to 255.
    pub coupling: u8,
    /// Waiting time above which every packet of the L queue is marked.
    pub step: Span,
    /// Packets that a packet must leave waiting in the L queue for `step` to apply to it.
    pub step_queue: Packets,
    /// Least share of the bytes that the C queue gets while both wait.
    pub c_weight: Percent,
    /// Drop, instead of letting the queue grow, when marks no longer restrain the flows.
    pub drop_on_overload: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: PacketLimit::packets(10_000),
            target: Span::from_millis(15),
            update: Span::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2,
            step: Span::from_millis(1),
            step_queue: Packets(2),
            c_weight: Percent::new(10.0),
            drop_on_overload: true,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        for (field, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(1.0 / 256.0..=1000.0).contains(&gain) {
                let message = format!("is {gain}; allowed: 1/256 to 1000 per second");
                return Err(FieldError::new(field, message));
            }
        }
        if self.coupling == 0 {
            return Err(FieldError::new("coupling", "is 0; allowed: 1 to 255"));
        }
        validate_update(self.update)
    }
}

/// A DualPI2 discipline.
#[derive(Debug)]
pub struct DualPi2 {
    low_latency: PacketList,
    classic: PacketList,
    law: Pi2,
    config: Pi2Config,
    params: Params,
    /// Packets in both queues together.
    limit: u64,
    /// Bytes times per cent that the C queue may not yet send: the L queue is next if at most zero.
    credit: i64,
    initial_credit: i64,
    next_update: Time,
    /// How long the heads of the L and the C queue had waited at the last update.
    delays: [Span; 2],
    random: Stream,
}

impl Registered for DualPi2 {
    type Params = Params;
    // CE-marked Classic packets may overtake.
    const REORDERS: bool = true;

    fn new(params: Params, init: &QueueInit) -> Self {
        let framing = Framing::new(init);
        let weight = c_weight_percent(&params);
        let initial_credit = framing.mtu as i64 * (2 * weight - 100);
        DualPi2 {
            low_latency: PacketList::new(framing),
            classic: PacketList::new(framing),
            law: Pi2::default(),
            config: Pi2Config {
                target: params.target,
                alpha: scale_gain(params.alpha),
                beta: scale_gain(params.beta),
                coupling: u64::from(params.coupling),
                cap: !params.drop_on_overload,
            },
            params,
            limit: init.limit(params.limit).0,
            credit: initial_credit,
            initial_credit,
            delays: [Span::ZERO; 2],
            next_update: Time::ZERO + params.update,
            random: init.random.stream(),
        }
    }
}

/// The C queue's weight in whole per cent, as Linux keeps it.
fn c_weight_percent(params: &Params) -> i64 {
    (params.c_weight.fraction() * 100.0).round() as i64
}

impl DualPi2 {
    /// Removes the next packet to serve; also returns whether it is from the L queue, and by how
    /// much the credit changes if it is sent.
    fn pop(&mut self) -> Option<(Packet, bool, i64)> {
        let weight = c_weight_percent(&self.params);
        let both_wait = !self.low_latency.is_empty() && !self.classic.is_empty();
        let from_l = !self.low_latency.is_empty() && (!both_wait || self.credit <= 0);
        let list = if from_l { &mut self.low_latency } else { &mut self.classic };
        let packet = list.pop()?;
        let bytes = list.framing.len(&packet) as i64;
        let change = match (both_wait, from_l) {
            (false, _) => 0,
            (true, true) => weight * bytes,
            (true, false) => (weight - 100) * bytes,
        };
        Some((packet, from_l, change))
    }

    /// Whether a packet taken from the L queue waited too long, in a queue long enough to count.
    fn exceeds_step(&self, now: Time, packet: &Packet) -> bool {
        self.low_latency.len() >= self.params.step_queue.0
            && now.since(packet.enqueued_at) > self.params.step
    }

    /// Signals on a packet by the probabilities; returns whether to drop it.
    fn signal(
        &mut self,
        now: Time,
        packet: &mut Packet,
        from_l: bool,
        cx: &mut QueueContext<'_>,
    ) -> bool {
        let waiting = self.low_latency.framed_bytes() + self.classic.framed_bytes();
        if waiting < 2 * self.classic.framing.mtu {
            return false;
        }
        let mut draw = || self.random.next_u32();
        let overloaded = self.law.overloaded(&self.config);
        if from_l && !overloaded {
            if self.law.signals_scalable(&self.config, draw) {
                let _ = cx.mark_ce(now, packet);
            }
            return false;
        }
        if self.law.signals_classic(&mut draw) && (overloaded || !cx.mark_ce(now, packet)) {
            return true;
        }
        if from_l {
            let _ = cx.mark_ce(now, packet);
        }
        false
    }
}

impl QueueDiscipline for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        if self.low_latency.len() + self.classic.len() >= self.limit {
            cx.drop(now, packet, DropReason::Overflow);
        } else if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low_latency.push(packet);
        } else {
            self.classic.push(packet);
        }
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        while let Some((mut packet, from_l, change)) = self.pop() {
            if self.signal(now, &mut packet, from_l, cx) {
                cx.drop(now, packet, DropReason::Aqm);
                continue;
            }
            if from_l && self.exceeds_step(now, &packet) {
                let _ = cx.mark_ce(now, &mut packet);
            }
            self.credit += change;
            return Some(packet);
        }
        self.credit = self.initial_credit;
        None
    }

    fn backlog(&self) -> Backlog {
        let (l, c) = (self.low_latency.backlog(), self.classic.backlog());
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_timer(&mut self, now: Time, _cx: &mut QueueContext<'_>) {
        if now < self.next_update {
            return;
        }
        self.next_update += self.params.update;
        let waited =
            |list: &PacketList| list.front().map_or(Span::ZERO, |p| now.since(p.enqueued_at));
        self.delays = [waited(&self.low_latency), waited(&self.classic)];
        self.law.update(&self.config, self.delays[0].max(self.delays[1]));
    }

    fn observe(&self, out: &mut Observer<'_>) {
        let p = self.law.base_probability();
        out("base_probability", p.into());
        out("classic_probability", (p * p).into());
        out("scalable_probability", ((p * f64::from(self.params.coupling)).min(1.0)).into());
        out("l_packets", (self.low_latency.len() as f64).into());
        out("c_packets", (self.classic.len() as f64).into());
        out("l_delay", self.delays[0].as_secs_f64().into());
        out("c_delay", self.delays[1].as_secs_f64().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{Bench, init};

    fn dualpi2() -> Bench<DualPi2> {
        Bench::new(DualPi2::new(Params::default(), &init()))
    }

    /// Keeps both queues supplied while `count` packets leave at the link's rate; the shares of
    /// packets from the C queue, of C packets signalled, and of L packets marked.
    fn serve(bench: &mut Bench<DualPi2>, count: u32) -> (f64, f64, f64) {
        let slot = init().rate.expect("a rate").span_of(1514);
        let (mut classic, mut signalled, mut low, mut marked) = (0u32, 0, 0u32, 0u32);
        for index in 0..count {
            while bench.queue.low_latency.len() < 3 {
                bench.offer(1, index, 1500, Ecn::Ect1);
            }
            while bench.queue.classic.len() < 10 {
                bench.offer(0, index, 1500, Ecn::Ect0);
            }
            let packet = bench.take().expect("packets wait");
            if packet.flow == 0 {
                classic += 1;
                signalled += u32::from(packet.ecn == Ecn::Ce);
            } else {
                low += 1;
                marked += u32::from(packet.ecn == Ecn::Ce);
            }
            bench.now += slot;
        }
        let share = |part: u32, of: u32| f64::from(part) / f64::from(of);
        (share(classic, count), share(signalled, classic), share(marked, low))
    }

    #[test]
    fn scalable_packets_overtake_and_classic_ones_get_a_tenth() {
        let mut bench = dualpi2();
        bench.offer(0, 0, 1500, Ecn::Ect0);
        bench.offer(1, 0, 1500, Ecn::Ect1);
        bench.offer(0, 1, 1500, Ecn::Ce);
        let order: Vec<_> =
            std::iter::from_fn(|| bench.take()).map(|p| (p.flow, p.index)).collect();
        assert_eq!(order, [(1, 0), (0, 1), (0, 0)]);
        let (classic, ..) = serve(&mut dualpi2(), 50_000);
        assert!((classic - 0.1).abs() < 0.001, "{classic}");
    }

    #[test]
    fn marking_is_coupled_by_square_and_factor() {
        for base in [0.05, 0.2, 0.4] {
            let mut bench = dualpi2();
            // The probability is constant, as no timer runs; the step does not interfere.
            bench.queue.law = Pi2::with_probability(base);
            bench.queue.params.step = Span::from_secs(10);
            let (_, classic, scalable) = serve(&mut bench, 400_000);
            assert!((scalable / (2.0 * base) - 1.0).abs() < 0.05, "{base}: {scalable}");
            assert!((classic / (base * base) - 1.0).abs() < 0.15, "{base}: {classic}");
            assert_eq!(bench.counters.drops, [0; DropReason::COUNT]);
        }
    }

    #[test]
    fn l_packets_beyond_the_step_are_marked() {
        let params = Params { step_queue: Packets(0), ..Params::default() };
        let mut bench = Bench::new(DualPi2::new(params, &init()));
        (0..2).for_each(|i| bench.offer(1, i, 1500, Ecn::Ect1));
        bench.now += Span::from_millis(1);
        assert_eq!(bench.take().map(|p| p.ecn), Some(Ecn::Ect1));
        bench.now += Span::from_nanos(1);
        assert_eq!(bench.take().map(|p| p.ecn), Some(Ecn::Ce));
    }

    #[test]
    fn the_step_spares_packets_that_leave_no_queue_behind() {
        let mut bench = dualpi2();
        (0..5).for_each(|i| bench.offer(1, i, 1500, Ecn::Ect1));
        bench.now += Span::from_millis(2);
        let marked: Vec<_> =
            std::iter::from_fn(|| bench.take()).map(|p| p.ecn == Ecn::Ce).collect();
        assert_eq!(marked, [true, true, true, false, false]);
    }

    #[test]
    fn overload_drops_whatever_the_codepoint() {
        let mut bench = dualpi2();
        bench.queue.law = Pi2::with_probability(0.8);
        let (_, classic, scalable) = serve(&mut bench, 20_000);
        let drops = bench.counters.drops[DropReason::Aqm as usize] as f64;
        // p'^2 = 64 % of what leaves either queue is dropped; what stays of the L queue is marked,
        // of the C queue not. A few pass when a run of drops has left less than two packets.
        assert!((drops / (drops + 20_000.0) - 0.64).abs() < 0.02, "{drops}");
        assert!(classic == 0.0 && scalable > 0.999, "{classic} {scalable}");
    }

    #[test]
    fn without_drops_on_overload_the_limit_is_what_drops() {
        let drops = |drop_on_overload| {
            let limit = PacketLimit::packets(300);
            let params = Params { drop_on_overload, limit, ..Params::default() };
            let mut bench = Bench::new(DualPi2::new(params, &init()));
            let slot = init().rate.expect("a rate").span_of(1514);
            for index in 0..20_000 {
                (0..2).for_each(|_| bench.offer(1, index, 1500, Ecn::Ect1));
                bench.take();
                bench.pause(slot);
                assert!(bench.queue.backlog().packets <= 300);
            }
            assert_eq!(bench.queue.law.base_probability() > 0.5, drop_on_overload);
            bench.counters.drops
        };
        let [overflow, aqm, ..] = drops(false);
        assert!(overflow > 19_000 && aqm == 0, "{overflow} {aqm}");
        let [overflow, aqm, ..] = drops(true);
        assert!(overflow < aqm, "{overflow} {aqm}");
    }

    #[test]
    fn holds_its_target_under_a_load_that_does_not_respond() {
        let mut bench = dualpi2();
        let slot = init().rate.expect("a rate").span_of(1514);
        let (mut sum, mut count) = (0.0, 0u32);
        for index in 0..100_000u32 {
            (0..1 + u32::from(index % 10 == 0))
                .for_each(|_| bench.offer(0, index, 1500, Ecn::NotEct));
            let packet = bench.take();
            if let Some(packet) = packet.filter(|_| index > 50_000) {
                sum += bench.now.since(packet.enqueued_at).as_millis_f64();
                count += 1;
            }
            bench.pause(slot);
        }
        let delay = sum / f64::from(count);
        assert!((delay - 15.0).abs() < 2.0, "{delay}");
        // Ten per cent too much: p'^2 = 1/11.
        let p = bench.queue.law.base_probability().powi(2);
        assert!((p - 1.0 / 11.0).abs() < 0.03, "{p}");
    }
}
