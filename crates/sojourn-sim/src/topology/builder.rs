//! Construction of a network with shortest-path or given routes.

use super::access::Access;
use super::routing::{Edge, Router};
use super::{Plan, Routes};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::spec::{Flow, Node, Spec};
use crate::units::Rate;

/// A network under construction: links first, then flows.
#[derive(Debug)]
pub(super) struct Builder {
    plan: Plan,
    router: Router,
    /// Names of the router's edges.
    ids: Vec<String>,
    access: Access,
}

impl Builder {
    /// An empty network; flows have access links of this rate.
    pub(super) fn new(access_rate: Option<Rate>) -> Self {
        Builder {
            plan: Plan::default(),
            router: Router::default(),
            ids: Vec::new(),
            access: Access::new(access_rate),
        }
    }

    /// The network built.
    pub(super) fn finish(self) -> Plan {
        self.plan
    }

    /// The number of the node of this name.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub(super) fn node(&mut self, name: &str) -> Result<u16, FieldError> {
        self.plan.node(name)
    }

    /// Sets the kind of the node of this name; before links are added.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub(super) fn set_kind(&mut self, name: &str, kind: &Spec<Node>) -> Result<(), FieldError> {
        let node = self.node(name)?;
        self.plan.nodes[usize::from(node)].kind = Some(kind.clone());
        Ok(())
    }

    /// Adds a link and, if given, `ID_reverse` for the other direction.
    ///
    /// # Errors
    /// If there are too many nodes, or the other direction is not on the medium of the first.
    pub(super) fn link(
        &mut self,
        id: &str,
        [from, to]: [&str; 2],
        mut there: LinkSpec,
        mut back: Option<LinkSpec>,
    ) -> Result<(), FieldError> {
        self.plan.share_medium(id, &mut there, back.as_mut())?;
        let (from, to) = (self.node(from)?, self.node(to)?);
        let there = self.edge(id.to_owned(), from, to, there);
        if let Some(back) = back {
            let back = self.edge(format!("{id}_reverse"), to, from, back);
            self.router.pair(there, back);
        }
        Ok(())
    }

    fn edge(&mut self, id: String, from: u16, to: u16, spec: LinkSpec) -> usize {
        let delay = spec.delay;
        let link = self.plan.link(&id, [Some(from), Some(to)], spec, true);
        let name = |node: u16| self.plan.nodes[usize::from(node)].name.clone();
        let (here, there) = (name(from), name(to));
        self.plan.attach(link, [&here, &there]);
        self.ids.push(id);
        self.router.add(Edge { from, to, delay, link, twin: None })
    }

    /// Adds a flow between two nodes.
    ///
    /// # Errors
    /// If there is no path, or its `route` does not lead there. The field is relative to the flow.
    pub(super) fn flow(&mut self, flow: &Flow<'_>, from: &str, to: &str) -> Result<(), FieldError> {
        if from == to {
            return Err(FieldError::new(
                "to",
                format!("'{to}' is where the flow comes from; give another node"),
            ));
        }
        let (source, destination) = (self.node(from)?, self.node(to)?);
        let there = match &flow.spec.route {
            Some(route) => self.explicit(route, source, destination)?,
            None => self.shortest(source, destination)?,
        };
        let back = match self.twins(&there) {
            Some(back) => back,
            None => self.shortest(destination, source)?,
        };
        let (out, home) = self.access.links(&mut self.plan, flow, Some(source));
        let answers = self.access.at_receiver(&mut self.plan, destination);
        let links = |path: &[usize]| -> Vec<u32> {
            path.iter().filter_map(|edge| self.router.edge(*edge).link).collect()
        };
        let forward = out.into_iter().chain(links(&there)).collect();
        let backward = answers.into_iter().chain(links(&back)).chain(home).collect();
        self.plan.route(Routes { source, destination, forward, backward })
    }

    fn shortest(&mut self, from: u16, to: u16) -> Result<Vec<usize>, FieldError> {
        self.router.shortest(from, to).ok_or_else(|| {
            let name = |node: u16| self.plan.nodes[usize::from(node)].name.as_str();
            FieldError::new("to", format!("no links lead from '{}' to '{}'", name(from), name(to)))
        })
    }

    /// The same links in the other direction, if all of them have one.
    fn twins(&self, path: &[usize]) -> Option<Vec<usize>> {
        path.iter().rev().map(|edge| self.router.edge(*edge).twin).collect()
    }

    fn explicit(&self, route: &[String], from: u16, to: u16) -> Result<Vec<usize>, FieldError> {
        let name = |node: u16| &self.plan.nodes[usize::from(node)].name;
        let wrong = |message: String| FieldError::new("route", message);
        let mut at = from;
        let mut path = Vec::with_capacity(route.len());
        for id in route {
            let index = self.ids.iter().position(|known| known == id).ok_or_else(|| {
                let names: Vec<&str> = self.ids.iter().map(String::as_str).collect();
                FieldError::unknown_name("route", "link", id, &names)
            })?;
            let edge = self.router.edge(index);
            if edge.from != at {
                let (leaves, at) = (name(edge.from), name(at));
                return Err(wrong(format!(
                    "'{id}' leaves {leaves}, but the route has come to {at}"
                )));
            }
            at = edge.to;
            path.push(index);
        }
        if at != to {
            return Err(wrong(format!("ends at {}, not at {}", name(at), name(to))));
        }
        Ok(path)
    }
}
