//! Links whose queue is in a router inside the kernel: their packets are sent there and come back.

use sojourn_base::packet::Ecn;
use sojourn_net::net::Network;
use sojourn_net::queue::kernel::Gate;
use sojourn_sim::topology::PlannedLink;

use super::recognised::Recognised;
use crate::kept::Border;
use crate::wire::{class, set_class};

/// The two ports of a router.
const PORTS: usize = 2;

/// The bottlenecks of a run.
pub(super) struct Bottlenecks {
    all: Vec<Bottleneck>,
    /// The first card of their routers; the others follow.
    first: usize,
}

struct Bottleneck {
    gate: Gate,
    edge: usize,
    inside: Recognised,
}

impl Bottlenecks {
    /// The bottlenecks for the gates of these links of a network; their routers' cards follow those
    /// of so many hosts.
    pub(super) fn new(
        gates: Vec<Gate>,
        links: &[&PlannedLink],
        net: &Network,
        first: usize,
    ) -> Self {
        let edges = links.iter().filter_map(|link| net.edge(&link.id));
        let bottleneck = |(gate, edge)| Bottleneck { gate, edge, inside: Recognised::default() };
        Bottlenecks { all: gates.into_iter().zip(edges).map(bottleneck).collect(), first }
    }

    /// Number of all cards: their routers', and those before.
    pub(super) fn cards(&self) -> usize {
        self.first + PORTS * self.all.len()
    }

    /// Whether a card is one of their routers'.
    pub(super) fn has(&self, card: usize) -> bool {
        card >= self.first
    }

    /// The next packet for a router: the card that receives it, and its bytes, unless they are
    /// overwritten.
    pub(super) fn next(&mut self, border: &Border) -> Option<(usize, Option<Vec<u8>>)> {
        for (number, Bottleneck { gate, inside, .. }) in self.all.iter_mut().enumerate() {
            if let Some((identification, packet)) = gate.entering() {
                let card = self.first + PORTS * number;
                let bytes = border.bytes(&packet).map(|mut bytes| {
                    set_class(&mut bytes, packet.dscp(), packet.ecn);
                    inside.enter(&mut bytes, identification);
                    bytes
                });
                return Some((card, bytes));
            }
        }
        None
    }

    /// A packet has come out of a router's card.
    pub(super) fn leave(&mut self, net: &mut Network, card: usize, packet: &[u8]) {
        let router = (card - self.first) / PORTS;
        let Some(Bottleneck { gate, edge, inside }) = self.all.get_mut(router) else { return };
        let marked = class(packet).is_some_and(|(_, ecn)| ecn == Ecn::Ce);
        inside.leave(packet, |number| {
            let was_inside = gate.leave(net.now(), number, marked);
            if was_inside {
                net.changed(*edge);
            }
            was_inside
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sojourn_base::packet::Header;
    use sojourn_base::spec::Recorded;
    use sojourn_base::units::{Span, Time};
    use sojourn_net::net::Arrivals;
    use sojourn_net::queue::kernel::{entry, with_gates};
    use sojourn_net::record::live::Log;
    use sojourn_sim::catalogue;
    use sojourn_sim::scenario::Scenario;
    use sojourn_sim::sim::Surroundings;

    use super::*;

    const TEXT: &str = "duration = \"1 s\"\nrecord = [\"queue\", \"packets\"]\n[topology]\n\
                        kind = \"dumbbell\"\nbottleneck = { rate = \"1 Mbit/s\", \
                        queue = \"kernel\" }\n[[flows]]\ncca = \"reno\"\nrtt = \"20 ms\"";

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// When a packet arrives that a router has had from 50 ms to 60 ms.
    fn arrival(log: Option<&Log>) -> Time {
        let members = catalogue::core().with(vec![entry()]);
        let scenario = Scenario::from_toml(TEXT, &Arc::new(members)).unwrap();
        let (surroundings, gates) = with_gates(|| Surroundings::new(&scenario, log));
        let Surroundings { mut net, addresses, .. } = surroundings.unwrap();
        let link = scenario.plan().links.iter().find(|link| link.id == "bottleneck").unwrap();
        let mut bottlenecks = Bottlenecks::new(gates, &[link], &net, 3);
        let (border, mut arrivals) = (Border::default(), Arrivals::default());
        let mut packet = addresses[0][0].packet(0, 100, Header::opaque(48));
        let mut sent = [0; 100];
        sent[0] = 0x45;
        border.enter(Time::ZERO, 0, &mut packet, &sent);
        net.inject(&packet);
        net.advance(at(50), &mut arrivals).unwrap();
        let (card, bytes) = bottlenecks.next(&border).unwrap();
        assert!(bottlenecks.next(&border).is_none() && arrivals.0.is_empty());
        net.advance(at(60), &mut arrivals).unwrap();
        bottlenecks.leave(&mut net, card, &bytes.unwrap());
        net.advance(at(900), &mut arrivals).unwrap();
        let [(time, _)] = arrivals.0[..] else { panic!("{:?}", arrivals.0) };
        time
    }

    #[test]
    fn what_comes_back_goes_on_whether_it_is_recorded_or_not() {
        let log = Log::new(&[Recorded::Queue, Recorded::Packets], Box::new(|_, _| {}));
        let time = arrival(None);
        assert!((at(60)..at(81)).contains(&time), "{time:?}");
        assert_eq!(arrival(Some(&log)), time);
    }
}
