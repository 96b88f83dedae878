//! Links whose queue is in a router inside the kernel: their packets are sent there and come back.

use sojourn_base::packet::Packet;
use sojourn_net::net::Network;
use sojourn_net::queue::kernel::Gate;
use sojourn_sim::topology::PlannedLink;

use super::HOSTS;
use crate::store::Store;
use crate::wire::{set_class, set_identification};

/// Both bits of the ECN field.
const CE: u8 = 3;
/// The two ports of a router.
const PORTS: usize = 2;

/// The bottlenecks of a run.
pub(super) struct Bottlenecks(Vec<Bottleneck>);

struct Bottleneck {
    gate: Gate,
    edge: usize,
}

impl Bottlenecks {
    /// The bottlenecks for the gates of these links of a network.
    pub(super) fn new(gates: Vec<Gate>, links: &[&PlannedLink], net: &Network) -> Self {
        let edges = links.iter().filter_map(|link| net.edge(&link.id));
        Bottlenecks(
            gates.into_iter().zip(edges).map(|(gate, edge)| Bottleneck { gate, edge }).collect(),
        )
    }

    /// Number of their routers' cards.
    pub(super) fn cards(&self) -> usize {
        PORTS * self.0.len()
    }

    /// The next packet for a router: the card that receives it, and its bytes, unless they are
    /// overwritten. Inside it is recognised by its IP identification, which a router does not
    /// change.
    pub(super) fn next(&self, store: &mut Store) -> Option<(usize, Option<Vec<u8>>)> {
        for (number, Bottleneck { gate, .. }) in self.0.iter().enumerate() {
            if let Some((identification, packet)) = gate.entering() {
                let card = HOSTS + PORTS * number;
                return Some((card, bytes(store, &packet, identification)));
            }
        }
        None
    }

    /// A packet has come out of a router's card.
    pub(super) fn leave(&self, net: &mut Network, card: usize, packet: &[u8]) {
        let Some(Bottleneck { gate, edge }) = self.0.get((card - HOSTS) / PORTS) else { return };
        if let [_, class, _, _, high, low, ..] = packet {
            let identification = u16::from_be_bytes([*high, *low]);
            if gate.leave(net.now(), identification, class & CE == CE) {
                net.changed(*edge);
            }
        }
    }
}

/// The bytes of a packet as they enter a router.
fn bytes(store: &mut Store, packet: &Packet, identification: u16) -> Option<Vec<u8>> {
    let mut bytes = store.get(packet.socket)?.clone();
    set_class(&mut bytes, packet.dscp(), packet.ecn);
    set_identification(&mut bytes, identification);
    Some(bytes)
}
