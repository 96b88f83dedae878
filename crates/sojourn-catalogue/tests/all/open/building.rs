//! Errors of the builder of networks.

use sojourn_net::net::{Arrivals, Builder};
use sojourn_net::node::Behaviour;

use super::{ms, packet, wire};

#[test]
fn what_is_not_there_is_refused() {
    let mut net = Builder::new();
    let here = net.plain_node("here");
    let lonely = net.link("lonely", [Some(here), Some(7)], wire(1)).unwrap_err();
    assert_eq!(lonely.to_string(), "lonely: there is no node 7");
    let silent = net.channel("silent", [Some(here), None], 3).unwrap_err();
    assert_eq!(silent.to_string(), "silent: there is no medium 3");
    let route = net.route(&[0]).unwrap_err();
    assert_eq!(route.to_string(), "route: there is no edge 0");
    assert!(net.set_behaviour(1, Behaviour::Plain).is_err());
    // A refused element leaves no state behind.
    assert_eq!(net.link("first", [Some(here), None], wire(1)).unwrap(), 0);
}

#[test]
fn edges_of_a_route_join() {
    let mut net = Builder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| Some(net.plain_node(name)));
    let ab = net.link("ab", [a, b], wire(1)).unwrap();
    let bc = net.link("bc", [b, c], wire(1)).unwrap();
    let many = net.link("many", [None, a], wire(1)).unwrap();
    assert!(net.route(&[many, ab, bc]).is_ok());
    let broken = net.route(&[bc, ab]).unwrap_err();
    assert_eq!(broken.to_string(), "route: 'ab' does not begin where 'bc' ends");
    let ring = net.link("ba", [b, a], wire(1)).unwrap();
    let endless: Vec<usize> = [ab, ring].repeat(128);
    let long = net.route(&endless).unwrap_err();
    assert_eq!(long.to_string(), "route: 256 links; allowed: at most 255");
}

#[test]
fn a_packet_without_a_route_has_arrived() {
    let mut net = Builder::new().build();
    net.inject(&packet(Default::default(), 3));
    let mut arrivals = Arrivals::default();
    net.advance(ms(1), &mut arrivals).unwrap();
    assert!(arrivals.0.iter().map(|(_, packet)| packet.index).eq([3]));
}
