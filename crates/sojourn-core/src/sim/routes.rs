//! Source routes, flat in memory.

use crate::packet::{Direction, Packet};
use crate::topology::Routes;

/// For each flow and direction, the links to pass.
#[derive(Debug)]
pub struct RouteTable {
    /// Where the route of (flow, direction) starts in `links`; one more entry than routes.
    starts: Vec<u32>,
    links: Vec<u32>,
}

impl RouteTable {
    /// The table of these routes, one per flow.
    pub fn new(routes: &[Routes]) -> Self {
        let mut table = RouteTable { starts: vec![0], links: Vec::new() };
        for route in routes.iter().flat_map(|route| [&route.forward, &route.backward]) {
            table.links.extend(route);
            table.starts.push(table.links.len() as u32);
        }
        table
    }

    /// The link that `packet` has to pass next; `None` when it has arrived.
    #[inline]
    pub fn next(&self, packet: &Packet) -> Option<usize> {
        let route = 2 * packet.flow as usize + usize::from(packet.direction == Direction::Backward);
        let position = self.starts[route] + u32::from(packet.hop);
        (position < self.starts[route + 1]).then(|| self.links[position as usize] as usize)
    }
}
