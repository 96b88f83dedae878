//! Payload of a data packet: real bytes over sockets, only their number in the simulator.

/// A payload, and the erasure code over payloads.
///
/// The code is systematic: packets `0..sources.len()` of a group are the source packets themselves,
/// those from there on are coded, and any `sources.len()` of them give all sources back.
pub trait Payload: Clone + Default + std::fmt::Debug {
    /// Bytes that it takes in a datagram.
    fn len(&self) -> usize;

    /// Whether it takes none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends its bytes to a datagram: zeros, if there is only their number.
    fn put(&self, out: &mut Vec<u8>) {
        out.resize(out.len() + self.len(), 0);
    }

    /// The coded packets `range` (numbers within the group) of these source packets and their
    /// sequence numbers, which the payloads protect; with each, the coded lengths, which are sent
    /// in its header.
    fn encode(sources: &[(u32, Self)], range: std::ops::Range<u8>) -> Vec<(Self, u16)>;

    /// The source packets that are missing among `received`, by sequence number; `None` if they
    /// cannot be recovered.
    fn decode(sources: u8, received: &[Received<Self>]) -> Option<Vec<(u32, Self)>>;
}

/// A packet of a group that arrived.
#[derive(Clone, Debug)]
pub struct Received<P> {
    /// Its number within the group.
    pub index: u8,
    /// Its sequence number.
    pub seq: u32,
    /// Its payload.
    pub payload: P,
    /// Of a coded packet: the coded lengths.
    pub lengths: u16,
}
