//! The packet: a small `Copy` value that carries no bytes of payload.
//!
//! Four things that often coincide are separate here: the *flow* is measured, the *route* is the
//! path, the *socket* is the receiver at its end, and the [`FiveTuple`] is hashed by queues. Only
//! endpoints read the [`Header`]; the packet's methods tell a link all it may know of it.
//!
//! TCP sequence space counts **segments**, not bytes: a segment is cut once, when it is first sent,
//! and never re-split or merged, so segment numbers order data exactly as byte numbers would, and
//! every structure of the endpoints is an array indexed by them. Segment 0 is the SYN, data starts
//! at 1. `payload` gives the bytes a segment carries.

pub mod checksum;
mod dscp;
pub mod headers;
mod tcp;

pub use dscp::{Dscp, Way};
pub use tcp::{Flags, MAX_SACK_BLOCKS, SackBlock, SackCount, TcpAck, TcpSegment};

use crate::units::Time;

/// Most bytes of payload that a Linux host hands to its interface at once (`sk_gso_max_size`): 64
/// KiB less 321 for headers, as in `sk_setup_caps` since 5.18 and `tcp_tso_autosize` before.
pub const LARGEST_BURST: u64 = 65_536 - 321;

/// The ECN field of the IP header (RFC 3168; ECT(1) is also SCE's signal and L4S's identifier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// ECN-capable, codepoint 01: "some congestion experienced" (SCE), or the L4S identifier.
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Whether a queue may mark CE instead of dropping.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// The two bits of the IP header.
    pub fn codepoint(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

/// Header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Datagram {
    /// Bytes of payload.
    pub payload: u16,
    /// Number of the datagram.
    pub seq: u32,
    /// When the application wrote it.
    pub written_at: Time,
}

/// A header that only its endpoints can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Opaque {
    /// Bytes of payload.
    pub payload: u16,
    /// Identifies its content, which is kept elsewhere (live packets, FEC, QUIC).
    pub handle: u32,
}

/// The transport's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Header {
    /// TCP, from the end that sends data.
    Segment(TcpSegment),
    /// TCP, from the end that receives data.
    Ack(TcpAck),
    /// A datagram, as UDP's.
    Datagram(Datagram),
    /// Any other header.
    Opaque(Opaque),
}

impl Header {
    /// A header that tells nothing but the number of payload bytes that follow.
    pub const fn opaque(payload: u16) -> Self {
        Header::Opaque(Opaque { payload, handle: 0 })
    }
}

impl Default for Header {
    fn default() -> Self {
        Header::Opaque(Opaque::default())
    }
}

/// Which way a packet travels in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the flow's sender to its receiver.
    #[default]
    Forward,
    /// From the flow's receiver to its sender (acknowledgments).
    Backward,
}

/// Hosts and ports, by which queues classify packets. The header tells the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct FiveTuple {
    /// Source host: a node number, or the number given to an address.
    pub source: u16,
    /// Destination host.
    pub destination: u16,
    /// Both ports of a real packet; the flow number in the simulator, which has no ports.
    pub ports: u32,
}

impl FiveTuple {
    /// The tuple of flow number `flow` between hosts that are not told apart.
    pub const fn of_flow(flow: u32) -> Self {
        FiveTuple { source: 0, destination: 0, ports: flow }
    }

    /// The tuple of the packets in the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        FiveTuple { source: self.destination, destination: self.source, ports: self.ports }
    }

    /// The whole tuple as one number.
    #[inline]
    pub fn fold(self) -> u64 {
        let hosts = u64::from(self.source) << 16 | u64::from(self.destination);
        u64::from(self.ports) << 32 | hosts
    }
}

/// Identifies a route of the network by its start in the table of routes. The default route has no
/// edges: a packet on it has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Route(u32);

impl Route {
    /// The route that starts at this index of the table.
    #[inline]
    pub const fn at(start: u32) -> Self {
        Route(start)
    }

    /// Its start in the table.
    #[inline]
    pub const fn start(self) -> u32 {
        self.0
    }
}

/// Addressing that the packets of one end of a flow have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// Flow number.
    pub flow: u32,
    /// Direction within the flow.
    pub direction: Direction,
    /// DiffServ codepoint.
    pub dscp: Dscp,
    /// Route to the other end.
    pub route: Route,
    /// The other end's socket.
    pub socket: u32,
    /// Tuple by which queues classify.
    pub tuple: FiveTuple,
}

impl Address {
    /// The packet number `index` of `size` bytes with this header, not ECN-capable.
    #[inline]
    pub fn packet(&self, index: u32, size: u32, header: Header) -> Packet {
        let Address { flow, direction, dscp, route, socket, tuple } = *self;
        let way = Way::new(direction, dscp);
        Packet { flow, way, route, socket, tuple, index, size, header, ..Packet::default() }
    }
}

/// A packet on its way. Sizes in bytes, times in simulated time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When it was offered to the queue it waits in, or last waited in.
    pub enqueued_at: Time,
    /// Number of the flow, which is measured. With its direction and `index` it names random
    /// draws.
    pub flow: u32,
    /// Packet index: number of packets that its endpoint sent before it on this flow.
    pub index: u32,
    /// Route to its destination.
    pub route: Route,
    /// Socket that receives it at the end of its route.
    pub socket: u32,
    /// Tuple by which queues classify.
    pub tuple: FiveTuple,
    /// Size of the IP packet in bytes; links add their own overhead.
    pub size: u32,
    /// Direction within the flow, and DiffServ codepoint.
    pub way: Way,
    /// Edges of its route that it has already left.
    pub hop: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Channel that it takes, in a queue that several channels of a shared medium have in common.
    pub lane: u8,
    /// The transport's header.
    pub header: Header,
}

impl Packet {
    /// Direction within the flow.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.way.direction()
    }

    /// DiffServ codepoint.
    #[inline]
    pub fn dscp(&self) -> Dscp {
        self.way.dscp()
    }

    /// Bytes of payload; zero for a pure acknowledgment.
    #[inline]
    pub fn payload(&self) -> u16 {
        match &self.header {
            Header::Segment(segment) => segment.payload,
            Header::Ack(_) => 0,
            Header::Datagram(datagram) => datagram.payload,
            Header::Opaque(opaque) => opaque.payload,
        }
    }

    /// Whether it carries data.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.payload() > 0
    }

    /// Whether it belongs to the burst of the packet before it, which links carry as one packet.
    #[inline]
    pub fn joins_burst(&self) -> bool {
        matches!(&self.header, Header::Segment(segment) if segment.flags.has(Flags::JOINED))
    }

    /// Whether it is an acknowledgment that tells nothing but how far data has arrived.
    pub fn is_plain_ack(&self) -> bool {
        matches!(&self.header, Header::Ack(ack) if ack.is_plain())
    }

    /// Whether it is a plain acknowledgment that tells all that `old`, of the same flow, does.
    pub fn supersedes(&self, old: &Packet) -> bool {
        let (Header::Ack(new), Header::Ack(before)) = (&self.header, &old.header) else {
            return false;
        };
        before.is_plain()
            && (old.flow, old.way, old.ecn) == (self.flow, self.way, self.ecn)
            && before.flags == new.flags
            && before.next < new.next
    }
}

/// Number of waiting packets and bytes. Bytes count IP packets without link overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u64,
    /// Waiting bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Adds a packet.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// Subtracts a packet.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets are copied at every step; one more field can cost a cache line.
    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 96);
    }

    #[test]
    fn only_a_later_plain_ack_supersedes() {
        let ack = |next, flags| Packet {
            header: Header::Ack(TcpAck { flags, next, ..TcpAck::default() }),
            ..Packet::default()
        };
        let (old, new) = (ack(5, Flags::ACK), ack(7, Flags::ACK));
        assert!(new.supersedes(&old) && !old.supersedes(&new));
        let echoing = ack(5, Flags::ACK.with(Flags::ECE, true));
        assert!(!new.supersedes(&echoing) && !new.supersedes(&Packet { flow: 1, ..old }));
        let data = TcpSegment { flags: Flags::ACK, payload: 1, ..TcpSegment::default() };
        assert!(!new.supersedes(&Packet { header: Header::Segment(data), ..old }));
    }
}
