//! Headers of connections, streams and congestion controls.

pub(super) const CREATE_STREAM_LEN: usize = 20;
pub(super) const CLOSE_LEN: usize = 4;
pub(super) const TRAIN_LEN: usize = 16;
pub(super) const SYNC_LEN: usize = 8;
pub(super) const COUNT_LEN: usize = 12;
pub(super) const MEASUREMENT_LEN: usize = 8;
const HANDSHAKE_LEN: usize = 16;

/// Which part of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeKind {
    /// The client asks for a connection.
    ClientHello,
    /// The server agrees.
    ServerHello,
    /// The client confirms the server's agreement.
    ClientConfirm,
    /// The server does not agree.
    Reject,
}

/// What a server gives to an address that says hello, and the client returns when it confirms: it
/// shows that the client reads what arrives there.
pub type Cookie = [u8; 16];

/// Establishes a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Which part.
    pub kind: HandshakeKind,
    /// Names of the congestion controls, in the order of preference.
    pub controls: Vec<String>,
    /// When it was sent, in the sender's clock.
    pub stamp: u32,
    /// The stamp that it answers, or 0.
    pub echo: u32,
    /// Names the client.
    pub client: u32,
    /// Of a server that keeps nothing before the client confirms, and of that confirmation.
    pub cookie: Option<Cookie>,
}

impl Handshake {
    /// Bytes on the wire.
    pub fn size(&self) -> usize {
        let names = self.controls.iter().map(|name| 1 + name.len()).sum::<usize>();
        HANDSHAKE_LEN + names + self.cookie.map_or(0, |cookie| cookie.len())
    }
}

/// Creates a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateStream {
    /// Whether it answers.
    pub answer: bool,
    /// The stream, 1 to 32.
    pub stream: u8,
    /// 0 (highest) to 7.
    pub priority: u8,
    /// Packets that this end takes beyond the first one that is missing.
    pub window: u32,
    /// Number of the first packet that its creator sends.
    pub initial_seq: u32,
    /// Whether the receiver delivers in order.
    pub ordered: bool,
    /// Number of the reliability mode.
    pub mode: u8,
    /// Retransmissions allowed, in semi-reliable modes.
    pub retransmissions: u8,
    /// Whether `target` is a time in milliseconds, and not a number of rounds.
    pub timed: bool,
    /// Rounds, or milliseconds until delivery.
    pub target: u16,
    /// Probability of delivery in time, in units of 1/10,000.
    pub probability: u16,
}

/// Closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// Whether it answers.
    pub answer: bool,
    /// Why: 0 for a normal end.
    pub reason: u16,
}

/// Message of a congestion control to its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// The control.
    pub control: u8,
    /// Number of the message.
    pub seq: u16,
    /// The message.
    pub value: u32,
}

/// Number of data packets received when a certain one arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedCount {
    /// The stream of the packet.
    pub stream: u8,
    /// How often it had been retransmitted.
    pub retransmissions: u8,
    /// Its sequence number.
    pub seq: u32,
    /// Data packets received on the connection, it included.
    pub received: u32,
}

/// The largest one-way delay toward the sender of this header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Number of the message.
    pub seq: u16,
    /// Microseconds.
    pub max_delay: u32,
}

/// Direction of a packet of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainKind {
    /// It measures.
    Probe,
    /// It returns a measurement.
    Answer,
}

/// A packet of a train with which a congestion control measures the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// The control.
    pub control: u8,
    /// Direction of the packet.
    pub kind: TrainKind,
    /// Number of the packet.
    pub seq: u8,
    /// In an answer: microseconds between the arrivals of the pair, or 0.
    pub gap: u32,
    /// When it was sent.
    pub stamp: u32,
    /// The latest difference of clocks that its sender measured.
    pub delta: u32,
    /// Bytes that make it as long as a data packet.
    pub padding: u16,
}
