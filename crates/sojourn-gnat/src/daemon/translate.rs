//! Packets of the part, and the bytes that stand for them on the way to a neighbour.
//!
//! A packet between overlay nodes only names a datagram, which lies in a mailbox. What leaves is taken
//! out of its mailbox and encoded; what comes is decoded and put into one, and a packet that names it
//! goes into the part. Between nodes, times are told in UNIX time; what a neighbour tells is corrected
//! by the difference of clocks that the connection to it has measured.

use sojourn_base::packet::{FiveTuple, Header, Opaque, Packet};
use sojourn_base::units::Time;
use sojourn_sim::sim::Neighbour;
use sojourn_sliq::wire::{Datagram, Message, UNDERLAY, decode, encode};
use sojourn_sliq::{Mailbox, Payload, Spare};

use crate::overlay::message::Cargo;
use crate::overlay::{Bounds, Mailboxes, WireTimes};

/// The datagrams to a neighbour and from it.
pub(super) struct Way {
    /// The neighbour's number among the nodes, and its place among the members.
    pub node: u16,
    pub member: u16,
    out: Mailbox<Cargo>,
    back: Mailbox<Cargo>,
    /// What the packets from it have in common.
    packet: Packet,
    /// How far its clock is ahead of this one's in seconds; no number if that is not known.
    pub ahead: f64,
}

impl Way {
    /// Between a node and a neighbour of it.
    pub(super) fn new(
        node: u16,
        neighbour: &Neighbour,
        member: u16,
        mailboxes: &Mailboxes,
    ) -> Self {
        let tuple = FiveTuple { source: neighbour.node, destination: node, ports: 0 };
        // The key of random draws, as the neighbour has it.
        let flow = u32::MAX - neighbour.back as u32;
        Way {
            node: neighbour.node,
            member,
            out: mailboxes.between(node, neighbour.node),
            back: mailboxes.between(neighbour.node, node),
            packet: Packet { flow, tuple, ..Packet::default() },
            ahead: f64::NAN,
        }
    }
}

/// Translates the datagrams of all neighbours, one at a time.
pub(super) struct Translator {
    bounds: Bounds,
    times: WireTimes,
    /// Where the present datagram lies, and places for more.
    place: Box<Datagram<Cargo>>,
    spare: Spare<Cargo>,
}

impl Translator {
    /// Of an overlay whose messages have these bounds, at a node with these times.
    pub(super) fn new(bounds: Bounds, times: WireTimes) -> Self {
        Translator { bounds, times, place: Box::default(), spare: Spare::default() }
    }

    /// Replaces `bytes` by the datagram of a packet that leaves; whether there is one.
    pub(super) fn write(&mut self, way: &Way, packet: &Packet, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let Header::Opaque(Opaque { handle, .. }) = packet.header else { return false };
        let found = way.out.get(handle, &mut self.place, &mut self.spare);
        if found {
            if let Some(cargo) = cargo(&mut self.place) {
                self.times.send(cargo);
            }
            encode(&self.place, bytes);
        }
        found
    }

    /// The packet of a datagram that has come from a neighbour; none if it cannot be read, or no node
    /// of the overlay says such a thing.
    pub(super) fn read(&mut self, way: &mut Way, now: Time, bytes: &[u8]) -> Option<Packet> {
        let mut datagram = decode::<Cargo>(bytes).ok()?;
        // A payload that cannot be read has no bytes.
        if datagram.size() != bytes.len() {
            return None;
        }
        let mut payload = 0;
        if let Some(cargo) = cargo(&mut datagram) {
            if !self.bounds.allows(cargo) {
                return None;
            }
            payload = cargo.len() as u16;
            self.times.receive(now, way.ahead, cargo);
        }
        *self.place = datagram;
        let handle = way.back.put(&mut self.place, &mut self.spare);
        way.packet.index = way.packet.index.wrapping_add(1);
        let header = Header::Opaque(Opaque { payload, handle });
        Some(Packet { size: bytes.len() as u32 + UNDERLAY, header, ..way.packet })
    }
}

/// The message of a datagram.
fn cargo(datagram: &mut Datagram<Cargo>) -> Option<&mut Cargo> {
    let Datagram::Message(Message { data: Some((_, cargo)), .. }) = datagram else { return None };
    Some(cargo)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::ServiceSpec;
    use crate::overlay::message::Parcel;
    use crate::overlay::{FlowTransport, OverlayConfig, OverlayFlow};
    use sojourn_base::packet;
    use sojourn_base::units::Span;
    use sojourn_net::multicast::Groups;
    use sojourn_sliq::wire::Data;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(seconds)
    }

    /// Times of the node of this number, of which the second is started 7 s after the first.
    fn times(node: u16) -> WireTimes {
        WireTimes::new(Duration::from_secs(1_800_000_000 + 7 * u64::from(node)))
    }

    /// A node of two with a flow from the first to the second, and its way to the other.
    fn node(number: u16) -> (Translator, Way, Mailboxes) {
        let known = Groups { members: vec![0, 1], ..Groups::default() };
        let (transport, service) = (FlowTransport::Udp, ServiceSpec::default());
        let flow = OverlayFlow { flow: 0, ends: [0, 1], service, transport, start: Time::ZERO };
        let bounds = Bounds::new(Arc::new(OverlayConfig::new(known, vec![flow])));
        let other = 1 - number;
        let edges = (usize::from(number), usize::from(other));
        let neighbour = Neighbour { node: other, id: String::new(), out: edges.0, back: edges.1 };
        let boxes = Mailboxes::default();
        (Translator::new(bounds, times(number)), Way::new(number, &neighbour, other, &boxes), boxes)
    }

    /// The bytes of a datagram with a packet that was written at that time.
    fn sent(to: u16, written_at: Time) -> Vec<u8> {
        let (mut translator, way, boxes) = node(0);
        let header = Header::Datagram(packet::Datagram { payload: 72, seq: 5, written_at });
        let parcel = Parcel::new(Packet { size: 100, header, ..Packet::default() }, to, None);
        let data = Some((Data::default(), Cargo::Parcel(parcel)));
        let mut datagram = Box::new(Datagram::Message(Message { data, ..Message::default() }));
        let handle = boxes.between(0, 1).put(&mut datagram, &mut Spare::default());
        let header = Header::Opaque(Opaque { payload: 104, handle });
        let (packet, mut bytes) = (Packet { header, ..Packet::default() }, vec![1]);
        assert!(translator.write(&way, &packet, &mut bytes));
        assert!(!translator.write(&way, &packet, &mut Vec::new()), "it has been taken");
        bytes
    }

    #[test]
    fn what_is_written_is_read_in_the_times_of_the_other_clock() {
        // Since the beginning, 32 bits of microseconds have passed over once.
        let bytes = sent(1, at(5_000.25));
        let (mut translator, mut way, boxes) = node(1);
        way.ahead = 0.5;
        let packet = translator.read(&mut way, at(4_993.0), &bytes).unwrap();
        assert_eq!(packet.size as usize, bytes.len() + 28);
        assert_eq!((packet.tuple.source, packet.tuple.destination), (0, 1));
        let Header::Opaque(Opaque { payload: 104, handle }) = packet.header else { panic!() };
        let mut place = Box::default();
        assert!(boxes.between(0, 1).get(handle, &mut place, &mut Spare::default()));
        let Datagram::Message(Message { data: Some((_, Cargo::Parcel(parcel))), .. }) = *place
        else {
            panic!("{place:?}")
        };
        let Header::Datagram(read) = parcel.packet.header else { panic!("{parcel:?}") };
        assert_eq!((read.seq, read.written_at), (5, at(5_000.25 - 7.0 - 0.5)));
    }

    #[test]
    fn what_no_node_says_is_not_read() {
        let (mut translator, mut way, _) = node(1);
        let mut read = |bytes: &[u8]| translator.read(&mut way, at(1.0), bytes).is_some();
        let bytes = sent(1, at(1.0));
        assert!(read(&bytes));
        assert!(!read(&sent(0, at(1.0))), "the flow does not end there");
        assert!(!read(&bytes[..bytes.len() - 1]) && !read(&[]) && !read(&[7; 40]));
        let zeroed = [&bytes[..bytes.len() - 104], &[0; 104]].concat();
        assert!(!read(&zeroed), "no message");
    }
}
