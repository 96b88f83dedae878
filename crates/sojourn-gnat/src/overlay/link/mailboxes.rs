//! Datagrams in transit between the nodes of an overlay.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::overlay::message::Cargo;
use sojourn_base::endpoint::Datagrams;
use sojourn_base::packet::Packet;
use sojourn_sliq::Mailbox;

/// Number of later arrivals after which a datagram between two nodes counts as lost.
const REORDERED: u64 = 256;

/// Mailboxes by the nodes that datagrams come from and go to. All nodes of a run share them.
#[derive(Debug, Default)]
pub struct Mailboxes(Mutex<BTreeMap<(u16, u16), Mailbox<Cargo>>>);

impl Mailboxes {
    /// Datagrams from one node to another.
    pub fn between(&self, from: u16, to: u16) -> Mailbox<Cargo> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.entry((from, to)).or_insert_with(|| Mailbox::once(REORDERED)).clone()
    }
}

impl Datagrams for Mailboxes {
    fn write(&self, packet: &Packet, out: &mut Vec<u8>) -> bool {
        let boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = boxes.get(&(packet.tuple.source, packet.tuple.destination));
        sent.is_some_and(|mailbox| mailbox.write(packet, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::packet::{FiveTuple, Header, Opaque};
    use sojourn_sliq::Spare;
    use sojourn_sliq::wire::Datagram;

    #[test]
    fn both_ends_have_the_same_mailbox_and_each_direction_its_own() {
        let boxes = Mailboxes::default();
        let (mut datagram, mut spare) = (Box::<Datagram<Cargo>>::default(), Spare::default());
        let handle = boxes.between(0, 1).put(&mut datagram, &mut spare);
        let header = Header::Opaque(Opaque { payload: 0, handle });
        let tuple = FiveTuple { source: 0, destination: 1, ports: 0 };
        let (there, mut bytes) = (Packet { tuple, header, ..Packet::default() }, Vec::new());
        let back = Packet { tuple: tuple.reversed(), ..there };
        assert!(boxes.write(&there, &mut bytes) && !boxes.write(&back, &mut bytes));
        let mut got = |from, to| boxes.between(from, to).get(handle, &mut datagram, &mut spare);
        assert!(!got(1, 0), "the other direction");
        assert!(got(0, 1));
    }
}
