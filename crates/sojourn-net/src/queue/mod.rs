//! Queue disciplines: one file each, one registry line each.
//!
//! A discipline decides which packets wait, in which order they leave, and which are marked or
//! dropped. It can drop or mark only through its [`QueueContext`], with a reason, so that no drop
//! goes unrecorded. A control law (CoDel's state, PIE's probability) is a plain struct of its own,
//! tested without a queue and shared by every discipline that uses it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::observe::Observer;
pub use crate::packet::Backlog;
use crate::packet::{Packet, headers};
use crate::quantity::Limit;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::rng::StreamKey;
use crate::spec::Queue;
use crate::units::{Rate, Span, Time};

pub mod bursts;
mod context;
pub mod flow_queues;
pub mod kernel;
mod kind;
pub mod law;
pub mod packet_list;
pub mod store;

pub use context::{DropReason, QueueContext, QueueCounters, QueueObserver};

/// What `sojourn new queue` writes must compile and pass its own test.
#[cfg(test)]
mod limits;
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/queue.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

members! {
    Queue;
    "cake" cake::Cake folder,
    "cobalt" cobalt::CobaltQueue folder,
    "fifo" fifo::Fifo,
    "red" red::Red,
    "codel" codel::Codel,
    "fq_codel" fq_codel::FqCodel,
    "pie" pie::Pie,
    "fq_pie" fq_pie::FqPie,
    "dualpi2" dualpi2::DualPi2,
    "fq" fq::Fq folder,
}

/// Parameters of a discipline that depend on the link it is in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QueueInit {
    /// Nominal rate of the link it feeds; `None` when the link has no rate of its own.
    pub rate: Option<Rate>,
    /// Bytes the link counts on top of each IP packet.
    pub overhead: u32,
    /// Size of a full IP packet in bytes (1500 with the default MSS).
    pub full_packet: u32,
    /// Largest base RTT of the flows that pass, for limits in BDP.
    pub base_rtt: Span,
    /// Whether its flows are ECN-capable: the default of a discipline's own `ecn` key.
    pub ecn: bool,
    /// Names the discipline's random draws.
    pub random: StreamKey,
}

impl QueueInit {
    /// At a link of this rate, or at one that sends at once: Ethernet's overhead, packets of 1500
    /// bytes, flows without ECN and without a propagation delay.
    pub fn new(rate: Option<Rate>, random: StreamKey) -> Self {
        let overhead = if rate.is_some() { headers::ETHERNET } else { 0 };
        QueueInit { rate, overhead, full_packet: 1500, base_rtt: Span::ZERO, ecn: false, random }
    }

    /// A limit of a queue in this place as packets and bytes; the one it does not give is
    /// unlimited.
    pub fn limit(&self, limit: impl Into<Limit>) -> (u64, u64) {
        match limit.into() {
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Bytes(bytes) => (u64::MAX, bytes),
            Limit::Bdp(share) => {
                let bits = self.rate.map_or(0.0, |rate| rate.as_bps() as f64)
                    * self.base_rtt.as_secs_f64()
                    * share;
                let packet_bits = 8.0 * f64::from(self.full_packet + self.overhead);
                // A tolerance, so that an exact product is not rounded up by floating point.
                ((bits / packet_bits - 1e-9).ceil().max(0.0) as u64, u64::MAX)
            }
        }
    }
}

/// A queue discipline. The packet's `enqueued_at` is set before `enqueue` is called; the sojourn
/// time of a packet is the time of `dequeue` less that.
pub trait QueueDiscipline: Send {
    /// Takes a packet in, or drops it (or another one) through `cx`.
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>);

    /// The next packet to leave. `None` when empty, or when a shaper holds everything back: then
    /// `next_timer` tells when to call again.
    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet>;

    /// The same, written to `packet`; whether there was one, and if not, anything may be in it. For
    /// disciplines that millions of packets pass: one that goes through an `Option` is copied twice.
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet, cx: &mut QueueContext<'_>) -> bool {
        let next = self.dequeue(now, cx);
        if let Some(next) = next {
            *packet = next;
        }
        next.is_some()
    }

    /// Waiting packets and bytes.
    fn backlog(&self) -> Backlog;

    /// Whether a packet that finds the link idle and the queue empty may go directly to the
    /// transmitter without being queued (Linux's `TCQ_F_CAN_BYPASS`). True only for disciplines
    /// that would not change it.
    fn can_bypass(&self) -> bool {
        false
    }

    /// Whether it spaces departures at the link's rate itself, so that the link adds no
    /// serialisation time of its own: a shaper on a device that is much faster.
    fn shapes_link(&self) -> bool {
        false
    }

    /// When `on_timer` should be called next, if at all. After it, the link tries `dequeue`.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Periodic work of a control law, or the end of a shaper's pause.
    fn on_timer(&mut self, _now: Time, _cx: &mut QueueContext<'_>) {}

    /// Names and values of internal state worth recording (drop probability, CoDel's count), as the
    /// header of its file lists them; the backlog is recorded for every discipline.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// A discipline that can be registered.
pub trait Registered: QueueDiscipline + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// Whether it marks ECN-capable packets where it would drop others.
    const MARKS: bool = true;

    /// Whether packets of a flow may leave in another order than they came in.
    const REORDERS: bool = false;

    /// Builds it. Parameters are validated.
    fn new(params: Self::Params, init: &QueueInit) -> Self;

    /// The form in which links hold it.
    fn into_discipline(self) -> Discipline {
        Discipline::Other(Box::new(self))
    }
}

/// A queue discipline as links hold it; the most frequent ones are dispatched statically.
#[repr(u8)] // a tag of its own: links look at it several times per packet
pub enum Discipline {
    /// A drop-tail queue.
    Fifo(fifo::Fifo),
    /// Cake: the SCE draft's tests alone send 932 million packets through it.
    Cake(Box<cake::Cake>),
    /// Any other discipline.
    Other(Box<dyn QueueDiscipline>),
}

impl Discipline {
    /// The discipline with dynamic dispatch.
    pub fn boxed(self) -> Box<dyn QueueDiscipline> {
        match self {
            Discipline::Fifo(queue) => Box::new(queue),
            Discipline::Cake(queue) => queue,
            Discipline::Other(queue) => queue,
        }
    }
}

/// Facts about a queue discipline besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueFacts {
    /// Whether it marks ECN-capable packets where it would drop others.
    pub marks: bool,
    /// Whether packets of a flow may leave in another order than they came in.
    pub reorders: bool,
}

/// Constructor of a queue discipline. Errors: a parameter is unknown, of the wrong type or out of
/// range.
pub type Make = fn(&Map<String, Value>, &QueueInit, &Catalogue) -> Result<Discipline, FieldError>;

/// The entry of the discipline `Q`, whose `source` begins with its documentation.
pub fn entry<Q: Registered>(name: &'static str, source: &'static str) -> Entry<Queue> {
    Entry {
        listing: Listing::new::<Q::Params>(name, source),
        facts: QueueFacts { marks: Q::MARKS, reorders: Q::REORDERS },
        make: |params, init, catalogue| {
            Ok(Q::new(registry::parse_params(params, catalogue)?, init).into_discipline())
        },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::{Ecn, FiveTuple};

    /// A 10 Mbit/s Ethernet link with ECN flows.
    pub(crate) fn init() -> QueueInit {
        QueueInit {
            rate: Some(Rate::from_bps(10_000_000)),
            overhead: 14,
            full_packet: 1500,
            base_rtt: Span::from_millis(40),
            ecn: true,
            random: StreamKey::root(7),
        }
    }

    /// A discipline with a clock that the test moves.
    pub(crate) struct Bench<Q> {
        pub queue: Q,
        pub now: Time,
        pub counters: QueueCounters,
    }

    impl<Q: QueueDiscipline> Bench<Q> {
        pub(crate) fn new(queue: Q) -> Self {
            Bench { queue, now: Time::ZERO, counters: QueueCounters::default() }
        }

        /// Offers a packet now.
        pub(crate) fn offer(&mut self, flow: u32, index: u32, size: u32, ecn: Ecn) {
            let packet = Packet {
                flow,
                tuple: FiveTuple::of_flow(flow),
                index,
                size,
                ecn,
                enqueued_at: self.now,
                ..Packet::default()
            };
            let mut cx = QueueContext { counters: &mut self.counters, observer: None };
            self.queue.enqueue(self.now, packet, &mut cx);
        }

        /// Advances time, and runs the discipline's timer.
        pub(crate) fn pause(&mut self, span: Span) {
            self.now += span;
            while self.queue.next_timer().is_some_and(|timer| timer <= self.now) {
                let mut cx = QueueContext { counters: &mut self.counters, observer: None };
                self.queue.on_timer(self.now, &mut cx);
            }
        }

        /// The highest probability at which a packet was marked and the lowest at which one was
        /// dropped, while ECN-capable packets arrive from a source that ignores marks.
        pub(crate) fn signalled_up_to(&mut self, probability: impl Fn(&Q) -> f64) -> [f64; 2] {
            let slot = Rate::from_bps(10_000_000).span_of(1514);
            let (mut marked, mut dropped) = (0f64, f64::INFINITY);
            for index in 0..20_000 {
                for _ in 0..1 + u32::from(index % 20 == 0) {
                    let (p, before) = (probability(&self.queue), self.counters);
                    self.offer(0, index, 1500, Ecn::Ect0);
                    if self.counters.ce_marks > before.ce_marks {
                        marked = marked.max(p);
                    }
                    if self.counters.drops > before.drops {
                        dropped = dropped.min(p);
                    }
                }
                self.take();
                self.pause(slot);
            }
            [marked, dropped]
        }

        /// Takes the next packet now.
        pub(crate) fn take(&mut self) -> Option<Packet> {
            let mut cx = QueueContext { counters: &mut self.counters, observer: None };
            self.queue.dequeue(self.now, &mut cx)
        }
    }
}
