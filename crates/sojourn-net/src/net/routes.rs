//! Table of source routes, flat in memory.

use std::collections::BTreeMap;

use crate::packet::{Packet, Route};

const END: u32 = u32::MAX;

/// The routes of a network, without duplicates, so that they stay in cache.
#[derive(Clone, Debug)]
pub(super) struct RouteTable {
    /// Edges of all routes, each terminated by [`END`].
    edges: Vec<u32>,
    known: BTreeMap<Vec<usize>, Route>,
}

impl Default for RouteTable {
    /// The default [`Route`] has no edges.
    fn default() -> Self {
        RouteTable { edges: vec![END], known: BTreeMap::from([(Vec::new(), Route::default())]) }
    }
}

impl RouteTable {
    /// The route over these edges.
    pub(super) fn add(&mut self, edges: &[usize]) -> Route {
        if let Some(route) = self.known.get(edges) {
            return *route;
        }
        let route = Route::at(self.edges.len() as u32);
        self.edges.extend(edges.iter().map(|edge| *edge as u32).chain([END]));
        self.known.insert(edges.to_vec(), route);
        route
    }

    /// The edges of a route.
    pub(super) fn edges(&self, route: Route) -> &[u32] {
        let from = &self.edges[route.start() as usize..];
        from.split(|edge| *edge == END).next().unwrap_or_default()
    }

    /// The next edge of `packet`; `None` when it has arrived.
    #[inline]
    pub(super) fn next(&self, packet: &Packet) -> Option<usize> {
        let edge = self.edges[(packet.route.start() + u32::from(packet.hop)) as usize];
        (edge != END).then_some(edge as usize)
    }
}
