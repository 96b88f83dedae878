//! What the nodes of an overlay know of each other before anything is sent: which nodes there are,
//! and which flows are theirs.

use std::ops::Deref;

use crate::ServiceSpec;
use sojourn_base::units::Time;
use sojourn_net::multicast::Groups;

/// How a flow's hosts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowTransport {
    /// Datagrams.
    Udp,
    /// TCP, which the proxies end.
    Tcp {
        /// Payload of a full segment, in bytes.
        mss: u32,
    },
    /// Datagrams of a stream to several receivers, which this flow is the first of.
    Stream {
        /// Which stream.
        index: u16,
    },
}

/// A flow of the overlay's.
#[derive(Clone, Debug)]
pub struct OverlayFlow {
    /// Its number.
    pub flow: u32,
    /// The members where it begins and ends.
    pub ends: [u16; 2],
    /// What is to be done for it.
    pub service: ServiceSpec,
    /// How its hosts speak.
    pub transport: FlowTransport,
    /// When it starts.
    pub start: Time,
}

/// What the nodes of an overlay know of each other.
#[derive(Debug, Default)]
pub struct OverlayConfig {
    /// Which nodes there are, and which groups.
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
    /// The overlay of these nodes, with these flows.
    pub fn new(known: Groups, flows: Vec<OverlayFlow>) -> Self {
        OverlayConfig { known, flows }
    }
}
