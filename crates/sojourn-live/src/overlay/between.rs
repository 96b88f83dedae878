//! The links between members: whose packet is whose, and the samples of links.

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_base::packet::{FiveTuple, Header, Opaque, Packet, Route};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Hosts, Network, Step};
use sojourn_net::record::{FlowFacts, Outcome, Recorder};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Uncarried;

use super::came::Came;
use super::driven::Ended;
use super::rows::Rows;
use super::{Members, NETWORK};
use crate::drive::Tap;
use crate::error::Error;

/// Timers besides those of uncarried flows: a sample is due, the warm-up ends.
const SAMPLE: u32 = Uncarried::BEYOND;
const WARMUP_END: u32 = Uncarried::BEYOND + 1;
/// Bytes of the headers of IP and UDP: no packet is shorter.
const UNDERLAY: u32 = 28;
const UDP: u8 = 17;

/// The links, by the places of the members at their ends.
pub(super) struct Between {
    ways: BTreeMap<[usize; 2], Way>,
    /// The place of each node that is a member.
    places: BTreeMap<u16, usize>,
    sealing: u32,
    /// Flows that no member carries, on the same links.
    uncarried: Uncarried,
    rows: Arc<Rows>,
    came: Arc<Came>,
    /// The number of the next sample.
    sample: usize,
    recorder: Recorder,
    recorded_links: usize,
    interval: Span,
    end: Time,
}

/// A link from a member to another.
struct Way {
    /// What its last packet was, but for the size.
    packet: Packet,
}

impl Between {
    /// The links of a scenario, each with its route by itself.
    pub(super) fn new(
        scenario: &Scenario,
        members: &Members,
        routes: &[Route],
        (uncarried, rows, came): (Uncarried, Arc<Rows>, Arc<Came>),
        (recorder, recorded_links): (Recorder, usize),
    ) -> Self {
        let plan = scenario.plan();
        let mut places = BTreeMap::new();
        for (number, node) in plan.nodes.iter().enumerate() {
            if let Some(place) = members.names.iter().position(|name| *name == node.name) {
                places.insert(number as u16, place);
            }
        }
        let mut ways = BTreeMap::new();
        for (edge, link) in plan.links.iter().enumerate() {
            let [Some(source), Some(destination)] = link.ends else { continue };
            let ends = [source, destination].map(|node| places.get(&node).copied());
            let [Some(from), Some(to)] = ends else { continue };
            let tuple = FiveTuple { source, destination, ports: 0 };
            // The key of random draws, as in the simulator.
            let flow = u32::MAX - edge as u32;
            let header = Header::Opaque(Opaque::default());
            let packet = Packet { flow, route: routes[edge], tuple, header, ..Packet::default() };
            ways.entry([from, to]).or_insert(Way { packet });
        }
        let (interval, end) = (scenario.sample_interval, Time::ZERO + scenario.duration);
        let (sealing, sample) = (members.sealing, 0);
        Between {
            ways,
            places,
            sealing,
            uncarried,
            rows,
            came,
            sample,
            recorder,
            recorded_links,
            interval,
            end,
        }
    }

    /// Sets the timers with which a run begins.
    pub(super) fn start(&mut self, net: &mut Network, scenario: &Scenario, flows: &[FlowFacts]) {
        self.uncarried.start(net, scenario, flows);
        net.set_timer((Time::ZERO + self.interval).min(self.end), SAMPLE);
        net.set_timer(Time::ZERO + scenario.warmup, WARMUP_END);
    }

    /// The outcome, with what the members have measured.
    ///
    /// # Errors
    /// If the links lost packets without a reason.
    pub(super) fn outcome(
        self,
        net: &mut Network,
        facts: &[FlowFacts],
        ended: &[Ended],
    ) -> Result<Outcome, Error> {
        net.check()?;
        let Between { mut recorder, recorded_links, rows, uncarried, .. } = self;
        let rows = rows.all();
        for (time, row) in &rows {
            recorder.sample_flows(*time, row.flows.iter().copied());
            recorder.sample_nodes(*time, row.nodes.iter().copied());
        }
        let counters = rows.last().map(|(_, row)| row.flows.clone()).unwrap_or_default();
        let flows = 0..facts.len();
        let of_members =
            |flow: usize| ended.iter().find_map(|member| member.rtts.get(flow)?.as_ref());
        let rtts = |flow: usize| of_members(flow).or_else(|| uncarried.rtts(flow));
        let rtts: Vec<_> = flows.clone().map(rtts).collect();
        let of = |flow: usize| {
            let of_members = ended.iter().find_map(|member| *member.receptions.get(flow)?);
            of_members.or_else(|| uncarried.reception(flow))
        };
        let measured: Vec<_> = flows.map(|flow| of(flow).unwrap_or_default()).collect();
        let links = 0..recorded_links;
        let sojourns: Vec<_> = links.map(|link| net.sojourn_histogram(link)).collect();
        let events = net.events();
        let outcome = Outcome::gather(recorder, facts, &counters, &rtts, &sojourns, events);
        Ok(outcome.measured(&measured))
    }
}

impl Tap for Between {
    fn enters(&mut self, _: Time, side: usize, bytes: &[u8]) -> Option<Packet> {
        let header: [u8; 20] = *bytes.first_chunk()?;
        let [one, two, three, last] = [16, 17, 18, 19].map(|at| header[at]);
        if header[0] >> 4 != 4 || header[9] != UDP || [one, two, three] != NETWORK {
            return None;
        }
        let to = usize::from(last).checked_sub(1)?;
        let Way { packet } = self.ways.get_mut(&[side, to])?;
        let size = (bytes.len() as u32).saturating_sub(self.sealing).max(UNDERLAY);
        packet.index = packet.index.wrapping_add(1);
        Some(Packet { size, ..*packet })
    }

    fn leaves(&mut self, now: Time, packet: &Packet, _: &mut [u8]) -> usize {
        let place = self.places.get(&packet.tuple.destination).copied().unwrap_or_default();
        self.came.note(place, now);
        place
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        let now = net.now();
        if timer < Uncarried::BEYOND {
            return self.uncarried.on_timer(net, timer);
        }
        if timer == WARMUP_END {
            net.end_warmup();
            self.uncarried.end_warmup();
            return Ok(());
        }
        self.rows.add_uncarried(self.sample, &mut self.uncarried);
        self.sample += 1;
        let links = (0..self.recorded_links).map(|link| net.report(link));
        self.recorder.sample_links(now, links);
        if now < self.end {
            net.set_timer((now + self.interval).min(self.end), SAMPLE);
        }
        net.check()
    }

    fn without_device(&mut self, flow: u32) -> Option<&mut dyn Hosts> {
        self.uncarried.has(flow).then_some(&mut self.uncarried as &mut dyn Hosts)
    }
}
