//! What of a configuration cannot be: each error names the field, and the remedy.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use sojourn_base::error::FieldError;
use sojourn_sim::scenario::Scenario;
use sojourn_sliq::secure::Public;

use super::Config;
use crate::daemon::network;

/// The addresses can be listened at, and sent to from there.
pub(super) fn addresses(config: &Config) -> Result<(), FieldError> {
    let refused = |field: &str, message: String| Err(FieldError::new(field, message));
    if let Some(metrics) = config.metrics.filter(|at| !at.ip().is_loopback()) {
        let local = SocketAddr::new([127, 0, 0, 1].into(), metrics.port());
        let message = format!("{metrics} is not of the loopback, where nobody else reads it");
        return refused("metrics", format!("{message}; give \"{local}\""));
    }
    let mut seen = BTreeMap::new();
    for (place, peer) in config.peers.iter().enumerate() {
        let Some(address) = peer.address else { continue };
        let field = format!("peers.{place}.address");
        if let Some(message) = unreachable(config.listen, address) {
            return refused(&field, format!("{address} given; {message}"));
        }
        if let Some(other) = seen.insert(address, place) {
            let message = format!("{address} is that of peers.{other}; give each its own");
            return refused(&field, message);
        }
    }
    Ok(())
}

/// Why datagrams from a socket cannot reach an address, and the remedy.
fn unreachable(from: SocketAddr, to: SocketAddr) -> Option<String> {
    let nobody = match to.ip() {
        IpAddr::V4(ip) => ip.is_unspecified() || ip.is_broadcast() || ip.is_multicast(),
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_multicast(),
    };
    if nobody || to.port() == 0 {
        return Some("nobody is there; give the address and the port at which it listens".into());
    }
    let any = if to.is_ipv4() { "0.0.0.0" } else { "[::]" };
    let remedy = format!("listen = \"{any}:{}\" can", from.port());
    if from == to {
        Some("this node listens there; give the neighbour's".into())
    } else if from.is_ipv4() != to.is_ipv4() {
        Some(format!("listen = \"{from}\", of the other IP version, cannot send there; {remedy}"))
    } else if from.ip().is_loopback() && !to.ip().is_loopback() {
        Some(format!("listen = \"{from}\", of the loopback, cannot send there; {remedy}"))
    } else {
        None
    }
}

/// Each node has a key of its own.
pub(super) fn keys(config: &Config, own: Public) -> Result<(), FieldError> {
    let mut seen = BTreeMap::from([(own, "this node".to_owned())]);
    for (place, peer) in config.peers.iter().enumerate() {
        if let Some(other) = seen.insert(peer.key, format!("peers.{place}")) {
            let message = format!("the same as of {other}; each node has a key of its own");
            return Err(FieldError::new(format!("peers.{place}.key"), message));
        }
    }
    Ok(())
}

/// The node is one of the overlay.
pub(super) fn name(config: &Config, scenario: &Scenario) -> Result<(), FieldError> {
    let members = network::members(scenario);
    if members.contains(&&config.node[..]) {
        return Ok(());
    }
    Err(FieldError::unknown_name("node", "overlay node", &config.node, &members))
}

/// The peers are the neighbours, each once.
pub(super) fn peers(config: &Config, neighbours: &[String]) -> Result<(), FieldError> {
    let names: Vec<_> = neighbours.iter().map(String::as_str).collect();
    let mut seen = BTreeMap::new();
    for (place, peer) in config.peers.iter().enumerate() {
        let field = format!("peers.{place}.node");
        if !names.contains(&&peer.node[..]) {
            return Err(FieldError::unknown_name(&field, "neighbour", &peer.node, &names));
        }
        if let Some(other) = seen.insert(&peer.node, place) {
            let message =
                format!("'{}' is peers.{other} already; leave one of them out", peer.node);
            return Err(FieldError::new(field, message));
        }
    }
    let Some(missing) = neighbours.iter().find(|name| !seen.contains_key(name)) else {
        return Ok(());
    };
    let message = format!(
        "'{missing}' is missing, to which a link of '{}' leads; add [[peers]] with node and key",
        config.node
    );
    Err(FieldError::new("peers", message))
}

/// Programs are at members of the overlay, this node among them.
pub(super) fn applications(config: &Config, scenario: &Scenario) -> Result<(), FieldError> {
    let Some(section) = &config.applications else { return Ok(()) };
    let named = section.check_names(&config.node, &network::members(scenario));
    named.map_err(|error| error.within("applications"))
}
