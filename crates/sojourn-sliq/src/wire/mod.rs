//! SLIQ's headers and their encoding.
//!
//! Layouts follow `iron/sliq/src/sliq_framer.h`: big-endian, a type byte first. A datagram is a
//! handshake, a stream's creation, a close, a packet of a train, or a message: an optional
//! congestion-control synchronisation, ACK, received-packet count, measurement, and data, in this
//! order. Differences: controls are named in full instead of by number, so that any of them can be
//! agreed on; a handshake may end with a cookie; a datagram has at most one ACK, since one per stream and datagram says the same; the
//! data header's timestamp delta is there only where one-way delays are needed (`FLAG_DELTA`),
//! which makes it 16 bytes without and 20 with, as in the two versions that the GNAT report used.

mod ack;
mod bytes;
mod control;
mod data;
mod decode;
mod encode;

pub use ack::{ACK_LEN, Ack, AckBlocks, MAX_OBSERVED, MAX_OFFSETS, OBSERVED_LEN, Observed};
pub use bytes::WireError;
pub use control::{
    Close, Cookie, CreateStream, Handshake, HandshakeKind, Measurement, ReceivedCount, Sync, Train,
    TrainKind,
};
pub use data::{DATA_LEN, Data, Fec};
pub use decode::decode;
pub use encode::encode;

use sojourn_base::packet::headers;

use super::payload::Payload;

/// Bytes of the headers below SLIQ: IPv4 and UDP.
pub const UNDERLAY: u32 = headers::IP + headers::UDP;
/// Packets that a stream may have outstanding, and that wait at a receiver at most.
pub const WINDOW: u32 = 32_768;
/// Packets of a group, source and coded.
pub const MAX_GROUP: u8 = 31;
/// Largest datagram, without IP and UDP headers.
pub const MAX_DATAGRAM: usize = 1472;

const HANDSHAKE: u8 = 0;
const CLOSE: u8 = 2;
const CREATE_STREAM: u8 = 3;
const DATA: u8 = 5;
const ACK: u8 = 6;
const SYNC: u8 = 7;
const COUNT: u8 = 8;
const MEASUREMENT: u8 = 9;
const TRAIN: u8 = 10;

/// All that one packet carries.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // nearly all are messages, which are filled where they lie
pub enum Datagram<P> {
    /// Part of the connection's establishment.
    Handshake(Handshake),
    /// Creates a stream, or confirms it.
    CreateStream(CreateStream),
    /// Closes the connection, or confirms it.
    Close(Close),
    /// A packet of a congestion control's train.
    Train(Train),
    /// Data and what goes with it.
    Message(Message<P>),
}

/// Headers that can share a datagram. Their layout in memory lets a data packet take two cache
/// lines, with the beginning of an acknowledgment, and the rest of this, which is seldom full,
/// those behind.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Message<P> {
    /// A data packet with its payload.
    pub data: Option<(Data, P)>,
    /// Message of a congestion control to its peer.
    pub sync: Option<Sync>,
    /// Number of data packets received.
    pub count: Option<ReceivedCount>,
    /// The largest one-way delay.
    pub measurement: Option<Measurement>,
    /// An acknowledgment.
    pub ack: Option<Ack>,
}

impl<P: Default> Default for Datagram<P> {
    fn default() -> Self {
        Datagram::Message(Message::default())
    }
}

impl<P: Payload> Datagram<P> {
    /// Bytes that it takes on the wire, without IP and UDP headers.
    pub fn size(&self) -> usize {
        match self {
            Datagram::Handshake(handshake) => handshake.size(),
            Datagram::CreateStream(_) => control::CREATE_STREAM_LEN,
            Datagram::Close(_) => control::CLOSE_LEN,
            Datagram::Train(train) => control::TRAIN_LEN + usize::from(train.padding),
            Datagram::Message(message) => {
                let data = message.data.as_ref();
                message.overhead() + data.map_or(0, |(data, payload)| data.size() + payload.len())
            }
        }
    }
}

impl<P> Message<P> {
    /// Leaves nothing in it.
    pub fn clear(&mut self) {
        self.sync = None;
        self.ack = None;
        self.count = None;
        self.measurement = None;
        self.data = None;
    }

    /// Bytes of all headers but the data's.
    pub fn overhead(&self) -> usize {
        self.sync.map_or(0, |_| control::SYNC_LEN)
            + self.ack.as_ref().map_or(0, Ack::size)
            + self.count.map_or(0, |_| control::COUNT_LEN)
            + self.measurement.map_or(0, |_| control::MEASUREMENT_LEN)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.data.is_none() && self.overhead() == 0
    }
}

#[cfg(test)]
mod tests;
