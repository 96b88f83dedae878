//! A part of a scenario: one active node with the hosts at it, for a program of its own.
//!
//! The part is simulated as it is within the whole scenario; what its node sends to the nodes at the
//! other ends of its links is taken out, and what comes from them handed in. Its driver repeats:
//!
//! ```text
//! approach(now)       all that happens before
//! arrive(neighbour)   each packet that has come
//! advance(now)        what happens now
//! take(neighbour)     each packet to send, until there is none
//! wait until next_wakeup, or until a packet comes
//! ```

mod refused;

use super::build;
use super::hosts::FlowHosts;
use crate::counters::reception::ReceptionFigures;
use crate::error::{Ended, Fault, FieldError, unless_ended};
use crate::given::Given;
use crate::net::{Links, Network, Split, Step};
use crate::observe::Observer;
use crate::packet::Packet;
use crate::record::histogram::Histogram;
use crate::record::{FlowCounters, NodeSample};
use crate::scenario::Scenario;
use crate::topology::Plan;
use crate::units::Time;
use refused::{crossing, refuse_crossing, refuse_what_is_shared};

/// The region of the node.
const HERE: usize = 0;
/// That of all else.
const THERE: usize = 1;

/// An active node at the other end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its number in the plan.
    pub node: u16,
    /// Its name.
    pub id: String,
    /// Index of the link to it.
    pub out: usize,
    /// Index of the link from it.
    pub back: usize,
}

/// One active node of a scenario, with the hosts at it, and the time it has reached.
pub struct Part {
    net: Network,
    hosts: FlowHosts,
    node: usize,
    neighbours: Vec<Neighbour>,
    /// By socket: its region.
    sockets: Vec<usize>,
    given: Given,
}

impl Part {
    /// The node called `node`, at time zero. `given` replaces values that the scenario gives its
    /// nodes, such as state that the nodes of one program share.
    ///
    /// # Errors
    /// Names `node` if no active node has this name, or what joins it to another active node is more
    /// than links; a flow that passes its links, which are not shared, but is not carried by the nodes; or
    /// what nodes by
    /// themselves cannot have: programs, arrivals, and metrics that hosts keep.
    pub fn new(
        scenario: &Scenario,
        node: &str,
        links: Links,
        given: &Given,
    ) -> Result<Self, FieldError> {
        refuse_what_is_shared(scenario)?;
        unless_ended(|| Part::build(scenario, node, links, given)).map_err(Ended::before_the_run)?
    }

    fn build(
        scenario: &Scenario,
        node: &str,
        links: Links,
        given: &Given,
    ) -> Result<Self, FieldError> {
        let mut gift = scenario.gift()?;
        gift.nodes.add(given);
        let build::Ground { net, addresses, applications, flows } =
            build::ground(scenario, &gift, None)?;
        let node = active(&net, scenario.plan(), node)?;
        let split = around(&net, node, addresses.iter().map(|[one, two]| [one.route, two.route]))?;
        let carried = |flow: u32| gift.carried.contains(&flow);
        let endpoints = build::endpoints(scenario, &addresses, &flows, None, None)?;
        let mut sockets = build::sockets(&net, &addresses, &split);
        if links == Links::Shared {
            for (flow, _) in crossing(scenario, &split, carried) {
                sockets[2 * flow.id as usize..][..2].fill(THERE);
            }
        } else {
            refuse_crossing(scenario, &split, carried)?;
        }
        let applications = applications.into_iter().map(Some).collect();
        let mut hosts = build::shared_out(endpoints, applications, &sockets, split.count);
        let mut hosts = hosts.swap_remove(HERE);
        let mut net = net.part(&split, HERE, links);
        hosts.start(&mut net, &flows, Time::ZERO + scenario.duration);
        let neighbours = neighbours(scenario.plan(), &split)?;
        Ok(Part { net, hosts, node, neighbours, sockets, given: gift.nodes })
    }

    /// The active nodes at the other ends of the node's links, in the order of the links.
    pub fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    /// What the node was given.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The time that has been reached.
    pub fn now(&self) -> Time {
        self.net.now()
    }

    /// Simulates all that happens before `at`, which is the time then: packets that arrive at that
    /// instant come before what else happens at it.
    ///
    /// # Errors
    /// If an invariant of the simulator is broken, or a component ends the run. The part cannot be
    /// continued then.
    pub fn approach(&mut self, at: Time) -> Result<(), Fault> {
        self.drive(|net, hosts| net.approach(at, hosts))
    }

    /// Simulates up to and including `until`.
    ///
    /// # Errors
    /// As [`Part::approach`].
    pub fn advance(&mut self, until: Time) -> Result<(), Fault> {
        self.drive(|net, hosts| net.advance(until, hosts))
    }

    fn drive(
        &mut self,
        run: impl FnOnce(&mut Network, &mut FlowHosts) -> Step,
    ) -> Result<(), Fault> {
        let Part { net, hosts, .. } = self;
        match unless_ended(|| run(net, hosts)) {
            Ok(step) => step.map_err(|fault| *fault),
            Err(ended) => Err(ended.at(self.net.now())),
        }
    }

    /// When it has to be advanced next, if nothing arrives: before, nothing happens, and no more can
    /// be taken.
    pub fn next_wakeup(&mut self) -> Time {
        let leaving = self.neighbours.iter().filter_map(|to| self.net.leaves_at(to.out)).min();
        leaving.into_iter().chain(self.net.next_wakeup()).min().unwrap_or(Time::NEVER)
    }

    /// The next packet for a neighbour, by its place among the neighbours, that has reached the far
    /// end of the link to it; over a link outside, that has been sent.
    pub fn take(&mut self, neighbour: usize) -> Option<Packet> {
        self.net.take(self.neighbours[neighbour].out)
    }

    /// A packet comes from a neighbour at the time reached.
    pub fn arrive(&mut self, neighbour: usize, packet: Packet) {
        self.net.arrive(self.neighbours[neighbour].back, packet);
    }

    /// The node has been told something by other means than packets, which it heeds when the part is
    /// advanced next, even if only to the time reached.
    pub fn wake(&mut self) {
        self.net.wake_node(self.node);
    }

    /// Adds the counters of those ends of a flow that are here, brought up to the present time;
    /// returns whether the sender and whether the receiver is here.
    pub fn report(&mut self, flow: usize, counters: &mut FlowCounters) -> [bool; 2] {
        [2 * flow, 2 * flow + 1].map(|socket| {
            let here = self.sockets[socket] == HERE;
            if here {
                self.hosts.endpoints[socket].report(self.net.now(), counters);
            }
            here
        })
    }

    /// The RTTs of a flow whose sender is here, if it measures any.
    pub fn rtts(&self, flow: usize) -> Option<&Histogram> {
        let here = self.sockets[2 * flow] == HERE;
        here.then(|| self.hosts.endpoints[2 * flow].rtt_histogram()).flatten()
    }

    /// What the receiver of a flow has measured, if it is here.
    pub fn reception(&self, flow: usize) -> Option<ReceptionFigures> {
        let here = self.sockets[2 * flow + 1] == HERE;
        here.then(|| self.hosts.endpoints[2 * flow + 1].reception())
    }

    /// The distributions begin now.
    pub fn end_warmup(&mut self) {
        self.net.end_warmup();
        self.hosts.endpoints.iter_mut().for_each(|endpoint| endpoint.end_warmup());
    }

    /// The node's backlog and counters.
    pub fn sample(&self) -> NodeSample {
        let mut samples = self.net.sample_nodes().filter(|(node, _)| *node == self.node);
        samples.next().map(|(_, sample)| sample).unwrap_or_default()
    }

    /// Names and values of the node's state.
    pub fn observe(&self, out: &mut Observer<'_>) {
        self.net.observe(self.node, out);
    }

    /// Checks that the links and the node conserve packets.
    ///
    /// # Errors
    /// Names what does not.
    pub fn check(&mut self) -> Result<(), Fault> {
        self.net.check().map_err(|fault| *fault)
    }
}

/// The number of the active node of this name.
fn active(net: &Network, plan: &Plan, name: &str) -> Result<usize, FieldError> {
    let active: Vec<_> = (0..plan.nodes.len()).filter(|node| net.is_active(*node)).collect();
    let names: Vec<_> = active.iter().map(|node| plan.nodes[*node].name.as_str()).collect();
    let found = names.iter().position(|known| *known == name);
    found
        .map(|place| active[place])
        .ok_or_else(|| FieldError::unknown_name("node", "active node", name, &names))
}

/// The split between a node and the rest, where no other active node is with it.
fn around(
    net: &Network,
    node: usize,
    flows: impl Iterator<Item = [crate::packet::Route; 2]>,
) -> Result<Split, FieldError> {
    let Some(split) = net.around(node, flows) else {
        let message = "does not say between which nodes each link is; use a graph";
        return Err(FieldError::new("topology", message));
    };
    let near = |other: &usize| split.of_node[*other] == HERE && net.is_active(*other);
    match (0..split.of_node.len()).find(|other| *other != node && near(other)) {
        None => Ok(split),
        Some(other) => {
            let [node, other] = [node, other].map(|node| net.node_name(node));
            let message = format!(
                "'{node}' given, which a medium or other nodes join to '{other}'; allowed: a node \
                 with links of their own to its neighbours"
            );
            Err(FieldError::new("node", message))
        }
    }
}

fn neighbours(plan: &Plan, split: &Split) -> Result<Vec<Neighbour>, FieldError> {
    let over = |from, to| {
        let crossings = split.crossings.iter();
        crossings.filter(move |over| (over.from, over.to) == (from, to)).map(|over| over.edge)
    };
    let mut neighbours: Vec<Neighbour> = Vec::new();
    for out in over(HERE, THERE) {
        let Some(node) = plan.links[out].ends[1] else { continue };
        if neighbours.iter().any(|known| known.node == node) {
            continue;
        }
        let id = plan.nodes[usize::from(node)].name.clone();
        let Some(back) = over(THERE, HERE).find(|back| plan.links[*back].ends[0] == Some(node))
        else {
            let message = format!("no link leads back from '{id}'; set duplex = true");
            return Err(FieldError::new(format!("topology.{}", plan.links[out].id), message));
        };
        neighbours.push(Neighbour { node, id, out, back });
    }
    Ok(neighbours)
}
