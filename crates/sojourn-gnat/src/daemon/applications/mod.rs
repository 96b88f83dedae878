//! Programs that use the overlay as they are: their packets come out of a network device and go into it.
//!
//! | part | file |
//! | --- | --- |
//! | the device | `tun` |
//! | packets: their addresses and ports, other ones for them | `ip` |
//! | who is reached, with which service | `reach` |
//! | connections of programs and those of this node, which stand for them | `nat` |
//! | this node's sockets; one of them | `sockets`, `connection` |
//!
//! A datagram goes through the overlay as it is. A TCP connection does not: this machine's kernel ends it,
//! at a socket of this node whose addresses are translated on the way through the device, and the overlay
//! carries its bytes to the other node, where another socket has the other program as its peer.

mod connection;
mod ip;
mod nat;
mod reach;
mod sockets;
mod tun;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use sojourn_base::units::{Span, Time};

use super::config::ApplicationsConfig;
use super::told::ApplicationsTold;
use crate::overlay::{
    Applications, DatagramKey, Event, GroupOfApplications, Opening, OverlayConfig, To,
};
use connection::Connection;
use ip::{Ends, Head, IGMP, TCP};
use nat::{PHANTOM, Table};
use reach::{Group, Reach};
use sockets::{Sockets, leads_to};
use tun::Device;

/// Packets that are taken from the device in one turn, so that neighbours are heard in between.
const PACKETS: usize = 1_024;
/// How often closed connections are looked through.
const SWEEPING: Span = Span::from_millis(1_000);

/// The node's programs.
pub(super) struct Programs {
    reach: Reach,
    device: Device,
    table: Table,
    sockets: Sockets,
    /// What the node has of them.
    overlay: Arc<Applications>,
    /// The streams of groups.
    known: Arc<OverlayConfig>,
    packet: Vec<u8>,
    sweep_at: Time,
    /// Packets of programs that nobody is there for.
    refused: u64,
}

/// What the overlay is to know of programs before it is there.
pub(super) struct Setup(Reach);

impl Setup {
    /// That of a checked configuration, with the names of the overlay's members.
    pub(super) fn new(config: &ApplicationsConfig, node: &str, members: &[&str]) -> Self {
        Setup(Reach::new(config, node, members))
    }

    /// What the overlay and the programs of this node have in common. A node that is started again has
    /// other numbers for its flows than before.
    pub(super) fn applications(&self) -> Applications {
        Applications::new(self.0.services(), self.0.me, rand::random())
    }

    /// The groups of programs.
    pub(super) fn groups(&self) -> Vec<GroupOfApplications> {
        let group = |group: &Group| GroupOfApplications {
            address: group.address.to_bits(),
            receivers: group.receivers.clone(),
        };
        self.0.groups().iter().map(group).collect()
    }
}

impl Programs {
    /// Programs that are reached by a device of this name.
    ///
    /// # Errors
    /// The system has no device or no sockets; with the remedy.
    pub(super) fn open(
        setup: Setup,
        device: &str,
        overlay: Arc<Applications>,
        known: Arc<OverlayConfig>,
    ) -> io::Result<Self> {
        let reach = setup.0;
        let device = Device::open(device, &reach)?;
        let sockets = Sockets::new(reach.address(), device.descriptor())?;
        let table = Table::new(rand::random());
        let (packet, sweep_at) = (vec![0; 2 * tun::MTU], Time::ZERO);
        Ok(Programs { reach, device, table, sockets, overlay, known, packet, sweep_at, refused: 0 })
    }

    /// What tells that programs have something for the node.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.sockets.descriptor()
    }

    /// What is told of them.
    pub(super) fn told(&self) -> ApplicationsTold {
        ApplicationsTold::of(&self.overlay.counts(), self.refused)
    }

    /// Takes what the overlay has for programs, and what they have for it; whether there is more at once.
    ///
    /// # Errors
    /// If the device or a socket cannot be used.
    pub(super) fn turn(&mut self, now: Time) -> io::Result<bool> {
        while let Some(event) = self.overlay.next() {
            self.take(event, now);
        }
        let packets = self.packets(now)?;
        self.sockets.look()?;
        self.accept(now);
        let bytes = self.sockets.drive(&self.overlay);
        for port in self.sockets.closed.drain(..) {
            self.table.close(port, now);
        }
        if now >= self.sweep_at {
            self.table.sweep(now);
            self.sweep_at = now + SWEEPING;
        }
        // What sockets have answered is in the device.
        Ok(self.packets(now)? || packets || bytes)
    }

    /// Whether the node has something of programs to do.
    pub(super) fn waits(&self) -> bool {
        self.overlay.waits()
    }

    fn take(&mut self, event: Event, now: Time) {
        match event {
            Event::Datagram(packet) => match Head::of(&packet) {
                Some(head) if self.reach.takes(&head) => self.device.write(&packet[..head.length]),
                _ => self.refused += 1,
            },
            Event::Opened { flow, opening } => {
                if !self.ask(flow, &opening, now) {
                    self.overlay.reset(flow);
                }
            }
            Event::Finished { flow } => {
                if let Some(connection) = self.sockets.of(flow) {
                    connection.ends();
                }
            }
            Event::Reset { flow } => self.sockets.drop(flow),
            Event::Readable { flow } | Event::Writable { flow } => {
                self.sockets.of(flow);
            }
        }
    }

    /// Asks a program here for a connection; whether it may be asked.
    fn ask(&mut self, flow: u32, opening: &Opening, now: Time) -> bool {
        let [client, server] = [opening.client, opening.server]
            .map(|(address, port)| SocketAddrV4::new(Ipv4Addr::from_bits(address), port));
        let fits = self.reach.is_own(*server.ip()) && self.reach.member(*client.ip()).is_some();
        if !fits || self.sockets.are_full() || !leads_to(*server.ip()) {
            return false;
        }
        let port = self.table.add(Ends { from: server, to: client }, None, 0, now);
        let Some(port) = port else { return false };
        let asks = self.sockets.connect(flow, port).is_ok();
        if asks {
            self.table.open(SocketAddrV4::new(PHANTOM, port));
        }
        asks
    }

    /// Takes the connections of programs that this machine's kernel has accepted.
    fn accept(&mut self, now: Time) {
        while let Some((phantom, socket)) = self.sockets.accept() {
            // Somebody else who found the listener is reset, as his socket is dropped; so is one too many.
            if self.sockets.are_full() {
                continue;
            }
            let Some((ends, class)) = self.table.open(phantom) else { continue };
            let Some(member) = self.reach.member(*ends.to.ip()) else { continue };
            let [client, server] = [ends.from, ends.to].map(|end| (end.ip().to_bits(), end.port()));
            let opening = Opening { client, server };
            let flow = self.overlay.open(member, class, &opening);
            if self.sockets.add(flow, Connection::asked(socket, phantom.port())).is_err() {
                self.overlay.reset(flow);
                self.table.close(phantom.port(), now);
            }
        }
    }

    /// Reads the packets that are in the device; whether there may be more.
    fn packets(&mut self, now: Time) -> io::Result<bool> {
        for _ in 0..PACKETS {
            let Some(length) = self.device.read(&mut self.packet)? else { return Ok(false) };
            let Some(head) = Head::of(&self.packet[..length]) else { continue };
            match head.protocol {
                TCP => self.segment(&head, now),
                // Who receives is configured; what asks for it stays here.
                IGMP => {}
                _ => self.datagram(&head),
            }
        }
        Ok(true)
    }

    /// Passes a TCP packet on to the other pair, as this machine's kernel is to see it.
    fn segment(&mut self, head: &Head, now: Time) {
        let ends = match self.table.translate(head.ends, now) {
            None if head.asks() => self.asked(head, now),
            known => known,
        };
        let packet = &mut self.packet[..head.length];
        match ends {
            Some(ends) => {
                head.rewrite(packet, ends);
                self.device.write(packet);
            }
            None => {
                self.refused += 1;
                if let Some(refusal) = head.refusal(packet) {
                    self.device.write(&refusal);
                }
            }
        }
    }

    /// The ends of a packet by which a program asks for a connection, if it may have one.
    fn asked(&mut self, head: &Head, now: Time) -> Option<Ends> {
        let Ends { from, to } = head.ends;
        self.reach.member(*to.ip())?;
        if !self.reach.is_own(*from.ip()) || self.sockets.are_full() {
            return None;
        }
        self.table.add(head.ends, Some(self.sockets.node()), self.reach.class(head), now)?;
        self.table.translate(head.ends, now)
    }

    fn datagram(&mut self, head: &Head) {
        let Ends { from, to } = head.ends;
        let way = match self.reach.member(*to.ip()) {
            Some(member) => Some(To::Member(member)),
            None => self.known.stream_of(self.reach.me, to.ip().to_bits()).map(To::Stream),
        };
        let Some(way) = way.filter(|_| self.reach.is_own(*from.ip())) else {
            self.refused += 1;
            return;
        };
        let key = DatagramKey {
            source: from.ip().to_bits(),
            destination: to.ip().to_bits(),
            ports: [from.port(), to.port()],
            protocol: head.protocol,
        };
        let bytes = self.packet[..head.length].into();
        self.overlay.datagram(key, way, self.reach.class(head), bytes);
    }
}
