//! The plan of a network: the result of every topology.

use serde_json::{Value, json};

use crate::edge::link::LinkSpec;
use crate::edge::medium_spec::{LinkMedium, MediumSpec};
use crate::error::FieldError;
use crate::spec::{Node, Spec};
use crate::units::Span;

/// Packets count the links they have passed in a byte.
const LONGEST_ROUTE: usize = 255;
/// Packets name hosts by two bytes.
const MOST_NODES: usize = 65_535;

/// A node of the plan.
#[derive(Clone, Debug, Default)]
pub struct PlannedNode {
    /// Its name.
    pub name: String,
    /// Its kind; a plain router or host by default.
    pub kind: Option<Spec<Node>>,
    /// Whether it is merged with another node, because a link between them has no effect and is not
    /// built.
    pub merged: bool,
}

/// A link of the plan, in one direction.
#[derive(Clone, Debug)]
pub struct PlannedLink {
    /// Its name in results.
    pub id: String,
    /// Its keys.
    pub spec: LinkSpec,
    /// Whether its counters belong in the results (those of access links do not).
    pub recorded: bool,
    /// Numbers of the nodes it leaves and reaches; `None` where it stands for many, as for an
    /// access link that several hosts share.
    pub ends: [Option<u16>; 2],
    /// On a shared medium: its name, and the stations that send and receive.
    pub on: Option<(String, [String; 2])>,
}

/// Routes of one flow in both directions.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// Node number of the sending host.
    pub source: u16,
    /// Node number of the receiving host.
    pub destination: u16,
    /// Links from sender to receiver, as indices into the network's links.
    pub forward: Vec<u32>,
    /// Links from receiver to sender.
    pub backward: Vec<u32>,
}

/// Nodes, links and routes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Hosts and routers; a node's number is its index.
    pub nodes: Vec<PlannedNode>,
    /// Links; recorded ones first.
    pub links: Vec<PlannedLink>,
    /// Media that links have of their own, by the names of these links.
    pub media: Vec<MediumSpec>,
    /// One entry per flow, in the order of flow numbers.
    pub routes: Vec<Routes>,
}

impl Plan {
    /// The number of the node called `name`, which is added if it does not exist.
    ///
    /// # Errors
    /// If there are more nodes than packets can name.
    pub fn node(&mut self, name: &str) -> Result<u16, FieldError> {
        let found = self.nodes.iter().position(|node| node.name == name);
        let number = found.unwrap_or_else(|| {
            self.nodes.push(PlannedNode { name: name.to_owned(), ..PlannedNode::default() });
            self.nodes.len() - 1
        });
        if number >= MOST_NODES {
            return Err(FieldError::new("topology", format!("more than {MOST_NODES} nodes")));
        }
        Ok(number as u16)
    }

    /// Whether the node is active.
    pub fn decides(&self, node: Option<u16>) -> bool {
        node.is_some_and(|node| self.nodes[usize::from(node)].kind.is_some())
    }

    /// Whether a link duplicates packets, or an active node may copy them.
    pub fn may_copy(&self) -> bool {
        self.links.iter().any(|link| link.spec.duplicate.fraction() > 0.0)
            || self.nodes.iter().any(|node| node.kind.is_some())
    }

    /// Adds a link; returns its index as a route of at most one link. A link without effect on
    /// packets is not built, unless an active node has to observe the packets that pass it.
    pub fn link(
        &mut self,
        id: &str,
        ends: [Option<u16>; 2],
        spec: LinkSpec,
        recorded: bool,
    ) -> Option<u32> {
        if spec.is_transparent() && !ends.iter().any(|end| self.decides(*end)) {
            for node in ends.into_iter().flatten() {
                self.nodes[usize::from(node)].merged = true;
            }
            return None;
        }
        self.links.push(PlannedLink { id: id.to_owned(), spec, recorded, ends, on: None });
        Some(self.links.len() as u32 - 1)
    }

    /// Makes a link a channel of the medium that it names.
    pub fn attach(&mut self, link: Option<u32>, stations: [&str; 2]) {
        let Some(link) = link.map(|link| &mut self.links[link as usize]) else { return };
        if let Some(LinkMedium::Named(id)) = &link.spec.medium {
            link.on = Some((id.clone(), stations.map(str::to_owned)));
        }
    }

    /// Puts both directions of a link on its medium: one of its own gets the link's name.
    ///
    /// # Errors
    /// If the other direction has a rate of its own. The field is relative to that direction.
    pub fn share_medium(
        &mut self,
        id: &str,
        there: &mut LinkSpec,
        back: Option<&mut LinkSpec>,
    ) -> Result<(), FieldError> {
        if let Some(LinkMedium::Own(kind)) = &there.medium {
            self.media.push(MediumSpec { id: id.to_owned(), kind: kind.clone() });
            there.medium = Some(LinkMedium::Named(id.to_owned()));
        }
        let (Some(medium), Some(back)) = (&there.medium, back) else { return Ok(()) };
        if back.nominal_rate().is_some() {
            let message = "given, but both directions are on the same medium; leave it out";
            return Err(FieldError::new("rate", message));
        }
        if matches!(back.medium, None | Some(LinkMedium::Own(_))) {
            back.medium = Some(medium.clone());
        }
        Ok(())
    }

    /// Adds the routes of the next flow.
    ///
    /// # Errors
    /// If a route is longer than packets can count. The field is relative to the flow.
    pub fn route(&mut self, routes: Routes) -> Result<(), FieldError> {
        let longest = routes.forward.len().max(routes.backward.len());
        if longest > LONGEST_ROUTE {
            let message = format!("{longest} links; allowed: at most {LONGEST_ROUTE}");
            return Err(FieldError::new("route", message));
        }
        self.routes.push(routes);
        Ok(())
    }

    /// The parts of the plan to which results refer: `links`, the recorded ones with their `id`,
    /// `rate`, `overhead` and `ends` (names of nodes, null for many hosts), and `paths`, for each
    /// flow the recorded links that its data passes, by index.
    pub fn to_json(&self) -> Value {
        let recorded = || self.links.iter().filter(|link| link.recorded);
        let count = recorded().count() as u32;
        let name = |end: Option<u16>| end.map(|node| &self.nodes[usize::from(node)].name);
        let links = recorded().map(|link| {
            let ends = link.ends.map(name);
            json!({ "id": link.id, "rate": link.spec.rate, "overhead": link.spec.overhead, "ends": ends })
        });
        let path = |route: &Routes| -> Vec<u32> {
            route.forward.iter().copied().filter(|link| *link < count).collect()
        };
        json!({
            "links": links.collect::<Vec<_>>(),
            "paths": self.routes.iter().map(path).collect::<Vec<_>>(),
        })
    }

    /// Round-trip propagation delay of flow number `flow`.
    pub fn base_rtt(&self, flow: usize) -> Span {
        self.delay(&self.routes[flow])
    }

    /// The propagation delay of a path there and back.
    pub fn delay(&self, routes: &Routes) -> Span {
        let links = routes.forward.iter().chain(&routes.backward);
        links.fold(Span::ZERO, |sum, link| sum + self.links[*link as usize].spec.delay)
    }

    /// For each link, the largest base RTT of the flows that pass it in either direction.
    pub fn largest_base_rtts(&self) -> Vec<Span> {
        let mut largest = vec![Span::ZERO; self.links.len()];
        for (flow, routes) in self.routes.iter().enumerate() {
            let base_rtt = self.base_rtt(flow);
            for link in routes.forward.iter().chain(&routes.backward) {
                let known = &mut largest[*link as usize];
                *known = base_rtt.max(*known);
            }
        }
        largest
    }
}
