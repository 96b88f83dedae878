//! Multicast groups: their member nodes, and the streams that are sent to them.

use crate::units::Time;

/// Maximum number of nodes that carry groups: sets of them are the bits of a `u64`.
pub const MOST_MEMBERS: usize = 64;

/// A receiver of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// The flow that counts what the receiver gets.
    pub flow: u32,
    /// The member node at which it is.
    pub member: u16,
    /// Start of reception: it is among the destinations of packets admitted from then on.
    pub start: Time,
    /// End of reception.
    pub stop: Time,
}

/// Datagrams that are admitted once and go to several receivers.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The multicast group that they are sent to.
    pub group: u16,
    /// Its receivers.
    pub receivers: Vec<Receiver>,
}

impl Stream {
    /// Members for which packets admitted now are destined, as bits.
    pub fn destinations(&self, now: Time) -> u64 {
        let on =
            self.receivers.iter().filter(|receiver| receiver.start <= now && now < receiver.stop);
        on.fold(0, |set, receiver| set | 1 << receiver.member)
    }

    /// The flow that sends it: that of its first receiver.
    pub fn sender(&self) -> Option<u32> {
        self.receivers.first().map(|receiver| receiver.flow)
    }
}

/// Shared knowledge of the nodes that carry groups.
#[derive(Debug, Default)]
pub struct Groups {
    /// The nodes, by their numbers in the network.
    pub members: Vec<u16>,
    /// Their names.
    pub names: Vec<String>,
    /// Links of the network, by the numbers of the nodes that they join.
    pub links: Vec<[u16; 2]>,
    /// Streams to several receivers.
    pub streams: Vec<Stream>,
    /// Names of the multicast groups.
    pub groups: Vec<String>,
}

impl Groups {
    /// The place of a node in the list of members.
    pub fn member(&self, number: u16) -> Option<usize> {
        self.members.iter().position(|member| *member == number)
    }

    /// Flows that only count what a stream delivers: one for each of its receivers but the first.
    pub fn only_counting(&self) -> impl Iterator<Item = u32> {
        let others = self.streams.iter().flat_map(|stream| stream.receivers.iter().skip(1));
        others.map(|receiver| receiver.flow)
    }
}
