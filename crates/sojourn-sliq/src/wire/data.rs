//! The data header.

/// Bytes of a data header without options.
pub const DATA_LEN: usize = 16;
const DELTA_LEN: usize = 4;
const FORWARD_LEN: usize = 4;
const FEC_LEN: usize = 4;
const ENCODED_LEN: usize = 2;

/// A data packet's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The stream.
    pub stream: u8,
    /// The congestion control that permitted it.
    pub control: u8,
    /// How often it has been retransmitted.
    pub retransmissions: u8,
    /// Whether it asks for an ACK and carries nothing.
    pub persist: bool,
    /// Whether it ends the stream; it carries nothing.
    pub fin: bool,
    /// Sequence number.
    pub seq: u32,
    /// When it was sent.
    pub stamp: u32,
    /// The latest difference of clocks that its sender measured, where one-way delays are needed.
    pub delta: Option<u32>,
    /// The receiver need not wait for packets before this one.
    pub forward: Option<u32>,
    /// Its place in a group of the erasure code.
    pub fec: Option<Fec>,
}

/// A packet's place in a group of the erasure code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fec {
    /// The group.
    pub group: u16,
    /// Its number within the group.
    pub index: u8,
    /// Source packets of the group; 0 while the sender does not know.
    pub sources: u8,
    /// The round that it is sent in; 0 for a retransmission after a timeout.
    pub round: u8,
    /// Of a coded packet: the coded lengths of the source packets.
    pub encoded: Option<u16>,
}

impl Data {
    /// Bytes on the wire, without the payload.
    pub fn size(&self) -> usize {
        DATA_LEN
            + self.delta.map_or(0, |_| DELTA_LEN)
            + self.forward.map_or(0, |_| FORWARD_LEN)
            + self.fec.map_or(0, |fec| FEC_LEN + fec.encoded.map_or(0, |_| ENCODED_LEN))
    }
}
