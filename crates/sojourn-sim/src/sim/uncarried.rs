//! Flows that no node carries, on links that they share with nodes by themselves.

use super::build::{self, Surroundings};
use super::hosts::FlowHosts;
use super::timer;
use crate::counters::reception::ReceptionFigures;
use crate::edge::Departure;
use crate::error::FieldError;
use crate::net::{Hosts, Network, Step};
use crate::packet::Packet;
use crate::record::histogram::Histogram;
use crate::record::live::Log;
use crate::record::{FlowCounters, FlowFacts};
use crate::scenario::Scenario;
use crate::units::Time;

/// The hosts of flows whose own packets pass links between active nodes.
pub struct Uncarried {
    hosts: FlowHosts,
    /// By flow: whether it is one of them.
    flows: Vec<bool>,
}

impl Uncarried {
    /// Numbers of timers from here on are none of theirs.
    pub const BEYOND: u32 = timer::BEYOND;

    /// Those of a scenario, whose applications are taken out of `surroundings`; `log` receives their
    /// records.
    ///
    /// # Errors
    /// If an end cannot be built.
    pub fn new(
        scenario: &Scenario,
        surroundings: &mut Surroundings,
        log: Option<&Log>,
    ) -> Result<Self, FieldError> {
        const HERE: usize = 0;
        const THERE: usize = 1;
        let Surroundings { addresses, applications, flows: facts, .. } = surroundings;
        let gift = scenario.gift()?;
        let plan = scenario.plan();
        let is_active = |end: &Option<u16>| {
            end.is_some_and(|node| plan.nodes[usize::from(node)].kind.is_some())
        };
        let between = |link: &u32| plan.links[*link as usize].ends.iter().all(is_active);
        let passes = |flow: usize| {
            let route = &plan.routes[flow];
            route.forward.iter().chain(&route.backward).any(between)
        };
        let is_one = |flow: usize| !gift.carried.contains(&(flow as u32)) && passes(flow);
        let flows: Vec<bool> = (0..facts.len()).map(is_one).collect();
        let homes = |one: &bool| [if *one { HERE } else { THERE }; 2];
        let homes: Vec<usize> = flows.iter().flat_map(homes).collect();
        let endpoints = build::endpoints(scenario, addresses, facts, None, log)?;
        let applications = std::mem::take(applications).into_iter().map(Some).collect();
        let hosts = build::shared_out(endpoints, applications, &homes, 2).swap_remove(HERE);
        Ok(Uncarried { hosts, flows })
    }

    /// Sets the timers with which a run begins.
    pub fn start(&mut self, net: &mut Network, scenario: &Scenario, flows: &[FlowFacts]) {
        self.hosts.start(net, flows, Time::ZERO + scenario.duration);
    }

    /// Whether a packet of this flow is for one of them.
    pub fn has(&self, flow: u32) -> bool {
        self.flows.get(flow as usize).copied().unwrap_or_default()
    }

    /// Adds the counters of a flow, brought up to `now`, if it is one of them.
    pub fn report(&mut self, now: Time, flow: usize, counters: &mut FlowCounters) {
        if self.flows[flow] {
            for socket in [2 * flow, 2 * flow + 1] {
                self.hosts.endpoints[socket].report(now, counters);
            }
        }
    }

    /// The RTTs of a flow, if it is one of them and measures any.
    pub fn rtts(&self, flow: usize) -> Option<&Histogram> {
        self.flows[flow].then(|| self.hosts.endpoints[2 * flow].rtt_histogram()).flatten()
    }

    /// What the receiver of a flow has measured, if it is one of them.
    pub fn reception(&self, flow: usize) -> Option<ReceptionFigures> {
        self.flows[flow].then(|| self.hosts.endpoints[2 * flow + 1].reception())
    }

    /// The distributions begin now.
    pub fn end_warmup(&mut self) {
        self.hosts.endpoints.iter_mut().for_each(|endpoint| endpoint.end_warmup());
    }
}

impl Hosts for Uncarried {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        self.hosts.on_packet(net, packet)
    }

    fn on_departure(&mut self, net: &mut Network, departure: Departure) -> Step {
        self.hosts.on_departure(net, departure)
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        self.hosts.on_timer(net, timer)
    }

    fn component(&self, timer: u32) -> String {
        self.hosts.component(timer)
    }
}
