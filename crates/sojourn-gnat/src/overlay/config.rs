//! Overlay configuration: the members and the flows of an overlay, which its nodes know before they
//! exchange messages.

use std::ops::Deref;

use crate::ServiceSpec;
use sojourn_base::units::Time;
use sojourn_net::multicast::Groups;

/// Transport of a flow's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowTransport {
    /// Datagrams.
    Udp,
    /// TCP, which the proxies terminate.
    Tcp {
        /// Payload of a full segment, in bytes.
        mss: u32,
    },
    /// Datagrams of a stream to several receivers, of which this flow is the first.
    Stream {
        /// Number of the stream.
        index: u16,
    },
}

/// A flow of the overlay.
#[derive(Clone, Debug)]
pub struct OverlayFlow {
    /// Its number.
    pub flow: u32,
    /// The members where it begins and ends.
    pub ends: [u16; 2],
    /// Its service.
    pub service: ServiceSpec,
    /// Transport of its hosts.
    pub transport: FlowTransport,
    /// When it starts.
    pub start: Time,
}

/// A node's first advertisement of links has the number after this one; without it, the first is 1.
/// One that has run before is given a number above those that others may remember of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastNumber(pub u32);

/// Bytes of the largest datagram between two nodes; without it, that of SLIQ. Where datagrams are
/// sealed, the seal takes some. It bounds what is added to a packet; a packet that is too long by
/// itself is refused by [`check_sizes`](crate::check_sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest(pub usize);

/// Members and flows of an overlay.
#[derive(Debug, Default)]
pub struct OverlayConfig {
    /// The members, and the groups.
    known: Groups,
    /// The flows.
    pub flows: Vec<OverlayFlow>,
}

impl Deref for OverlayConfig {
    type Target = Groups;

    fn deref(&self) -> &Groups {
        &self.known
    }
}

impl OverlayConfig {
    /// The configuration of these nodes, with these flows.
    pub fn new(known: Groups, flows: Vec<OverlayFlow>) -> Self {
        OverlayConfig { known, flows }
    }
}
