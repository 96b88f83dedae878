//! How Cake's packets wait and leave: pushed, filtered, dropped when memory is short, served by the
//! control law of their queue, marked.

use rand::Rng;

use super::Cake;
use super::ack_filter::{AckFilter, superfluous};
use crate::packet::Packet;
use crate::queue::cobalt::law::Verdict;
use crate::queue::store::memory_of;
use crate::queue::{DropReason, QueueContext};
use crate::units::{Span, Time};

/// What a visit of a queue comes to.
enum Visit {
    /// A packet leaves.
    Leaves,
    /// One was dropped that counts as sent.
    Dropped,
    /// The queue is empty.
    Empty,
}

impl Cake {
    #[inline]
    pub(super) fn push(&mut self, number: usize, index: usize, packet: Packet) {
        self.backlog.add(&packet);
        self.memory += memory_of(&packet);
        let tin = &mut self.tins.list[number];
        tin.packets += 1;
        let queue = &mut tin.scheduler.queues[index];
        queue.backlog += u64::from(packet.size);
        self.store.push(&mut queue.waiting, packet);
    }

    #[inline]
    fn pop(&mut self, number: usize, index: usize, packet: &mut Packet) -> bool {
        let queue = &mut self.tins.list[number].scheduler.queues[index];
        let popped = self.store.pop_into(&mut queue.waiting, packet);
        if popped {
            self.forget(number, index, packet);
        }
        popped
    }

    /// Counts a packet that no longer waits.
    #[inline]
    fn forget(&mut self, number: usize, index: usize, packet: &Packet) {
        let tin = &mut self.tins.list[number];
        tin.packets -= 1;
        tin.scheduler.queues[index].backlog -= u64::from(packet.size);
        self.backlog.remove(packet);
        self.memory -= memory_of(packet);
    }

    /// Drops the acknowledgment that the newest packet of a queue makes superfluous.
    pub(super) fn filter(
        &mut self,
        number: usize,
        index: usize,
        now: Time,
        cx: &mut QueueContext<'_>,
    ) {
        let queue = &mut self.tins.list[number].scheduler.queues[index];
        let aggressive = self.ack_filter == AckFilter::AckFilterAggressive;
        let gone = superfluous(&mut self.store, &mut queue.waiting, aggressive);
        if let Some(packet) = gone {
            self.forget(number, index, &packet);
            self.filtered += 1;
            self.waste(number, now, &packet);
            cx.drop(now, packet, DropReason::Aqm);
        }
    }

    /// In ingress mode a packet that is dropped has used the bottleneck. Returns its length.
    fn waste(&mut self, number: usize, now: Time, packet: &Packet) -> u32 {
        let length = self.wire.length(packet);
        if self.ingress {
            let span = self.shaper.on_dropped(length);
            self.tins.advance(number, now, length, span);
        }
        length
    }

    /// Drops at the head of the longest queue.
    pub(super) fn drop_overflow(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let Some((number, index)) = self.tins.longest() else { return };
        let mut packet = Packet::default();
        if !self.pop(number, index, &mut packet) {
            return;
        }
        let tin = &mut self.tins.list[number];
        tin.scheduler.queues[index].law.on_full(&tin.tuning, now);
        self.waste(number, now, &packet);
        cx.drop(now, packet, DropReason::Overflow);
    }

    /// COBALT's minimum target, which grows with the number of flows when shaping behind the
    /// bottleneck.
    pub(super) fn target_floor(&self, number: usize) -> Span {
        if self.ingress {
            let tin = &self.tins.list[number];
            tin.tuning.mtu_time * 2 * u64::from(tin.scheduler.bulk_flows())
        } else {
            Span::ZERO
        }
    }

    /// Writes the next packet to leave, if any, to `packet`, where a dropped one may be left, too:
    /// through options it would be copied at each step.
    pub(crate) fn give(
        &mut self,
        now: Time,
        packet: &mut Packet,
        cx: &mut QueueContext<'_>,
    ) -> bool {
        self.paused_until = None;
        let mut first_visit = true;
        while self.backlog.packets > 0 {
            self.paused_until = self.shaper.waits_until(now);
            if self.paused_until.is_some() {
                return false;
            }
            let Some(number) = self.tins.next(now) else { return false };
            if self.work(number, &mut first_visit, now, packet, cx) {
                return true;
            }
        }
        false
    }

    /// The same of a tin; none also if a queue was found empty, so that another tin may have its turn.
    #[inline]
    fn work(
        &mut self,
        number: usize,
        first_visit: &mut bool,
        now: Time,
        packet: &mut Packet,
        cx: &mut QueueContext<'_>,
    ) -> bool {
        loop {
            let scheduler = &mut self.tins.list[number].scheduler;
            let Some(index) = scheduler.next(*first_visit) else { return false };
            *first_visit = false;
            if scheduler.queues[index].deficit <= 0 {
                scheduler.refill(index, &mut self.random);
                continue;
            }
            match self.serve(number, index, now, packet, cx) {
                Visit::Leaves => return true,
                Visit::Dropped => {}
                Visit::Empty => return false,
            }
        }
    }

    /// Takes a packet from a queue through its control law.
    #[inline]
    fn serve(
        &mut self,
        number: usize,
        index: usize,
        now: Time,
        packet: &mut Packet,
        cx: &mut QueueContext<'_>,
    ) -> Visit {
        let floor = self.target_floor(number);
        loop {
            if !self.pop(number, index, packet) {
                let tin = &mut self.tins.list[number];
                tin.scheduler.queues[index].law.on_empty(&tin.tuning, now);
                tin.scheduler.retire(index, now);
                return Visit::Empty;
            }
            let sojourn = now.since(packet.enqueued_at);
            let capable = packet.ecn.is_capable();
            let tin = &mut self.tins.list[number];
            let queue = &mut tin.scheduler.queues[index];
            let verdict =
                queue.law.on_dequeue(&tin.tuning, now, sojourn, floor, capable, &mut self.random);
            if !verdict.drop || queue.waiting.is_empty() {
                self.send(number, index, now, packet);
                self.mark(number, (now, sojourn), verdict, packet, cx);
                return Visit::Leaves;
            }
            if self.ingress {
                let length = self.waste(number, now, packet);
                self.spend(number, index, length);
            }
            cx.drop(now, *packet, DropReason::Aqm);
            if self.ingress {
                return Visit::Dropped;
            }
        }
    }

    /// Counts a packet that leaves.
    #[inline]
    fn send(&mut self, number: usize, index: usize, now: Time, packet: &Packet) {
        let length = self.wire.length(packet);
        let span = self.shaper.on_sent(length);
        self.tins.advance(number, now, length, span);
        self.spend(number, index, length);
    }

    /// Takes framed bytes from what a queue and its tin may send in this round.
    #[inline]
    fn spend(&mut self, number: usize, index: usize, length: u32) {
        self.tins.list[number].scheduler.queues[index].deficit -= length as i32;
        self.tins.charge(number, length);
    }

    #[inline]
    fn mark(
        &mut self,
        number: usize,
        (now, sojourn): (Time, Span),
        verdict: Verdict,
        packet: &mut Packet,
        cx: &mut QueueContext<'_>,
    ) {
        if verdict.mark {
            let _marked = cx.mark_ce(now, packet);
        }
        let Some(ramp) = self.ramps.get(number) else { return };
        let p = ramp.probability(sojourn, verdict.over_target);
        if p > u64::from(u32::MAX) || (p > 0 && u64::from(self.random.next_u32()) < p) {
            cx.mark_sce(now, packet);
        }
    }
}
