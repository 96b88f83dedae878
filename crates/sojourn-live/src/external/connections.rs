//! All connections of external programs so far, and their samples.

use std::collections::HashMap;

use sojourn_base::packet::{Address, FiveTuple, Header, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::record::histogram::Histogram;
use sojourn_net::record::{FlowCounters, FlowFacts};

use super::connection::{Connection, Key, Opening, opening};
use crate::observed::Observed;
use crate::wire::{class, parse, place, set_class};

/// Bytes of the shortest header of IP.
const SHORTEST: usize = 20;

/// The connections of programs, by number.
#[derive(Default)]
pub(crate) struct Connections {
    known: HashMap<Key, usize>,
    connections: Vec<Connection>,
    /// Places of connections whose packets have these numbers, from the first one on.
    flows: Vec<Option<usize>>,
}

/// The data of a side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    connection: usize,
    /// The side that sends.
    pub side: usize,
    /// The route.
    pub route: usize,
    /// Number of the flow that its packets are of.
    pub flow: u32,
}

impl Connections {
    /// No connections yet, on so many routes. The packets of the first connection on a route have the
    /// route's number, those of the others the numbers that follow.
    pub(crate) fn on(routes: usize) -> Self {
        Connections { flows: vec![None; routes], ..Connections::default() }
    }

    /// A packet of these bytes enters a route at this side, on this way: returns it as it enters.
    pub(crate) fn enters(
        &mut self,
        now: Time,
        (route, side): (usize, usize),
        way: &Address,
        bytes: &[u8],
    ) -> Packet {
        let headers = parse(bytes).ok_or_else(|| protocol(bytes));
        let key = Key::of(route, side, &headers);
        let number = self.number(now, key, (side, headers.as_ref().ok().and_then(opening)));
        let connection = &mut self.connections[number];
        connection.last_seen = now;
        let header = match headers {
            Ok(headers) => {
                connection.seen[side].enters(now, 0, &headers);
                connection.seen[1 - side].enters(now, 1, &headers)
            }
            Err(_) => Header::opaque(bytes.len().saturating_sub(SHORTEST) as u16),
        };
        let packet = way.packet(connection.entered[side], bytes.len() as u32, header);
        connection.entered[side] += 1;
        let (dscp, ecn) = class(bytes).unwrap_or((way.dscp, packet.ecn));
        let tuple = FiveTuple { ports: key.ports(), ..way.tuple };
        Packet { flow: connection.flow, ecn, way: packet.way.with_dscp(dscp), tuple, ..packet }
    }

    /// A packet from this side leaves the network, whose marks are written into its bytes.
    pub(crate) fn leaves(&mut self, now: Time, from: usize, packet: &Packet, bytes: &mut [u8]) {
        set_class(bytes, packet.dscp(), packet.ecn);
        let connection = self.place(packet.flow).map(|number| &mut self.connections[number]);
        if let Some((connection, headers)) = connection.zip(parse(bytes)) {
            connection.seen[from].received(now, &headers);
            connection.seen[1 - from].acknowledged(now, &headers);
        }
    }

    /// The place of a packet's connection, which it may open.
    fn number(&mut self, now: Time, key: Key, packet: Opening) -> usize {
        if let Some(number) = self.known.get(&key)
            && !self.connections[*number].is_over(packet)
        {
            return *number;
        }
        let number = self.connections.len();
        let first = self.flows.get(key.route).is_some_and(Option::is_none);
        let flow = if first && key.is_observed() { key.route } else { self.flows.len() };
        match self.flows.get_mut(flow) {
            Some(place) => *place = Some(number),
            None => self.flows.push(Some(number)),
        }
        self.connections.push(Connection::new(key, flow as u32, packet, now));
        self.known.insert(key, number);
        number
    }

    /// The place of the connection whose packets are of this flow number.
    fn place(&self, flow: u32) -> Option<usize> {
        self.flows.get(flow as usize).copied().flatten()
    }

    /// Whether packets of a flow number are those of a connection.
    pub(crate) fn has(&self, flow: u32) -> bool {
        self.place(flow).is_some()
    }

    /// The route that the packets of a flow number go.
    pub(crate) fn route(&self, flow: u32) -> usize {
        self.place(flow).map_or(0, |number| self.connections[number].key.route)
    }

    /// Advances integrals by `time`.
    pub(crate) fn integrate(&mut self, time: Span) {
        self.seen().for_each(|seen| seen.integrate(time));
    }

    /// The warm-up is over.
    pub(crate) fn end_warmup(&mut self) {
        self.seen().for_each(Observed::end_warmup);
    }

    /// Observed data of both sides of all connections.
    fn seen(&mut self) -> impl Iterator<Item = &mut Observed> {
        self.connections.iter_mut().flat_map(|connection| &mut connection.seen)
    }

    /// The counters of both sides of all connections so far.
    pub(crate) fn sample(&self) -> Vec<[FlowCounters; 2]> {
        self.connections.iter().map(Connection::counters).collect()
    }

    /// The flows: what the sides of connections have sent.
    pub(crate) fn data(&self) -> Vec<Data> {
        let numbered = self.connections.iter().enumerate();
        let of = |(number, connection): (usize, &Connection)| -> Vec<Data> {
            let (route, flow) = (connection.key.route, connection.flow);
            let data = |side| Data { connection: number, side, route, flow };
            connection.senders().map(data).collect()
        };
        numbered.flat_map(of).collect()
    }

    /// The counters of a flow in a sample.
    pub(crate) fn counters(&self, sample: &[[FlowCounters; 2]], data: &Data) -> FlowCounters {
        let unborn = || self.connections[data.connection].key.blank();
        sample.get(data.connection).map_or_else(unborn, |sides| sides[data.side])
    }

    /// Facts about a flow, of which its route has these.
    pub(crate) fn facts(&self, data: &Data, of_route: FlowFacts) -> FlowFacts {
        let Connection { first_seen, last_seen, .. } = self.connections[data.connection];
        FlowFacts { start: first_seen, stop: last_seen, ..of_route }
    }

    /// RTTs of a flow.
    pub(crate) fn rtts(&self, data: &Data) -> &Histogram {
        self.connections[data.connection].seen[data.side].rtts()
    }

    /// A name for a flow, with those of its route's hosts, or empty ones.
    pub(crate) fn name(&self, data: &Data, hosts: [&str; 2]) -> String {
        self.connections[data.connection].key.name(data.side, hosts)
    }
}

/// The protocol number of a packet; the largest one for a fragment.
fn protocol(bytes: &[u8]) -> u8 {
    place(bytes).map_or(u8::MAX, |place| place.protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::UDP;

    /// A packet of IPv4 with a header of UDP and nine bytes, which has this protocol number.
    fn packet(protocol: u8, ports: [u8; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 37];
        (bytes[0], bytes[9]) = (0x45, protocol);
        (bytes[21], bytes[23]) = (ports[0], ports[1]);
        bytes
    }

    #[test]
    fn the_first_connection_on_a_route_has_its_number() {
        let mut connections = Connections::on(3);
        let way = Address::default();
        let mut enter = |route, side, bytes: &[u8]| {
            let packet = connections.enters(Time::ZERO, (route, side), &way, bytes);
            (packet.flow, packet.index, packet.tuple.ports)
        };
        let (one, other) = (packet(UDP, [1, 2]), packet(UDP, [2, 1]));
        let ping = packet(1, [8, 8]);
        let [first, second] = [enter(0, 0, &one), enter(2, 1, &one)];
        assert_eq!((first, second.0), ((0, 0, 1 << 16 | 2), 2));
        let ports = second.2;
        let ping_at = |index| (3, index, ports ^ (2 << 16 | 1));
        assert_eq!(enter(2, 0, &ping), ping_at(0), "a ping has a number of its own");
        assert_eq!(enter(2, 0, &other), (2, 0, ports));
        assert_eq!(enter(2, 1, &one), (2, 1, ports));
        assert_eq!(enter(2, 0, &one), (4, 0, ports ^ (3 << 16 | 3)));
        assert_eq!(enter(2, 0, &ping), ping_at(1));
        let flows: Vec<_> = connections.data().iter().map(|d| (d.flow, d.side, d.route)).collect();
        assert_eq!(flows, [(0, 0, 0), (2, 0, 2), (2, 1, 2), (4, 0, 2)]);
        assert_eq!([4, 3, 0].map(|flow| connections.route(flow)), [2, 2, 0]);
    }
}
