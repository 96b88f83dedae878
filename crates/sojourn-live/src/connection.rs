//! A connection that carries transfers, as the network knows it.

use sojourn_base::packet::Address;
use sojourn_sim::sim::arrivals::EntryCounters;

use crate::shown::Shown;

/// A connection; what is left of one that is over still passes the network.
pub(crate) struct Connection {
    /// Index of its entry.
    pub entry: usize,
    /// Its flow number.
    pub flow: u32,
    /// Addresses of its packets, there and back.
    pub addresses: [Address; 2],
    /// Packets that entered the network, there and back.
    pub entered: [u32; 2],
    /// Whether it carries several transfers.
    pub persistent: bool,
    /// What its packets have shown, unless it is over, or sends datagrams.
    pub shown: Option<Box<Shown>>,
    /// Whether it counts among those that are open, as datagrams do until they have arrived.
    pub counts: bool,
}

impl Connection {
    /// Payload that has reached the receiver in order.
    pub(crate) fn arrived(&self) -> u64 {
        self.shown.as_ref().map_or(0, |shown| shown.arrived())
    }

    /// It is not open any more.
    pub(crate) fn leave(&mut self, counts: &mut EntryCounters) {
        if std::mem::replace(&mut self.counts, false) {
            counts.connections -= 1;
            counts.carried_bytes += self.arrived();
        }
    }
}
