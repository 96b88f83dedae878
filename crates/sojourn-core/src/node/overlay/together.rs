//! What the nodes of an overlay know of each other before anything is sent: which nodes there are,
//! and which flows are theirs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::cargo::Cargo;
use crate::spec::ServiceSpec;
use crate::transport::sliq::Mailbox;
use crate::units::Time;

/// A datagram between two nodes that is overtaken by so many is lost.
const REORDERED: u64 = 256;
/// Members that a packet can say it has come through.
pub const MOST_MEMBERS: usize = 64;

/// How a flow's hosts speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// Datagrams.
    Udp,
    /// TCP, which the proxies end.
    Tcp {
        /// Payload of a full segment, in bytes.
        mss: u32,
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
    pub speech: Speech,
    /// When it starts.
    pub start: Time,
}

/// What the nodes of an overlay know of each other.
#[derive(Debug, Default)]
pub struct Together {
    /// The nodes, by their numbers in the network.
    pub members: Vec<u16>,
    /// The flows.
    pub flows: Vec<OverlayFlow>,
    /// Datagrams on their way, by the members they come from and go to.
    boxes: Mutex<BTreeMap<(usize, usize), Mailbox<Cargo>>>,
}

impl Together {
    /// The overlay of these nodes and flows.
    pub fn new(members: Vec<u16>, flows: Vec<OverlayFlow>) -> Self {
        Together { members, flows, boxes: Mutex::default() }
    }

    /// The place of a node in the list of members.
    pub fn member(&self, number: u16) -> Option<usize> {
        self.members.iter().position(|member| *member == number)
    }

    /// Datagrams from one member to another.
    pub fn mailbox(&self, from: usize, to: usize) -> Mailbox<Cargo> {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.entry((from, to)).or_insert_with(|| Mailbox::once(REORDERED)).clone()
    }
}
