//! Transfers of datagrams, as the packets that leave the network show them. Nothing is acknowledged: they
//! are over where they arrive, as the simulator's are.

use sojourn_base::packet::{Datagram, Header, Packet};
use sojourn_base::units::Time;
use sojourn_net::record::FlowCounters;
use sojourn_sim::sim::arrivals::{Counted, End, PATIENCE, Row};
use sojourn_sim::transport::Endpoint;
use sojourn_sim::transport::udp::Receiver;

use crate::news::Begun;

/// A transfer under way.
pub(crate) struct Datagrams {
    begun: Begun,
    /// What the simulator has where they arrive: it knows duplicates.
    receiver: Receiver,
    /// When the last one came that was new.
    progress: Time,
}

impl Datagrams {
    /// A transfer of which nothing has arrived.
    pub(crate) fn new(begun: Begun) -> Self {
        Datagrams { begun, receiver: Receiver::new(), progress: begun.start }
    }

    /// A datagram with so much payload has left the network at the receiver. Returns whether all are
    /// there.
    pub(crate) fn received(&mut self, now: Time, packet: &Packet, payload: u16) -> bool {
        let before = self.arrived();
        let datagram = Datagram { payload, seq: packet.index, written_at: self.begun.start };
        let packet = Packet { header: Header::Datagram(datagram), ..*packet };
        self.receiver.on_packet(now, &packet);
        if self.arrived() > before {
            self.progress = now;
        }
        self.arrived() >= self.begun.size
    }

    /// Whether it waits for what was lost, for so long that it has failed.
    pub(crate) fn has_failed(&self, now: Time) -> bool {
        now.since(self.progress) >= PATIENCE
    }

    /// Index of its entry.
    pub(crate) fn entry(&self) -> usize {
        self.begun.entry.into()
    }

    /// Payload that has arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Its row; all of it had arrived at this time, if it has.
    pub(crate) fn row(&mut self, end: End, completed: Option<Time>) -> Row {
        let Begun { entry, variant, group, arrival, start, size, ideal, .. } = self.begun;
        let mut counters = FlowCounters::default();
        self.receiver.report(self.progress, &mut counters);
        let (entry, start, counted) = (entry.into(), Some(start), Counted::from(&counters));
        Row { entry, variant, group, arrival, start, completed, size, ideal, counted, end }
    }
}
