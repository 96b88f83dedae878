//! The packet: a small `Copy` header that carries no bytes of payload.
//!
//! TCP sequence space counts **segments**, not bytes: a segment is cut once, when it is first sent,
//! and never re-split or merged, so segment numbers order data exactly as byte numbers would, and
//! every structure of the endpoints is an array indexed by them. Segment 0 is the SYN, data starts
//! at 1. `payload` gives the bytes a segment carries.

use crate::units::Time;

/// The ECN field of the IP header (RFC 3168; ECT(1) is also SCE's signal and L4S's identifier).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// ECN-capable, codepoint 01: "some congestion experienced" (SCE), or the L4S identifier.
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Whether a queue may mark CE instead of dropping.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}

/// TCP header flags that the endpoints use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// Carries an acknowledgment.
    pub const ACK: Flags = Flags(1 << 1);
    /// No more data follows.
    pub const FIN: Flags = Flags(1 << 2);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(1 << 3);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(1 << 4);
    /// SCE echo, in the former NS bit (draft-grimes-tcpm-tcpsce).
    pub const ESCE: Flags = Flags(1 << 5);
    /// The first SACK block reports a duplicate (RFC 2883).
    pub const DSACK: Flags = Flags(1 << 6);
    /// A segment sent before; not visible on a real wire, for accounting only.
    pub const RETRANSMISSION: Flags = Flags(1 << 7);
    /// A window update or keep-alive that acknowledges nothing new.
    pub const WINDOW_UPDATE: Flags = Flags(1 << 8);

    /// Whether all bits of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other` if `on`.
    #[inline]
    #[must_use]
    pub fn with(self, other: Flags, on: bool) -> Flags {
        if on { Flags(self.0 | other.0) } else { self }
    }
}

/// A run of segments `start..end` that the receiver holds above its cumulative acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First segment of the run.
    pub start: u32,
    /// One past the last segment of the run.
    pub end: u32,
}

/// SACK blocks in one ACK: with the timestamp option, a TCP header has room for three.
pub const MAX_SACK_BLOCKS: usize = 3;

/// Acknowledgment fields of a TCP header and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Acknowledgment {
    /// Next segment expected: all before it have arrived.
    pub next: u32,
    /// Receive window in bytes beyond `next`.
    pub window: u32,
    /// Timestamp echo: when the segment that this ACK answers was sent (RFC 7323 rules).
    pub echo: Time,
    /// CE-marked data packets received so far (AccECN's counter, unwrapped).
    pub ce_packets: u32,
    /// How many entries of `sack` are valid.
    pub sack_len: u8,
    /// SACK blocks, most recent first; with [`Flags::DSACK`] the first reports a duplicate.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl Acknowledgment {
    /// The valid SACK blocks.
    #[inline]
    pub fn sacks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_len)]
    }
}

/// Which way a packet travels on its flow's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the flow's sender to its receiver.
    #[default]
    Forward,
    /// From the flow's receiver to its sender (acknowledgments).
    Backward,
}

/// A packet on its way. Sizes in bytes, times in simulated time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// Flow number, as in the scenario (expanded by `count`).
    pub flow: u32,
    /// Direction within the flow.
    pub direction: Direction,
    /// Links of its route that it has already left.
    pub hop: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// TCP flags.
    pub flags: Flags,
    /// Source host (a node number), for host-fair queues.
    pub source: u16,
    /// Destination host (a node number), for host-fair queues.
    pub destination: u16,
    /// Size of the IP packet in bytes; links add their own overhead.
    pub size: u32,
    /// The how-manieth packet its endpoint sent on this flow, from 0: names its random draws.
    pub index: u32,
    /// When it was offered to the queue it waits in, or last waited in.
    pub enqueued_at: Time,
    /// When its endpoint sent it (the timestamp option's value).
    pub sent_at: Time,
    /// When the application wrote the payload's first byte.
    pub written_at: Time,
    /// Segment number.
    pub seq: u32,
    /// Bytes of payload; zero for a pure acknowledgment.
    pub payload: u16,
    /// Handle to a payload kept elsewhere (live packets, FEC, QUIC); zero for plain TCP.
    pub handle: u32,
    /// Acknowledgment fields; meaningful with [`Flags::ACK`].
    pub ack: Acknowledgment,
}

impl Packet {
    /// Whether it carries data (random loss by index and host queues ask).
    #[inline]
    pub fn is_data(&self) -> bool {
        self.payload > 0
    }
}
