//! What a message carries of a flow: its packet, and the bytes of an application's.

use std::ops::Deref;
use std::sync::Arc;

use crate::overlay::numbers::DATAGRAMS;
use sojourn_base::packet::{Header, Opaque, Packet};

/// Bytes of the shortest IP header.
pub(crate) const SHORTEST: usize = 20;

/// A packet, and its bytes if it is an application's. Simulated packets have none.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// The packet.
    pub packet: Packet,
    /// The whole IP packet of a datagram, or the payload of a segment.
    pub bytes: Option<Arc<[u8]>>,
}

impl Carried {
    /// An application's IP packet.
    pub(crate) fn datagram(bytes: Arc<[u8]>) -> Self {
        let header = Header::Opaque(Opaque { payload: bytes.len() as u16, handle: 0 });
        let size = bytes.len() as u32;
        let packet = Packet { flow: DATAGRAMS, size, header, ..Packet::default() };
        Carried { packet, bytes: Some(bytes) }
    }

    /// The whole IP packet, if it is an application's.
    pub(crate) fn ip(&self) -> Option<&Arc<[u8]>> {
        self.bytes.as_ref().filter(|_| self.packet.flow == DATAGRAMS)
    }
}

impl From<Packet> for Carried {
    fn from(packet: Packet) -> Self {
        Carried { packet, bytes: None }
    }
}

impl Deref for Carried {
    type Target = Packet;

    fn deref(&self) -> &Packet {
        &self.packet
    }
}
