//! A path controller (SLIQ) and the datagrams that it sends and receives.

use super::streams::Lane;
use crate::overlay::message::Cargo;
use sojourn_base::packet::{FiveTuple, Header, Opaque, Packet};
use sojourn_base::units::Time;
use sojourn_net::node::{NodeContext, Port};
use sojourn_sliq::wire::{Datagram, UNDERLAY, WINDOW};
use sojourn_sliq::{Config, Connection, Control, Copa, Cubic, Mailbox, Payload, Role, Spare};

/// Parameters of the connection to a neighbour.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The port towards it.
    pub port: Port,
    /// Datagrams to it and from it.
    pub boxes: [Mailbox<Cargo>; 2],
    /// The 5-tuple that queues hash.
    pub tuple: FiveTuple,
    /// Which of the controls, `cubic` and `copa`, its path controller has.
    pub controls: Vec<String>,
    /// Whether this end asks for the connection.
    pub client: bool,
    /// Share of the capacity that messages about queues may take.
    pub depths_share: f64,
    /// Bytes of its largest datagram.
    pub largest: usize,
    /// How many microseconds of UNIX time, cut to 32 bits, are before time zero, if that is known.
    pub clock: Option<u32>,
}

/// A path controller.
#[derive(Debug)]
pub(super) struct Path {
    /// Boxed, like waiting packets: nodes often iterate over all neighbours.
    pub connection: Box<Connection<Cargo>>,
    port: Port,
    /// Place of the datagram being sent or received.
    datagram: Box<Datagram<Cargo>>,
    boxes: [Mailbox<Cargo>; 2],
    spare: Spare<Cargo>,
    tuple: FiveTuple,
    /// Key of its packets' random draws.
    flow: u32,
    index: u32,
}

/// Whether a datagram carries signalling about queues or links.
fn tells(datagram: &Datagram<Cargo>) -> bool {
    let Datagram::Message(message) = datagram else { return false };
    matches!(message.data, Some((_, Cargo::Depths(_) | Cargo::LinkState(_))))
}

/// The stream of the message that a datagram carries, if it carries one.
fn stream_of(datagram: &Datagram<Cargo>) -> Option<u8> {
    let Datagram::Message(message) = datagram else { return None };
    message.data.as_ref().map(|(data, _)| data.stream)
}

fn control(now: Time, name: &str) -> (String, Box<dyn Control>) {
    let control: Box<dyn Control> = match name {
        "copa" => Box::new(Copa::default()),
        _ => Box::new(Cubic::new(now)),
    };
    (name.to_owned(), control)
}

impl Path {
    /// A path controller that begins to connect.
    pub(super) fn new(now: Time, reach: Reach) -> Self {
        let Reach { port, boxes, tuple, controls, client, largest, clock, .. } = reach;
        let role = if client { Role::Client } else { Role::Server };
        let controls = controls.iter().map(|name| control(now, name)).collect();
        let config = Config {
            role,
            client: 1,
            initial_seq: 0,
            controls,
            reject_outliers: false,
            window: WINDOW,
            largest,
        };
        let mut connection = Connection::new(config);
        if let Some(ahead) = clock {
            connection.show_clock(ahead);
        }
        connection.connect(now);
        if client {
            Lane::open_all(now, &mut connection);
        }
        Path {
            connection: Box::new(connection),
            port,
            datagram: Box::default(),
            boxes,
            spare: Spare::default(),
            tuple,
            flow: u32::MAX - port.edge as u32,
            index: 0,
        }
    }

    /// A new one in the place of this one, whose packets go on being numbered.
    pub(super) fn anew(&self, now: Time, reach: Reach) -> Self {
        Path { index: self.index, ..Path::new(now, reach) }
    }

    /// Processes the datagram with this handle, if it has not been lost; returns the stream of its
    /// message, if it carries one.
    pub(super) fn take(&mut self, now: Time, handle: u32) -> Option<Option<u8>> {
        if !self.boxes[1].get(handle, &mut self.datagram, &mut self.spare) {
            return None;
        }
        let stream = stream_of(&self.datagram);
        self.connection.on_datagram(now, &mut self.datagram);
        Some(stream)
    }

    /// Sends the next datagram, if there is one; its bytes about queues and links are counted at
    /// `signalling`. Whether there was one.
    pub(super) fn send(&mut self, now: Time, signalling: usize, cx: &mut NodeContext<'_>) -> bool {
        if !self.connection.poll_transmit(now, &mut self.datagram) {
            return false;
        }
        let signals = tells(&self.datagram);
        let packet = self.packet();
        let packet = cx.create(packet);
        if signals {
            cx.count(signalling, packet.size.into());
        }
        cx.send(self.port, packet);
        true
    }

    fn packet(&mut self) -> Packet {
        let size = self.datagram.size() as u32 + UNDERLAY;
        let payload = match &*self.datagram {
            Datagram::Message(message) => {
                message.data.as_ref().map_or(0, |(_, cargo)| cargo.len() as u16)
            }
            _ => 0,
        };
        let handle = self.boxes[0].put(&mut self.datagram, &mut self.spare);
        let header = Header::Opaque(Opaque { payload, handle });
        self.index = self.index.wrapping_add(1);
        let (flow, index, tuple) = (self.flow, self.index, self.tuple);
        Packet { flow, index, tuple, size, header, ..Packet::default() }
    }
}
