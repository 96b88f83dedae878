//! External members that a program can add to the simulator without changing it: nodes, media,
//! transports and controls, tested by the same laws as Sojourn's.

use serde_json::json;
use sojourn_base::packet::{Address, Header, Packet, Route};
use sojourn_base::units::{Span, Time};
use sojourn_catalogue::builtin;
use sojourn_net::edge::Link;
use sojourn_net::edge::link::LinkInit;
use sojourn_net::net::{Arrivals, Network};

#[path = "open/building.rs"]
mod building;
#[path = "open/kinds.rs"]
mod kinds;
#[path = "open/media.rs"]
mod media;
#[path = "open/members.rs"]
mod members;
#[path = "open/nodes.rs"]
mod nodes;

/// A link that only delays.
fn wire(delay_ms: u64) -> Link {
    let keys = json!({ "delay": format!("{delay_ms} ms") });
    let spec = serde_json::from_value(keys).unwrap();
    Link::build(&spec, LinkInit { recorded: false, ..LinkInit::default() }, builtin()).unwrap()
}

/// The packet number `index`, of 1000 bytes.
fn packet(route: Route, index: u32) -> Packet {
    Address { route, ..Address::default() }.packet(index, 1000, Header::opaque(972))
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Drives the network up to `until` a millisecond at a time, and checks its balance each time.
fn drive(net: &mut Network, until: Time) -> Vec<(Time, Packet)> {
    let mut arrivals = Arrivals::default();
    while net.now() < until {
        net.advance(net.now() + Span::from_millis(1), &mut arrivals).unwrap();
        net.check().unwrap();
    }
    arrivals.0
}
