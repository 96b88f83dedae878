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
    /// Datagrams of a stream to several receivers, which this flow is the first of.
    Stream {
        /// Which stream.
        index: u16,
    },
}

/// A receiver of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// The flow that counts what arrives there.
    pub flow: u32,
    /// The member where it is.
    pub member: u16,
    /// From when and until when it receives: it is among the destinations of packets admitted then.
    pub start: Time,
    /// Until when.
    pub stop: Time,
}

/// Datagrams that are admitted once and go to several receivers.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The multicast group that they are sent to.
    pub group: u16,
    /// Who gets them.
    pub receivers: Vec<Receiver>,
}

impl Stream {
    /// The members that packets admitted now are for, as bits.
    pub fn destinations(&self, now: Time) -> u64 {
        let on =
            self.receivers.iter().filter(|receiver| receiver.start <= now && now < receiver.stop);
        on.fold(0, |set, receiver| set | 1 << receiver.member)
    }
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
    /// Their names.
    pub names: Vec<String>,
    /// Links of the network, by the numbers of the nodes that they join.
    pub links: Vec<[u16; 2]>,
    /// The flows.
    pub flows: Vec<OverlayFlow>,
    /// Streams to several receivers.
    pub streams: Vec<Stream>,
    /// Names of the multicast groups.
    pub groups: Vec<String>,
    /// Datagrams on their way, by the members they come from and go to.
    boxes: Mutex<BTreeMap<(usize, usize), Mailbox<Cargo>>>,
}

impl Together {
    /// The overlay of these nodes, without flows.
    pub fn of(members: Vec<u16>) -> Self {
        Together { members, ..Together::default() }
    }

    /// The flows that only count what a stream brings: to each of its receivers but the first.
    pub fn only_counting(&self) -> impl Iterator<Item = u32> {
        let others = self.streams.iter().flat_map(|stream| stream.receivers.iter().skip(1));
        others.map(|receiver| receiver.flow)
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
