//! Samples all flows, links and nodes at fixed instants, before other events of the instant.

use super::hosts::FlowHosts;
use crate::endpoint::Endpoint;
use crate::net::{Network, Regions, Step};
use crate::record::{FlowCounters, FlowFacts, LinkCounters, NodeSample, Outcome, Recorder};
use crate::units::{Span, Time};

/// Takes the samples of a run.
pub(super) struct Sampler {
    /// Start of the distributions; `None` once they have started.
    pub warmup: Option<Time>,
    /// Time between samples.
    pub interval: Span,
    /// When the next one is taken.
    pub next: Time,
    /// Number of recorded edges: the first ones of the network.
    pub recorded_links: usize,
    /// Regions of edges and sockets.
    pub homes: Homes,
    /// Static facts about each flow.
    pub flows: Vec<FlowFacts>,
    /// Samples so far.
    pub recorder: Recorder,
}

/// Region of each edge and socket.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// By edge.
    pub edges: Vec<usize>,
    /// By socket.
    pub sockets: Vec<usize>,
}

/// The regions, by number.
struct Parts<'a>(Vec<(&'a mut Network, &'a mut FlowHosts)>);

impl<'a> Parts<'a> {
    fn of(regions: &'a mut Regions<FlowHosts>) -> Self {
        Parts(regions.iter_mut().collect())
    }

    fn socket(&mut self, homes: &Homes, socket: usize) -> &mut dyn Endpoint {
        &mut *self.0[homes.sockets[socket]].1.endpoints[socket]
    }

    fn counters(&mut self, homes: &Homes, now: Time, flow: usize) -> FlowCounters {
        let mut counters = FlowCounters::default();
        for socket in [2 * flow, 2 * flow + 1] {
            self.socket(homes, socket).report(now, &mut counters);
        }
        counters
    }

    fn link(&mut self, homes: &Homes, link: usize) -> LinkCounters {
        self.0[homes.edges[link]].0.report(link)
    }

    /// Samples of the active nodes, by node number.
    fn nodes(&self) -> impl Iterator<Item = NodeSample> {
        let mut nodes: Vec<_> = self.0.iter().flat_map(|(net, _)| net.sample_nodes()).collect();
        nodes.sort_by_key(|(number, _)| *number);
        nodes.into_iter().map(|(_, sample)| sample)
    }
}

impl Sampler {
    /// The next instant at which it is due.
    pub(super) fn next(&self) -> Time {
        self.warmup.map_or(self.next, |warmup| warmup.min(self.next))
    }

    /// Acts at `now`, which all regions have reached.
    pub(super) fn act(&mut self, now: Time, regions: &mut Regions<FlowHosts>) -> Step {
        if self.warmup == Some(now) {
            self.warmup = None;
            for (net, hosts) in regions.iter_mut() {
                net.end_warmup();
                hosts.endpoints.iter_mut().for_each(|endpoint| endpoint.end_warmup());
            }
        }
        if self.next == now {
            self.next = now + self.interval;
            return self.sample(now, regions);
        }
        Ok(())
    }

    /// Records a sample, and checks that the network conserves packets.
    pub(super) fn sample(&mut self, now: Time, regions: &mut Regions<FlowHosts>) -> Step {
        let Sampler { homes, recorder, .. } = self;
        let mut parts = Parts::of(regions);
        let flows = 0..self.flows.len();
        recorder.sample_flows(now, flows.map(|flow| parts.counters(homes, now, flow)));
        recorder.sample_links(now, (0..self.recorded_links).map(|link| parts.link(homes, link)));
        recorder.sample_nodes(now, parts.nodes());
        for (net, hosts) in &mut parts.0 {
            net.check()?;
            hosts.driven(|driver, hosts| driver.sample(hosts, net, now))?;
        }
        Ok(())
    }

    /// The counters of a link, brought up to the present time.
    pub(super) fn link(&self, regions: &mut Regions<FlowHosts>, link: usize) -> LinkCounters {
        Parts::of(regions).link(&self.homes, link)
    }

    /// The counters of a flow, brought up to `now`.
    pub(super) fn flow(
        &self,
        regions: &mut Regions<FlowHosts>,
        now: Time,
        flow: usize,
    ) -> FlowCounters {
        Parts::of(regions).counters(&self.homes, now, flow)
    }

    /// The outcome of the run.
    pub(super) fn outcome(self, mut regions: Regions<FlowHosts>) -> Outcome {
        let last = self.recorder.last();
        let driven = regions.iter_mut().find_map(|(_, hosts)| hosts.ended(last));
        let homes = &self.homes;
        let mut parts = Parts::of(&mut regions);
        let flows = 0..self.flows.len();
        let counters: Vec<_> = flows.map(|flow| parts.counters(homes, last, flow)).collect();
        let events = regions.events();
        let parts: Vec<_> = regions.iter().collect();
        let sender = |flow: usize| &parts[homes.sockets[2 * flow]].1.endpoints[2 * flow];
        let rtts: Vec<_> = (0..self.flows.len()).map(|flow| sender(flow).rtt_histogram()).collect();
        let receiver = |flow: usize| &parts[homes.sockets[2 * flow + 1]].1.endpoints[2 * flow + 1];
        let measured: Vec<_> =
            (0..self.flows.len()).map(|flow| receiver(flow).reception()).collect();
        let sojourn = |link: usize| parts[homes.edges[link]].0.sojourn_histogram(link);
        let sojourns: Vec<_> = (0..self.recorded_links).map(sojourn).collect();
        let outcome =
            Outcome::gather(self.recorder, &self.flows, &counters, &rtts, &sojourns, events)
                .measured(&measured);
        match driven {
            Some([transfers, samples]) => {
                Outcome { transfers: Some(transfers), arrival_samples: Some(samples), ..outcome }
            }
            None => outcome,
        }
    }
}
