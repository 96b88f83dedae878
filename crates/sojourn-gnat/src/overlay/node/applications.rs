//! Work for applications, if there are any.

use std::sync::Arc;

use super::Overlay;
use super::outside::Attended;
use crate::overlay::applications::{Applications, Connections, Datagrams, Outgoing, To};
use crate::overlay::message::Carried;
use sojourn_base::units::Time;
use sojourn_net::node::NodeInit;

impl Overlay {
    /// The node carries for the applications that it is given.
    pub(super) fn serve_applications(&mut self, init: &NodeInit) {
        let Some(shared) = init.given.get::<Applications>() else { return };
        for service in shared.services() {
            self.forwarding.expect(service.deadline);
        }
        self.outside.applications = Some(Box::new(Attended {
            datagrams: Datagrams::new(self.params.k, init.random),
            connections: Connections::new(Arc::clone(&shared), self.me as u16, self.params.k),
            parcels: Vec::new(),
            shared,
        }));
    }

    /// Takes what applications send, and does what is due for their connections.
    pub(super) fn attend(&mut self, now: Time) {
        let Some(mut attended) = self.outside.applications.take() else { return };
        while let Some(outgoing) = attended.shared.take_datagram() {
            let found = self.queue_of(outgoing.to).and_then(|queue| {
                attended.datagrams.flow(now, &outgoing, queue, &attended.shared, &mut self.udp)
            });
            let Outgoing { bytes, .. } = outgoing;
            match found {
                Some(flow) => self.udp.push(now, flow, Carried::datagram(bytes.into())),
                None => attended.shared.refuse(),
            }
        }
        let Attended { connections, parcels, .. } = &mut *attended;
        connections.attend(now, self.config.members.len());
        while let Some((flow, peer)) = connections.due(now) {
            let depth = self.price(now, peer.into());
            connections.pump(now, flow, depth, parcels);
        }
        for parcel in parcels.drain(..) {
            self.counts.admitted += 1;
            self.forwarding.push(now, parcel);
        }
        self.outside.applications = Some(attended);
    }

    /// The queue of datagrams: those of members, then those of streams.
    fn queue_of(&self, to: To) -> Option<u16> {
        let members = self.config.members.len() as u16;
        match to {
            To::Member(to) => (to < members && usize::from(to) != self.me).then_some(to),
            To::Stream(stream) => {
                let known = usize::from(stream) < self.config.streams.len();
                known.then(|| members.checked_add(stream)).flatten()
            }
        }
    }

    /// A packet has come that belongs to no flow of the scenario.
    pub(super) fn on_application(&mut self, now: Time, packet: &Carried) {
        match packet.ip() {
            Some(bytes) => self.deliver_to_application(bytes),
            None => {
                let Some(attended) = &mut self.outside.applications else { return };
                attended.connections.on_packet(now, packet, &mut attended.parcels);
            }
        }
    }

    /// An IP packet has come for an application here.
    pub(super) fn deliver_to_application(&mut self, bytes: &[u8]) {
        if let Some(attended) = &self.outside.applications {
            self.counts.delivered += 1;
            attended.shared.deliver(bytes);
        }
    }
}
