//! Execution of orders, and connections that begin anew by themselves.

use super::{Overlay, Place};
use crate::ServiceSpec;
use crate::overlay::orders::Order;
use sojourn_base::units::{Span, Time};

/// How often connections are looked at.
const LOOK_EVERY: Span = Span::from_secs(5);

impl Overlay {
    /// Carries out the orders that wait, and begins connections anew of which nothing comes.
    pub(super) fn obey(&mut self, now: Time) {
        let Some(orders) = self.outside.orders.clone() else { return };
        while let Some(order) = orders.next() {
            match order {
                Order::Restart { member } => self.restart(now, member.into()),
                Order::Service { flow, service } => self.serve(now, flow, &service),
            }
        }
        if now >= self.outside.look_at {
            self.outside.look_at = now + LOOK_EVERY;
            let members = self.config.members.len();
            self.forwarding.neighbours().change_all(|_, neighbour| {
                if neighbour.is_stuck(now) {
                    neighbour.restart(now, members);
                }
            });
        }
    }

    fn restart(&mut self, now: Time, member: usize) {
        let Some(index) = self.by_member.get(member).copied().flatten() else { return };
        let members = self.config.members.len();
        let neighbours = self.forwarding.neighbours();
        neighbours.change(index, |neighbour| neighbour.restart(now, members));
    }

    /// A flow has another service. One that admission had turned off may try again.
    fn serve(&mut self, now: Time, flow: u32, service: &ServiceSpec) {
        let described = self.config.flows.iter().find(|described| described.flow == flow);
        let Some([from, to]) = described.map(|described| described.ends) else { return };
        self.forwarding.expect(service.deadline);
        let place = &mut self.places[flow as usize];
        match place {
            Place::UdpIn(entry) => {
                let chance = self.outside.random.child("flow").uniform_at(flow.into());
                self.udp.set_service(now, *entry, service, self.params.k, chance);
            }
            Place::Tcp(entry) => self.tcp.set_service(*entry, service, self.params.k),
            Place::UdpOut(reported) => {
                let covered = service.deadline.filter(|_| service.utility.is_inelastic());
                *reported = covered.map(|deadline| {
                    self.receipts.set(*reported, flow, from, service.priority, deadline)
                });
            }
            Place::None => {}
        }
        let place = *place;
        if usize::from(from) != self.me {
            return;
        }
        self.priorities.forget(flow);
        for step in &service.priority_schedule {
            self.priorities.plan(Time::ZERO + step.at, flow, step.value);
        }
        match self.watched.iter().position(|watched| *watched == place) {
            Some(watched) => self.supervision.set_service(now, watched, service),
            // No single queue tells of a flow to several members.
            None if !self.params.supervised || self.is_stream(flow) => {}
            None => {
                if self.supervision.watch(to.into(), service) {
                    self.watched.push(place);
                    self.supervision.begin(now);
                }
            }
        }
    }

    fn is_stream(&self, flow: u32) -> bool {
        use crate::overlay::config::FlowTransport::Stream;
        let mut flows = self.config.flows.iter();
        flows.any(|known| known.flow == flow && matches!(known.transport, Stream { .. }))
    }
}
