//! What a gate tells of its peers.

use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use super::peer::Peer;
use super::{Ages, Boot};

/// A peer's number at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

/// What a datagram was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing for the application.
    Nothing,
    /// Content of this peer.
    Data(PeerId),
    /// A session with this peer begins: the first, a renewed one, or, with another boot, that of a
    /// process that has started anew. If the content is not empty, it is the first of that session.
    Session {
        /// Whose.
        peer: PeerId,
        /// Of the peer's process.
        boot: Boot,
        /// Where it is.
        address: SocketAddr,
    },
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Where it was last heard, or is said to be.
    pub address: Option<SocketAddr>,
    /// Age of the session that seals; `None` without one.
    pub age: Option<Span>,
    /// Bytes under that session, both ways.
    pub bytes: u64,
    /// Boot of the peer in that session.
    pub boot: Option<Boot>,
    /// When it was last heard.
    pub heard: Option<Time>,
}

impl Told {
    pub(super) fn of(peer: &Peer, now: Time, ages: &Ages) -> Self {
        let session = peer.keys.told(now).filter(|(age, ..)| *age < ages.refuse);
        Told {
            address: peer.address,
            age: session.map(|(age, ..)| age),
            bytes: session.map_or(0, |(_, bytes, _)| bytes),
            boot: session.map(|(.., boot)| boot),
            heard: peer.heard,
        }
    }
}
