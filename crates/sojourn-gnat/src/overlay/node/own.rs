//! Processing of packets from other nodes of the overlay.

use std::sync::Arc;

use super::{Overlay, Place};
use crate::overlay::message::{Cargo, Copies, LinkState, Parcel};
use sojourn_base::packet::{Header, Packet, Route};
use sojourn_base::units::Time;
use sojourn_net::multicast::Receiver;
use sojourn_net::node::NodeContext;

impl Overlay {
    /// A packet of another node of the overlay.
    pub(super) fn on_own(&mut self, now: Time, packet: &Packet, cx: &mut NodeContext<'_>) {
        cx.absorb(packet);
        let Header::Opaque(opaque) = packet.header else { return };
        let from = self.config.member(packet.tuple.source);
        let Some(from) = from.and_then(|member| self.by_member[member]) else { return };
        let mut stream = None;
        let neighbours = self.forwarding.neighbours();
        neighbours.change(from, |neighbour| stream = neighbour.on_datagram(now, opaque.handle));
        if neighbours[from].has_new_delay() {
            self.advertising.hasten(now);
        }
        let Some(stream) = stream else { return };
        while let Some(cargo) = self.forwarding.neighbours().read(from, stream) {
            match cargo {
                Cargo::Parcel(parcel) => self.on_parcel(now, parcel, cx),
                Cargo::Copies(copies) => self.on_copies(now, copies, cx),
                Cargo::LinkState(state) => self.on_link_state(now, from, &state),
                _ => {}
            }
        }
    }

    /// A node's links are told. Of its own this node knows more than others do.
    fn on_link_state(&mut self, now: Time, from: usize, state: &Arc<LinkState>) {
        if usize::from(state.origin) != self.me && self.forwarding.map().learn(now, state) {
            self.forwarding.flood(now, state, Some(from));
        }
    }

    /// A packet of a flow has come over the overlay.
    fn on_parcel(&mut self, now: Time, parcel: Parcel, cx: &mut NodeContext<'_>) {
        if usize::from(parcel.to) != self.me {
            // An application's, of whose deadlines only its own node knows.
            if parcel.due.is_some() && !self.forwarding.is_timed() {
                self.forwarding.expect_deadlines();
            }
            return self.forwarding.push(now, parcel);
        }
        match self.places.get(parcel.packet.flow as usize) {
            Some(Place::UdpOut(reported)) => {
                if let (Some(flow), Header::Datagram(datagram)) = (reported, parcel.packet.header) {
                    let late = parcel.due.is_some_and(|due| now > due);
                    self.receipts.on_packet(now, *flow, datagram.seq, late);
                }
                self.deliver(parcel.packet.packet, cx);
            }
            Some(Place::UdpIn(flow)) => {
                if let Header::Opaque(report) = parcel.packet.header {
                    self.udp.on_report(*flow, f64::from(report.payload) / 100.0);
                }
            }
            Some(Place::Tcp(flow)) => {
                let flow = *flow;
                self.tcp.on_packet(now, flow, &parcel.packet);
                self.pump_tcp(now, flow, cx);
            }
            _ => self.on_application(now, &parcel.packet),
        }
    }

    /// A packet to several members has come: it may be for this node, and for others.
    #[inline(never)]
    fn on_copies(&mut self, now: Time, copies: Copies, cx: &mut NodeContext<'_>) {
        let config = Arc::clone(&self.config);
        let stream = &config.streams[usize::from(copies.stream)];
        if copies.to >> self.me & 1 == 1 {
            let ip = copies.packet.ip();
            ip.into_iter().for_each(|bytes| self.deliver_to_application(bytes));
            let mine = |r: &&Receiver| ip.is_none() && usize::from(r.member) == self.me;
            let mine = stream.receivers.iter().filter(mine);
            for receiver in mine {
                self.counts.delivered += 1;
                let packet = Packet { flow: receiver.flow, ..copies.packet.packet };
                let socket = 2 * receiver.flow + 1;
                let copy = cx.copy(&packet, Route::default(), socket);
                cx.forward(copy);
            }
        }
        self.forwarding.push_copies(now, stream.group, copies);
    }
}
