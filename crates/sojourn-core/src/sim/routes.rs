//! Source routes, flat in memory.

use std::collections::BTreeMap;

use crate::packet::{Direction, Packet};
use crate::topology::Routes;

/// For each flow and direction, the links to pass.
#[derive(Debug)]
pub struct RouteTable {
    /// Where the route of (flow, direction) starts in `links`.
    starts: Vec<u32>,
    /// Each different route once, with [`END`] behind it: few of them, so that they stay in cache.
    links: Vec<u32>,
}

const END: u32 = u32::MAX;

impl RouteTable {
    /// The table of these routes, one per flow.
    pub fn new(routes: &[Routes]) -> Self {
        let mut table = RouteTable { starts: Vec::new(), links: Vec::new() };
        let mut known = BTreeMap::new();
        for route in routes.iter().flat_map(|route| [&route.forward, &route.backward]) {
            let start = *known.entry(route).or_insert_with(|| {
                let start = table.links.len() as u32;
                table.links.extend(route.iter().chain([&END]));
                start
            });
            table.starts.push(start);
        }
        table
    }

    /// The link that `packet` has to pass next; `None` when it has arrived.
    #[inline]
    pub fn next(&self, packet: &Packet) -> Option<usize> {
        let route = 2 * packet.flow as usize + usize::from(packet.direction == Direction::Backward);
        let link = self.links[(self.starts[route] + u32::from(packet.hop)) as usize];
        (link != END).then_some(link as usize)
    }
}
