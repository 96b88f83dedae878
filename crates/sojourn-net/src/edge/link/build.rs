//! Builds a [`Link`] from a scenario's [`LinkSpec`].

use super::bucket::{Policer, TokenBucket};
use super::burst_loss::BurstLoss;
use super::impairments::{Duplication, Faults};
use super::outage::{OutageEffect, Outages};
use super::pace::{Pace, RateModel};
use super::pipe::Pipe;
use super::recorded_queue::RecordedQueue;
use super::schedule::Schedule;
use super::trace::Trace;
use super::variation::Variation;
use super::{Egress, FlowDrops, Impairments, Link, LinkSpec, RandomLoss, Transmitter};
use crate::error::FieldError;
use crate::queue::{Discipline, QueueInit};
use crate::record::live::{Tap, Watch};
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::spec::{Queue, Spec};
use crate::units::{Span, Time};

/// Parameters of a link that depend on the network it is in.
#[derive(Debug)]
pub struct LinkInit {
    /// Size of a full IP packet of its flows in bytes.
    pub full_packet: u32,
    /// Largest base RTT of the flows that pass, for limits in BDP.
    pub base_rtt: Span,
    /// Whether its flows are ECN-capable.
    pub ecn: bool,
    /// Whether its counters belong in the results.
    pub recorded: bool,
    /// Data packets to lose, by their number.
    pub drops: Vec<FlowDrops>,
    /// When the run ends.
    pub end: Time,
    /// Names the link's random draws.
    pub random: StreamKey,
    /// Observer of its queue's state.
    pub watch: Option<Watch>,
    /// Recorder of its packets.
    pub tap: Option<Tap>,
}

impl Default for LinkInit {
    /// Packets of 1500 bytes, no propagation delay but the link's own, nothing recorded.
    fn default() -> Self {
        LinkInit {
            full_packet: 1500,
            base_rtt: Span::ZERO,
            ecn: false,
            recorded: true,
            drops: Vec::new(),
            end: Time::NEVER,
            random: StreamKey::root(0),
            watch: None,
            tap: None,
        }
    }
}

impl LinkInit {
    /// Parameters of a queue discipline of the link `spec`.
    pub fn queue(&self, spec: &LinkSpec) -> QueueInit {
        QueueInit {
            rate: spec.nominal_rate(),
            overhead: spec.overhead.0 as u32,
            full_packet: self.full_packet,
            base_rtt: self.base_rtt,
            ecn: self.ecn,
            random: self.random.child("queue"),
        }
    }
}

impl Link {
    /// Builds the link that `spec` describes. A link without rate and queue only delays, and has no
    /// transmitter unless it is to be recorded.
    ///
    /// # Errors If the queue discipline or one of its parameters is wrong; never for a scenario
    /// that was validated.
    pub fn build(
        spec: &LinkSpec,
        mut init: LinkInit,
        catalogue: &Catalogue,
    ) -> Result<Link, FieldError> {
        let overhead = spec.overhead.0 as u32;
        let pace = pace(spec, &init);
        let only_delays = spec.rate.is_none() && spec.queue.is_none() && pace.is_none();
        let transmitter = match only_delays && !init.recorded {
            true => None,
            false => Some(transmitter(spec, pace, &mut init, catalogue)?),
        };
        let tap = || init.tap.clone();
        let policer = spec.policer.map(|bucket| Policer::new(bucket, overhead, tap()));
        let variation = variation(spec, init.random).map(Box::new);
        let loss = loss(spec, init.random);
        let impairments = Impairments::new(loss, init.drops, faults(spec, init.random));
        let impairments = impairments.map(|impairments| impairments.recorded(init.tap.clone()));
        Ok(Link {
            policer: policer.map(Box::new),
            pipe: Pipe::new(spec.delay, variation).recorded(init.tap),
            ..Link::new(transmitter, impairments, spec.delay)
        })
    }
}

fn transmitter(
    spec: &LinkSpec,
    pace: Option<Pace>,
    init: &mut LinkInit,
    catalogue: &Catalogue,
) -> Result<Transmitter, FieldError> {
    let queue_init = init.queue(spec);
    let none = Spec::named("fifo");
    let queue = spec.queue.as_ref().unwrap_or(&none);
    let discipline = catalogue
        .find::<Queue>(&queue.kind)
        .and_then(|entry| (entry.make)(&queue.params, &queue_init, catalogue))
        .map_err(|e| e.within("queue"))?;
    let discipline = recorded(discipline, init.watch.take(), init.tap.clone());
    let egress = Egress::new(discipline, spec.device_queue.0 as usize);
    let transmitter = Transmitter::new(egress, spec.rate, queue_init.overhead);
    Ok(match pace {
        Some(pace) => transmitter.with_pace(pace),
        None => transmitter,
    })
}

/// The same discipline, recorded by `watch` and `tap` where given.
fn recorded(discipline: Discipline, watch: Option<Watch>, tap: Option<Tap>) -> Discipline {
    if watch.is_none() && tap.is_none() {
        return discipline;
    }
    Discipline::Other(Box::new(RecordedQueue::new(discipline.boxed(), watch, tap)))
}

/// The pace of the transmitter, unless it is one fixed rate.
fn pace(spec: &LinkSpec, init: &LinkInit) -> Option<Pace> {
    let pauses = Outages::with(&spec.outages, OutageEffect::Pause);
    let model = match (&spec.trace, &spec.rate_schedule, spec.rate) {
        (Some(trace), _, _) => {
            RateModel::Trace(Trace::new(trace, init.full_packet + spec.overhead.0 as u32))
        }
        (None, Some(schedule), Some(rate)) => {
            RateModel::Scheduled(Schedule::new(schedule, rate, init.random.child("rate")))
        }
        _ if spec.shaper.is_none() && pauses.is_none() => return None,
        (None, _, Some(rate)) => RateModel::Fixed(rate),
        (None, _, None) => RateModel::Immediate,
    };
    Some(Pace::new(model, spec.shaper.map(TokenBucket::new), pauses, init.end))
}

fn loss(spec: &LinkSpec, random: StreamKey) -> Option<RandomLoss> {
    let schedule = spec.loss_schedule.as_ref();
    let schedule = schedule.map(|s| Schedule::new(s, spec.loss, random.child("loss schedule")));
    (spec.loss.fraction() > 0.0 || schedule.is_some())
        .then(|| RandomLoss::new(spec.loss.fraction(), random).with_schedule(schedule))
}

fn faults(spec: &LinkSpec, random: StreamKey) -> Faults {
    let duplicate = spec.duplicate.fraction();
    Faults {
        burst_loss: spec.burst_loss.map(|burst| BurstLoss::new(burst, random)),
        outages: Outages::with(&spec.outages, OutageEffect::Loss),
        ecn_fault: spec.ecn_fault,
        duplication: (duplicate > 0.0).then(|| Duplication::new(duplicate, random)),
    }
}

fn variation(spec: &LinkSpec, random: StreamKey) -> Option<Variation> {
    let LinkSpec { jitter, reorder, aggregation, .. } = *spec;
    let schedule = spec.delay_schedule.as_ref();
    let schedule = schedule.map(|s| Schedule::new(s, spec.delay, random.child("delay schedule")));
    let fixed =
        schedule.is_none() && jitter.is_none() && reorder.is_none() && aggregation.is_none();
    (!fixed).then(|| Variation {
        delay: spec.delay,
        schedule,
        jitter,
        reorder,
        aggregation,
        key: random.child("delay"),
    })
}
