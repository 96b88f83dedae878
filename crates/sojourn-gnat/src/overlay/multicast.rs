//! Multicast: queues with a depth for each destination, and packets that are copied where the ways
//! to their destinations part.

mod forward;
mod packets;
mod queue;

pub use forward::Choice;

use std::sync::Arc;

use super::depth::Shown;
use super::neighbours::bits as members;
use queue::Queue;
use sojourn_base::packet::Packet;
use sojourn_base::units::Time;
use sojourn_net::multicast::{Groups, Stream};

/// Bytes of a packet's set of destinations.
pub const SET: u32 = 8;
/// A group's entry in a message about queues: its number, how many destinations; and each of these.
const GROUP: u32 = 5;
const DESTINATION: u32 = 9;

/// A packet to several members.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The packet, as its host sent it.
    pub packet: Arc<Packet>,
    /// Its size in bytes.
    pub size: u32,
    /// The stream that it is of.
    pub stream: u16,
    /// Members that it is still for, as bits.
    pub to: u64,
    /// When it came into the queue that it is in.
    pub since: Time,
}

impl Parcel {
    /// A packet of a stream, which has just come.
    pub fn new(packet: Arc<Packet>, stream: u16, to: u64) -> Self {
        Parcel { size: packet.size, packet, stream, to, since: Time::ZERO }
    }
}

/// Bytes that depths take in a message.
pub fn told_bytes(groups: &[Vec<f64>]) -> u32 {
    let told = groups.iter().map(|depths| depths.iter().filter(|depth| **depth > 0.0).count());
    told.filter(|count| *count > 0).map(|count| GROUP + DESTINATION * count as u32).sum()
}

/// The groups' queues at a node.
#[derive(Debug)]
pub struct Multicast {
    queues: Vec<Queue>,
    copied: u64,
}

impl Multicast {
    /// Of an overlay; queues show their depths in this way, and so many of their packets are searched.
    pub fn new(groups: &Groups, how: Shown, search: usize) -> Self {
        let members = groups.members.len();
        let queues = groups.groups.iter().map(|_| Queue::new(members, how, search)).collect();
        Multicast { queues, copied: 0 }
    }

    /// Depths of all groups' queues, for each member.
    pub fn shown(&mut self, now: Time) -> Vec<Vec<f64>> {
        self.queues.iter_mut().map(|queue| queue.show(now, u64::MAX).to_vec()).collect()
    }

    /// The depth that a stream pays for: the largest of its destinations'.
    pub fn price(&mut self, now: Time, stream: &Stream) -> f64 {
        let to = stream.destinations(now);
        let shown = self.queues[usize::from(stream.group)].show(now, to);
        members(to).map(|member| shown[member]).fold(0.0, f64::max)
    }

    /// Packets that wait.
    pub fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.packets().len()).sum()
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.packets().bytes()).sum()
    }

    /// Copies that were made of packets here.
    pub fn copied(&self) -> u64 {
        self.copied
    }
}
