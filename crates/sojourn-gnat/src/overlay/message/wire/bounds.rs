//! Which messages a node can take.
//!
//! Members, streams, groups and flows in a message are indices here. A message with one that the
//! overlay's configuration does not have never reaches the node.

use std::sync::Arc;

use crate::overlay::config::{FlowTransport, OverlayConfig, OverlayFlow};
use crate::overlay::message::{Cargo, Copies, Depths, LinkState, Parcel};
use crate::overlay::numbers::{FIRST_APPLICATION, opener};
use sojourn_base::packet::{Direction, Flags, Header, Packet};

/// Largest share of missing packets that a report tells, in per cent.
const ALL: u16 = 100;
/// The last of what a connection of applications says by packets of its own.
const SIGNALS: u16 = 1;

/// What the messages of an overlay may contain.
#[derive(Clone, Debug)]
pub struct Bounds {
    config: Arc<OverlayConfig>,
    /// By the number of a flow, its place among those of the overlay.
    places: Vec<Option<usize>>,
    /// Whether nodes carry datagrams and connections of applications.
    applications: bool,
}

impl Bounds {
    /// Those of this overlay.
    pub fn new(config: Arc<OverlayConfig>) -> Self {
        let most = config.flows.iter().map(|flow| flow.flow as usize + 1).max().unwrap_or(0);
        let mut places = vec![None; most];
        for (place, flow) in config.flows.iter().enumerate() {
            places[flow.flow as usize] = Some(place);
        }
        Bounds { config, places, applications: false }
    }

    /// The same where nodes carry datagrams and connections of applications.
    #[must_use]
    pub fn with_applications(self) -> Self {
        Bounds { applications: true, ..self }
    }

    /// Whether a node of the overlay can take a message.
    pub fn allows(&self, cargo: &Cargo) -> bool {
        match cargo {
            Cargo::Nothing | Cargo::Zombie(_) => true,
            Cargo::Parcel(parcel) => self.has_parcel(parcel),
            Cargo::Copies(copies) => self.has_copies(copies),
            Cargo::Depths(depths) => self.has_depths(depths),
            Cargo::LinkState(state) => self.has_links(state),
            // Overlays send none.
            Cargo::Coded(..) => false,
        }
    }

    fn members(&self) -> usize {
        self.config.members.len()
    }

    fn is_member(&self, place: u16) -> bool {
        usize::from(place) < self.members()
    }

    /// Whether a set has members only.
    fn is_within(&self, set: u64) -> bool {
        set.checked_shr(self.members() as u32).unwrap_or(0) == 0
    }

    fn flow(&self, number: u32) -> Option<&OverlayFlow> {
        let place = self.places.get(number as usize).copied().flatten()?;
        self.config.flows.get(place)
    }

    /// An application's IP packet, or a packet of one's connection from one member to another: its
    /// segments have the bytes that they say, and requests none.
    fn has_application(&self, parcel: &Parcel) -> bool {
        let packet = &parcel.packet;
        if !self.applications || !self.is_member(parcel.to) || !self.is_within(parcel.seen) {
            return false;
        }
        if packet.ip().is_some() {
            return true;
        }
        let Some(opener) = opener(packet.flow) else { return false };
        let Ok(from) = u16::try_from(packet.index) else { return false };
        let asks = packet.direction() == Direction::Forward;
        let ends = if asks { from == opener } else { parcel.to == opener };
        let fits = match &packet.header {
            Header::Segment(segment) => {
                let bytes = packet.bytes.as_ref().map_or(0, |bytes| bytes.len());
                bytes == usize::from(segment.payload)
                    && !(segment.flags.has(Flags::SYN) && segment.payload > 0)
            }
            Header::Ack(_) => true,
            Header::Opaque(signal) => signal.payload <= SIGNALS,
            _ => false,
        };
        let between = ends && self.is_member(from) && from != parcel.to;
        between && fits && parcel.due.is_none() && can_be(packet)
    }

    /// A flow's packet is of the flow's transport, and on its way to the end that such packets have.
    fn has_parcel(&self, parcel: &Parcel) -> bool {
        if parcel.packet.flow >= FIRST_APPLICATION {
            return self.has_application(parcel);
        }
        let Some(flow) = self.flow(parcel.packet.flow) else { return false };
        let there = match (flow.transport, parcel.packet.header) {
            (FlowTransport::Udp, Header::Datagram(_))
            | (FlowTransport::Tcp { .. }, Header::Segment(_)) => true,
            (FlowTransport::Udp, Header::Opaque(report)) if report.payload <= ALL => false,
            (FlowTransport::Tcp { .. }, Header::Ack(_)) => false,
            _ => return false,
        };
        parcel.to == flow.ends[usize::from(there)]
            && self.is_within(parcel.seen)
            && can_be(&parcel.packet)
    }

    fn has_copies(&self, copies: &Copies) -> bool {
        let Some(stream) = self.config.streams.get(usize::from(copies.stream)) else {
            return false;
        };
        let packet = &copies.packet;
        if packet.ip().is_some() || self.config.is_of_applications(copies.stream) {
            return packet.ip().is_some()
                && self.applications
                && self.config.is_of_applications(copies.stream)
                && self.is_within(copies.to);
        }
        let is_datagram = matches!(packet.header, Header::Datagram(_));
        let comes_from_sender = packet.direction() == Direction::Forward;
        is_datagram
            && comes_from_sender
            && stream.sender() == Some(packet.flow)
            && self.is_within(copies.to)
            && can_be(packet)
    }

    fn has_depths(&self, depths: &Depths) -> bool {
        let groups = &depths.groups;
        depths.bytes.len() <= self.members()
            && groups.len() <= self.config.groups.len()
            && groups.iter().all(|group| group.len() <= self.members())
    }

    fn has_links(&self, state: &LinkState) -> bool {
        let links = &state.links;
        let is_neighbour = |to: u16| to != state.origin && self.is_member(to);
        self.is_member(state.origin)
            && links.len() < self.members()
            && links.iter().all(|(to, _)| is_neighbour(*to))
    }
}

/// Whether a packet has room for its payload, and others of its flow may come after it.
fn can_be(packet: &Packet) -> bool {
    let fits = |payload: u16| u32::from(payload) <= packet.size;
    match &packet.header {
        Header::Segment(segment) => fits(segment.payload) && segment.seq < u32::MAX,
        Header::Ack(ack) => ack.sacks().iter().all(|block| block.start < block.end),
        Header::Datagram(datagram) => fits(datagram.payload) && datagram.seq < u32::MAX,
        _ => true,
    }
}
