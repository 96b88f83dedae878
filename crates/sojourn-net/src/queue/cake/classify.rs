//! Cake's classification: the queue of a packet and the hosts it counts for, by set-associative
//! hashing.

use super::params::{Isolation, Masquerade};
use crate::packet::{Direction, Packet};

/// Number of queues, and of hosts in each direction.
pub(super) const QUEUES: u16 = 1024;
/// The router's address, in place of those that a NAT hides.
const ROUTER: u16 = u16::MAX;
/// Entries that a hash value may use: it collides only when all of them are taken.
const WAYS: u16 = 8;

/// The entries of a hash value, its own first.
fn ways(home: u16) -> impl Iterator<Item = u16> {
    (0..WAYS).map(move |i| (home & !(WAYS - 1)) | ((home + i) & (WAYS - 1)))
}

/// Finaliser of MurmurHash3: scatters the bits of a number that is unique already.
#[inline]
fn scatter(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// Hosts of one direction, with the number of bulk flows each has.
#[derive(Debug)]
pub(super) struct Hosts {
    tags: Box<[u32]>,
    bulk_flows: Box<[u16]>,
}

impl Hosts {
    fn new() -> Self {
        let size = usize::from(QUEUES);
        Hosts { tags: vec![0; size].into(), bulk_flows: vec![0; size].into() }
    }

    /// The entry of the host with this hash: its own, else one that no bulk flow uses.
    fn place(&mut self, hash: u32) -> u16 {
        let home = (hash % u32::from(QUEUES)) as u16;
        let place = ways(home)
            .find(|&way| self.tags[usize::from(way)] == hash)
            .or_else(|| ways(home).find(|&way| self.bulk_flows[usize::from(way)] == 0))
            .unwrap_or(home);
        self.tags[usize::from(place)] = hash;
        place
    }

    /// Bulk flows of the host at `place`.
    #[inline]
    pub(super) fn bulk_flows(&self, place: u16) -> u16 {
        self.bulk_flows[usize::from(place)]
    }

    /// Counts a flow that became bulk, or ceased to be.
    #[inline]
    pub(super) fn count(&mut self, place: u16, more: bool) {
        let count = &mut self.bulk_flows[usize::from(place)];
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
    }
}

/// A packet's queue; the entries of its hosts if the queue was newly assigned to its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Queue number.
    pub queue: u16,
    /// Entries of source and destination, to be stored with the queue.
    pub hosts: Option<(u16, u16)>,
}

/// The hash tables of queues and hosts.
#[derive(Debug)]
pub(super) struct Classifier {
    flows: bool,
    by_source: bool,
    by_destination: bool,
    hidden: Masquerade,
    keys: [u32; 3],
    tags: Box<[u32]>,
    /// Source hosts.
    pub sources: Hosts,
    /// Destination hosts.
    pub destinations: Hosts,
}

impl Classifier {
    /// For an isolation mode, with the addresses that cannot be seen; `keys` perturb the hashes.
    pub(super) fn new(isolation: Isolation, hidden: Masquerade, keys: [u32; 3]) -> Self {
        use Isolation::{
            Dsthost, DualDsthost, DualSrchost, Flowblind, Flows, Hosts as Pairs, Srchost,
            TripleIsolate,
        };
        let (flows, by_source, by_destination) = match isolation {
            Flowblind => (false, false, false),
            Srchost => (false, true, false),
            Dsthost => (false, false, true),
            Pairs => (false, true, true),
            Flows => (true, false, false),
            DualSrchost => (true, true, false),
            DualDsthost => (true, false, true),
            TripleIsolate => (true, true, true),
        };
        Classifier {
            flows,
            by_source,
            by_destination,
            hidden,
            keys,
            tags: vec![0; usize::from(QUEUES)].into(),
            sources: Hosts::new(),
            destinations: Hosts::new(),
        }
    }

    /// Whether flows share their source host's bandwidth.
    pub(super) fn fair_to_sources(&self) -> bool {
        self.flows && self.by_source
    }

    /// Whether flows share their destination host's bandwidth.
    pub(super) fn fair_to_destinations(&self) -> bool {
        self.flows && self.by_destination
    }

    /// The packet's queue; `taken` tells whether a queue belongs to a flow at present.
    #[inline]
    pub(super) fn classify(&mut self, packet: &Packet, taken: impl Fn(u16) -> bool) -> Class {
        let hash = self.hash(packet);
        let home = (hash % u32::from(QUEUES)) as u16;
        if self.tags[usize::from(home)] == hash && taken(home) {
            return Class { queue: home, hosts: None };
        }
        let own = ways(home).find(|&way| self.tags[usize::from(way)] == hash);
        let queue = own.or_else(|| ways(home).find(|&way| !taken(way))).unwrap_or(home);
        let keeps_hosts = own.is_some_and(&taken);
        self.tags[usize::from(queue)] = hash;
        Class { queue, hosts: (!keeps_hosts).then(|| self.host_places(packet)) }
    }

    #[inline]
    fn hash(&self, packet: &Packet) -> u32 {
        if self.flows {
            let backward = u32::from(packet.direction() == Direction::Backward);
            return scatter((packet.tuple.ports << 1 | backward) ^ self.keys[0]);
        }
        let mut hash = 0;
        if self.by_source {
            hash ^= self.source_hash(packet);
        }
        if self.by_destination {
            hash ^= self.destination_hash(packet);
        }
        hash
    }

    fn source_hash(&self, packet: &Packet) -> u32 {
        let source = match self.hidden {
            Masquerade::Source => ROUTER,
            _ => packet.tuple.source,
        };
        scatter(u32::from(source) ^ self.keys[1])
    }

    fn destination_hash(&self, packet: &Packet) -> u32 {
        let destination = match self.hidden {
            Masquerade::Destination => ROUTER,
            _ => packet.tuple.destination,
        };
        scatter(u32::from(destination) ^ self.keys[2])
    }

    fn host_places(&mut self, packet: &Packet) -> (u16, u16) {
        let (source, destination) = (self.source_hash(packet), self.destination_hash(packet));
        (self.sources.place(source), self.destinations.place(destination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FiveTuple;

    fn classifier(isolation: Isolation) -> Classifier {
        Classifier::new(isolation, Masquerade::None, [3, 5, 7])
    }

    fn packet(flow: u32, source: u16, destination: u16) -> Packet {
        let tuple = FiveTuple { source, destination, ports: flow };
        Packet { flow, tuple, ..Packet::default() }
    }

    #[test]
    fn hundreds_of_flows_keep_queues_of_their_own() {
        let mut classifier = classifier(Isolation::TripleIsolate);
        let mut taken = [false; QUEUES as usize];
        for flow in 0..200 {
            let class = classifier.classify(&packet(flow, 1, 2), |q| taken[usize::from(q)]);
            assert!(!taken[usize::from(class.queue)], "flow {flow} collides");
            taken[usize::from(class.queue)] = true;
        }
        // Each finds its own queue again, and keeps its hosts.
        let again = classifier.classify(&packet(17, 1, 2), |q| taken[usize::from(q)]);
        assert_eq!(again.hosts, None);
    }

    #[test]
    fn a_nat_hides_the_hosts_on_its_side() {
        for (hidden, sources, destinations) in [
            (Masquerade::None, false, false),
            (Masquerade::Source, true, false),
            (Masquerade::Destination, false, true),
        ] {
            let classifier = Classifier::new(Isolation::TripleIsolate, hidden, [3, 5, 7]);
            let (a, b) = (packet(0, 1, 2), packet(1, 3, 4));
            assert_eq!(classifier.source_hash(&a) == classifier.source_hash(&b), sources);
            let same = classifier.destination_hash(&a) == classifier.destination_hash(&b);
            assert_eq!(same, destinations);
        }
    }

    #[test]
    fn modes_tell_apart_what_they_say() {
        let queue = |isolation, a: Packet, b: Packet| {
            let mut classifier = classifier(isolation);
            let mut taken = [false; QUEUES as usize];
            let mut find = |p| {
                let queue = classifier.classify(&p, |q| taken[usize::from(q)]).queue;
                taken[usize::from(queue)] = true;
                queue
            };
            find(a) == find(b)
        };
        let base = packet(0, 1, 2);
        let (flow, source, destination) = (packet(1, 1, 2), packet(1, 3, 2), packet(1, 1, 4));
        // (mode, same queue for another flow, another source, another destination)
        for (mode, shares) in [
            (Isolation::Flowblind, [true, true, true]),
            (Isolation::Srchost, [true, false, true]),
            (Isolation::Dsthost, [true, true, false]),
            (Isolation::Hosts, [true, false, false]),
            (Isolation::Flows, [false, false, false]),
            (Isolation::TripleIsolate, [false, false, false]),
        ] {
            let got = [flow, source, destination].map(|other| queue(mode, base, other));
            assert_eq!(got, shares, "{mode:?}");
        }
    }
}
