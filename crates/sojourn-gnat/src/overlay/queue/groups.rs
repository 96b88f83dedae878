//! The queues of all multicast groups at a node.

use std::ops::{Deref, DerefMut};

use super::depth::Shown;
use super::group::GroupQueue;
use crate::overlay::members::bits as members;
use sojourn_base::units::Time;
use sojourn_net::multicast::{self, Stream};

/// The groups' queues at a node.
#[derive(Debug)]
pub(crate) struct Groups {
    queues: Vec<GroupQueue>,
    copied: u64,
}

impl Deref for Groups {
    type Target = [GroupQueue];

    fn deref(&self) -> &[GroupQueue] {
        &self.queues
    }
}

impl DerefMut for Groups {
    fn deref_mut(&mut self) -> &mut [GroupQueue] {
        &mut self.queues
    }
}

impl Groups {
    /// The queues of an overlay's groups, which advertise their depths in this way, and in which
    /// `search` packets are searched.
    pub(crate) fn new(known: &multicast::Groups, how: Shown, search: usize) -> Self {
        let members = known.members.len();
        let queues = known.groups.iter().map(|_| GroupQueue::new(members, how, search)).collect();
        Groups { queues, copied: 0 }
    }

    /// Depths of all groups' queues, for each member.
    pub(crate) fn shown(&mut self, now: Time) -> Vec<Vec<f64>> {
        self.queues.iter_mut().map(|queue| queue.show(now, u64::MAX).to_vec()).collect()
    }

    /// The depth that a stream pays for: the largest of its destinations'.
    pub(crate) fn price(&mut self, now: Time, stream: &Stream) -> f64 {
        let to = stream.destinations(now);
        let shown = self.queues[usize::from(stream.group)].show(now, to);
        members(to).map(|member| shown[member]).fold(0.0, f64::max)
    }

    /// Packets that wait.
    pub(crate) fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.packets().len()).sum()
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.packets().bytes()).sum()
    }

    /// A copy was made of a packet.
    pub(crate) fn on_copy(&mut self) {
        self.copied += 1;
    }

    /// Copies that were made of packets here.
    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }
}
