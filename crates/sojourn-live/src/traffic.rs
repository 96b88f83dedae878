//! Packets of programs on hosts of their own: two hosts' addresses choose the way, which is that of the
//! flow that joins them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use sojourn_base::packet::{Address, Direction, Packet};
use sojourn_base::units::Time;

use crate::external::{Connections, Data};
use crate::hosts::HostTable;
use crate::wire::destination;

/// Most pairs of addresses without a way that are told apart.
const MOST_UNROUTED: usize = 100;

/// The connections between hosts, and what had no way.
pub(crate) struct Traffic {
    table: HostTable,
    /// Addresses of the packets of each flow, there and back.
    ways: Vec<[Address; 2]>,
    pub connections: Connections,
    /// Packets that had no way, by the host that sent them and the address to which they went.
    unrouted: BTreeMap<(usize, IpAddr), u64>,
}

/// Packets that had no way through the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unrouted {
    /// The host that sent them.
    pub from: String,
    /// The host to which they went, or an address that no host has.
    pub to: String,
    pub packets: u64,
}

impl Traffic {
    /// The traffic of these hosts, over flows whose packets have these addresses.
    pub(crate) fn new(table: HostTable, ways: &[[Address; 2]]) -> Self {
        let flows = table.carried.len();
        let (connections, unrouted) = (Connections::on(flows), BTreeMap::new());
        Traffic { table, ways: ways[..flows].to_vec(), connections, unrouted }
    }

    /// Numbers of the flows that are no way of it.
    pub(crate) fn own_flows(&self) -> impl Iterator<Item = usize> {
        let numbered = self.table.carried.iter().enumerate();
        numbered.filter(|(_, carried)| !**carried).map(|(flow, _)| flow)
    }

    /// Whether a packet in the network is part of it.
    pub(crate) fn has(&self, packet: &Packet) -> bool {
        self.connections.has(packet.flow)
    }

    /// A host sends a packet from this card: returns it as it enters the network, if it has a way.
    pub(crate) fn enters(&mut self, now: Time, card: usize, bytes: &[u8]) -> Option<Packet> {
        let from = self.table.of_card(card)?;
        let to = destination(bytes)?;
        let route = self.table.at(to).and_then(|to| self.table.route(from, to));
        let Some((route, side)) = route else {
            self.turn_away(from, to);
            return None;
        };
        let flow = self.table.routes[route].flow;
        Some(self.connections.enters(now, (flow, side), &self.ways[flow][side], bytes))
    }

    /// A packet has left the network: returns the card that it goes to.
    pub(crate) fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        self.connections.leaves(now, side(packet), packet, bytes);
        let host = destination(bytes).and_then(|to| self.table.at(to));
        HostTable::card(host.unwrap_or_default())
    }

    /// The side at which a packet entered, and the flow whose way it goes.
    pub(crate) fn way(&self, packet: &Packet) -> (usize, usize) {
        (side(packet), self.connections.route(packet.flow))
    }

    /// A name for the data of a connection's side.
    pub(crate) fn name(&self, data: &Data) -> String {
        let route = self.table.routes.iter().find(|route| route.flow == data.route);
        let hosts = route.map(|route| route.hosts.map(|host| self.host(host)));
        self.connections.name(data, hosts.unwrap_or_default())
    }

    fn host(&self, host: usize) -> &str {
        &self.table.hosts[host].names[0]
    }

    /// Notes a packet without a way, unless it went to many: that is no host's.
    fn turn_away(&mut self, from: usize, to: &[u8]) {
        let address: Option<IpAddr> = match *to {
            [.., 255] if to.len() == 4 => None,
            [a, b, c, d] => Some([a, b, c, d].into()),
            _ => <[u8; 16]>::try_from(to).ok().map(IpAddr::from),
        };
        let Some(address) = address.filter(|address| !address.is_multicast()) else { return };
        let is_full = self.unrouted.len() >= MOST_UNROUTED;
        match self.unrouted.get_mut(&(from, address)) {
            Some(packets) => *packets += 1,
            None if is_full => {}
            None => {
                self.unrouted.insert((from, address), 1);
            }
        }
    }

    /// The packets that had no way, once for each pair of names: hosts have addresses of both families.
    pub(crate) fn unrouted(&self) -> Vec<Unrouted> {
        let mut all: Vec<Unrouted> = Vec::new();
        for (&(from, address), &packets) in &self.unrouted {
            let to = match address {
                IpAddr::V4(address) => self.table.at(&address.octets()),
                IpAddr::V6(address) => self.table.at(&address.octets()),
            };
            let to = to.map_or_else(|| address.to_string(), |to| self.host(to).to_owned());
            let from = self.host(from);
            match all.iter_mut().find(|other| other.from == from && other.to == to) {
                Some(other) => other.packets += packets,
                None => all.push(Unrouted { from: from.to_owned(), to, packets }),
            }
        }
        all
    }
}

/// The side at which a packet in the network entered.
fn side(packet: &Packet) -> usize {
    usize::from(packet.direction() == Direction::Backward)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use sojourn_sim::catalogue;
    use sojourn_sim::scenario::Scenario;
    use sojourn_sim::sim::Surroundings;

    use super::*;
    use crate::wire::UDP;

    /// Two flows with programs at their ends, after one that has none.
    const TEXT: &str = r#"
        duration = "1 s"
        topology = { kind = "dumbbell", bottleneck = { rate = "10 Mbit/s" } }
        flows = [
            { cca = "reno", rtt = "20 ms" },
            { cca = "reno", rtt = "20 ms" },
            { cca = "reno", rtt = "40 ms", direction = "reverse" },
        ]
        programs = [
            { host = "flow-1.sender", command = "true" },
            { host = "flow-2.sender", command = "true" },
        ]
    "#;

    pub(crate) fn scenario() -> Scenario {
        Scenario::from_toml(TEXT, &Arc::new(catalogue::core())).unwrap()
    }

    pub(crate) fn traffic(scenario: &Scenario) -> Traffic {
        let table = HostTable::new(scenario).unwrap();
        Traffic::new(table, &Surroundings::new(scenario, None).unwrap().addresses)
    }

    /// A packet of UDP between the hosts with these last bytes of addresses, from port 7 to 9.
    pub(crate) fn packet([from, to]: [u8; 2], payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 28 + payload];
        (bytes[0], bytes[9]) = (0x45, UDP);
        bytes[12..20].copy_from_slice(&[10, 80, 0, from, 10, 80, 0, to]);
        (bytes[21], bytes[23]) = (7, 9);
        bytes
    }

    #[test]
    fn the_pair_of_hosts_chooses_the_way() {
        let scenario = scenario();
        let mut traffic = traffic(&scenario);
        let mut pass = |card: usize, pair: [u8; 2]| {
            let mut bytes = packet(pair, 100);
            let packet = traffic.enters(Time::ZERO, card, &bytes)?;
            let way = traffic.way(&packet);
            Some((packet.flow, way, traffic.leaves(Time::ZERO, &packet, &mut bytes)))
        };
        assert_eq!(pass(2, [1, 2]), Some((1, (0, 1), 3)));
        assert_eq!(pass(3, [2, 1]), Some((3, (1, 1), 2)), "7>9 the other way is another one");
        assert_eq!(pass(4, [3, 4]), Some((2, (0, 2), 5)));
        for (card, pair) in [(2, [1, 4]), (2, [1, 4]), (2, [1, 77]), (2, [1, 255]), (6, [1, 2])] {
            assert_eq!(pass(card, pair), None);
        }
        let told = |from: &str, to: &str, packets| {
            let [from, to] = [from, to].map(str::to_owned);
            Unrouted { from, to, packets }
        };
        let (one, two) = ("flow-1.sender", "flow-2.receiver");
        assert_eq!(traffic.unrouted(), [told(one, two, 2), told(one, "10.80.0.77", 1)]);
        let names: Vec<_> = traffic.connections.data().iter().map(|d| traffic.name(d)).collect();
        assert_eq!(names[0], "udp flow-1.sender:7>flow-1.receiver:9");
        assert_eq!(names[1], "udp flow-1.receiver:7>flow-1.sender:9");
    }

    #[test]
    fn both_families_of_a_pair_are_one_count() {
        let mut traffic = traffic(&scenario());
        let mut later = vec![0; 60];
        (later[0], later[24], later[25], later[39]) = (0x60, 0xfd, 0x77, 4);
        for bytes in [packet([1, 4], 100), later.clone(), later] {
            assert!(traffic.enters(Time::ZERO, 2, &bytes).is_none());
        }
        let (from, to) = ("flow-1.sender".to_owned(), "flow-2.receiver".to_owned());
        assert_eq!(traffic.unrouted(), [Unrouted { from, to, packets: 3 }]);
    }

    #[test]
    fn what_goes_to_many_is_not_missed() {
        let mut traffic = traffic(&scenario());
        let mut report = vec![0; 60];
        (report[0], report[24], report[25]) = (0x60, 0xff, 2);
        assert!(traffic.enters(Time::ZERO, 2, &report).is_none() && traffic.unrouted().is_empty());
    }
}
