//! Connections are opened, and their sockets used again.

use super::connection::Connection;
use super::{Driver, LINGER};
use crate::error::Fault;
use crate::net::Network;
use crate::packet::{Address, FiveTuple};
use crate::sim::recorded::{self, Told};
use crate::sim::sockets::Sockets;
use crate::spec::Transport;
use crate::transport::TransportInit;
use crate::units::Time;

/// Connections that can be open at once: timers are numbered.
const MOST: usize = 1_000_000;

impl Driver {
    /// Gives a new connection a slot.
    pub(super) fn open(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &Network,
        entry: usize,
        variant: u16,
    ) -> Result<usize, Box<Fault>> {
        self.clear(hosts, net.now());
        let slot = self.free.pop().map_or(self.slots.len(), |slot| slot as usize);
        if slot == MOST {
            let name = self.entries[entry].name.clone();
            return Err(net.fault(name, "has at most 1,000,000 connections at once"));
        }
        let first = self.first_socket + 2 * slot;
        let owner = &mut self.entries[entry];
        let numbered = owner.number();
        let full = || net.fault(owner.name.clone(), "has at most 16,777,216 connections in all");
        let (flow, random) = numbered.ok_or_else(full)?;
        let path = &owner.paths[usize::from(variant)];
        let address = |own: Address, socket: usize, tuple: FiveTuple| Address {
            flow,
            socket: socket as u32,
            tuple: FiveTuple { ports: flow, ..tuple },
            ..own
        };
        let [there, back] = path.addresses;
        let requests = owner.spec.keys.request.is_some();
        let init = TransportInit {
            flow: &path.flow,
            addresses: [address(there, first + 1, there.tuple), address(back, first, back.tuple)],
            base_rtt: path.base_rtt,
            small_queue: path.small_queue,
            requests,
            copied: self.copied,
            random,
            memory: self.memory.as_ref(),
            now: net.now(),
        };
        let transport = &path.flow.transport;
        let made = self
            .catalogue
            .find::<Transport>(&transport.kind)
            .and_then(|kind| (kind.make)(&transport.params, &init, &self.catalogue));
        let ends = made.map_err(|error| net.fault(owner.name.clone(), &error.to_string()))?;
        let about = (flow, &path.flow, requests);
        let ends = recorded::ends(ends, about, Told::default(), path.captured.as_ref());
        hosts.seat(first, ends);
        let connection = Connection::new(entry, flow, !path.datagrams);
        owner.counts.connections += 1;
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(Box::new(connection));
        Ok(slot)
    }

    /// Frees the slots of connections that were over long enough ago.
    fn clear(&mut self, hosts: &mut dyn Sockets, now: Time) {
        while let Some((_, slot, flow)) =
            self.lingering.front().copied().filter(|(since, ..)| *since + LINGER <= now)
        {
            self.lingering.pop_front();
            self.empty(hosts, slot as usize);
            if let Some(capture) = &self.capture {
                capture.close(flow);
            }
            self.free.push(slot);
        }
    }

    fn empty(&mut self, hosts: &mut dyn Sockets, slot: usize) {
        hosts.clear(self.first_socket + 2 * slot);
        self.slots[slot] = None;
    }

    /// Takes the ends of a connection that is over from its slot if nothing can come to them: each has
    /// got what the other one has sent, and has no timer.
    pub(super) fn let_go(&mut self, hosts: &mut dyn Sockets, slot: usize) {
        let first = self.first_socket + 2 * slot;
        let [one, other] = [first, first + 1].map(|socket| {
            let end = hosts.end(socket);
            end.exchanged().filter(|_| end.next_timeout().is_none())
        });
        // A copy would come unannounced, and so would what a node makes.
        let Some(([sent, got], [answered, heard])) = one.zip(other).filter(|_| !self.copied) else {
            return;
        };
        if sent == heard && answered == got {
            self.empty(hosts, slot);
        }
    }
}
