//! FQ-PIE: a queue per flow, served round robin with priority for sparse flows, each under PIE.
//!
//! Model: Linux `net/sched/sch_fq_pie.c`. The flow queues are those of FQ-CoDel, each with a PIE state
//! of its own that signals on arrival. The defaults are those of PIE (`version = "linux-6"`; target and
//! update 15 ms, burst 150 ms) with 1024 queues, a quantum of one full packet and a limit of
//! 10240 packets. ECN-capable packets are marked while the queue's probability is at most
//! `mark_below` (10 %).
//!
//! Deviations: as in `pie`; and all queues are updated at once, where Linux takes 2048 per timer
//! tick. Linux has a memory limit too, but only counts how often it is exceeded.
//!
//! Observes: `new_flows` and `old_flows` (active queues in each list), `most_drop_probability` and
//! `most_queue_delay` (s; the largest among them).

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_queues::FlowQueues;
use super::fq_codel::validate_flows;
use super::law::pie::{self, Pie, PieConfig};
use super::pie::validate_gains;
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Bytes, PacketLimit, Percent};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of FQ-PIE.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Packets in all queues together, or bandwidth-delay products.
    pub limit: PacketLimit,
    /// Number of queues, up to 65536.
    pub flows: u32,
    /// Bytes a queue may send in its turn, at least 256; default: a full packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
    /// Reference queueing delay.
    pub target: Span,
    /// Time between updates of the probabilities.
    pub update: Span,
    /// Queueing time without drops after an idle phase.
    pub burst: Span,
    /// Integral gain in sixteenths of 1/s, up to 32.
    pub alpha: u32,
    /// Proportional gain in sixteenths of 1/s, up to 32.
    pub beta: u32,
    /// Estimate delays from drain rates instead of packets' sojourn times.
    pub rate_estimator: bool,
    /// Mark ECN-capable packets instead of dropping; default: if the flows use ECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Drop even ECN-capable packets when the probability is above this.
    pub mark_below: Percent,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: PacketLimit::packets(10_240),
            flows: 1024,
            quantum: None,
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            burst: Span::from_millis(150),
            alpha: 2,
            beta: 20,
            rate_estimator: false,
            ecn: None,
            mark_below: Percent::new(10.0),
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        validate_flows(self.flows, self.quantum)?;
        validate_gains(self.alpha, self.beta, Some(self.update))
    }
}

/// An FQ-PIE discipline.
#[derive(Debug)]
pub struct FqPie {
    queues: FlowQueues,
    laws: Vec<Pie>,
    config: PieConfig,
    update: Span,
    next_update: Time,
    limit: u64,
    ecn: bool,
    mark_below: f64,
    random: Stream,
}

impl Registered for FqPie {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let queues = FlowQueues::new(params.flows, params.quantum.map(|q| q.0), init);
        let config = PieConfig {
            era: pie::LINUX_6,
            target: params.target,
            burst: params.burst,
            alpha: u64::from(params.alpha),
            beta: u64::from(params.beta),
            rate_estimator: params.rate_estimator,
            mtu: queues.framing.mtu,
        };
        FqPie {
            queues,
            laws: vec![Pie::new(&config); params.flows as usize],
            config,
            update: params.update,
            next_update: Time::ZERO + params.update,
            limit: init.limit(params.limit).0,
            ecn: params.ecn.unwrap_or(init.ecn),
            mark_below: params.mark_below.fraction(),
            random: init.random.stream(),
        }
    }
}

impl QueueDiscipline for FqPie {
    fn enqueue(&mut self, now: Time, mut packet: Packet, cx: &mut QueueContext<'_>) {
        let index = self.queues.classify(&packet);
        let backlog = self.queues.bytes(index);
        let law = &mut self.laws[index];
        let reason = if self.queues.backlog().packets >= self.limit {
            DropReason::Overflow
        } else if law.drops_early(&self.config, backlog, || self.random.next_u64())
            && !(self.ecn
                && law.probability(&self.config) <= self.mark_below
                && cx.mark_ce(now, &mut packet))
        {
            DropReason::Aqm
        } else {
            return self.queues.push(index, packet);
        };
        law.on_drop();
        cx.drop(now, packet, reason);
    }

    fn dequeue(&mut self, now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        loop {
            let index = self.queues.turn()?;
            let Some(packet) = self.queues.pop(index) else {
                self.queues.retire();
                continue;
            };
            let bytes = self.queues.framing.len(&packet);
            self.queues.charge(index, bytes);
            let backlog = self.queues.bytes(index);
            self.laws[index].on_dequeue(&self.config, now, packet.enqueued_at, bytes, backlog);
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_timer(&mut self, now: Time, _cx: &mut QueueContext<'_>) {
        if now < self.next_update {
            return;
        }
        self.next_update += self.update;
        for (index, law) in self.laws.iter_mut().enumerate().filter(|(_, law)| !law.is_at_rest()) {
            law.update(&self.config, self.queues.bytes(index));
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        let [new, old] = self.queues.active().map(Vec::from_iter);
        let laws = || new.iter().chain(&old).map(|index| &self.laws[*index]);
        let probability = laws().map(|law| law.probability(&self.config)).fold(0.0, f64::max);
        out("new_flows", (new.len() as f64).into());
        out("old_flows", (old.len() as f64).into());
        out("most_drop_probability", probability.min(1.0).into());
        let delay = laws().map(Pie::delay).max().unwrap_or(Span::ZERO);
        out("most_queue_delay", delay.as_secs_f64().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::tests::{Bench, init};

    fn fq_pie() -> Bench<FqPie> {
        Bench::new(FqPie::new(Params::default(), &init()))
    }

    /// The probability of the queue that has the highest.
    fn highest(queue: &FqPie) -> f64 {
        queue.laws.iter().map(|law| law.probability(&queue.config)).fold(0.0, f64::max)
    }

    #[test]
    fn marks_up_to_a_tenth_and_drops_beyond() {
        let [marked, dropped] = fq_pie().signalled_up_to(highest);
        assert!((0.09..=0.1).contains(&marked), "marked at {marked}");
        assert!((0.1..0.11).contains(&dropped), "dropped at {dropped}");
    }

    #[test]
    fn each_queue_answers_for_its_own_delay() {
        let mut bench = fq_pie();
        let slot = init().rate.expect("a rate").span_of(1514);
        let (mut sparse, mut waited) = (0u32, Span::ZERO);
        for index in 0..30_000 {
            // Flow 0 exceeds by a third the capacity that flow 1, a packet in four, leaves it.
            bench.offer(0, index, 1500, Ecn::NotEct);
            if index % 4 == 0 {
                bench.offer(1, index, 1500, Ecn::NotEct);
            }
            if let Some(packet) = bench.take().filter(|packet| packet.flow == 1) {
                sparse += 1;
                waited = waited.max(bench.now.since(packet.enqueued_at));
            }
            bench.pause(slot);
        }
        assert!(highest(&bench.queue) > 0.15, "{}", highest(&bench.queue));
        assert_eq!(sparse, 7_500, "none of flow 1 is dropped");
        assert!(waited <= slot, "{waited:?}");
    }
}
