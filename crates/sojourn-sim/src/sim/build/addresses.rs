//! Addresses of the packets of each flow, and of each kind of connections that come and go.

use crate::error::FieldError;
use crate::net;
use crate::packet::{Address, Direction, FiveTuple};
use crate::scenario::Scenario;
use crate::topology::Routes;

/// There and back, over routes that are added to the network.
pub(super) fn addresses(
    scenario: &Scenario,
    net: &mut net::Builder,
) -> Result<Vec<[Address; 2]>, FieldError> {
    let plan = scenario.plan();
    let mut addresses = Vec::with_capacity(plan.routes.len());
    for (path, routes) in scenario.paths().iter().zip(&plan.routes) {
        let (flow, dscp) = (path.id, path.spec.dscp);
        let Routes { source, destination, forward, backward } = routes;
        let mut route =
            |links: &[u32]| net.route(&links.iter().map(|link| *link as usize).collect::<Vec<_>>());
        let (there, back) = (route(forward)?, route(backward)?);
        let tuple = FiveTuple { source: *source, destination: *destination, ports: flow };
        let forward = Address {
            flow,
            direction: Direction::Forward,
            dscp,
            route: there,
            socket: 2 * flow + 1,
            tuple,
        };
        let backward = Address {
            direction: Direction::Backward,
            route: back,
            socket: 2 * flow,
            tuple: tuple.reversed(),
            ..forward
        };
        addresses.push([forward, backward]);
    }
    Ok(addresses)
}
