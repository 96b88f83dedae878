//! The network of a plan: its nodes and edges, and the addresses of each flow's packets.

use super::addresses::addresses;
use super::links::BuiltLink;
use super::media::media;
use crate::edge::link::RecordedLink;
use crate::error::FieldError;
use crate::given::Given;
use crate::net::{self, Network};
use crate::node::{Behaviour, NodeInit};
use crate::packet::Address;
use crate::record::live::Log;
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::scenario::Scenario;
use crate::spec::Node;
use crate::topology::PlannedNode;

/// The network of a plan, and the addresses of each flow's packets, there and back.
pub(super) fn network(
    scenario: &Scenario,
    mut links: Vec<BuiltLink>,
    given: &Given,
    log: Option<&Log>,
) -> Result<(Network, Vec<[Address; 2]>), FieldError> {
    let plan = scenario.plan();
    let mut net = net::Builder::new();
    if let Some(log) = log {
        net.record(log.clone());
    }
    for (index, node) in plan.nodes.iter().enumerate() {
        let within = |error: FieldError| error.within(&format!("topology.nodes.{index}"));
        let random = StreamKey::root(scenario.seed).child("node").child(&node.name);
        let init = NodeInit { random, number: index as u16, given: given.clone() };
        net.node(&node.name, behaviour(node, &init, scenario.catalogue()).map_err(within)?);
        net.name_counters(index, counters(node, scenario.catalogue()))?;
    }
    // A route may leave from either of two merged nodes.
    let place = |node: u16| Some(usize::from(node)).filter(|node| !plan.nodes[*node].merged);
    let media = media(scenario, &mut links, &mut net, log)?;
    for (planned, built) in plan.links.iter().zip(links) {
        let ends = planned.ends.map(|end| end.and_then(place));
        let shared = planned.on.as_ref().and_then(|(id, _)| media.get(id));
        let added = match (shared, built.link, built.tap) {
            (Some(medium), ..) => net.channel(&planned.id, ends, *medium),
            (None, Some(link), Some(tap)) => {
                let medium = net.medium(Box::new(RecordedLink::new(link, tap)));
                net.channel(&planned.id, ends, medium)
            }
            (None, Some(link), None) => net.link(&planned.id, ends, link),
            (None, None, _) => continue,
        };
        added.map_err(|e| e.within("topology"))?;
    }
    let addresses = addresses(scenario, &mut net)?;
    Ok((net.build(), addresses))
}

/// Behaviour of a node.
fn behaviour(
    node: &PlannedNode,
    init: &NodeInit,
    catalogue: &Catalogue,
) -> Result<Behaviour, FieldError> {
    let Some(kind) = &node.kind else { return Ok(Behaviour::Plain) };
    (catalogue.find::<Node>(&kind.kind)?.make)(&kind.params, init, catalogue)
}

/// Names of the counters of a node's kind.
fn counters(node: &PlannedNode, catalogue: &Catalogue) -> &'static [&'static str] {
    let entry = node.kind.as_ref().and_then(|kind| catalogue.find::<Node>(&kind.kind).ok());
    entry.map(|entry| entry.facts.counters).unwrap_or_default()
}
