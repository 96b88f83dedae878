//! Packets and timers of active nodes.

use super::event::Target;
use super::{Hosts, Network, PLAIN, Step, Wake};
use crate::error::Fault;
use crate::node::{Action, Behaviour, Node, NodeContext, Port};
use crate::packet::Packet;
use crate::units::Time;

impl Network {
    /// A packet arrives at an active node.
    #[inline(never)]
    pub(super) fn receive<H: Hosts>(
        &mut self,
        node: usize,
        from: usize,
        packet: Packet,
        hosts: &mut H,
    ) -> Step {
        self.nodes[node].counters.received += 1;
        let now = self.now;
        self.call(node, hosts, |node, cx| node.on_packet(now, from, packet, cx))
    }

    pub(super) fn on_node<H: Hosts>(&mut self, node: usize, hosts: &mut H) -> Step {
        match self.nodes[node].alarm.fired(self.now) {
            Wake::Now => {
                let now = self.now;
                self.call(node, hosts, |node, cx| node.on_timer(now, cx))
            }
            Wake::At(time) => {
                self.schedule(time, Target::Node(node as u32));
                Ok(())
            }
            Wake::Not => Ok(()),
        }
    }

    /// Calls a node and carries out its actions.
    fn call<H: Hosts>(
        &mut self,
        node: usize,
        hosts: &mut H,
        tell: impl FnOnce(&mut dyn Node, &mut NodeContext<'_>),
    ) -> Step {
        let mut actions = std::mem::take(&mut self.actions);
        let slot = &mut self.nodes[node];
        if let Behaviour::Other(other) = &mut slot.behaviour {
            let (ports, counters) = (&slot.ports[..], &mut slot.counters);
            let mut cx = NodeContext { ports, counters, actions: &mut actions };
            tell(other.as_mut(), &mut cx);
            let want = other.next_timer().unwrap_or(Time::NEVER).max(self.now);
            if let Some(time) = slot.alarm.arm(want) {
                self.schedule(time, Target::Node(node as u32));
            }
        }
        for action in actions.drain(..) {
            self.carry_out(node, action, hosts)?;
        }
        self.actions = actions;
        Ok(())
    }

    fn carry_out<H: Hosts>(&mut self, node: usize, action: Action, hosts: &mut H) -> Step {
        if !self.step_to(self.now) {
            return Err(self.stuck(self.now, Target::Node(node as u32), hosts));
        }
        let (edge, packet) = match action {
            Action::Send(port, packet) => (port.edge, self.rerouted(node, port, packet)?),
            Action::Forward(packet) => match self.routes.next(&packet) {
                Some(edge) => (edge, packet),
                None => {
                    self.nodes[node].counters.delivered += 1;
                    return hosts.on_packet(self, &packet);
                }
            },
        };
        if !self.nodes[node].ports.iter().any(|port| port.edge == edge) {
            let way = self.edge_facts.get(edge).map_or("an unknown edge", |facts| &facts.id);
            return Err(self.node_fault(node, &format!("sends out of its ports only, not {way}")));
        }
        self.nodes[node].counters.sent += 1;
        self.offer(edge, &packet);
        Ok(())
    }

    /// A packet that leaves by `port` in place of the next edge of its route; the last edge of a
    /// route is never skipped.
    fn rerouted(&self, node: usize, port: Port, mut packet: Packet) -> Result<Packet, Box<Fault>> {
        if self.routes.next(&packet).is_none() {
            packet.hop = packet.hop.wrapping_sub(1);
            return Ok(packet);
        }
        let there = Packet { hop: packet.hop.wrapping_add(1), ..packet };
        let (Some(next), Some(out)) = (self.routes.next(&there), self.edge_facts.get(port.edge))
        else {
            return Ok(packet);
        };
        if self.edge_turns[port.edge].decider == PLAIN && !out.joins(&self.edge_facts[next]) {
            let (out, next) = (&out.id, &self.edge_facts[next].id);
            let holds =
                format!("sends over {out} only what can continue there, not packets for {next}");
            return Err(self.node_fault(node, &holds));
        }
        Ok(packet)
    }

    #[cold]
    fn node_fault(&self, node: usize, holds: &str) -> Box<Fault> {
        self.fault(format!("node {}", self.nodes[node].name), holds)
    }
}
