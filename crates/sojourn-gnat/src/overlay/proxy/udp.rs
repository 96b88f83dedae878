//! The proxy of datagram flows: queues their hosts' packets until admission.
//!
//! A flow's packets wait here, at most 500 of them; another one replaces the oldest. Each waits
//! until the rate of its admission control permits it. The rate follows the queue continuously, so
//! it is evaluated often enough to track large changes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::ServiceSpec;
use crate::overlay::admission::{Admission, Seen, Source, Standing};
use crate::overlay::message::{Carried, Parcel};
use sojourn_base::units::{Span, Time};

/// Packets of a flow that wait for admission.
const MOST_WAITING: usize = 500;
/// Shortest and longest time for which a rate holds before it is evaluated again.
const SHORTEST_LOOK: Span = Span::from_micros(100);
const LONGEST_LOOK: Span = Span::from_millis(20);

/// A flow at the node where it begins.
#[derive(Debug)]
struct Flow {
    to: u16,
    deadline: Option<Span>,
    admission: Admission,
    source: Source,
    waiting: VecDeque<Carried>,
    /// Bits admitted ahead, and until when they are counted.
    credit: f64,
    counted: Time,
    /// Bits admitted, and when a packet came last.
    admitted: f64,
    came_at: Time,
    counts: FlowCounts,
    /// When its rate is evaluated again, if it waits.
    look_at: Option<Time>,
}

impl Flow {
    fn new(to: u16, service: &ServiceSpec, k: f64, chance: f64) -> Self {
        Flow {
            to,
            deadline: service.deadline,
            admission: Admission::new(service, k, chance),
            source: Source::default(),
            waiting: VecDeque::new(),
            credit: 0.0,
            counted: Time::ZERO,
            admitted: 0.0,
            came_at: Time::ZERO,
            counts: FlowCounts::default(),
            look_at: None,
        }
    }
}

/// Packets of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounts {
    pub admitted: u64,
    pub refused: u64,
}

/// The proxy of a node.
#[derive(Debug, Default)]
pub(crate) struct UdpProxy {
    flows: Vec<Flow>,
    looks: BinaryHeap<Reverse<(Time, u32)>>,
}

impl UdpProxy {
    /// Adds a flow to a member; its number here. `chance` in [0, 1) tells flows alike apart.
    pub(crate) fn add(&mut self, to: u16, service: &ServiceSpec, k: f64, chance: f64) -> usize {
        self.flows.push(Flow::new(to, service, k, chance));
        self.flows.len() - 1
    }

    /// Replaces a flow by another one, to a member or a stream; what waits of it is refused.
    pub(crate) fn replace(
        &mut self,
        flow: usize,
        to: u16,
        service: &ServiceSpec,
        k: f64,
        chance: f64,
    ) {
        let state = &mut self.flows[flow];
        let (mut counts, look_at) = (state.counts, state.look_at);
        counts.refused += state.waiting.len() as u64;
        *state = Flow { counts, look_at, ..Flow::new(to, service, k, chance) };
    }

    /// Whether packets of a flow wait for admission.
    pub(crate) fn is_waiting(&self, flow: usize) -> bool {
        !self.flows[flow].waiting.is_empty()
    }

    /// Queues a packet of a flow.
    pub(crate) fn push(&mut self, now: Time, flow: usize, packet: impl Into<Carried>) {
        let packet = packet.into();
        let state = &mut self.flows[flow];
        let bits = 8.0 * f64::from(packet.size);
        state.source.on_arrival(now, bits);
        state.came_at = now;
        if state.admission.standing() != Standing::On {
            state.counts.refused += 1;
        } else {
            state.source.waiting += bits;
            state.waiting.push_back(packet);
        }
        if state.waiting.len() > MOST_WAITING
            && let Some(oldest) = state.waiting.pop_front()
        {
            state.source.waiting -= 8.0 * f64::from(oldest.size);
            state.counts.refused += 1;
        }
        self.look_soon(now, flow);
    }

    /// Sets a flow's service; its packets that wait stay.
    pub(crate) fn set_service(
        &mut self,
        now: Time,
        flow: usize,
        service: &ServiceSpec,
        k: f64,
        chance: f64,
    ) {
        let state = &mut self.flows[flow];
        state.deadline = service.deadline;
        state.admission = Admission::new(service, k, chance);
        self.look_soon(now, flow);
    }

    /// Sets a flow's priority.
    pub(crate) fn set_priority(&mut self, flow: usize, priority: f64) {
        self.flows[flow].admission.set_priority(priority);
    }

    /// The receiver misses this share of a flow's packets.
    pub(crate) fn on_report(&mut self, flow: usize, missing: f64) {
        if let Some(strap) = self.flows[flow].admission.strap() {
            strap.on_report(missing);
        }
    }

    /// Supervisory control turns an inelastic flow on or off.
    pub(crate) fn turn(&mut self, now: Time, flow: usize, on: bool) {
        if let Some(strap) = self.flows[flow].admission.strap() {
            strap.turn(now, on);
        }
    }

    /// State of a flow for supervisory control.
    pub(crate) fn seen(&mut self, flow: usize) -> Seen {
        let Flow { admission, source, admitted, came_at, .. } = &mut self.flows[flow];
        Seen {
            admitted: *admitted,
            came_at: *came_at,
            standing: admission.standing(),
            toggles: admission.strap().map_or(0, |strap| strap.toggles()),
            nominal: source.rate().unwrap_or(0.0),
        }
    }

    fn look_soon(&mut self, now: Time, flow: usize) {
        if self.flows[flow].look_at.is_none() {
            self.look(flow, now);
        }
    }

    fn look(&mut self, flow: usize, at: Time) {
        self.flows[flow].look_at = Some(at);
        self.looks.push(Reverse((at, flow as u32)));
    }

    /// When something may be admitted next.
    pub(crate) fn next(&self) -> Option<Time> {
        self.looks.peek().map(|Reverse((at, _))| *at)
    }

    /// The next flow that is due now, and where it goes.
    pub(crate) fn due(&mut self, now: Time) -> Option<(usize, usize)> {
        let Reverse((at, flow)) = *self.looks.peek()?;
        if at > now {
            return None;
        }
        self.looks.pop();
        let flow = flow as usize;
        self.flows[flow].look_at = None;
        Some((flow, usize::from(self.flows[flow].to)))
    }

    /// Admits the first packet of a flow that is due, if the queue's depth in bits allows; to be
    /// called until it returns `None`.
    pub(crate) fn admit(&mut self, now: Time, flow: usize, depth: f64) -> Option<Parcel> {
        let state = &mut self.flows[flow];
        state.admission.look(now, depth, &state.source);
        if state.admission.standing() != Standing::On {
            state.source.waiting = 0.0;
            state.counts.refused += std::mem::take(&mut state.waiting).len() as u64;
        }
        let own = state.admission.look_at();
        let Some(size) = state.waiting.front().map(|packet| packet.size) else {
            if let Some(at) = own {
                self.look(flow, at.max(now));
            }
            return None;
        };
        let bits = 8.0 * f64::from(size);
        let rate = state.admission.rate(depth);
        // Time in which nothing waited admits a packet and a millisecond's worth, no more.
        let passed = now.since(state.counted).as_secs_f64();
        state.credit = (state.credit + rate * passed).min(bits + rate * 1e-3);
        state.counted = now;
        if state.credit + 1e-6 < bits {
            let wait = Span::from_secs_f64(((bits - state.credit) / rate.max(1.0)).min(1.0));
            let at = now + (wait + Span::from_nanos(1)).clamp(SHORTEST_LOOK, LONGEST_LOOK);
            self.look(flow, own.map_or(at, |own| at.min(own.max(now + SHORTEST_LOOK))));
            return None;
        }
        state.credit -= bits;
        state.admitted += bits;
        state.counts.admitted += 1;
        state.source.waiting -= bits;
        let packet = state.waiting.pop_front()?;
        Some(Parcel::new(packet, state.to, state.deadline.map(|deadline| now + deadline)))
    }

    /// Packets of a flow that were admitted, and refused: too many, or of a flow that was turned off.
    pub(crate) fn counts(&self, flow: usize) -> FlowCounts {
        self.flows[flow].counts
    }

    /// Packets of all flows that were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.flows.iter().map(|flow| flow.counts.refused).sum()
    }

    /// Packets that wait for admission.
    pub(crate) fn waiting(&self) -> usize {
        self.flows.iter().map(|flow| flow.waiting.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::packet::Packet;
    use sojourn_base::units::Rate;

    /// Admits from a proxy for a second, with packets of 1,250 bytes that are always there.
    fn admitted(depth: f64) -> usize {
        let mut proxy = UdpProxy::default();
        let service = ServiceSpec { ceiling: Rate::from_bps(100_000_000), ..Default::default() };
        let flow = proxy.add(1, &service, 1e12, 0.0);
        let packet = Packet { size: 1_250, ..Packet::default() };
        let mut count = 0;
        for micros in 0..1_000_000 {
            let now = Time::ZERO + Span::from_micros(micros);
            proxy.push(now, flow, packet);
            while let Some((flow, _)) = proxy.due(now) {
                while proxy.admit(now, flow, depth).is_some() {
                    count += 1;
                }
            }
        }
        count
    }

    #[test]
    fn packets_are_admitted_at_the_rate_of_their_utility() {
        // K / Q is 1 and 10 Mbit/s, 100 and 1,000 packets a second.
        assert!((99..=101).contains(&admitted(1e6)), "{}", admitted(1e6));
        assert!((998..=1001).contains(&admitted(1e5)), "{}", admitted(1e5));
    }

    #[test]
    fn the_oldest_gives_way_to_one_too_many() {
        let mut proxy = UdpProxy::default();
        let flow = proxy.add(1, &ServiceSpec::default(), 1e12, 0.0);
        for index in 0..MOST_WAITING as u32 + 3 {
            proxy.push(Time::ZERO, flow, Packet { size: 1_250, index, ..Packet::default() });
        }
        assert_eq!((proxy.waiting(), proxy.refused()), (MOST_WAITING, 3));
        let first = proxy.admit(Time::ZERO + Span::from_secs(1), flow, 0.0);
        assert_eq!(first.map(|parcel| parcel.packet.index), Some(3));
    }
}
