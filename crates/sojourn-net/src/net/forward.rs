//! Forwarding: from an edge to a node or a receiver, and into the next edge.

use super::event::Target;
use super::{Hosts, Network, PLAIN, Step, Turn, Wake};
use crate::edge::{Edge, Polled};
use crate::packet::Packet;
use crate::units::Time;

impl Network {
    /// Packets arrive at the far end of an edge, each in `packet`, and are forwarded or delivered.
    pub(super) fn on_edge<H: Hosts>(
        &mut self,
        edge: usize,
        packet: &mut Packet,
        hosts: &mut H,
    ) -> Step {
        let Turn { alarm, decider } = &mut self.edge_turns[edge];
        let decider = *decider;
        match alarm.fired(self.now) {
            Wake::Now => {}
            Wake::At(time) => {
                self.schedule_edge(time, edge);
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        loop {
            if let Polled::Empty(next) = self.edges[edge].poll_into(self.now, packet) {
                self.arm_edge_at(edge, next);
                return Ok(());
            }
            packet.hop = packet.hop.wrapping_add(1);
            match decider {
                PLAIN => self.hand_on(packet, hosts)?,
                node => self.receive(node as usize, edge, *packet, hosts)?,
            }
        }
    }

    pub(super) fn on_medium<H: Hosts>(&mut self, medium: usize, hosts: &mut H) -> Step {
        match self.media[medium].alarm.fired(self.now) {
            Wake::Now => {}
            Wake::At(time) => {
                self.schedule(time, Target::Medium(medium as u32));
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        let mut packet = Packet::default();
        while let Some(channel) = self.media[medium].medium.poll_into(self.now, &mut packet) {
            let Some(&edge) = self.media[medium].channels.get(channel) else {
                let holds = format!("delivers from its channels only, not from channel {channel}");
                return Err(self.fault(format!("medium {medium}"), &holds));
            };
            let edge = edge as usize;
            packet.hop = packet.hop.wrapping_add(1);
            match self.edge_turns[edge].decider {
                PLAIN => self.hand_on(&packet, hosts)?,
                node => self.receive(node as usize, edge, packet, hosts)?,
            }
        }
        while let Some(departure) = self.media[medium].medium.departure() {
            hosts.on_departure(self, departure)?;
        }
        self.arm_medium(medium);
        Ok(())
    }

    #[inline(always)] // once per packet and edge
    pub(super) fn offer(&mut self, edge: usize, packet: &Packet) {
        let Edge::Link(link) = &mut self.edges[edge] else {
            return self.offer_elsewhere(edge, packet);
        };
        let steady = link.is_steady();
        link.offer(self.now, packet);
        if !steady {
            return self.arm_anew(edge);
        }
        // What has arrived and waits to be taken is due now.
        debug_assert!(
            link.next_wakeup()
                .is_none_or(|t| t.max(self.now) >= self.edge_turns[edge].alarm.want()),
            "an offer brought the wake-up forward"
        );
    }

    /// A function of its own, because mostly an offer does not bring a wake-up forward.
    #[inline(never)]
    fn arm_anew(&mut self, edge: usize) {
        self.arm_edge(edge);
    }

    pub(super) fn arm_edge(&mut self, edge: usize) {
        self.arm_edge_at(edge, self.edges[edge].next_wakeup());
    }

    #[inline(always)] // once per event
    fn arm_edge_at(&mut self, edge: usize, next: Option<Time>) {
        let want = next.unwrap_or(Time::NEVER);
        if let Some(time) = self.edge_turns[edge].alarm.arm(want.max(self.now)) {
            self.schedule_edge(time, edge);
        }
    }

    pub(super) fn arm_medium(&mut self, medium: usize) {
        let slot = &mut self.media[medium];
        let want = slot.medium.next_wakeup().unwrap_or(Time::NEVER);
        if let Some(time) = slot.alarm.arm(want.max(self.now)) {
            self.schedule(time, Target::Medium(medium as u32));
        }
    }

    /// Forwards a packet along its route, or delivers it.
    #[inline(always)] // once per packet and edge
    pub(super) fn hand_on<H: Hosts>(&mut self, packet: &Packet, hosts: &mut H) -> Step {
        match self.routes.next(packet) {
            Some(next) => {
                self.offer(next, packet);
                Ok(())
            }
            None => hosts.on_packet(self, packet),
        }
    }

    #[inline(never)]
    fn offer_elsewhere(&mut self, edge: usize, packet: &Packet) {
        match &mut self.edges[edge] {
            Edge::Channel { medium, channel } => {
                let (medium, channel) = (*medium as usize, *channel as usize);
                self.media[medium].medium.offer(self.now, channel, *packet);
                self.arm_medium(medium);
            }
            Edge::Outside(waiting) => waiting.push_back(*packet),
            Edge::Link(_) | Edge::FarEnd(_) | Edge::Elsewhere => {}
        }
    }

    #[inline(always)] // once per event
    fn schedule_edge(&mut self, time: Time, edge: usize) {
        let target = Target::Edge(edge as u32);
        match self.edges[edge] {
            Edge::FarEnd(_) => self.schedule_first(time, target),
            _ => self.events.push(time, target),
        }
    }

    #[inline(never)]
    fn schedule_first(&mut self, time: Time, target: Target) {
        self.events.push_first(time, target);
    }
}
