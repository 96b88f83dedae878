//! What a node tells of itself: its state at an instant, which others read while it goes on.

mod gather;
mod means;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sojourn_sliq::secure::{Counters, PeerId};

use crate::overlay::ApplicationCounts;
pub use gather::{Names, gather};
use means::Mark;

/// The state of a node at an instant. Counts are from its start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// Its name.
    pub node: String,
    /// Seconds since it was started.
    pub uptime_s: f64,
    /// By neighbour, in the order of its links.
    pub neighbours: Vec<NeighbourTold>,
    /// By other member of the overlay, in the order of their numbers.
    pub queues: Vec<QueueTold>,
    /// Of each flow that begins or ends here.
    pub flows: Vec<FlowTold>,
    /// Packets of all flows here.
    pub packets: PacketsTold,
    /// Programs at the node, if it has a device for them.
    #[serde(default)]
    pub applications: Option<ApplicationsTold>,
    /// Datagrams that were refused at the gate.
    pub strangers: StrangersTold,
    /// From where the next means are taken.
    #[serde(skip)]
    pub(super) mark: Mark,
}

/// A neighbour, and the connection to it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NeighbourTold {
    /// Its name.
    pub node: String,
    /// Where it was last heard, or is said to be.
    pub address: Option<String>,
    /// Whether the connection works.
    pub works: bool,
    /// Smoothed RTT of the connection, in ms.
    pub rtt_ms: Option<f64>,
    /// Mean time from a packet's coming to the connection's queue to its arrival, in ms.
    pub latency_ms: Option<f64>,
    /// What the connection can carry, in Mbit/s.
    pub capacity_mbit: Option<f64>,
    /// Age of the key that seals, in s; none before the first handshake.
    pub key_age_s: Option<f64>,
    /// By how much its clock is ahead of ours, in ms.
    pub clock_ms: Option<f64>,
    /// Seconds since something of it was opened.
    pub silent_s: Option<f64>,
    /// Packets that connections to it held when they were begun anew.
    pub lost_packets: u64,
    /// What has been exchanged with it.
    #[serde(flatten)]
    pub exchanged: Exchanged,
}

/// What has been exchanged with a neighbour, in sealed datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Sealed bytes to it.
    pub sent_bytes: u64,
    /// Sealed datagrams to it.
    pub sent_datagrams: u64,
    /// Sealed bytes of it that were opened.
    pub received_bytes: u64,
    /// Datagrams of it that were opened.
    pub received_datagrams: u64,
    /// Datagrams to it that were dropped for want of a key or an address.
    pub unsealed_datagrams: u64,
    /// Datagrams of it that were opened, and then refused: they are no packet of the overlay.
    pub refused_datagrams: u64,
}

/// The queue of what goes to a member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QueueTold {
    /// Its name.
    pub node: String,
    /// Bytes of packets.
    pub bytes: u64,
    /// Bytes of zombies.
    pub zombie_bytes: u64,
    /// Packets.
    pub packets: Option<u64>,
}

/// A flow that begins or ends at the node. What is counted at the other end alone is not known here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowTold {
    /// Its number in the scenario.
    pub flow: u32,
    /// Its label there.
    pub label: Option<String>,
    /// Where it begins.
    pub from: Option<String>,
    /// Where it ends.
    pub to: Option<String>,
    /// Packets that its host sent.
    pub sent_packets: Option<u64>,
    /// Their bytes of payload.
    pub sent_bytes: Option<u64>,
    /// Of these, packets that were admitted to the overlay.
    pub admitted_packets: Option<u64>,
    /// And that were refused: they waited too long, or the flow is turned off.
    pub refused_packets: Option<u64>,
    /// Packets that its host received.
    pub delivered_packets: Option<u64>,
    /// Their bytes of payload.
    pub delivered_bytes: Option<u64>,
    /// Rate of sending over the last second, in Mbit/s of payload.
    pub sent_mbit: Option<f64>,
    /// Rate of delivery over the last second, in Mbit/s of payload.
    pub delivered_mbit: Option<f64>,
    /// Mean time from writing to delivery over the last second, in ms.
    pub delay_ms: Option<f64>,
}

/// Packets of all flows at the node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PacketsTold {
    /// Admitted to the overlay here.
    pub admitted: u64,
    /// Refused here, before admission.
    pub refused: u64,
    /// Delivered to hosts here.
    pub delivered: u64,
    /// Dropped here because they could not arrive in time.
    pub expired: u64,
    /// More that were made of packets to several receivers.
    pub copied: u64,
    /// That connections held when they were begun anew.
    pub lost: u64,
    /// Held here now: before admission, in queues, and with connections.
    pub held: u64,
}

/// What programs at the node exchange with those elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplicationsTold {
    /// TCP connections that there are.
    pub connections: u64,
    /// TCP connections that have been opened, from here or from elsewhere.
    pub opened_connections: u64,
    /// TCP connections that were reset.
    pub reset_connections: u64,
    /// Bytes of connections from programs.
    pub taken_bytes: u64,
    /// Bytes of connections to programs.
    pub given_bytes: u64,
    /// Datagrams from programs.
    pub taken_datagrams: u64,
    /// Datagrams to programs.
    pub given_datagrams: u64,
    /// Datagrams for which there was no room, or nobody.
    pub refused_datagrams: u64,
}

/// Datagrams that changed nothing, by the reason why they were refused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StrangersTold {
    /// No message's length or type, or an address that nobody has.
    pub malformed: u64,
    /// Of an unknown session, or of a key that no neighbour has.
    pub stranger: u64,
    /// Handshake messages for another public key than ours.
    pub mac: u64,
    /// Initiations that were answered with a cookie.
    pub cookies: u64,
    /// Handshake messages beyond the number that is heeded.
    pub limited: u64,
    /// Initiations no newer than an earlier one of their neighbour.
    pub old: u64,
    /// Data that had arrived before, or is too old to know.
    pub replayed: u64,
    /// Changed on their way, or sealed with another key.
    pub unopened: u64,
}

/// A neighbour, as those who drive a node know it.
#[derive(Clone, Debug)]
pub struct LinkTold {
    /// Its number at the gate.
    pub id: PeerId,
    /// Its name.
    pub node: String,
    /// What has been exchanged with it.
    pub exchanged: Exchanged,
}

/// The latest state, for those who ask.
#[derive(Debug, Default)]
pub struct Shared(Mutex<Told>);

impl Shared {
    /// The latest state.
    pub fn get(&self) -> Told {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces it.
    pub fn set(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}

impl StrangersTold {
    /// Each reason as a word and as told to people, with its count.
    pub(super) fn reasons(&self) -> [(&'static str, &'static str, u64); 8] {
        [
            ("malformed", "no message, or of no address", self.malformed),
            ("stranger", "of an unknown session or key", self.stranger),
            ("mac", "handshake with another node", self.mac),
            ("cookie", "answered with a cookie", self.cookies),
            ("limited", "too many handshakes", self.limited),
            ("old", "no newer than an earlier one", self.old),
            ("replayed", "had arrived before", self.replayed),
            ("unopened", "changed, or of another key", self.unopened),
        ]
    }
}

impl ApplicationsTold {
    /// Of what the overlay counts, and of packets that did not get there.
    pub(super) fn of(counts: &ApplicationCounts, refused: u64) -> Self {
        ApplicationsTold {
            connections: counts.open,
            opened_connections: counts.opened,
            reset_connections: counts.reset,
            taken_bytes: counts.bytes_in,
            given_bytes: counts.bytes_out,
            taken_datagrams: counts.datagrams_in,
            given_datagrams: counts.datagrams_out,
            refused_datagrams: counts.datagrams_refused + refused,
        }
    }
}

impl From<&Counters> for StrangersTold {
    fn from(counters: &Counters) -> Self {
        let Counters { malformed, stranger, mac, cookies, limited, old, replayed, unopened } =
            *counters;
        StrangersTold { malformed, stranger, mac, cookies, limited, old, replayed, unopened }
    }
}
